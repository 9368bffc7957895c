"""Evidence as a model reads it: blocks in brackets, all that strangers wrote in one fence.

The form of each line is that of the specification, so that a model that knows it finds its way.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from searx_mcp.models.evidence import (
    Citation,
    Evidence,
    EvidenceImage,
    EvidenceResponse,
    Mode,
    Source,
)
from searx_mcp.render.blocks import block, strangers
from searx_mcp.render.fence import fenced, neutralise, one_line, one_url
from searx_mcp.render.public import marked, without_absent
from searx_mcp.render.rows import beginning, cost, costs_until, fence_texts, rows_within
from searx_mcp.render.tokens import UNLIMITED, estimate, fit, line_cost, lines_within
from searx_mcp.render.trace import trace_lines

_TITLE_TOKENS: Final = 40
_NOTE_TOKENS: Final = 60
_QUESTION_TOKENS: Final = 60
_COPIES: Final = 5
"""Addresses of copies that are named."""
_QUOTES_SHARE: Final = 0.15
"""Of a budget, for quotes at most: they say again, ready to be cited, what stands in the evidence."""
_STATS_SHARE: Final = 0.5
_SOURCES_SHARE: Final = 0.75
"""Of what figures leave; both are whole but in the smallest budgets."""
_SPARING_SHARE: Final = 0.25
"""Of a budget, what figures and sources may cost as JSON before what a model can do without is left out of them."""
_LEAST_TEXT: Final = 60
"""Tokens below which the beginning of a chunk is not worth showing."""
_NONE: Final = "(none)"
_ADDRESS: Final = "://"
"""A note that names a page stands with the sources, in the fence: its address may be a stranger's."""
_FRAME_TOKENS: Final = 16
"""For the names of the blocks and the blank lines between them."""
_MORE_TOKENS: Final = 40
"""For the line that says what is missing."""
_MODES: Final = {
    Mode.CHUNK: "chunk (selective retrieval)",
    Mode.FULL_CONTEXT: "full_context (entire corpus fits within token budget)",
}


def evidence_text(response: EvidenceResponse, *, budget: int | None, boundary: str) -> str:
    """Write evidence within a budget.

    Figures and sources come first of all; evidence takes what is left, best first, then quotes, the trace
    and images.

    Args:
        response: the evidence.
        budget: tokens; `None` for no limit.
        boundary: of the fence.
    """
    stats, sources, room = _always(response, budget, boundary)
    shown = _fitting(response, room, boundary)
    evidence = _block("EVIDENCE", _evidence_lines(response, shown, boundary))
    quotes = _block("CITATIONS", _citation_lines(shown.citations, boundary))
    room -= estimate(evidence) + estimate(quotes)
    trace = _block(
        "EXPANSION TRACE", trace_lines(response.steps, response.stats.stop_reason, boundary)
    )
    if estimate(trace) > room:
        number = response.stats.iterations
        omitted = f"[Expansion trace omitted — {number} iterations, see stats above]"
        trace, stats = "", (*stats, *(line for line in [omitted] if line_cost(line) <= room))
        room -= sum(map(line_cost, stats[-1:]))
    else:
        room -= estimate(trace)
    pictures, _ = lines_within(_image_lines(response.images, shown, boundary), room)
    images = _block("IMAGES", pictures)
    blocks = (_block("SOURCES", sources), evidence, images, trace, quotes)
    told = fenced("\n\n".join(filter(None, blocks)), boundary=boundary)
    return f"{told}\n\n{block('STATS', stats)}"


def _always(
    response: EvidenceResponse, budget: int | None, boundary: str
) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    """Figures, sources, and the tokens that are left for all else."""
    room = UNLIMITED if budget is None else budget
    room -= estimate(fenced("", boundary=boundary)) + _FRAME_TOKENS
    stats, spent = lines_within(_stats_lines(response, boundary), round(_STATS_SHARE * room))
    room -= spent
    listed = [*_source_lines(_sources(response), boundary)] or [_NONE]
    listed += [_note(note, boundary) for note in response.notes if _ADDRESS in note]
    sources, spent = lines_within(listed, round(_SOURCES_SHARE * room))
    return stats, sources, room - spent


@dataclass(frozen=True, slots=True)
class Shown:
    """What of a response has room: evidence, with its texts as shown, and quotes of its sources."""

    evidence: Sequence[Evidence]
    citations: Sequence[Citation]

    @property
    def sources(self) -> set[int]:
        """The numbers of the sources that the evidence is from."""
        return {each.source for each in self.evidence}


def fitting(response: EvidenceResponse, *, budget: int | None, boundary: str) -> Shown:
    """Choose what of the evidence and its quotes `evidence_text` shows with the same arguments."""
    if budget is None:
        return Shown(response.evidence, response.citations)
    _, _, room = _always(response, budget, boundary)
    return _fitting(response, room, boundary)


def _fitting(response: EvidenceResponse, room: int, boundary: str) -> Shown:
    quotes = []
    dated: set[int] = set()
    for quote in response.citations:
        origin = [] if quote.source in dated else [_origin_line(quote, boundary)]
        dated.add(quote.source)
        lines = (*_quote_lines(quote, boundary), *origin)
        quotes.append((quote, sum(map(line_cost, lines)) + 1))
    reserved = min(round(_QUOTES_SHARE * room), sum(cost for _, cost in quotes))
    left = room - reserved - _MORE_TOKENS
    kept: list[Evidence] = []
    for each in response.evidence:
        head = line_cost(_evidence_head(each, response, boundary)) + 2
        cost = head + estimate(strangers(each.text, boundary))
        if cost > left:
            if not kept and left - head > _LEAST_TEXT:
                text, _ = fit(strangers(each.text, boundary), left - head)
                kept.append(each.model_copy(update={"text": text}))
                left = 0
            break
        kept.append(each)
        left -= cost
    room = reserved + max(0, left)
    numbers = {each.source for each in kept}
    shown = []
    for quote, cost in quotes:
        if quote.source in numbers and cost <= room:
            shown.append(quote)
            room -= cost
    return Shown(kept, shown)


def _sources(response: EvidenceResponse) -> Sequence[Source]:
    """The sources; none without evidence, since nothing comes from them."""
    return response.sources if response.evidence else ()


def _block(name: str, lines: Iterable[str]) -> str:
    """A block, or nothing without lines."""
    lines = tuple(lines)
    return block(name, lines) if lines else ""


def _line(text: str, boundary: str, tokens: int = _TITLE_TOKENS) -> str:
    # What stands between a title and its address in our lines, a title may not have.
    return one_line(text, boundary, max_tokens=tokens).replace(" \u2014 ", " - ")


def _source_lines(sources: Sequence[Source], boundary: str) -> Iterator[str]:
    for source in sources:
        title = _line(source.title, boundary) or "Untitled"
        mark = "" if source.is_read else " (not read: a search result's snippet)"
        lines = [f"[{source.number}] {title} — {one_url(source.url)}{mark}"]
        lines += [f"    § {_line(section, boundary)}" for section in source.sections]
        lines += [f"    = {one_url(copy)}" for copy in source.copies[:_COPIES]]
        if more := len(source.copies) - _COPIES:
            lines += [f"    = and {more} more copies"] if more > 0 else []
        yield "\n".join(lines)


def _evidence_head(evidence: Evidence, response: EvidenceResponse, boundary: str) -> str:
    facts = [f"relevance: {evidence.score:.2f}"]
    if evidence.confidence is not None:
        facts.append(f"confidence: {evidence.confidence:.2f}")
    elif evidence.low_confidence and not evidence.is_adjacent:
        facts.append("confidence: low")
    if evidence.sub_query and len(response.sub_queries) > 1:
        asked = one_line(evidence.sub_query, boundary, max_tokens=_QUESTION_TOKENS)
        facts.append(f'sub-query: "{asked}"')
    beside = " [adjacent context]" if evidence.is_adjacent else ""
    unread = any(not each.is_read for each in response.sources if each.number == evidence.source)
    mark = " [not read: snippet]" if unread else ""
    return f"Source [{evidence.source}] ({', '.join(facts)}){beside}{mark}:"


def _evidence_lines(response: EvidenceResponse, shown: Shown, boundary: str) -> Iterator[str]:
    if not response.evidence:
        where = " in the specified URL" if any(not step.depth for step in response.steps) else ""
        yield f"No relevant content was found for this query{where}."
        return
    for number, each in enumerate(shown.evidence):
        if number:
            yield ""
        yield _evidence_head(each, response, boundary)
        yield strangers(each.text.strip("\n"), boundary)
    total, here = len(response.evidence), len(shown.evidence)
    if here < total:
        if here:
            yield ""
        yield (
            f"... (showing {here} of {total} chunks — remaining {total - here} omitted due to response"
            " budget)"
        )


def _image_lines(images: Sequence[EvidenceImage], shown: Shown, boundary: str) -> Iterator[str]:
    for image in images:
        if image.source in shown.sources:
            alt = _line(image.alt or "image", boundary)
            url = one_url(image.url).replace("(", "%28").replace(")", "%29")
            caption = f" — {_line(image.caption, boundary)}" if image.caption else ""
            yield f"- [{alt}]({url}){caption} (from Source [{image.source}])"


def _citation_lines(citations: Sequence[Citation], boundary: str) -> Iterator[str]:
    for number, each in enumerate(citations):
        if number:
            yield ""
        yield from _quote_lines(each, boundary)
    if citations:
        yield ""
    dated = {each.source: each for each in reversed(citations)}
    yield from (_origin_line(dated[number], boundary) for number in sorted(dated))


def _quote_lines(quote: Citation, boundary: str) -> Iterator[str]:
    title = _line(quote.title, boundary) or "Untitled"
    section = f" § {_line(quote.section, boundary)}" if quote.section else ""
    yield f'[{quote.source}] "{one_line(quote.text, boundary, max_tokens=UNLIMITED)}"'
    yield f"    — {title}, {_cited_url(quote, boundary)}{section}"


def _origin_line(quote: Citation, boundary: str) -> str:
    """Which state of a page its quotes were compared with, short; the data have all of it."""
    at = quote.retrieved_at[:16].replace("T", " ")
    by = one_line(quote.extractor, boundary, max_tokens=_TITLE_TOKENS)
    return f"[{quote.source}] retrieved {at} UTC, sha256 {quote.content_hash[:12]}…, {by}"


def _cited_url(citation: Citation, boundary: str) -> str:
    """The address that shows a quote; without the quote if that could pass for the end of our fence."""
    url = one_url(citation.fragment_url)
    return url if neutralise(url, boundary) == url else one_url(citation.url)


def _stats_lines(response: EvidenceResponse, boundary: str) -> Iterator[str]:
    stats = response.stats
    yield f"Mode: {_MODES[stats.mode]}"
    yield f"Documents searched: {stats.documents_searched}"
    yield f"Documents matched: {stats.documents_matched}"
    yield f"Chunks evaluated: {stats.chunks_evaluated}"
    yield f"Expansion iterations: {stats.iterations}"
    yield f"URLs ingested: {stats.urls_ingested}"
    if stats.stop_reason:
        yield f"Stop reason: {stats.stop_reason}"
    if stats.citations_dropped:
        yield f"Citations dropped: {stats.citations_dropped} (not verbatim in their page)"
    yield f"Total time: {stats.timing.total:.0f}ms{_steps_of_time(response)}"
    if response.steps and not stats.iterations and stats.budget != 0:
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


def _note(note: str, boundary: str) -> str:
    return f"Note: {one_line(note, boundary, max_tokens=_NOTE_TOKENS)}"


def _steps_of_time(response: EvidenceResponse) -> str:
    timing = response.stats.timing
    steps = [
        f"{name}: {ms:.0f}ms"
        for name, ms in timing
        if name != "total" and isinstance(ms, float) and ms
    ]
    return f" ({', '.join(steps)})" if steps else ""


_RESPONSE_FIELDS: Final = frozenset({"query", "sources", "evidence", "citations"})
_ROW_FIELDS: Final = frozenset({"title", "text"})
_NO_STEPS: Final = "Further steps have no room."
_FIGURES: Final = ("documents_searched", "documents_matched", "iterations", "stop_reason")
_LISTS: Final = ("sources", "evidence", "images", "steps", "citations")


def evidence_data(
    response: EvidenceResponse, *, budget: int | None = None, boundary: str = ""
) -> dict[str, Any]:
    """Give evidence its public form.

    Args:
        response: the evidence.
        budget: tokens of the JSON; of evidence, citations, steps and images as many are there as have room,
            in this order of precedence, the first of each first, and `notes` say what is missing of evidence
            and steps. `None` gives everything.
        boundary: of the fences around the texts of evidence, with which `notice` tells a model what all of
            it is. Without one, texts are for a program.
    """
    total = len(response.evidence)
    if budget is not None:  # what cannot have room is left out before anything else looks at it
        most = len(costs_until((each.text for each in response.evidence), budget))
        response = response.model_copy(update={"evidence": response.evidence[:most]})
    data = _data(response)
    if budget is not None:
        data["evidence"] = [_without(row, "id") for row in data["evidence"]]
    if boundary:
        for row, quote in zip(data["citations"], response.citations, strict=True):
            row["fragment_url"] = _cited_url(quote, boundary)
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
    for row in data["evidence"]:
        if "id" not in row:
            del row["span"]  # of a snippet, which stands in no page
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
    for name in ("sub_queries", "stats", "notes"):
        if cost(bare) > _STATS_SHARE * budget:
            data, bare = _without(data, name), _without(bare, name)
    room = budget - cost(bare) - cost([_showing(total, total), _NO_STEPS])
    sources = lists["sources"] = rows_within(lists["sources"], round(_SOURCES_SHARE * room))
    room -= sum(map(cost, sources))
    quotes = round(_QUOTES_SHARE * room)
    reserved = sum(map(cost, rows_within(lists["citations"], quotes)))
    evidence = rows_within(lists["evidence"], room - reserved)
    if not evidence:
        evidence = beginning(lists["evidence"][:1], room - reserved, boundary)
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
    return f"Showing {number} of {total} chunks; the others have no room."


def _spared(data: dict[str, Any]) -> dict[str, Any]:
    """Leave out hashes, single times and parts of figures, and a question that is taken as it was asked."""
    figures = {name: data["stats"][name] for name in _FIGURES if name in data["stats"]}
    rows = [_without(_without(row, "content_hash"), "retrieved_at") for row in data["sources"]]
    spared = {**data, "sources": rows, "stats": figures}
    same = data.get("sub_queries") == [data["query"]]
    return _without(spared, "sub_queries") if same else spared


def _without(data: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key != name}
