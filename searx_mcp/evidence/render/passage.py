"""A passage as shown in a small budget: around its quote, without links and repetitions."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from searx_mcp.content.markdown import in_code
from searx_mcp.content.passages import score_all
from searx_mcp.evidence.values import Citation, Evidence, EvidenceResponse
from searx_mcp.render.fence import strangers
from searx_mcp.render.tokens import closing, estimate, fit

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
            block = max(spans[0][0], text.rfind("\n\n", 0, at) + 2)
            head = text[block:at][:_HEAD_CHARS].rpartition(" ")[0]
            kept = [(block, block + len(head)), (at, spans[0][1])][0 if head else 1 :]
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
    is_code = in_code(text)
    at = 0
    for start, end in spans:
        if start != at:
            yield f"{closing(text[:at])}{_GAP}" if at and is_code(at - 1) and is_code(at) else _GAP
            if is_code(start - 1) and is_code(start):
                yield f"{_FENCE}\n"
        yield text[start:end]
        at = end
    if at < len(text):
        yield _GAP
