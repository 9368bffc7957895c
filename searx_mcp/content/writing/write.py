"""Elements of a page as Markdown."""

from collections.abc import Sequence

from selectolax.lexbor import LexborNode

from searx_mcp.content.writing.blocks import Block, Definitions, Rule
from searx_mcp.content.writing.elements import MODES
from searx_mcp.content.writing.interface import Style, Written
from searx_mcp.content.writing.lines import Lines
from searx_mcp.content.writing.reading import Reading


def write(roots: Sequence[LexborNode], *, base: str, style: Style) -> Written:
    """Write elements as Markdown.

    Args:
        roots: of one tree, in its order, none inside another; they are not changed.
        base: against which addresses are resolved.
        style: what is written.

    Returns:
        Markdown without raw HTML, without an image unless `style` says so, and without an address
        that is no place to go to.
    """
    reading = Reading(base, style, MODES, roots)
    for root in roots:
        reading.read(root)
    blocks: list[Block] = reading.blocks
    while blocks and isinstance(blocks[-1], Rule):
        blocks.pop()
    blocks += reading.notes
    if definitions := reading.targets.definitions:
        blocks.append(Definitions(definitions))
    lines = Lines()
    lines.add(blocks)
    return Written(
        markdown=lines.text,
        links=reading.targets.links,
        images=reading.targets.images,
        outline=tuple(lines.outline),
        code_blocks=tuple(lines.code_blocks),
        hidden=reading.hidden,
    )
