"""Evidence as a model reads it: blocks in brackets, all that strangers wrote in one fence.

The form of each line is that of the specification, so that a model that knows it finds its way.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from searx_mcp.models.evidence import (
    Citation,
    Evidence,
    EvidenceResponse,
    ExpansionStep,
    Mode,
    Source,
)
from searx_mcp.render.fence import fenced, neutralise, one_line, one_url
from searx_mcp.render.tokens import UNLIMITED, estimate, fit, lines_within

_TITLE_TOKENS: Final = 40
_QUOTE_TOKENS: Final = 120
_QUOTES_SHARE: Final = 0.15
"""Of a budget, for quotes: they say again, ready to be cited, what stands in the evidence."""
_LEAST_TEXT: Final = 60
"""Tokens below which the beginning of a chunk is not worth showing."""
_FENCE_TOKENS: Final = 60
_NONE: Final = "(none)"

_MARKER = re.compile(
    r"^(\s*)(?=\[(?:SOURCES|EVIDENCE|IMAGES|EXPANSION TRACE|CITATIONS|STATS|ERROR|CORPUS STATUS)\]"
    r"|Source \[\d+\] \()",
    re.MULTILINE,
)
"""Where a stranger's line would pass for one of ours."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What of a response fits a budget.

    Attributes:
        evidence: with their texts as shown, in order.
        citations: of the sources that are shown.
        cut: whether the last text is cut.
    """

    evidence: tuple[Evidence, ...]
    citations: tuple[Citation, ...]
    cut: bool = False


def evidence_text(response: EvidenceResponse, *, budget: int | None, boundary: str) -> str:
    """Write evidence within a budget.

    Sources and figures are always there; evidence takes what is left, best first, then quotes, the trace
    and images.

    Args:
        response: the evidence.
        budget: tokens; `None` for no limit.
        boundary: of the fence.
    """
    room = UNLIMITED if budget is None else budget
    sources = _block("SOURCES", _source_lines(response.sources, boundary))
    stats = _block("STATS", _stats_lines(response))
    shown = fitting(response, budget=budget, boundary=boundary)
    evidence = _block("EVIDENCE", _evidence_lines(response, shown, boundary))
    quotes = (
        _block("CITATIONS", _citation_lines(shown.citations, boundary)) if shown.citations else ""
    )
    left = room - _FENCE_TOKENS - sum(map(estimate, (sources, stats, evidence, quotes)))
    trace = _block("EXPANSION TRACE", _trace_lines(response))
    if not any(step.depth for step in response.steps):
        trace = ""
    elif estimate(trace) > left:
        number = response.stats.iterations
        trace = f"[Expansion trace omitted — {number} iterations, see stats]"
    left -= estimate(trace)
    lines, _ = lines_within(_image_lines(response, shown, boundary), left)
    images = _block("IMAGES", lines) if lines else ""
    blocks = (sources, evidence, images, trace, quotes)
    told = fenced("\n\n".join(filter(None, blocks)), boundary=boundary)
    return f"{told}\n\n{stats}"


def fitting(response: EvidenceResponse, *, budget: int | None, boundary: str) -> Shown:
    """Choose what of the evidence and its quotes fits a budget."""
    if budget is None:
        return Shown(response.evidence, response.citations)
    sources = estimate(_block("SOURCES", _source_lines(response.sources, boundary)))
    stats = estimate(_block("STATS", _stats_lines(response)))
    room = max(0, budget - _FENCE_TOKENS - sources - stats)
    for_quotes = round(room * _QUOTES_SHARE) if response.citations else 0
    left = room - for_quotes
    kept: list[Evidence] = []
    was_cut = False
    for each in response.evidence:
        head = estimate(_evidence_head(each, response)) + 2
        cost = head + estimate(their_text(each.text, boundary))
        if cost > left:
            if not kept and left - head > _LEAST_TEXT:
                text, _ = fit(each.text, left - head)
                kept.append(each.model_copy(update={"text": text}))
                was_cut = True
            break
        kept.append(each)
        left -= cost
    numbers = {each.source for each in kept}
    quotes: list[Citation] = []
    for_quotes += max(0, left)
    for quote in response.citations:
        cost = estimate("\n".join(_citation_lines([quote], boundary)))
        if quote.source in numbers and cost <= for_quotes:
            quotes.append(quote)
            for_quotes -= cost
    return Shown(tuple(kept), tuple(quotes), was_cut)


def _block(name: str, lines: Iterable[str]) -> str:
    return "\n".join((f"[{name}]", *lines))


def their_text(text: str, boundary: str) -> str:
    """A stranger's text, in which no line passes for one of ours."""
    return _MARKER.sub(r"\1\\", neutralise(text.strip("\n"), boundary))


def _line(text: str, boundary: str, tokens: int = _TITLE_TOKENS) -> str:
    return one_line(text, boundary, max_tokens=tokens)


def _source_lines(sources: Sequence[Source], boundary: str) -> Iterator[str]:
    for source in sources:
        title = _line(source.title, boundary) or "Untitled"
        mark = "" if source.is_read else " (not read: a search result's snippet)"
        yield f"[{source.number}] {title} — {one_url(source.url)}{mark}"
        yield from (f"    § {_line(section, boundary)}" for section in source.sections)
        yield from (f"    = {one_url(copy)}" for copy in source.copies)
    if not sources:
        yield _NONE


def _evidence_head(evidence: Evidence, response: EvidenceResponse) -> str:
    facts = [f"relevance: {evidence.score:.2f}"]
    if evidence.confidence is not None:
        facts.append(f"confidence: {evidence.confidence:.2f}")
    elif evidence.low_confidence and not evidence.is_adjacent:
        facts.append("confidence: low")
    if evidence.sub_query and len(response.sub_queries) > 1:
        facts.append(f'sub-query: "{evidence.sub_query}"')
    beside = " [adjacent context]" if evidence.is_adjacent else ""
    return f"Source [{evidence.source}] ({', '.join(facts)}){beside}:"


def _evidence_lines(response: EvidenceResponse, shown: Shown, boundary: str) -> Iterator[str]:
    if not response.evidence:
        yield "No relevant content was found for this query."
        return
    for number, each in enumerate(shown.evidence):
        if number:
            yield ""
        yield _evidence_head(each, response)
        yield their_text(each.text, boundary)
    left_out = len(response.evidence) - len(shown.evidence)
    if left_out:
        total = len(response.evidence)
        yield ""
        yield (
            f"... (showing {len(shown.evidence)} of {total} chunks — remaining {left_out} omitted"
            " due to response budget)"
        )


def _image_lines(response: EvidenceResponse, shown: Shown, boundary: str) -> Iterator[str]:
    numbers = {each.source for each in shown.evidence}
    for image in response.images:
        if image.source in numbers:
            alt = _line(image.alt or "image", boundary)
            caption = f" — {_line(image.caption, boundary)}" if image.caption else ""
            yield f"- [{alt}]({one_url(image.url)}){caption} (from Source [{image.source}])"


def _citation_lines(citations: Sequence[Citation], boundary: str) -> Iterator[str]:
    for number, each in enumerate(citations):
        if number:
            yield ""
        title = _line(each.title, boundary) or "Untitled"
        section = f" § {_line(each.section, boundary)}" if each.section else ""
        yield f'[{each.source}] "{_line(each.text, boundary, _QUOTE_TOKENS)}"'
        yield f"    — {title}, {one_url(each.fragment_url)}{section}"


def _stats_lines(response: EvidenceResponse) -> Iterator[str]:
    stats = response.stats
    whole = (
        " (all pages fit the budget)"
        if stats.mode is Mode.FULL_CONTEXT
        else " (selective retrieval)"
    )
    yield f"Mode: {stats.mode}{whole}"
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
    yield from (f"Note: {note}" for note in response.notes)


def _steps_of_time(response: EvidenceResponse) -> str:
    timing = response.stats.timing
    steps = [
        f"{name}: {ms:.0f}ms"
        for name, ms in timing
        if name != "total" and isinstance(ms, float) and ms
    ]
    return f" ({', '.join(steps)})" if steps else ""


def _trace_lines(response: EvidenceResponse) -> Iterator[str]:
    """The tree of the pages that were read, each under the one that links to it."""
    steps = response.steps
    base = _common_folder([step.url for step in steps])
    if base:
        yield f"Base: {one_url(base)}"
        yield ""
    children: dict[str, list[ExpansionStep]] = {}
    for step in steps:
        children.setdefault(step.parent if step.depth else "", []).append(step)
    for root in children.get("", ()):
        yield f"{_name(root, base)} ({_node(root, 'seed')}){_failed(root)}"
        yield from _branches(root, children, base, "")
    if response.stats.stop_reason:
        yield f"    [stopped: {response.stats.stop_reason}]"


def _branches(
    parent: ExpansionStep, children: dict[str, list[ExpansionStep]], base: str, indent: str
) -> Iterator[str]:
    own = children.pop(parent.url, [])
    for number, step in enumerate(own):
        is_last = number == len(own) - 1
        facts = _node(step, f"{_outside(step, parent)}depth {step.depth}")
        yield f"{indent}{'└── ' if is_last else '├── '}{_name(step, base)} ({facts}){_failed(step)}"
        yield from _branches(step, children, base, indent + ("    " if is_last else "│   "))


def _node(step: ExpansionStep, place: str) -> str:
    if step.failure:
        return f"{place}, {step.duration_ms:.0f}ms"
    score = f"score: {step.score_before:.2f} → {step.score_after:.2f}"
    return f"{place}, +{step.chunks_added} chunks, {score}, {step.duration_ms:.0f}ms"


def _failed(step: ExpansionStep) -> str:
    return f" [failed: {step.failure}]" if step.failure else ""


def _outside(step: ExpansionStep, parent: ExpansionStep) -> str:
    is_external = urlsplit(step.url).netloc != urlsplit(parent.url).netloc
    return "external, " if is_external else ""


def _name(step: ExpansionStep, base: str) -> str:
    url = one_url(step.url)
    return f"/{url.removeprefix(base)}" if base and url.startswith(base) else url


def _common_folder(urls: Sequence[str]) -> str:
    """The folder that most of some addresses are in; empty if they have none in common."""
    if not urls:
        return ""
    origin = urlsplit(urls[0])
    same = [url for url in map(one_url, urls) if urlsplit(url).netloc == origin.netloc]
    base = same[0].rpartition("/")[0] + "/"
    while not all(url.startswith(base) for url in same):
        base = base.rstrip("/").rpartition("/")[0] + "/"
    return base if urlsplit(base).netloc else ""


def evidence_data(
    response: EvidenceResponse, *, budget: int | None = None, boundary: str = ""
) -> dict[str, Any]:
    """Give evidence its public form; with a budget, what `evidence_text` shows with the same one."""
    shown = fitting(response, budget=budget, boundary=boundary)
    numbers = {each.source for each in shown.evidence}
    images = tuple(image for image in response.images if image.source in numbers)
    fitted = response.model_copy(
        update={"evidence": shown.evidence, "citations": shown.citations, "images": images}
    )
    data = fitted.model_dump(mode="json")
    if len(shown.evidence) < len(response.evidence):
        data["evidence_shown"] = len(shown.evidence)
        data["evidence_total"] = len(response.evidence)
    return data
