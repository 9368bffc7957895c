"""The parts of a paragraph as Markdown: emphasis and links that a parser recognises again.

A page nests, crosses, repeats and empties formatting at will. Here every part of the text has its formats, and the
marks are written where they change: outside spaces, in the order that closes them without reopening, and only where
CommonMark's rules (section 6.2) let them work.
"""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from searx_mcp.content.markdown import code_span
from searx_mcp.content.writing.inline_text import escape_brackets

STRONG: Final = 1
EMPHASIS: Final = 2
STRUCK: Final = 4
CODE: Final = 8
MARKUP: Final = 16
"""Already Markdown, which stays as it is."""

_FORMATS: Final = STRONG | EMPHASIS | STRUCK
_STARS: Final = STRONG | EMPHASIS
_LINK: Final = 32
_MARKS: Final = {STRONG: "**", EMPHASIS: "*", STRUCK: "~~", _LINK: "["}
_OUTERMOST_FIRST: Final = (_LINK, STRUCK, STRONG, EMPHASIS)

BREAK_TEXT: Final = "  \n"
"""A hard break. Two spaces and not a backslash: a reader of the raw text sees only a new line, and if the spaces get
lost it still is one. Nothing here strips the ends of lines."""


@dataclass(slots=True, eq=False)
class TextLink:
    """A link of the page; one object for all parts of its text.

    Attributes:
        address: absolute.
        is_written: whether it is already in a paragraph; its further blocks are plain text.
    """

    address: str
    is_written: bool = False


class TextRun(NamedTuple):
    """A part of a paragraph: its text, which may begin with a space, its formats, and its link."""

    text: str
    formats: int
    link: TextLink | None


BREAK: Final = TextRun(BREAK_TEXT, MARKUP, None)
_NOTHING: Final = TextRun(" ", 0, None)


class _Open(NamedTuple):
    """An open mark, and where it was written."""

    kind: int
    place: int


def inline(parts: list[TextRun], targets: dict[TextLink, str], escape: Callable[[str], str]) -> str:
    """Write the parts of a paragraph.

    Args:
        parts: in order; none is empty, none ends with a space, none begins with one after a break.
        targets: suffixes for the text of links, such as `(https://example.com)`. A link without one is plain text.
        escape: converts plain text to Markdown.

    Returns:
        Markdown without marks that would not work. Its lines may still begin a block.
    """
    if len(parts) == 1:
        text, formats, link = parts[0]
        if not formats:
            shown = escape(text)
            return f"[{escape_brackets(shown)}]{targets[link]}" if link in targets else shown
    merged = _merged(parts, targets)
    if any(part.formats & _FORMATS for part in merged):
        return _Writer(_apart(merged), targets, escape).written()
    return _unformatted(merged, targets, escape)


def _unformatted(
    parts: list[TextRun], targets: dict[TextLink, str], escape: Callable[[str], str]
) -> str:
    """Write parts without formats, which is the most common case, like `_Writer` would."""
    pieces: list[str] = []
    before: TextLink | None = None
    last = ""
    for text, formats, link in parts:
        markdown = text if formats & MARKUP else _unmarked(text, formats, link, escape)
        if link is not before:
            if before is not None:
                pieces.append(f"]{targets[before]}")
                last = ")"
            if link is not None:
                bare = markdown.lstrip(" ")
                markdown = f" [{bare}" if len(bare) < len(markdown) else f"[{bare}"
        if last == "!" and markdown[0] == "[":
            pieces[-1] = f"{pieces[-1][:-1]}\\!"
        elif (
            last == "]" and not formats and markdown[0] in "([" and (link is None or link is before)
        ):
            markdown = f"\\{markdown}"
        before = link
        pieces.append(markdown)
        last = markdown[-1]
    if before is not None:
        pieces.append(f"]{targets[before]}")
    return "".join(pieces)


def _unmarked(text: str, formats: int, link: TextLink | None, escape: Callable[[str], str]) -> str:
    if formats:
        return f" {code_span(text[1:])}" if text[0] == " " else code_span(text)
    return escape(text) if link is None else escape_brackets(escape(text))


def _merged(parts: list[TextRun], targets: dict[TextLink, str]) -> list[TextRun]:
    """Merge neighbours with the same formats and link."""
    found: list[tuple[list[str], int, TextLink | None]] = []
    formats, link = -1, None
    for part in parts:
        text, own, its_link = part
        wanted = its_link if its_link in targets else None
        if found and wanted is link and own & formats & CODE and text[0] != " ":
            own = formats  # The marks of two pieces of code must not touch.
        if own == formats and wanted is link and not own & MARKUP:
            found[-1][0].append(text)
            continue
        formats, link = own, wanted
        found.append(([text], formats, link))
    return [TextRun("".join(texts), formats, link) for texts, formats, link in found]


def _apart(parts: list[TextRun]) -> list[TextRun]:
    """Take punctuation out of formatting that begins or ends with it inside a word.

    `a<b>(b)</b>c` would be `a**(b)**c`, whose marks open nothing; `a(**b**)c` has the same words in bold.
    """
    found: list[TextRun] = []
    before = _NOTHING
    for part, after in pairwise([*parts, _NOTHING]):
        text, formats, link = part
        gained = formats & ~before.formats & _FORMATS
        lost = formats & ~after.formats & _FORMATS
        if not gained | lost or formats & (CODE | MARKUP):
            found.append(part)
        else:
            start, end = 0, len(text)
            if gained and text[0] != " " and _is_word_like(_character(before, -1, link)):
                start = _punctuation_at_start(text)
            if lost and end > start and _is_word_like(_character(after, 0, link)):
                end = _punctuation_at_end(text, start)
            pieces = (
                TextRun(text[:start], formats & ~gained, link),
                TextRun(text[start:end], formats, link),
                TextRun(text[end:], formats & ~lost, link),
            )
            found += [piece for piece in pieces if piece.text]
        before = part
    return found


def _character(part: TextRun, index: int, link: TextLink | None) -> str:
    """The first or last character of a neighbour as written: markup is punctuation."""
    text, formats, its_link = part
    if text[index].isspace():
        return " "
    is_marked = its_link is not None and its_link is not link
    return "." if is_marked or formats & (CODE | MARKUP) else text[index]


def _punctuation_at_start(text: str) -> int:
    for index, character in enumerate(text):
        if _is_word(character) or character == " ":
            return index
    return len(text)


def _punctuation_at_end(text: str, start: int) -> int:
    for index in range(len(text), start, -1):
        if text[index - 1] == " ":
            return index - 1
        if _is_word(text[index - 1]):
            return index
    return start


def _is_word(character: str) -> bool:
    """Whether it is certainly neither a space nor punctuation."""
    return character.isalnum() or (
        not character.isascii() and unicodedata.category(character)[0] in "MC"
    )


def _is_word_like(character: str) -> bool:
    """Whether a parser may read it as a letter: only some parsers count symbols as punctuation."""
    if character.isalnum():
        return True
    if character.isascii() or character.isspace():
        return False
    return unicodedata.category(character)[0] != "P"


class _Writer:
    """Writes one paragraph.

    `edge` is the last character before the marks that are being written, or a mark of another kind before them:
    CommonMark's rules depend on it.
    """

    def __init__(
        self, parts: list[TextRun], targets: dict[TextLink, str], escape: Callable[[str], str]
    ) -> None:
        self._parts = parts
        self._targets = targets
        self._escape = escape
        self._pieces: list[str] = []
        self._open: list[_Open] = []
        self._held = 0
        self._edge = " "
        self._ends = _ends(parts)

    def written(self) -> str:
        before = _NOTHING
        for index, part in enumerate(self._parts):
            closed = 0
            if self._open:
                wanted = part.formats & _FORMATS
                if part.link is before.link:
                    wanted |= _LINK
                closed = self._close(wanted, before.link, _character(part, 0, before.link))
            self._write(part, index, closed)
            before = part
        self._close(0, before.link, " ")
        return "".join(self._pieces)

    def _write(self, part: TextRun, index: int, closed: int) -> None:
        text = part.text
        if has_space := text[0] == " " and part is not BREAK:
            self._pieces.append(" ")
            self._edge = " "
            text = text[1:]
        if not text:
            return
        wanted = part.formats & _FORMATS | (_LINK if part.link is not None else 0)
        gained = wanted & ~self._held
        if closed and not has_space:
            gained &= ~_like(closed)
        if gained:
            self._begin(
                gained, index, _character(TextRun(text, part.formats, part.link), 0, part.link)
            )
        markdown = self._text(text, part)
        self._pieces.append(markdown)
        self._edge = markdown[-1]

    def _text(self, text: str, part: TextRun) -> str:
        if part.formats & MARKUP:
            markdown = text
        else:
            markdown = _unmarked(text, part.formats & CODE, part.link, self._escape)
            if markdown[0] in "([" and self._tail() == "]":
                markdown = f"\\{markdown}"
        if markdown[0] == "[":
            self._disarm()
        return markdown

    def _tail(self) -> str:
        return next((piece[-1] for piece in reversed(self._pieces) if piece), "")

    def _disarm(self) -> None:
        """Prevent an exclamation mark before a bracket from making an image."""
        for index in range(len(self._pieces) - 1, -1, -1):
            if piece := self._pieces[index]:
                if piece[-1] == "!":
                    self._pieces[index] = f"{piece[:-1]}\\!"
                return

    def _begin(self, kinds: int, index: int, first: str) -> None:
        """Open marks, the one that lasts longest first."""
        order = [kind for kind in _OUTERMOST_FIRST if kind & kinds]
        if len(order) > 1:
            order.sort(key=lambda kind: -self._ends[kind][index])
            if kinds & _LINK and _is_word_like(self._edge):
                order.sort(key=lambda kind: kind != _LINK)
        for position, kind in enumerate(order):
            if kind == _LINK:
                self._disarm()
                self._push(kind)
                self._edge = "["
                continue
            inner = order[position + 1 :]
            character = "." if any(not _like(kind) & other for other in inner) else first
            if self._opens(kind, character):
                self._push(kind)
                if inner and not _like(kind) & inner[0]:
                    self._edge = "*"

    def _opens(self, kind: int, first: str) -> bool:
        """Whether a mark before a character opens, and does not close another open one."""
        if self._edge.isspace():
            return True
        is_in_word, is_word = _is_word_like(self._edge), _is_word(first)
        if is_in_word and not is_word:
            return False
        is_opener_only = is_word and not is_in_word
        others = self._held & _like(kind) & ~kind
        if is_opener_only or not others:
            return True
        last = self._open[-1]
        return bool(last.kind & others) and last.place == len(self._pieces) - 1

    def _push(self, kind: int) -> None:
        self._open.append(_Open(kind, len(self._pieces)))
        self._pieces.append(_MARKS[kind])
        self._held |= kind

    def _close(self, wanted: int, link: TextLink | None, after: str) -> int:
        """Close marks that are not wanted, and those opened inside them.

        Returns:
            The kinds that were closed.
        """
        lowest = 0
        while lowest < len(self._open) and self._open[lowest].kind & wanted:
            lowest += 1
        closing = self._open[lowest:][::-1]
        del self._open[lowest:]
        closed = 0
        for position, mark in enumerate(closing):
            closed |= mark.kind
            outer = closing[position + 1 :]
            if mark.kind == _LINK:
                assert link is not None  # noqa: S101 - there is no mark without one
                self._pieces.append(f"]{self._targets[link]}")
                self._edge = ")"
                continue
            is_in_link = any(other.kind == _LINK for other in outer)
            if is_in_link or _is_word(self._edge) or not _is_word_like(after):
                self._pieces.append(_MARKS[mark.kind])
                if not outer or not _like(mark.kind) & outer[0].kind:
                    self._edge = "*"
            else:
                self._pieces[mark.place] = ""
        self._held &= ~closed
        return closed


def _like(kinds: int) -> int:
    """The kinds whose marks use the same characters."""
    return (_STARS if kinds & _STARS else 0) | (kinds & STRUCK)


def _ends(parts: list[TextRun]) -> dict[int, list[int]]:
    """For each kind of mark and each part, the position where the current format ends."""
    last = len(parts) - 1
    ends = {kind: [0] * len(parts) for kind in _OUTERMOST_FIRST}
    for kind in (STRUCK, STRONG, EMPHASIS):
        end = last
        places = ends[kind]
        for index in range(last, -1, -1):
            if not parts[index].formats & kind:
                end = index - 1
            places[index] = end
    end, link = last, None
    for index in range(last, -1, -1):
        if parts[index].link is not link:
            end, link = index, parts[index].link
        ends[_LINK][index] = end
    return ends
