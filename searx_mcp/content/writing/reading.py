"""The walk over the tree: text becomes parts of paragraphs, and paragraphs become blocks.

Nothing here recurses, so that no depth of nesting is too much. What an element means is said by its
handler (`inlines`, `containers`, `tables`): a function that is called where the element begins, and
returns what is to be called where it ends.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

from selectolax.lexbor import LexborNode

from searx_mcp.content.clean import clean_counted
from searx_mcp.content.writing.blocks import Block, Paragraph
from searx_mcp.content.writing.escaping import escape, escape_lines, escape_numbered
from searx_mcp.content.writing.frames import Frame
from searx_mcp.content.writing.inline import BREAK, CODE, MARKUP, Link, Part, inline
from searx_mcp.content.writing.interface import Links, Style
from searx_mcp.content.writing.targets import Targets

Close: TypeAlias = Callable[["Reading"], None]
Handler: TypeAlias = Callable[["Reading", LexborNode], Close | None]
Handlers: TypeAlias = Mapping[str | None, Handler]
"""By the names of elements; of one that is not there, only the content counts."""

_UNPRINTED = re.compile(
    "[\u034f\u115f\u1160\u3164\uffa0\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
"""What nobody sees, and Python calls printable all the same."""

_CJK: Final = (
    "\u2e80-\u312f\u3190-\u9fff\ua960-\ua97f\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff9f\uffe0-\uffef"
    "\U00020000-\U0003ffff"
)
_CJK_LINE_END = re.compile(f"(?<=[{_CJK}])[ \t\r\f]*\n\\s*(?=[{_CJK}])")
_CJK_ONE = re.compile(f"[{_CJK}]")
"""Writing without spaces between words: a line end of the source is none there (CSS Text 3, 4.1.3)."""


_NO_WORDS = re.compile(
    r"(?:(?:the |an? )?(?:image|photo|picture|icon|logo|avatar|thumbnail|placeholder|banner|img|bild|foto)s?"
    r"(?: of)?|[\w.%()-]*\.(?:jpe?g|png|gif|webp|svg|avif)|(?:img|dsc|dscn|dscf|pxl|screenshot)[-_ \d]*)[\W\d_]*",
    re.IGNORECASE,
)
"""Words of images that say nothing: what an image is, or the name of its file."""

_MAX_LOOKED_UP: Final = 500
"""Images whose words are looked up in the text of the page; each costs a pass over it."""


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def skip(_reading: "Reading") -> None:
    """What a handler returns for an element whose content is not looked at."""


class Modes(NamedTuple):
    """What elements mean between blocks, on a line that no block breaks, and in code."""

    blocks: Handlers
    line: Handlers
    code: Handlers


class Reading:
    """The state of the walk.

    Attributes:
        style: what is written.
        targets: the links and images met.
        parts: of the paragraph that is being read.
        formats: in force.
        link: in force, or `None`.
        blocks: where finished blocks go: those of the page, of an item, of a cell.
        frame: the list, table or list of terms whose parts are looked for, or `None`.
        modes: what elements mean where.
        handlers: what they mean here.
        take: what is done with text.
        finish_line: what makes the line that is being read a block, if it is such a line.
        level: of quotes and lists around.
        code: the text of the block of code that is being read.
        shown: the addresses of the images met.
        labels: of the footnotes, by their names.
        taken_labels: those that are given already.
        notes: the footnotes.
        hidden: characters taken out.
        is_numbered: whether the addresses of links stand at the end, with numbers.
    """

    def __init__(
        self, base: str, style: Style, modes: Modes, roots: Sequence[LexborNode] = ()
    ) -> None:
        self._roots = roots
        self._looked_up = 0
        self.style = style
        self.targets = Targets(base, style.links)
        self.parts: list[Part] = []
        self.formats = 0
        self.link: Link | None = None
        self.blocks: list[Block] = []
        self.frame: Frame | None = None
        self.modes = modes
        self.handlers = modes.blocks
        self.take: Callable[[str], None] = self.text
        self.finish_line: Callable[[], None] | None = None
        self.level = 0
        self.code: list[str] = []
        self.shown: list[str] = []
        self.labels: dict[str, str] = {}
        self.taken_labels: set[str] = set()
        self.notes: list[Block] = []
        self.hidden = 0
        self._gap = -1
        self._gap_is_line_end = False
        self._gap_is_seam = False
        self.is_numbered = style.links is Links.FOOTNOTES
        self._escape = escape_numbered if self.is_numbered else escape

    @cached_property
    def _said(self) -> str:
        """What the page says in letters, for looking words up."""
        return _folded(" ".join(root.text(separator=" ") for root in self._roots))

    def is_news(self, words: str) -> bool:
        """Whether the words of an image say what the text of the page does not.

        On pages of goods and lists of articles most images repeat the title beside them.
        """
        if _NO_WORDS.fullmatch(words):
            return False
        self._looked_up += 1
        return self._looked_up > _MAX_LOOKED_UP or _folded(words) not in self._said

    def read(self, root: LexborNode) -> None:
        """Read an element into `blocks`."""
        above: list[tuple[LexborNode, Close | None]] = []
        node = root
        while True:
            tag = node.tag
            close: Close | None = None
            child = None
            if tag == "-text":
                self.take(node.text_content or "")
            else:
                handler = self.handlers.get(tag)
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
        """The node behind one; what ends there is closed."""
        while above:
            following = node.next
            if following is not None:
                return following
            node, close = above.pop()
            if close is not None:
                close(self)
        return None

    def text(self, raw: str) -> None:
        """Add text of the page: spaces are joined, what nobody sees is taken out."""
        words = raw.split()
        if not words:
            if self.parts:
                self.space(is_line_end="\n" in raw)
            return
        text = " ".join(words)
        if not text.isascii() or not text.isprintable():
            self._unusual_text(raw, text)
            return
        if raw[0].isspace():
            self.space()
        if self._gap < 0 or not self.parts:
            self._gap = -1
            self.parts.append(Part(text, self.formats, self.link))
        else:
            self.add(text, self.formats)
        if raw[-1].isspace():
            self.space()

    def _unusual_text(self, raw: str, text: str) -> None:
        """Add text that is not ASCII, or not clean."""
        if not text.isprintable() or _UNPRINTED.search(text):
            raw, hidden = clean_counted(raw)
            self.hidden += hidden
            text = " ".join(raw.split())
            if not text:
                if raw:
                    self.space(is_line_end="\n" in raw)
                return
        if "\n" in raw:
            if _CJK_ONE.search(text):
                text = " ".join(_CJK_LINE_END.sub("", raw).split())
            start, end = len(raw) - len(raw.lstrip()), len(raw.rstrip())
            if start:
                self.space(is_line_end="\n" in raw[:start])
            self.add(text, self.formats)
            if end < len(raw):
                self.space(is_line_end="\n" in raw[end:])
            return
        if raw[0].isspace():
            self.space()
        self.add(text, self.formats)
        if raw[-1].isspace():
            self.space()

    def add(self, text: str, formats: int) -> None:
        """Add a part to the paragraph, behind the space that was met before it.

        Args:
            text: not empty, without spaces around it.
            formats: of the part.
        """
        parts, gap = self.parts, self._gap
        if gap >= 0:
            self._gap = -1
            if self._gap_is_seam and not _is_of_word(text[0]):
                pass
            elif parts and (last := parts[-1]) is not BREAK:
                shared = formats & last.formats
                if shared & ~gap:
                    # The space stands between two elements of one kind, and in neither.
                    link = self.link if last.link is self.link else None
                    parts.append(Part(" ", gap & shared & ~(CODE | MARKUP), link))
                elif not (self._gap_is_line_end and _are_cjk(last.text[-1], text[0])):
                    text = " " + text
        parts.append(Part(text, formats, self.link))

    def space(self, *, is_line_end: bool = False) -> None:
        """Note that a space stands before what comes next, if it is in the same paragraph."""
        self._gap_is_seam = False
        if self._gap < 0:
            self._gap = self.formats
            self._gap_is_line_end = is_line_end
        elif not is_line_end:
            self._gap_is_line_end = False

    def seam(self) -> None:
        """Note that a word ends here, as the style of the page shows and no space says."""
        is_behind = self._gap < 0 and self.parts and not self.formats & CODE
        if is_behind and _is_of_word(self.parts[-1].text[-1:]):
            self.space()
            self._gap_is_seam = True

    def glue(self) -> None:
        """Forget the space before what comes next."""
        self._gap = -1

    def line_break(self) -> None:
        """Break the line; the second break in a row ends the paragraph."""
        if self.link is not None or self.formats & CODE:
            self.space()
        elif self.parts and self.parts[-1] is BREAK:
            self.flush()
        elif self.parts:
            self.parts.append(BREAK)
            self._gap = -1

    def flush(self) -> None:
        """End the paragraph."""
        self._gap = -1
        if self.parts:
            markdown = escape_lines(self.written(self.taken()))
            if markdown:
                self.blocks.append(Paragraph(markdown))

    def only_text(self, node: LexborNode) -> str:
        """The Markdown of an element that holds one plain text and nothing else; or nothing.

        Most cells are such, and tables are long.
        """
        child = node.first_child
        if self.formats or child is None or child.tag != "-text" or child.next is not None:
            return ""
        text = " ".join((child.text_content or "").split())
        if self.link is None and text.isascii() and text.isprintable():
            return escape_lines(self._escape(text))
        return ""

    def taken(self) -> list[Part]:
        """The parts of the paragraph, which is empty then."""
        self._gap = -1
        parts, self.parts = self.parts, []
        while parts and parts[-1] is BREAK:
            parts.pop()
        return parts

    def written(self, parts: list[Part]) -> str:
        """Parts as inline Markdown; their links are taken note of."""
        for part in parts:
            if part.link is not None:
                return inline(parts, self.targets.written(parts), escape=self._escape)
        return inline(parts, {}, escape=self._escape)


def _is_of_word(character: str) -> bool:
    """Whether it is a letter or a digit, in writing that sets words apart."""
    return character.isalnum() and not _CJK_ONE.match(character)


def _are_cjk(one: str, other: str) -> bool:
    return _CJK_ONE.match(one) is not None and _CJK_ONE.match(other) is not None
