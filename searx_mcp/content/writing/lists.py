"""Lists of items and of terms, whatever stands in them."""

import re
from dataclasses import dataclass, field
from typing import Final

from selectolax.lexbor import LexborNode

from searx_mcp.content.writing.block_elements import block, bold_line
from searx_mcp.content.writing.blocks import MAX_LEVEL, Block, Items, Paragraph
from searx_mcp.content.writing.paragraphs import Part
from searx_mcp.content.writing.walker import Close, DomWalker

_MAX_NUMBER: Final = 999_999_999
"""The largest number of an item (CommonMark, section 5.2)."""

_NUMBER = re.compile(r"\s*[0-9]{1,9}\s*")

_NEAR: Final = 4
"""Elements between a list of terms and the definition that it belongs to."""


@dataclass(slots=True)
class Listing:
    """A list that is being read.

    Attributes:
        items: what it becomes.
        number: of the next item, or `None` in a list without numbers.
        step: 1, or -1 where the numbers go down.
        strays: blocks that stand in the list and in no item.
    """

    items: Items = field(default_factory=Items)
    number: int | None = None
    step: int = 1
    strays: list[Block] = field(default_factory=list)

    def settle(self) -> None:
        """Put strays where a reader sees them: a list into the item before it, others into their own."""
        if not self.strays:
            return
        if self.items.items and all(isinstance(block, Items) for block in self.strays):
            self.items.items[-1] += self.strays
        else:
            self.add(list(self.strays))
        self.strays.clear()

    def add(self, blocks: list[Block], value: int | None = None) -> None:
        """Add an item; an empty one only counts."""
        number = self.number if value is None or self.number is None else value
        if number is not None:
            self.number = min(max(number + self.step, 0), _MAX_NUMBER)
        if blocks:
            self.items.items.append(blocks)
            if number is not None:
                self.items.numbers.append(number)


@dataclass(slots=True)
class Terms:
    """A list of terms that is being read.

    Attributes:
        names: of terms that wait for their definitions.
        definitions: of these.
        items: what finished terms become, where the list is not flat.
    """

    names: list[str] = field(default_factory=list)
    definitions: list[list[Block]] = field(default_factory=list)
    items: Items | None = None

    def settle(self, blocks: list[Block]) -> None:
        """Finish the terms that wait.

        Args:
            blocks: where they go if the list is flat.
        """
        if found := self._settled():
            if self.items is None:
                blocks += found
            else:
                self.items.items.append(found)

    def _settled(self) -> list[Block]:
        """The terms with what defines them, as `**Term**: definition`; there are none after."""
        names, definitions = ", ".join(self.names), self.definitions
        self.names, self.definitions = [], []
        if not names:
            return [block for blocks in definitions for block in blocks]
        if not definitions:
            return [Paragraph(names)]
        lead = names if names.endswith(":**") else f"{names}:"
        if len(definitions) > 1:
            return [Paragraph(lead), Items(items=definitions)]
        first, *others = definitions[0]
        if isinstance(first, Paragraph):
            return [Paragraph(f"{lead} {first.text}"), *others]
        return [Paragraph(lead), first, *others]


def open_list(walker: DomWalker, node: LexborNode) -> Close:
    """A list; one that is nested too deep is the blocks of its items."""
    if walker.level + 2 > MAX_LEVEL:
        return block(walker, node)
    walker.flush()
    listing = Listing()
    if node.tag == "ol":
        attributes = node.attributes
        is_reversed = "reversed" in attributes
        count = sum(child.tag == "li" for child in node.iter()) if is_reversed else 1
        listing.number = number(attributes.get("start"), count)
        listing.step = -1 if is_reversed else 1
    before = walker.blocks, walker.frame
    walker.blocks, walker.frame = listing.strays, listing
    walker.level += 2

    def close(walker: DomWalker) -> None:
        walker.flush()
        listing.settle()
        walker.blocks, walker.frame = before
        walker.level -= 2
        if listing.items.items:
            walker.blocks.append(listing.items)

    return close


def item(walker: DomWalker, node: LexborNode) -> Close:
    """An item of the list around it, or of one that the page left out."""
    listing = walker.frame
    if not isinstance(listing, Listing):
        if walker.level + 2 > MAX_LEVEL:
            return block(walker, node)
        return walker.open_blocks(2, lambda blocks: _add_implied(walker.blocks, blocks))
    walker.flush()
    listing.settle()
    value = None
    if listing.number is not None:
        value = number(node.attributes.get("value"), -1)
        value = None if value < 0 else value
    close_blocks = walker.open_blocks(0, lambda blocks: listing.add(blocks, value))

    def close(walker: DomWalker) -> None:
        own = walker.blocks
        close_blocks(walker)
        if not own:
            listing.add([], value)

    return close


def terms(walker: DomWalker, node: LexborNode) -> Close:
    """A list of terms with their definitions; inside a definition, an item for each term."""
    is_nested = walker.level + 2 <= MAX_LEVEL and _is_in_definition(node)
    walker.flush()
    before, own = walker.frame, Terms(items=Items() if is_nested else None)
    walker.frame = own
    walker.level += 2 * is_nested

    def close(walker: DomWalker) -> None:
        walker.flush()
        own.settle(walker.blocks)
        if own.items is not None and own.items.items:
            walker.blocks.append(own.items)
        walker.frame = before
        walker.level -= 2 * is_nested

    return close


def _is_in_definition(node: LexborNode) -> bool:
    around = node.parent
    for _ in range(_NEAR):
        if around is None or around.tag in {"dd", "dl"}:
            break
        around = around.parent
    return around is not None and around.tag == "dd"


def term(walker: DomWalker, _node: LexborNode) -> Close:
    """A term, in bold."""
    frame = walker.frame
    if isinstance(frame, Terms) and frame.definitions:
        walker.flush()
        frame.settle(walker.blocks)

    def finish(parts: list[Part]) -> None:
        line = bold_line(walker, parts)
        if isinstance(frame, Terms):
            frame.names.append(line.text)
        else:
            walker.blocks.append(line)

    return walker.open_line(finish)


def definition(walker: DomWalker, node: LexborNode) -> Close:
    """The meaning of a term."""
    frame = walker.frame
    if not isinstance(frame, Terms) or walker.level + 2 > MAX_LEVEL:
        return block(walker, node)
    return walker.open_blocks(2, frame.definitions.append)


def number(text: str | None, default: int) -> int:
    """A number out of an attribute, of up to nine digits; anything else is the default."""
    return int(text) if text and _NUMBER.fullmatch(text) else default


def _add_implied(blocks: list[Block], item_blocks: list[Block]) -> None:
    last = blocks[-1] if blocks else None
    if isinstance(last, Items) and last.is_implied:
        last.items.append(item_blocks)
    else:
        blocks.append(Items(items=[item_blocks], is_implied=True))
