"""Parts of a text in Markdown: its sections, and where to cut."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from searx_mcp.content.outline import ancestors
from searx_mcp.content.sentences import sentence_ends
from searx_mcp.models.page import Heading

_LEAST_SHARE: Final = 0.5
"""A cut at a good place leaves at least this share of the window."""

_CLUSTER: Final = 32
"""Characters of one letter with its marks, or one emoji, at most."""

_JOINS_BACK = re.compile(
    "[\u200c\u200d\ufe00-\ufe0f\u180b-\u180f\u1160-\u11ff\U0001f3fb-\U0001f3ff"
    "\U000e0020-\U000e007f\U000e0100-\U000e01ef]"
)
"""Characters that change the one before them, and are no marks to Unicode."""

_FLAG_LETTER = re.compile("[\U0001f1e6-\U0001f1ff]")
_ZWJ: Final = "\u200d"


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text.

    Attributes:
        start: code points before it.
        end: code points up to its end.
        path: the headings above it, outermost first.
    """

    start: int
    end: int
    path: tuple[str, ...]


def path(outline: Sequence[Heading], index: int) -> tuple[str, ...]:
    """The titles that lead to a heading, outermost first, its own last."""
    return tuple(outline[at].title for at in (*ancestors(outline, index), index))


def section_span(outline: Sequence[Heading], index: int, total: int) -> tuple[int, int]:
    """Where a section begins and ends, with the sections under it.

    Args:
        outline: the headings of the text, in order.
        index: of the section's heading.
        total: code points of the text.
    """
    heading = outline[index]
    following = (other.offset for other in outline[index + 1 :] if other.level <= heading.level)
    return heading.offset, next(following, total)


def sections(outline: Sequence[Heading], total: int) -> list[Span]:
    """The whole text in order: what stands before the first heading, then up to each next one."""
    found: list[Span] = []
    above: list[Heading] = []
    start = 0
    for heading in outline:
        if heading.offset > start:
            found.append(Span(start, heading.offset, _titles(above)))
        while above and above[-1].level >= heading.level:
            above.pop()
        above.append(heading)
        start = heading.offset
    if total > start:
        found.append(Span(start, total, _titles(above)))
    return found


def cut(markdown: str, start: int, max_chars: int) -> int:
    """Where to end a window on a text.

    At the end of a paragraph, else of a sentence, a line or a word, if that leaves at least half of
    the window; else wherever no letter is torn from its marks.

    Args:
        markdown: the text.
        start: code points before the window.
        max_chars: code points in it at most; at least 1.

    Returns:
        The end; behind the start, unless that is the end of the text.
    """
    stop = start + max(1, max_chars)
    if stop >= len(markdown):
        return len(markdown)
    least = start + int(max_chars * _LEAST_SHARE)
    for end in _good_ends(markdown, least, stop):
        if end > start:
            return end
    return _between_letters(markdown, start, stop)


def _good_ends(markdown: str, least: int, stop: int) -> Iterator[int]:
    """The last end of each kind in a window, the best kind first; -1 if it has none."""
    yield _behind(markdown, "\n\n", least, stop)
    yield _behind_sentence(markdown, least, stop)
    yield _behind(markdown, "\n", least, stop)
    yield _behind(markdown, " ", least, stop)


def _titles(above: list[Heading]) -> tuple[str, ...]:
    return tuple(heading.title for heading in above)


def _behind(markdown: str, mark: str, least: int, stop: int) -> int:
    at = markdown.rfind(mark, least, stop)
    return -1 if at < 0 else at + len(mark)


def _behind_sentence(markdown: str, least: int, stop: int) -> int:
    last = -1
    for end in sentence_ends(markdown[least:stop]):
        last = end
    return -1 if last < 0 else least + last


def _between_letters(markdown: str, start: int, stop: int) -> int:
    for end in range(stop, max(start, stop - _CLUSTER), -1):
        if not _is_inside_letter(markdown, start, end):
            return end
    return stop


def _is_inside_letter(markdown: str, start: int, at: int) -> bool:
    before, after = markdown[at - 1], markdown[at]
    if before == _ZWJ or _JOINS_BACK.match(after) or unicodedata.category(after)[0] == "M":
        return True
    if not (_FLAG_LETTER.match(before) and _FLAG_LETTER.match(after)):
        return False
    letters = 0
    while at - letters > start and _FLAG_LETTER.match(markdown[at - letters - 1]):
        letters += 1
    return letters % 2 == 1
