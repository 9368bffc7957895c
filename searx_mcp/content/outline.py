"""The headings of a Markdown text, the names that callers use for them, its sections, and where to cut it."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Final
from urllib.parse import unquote

from searx_mcp.content.clean import clean_line
from searx_mcp.content.markdown import ESCAPE, in_code
from searx_mcp.content.sentences import sentence_ends
from searx_mcp.content.words import words
from searx_mcp.models.page import Heading
from searx_mcp.models.style import before_leads

_TITLE_CHARS: Final = 200
_LINE_CHARS: Final = 1_000
"""A longer line is not a heading, whatever is before or below it."""

_MAX_HEADINGS: Final = 5_000
"""A text with more is a list; its first headings are enough for orientation."""

_MARK = re.compile(
    r"^ {0,3}(?:(?P<level>\#{1,6})(?=[ \t])(?P<title>[^\n]*+)|(?P<underline>=++|-++)[ \t]*+$)",
    re.MULTILINE,
)
_NO_PARAGRAPH = re.compile(
    r"[ ]*+(?:[>|<#\t]|[-*+](?:[ \t]|$)|[0-9]{1,9}[.)][ \t]|`{3}|~{3}|[-*_=]{3,}[ \t]*+$|$)|[ ]{4}"
)
"""Starts of lines that a line of `-` below does not turn into a heading."""

_PARAGRAPH_LINES: Final = 3
_FRONT_MATTER = re.compile(
    r"\A---[ \t]*\n(?:(?!---|\.\.\.)[^\n]*\n){0,200}(?:---|\.\.\.)[ \t]*(?:\n|\Z)"
)

_IMAGE = re.compile(r"\[image: ([^\[\]]*+)\]")
_LINK = re.compile(r"!?\[([^\[\]]*+)\](?:\([^()\s]*+(?:[ \t]+\"[^\"]*+\")?\)|\[[^\[\]]*+\])")
_EMPHASIS = re.compile(r"(?<!\\)(?:\*{1,3}|~~|`{1,3}|(?<!\w)_{1,2}|_{1,2}(?!\w))")

_NO_LETTER = re.compile(r"[\W_]+")
_NUMBER = re.compile(r"(?:[0-9]{1,3}(?:\.[0-9]{1,3})*+[.):]?|[IVXLC]{1,6}[.)]|[A-Z][.)])[ \t]+")
_NO_SLUG = re.compile(r"[^\w\- ]")
_FOLDED_CHARS: Final = 100
_STEP = re.compile(r"\s*[>\u203a\u00bb]\s*")
_TEXT_FRAGMENT: Final = ":~:"
_HOST_PREFIX: Final = "user-content-"
"""GitHub adds it to the ids in users' texts; addresses omit it."""

_NEAR: Final = 3
_LIKE: Final = 0.5
_COMPARED: Final = 500
"""Headings that are compared by letters with a name that matches none of them."""

_BLANK = re.compile(r"\n(?:[ \t]*\n)++")

_LEAST_SHARE: Final = 0.5
"""A cut at a good position leaves at least this share of the window."""

_CLUSTER: Final = 32
"""Most characters of one letter with its marks, or of one emoji."""

_JOINS_BACK = re.compile(
    "[\u200c\u200d\ufe00-\ufe0f\u180b-\u180f\u1160-\u11ff\U0001f3fb-\U0001f3ff"
    "\U000e0020-\U000e007f\U000e0100-\U000e01ef]"
)
"""Characters that modify the one before them, but are not marks in Unicode."""

_FLAG_LETTER = re.compile("[\U0001f1e6-\U0001f1ff]")
_ZWJ: Final = "\u200d"


def headings(markdown: str) -> tuple[Heading, ...]:
    """Find the headings of a text, ATX and setext, in order; not those in code and front matter.

    Args:
        markdown: any text. Linear in its length.

    Returns:
        At most 5,000, without anchors.
    """
    front = _FRONT_MATTER.match(markdown)
    is_code = in_code(markdown)
    found: list[Heading] = []
    for mark in _MARK.finditer(markdown, front.end() if front else 0):
        if is_code(mark.start()):
            continue
        heading = _atx(mark) if mark["level"] else _setext(markdown, mark)
        if heading is not None:
            found.append(heading)
            if len(found) == _MAX_HEADINGS:
                break
    return tuple(found)


def find(outline: Sequence[Heading], name: str) -> int | None:
    """Find the heading that a caller names.

    In this order: its fragment, as written by the page or by GitHub; its title; its title without case, spaces,
    punctuation and a number before it; and, if only one heading matches and the name is not a fragment, its
    beginning or some of its words.

    Args:
        outline: the headings of a page.
        name: a title, `#fragment`, an address with a fragment, or a path such as `Usage > Linux`.

    Returns:
        The index, of several equal ones the first, or `None`.
    """
    name = clean_line(name, _LINE_CHARS)
    before, mark, fragment = name.partition("#")
    is_fragment = bool(mark) and (not before or "://" in before)
    if is_fragment:
        name = unquote(fragment.partition(_TEXT_FRAGMENT)[0])
    if not name:
        return None
    index = _by_fragment(outline, name)
    if index is None:
        index = _by_title(outline, name)
    if index is None and not is_fragment:
        index = _by_path(outline, _STEP.split(name))
        if index is None:
            index = _by_part(outline, name)
    return index


def near(outline: Sequence[Heading], name: str) -> list[str]:
    """The titles most similar to a name that `find` does not find; at most three, best first."""
    wanted = _folded(name)
    folded = {_folded(heading.title): heading.title for heading in reversed(outline[:_COMPARED])}
    close = get_close_matches(wanted, folded, n=_NEAR, cutoff=_LIKE)
    terms = set(words(name))
    sharing = (heading.title for heading in outline if terms & set(words(heading.title)))
    return list(islice(dict.fromkeys((*(folded[key] for key in close), *sharing)), _NEAR))


def ancestors(outline: Sequence[Heading], index: int) -> tuple[int, ...]:
    """The headings above a heading in the hierarchy, outermost first."""
    found: list[int] = []
    level = outline[index].level
    for position in range(index - 1, -1, -1):
        if outline[position].level < level:
            level = outline[position].level
            found.append(position)
            if level == 1:
                break
    return tuple(reversed(found))


def slug(title: str) -> str:
    """The fragment that GitHub makes from a title, without the number that distinguishes duplicates."""
    return _NO_SLUG.sub("", title.strip().lower()).replace(" ", "-")


def _atx(mark: re.Match[str]) -> Heading | None:
    title = mark["title"].strip()
    if title.endswith("#"):
        closed = title.rstrip("#")
        title = closed.rstrip() if not closed or closed[-1] in " \t" else title
    return _heading(len(mark["level"]), title, mark.start())


def _setext(markdown: str, mark: re.Match[str]) -> Heading | None:
    """A paragraph of up to three lines with a line of `=` or `-` below."""
    end = start = mark.start()
    for _ in range(_PARAGRAPH_LINES):
        before = markdown.rfind("\n", 0, start - 1) + 1 if start else 0
        if before == start or _NO_PARAGRAPH.match(markdown, before, start - 1):
            break
        start = before
    if not 0 < end - start <= _LINE_CHARS:
        return None
    level = 1 if mark["underline"][0] == "=" else 2
    return _heading(level, " ".join(markdown[start:end].split()), start)


def _heading(level: int, markup: str, offset: int) -> Heading | None:
    title = clean_line(inline_text(markup[:_LINE_CHARS]), _TITLE_CHARS) if markup else ""
    return Heading(level=level, title=title, offset=offset) if title else None


def inline_text(markup: str) -> str:
    """Inline Markdown as text; for a line or a sentence."""
    text = _LINK.sub(r"\1", _IMAGE.sub(r"\1", markup))
    return ESCAPE.sub(r"\1", _EMPHASIS.sub("", text))


def _folded(title: str) -> str:
    return _NO_LETTER.sub("", title).casefold()[:_FOLDED_CHARS]


def _unnumbered(title: str) -> str:
    return _folded(_NUMBER.sub("", title.strip(), count=1))


def _by_fragment(outline: Sequence[Heading], name: str) -> int | None:
    anchors = [heading.anchor for heading in outline]
    for anchor in (name, _HOST_PREFIX + name):
        if anchor in anchors:
            return anchors.index(anchor)
    wanted, seen = name.lower(), Counter[str]()
    for index, heading in enumerate(outline):
        made = slug(heading.title)
        numbered = f"{made}-{seen[made]}" if seen[made] else made
        seen[made] += 1
        if numbered == wanted:
            return index
    return None


def _by_title(outline: Sequence[Heading], name: str) -> int | None:
    for fold in (str, _folded, _unnumbered):
        titles = [fold(heading.title) for heading in outline]
        if (wanted := fold(name)) and wanted in titles:
            return titles.index(wanted)
    return None


def _by_path(outline: Sequence[Heading], steps: list[str]) -> int | None:
    """The heading at the end of a path; steps may be omitted."""
    wanted = [_unnumbered(step) for step in steps if _unnumbered(step)]
    if len(wanted) < 2:  # noqa: PLR2004 - a path has a beginning and an end
        return None
    for index, heading in enumerate(outline):
        if _unnumbered(heading.title) == wanted[-1]:
            above = iter(
                [_unnumbered(outline[position].title) for position in ancestors(outline, index)]
            )
            if all(step in above for step in wanted[:-1]):
                return index
    return None


def _by_part(outline: Sequence[Heading], name: str) -> int | None:
    wanted, terms = _folded(name), set(words(name))
    tests: tuple[Callable[[Heading], bool], ...] = (
        lambda heading: _folded(heading.title).startswith(wanted),
        lambda heading: terms <= set(words(heading.title)),
    )
    for test in tests if wanted and terms else ():
        fitting = [index for index, heading in enumerate(outline) if test(heading)]
        if len(fitting) == 1:
            return fitting[0]
    return None


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
    """The titles of the headings above a heading, outermost first, and its own at the end."""
    return tuple(outline[at].title for at in (*ancestors(outline, index), index))


def section_span(outline: Sequence[Heading], index: int, total: int) -> tuple[int, int]:
    """Find the start and end of a section, including its subsections.

    Args:
        outline: the headings of the text, in order.
        index: of the section's heading.
        total: code points of the text.
    """
    heading = outline[index]
    following = (other.offset for other in outline[index + 1 :] if other.level <= heading.level)
    return heading.offset, next(following, total)


def sections(outline: Sequence[Heading], total: int) -> list[Span]:
    """Split the whole text, in order: the part before the first heading, then a part for each heading."""
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


def block_ends(markdown: str, section: Span, is_code: Callable[[int], bool]) -> Iterator[int]:
    """Find the ends of the paragraphs, lists, tables and fenced code in a section, including blank lines.

    A paragraph that ends with a colon belongs to the block after it.
    """
    for blank in _BLANK.finditer(markdown, section.start, section.end):
        at = blank.start()
        if blank.end() < section.end and not is_code(at) and markdown[at - 1 : at] != ":":
            yield blank.end()
    yield section.end


def has_words(text: str) -> bool:
    """Whether there is anything but headings, which belong to what follows them."""
    return any(line and not line.startswith("#") for line in text.split("\n"))


def cut(markdown: str, start: int, max_chars: int) -> int:
    """Find where to end a window on a text.

    At the end of a paragraph, else of a sentence, a line or a word, if that leaves at least half of the window; else
    anywhere that does not separate a letter from its marks. Not after a heading or the mark of a list item.

    Args:
        markdown: the text.
        start: code points before the window.
        max_chars: code points in it at most; at least 1.

    Returns:
        The end; after the start, unless that is the end of the text.
    """
    stop = start + max(1, max_chars)
    if stop >= len(markdown):
        return len(markdown)
    least = start + int(max_chars * _LEAST_SHARE)
    for end in _good_ends(markdown, least, stop):
        if end > start:
            return before_leads(markdown, start, end)
    return _between_letters(markdown, start, stop)


def _good_ends(markdown: str, least: int, stop: int) -> Iterator[int]:
    """The last end of each kind in a window, the best kind first; -1 if there is none."""
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
