"""The walk over the tree: text becomes parts of paragraphs, and paragraphs become blocks.

It does not recurse, so that any depth of nesting is safe. The handler of an element (in `inline_elements`,
`block_elements` or `write`) defines its meaning: a function that is called where the element begins, and returns the
function to call where it ends.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from selectolax.lexbor import LexborNode

from searx_mcp.content.clean import clean_counted, clean_line
from searx_mcp.content.writing.blocks import Block, Footnote, Paragraph
from searx_mcp.content.writing.inline_text import escape, escape_lines, escape_numbered
from searx_mcp.content.writing.paragraphs import (
    BREAK,
    CODE,
    MARKUP,
    STRONG,
    TextLink,
    TextRun,
    inline,
)
from searx_mcp.content.writing.targets import Targets
from searx_mcp.models.style import Links, Style

Close: TypeAlias = Callable[["DomWalker"], None]
Handler: TypeAlias = Callable[["DomWalker", LexborNode], Close | None]
Handlers: TypeAlias = Mapping[str | None, Handler]
"""By element name; without a handler, only the content of an element counts."""

_UNPRINTED = re.compile(
    "[\u034f\u115f\u1160\u3164\uffa0\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
"""Invisible characters that Python considers printable."""

_CJK: Final = (
    "\u2e80-\u312f\u3190-\u9fff\ua960-\ua97f\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff9f\uffe0-\uffef"
    "\U00020000-\U0003ffff"
)
_CJK_LINE_END = re.compile(f"(?<=[{_CJK}])[ \t\r\f]*\n\\s*(?=[{_CJK}])")
_CJK_ONE = re.compile(f"[{_CJK}]")
"""Scripts without spaces between words: a line end in the source is not a space there (CSS Text 3, 4.1.3)."""

_LABEL_CHARS: Final = 60
_NO_LABEL = re.compile(r"[^\w.-]+")
_NUMBER = re.compile(r"\s*[0-9]{1,9}\s*")


def skip(_walker: "DomWalker") -> None:
    """Marks an element whose content is skipped; a handler returns it."""


class Modes(NamedTuple):
    """The handlers of elements between blocks, on a line that no block breaks, and in code."""

    blocks: Handlers
    line: Handlers
    code: Handlers


class RunningText:
    """Text while it is read, until it is a paragraph: its parts, and the spaces between them.

    Attributes:
        parts: read so far, in order.
        formats: in effect.
        link: in effect, or `None`.
        hidden: characters removed from all text.
    """

    def __init__(self) -> None:
        self.parts: list[TextRun] = []
        self.formats = 0
        self.link: TextLink | None = None
        self.hidden = 0
        self._gap = -1
        self._gap_is_line_end = False
        self._gap_is_seam = False

    def clean(self, raw: str) -> str:
        """Remove invisible characters."""
        text, hidden = clean_counted(raw)
        self.hidden += hidden
        return text

    def read(self, raw: str) -> None:
        """Add text of the page: spaces are collapsed, invisible characters removed."""
        words = raw.split()
        if not words:
            if self.parts:
                self.space(is_line_end="\n" in raw)
            return
        text = " ".join(words)
        if not text.isascii() or not text.isprintable():
            self._read_unusual(raw, text)
            return
        if raw[0].isspace():
            self.space()
        if self._gap < 0 or not self.parts:
            self._gap = -1
            self.parts.append(TextRun(text, self.formats, self.link))
        else:
            self.add(text)
        if raw[-1].isspace():
            self.space()

    def _read_unusual(self, raw: str, text: str) -> None:
        """Add text that is not ASCII, or not clean."""
        if not text.isprintable() or _UNPRINTED.search(text):
            raw = self.clean(raw)
            text = " ".join(raw.split())
            if not text:
                if raw:
                    self.space(is_line_end="\n" in raw)
                return
        if "\n" in raw and _CJK_ONE.search(text):
            text = " ".join(_CJK_LINE_END.sub("", raw).split())
        start, end = len(raw) - len(raw.lstrip()), len(raw.rstrip())
        if start:
            self.space(is_line_end="\n" in raw[:start])
        self.add(text)
        if end < len(raw):
            self.space(is_line_end="\n" in raw[end:])

    def add(self, text: str, formats: int | None = None) -> None:
        """Add a part, after any space noted before it.

        Args:
            text: not empty, without spaces around it.
            formats: of the part; by default those in effect.
        """
        if formats is None:
            formats = self.formats
        parts, gap = self.parts, self._gap
        if gap >= 0:
            self._gap = -1
            if self._gap_is_seam and not _is_of_word(text[0]):
                pass
            elif parts and (last := parts[-1]) is not BREAK:
                shared = formats & last.formats
                if shared & ~gap:
                    # The space is between two elements of one kind, and in neither.
                    link = self.link if last.link is self.link else None
                    parts.append(TextRun(" ", gap & shared & ~(CODE | MARKUP), link))
                elif not (self._gap_is_line_end and _are_cjk(last.text[-1], text[0])):
                    text = " " + text
        parts.append(TextRun(text, formats, self.link))

    def space(self, *, is_line_end: bool = False) -> None:
        """Note a space before whatever comes next in the same paragraph."""
        self._gap_is_seam = False
        if self._gap < 0:
            self._gap = self.formats
            self._gap_is_line_end = is_line_end
        elif not is_line_end:
            self._gap_is_line_end = False

    def seam(self) -> None:
        """Separate what follows from a word before it, which the page does by its style and not by a space."""
        is_behind = self._gap < 0 and self.parts and not self.formats & CODE
        if is_behind and _is_of_word(self.parts[-1].text[-1:]):
            self.space()
            self._gap_is_seam = True

    def glue(self) -> None:
        """Forget the space before whatever comes next."""
        self._gap = -1

    def line_break(self) -> None:
        """Break the line."""
        self.parts.append(BREAK)
        self._gap = -1

    def taken(self) -> list[TextRun]:
        """Take the parts; none are left."""
        self._gap = -1
        parts, self.parts = self.parts, []
        while parts and parts[-1] is BREAK:
            parts.pop()
        return parts


class Footnotes:
    """The footnotes of a page, each with a unique label.

    Attributes:
        blocks: those read so far.
    """

    def __init__(self) -> None:
        self.blocks: list[Footnote] = []
        self._labels: dict[str, str] = {}
        self._taken: set[str] = set()

    def label_of(self, node: LexborNode) -> str:
        """The name of a note or a reference if it is a valid label, made unique."""
        name = node.attributes.get("name") or ""
        if (known := self._labels.get(name)) is not None:
            return known
        wanted = _NO_LABEL.sub("-", clean_line(name, _LABEL_CHARS)).strip("-…") or "note"
        label = wanted if wanted not in self._taken else f"{wanted}-{len(self._labels)}"
        while label in self._taken:
            label += "x"
        self._taken.add(label)
        self._labels[name] = label
        return label


class DomWalker:
    """The walk, with the state at its position.

    Args:
        base: against which addresses are resolved.
        style: what is written.
        modes: the handlers in each context.
        roots: elements whose text shows whether the alternative text of an image is a repetition.

    Attributes:
        style: what is written.
        is_numbered: whether the addresses of links are at the end, with numbers.
        text: of the current paragraph.
        targets: the links and images so far.
        footnotes: likewise.
        blocks: receives finished blocks: those of the page, of an item, of a cell.
        frame: the list, table or list of terms that receives parts, or `None`. Only its handlers know its type.
        level: of nested quotes and lists.
        finish_line: makes a block of the current line, if there is one.
    """

    def __init__(
        self, base: str, style: Style, modes: Modes, roots: Sequence[LexborNode] = ()
    ) -> None:
        self.style = style
        self.is_numbered = style.links is Links.FOOTNOTES
        self.text = RunningText()
        self.targets = Targets(base, style.links, roots)
        self.footnotes = Footnotes()
        self.blocks: list[Block] = []
        self.frame: object | None = None
        self.level = 0
        self.finish_line: Callable[[], None] | None = None
        self._modes = modes
        self._handlers = modes.blocks
        self._take: Callable[[str], None] = self.text.read
        self._escape = escape_numbered if self.is_numbered else escape

    def read(self, root: LexborNode) -> None:
        """Read an element into `blocks`."""
        above: list[tuple[LexborNode, Close | None]] = []
        node = root
        while True:
            tag = node.tag
            close: Close | None = None
            child = None
            if tag == "-text":
                self._take(node.text_content or "")
            else:
                handler = self._handlers.get(tag)
                if handler is not None:
                    close = handler(self, node)
                if close is not skip:
                    child = node.first_child
            if child is not None:
                above.append((node, close))
                node = child
                continue
            if close is not None:
                close(self)
            following = self._following(node, above)
            if following is None:
                self.flush()
                return
            node = following

    def _following(
        self, node: LexborNode, above: list[tuple[LexborNode, Close | None]]
    ) -> LexborNode | None:
        """The node after one; elements that end there are closed."""
        while above:
            following = node.next
            if following is not None:
                return following
            node, close = above.pop()
            if close is not None:
                close(self)
        return None

    def open_blocks(self, levels: int, finish: Callable[[list[Block]], None]) -> Close:
        """Begin an element with its own blocks.

        Args:
            levels: added to the nesting of its blocks.
            finish: called with its blocks, if there are any, once the outer ones are current again.
        """
        self.flush()
        before = self.blocks, self.frame
        own: list[Block] = []
        self.blocks, self.frame = own, None
        self.level += levels

        def close(_: DomWalker) -> None:
            self.flush()
            self.blocks, self.frame = before
            self.level -= levels
            if own:
                finish(own)

        return close

    def open_line(self, finish: Callable[[list[TextRun]], None]) -> Close:
        """Begin an element that is one line, whatever its content.

        Args:
            finish: called with its parts, if there are any, to make a block of them.
        """

        def finish_line() -> None:
            if parts := self.text.taken():
                finish(parts)

        self.flush()
        before = self._handlers, self.finish_line, self.text.formats
        self._handlers, self.finish_line = self._modes.line, finish_line

        def close(_: DomWalker) -> None:
            finish_line()
            self._handlers, self.finish_line, self.text.formats = before

        return close

    def open_code(self, finish: Callable[[str], None]) -> Close:
        """Begin code, whose lines stay as they are.

        Args:
            finish: called with its clean text.
        """
        before = self._handlers, self._take
        lines: list[str] = []
        self._handlers, self._take = self._modes.code, lines.append

        def close(_: DomWalker) -> None:
            self._handlers, self._take = before
            finish(self.text.clean("".join(lines).replace("\xa0", " ")))

        return close

    def flush(self) -> None:
        """End the paragraph."""
        if self.text.parts and (markdown := escape_lines(self.written(self.text.taken()))):
            self.blocks.append(Paragraph(markdown))

    def written(self, parts: list[TextRun]) -> str:
        """Parts as inline Markdown; their links are listed."""
        for part in parts:
            if part.link is not None:
                return inline(parts, self.targets.written(parts), self._escape)
        return inline(parts, {}, self._escape)

    def bold_line(self, parts: list[TextRun]) -> Paragraph:
        """Parts as a bold line; their links are listed."""
        bold = [TextRun(part.text, part.formats | STRONG, part.link) for part in parts]
        return Paragraph(escape_lines(self.written(bold)))

    def only_text(self, node: LexborNode) -> str:
        """The Markdown of an element that contains only one plain text; empty for any other.

        Most cells are like that, and tables are long.
        """
        child = node.first_child
        if self.text.formats or child is None or child.tag != "-text" or child.next is not None:
            return ""
        text = " ".join((child.text_content or "").split())
        if self.text.link is None and text.isascii() and text.isprintable():
            return escape_lines(self._escape(text))
        return ""


def number(text: str | None, default: int) -> int:
    """Read a number of up to nine digits from an attribute; anything else is the default."""
    return int(text) if text and _NUMBER.fullmatch(text) else default


def _is_of_word(character: str) -> bool:
    """Whether it is a letter or a digit, in a script with spaces between words."""
    return character.isalnum() and not _CJK_ONE.match(character)


def _are_cjk(one: str, other: str) -> bool:
    return _CJK_ONE.match(one) is not None and _CJK_ONE.match(other) is not None
