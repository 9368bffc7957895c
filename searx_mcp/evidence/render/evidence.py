"""As much evidence as fits, with verdict and figures: text for a model, untrusted text in one fence; and data."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import takewhile
from typing import Any, Final

from searx_mcp.evidence.render.lines import (
    Shown,
    citation_lines,
    cited_url,
    evidence_head,
    evidence_lines,
    excerpt,
    holds,
    image_lines,
    quote_lines,
    source_lines,
    sources_of,
    trace_lines,
    unrepeated,
)
from searx_mcp.evidence.values import Citation, Evidence, EvidenceResponse, Mode, PartVerdict
from searx_mcp.render.fence import block, fenced, one_line, strangers
from searx_mcp.render.reading import NEXT, refusal
from searx_mcp.render.structured import (
    beginning,
    cost,
    costs_until,
    fence_texts,
    marked,
    rows_within,
    without_absent,
)
from searx_mcp.render.tokens import UNLIMITED, estimate, line_cost, lines_within, share

_QUOTES_SHARE: Final = 0.15
"""Maximum share of a budget for quotes: they repeat text of the evidence, ready to be cited."""
_STATS_SHARE: Final = 0.5
_LEAST_STATS_SHARE: Final = 0.1
_SOURCES_SHARE: Final = 0.75
"""Maximum share of the rest after figures; both are complete except in the smallest budgets."""
_SHORT: Final = 3_000
"""Tokens of a budget below which figures are reduced, and quotes have no date."""
_LEAST_TEXT: Final = 60
"""Minimum tokens for showing a part of a chunk."""
_MISFITS: Final = 8
"""Number of chunks that are too long before no other is tried."""
_PASSAGE: Final = 260
"""Tokens of a passage in such a budget: four to six fit, and one of these answers more often than one of three
longer ones."""
_FEW: Final = 8
"""Passages that are considered in such a budget."""
_NONE: Final = "(none)"
_ADDRESS: Final = "://"
"""A note that names a page is with the sources, in the fence: its address may be untrusted."""
_NOTE_TOKENS: Final = 60
_QUESTION_TOKENS: Final = 60
_WORD_TOKENS: Final = 40
_MODES: Final = {
    Mode.CHUNK: "chunk (selective retrieval)",
    Mode.FULL_CONTEXT: "full_context (entire corpus fits within token budget)",
}
_FRAME_TOKENS: Final = 16
"""Tokens reserved for the names of the blocks and the blank lines between them."""
_MORE_TOKENS: Final = 60
"""Tokens reserved for the line that says what is missing."""
_SPARING_SHARE: Final = 0.25
"""Share of a budget that figures and sources may take as JSON before their optional fields are dropped."""
_RESPONSE_FIELDS: Final = frozenset({"query", "answered", "sources", "evidence", "citations"})
_PART_FIELDS: Final = frozenset({"query", "answered"})
_ROW_FIELDS: Final = frozenset({"title", "text"})
_NO_STEPS: Final = "Further steps did not fit."
_FIGURES: Final = ("documents_searched", "documents_matched", "iterations", "stop_reason")
_DISPENSABLE: Final = frozenset({"stats", "sub_queries", "parts"})
_LISTS: Final = ("sources", "evidence", "images", "steps", "citations")


def evidence_text(
    response: EvidenceResponse, *, budget: int | None, boundary: str, more: str = ""
) -> str:
    """Format evidence within a budget.

    Figures and sources have priority; evidence takes the rest, best first, then quotes, the trace
    and images. If no page answers, the first line says so.

    Args:
        response: the evidence.
        budget: tokens; `None` for no limit.
        boundary: of the fence.
        more: how a caller gets the evidence that does not fit.
    """
    first = f"{verdict(response, boundary)}\n{NEXT}\n\n" if response.is_refused else ""
    if budget is not None:
        budget -= estimate(first)
    stats, sources, room, shown = _chosen(response, budget, boundary)
    evidence = _block("EVIDENCE", evidence_lines(response, shown, boundary, more))
    quotes = _block("CITATIONS", citation_lines(shown, boundary, is_short=_is_short(budget)))
    room -= estimate(evidence) + estimate(quotes)
    if _is_short(budget):
        listed = sources_of(response, shown.evidence)
        sources = (*source_lines(listed, boundary), *sources[len(sources_of(response)) :])
    is_dull = response.is_refused and not any(step.failure for step in response.steps)
    steps = () if is_dull and _is_short(budget) else response.steps
    trace = _block("EXPANSION TRACE", trace_lines(steps, response.stats.stop_reason, boundary))
    if estimate(trace) > room:
        omitted = (
            f"[Expansion trace omitted — {response.stats.iterations} iterations, see stats above]"
        )
        trace, stats = "", (*stats, *(line for line in [omitted] if line_cost(line) <= room))
        room -= sum(map(line_cost, stats[-1:]))
    else:
        room -= estimate(trace)
    images = _block("IMAGES", lines_within(image_lines(response.images, shown, boundary), room)[0])
    blocks = (_block("SOURCES", sources), evidence, images, trace, quotes)
    told = fenced("\n\n".join(filter(None, blocks)), boundary=boundary)
    return f"{first}{told}\n\n{block('STATS', stats)}"


def verdict(response: EvidenceResponse, boundary: str = "") -> str:
    """Say in one sentence whether the question is answered.

    Args:
        response: the evidence.
        boundary: of the fence; with one, the sentence contains no untrusted heading.
    """
    if response.is_refused:
        best = max(response.parts, key=lambda part: part.support)
        missing = [word for part in response.parts for word in part.missing_terms]
        return refusal(
            best.support, missing, boundary, told="No page answers this", section=best.section
        )
    support = min((part.support for part in response.parts if part.answered), default=0.0)
    if response.answered:
        # Other passages may have these words.
        lacking = "the best passage lacks" if len(response.parts) == 1 else "the best passages lack"
        missing_there = _missing(response.parts, boundary, lacking)
        return f"The question is answered (support {support:.2f}{missing_there})."
    open_parts = [part for part in response.parts if not part.answered]
    named = ", ".join(
        f'"{one_line(part.query, boundary, max_tokens=_QUESTION_TOKENS)}"' for part in open_parts
    )
    return (
        f"Answered in part. No page answers {named}{_missing(open_parts, boundary, 'not found:')}."
    )


def _missing(parts: Sequence[PartVerdict], boundary: str, lacking: str) -> str:
    words = dict.fromkeys(word for part in parts for word in part.missing_terms)
    named = ", ".join(f'"{one_line(word, boundary, max_tokens=_WORD_TOKENS)}"' for word in words)
    return f"; {lacking} {named}" if named else ""


def _is_short(budget: int | None) -> bool:
    """Return whether a budget is so small that passages are shown around their quotes."""
    return budget is not None and budget < _SHORT


def _chosen(
    response: EvidenceResponse, budget: int | None, boundary: str
) -> tuple[tuple[str, ...], tuple[str, ...], int, Shown]:
    """Return figures, sources, the tokens left for the rest, and what fits; a passage rather than all figures."""
    brief = _brief(response, boundary) if _is_short(budget) else response
    always = _always(brief, budget, boundary, _STATS_SHARE)
    shown = _fitting(brief, response, always[-1], boundary)
    if response.evidence and not shown.evidence:
        always = _always(brief, budget, boundary, _LEAST_STATS_SHARE)
        shown = _fitting(brief, response, always[-1], boundary)
    return (*always, shown)


def _brief(response: EvidenceResponse, boundary: str) -> EvidenceResponse:
    """Return the best evidence without links, each around its quote, with its sources."""
    seen: set[str] = set()
    evidence = [
        each.model_copy(update={"text": unrepeated(text, seen)})
        for each in response.evidence[:_FEW]
        for text in [excerpt(response, each, _PASSAGE, boundary)]
    ]
    citations = tuple(
        each for each in response.citations if any(map(partial(holds, each), evidence))
    )
    return response.model_copy(
        update={
            "evidence": tuple(evidence),
            "citations": citations,
            "sources": tuple(sources_of(response, evidence)),
        }
    )


def _always(
    response: EvidenceResponse, budget: int | None, boundary: str, share: float
) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    """Return figures, sources, and the tokens left for the rest."""
    room = UNLIMITED if budget is None else budget
    room -= estimate(fenced("", boundary=boundary)) + _FRAME_TOKENS
    lines = _stats_lines(response, boundary, is_short=_is_short(budget))
    stats, spent = lines_within(lines, round(share * room))
    room -= spent
    listed = [*source_lines(sources_of(response), boundary)] or [_NONE]
    listed += _page_notes(response, boundary)
    sources, spent = lines_within(listed, round(_SOURCES_SHARE * room))
    return stats, sources, room - spent


def fitting(response: EvidenceResponse, *, budget: int | None, boundary: str) -> Shown:
    """Select the evidence and quotes that `evidence_text` shows with the same arguments."""
    if budget is None:
        return Shown(response.evidence, response.citations)
    return _chosen(response, budget, boundary)[-1]


def _fitting(
    response: EvidenceResponse, whole: EvidenceResponse, room: int, boundary: str
) -> Shown:
    """Select what fits: at least a part of the best for each part and page, then what fits, best first.

    Args:
        response: the evidence, each passage within its limit.
        whole: the same in full.
        room: tokens.
        boundary: of the fence.
    """
    reserved = round(_QUOTES_SHARE * room) if response.citations else 0
    left = room - reserved - _MORE_TOKENS
    costs = [line_cost(evidence_head(each, response, boundary)) + 2 for each in response.evidence]
    first = [*takewhile(lambda place: _is_first(response, place), range(len(costs)))]
    while len(first) > 1 and left < sum(costs[place] + _LEAST_TEXT for place in first):
        first.pop()
    needs = [
        costs[place] + estimate(strangers(response.evidence[place].text, boundary), limit=left)
        for place in first
    ]
    grants = dict(zip(first, share(needs, left), strict=True))
    kept: dict[int, Evidence] = {}
    misfits = 0
    for place in (*first, *(place for place in range(len(costs)) if place not in grants)):
        each = response.evidence[place]
        most = grants.get(place, left) - costs[place]
        text = strangers(each.text, boundary)
        if estimate(text, limit=max(0, most)) > most:
            misfits += 1
            if place not in grants or most < _LEAST_TEXT:
                if misfits == _MISFITS:
                    break
                continue
            text = excerpt(whole, whole.evidence[place], most, boundary)
        kept[place] = each.model_copy(update={"text": text})
        left -= costs[place] + estimate(text)
    shown = [kept[place] for place in sorted(kept)]
    room = reserved + max(0, left)
    quotes: list[Citation] = []
    for quote in response.citations:
        cost = sum(map(line_cost, quote_lines(quote, quotes, shown, boundary))) + 1
        if any(each.source == quote.source for each in shown) and cost <= room:
            quotes.append(quote)
            room -= cost
    return Shown(shown, quotes)


def _is_first(response: EvidenceResponse, place: int) -> bool:
    """Return whether evidence is the first for its part of the question, or of a page that the call read first."""
    each, before = response.evidence[place], response.evidence[:place]
    begun = {step.url for step in response.steps if not step.depth}
    url = next((source.url for source in response.sources if source.number == each.source), "")
    return all(other.sub_query != each.sub_query for other in before) or (
        url in begun and all(other.source != each.source for other in before)
    )


def _stats_lines(response: EvidenceResponse, boundary: str, *, is_short: bool) -> Iterator[str]:
    stats = response.stats
    if response.parts:
        yield f"Verdict: {verdict(response, boundary)}"
    yield f"Mode: {_MODES[stats.mode]}"
    yield f"Documents searched: {stats.documents_searched}"
    if not is_short:
        yield f"Documents matched: {stats.documents_matched}"
        yield f"Chunks evaluated: {stats.chunks_evaluated}"
    if stats.iterations or not is_short:
        yield f"Expansion iterations: {stats.iterations}"
    if stats.urls_ingested or not is_short:
        yield f"URLs ingested: {stats.urls_ingested}"
    if stats.stop_reason:
        yield f"Stop reason: {stats.stop_reason}"
    if stats.citations_dropped:
        yield f"Citations dropped: {stats.citations_dropped} (not verbatim in their page)"
    yield f"Total time: {stats.timing.total:.0f}ms{'' if is_short else _steps_of_time(response)}"
    if response.steps and not stats.iterations and stats.budget != 0 and not is_short:
        yield "Note: No expansion performed (single iteration)."
    if stats.budget and stats.iterations >= stats.budget:
        yield (
            f"Note: Expansion budget exhausted (reached {stats.iterations} of {stats.budget}"
            " iterations)."
        )
    if stats.max_depth and stats.depth >= stats.max_depth:
        yield (
            f"Note: Expansion reached maximum depth ({stats.max_depth}). Results may benefit from a more"
            " specific query or a different seed URL."
        )
    yield from (_note(note, boundary) for note in response.notes if _ADDRESS not in note)


def _page_notes(response: EvidenceResponse, boundary: str) -> Iterator[str]:
    """Yield notes that name pages, and those of a remote service; they may be untrusted."""
    for note in response.notes:
        if _ADDRESS in note:
            yield _note(note, boundary)
    yield from (_note(note, boundary) for note in response.quoted_notes)


def _note(note: str, boundary: str) -> str:
    return f"Note: {one_line(note, boundary, max_tokens=_NOTE_TOKENS)}"


def _steps_of_time(response: EvidenceResponse) -> str:
    steps = [
        f"{name}: {ms:.0f}ms"
        for name, ms in response.stats.timing
        if name != "total" and isinstance(ms, float) and ms
    ]
    return f" ({', '.join(steps)})" if steps else ""


def _block(name: str, lines: Iterable[str]) -> str:
    """Return a block, or nothing without lines."""
    lines = tuple(lines)
    return block(name, lines) if lines else ""


def evidence_data(
    response: EvidenceResponse, *, budget: int | None = None, boundary: str = ""
) -> dict[str, Any]:
    """Convert evidence to its public form.

    Args:
        response: the evidence.
        budget: tokens of the JSON; evidence, citations, steps and images are kept as far as they fit, in this order
            of priority, the first of each first, and `notes` say what is missing of evidence and steps. In a small
            budget, passages are those of `evidence_text`, possibly truncated. `None` keeps everything.
        boundary: of the fences around the texts of evidence; `notice` then explains them to a model. Without one,
            texts are for a program.
    """
    total = len(response.evidence)
    if _is_short(budget):  # one or two whole chunks would fill it
        shown = fitting(response, budget=budget, boundary=boundary).evidence
        response = response.model_copy(update={"evidence": tuple(shown)})
    elif budget is not None:  # what cannot fit is dropped before any other step
        most = len(costs_until((each.text for each in response.evidence), budget))
        response = response.model_copy(update={"evidence": response.evidence[:most]})
    data = _data(response)
    if budget is not None:
        data["evidence"] = [_without(row, "id") for row in data["evidence"]]
    if boundary:
        for row, quote in zip(data["citations"], response.citations, strict=True):
            row["fragment_url"] = cited_url(quote, boundary)
        data = {**marked({**data, "evidence": []}, boundary), "evidence": data["evidence"]}
        data["evidence"] = fence_texts(data["evidence"], boundary)
    return data if budget is None else _within(data, budget, boundary, total)


def _data(response: EvidenceResponse) -> dict[str, Any]:
    data = without_absent(response.model_dump(mode="json"), _RESPONSE_FIELDS)
    for name in _LISTS:
        if name in data:
            data[name] = [without_absent(row, _ROW_FIELDS) for row in data[name]]
    if not response.evidence:
        data["sources"] = []
    data["parts"] = [without_absent(row, _PART_FIELDS) for row in data.get("parts", ())]
    for row in data["evidence"]:
        if "id" not in row:
            del row["span"]  # of a snippet, which is in no page
    for row in data["sources"]:
        row.setdefault("is_read", False)
        if row["is_read"]:
            del row["is_read"]
    timing = {name: ms for name, ms in response.stats.timing if ms}
    data["stats"] = {**without_absent(data["stats"]), "timing": timing}
    return data


def _within(data: dict[str, Any], budget: int, boundary: str, total: int) -> dict[str, Any]:
    if cost({**data, "evidence": [], "steps": [], "citations": []}) > _SPARING_SHARE * budget:
        data = _spared(data)
    lists: dict[str, Any] = {name: data[name] for name in _LISTS if name in data}
    bare = {name: [] if name in lists else value for name, value in data.items()}
    for name in ("sub_queries", "parts", "stats", "notes"):
        if cost(bare) > _STATS_SHARE * budget:
            data, bare = _less(data, name), _less(bare, name)
    room = budget - cost(bare) - cost([_showing(total, total), _NO_STEPS])
    sources = lists["sources"] = rows_within(lists["sources"], round(_SOURCES_SHARE * room))
    room -= sum(map(cost, sources))
    quotes = round(_QUOTES_SHARE * room)
    reserved = sum(map(cost, rows_within(lists["citations"], quotes)))
    evidence = rows_within(lists["evidence"], room - reserved)
    if not evidence:
        evidence = beginning(lists["evidence"][:1], room - reserved, boundary)
    if lists["evidence"] and not evidence and "stats" in data:
        return _within(_barest(data), budget, boundary, total)
    room -= sum(map(cost, evidence))
    numbers = {row["source"] for row in evidence}
    notes = list(data.get("notes", ()))
    if len(evidence) < total:
        notes.append(_showing(len(evidence), total))
    lists["evidence"] = evidence
    for name in ("citations", "steps", "images"):
        rows = [row for row in lists.get(name, ()) if row.get("source", 0) in {0, *numbers}]
        lists[name] = rows_within(rows, room)
        room -= sum(map(cost, lists[name]))
        if name == "steps" and len(lists[name]) < len(rows):
            notes.append(_NO_STEPS)
    always = {**data, **({"notes": notes} if notes else {})}
    return {name: lists.get(name, value) for name, value in always.items()}


def _showing(number: int, total: int) -> str:
    return f"Showing {number} of {total} chunks; the others did not fit."


def _spared(data: dict[str, Any]) -> dict[str, Any]:
    """Drop hashes, times of retrieval, most figures, and a sub-query that equals the question."""
    stats = data.get("stats", {})
    figures = {name: stats[name] for name in _FIGURES if name in stats}
    rows = [_without(_without(row, "content_hash"), "retrieved_at") for row in data["sources"]]
    spared = {**data, "sources": rows, **({"stats": figures} if figures else {})}
    same = data.get("sub_queries") == [data["query"]]
    return _without(spared, "sub_queries") if same else spared


def _barest(data: dict[str, Any]) -> dict[str, Any]:
    """Keep only the best passage with its source, notes, and the reason to stop as one of them."""
    best = data["evidence"][0]["source"]
    sources = [row for row in data["sources"] if row["number"] == best]
    reason = data["stats"].get("stop_reason")
    notes = [*data.get("notes", ()), *([f"Stop reason: {reason}"] if reason else ())]
    bare = {name: data[name] for name in data if name not in _DISPENSABLE}
    return {**bare, "sources": sources, **({"notes": notes} if notes else {})}


def _less(data: dict[str, Any], name: str) -> dict[str, Any]:
    """Drop a field; of the figures, keep the reason to stop."""
    reason = data.get(name, {}).get("stop_reason") if name == "stats" else None
    return {**data, name: {"stop_reason": reason}} if reason else _without(data, name)


def _without(data: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key != name}
