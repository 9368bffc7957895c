"""Blocks of a page after it is read, with inline text that is already Markdown; and how their lines are written."""

from dataclasses import dataclass, field
from typing import Final

from searx_mcp.content.markdown import fence
from searx_mcp.models.page import CodeBlock, Heading

MAX_LEVEL: Final = 16
"""Most levels of nested quotes, lists and notes; deeper ones become blocks of the innermost level.

A quote is one level, a list with its items two. markdown-it drops everything deeper than 20 levels in its
CommonMark preset, and every level lengthens every line: with more levels, a page of breaks in 500 quotes would
become a thousand times as long.
"""

RULES: Final = {"left": ":---", "center": ":---:", "right": "---:", "": "---"}
"""Alignments of a column, with the delimiter below its header for each."""

_NOTE_INDENT: Final = "    "
_MAX_HEADINGS: Final = 5_000
"""As in `content.outline`: a text with more is a list."""


@dataclass(slots=True)
class Paragraph:
    """Inline Markdown; a newline in it follows two spaces and is a break on the page."""

    text: str


@dataclass(slots=True)
class Headline:
    """A heading.

    Attributes:
        level: 1 to 6.
        text: inline Markdown of one line.
        title: plain text.
        anchor: its fragment; may be empty.
    """

    level: int
    text: str
    title: str
    anchor: str


@dataclass(slots=True)
class CodeLines:
    """Preformatted lines, with their language, which may be empty."""

    language: str
    text: str


@dataclass(slots=True)
class Formula:
    """LaTeX of a display formula; no empty lines."""

    text: str


@dataclass(slots=True)
class ThematicBreak:
    """A thematic break."""


@dataclass(slots=True)
class Quote:
    """Blocks that are set off: a quotation, or a long callout."""

    blocks: "list[Block]"


@dataclass(slots=True)
class Items:
    """A list.

    Attributes:
        items: the blocks of each, none empty.
        numbers: one for each item of a numbered list; empty for other lists.
        is_implied: whether the page has items without a list around them.
    """

    items: "list[list[Block]]" = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    is_implied: bool = False


@dataclass(slots=True)
class Grid:
    """A table.

    Attributes:
        rows: cells of inline Markdown on one line each; no row is longer than the first.
        alignments: `left`, `center`, `right` or empty, for each column.
    """

    rows: list[list[str]]
    alignments: list[str]


@dataclass(slots=True)
class Footnote:
    """One footnote with its label."""

    label: str
    blocks: "list[Block]"


@dataclass(slots=True)
class Definitions:
    """The numbered addresses of links."""

    lines: list[str]


Block = (
    Paragraph | Headline | CodeLines | Formula | ThematicBreak | Quote | Items | Grid | Footnote | Definitions
)  # fmt: skip


class Lines:
    """Builds a text from blocks.

    Attributes:
        outline: the headings, with their positions.
        code_blocks: the blocks of code, with theirs.
        pieces: the text, which is all of them in sequence.
    """

    def __init__(self) -> None:
        self.outline: list[Heading] = []
        self.code_blocks: list[CodeBlock] = []
        self.pieces: list[str] = []
        self._length = 0

    def add(self, blocks: list[Block], prefix: str = "") -> None:
        """Add blocks with an empty line between them.

        Args:
            blocks: in order.
            prefix: of every line except the first, which continues the text: marks of the quotes and the
                indentation of the items around.
        """
        empty = f"\n{prefix.rstrip()}\n{prefix}"
        before: Block | None = None
        is_other = False
        for block in blocks:
            if before is not None:
                self._put(empty)
            # A list would continue one of its kind before it; of three in a row, the third differs from the second.
            is_other = (
                isinstance(before, Items)
                and isinstance(block, Items)
                and bool(before.numbers) == bool(block.numbers)
                and not is_other
            )
            self._add(block, prefix, is_other=is_other)
            before = block

    def _put(self, text: str) -> None:
        self.pieces.append(text)
        self._length += len(text)

    def _add(self, block: Block, prefix: str, *, is_other: bool) -> None:
        match block:
            case Paragraph(text=text):
                self._put(text.replace("\n", f"\n{prefix}") if prefix and "\n" in text else text)
            case Headline():
                self._headline(block)
            case CodeLines():
                self._code(block, prefix)
            case Formula(text=text):
                self._put(f"$$\n{text}\n$$".replace("\n", f"\n{prefix}"))
            case Grid():
                self._grid(block, prefix)
            case ThematicBreak():
                # In an item, `- ---` would be a thematic break.
                self._put("***" if prefix else "---")
            case Definitions(lines=lines):
                self._put(f"\n{prefix}".join(lines))
            case _:
                self._add_nested(block, prefix, is_other=is_other)

    def _add_nested(self, block: Items | Quote | Footnote, prefix: str, *, is_other: bool) -> None:
        match block:
            case Items():
                self._items(block, prefix, is_other=is_other)
            case Quote(blocks=blocks):
                self._put("> ")
                self.add(blocks, f"{prefix}> ")
            case Footnote():
                self._note(block, prefix)

    def _headline(self, block: Headline) -> None:
        if block.title and len(self.outline) < _MAX_HEADINGS:
            self.outline.append(
                Heading(
                    level=block.level, title=block.title, offset=self._length, anchor=block.anchor
                )
            )
        self._put(f"{'#' * block.level} {block.text}")

    def _code(self, block: CodeLines, prefix: str) -> None:
        start = self._length
        text = fence(block.text, language=block.language)
        if prefix:
            first, *others = text.split("\n")
            empty = prefix.rstrip()
            text = "\n".join([first, *(f"{prefix}{line}" if line else empty for line in others)])
        self._put(text)
        self.code_blocks.append(
            CodeBlock(language=block.language, offset=start, length=self._length - start)
        )

    def _items(self, block: Items, prefix: str, *, is_other: bool) -> None:
        """A list; its items are separated by empty lines if one of them contains several blocks."""
        is_loose = not all(map(_is_tight, block.items))
        between = f"\n{prefix.rstrip()}\n{prefix}" if is_loose else f"\n{prefix}"
        for index, blocks in enumerate(block.items):
            if index:
                self._put(between)
            if block.numbers:
                mark = f"{block.numbers[index]}{')' if is_other else '.'} "
            else:
                mark = "* " if is_other else "- "
            self._put(mark)
            inner = prefix + " " * len(mark)
            if is_loose:
                self.add(blocks, inner)
                continue
            for position, each in enumerate(blocks):
                if position:
                    self._put(f"\n{inner}")
                self._add(each, inner, is_other=False)

    def _grid(self, block: Grid, prefix: str) -> None:
        rows = [_row(cells) for cells in block.rows]
        rows.insert(1, _row([RULES[alignment] for alignment in block.alignments]))
        self._put(f"\n{prefix}".join(rows))

    def _note(self, block: Footnote, prefix: str) -> None:
        """A footnote. A parser without footnotes would read a single word as the address of a link."""
        inner = prefix + _NOTE_INDENT
        first = block.blocks[0]
        self._put(f"[^{block.label}]:")
        if isinstance(first, Paragraph):
            self._put(" ")
            self.add([Paragraph(_no_address(first.text)), *block.blocks[1:]], inner)
        else:
            self._put(f"\n{prefix.rstrip()}\n{inner}")
            self.add(block.blocks, inner)


def _row(cells: list[str]) -> str:
    return f"|{'|'.join([f' {cell} ' if cell else ' ' for cell in cells])}|"


def _no_address(text: str) -> str:
    line, mark, rest = text.partition("\n")
    _, _, title = line.strip().partition(" ")
    if title.strip()[:1] not in {"", '"', "'", "("}:
        return text
    return f"{line.rstrip()} ↩{'  ' if mark else ''}{mark}{rest}"


def _is_tight(blocks: list[Block]) -> bool:
    """Whether an item needs no empty line: it is a paragraph, a list, or a paragraph with a list."""
    first, *others = blocks
    if not others:
        return not isinstance(first, Items) or all(map(_is_tight, first.items))
    second = others[0]
    return (
        len(others) == 1
        and isinstance(first, Paragraph)
        and isinstance(second, Items)
        # A list that starts with another number would not interrupt the paragraph (CommonMark, section 5.3).
        and second.numbers[:1] in ([], [1])
        and all(map(_is_tight, second.items))
    )
