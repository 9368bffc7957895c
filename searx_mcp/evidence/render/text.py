"""Evidence as text for a model: blocks in brackets, all untrusted text in one fence.

Each line has the specification's form, which models may know.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import Final

from searx_mcp.evidence.render.passage import excerpt, holds, unrepeated
from searx_mcp.evidence.render.trace import trace_lines
from searx_mcp.evidence.values import (
    Citation,
    Evidence,
    EvidenceImage,
    EvidenceResponse,
    Mode,
    PartVerdict,
    Source,
)
from searx_mcp.render.fence import block, fenced, neutralise, one_line, one_url, strangers
from searx_mcp.render.reading import NEXT, refusal
from searx_mcp.render.tokens import (
    UNLIMITED,
    estimate,
    line_cost,
    lines_within,
    share,
)

_TITLE_TOKENS: Final = 40
_NOTE_TOKENS: Final = 60
_QUESTION_TOKENS: Final = 60
_COPIES: Final = 5
"""Addresses of copies that are listed."""
QUOTES_SHARE: Final = 0.15
"""Maximum share of a budget for quotes: they repeat text of the evidence, ready to be cited."""
STATS_SHARE: Final = 0.5
_LEAST_STATS_SHARE: Final = 0.1
SOURCES_SHARE: Final = 0.75
"""Maximum share of the rest after figures; both are complete except in the smallest budgets."""
_SHORT: Final = 3_000
"""Tokens of a budget below which figures are reduced, and quotes have no date."""
_LEAST_TEXT: Final = 60
"""Minimum tokens for showing a part of a chunk."""
_MISFITS: Final = 8
"""Number of chunks that are too long before no other is tried."""
_QUOTE_WORDS: Final = 12
"""Words of a quote that is also in the evidence above: enough to find it there."""
_PASSAGE: Final = 260
"""Tokens of a passage in such a budget: four to six fit, and one of these answers more often than one of three
longer ones."""
_FEW: Final = 8
"""Passages that are considered in such a budget."""
_NONE: Final = "(none)"
_ADDRESS: Final = "://"
"""A note that names a page is with the sources, in the fence: its address may be untrusted."""
_FRAME_TOKENS: Final = 16
"""Tokens reserved for the names of the blocks and the blank lines between them."""
_MORE_TOKENS: Final = 60
"""Tokens reserved for the line that says what is missing."""
_MODES: Final = {
    Mode.CHUNK: "chunk (selective retrieval)",
    Mode.FULL_CONTEXT: "full_context (entire corpus fits within token budget)",
}


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
    evidence = _block("EVIDENCE", _evidence_lines(response, shown, boundary, more))
    quotes = _block("CITATIONS", _citation_lines(shown, boundary, is_short=is_short(budget)))
    room -= estimate(evidence) + estimate(quotes)
    if is_short(budget):
        listed = _sources(response, shown.evidence)
        sources = (*_source_lines(listed, boundary), *sources[len(_sources(response)) :])
    is_dull = response.is_refused and not any(step.failure for step in response.steps)
    steps = () if is_dull and is_short(budget) else response.steps
    trace = _block("EXPANSION TRACE", trace_lines(steps, response.stats.stop_reason, boundary))
    if estimate(trace) > room:
        omitted = (
            f"[Expansion trace omitted — {response.stats.iterations} iterations, see stats above]"
        )
        trace, stats = "", (*stats, *(line for line in [omitted] if line_cost(line) <= room))
        room -= sum(map(line_cost, stats[-1:]))
    else:
        room -= estimate(trace)
    images = _block("IMAGES", lines_within(_image_lines(response.images, shown, boundary), room)[0])
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
    named = ", ".join(f'"{one_line(word, boundary, max_tokens=_TITLE_TOKENS)}"' for word in words)
    return f"; {lacking} {named}" if named else ""


def is_short(budget: int | None) -> bool:
    """Return whether a budget is so small that passages are shown around their quotes."""
    return budget is not None and budget < _SHORT


def _chosen(
    response: EvidenceResponse, budget: int | None, boundary: str
) -> tuple[tuple[str, ...], tuple[str, ...], int, "Shown"]:
    """Return figures, sources, the tokens left for the rest, and what fits; a passage rather than all figures."""
    brief = _brief(response, boundary) if is_short(budget) else response
    always = _always(brief, budget, boundary, STATS_SHARE)
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
            "sources": tuple(_sources(response, evidence)),
        }
    )


def _always(
    response: EvidenceResponse, budget: int | None, boundary: str, share: float
) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    """Return figures, sources, and the tokens left for the rest."""
    room = UNLIMITED if budget is None else budget
    room -= estimate(fenced("", boundary=boundary)) + _FRAME_TOKENS
    lines = _stats_lines(response, boundary, is_short=is_short(budget))
    stats, spent = lines_within(lines, round(share * room))
    room -= spent
    listed = [*_source_lines(_sources(response), boundary)] or [_NONE]
    listed += [_note(note, boundary) for note in response.notes if _ADDRESS in note]
    listed += [_note(note, boundary) for note in response.quoted_notes]
    sources, spent = lines_within(listed, round(SOURCES_SHARE * room))
    return stats, sources, room - spent


@dataclass(frozen=True, slots=True)
class Shown:
    """The part of a response that fits: evidence, with its texts as shown, and quotes of its sources."""

    evidence: Sequence[Evidence]
    citations: Sequence[Citation]

    @property
    def sources(self) -> set[int]:
        """The numbers of the sources of the evidence."""
        return {each.source for each in self.evidence}


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
    reserved = round(QUOTES_SHARE * room) if response.citations else 0
    left = room - reserved - _MORE_TOKENS
    costs = [line_cost(_evidence_head(each, response, boundary)) + 2 for each in response.evidence]
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
        cost = sum(map(line_cost, _quote_lines(quote, quotes, shown, boundary))) + 1
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


def _sources(
    response: EvidenceResponse, evidence: Sequence[Evidence] | None = None
) -> Sequence[Source]:
    """Return the sources, only those of the given evidence if any; none without evidence, which they would not support."""
    if evidence is None:
        return response.sources if response.evidence else ()
    sections: dict[int, dict[str, None]] = {}
    for each in evidence:
        sections.setdefault(each.source, {}).update(dict.fromkeys(each.section_path[-1:]))
    return [
        each.model_copy(update={"sections": tuple(sections[each.number])})
        for each in response.sources
        if each.number in sections
    ]


def _block(name: str, lines: Iterable[str]) -> str:
    """Return a block, or nothing without lines."""
    lines = tuple(lines)
    return block(name, lines) if lines else ""


def title_line(text: str, boundary: str) -> str:
    """Return a title on one line, without the separator between title and address in our lines."""
    return one_line(text, boundary, max_tokens=_TITLE_TOKENS).replace(" \u2014 ", " - ")


def _source_lines(sources: Sequence[Source], boundary: str) -> Iterator[str]:
    for source in sources:
        title = title_line(source.title, boundary) or "Untitled"
        mark = "" if source.is_read else " (not read: a search result's snippet)"
        lines = [f"[{source.number}] {title} — {one_url(source.url)}{mark}"]
        lines += [f"    § {title_line(section, boundary)}" for section in source.sections]
        lines += [f"    = {one_url(copy)}" for copy in source.copies[:_COPIES]]
        if more := len(source.copies) - _COPIES:
            lines += [f"    = and {more} more copies"] if more > 0 else []
        yield "\n".join(lines)


def _evidence_head(evidence: Evidence, response: EvidenceResponse, boundary: str) -> str:
    facts = [f"relevance: {evidence.score:.2f}"]
    is_low = evidence.low_confidence and not evidence.is_adjacent
    confidence = evidence.score if evidence.confidence is None and is_low else evidence.confidence
    if confidence is not None:
        facts.append(f"confidence: {confidence:.2f}{' (low)' if is_low else ''}")
    if evidence.sub_query and len(response.sub_queries) > 1:
        asked = one_line(evidence.sub_query, boundary, max_tokens=_QUESTION_TOKENS)
        facts.append(f'sub-query: "{asked}"')
    beside = " [adjacent context]" if evidence.is_adjacent else ""
    unread = any(not each.is_read for each in response.sources if each.number == evidence.source)
    mark = " [not read: snippet]" if unread else ""
    return f"Source [{evidence.source}] ({', '.join(facts)}){beside}{mark}:"


def _evidence_lines(
    response: EvidenceResponse, shown: Shown, boundary: str, more: str
) -> Iterator[str]:
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
            f" budget{'; ' if more else ''}{more})"
        )


def _image_lines(images: Sequence[EvidenceImage], shown: Shown, boundary: str) -> Iterator[str]:
    for image in images:
        if image.source in shown.sources:
            alt = title_line(image.alt or "image", boundary)
            url = one_url(image.url).replace("(", "%28").replace(")", "%29")
            caption = f" — {title_line(image.caption, boundary)}" if image.caption else ""
            yield f"- [{alt}]({url}){caption} (from Source [{image.source}])"


def _citation_lines(shown: Shown, boundary: str, *, is_short: bool) -> Iterator[str]:
    for number, each in enumerate(shown.citations):
        if number:
            yield ""
        yield from _quote_lines(each, shown.citations[:number], shown.evidence, boundary)
    if shown.citations and not is_short:
        yield ""
        dated = {each.source: each for each in reversed(shown.citations)}
        yield from (_origin_line(dated[number], boundary) for number in sorted(dated))


def _quote_lines(
    quote: Citation, before: Sequence[Citation], evidence: Sequence[Evidence], boundary: str
) -> Iterator[str]:
    """Return lines for a quote: its beginning and a short link if the evidence above has it, and each link once."""
    is_above = any(holds(quote, each) for each in evidence)
    words = quote.text.split()
    text = quote.text
    if is_above and len(words) > _QUOTE_WORDS:
        text = f"{' '.join(words[:_QUOTE_WORDS])} …"
    yield f'[{quote.source}] "{one_line(text, boundary, max_tokens=UNLIMITED)}"'
    section = f" § {title_line(quote.section, boundary)}" if quote.section else ""
    if is_above and any(each.source == quote.source for each in before):
        if section:
            yield f"    —{section}"
        return
    title = title_line(quote.title, boundary) or "Untitled"
    url = one_url(quote.url) if is_above else cited_url(quote, boundary)
    yield f"    — {title}, {url}{section}"


def _origin_line(quote: Citation, boundary: str) -> str:
    """Say which version of a page its quotes were compared with, abbreviated; the data have all of it."""
    at = quote.retrieved_at[:16].replace("T", " ")
    by = one_line(quote.extractor, boundary, max_tokens=_TITLE_TOKENS)
    return f"[{quote.source}] retrieved {at} UTC, sha256 {quote.content_hash[:12]}…, {by}"


def cited_url(citation: Citation, boundary: str) -> str:
    """Return the address that shows a quote; without the quote if that could imitate the end of our fence."""
    url = one_url(citation.fragment_url)
    return url if neutralise(url, boundary) == url else one_url(citation.url)


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


def _note(note: str, boundary: str) -> str:
    return f"Note: {one_line(note, boundary, max_tokens=_NOTE_TOKENS)}"


def _steps_of_time(response: EvidenceResponse) -> str:
    steps = [
        f"{name}: {ms:.0f}ms"
        for name, ms in response.stats.timing
        if name != "total" and isinstance(ms, float) and ms
    ]
    return f" ({', '.join(steps)})" if steps else ""
