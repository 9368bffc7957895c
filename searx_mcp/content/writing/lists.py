"""Lists of items and of terms, whatever stands in them."""

from typing import Final

from selectolax.lexbor import LexborNode

from searx_mcp.content.writing.blocks import MAX_LEVEL, Block, Items
from searx_mcp.content.writing.containers import block, bold_line, open_blocks, open_line
from searx_mcp.content.writing.frames import MAX_NUMBER, Listing, Terms
from searx_mcp.content.writing.reading import Close, Reading

_NEAR: Final = 4
"""Elements between a list of terms and the definition that it belongs to."""


def open_list(reading: Reading, node: LexborNode) -> Close:
    """A list; one that is nested too deep is the blocks of its items."""
    if reading.level + 2 > MAX_LEVEL:
        return block(reading, node)
    reading.flush()
    listing = Listing()
    if node.tag == "ol":
        attributes = node.attributes
        is_reversed = "reversed" in attributes
        count = sum(child.tag == "li" for child in node.iter()) if is_reversed else 1
        listing.number = number(attributes.get("start"), count)
        listing.step = -1 if is_reversed else 1
    before = reading.blocks, reading.frame
    reading.blocks, reading.frame = listing.strays, listing
    reading.level += 2

    def close(reading: Reading) -> None:
        reading.flush()
        listing.settle()
        reading.blocks, reading.frame = before
        reading.level -= 2
        if listing.items.items:
            reading.blocks.append(listing.items)

    return close


def item(reading: Reading, node: LexborNode) -> Close:
    """An item of the list around it, or of one that the page left out."""
    listing = reading.frame
    if not isinstance(listing, Listing):
        if reading.level + 2 > MAX_LEVEL:
            return block(reading, node)
        return open_blocks(reading, 2, lambda blocks: _add_implied(reading.blocks, blocks))
    reading.flush()
    listing.settle()
    value = None
    if listing.number is not None:
        value = number(node.attributes.get("value"), -1)
        value = None if value < 0 else value
    close_blocks = open_blocks(reading, 0, lambda blocks: listing.add(blocks, value))

    def close(reading: Reading) -> None:
        own = reading.blocks
        close_blocks(reading)
        if not own:
            listing.add([], value)

    return close


def terms(reading: Reading, node: LexborNode) -> Close:
    """A list of terms with their definitions; inside a definition, an item for each term."""
    is_nested = reading.level + 2 <= MAX_LEVEL and _is_in_definition(node)
    reading.flush()
    before, own = reading.frame, Terms(items=Items() if is_nested else None)
    reading.frame = own
    reading.level += 2 * is_nested

    def close(reading: Reading) -> None:
        reading.flush()
        own.settle(reading.blocks)
        if own.items is not None and own.items.items:
            reading.blocks.append(own.items)
        reading.frame = before
        reading.level -= 2 * is_nested

    return close


def _is_in_definition(node: LexborNode) -> bool:
    around = node.parent
    for _ in range(_NEAR):
        if around is None or around.tag in {"dd", "dl"}:
            break
        around = around.parent
    return around is not None and around.tag == "dd"


def term(reading: Reading, _node: LexborNode) -> Close:
    """A term, in bold."""
    frame = reading.frame
    if isinstance(frame, Terms) and frame.definitions:
        reading.flush()
        frame.settle(reading.blocks)

    def finish() -> None:
        if not (parts := reading.taken()):
            return
        line = bold_line(reading, parts)
        if isinstance(frame, Terms):
            frame.names.append(line.text)
        else:
            reading.blocks.append(line)

    return open_line(reading, finish)


def definition(reading: Reading, node: LexborNode) -> Close:
    """What a term means."""
    frame = reading.frame
    if not isinstance(frame, Terms) or reading.level + 2 > MAX_LEVEL:
        return block(reading, node)
    return open_blocks(reading, 2, frame.definitions.append)


def number(text: str | None, default: int) -> int:
    """A number out of an attribute, of up to nine digits; anything else is the default."""
    stripped = (text or "").strip()
    if stripped.isascii() and stripped.isdigit() and len(stripped) <= len(str(MAX_NUMBER)):
        return int(stripped)
    return default


def _add_implied(blocks: list[Block], item_blocks: list[Block]) -> None:
    last = blocks[-1] if blocks else None
    if isinstance(last, Items) and last.is_implied:
        last.items.append(item_blocks)
    else:
        blocks.append(Items(items=[item_blocks], is_implied=True))
