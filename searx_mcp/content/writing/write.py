"""Writes elements of a page as Markdown: the handler of each element, and the walk over all of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from selectolax.lexbor import LexborNode

from searx_mcp.content.writing import block_elements, inline_elements, tables
from searx_mcp.content.writing.blocks import Definitions, Lines, ThematicBreak
from searx_mcp.content.writing.targets import target
from searx_mcp.content.writing.walker import Close, DomWalker, Handler, Handlers, Modes, skip
from searx_mcp.models.page import CodeBlock, Heading, PageImage, PageLink
from searx_mcp.models.style import Style


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
    "table": tables.table,
    "caption": tables.caption,
    "tr": tables.row,
    **_all("td th", tables.cell),
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
