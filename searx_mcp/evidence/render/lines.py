"""The lines of evidence: sources, passages, quotes, and the tree of the pages that were read.

Each line has the specification's form, which models may know.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final
from urllib.parse import urlsplit

from searx_mcp.content.chunks import Text
from searx_mcp.content.passages import score_all
from searx_mcp.evidence.values import (
    Citation,
    Evidence,
    EvidenceImage,
    EvidenceResponse,
    ExpansionStep,
    Source,
)
from searx_mcp.render.fence import neutralise, one_line, one_url, strangers
from searx_mcp.render.tokens import UNLIMITED, closing, estimate, fit

_TITLE_TOKENS: Final = 40
_QUESTION_TOKENS: Final = 60
_COPIES: Final = 5
"""Addresses of copies that are listed."""
_QUOTE_WORDS: Final = 12
"""Words of a quote that is also in the evidence above: enough to find it there."""
_FAILURE_TOKENS: Final = 30
_GAP: Final = "\n…\n"
_WIDE_GAP = re.compile(r"(?<!\n)\n{2,}+…\n++")
"""A gap next to blank lines, which is redundant."""
_HEAD_CHARS: Final = 60
"""Code points of a long paragraph that are shown before its quote, for context, and after it."""
_LINK = re.compile(
    r"(?<![!\\])\[([^\[\]\n]{0,500}+)\]\([^()\s]{0,2100}+(?:\([^()\s]{0,500}+\)[^()\s]{0,500}+){0,3}\)"
)
"""A link, whose address costs more than its words and is in the page and in the data."""
_LINE_END = re.compile(r"\n+")
_FENCE: Final = "```"
_LONG: Final = 60
"""Minimum code points of a paragraph that is not repeated."""


def title_line(text: str, boundary: str) -> str:
    """Return a title on one line, without the separator between title and address in our lines."""
    return one_line(text, boundary, max_tokens=_TITLE_TOKENS).replace(" \u2014 ", " - ")


@dataclass(frozen=True, slots=True)
class Shown:
    """The part of a response that fits: evidence, with its texts as shown, and quotes of its sources."""

    evidence: Sequence[Evidence]
    citations: Sequence[Citation]

    @property
    def sources(self) -> set[int]:
        """The numbers of the sources of the evidence."""
        return {each.source for each in self.evidence}


def sources_of(
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


def source_lines(sources: Sequence[Source], boundary: str) -> Iterator[str]:
    """Yield each source, with its headings and the copies of its page."""
    for source in sources:
        title = title_line(source.title, boundary) or "Untitled"
        mark = "" if source.is_read else " (not read: a search result's snippet)"
        lines = [f"[{source.number}] {title} — {one_url(source.url)}{mark}"]
        lines += [f"    § {title_line(section, boundary)}" for section in source.sections]
        lines += [f"    = {one_url(copy)}" for copy in source.copies[:_COPIES]]
        if more := len(source.copies) - _COPIES:
            lines += [f"    = and {more} more copies"] if more > 0 else []
        yield "\n".join(lines)


def evidence_lines(
    response: EvidenceResponse, shown: Shown, boundary: str, more: str
) -> Iterator[str]:
    """Yield the passages that are shown, each below its head, and how many are left out."""
    if not response.evidence:
        where = " in the specified URL" if any(not step.depth for step in response.steps) else ""
        yield f"No relevant content was found for this query{where}."
        return
    for number, each in enumerate(shown.evidence):
        if number:
            yield ""
        yield evidence_head(each, response, boundary)
        yield strangers(each.text.strip("\n"), boundary)
    total, here = len(response.evidence), len(shown.evidence)
    if here < total:
        if here:
            yield ""
        yield (
            f"... (showing {here} of {total} chunks — remaining {total - here} omitted due to response"
            f" budget{'; ' if more else ''}{more})"
        )


def evidence_head(evidence: Evidence, response: EvidenceResponse, boundary: str) -> str:
    """Return the lines above a passage: what is known of it, and the header of its table."""
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
    head = f"Source [{evidence.source}] ({', '.join(facts)}){beside}{mark}:"
    return f"{head}\n{strangers(evidence.table_head, boundary)}".rstrip("\n")


def image_lines(images: Sequence[EvidenceImage], shown: Shown, boundary: str) -> Iterator[str]:
    """Yield the images of the sources that are shown."""
    for image in images:
        if image.source in shown.sources:
            alt = title_line(image.alt or "image", boundary)
            url = one_url(image.url).replace("(", "%28").replace(")", "%29")
            caption = f" — {title_line(image.caption, boundary)}" if image.caption else ""
            yield f"- [{alt}]({url}){caption} (from Source [{image.source}])"


def citation_lines(shown: Shown, boundary: str, *, is_short: bool) -> Iterator[str]:
    """Yield the quotes that are shown; unless the budget is short, also when their pages were retrieved."""
    for number, each in enumerate(shown.citations):
        if number:
            yield ""
        yield from quote_lines(each, shown.citations[:number], shown.evidence, boundary)
    if shown.citations and not is_short:
        yield ""
        dated = {each.source: each for each in reversed(shown.citations)}
        yield from (_origin_line(dated[number], boundary) for number in sorted(dated))


def quote_lines(
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


def trace_lines(steps: Sequence[ExpansionStep], stop_reason: str, boundary: str) -> Iterator[str]:
    """Draw the tree, unless only the pages named by the call were read.

    Addresses on the first page's site are shown relative to their common folder.

    Args:
        steps: in the order in which they were read.
        stop_reason: why no more were read; the part before a dash is shown.
        boundary: of the fence.
    """
    steps = [
        step.model_copy(
            update={"failure": one_line(step.failure, boundary, max_tokens=_FAILURE_TOKENS)}
        )
        for step in steps
    ]
    if not any(step.depth or step.failure for step in steps):
        return
    base = _common_folder([one_url(step.url) for step in steps])
    if base:
        yield f"Base: {base}"
        yield ""
    known = {step.url for step in steps}
    children: dict[str, list[ExpansionStep]] = {}
    roots = []
    for step in steps:
        if step.depth and step.parent in known and step.parent != step.url:
            children.setdefault(step.parent, []).append(step)
        else:
            roots.append(step)
    for root in roots:
        place = "seed" if not root.depth else f"depth {root.depth}"
        yield _row(root, base, place, is_root=True)
        yield from _branches(root, children, base)
    for left in [step for below in children.values() for step in below]:  # a cycle of links
        yield _row(left, base, f"depth {left.depth}")
    if reason := stop_reason.partition(" \u2014 ")[0]:
        yield f"    [stopped: {reason}]"


def _branches(
    root: ExpansionStep, children: dict[str, list[ExpansionStep]], base: str
) -> Iterator[str]:
    """Draw what is below a page. Not recursive: the settings decide how deep it goes."""
    rows = [(step, root, "", n == 0) for n, step in enumerate(reversed(children.pop(root.url, [])))]
    while rows:
        step, parent, indent, is_last = rows.pop()
        outside = "external, " if _site(step) != _site(parent) else ""
        row = _row(step, base, f"{outside}depth {step.depth}")
        yield f"{indent}{'└── ' if is_last else '├── '}{row}"
        deeper = indent + ("    " if is_last else "│   ")
        below = reversed(children.pop(step.url, []))
        rows += [(each, step, deeper, n == 0) for n, each in enumerate(below)]


def _row(step: ExpansionStep, base: str, place: str, *, is_root: bool = False) -> str:
    url = one_url(step.url)
    name = f"/{url.removeprefix(base)}" if base and url.startswith(base) else url
    facts = [place]
    if not step.failure:
        facts += [] if is_root else [f"+{step.chunks_added} chunks"]
        facts.append(f"score: {step.score_before:.2f} → {step.score_after:.2f}")
    facts += [] if is_root else [f"{step.duration_ms:.0f}ms"]
    failed = f" [failed: {step.failure}]" if step.failure else ""
    return f"{name} ({', '.join(facts)}){failed}"


def _site(step: ExpansionStep) -> str:
    return urlsplit(one_url(step.url)).netloc


def _common_folder(urls: Sequence[str]) -> str:
    """Return the common folder of the addresses on the first one's site, with its slash; empty if there is none."""
    first = urlsplit(urls[0])
    origin = f"{first.scheme}://{first.netloc}/"
    folders = [
        url.partition("?")[0].partition("#")[0].split("/")[:-1]
        for url in urls
        if url.startswith(origin)
    ]
    shared = list(zip(*folders, strict=False))
    longest = next((n for n, parts in enumerate(shared) if len({*parts}) > 1), len(shared))
    return "/".join((*folders[0][:longest], "")) if folders else ""


def holds(quote: Citation, evidence: Evidence) -> bool:
    """Return whether a quote is from a chunk."""
    return (
        quote.source == evidence.source
        and evidence.span[0] <= quote.span[0]
        and quote.span[1] <= evidence.span[1]
    )


def excerpt(response: EvidenceResponse, evidence: Evidence, room: int, boundary: str) -> str:
    """Return what fits of a chunk's text: its quote, and the parts that match the question best, in order.

    Args:
        response: with the evidence.
        evidence: the chunk.
        room: tokens.
        boundary: of the fence.
    """
    text = evidence.text
    whole = _joined(text, [(0, len(text))], boundary)
    if estimate(whole, limit=max(0, room)) <= room:
        return whole
    spans = [*evidence.parts] or [(0, len(text))]
    kept: list[tuple[int, int]] = []
    if quote := next((each for each in response.citations if holds(each, evidence)), None):
        at = len(text.encode()[: quote.span[0] - evidence.span[0]].decode(errors="replace"))
        spans.sort(key=lambda span: not span[0] <= at < span[1])
        if estimate(_joined(text, spans[:1], boundary)) > room:
            before = text[spans[0][0] : at].rpartition("\n\n")[2]
            block, row = at - len(before), at - len(before.rpartition("\n")[2])
            is_row = text.startswith("|", row)
            head = "" if is_row else before[:_HEAD_CHARS].rpartition(" ")[0]
            kept = [(block, block + len(head)), (row if is_row else at, spans[0][1])][not head :]
    for span in spans[1:] if kept else spans:
        if estimate(_joined(text, [*kept, span], boundary)) <= room:
            kept.append(span)
    if not kept:
        begin = _best_line(text, spans[0], evidence.sub_query or response.query)
        kept = [(begin, spans[0][1] if begin > spans[0][0] else len(text))]
    return fit(_joined(text, kept, boundary), room)[0]


def _best_line(text: str, span: tuple[int, int], question: str) -> int:
    """Return where the line begins that fits a question best; the rows of a table are one part of a chunk."""
    starts = [span[0], *(found.end() for found in _LINE_END.finditer(text, *span))]
    lines = [(text[start:end], ()) for start, end in pairwise([*starts, span[1]])]
    scores = [match.score for match in score_all(lines, question)]
    return starts[scores.index(max(scores))]


def unrepeated(text: str, seen: set[str]) -> str:
    """Remove paragraphs at both ends of a passage that a better one has, since chunks overlap.

    Args:
        text: the passage; the last paragraph stays if nothing else is left.
        seen: the paragraphs of better ones, to which its own are added.
    """
    blocks = text.split("\n\n")
    while len(blocks) > 1 and _bare(blocks[0]) in seen:
        del blocks[0]
    while len(blocks) > 1 and _bare(blocks[-1]) in seen:
        del blocks[-1]
    seen.update(bare for bare in map(_bare, blocks) if len(bare) >= _LONG and _FENCE not in bare)
    return "\n\n".join(blocks)


def _bare(block: str) -> str:
    return block.strip("…\n")


def _joined(text: str, spans: Sequence[tuple[int, int]], boundary: str) -> str:
    """Join parts of a text in order, with a mark for omissions, without links, and code in fences."""
    joined = _WIDE_GAP.sub(_GAP, "".join(_pieces(text, sorted(spans)))).strip("\n")
    return strangers(_LINK.sub(r"\1", joined + closing(joined)), boundary)


def _pieces(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[str]:
    blocks = Text(text)
    at = 0
    for start, end in spans:
        if start != at:
            is_cut = at and blocks.is_code(at - 1) and blocks.is_code(at)
            yield f"{closing(text[:at])}{_GAP}" if is_cut else _GAP
            yield blocks.head(start)
        yield text[start:end]
        at = end
    if at < len(text):
        yield _GAP
