"""Writes elements of a page as Markdown: tables, the handler of each element, and the walk over all of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from selectolax.lexbor import LexborNode

from searx_mcp.content.markdown import code_span
from searx_mcp.content.writing import block_elements, inline_elements
from searx_mcp.content.writing.blocks import (
    RULES,
    Block,
    CodeLines,
    Definitions,
    Footnote,
    Formula,
    Grid,
    Headline,
    Items,
    Lines,
    Paragraph,
    Quote,
    ThematicBreak,
)
from searx_mcp.content.writing.paragraphs import BREAK_TEXT, TextRun
from searx_mcp.content.writing.targets import target
from searx_mcp.content.writing.walker import (
    Close,
    DomWalker,
    Handler,
    Handlers,
    Modes,
    number,
    skip,
)
from searx_mcp.models.page import CodeBlock, Heading, PageImage, PageLink
from searx_mcp.models.style import Style

_MAX_COLSPAN: Final = 64
_MAX_ROWSPAN: Final = 1_000
_MAX_COLUMNS: Final = 200
"""Further cells share the last column. The widest tables that people read have some dozens of columns."""

_MAX_FILLED: Final = 60_000
"""Cells that are added to those of the page: for spans, and at the end of short rows. Without a limit, 1 MB of cells
would become 100 MB of bars. After the limit, spans count as one cell and rows stay short, and parsers fill them up."""

_REPEATED_CHARS: Final = 60
"""A shorter cell that spans rows is repeated in each of them, so that each row can be read alone."""

_LONG_CELL: Final = 400
"""Characters of a cell of several blocks that is not data, in a table without a header: a post, a column of a
page."""

_ROW_CELL: Final = 100
"""Most characters of a data cell in a table of one row without a header."""

_BLOCK_SEPARATOR: Final = " / "
_ITEM_SEPARATOR: Final = "; "


@dataclass(slots=True)
class _Cell:
    """A cell with its blocks and spans."""

    blocks: list[Block]
    columns: int
    rows: int
    is_head: bool
    alignment: str


@dataclass(slots=True)
class _Table:
    """A table while it is read.

    Attributes:
        is_layout: whether the page declares it a layout table.
        captions: bold lines.
        rows: cells as they are on the page.
    """

    is_layout: bool
    captions: list[Block] = field(default_factory=list)
    rows: list[list[_Cell]] = field(default_factory=list)


def _table(walker: DomWalker, node: LexborNode) -> Close:
    """Begin a table: rows of cells, or the blocks in its layout."""
    walker.flush()
    before, own = walker.frame, _Table(node.attributes.get("role") in {"presentation", "none"})
    walker.frame = own

    def close(walker: DomWalker) -> None:
        walker.flush()
        walker.frame = before
        rows = [row for row in own.rows if any(cell.blocks for cell in row)]
        walker.blocks += own.captions
        is_kept = walker.style.keep_tables and not own.is_layout
        for part in _parted(rows):
            is_grid = is_kept and not _is_layout(part)
            walker.blocks += [_grid(part)] if is_grid else _unwrapped(part)

    return close


def _caption(walker: DomWalker, _node: LexborNode) -> Close:
    """Begin the caption of a table, a bold line above it."""
    frame = walker.frame

    def finish(parts: list[TextRun]) -> None:
        line = walker.bold_line(parts)
        (frame.captions if isinstance(frame, _Table) else walker.blocks).append(line)

    return walker.open_line(finish)


def _row(walker: DomWalker, _node: LexborNode) -> Close:
    """Begin a row."""
    walker.flush()
    if isinstance(walker.frame, _Table):
        walker.frame.rows.append([])
    return DomWalker.flush


def _cell(walker: DomWalker, node: LexborNode) -> Close:
    """Begin a cell of the last row."""
    frame = walker.frame
    if not isinstance(frame, _Table):
        return block_elements.block(walker, node)
    attributes = node.attributes
    own = _Cell([], 1, 1, is_head=node.tag == "th", alignment="")
    if attributes:
        own.columns = min(max(number(attributes.get("colspan"), 1), 1), _MAX_COLSPAN)
        own.rows = min(max(number(attributes.get("rowspan"), 1), 1), _MAX_ROWSPAN)
        own.alignment = _alignment(attributes)
    if not frame.rows:
        frame.rows.append([])
    frame.rows[-1].append(own)
    if text := walker.only_text(node):
        own.blocks.append(Paragraph(text))
        return skip
    return walker.open_blocks(0, own.blocks.extend)


def _alignment(attributes: dict[str, str | None]) -> str:
    wanted = attributes.get("align") or ""
    if style := attributes.get("style"):
        wanted = style.partition("text-align")[2].lstrip(" :").partition(";")[0] or wanted
    wanted = wanted.strip().lower()
    return wanted if wanted in RULES else ""


def _parted(rows: list[list[_Cell]]) -> list[list[list[_Cell]]]:
    """Split the rows of a table where a row is only a heading for those that follow."""
    parts: list[list[list[_Cell]]] = [[]]
    for row in rows:
        filled = [cell for cell in row if cell.blocks]
        if len(filled) == 1 and all(isinstance(inner, Headline) for inner in filled[0].blocks):
            parts += [[row], []]
        else:
            parts[-1].append(row)
    return [part for part in parts if part]


def _is_layout(rows: list[list[_Cell]]) -> bool:
    """Whether a table is only layout, by its content."""
    cells = [cell for row in rows for cell in row if cell.blocks]
    if len(cells) <= 1:
        return True
    has_head = any(cell.is_head for cell in cells)
    if not has_head and len(cells) == len(rows):
        return True
    if any(_is_no_datum(cell, has_head=has_head) for cell in cells):
        return True
    return not has_head and len(rows) == 1 and any(_length(cell) > _ROW_CELL for cell in cells)


def _is_no_datum(cell: _Cell, *, has_head: bool) -> bool:
    for inner in cell.blocks:
        if isinstance(inner, Grid) or (isinstance(inner, CodeLines) and "\n" in inner.text):
            return True
        if isinstance(inner, Headline) and not cell.is_head:
            return True
    return not has_head and len(cell.blocks) > 1 and _length(cell) > _LONG_CELL


def _length(cell: _Cell) -> int:
    return sum(len(inner.text) for inner in cell.blocks if isinstance(inner, Paragraph))


def _unwrapped(rows: list[list[_Cell]]) -> list[Block]:
    """The blocks of a layout table; short ones in a row share a line."""
    found: list[Block] = []
    for cells in rows:
        filled = [cell for cell in cells if cell.blocks]
        if len(filled) > 1 and all(_is_short(cell) for cell in filled):
            line = _BLOCK_SEPARATOR.join(_one_line(cell.blocks) for cell in filled)
            found.append(Paragraph(line))
        else:
            for cell in filled:
                found += cell.blocks
    return found


def _is_short(cell: _Cell) -> bool:
    return (
        len(cell.blocks) == 1
        and isinstance(cell.blocks[0], Paragraph)
        and len(cell.blocks[0].text) <= _ROW_CELL
    )


def _grid(rows: list[list[_Cell]]) -> Grid:
    filler = _Filler()
    lines = [filler.line(row) for row in rows]
    width = max(map(len, lines))
    lines[0] += [""] * (width - len(lines[0]))
    for line in lines[1:]:
        line.extend([""] * filler.granted(width - len(line)))
    alignments = [""] * width
    for index, alignment in filler.alignments.items():
        alignments[index] = alignment
    return Grid(lines, alignments)


class _Filler:
    """Turns rows into lines of cells, with the cells that spans cover."""

    def __init__(self) -> None:
        self.alignments: dict[int, str] = {}
        self._left = _MAX_FILLED
        self._covered: dict[int, tuple[int, str]] = {}
        """By column: for how many more rows, and with what text, a cell of a row above covers it."""

    def granted(self, count: int) -> int:
        """How many of `count` cells may be added."""
        allowed = min(count, self._left)
        self._left -= allowed
        return allowed

    def line(self, cells: list[_Cell]) -> list[str]:
        line: list[str] = []
        is_first = not self.alignments and not self._covered
        for own in cells:
            self._cover(line)
            text = _one_line(own.blocks).replace("|", "\\|")
            if len(line) >= _MAX_COLUMNS:
                line[-1] = _ITEM_SEPARATOR.join(filter(None, (line[-1], text)))
                continue
            columns = 1 + self.granted(min(own.columns, _MAX_COLUMNS - len(line)) - 1)
            if is_first and own.alignment:
                self.alignments[len(line)] = own.alignment
            if own.rows > 1:
                repeated = text if len(text) <= _REPEATED_CHARS else ""
                for offset in range(columns):
                    self._covered[len(line) + offset] = own.rows - 1, "" if offset else repeated
            line += [text] + [""] * (columns - 1)
        self._cover(line)
        return line

    def _cover(self, line: list[str]) -> None:
        while (at := len(line)) in self._covered and at < _MAX_COLUMNS and self.granted(1):
            rows, text = self._covered.pop(at)
            if rows > 1:
                self._covered[at] = rows - 1, text
            line.append(text)


def _one_line(blocks: list[Block]) -> str:
    """Blocks in the form for a cell: no HTML, so signs separate them."""
    return _BLOCK_SEPARATOR.join(filter(None, map(_line, blocks)))


def _line(inner: Block) -> str:
    line = ""
    match inner:
        case Paragraph(text=text):
            line = text.replace(BREAK_TEXT, _BLOCK_SEPARATOR)
        case Headline(text=text):
            line = text
        case CodeLines(text=text):
            line = code_span(" ".join(text.split()))
        case Formula(text=text):
            line = f"${' '.join(text.split())}$"
        case Quote(blocks=blocks):
            line = _one_line(blocks)
        case Items(items=items):
            line = _ITEM_SEPARATOR.join(filter(None, map(_one_line, items)))
        case Grid(rows=rows):
            line = _BLOCK_SEPARATOR.join(_ITEM_SEPARATOR.join(filter(None, row)) for row in rows)
        case ThematicBreak() | Footnote() | Definitions():
            pass
    return line


@dataclass(frozen=True, slots=True)
class WrittenMarkdown:
    """Elements as Markdown; every string is clean.

    Attributes:
        markdown: CommonMark with GFM tables, strikethrough and tasks, footnotes, and LaTeX between `$` and `$$`.
        links: to other pages, in order, each address once, at most 1,000.
        images: in order, each address once, at most 50; without tracking pixels.
        outline: the headings in order, with their offsets in `markdown` and their fragments.
        code_blocks: in order.
        hidden: invisible characters that were removed from the text.
    """

    markdown: str
    links: tuple[PageLink, ...] = ()
    images: tuple[PageImage, ...] = ()
    outline: tuple[Heading, ...] = ()
    code_blocks: tuple[CodeBlock, ...] = ()
    hidden: int = 0


def _unseen(_walker: DomWalker, _node: LexborNode) -> Close:
    return skip


def _all(names: str, handler: Handler) -> dict[str | None, Handler]:
    return dict.fromkeys(names.split(), handler)


_UNSEEN: Final = _all(
    "script style template noscript head svg iframe object embed applet canvas audio video select"
    " textarea datalist input meta link title map area rp annotation annotation-xml noembed noframes"
    " param track col colgroup",
    _unseen,
)
"""Never text of the page; elements that a page merely hides are removed before."""

_HEADINGS: Final = "h1 h2 h3 h4 h5 h6"
_CODE_BLOCKS: Final = "pre listing xmp plaintext"
_BLOCKS: Final = (
    "address article aside body center details dialog div fieldset footer form header"
    " hgroup html legend main nav optgroup option p search section tbody tfoot thead x-notes"
)

_INLINES: Final[Handlers] = {
    **_UNSEEN,
    **_all("b strong", inline_elements.strong),
    **_all("i em var dfn", inline_elements.emphasis),
    **_all("del s strike", inline_elements.struck),
    **_all("code kbd samp tt", inline_elements.code),
    "a": inline_elements.open_link,
    "span": inline_elements.beside,
    **_all("time label", inline_elements.apart),
    "img": inline_elements.open_image,
    "q": inline_elements.open_quotation,
    "sup": inline_elements.open_raised,
    "sub": inline_elements.open_lowered,
    "rt": inline_elements.open_reading_aid,
    "x-reference": inline_elements.reference,
    "x-task": inline_elements.task,
    "x-math": inline_elements.formula,
}
"""Other inline elements become their text: <mark>, <ins>, <u>, <small>, <abbr>, <cite>."""


_ON_LINE: Final[Handlers] = {
    **_INLINES,
    **_all(_BLOCKS, inline_elements.spaced),
    "figcaption": inline_elements.spaced,
    **_all(
        "ul ol menu dir li dl dt dd blockquote figure table tr td th caption summary",
        inline_elements.spaced,
    ),
    **_all("x-callout x-note", inline_elements.spaced),
    **_all("br hr", inline_elements.line_space),
    **_all(_CODE_BLOCKS, block_elements.line_code),
    **_all(_HEADINGS, block_elements.heading),
}

_BETWEEN_BLOCKS: Final[Handlers] = {
    **_INLINES,
    **_all(_BLOCKS, block_elements.block),
    **_all(_HEADINGS, block_elements.heading),
    **_all(_CODE_BLOCKS, block_elements.code_block),
    **_all("ul ol menu dir", block_elements.open_list),
    "li": block_elements.item,
    "dl": block_elements.terms,
    "dt": block_elements.term,
    "dd": block_elements.definition,
    "blockquote": block_elements.quote,
    "figure": block_elements.figure,
    "figcaption": block_elements.caption,
    "summary": block_elements.summary,
    "hr": block_elements.rule,
    "br": inline_elements.line_break,
    "table": _table,
    "caption": _caption,
    "tr": _row,
    **_all("td th", _cell),
    "x-callout": block_elements.callout,
    "x-note": block_elements.note,
}

_MODES: Final = Modes(
    blocks=_BETWEEN_BLOCKS,
    line=_ON_LINE,
    code=_UNSEEN,
)


def write(roots: Sequence[LexborNode], *, base: str, style: Style) -> WrittenMarkdown:
    """Write elements as Markdown.

    Args:
        roots: of one tree, in order, none inside another; not changed.
        base: against which addresses are resolved.
        style: what is written.

    Returns:
        Markdown without raw HTML, without images unless `style` includes them, and without unusable addresses.
    """
    walker = DomWalker(base, style, _MODES, roots)
    for root in roots:
        walker.read(root)
    blocks = walker.blocks
    while blocks and isinstance(blocks[-1], ThematicBreak):
        blocks.pop()
    blocks += walker.footnotes.blocks
    if numbers := walker.targets.numbers:
        blocks.append(
            Definitions([f"[{number}]: {target(url)}" for url, number in numbers.items()])
        )
    lines = Lines()
    lines.add(blocks)
    return WrittenMarkdown(
        markdown="".join(lines.pieces),
        links=tuple(walker.targets.links.values()),
        images=tuple(walker.targets.images.values()),
        outline=tuple(lines.outline),
        code_blocks=tuple(lines.code_blocks),
        hidden=walker.text.hidden,
    )
