"""Lists and tables that are being read, until they are blocks."""

from dataclasses import dataclass, field
from typing import Final, TypeAlias

from searx_mcp.content.writing.blocks import Block, Items, Paragraph

MAX_NUMBER: Final = 999_999_999
"""The largest number of an item (CommonMark, section 5.2)."""


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
            self.number = min(max(number + self.step, 0), MAX_NUMBER)
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


@dataclass(slots=True)
class Cell:
    """A cell with its blocks and spans."""

    blocks: list[Block]
    columns: int
    rows: int
    is_head: bool
    alignment: str


@dataclass(slots=True)
class Table:
    """A table that is being read.

    Attributes:
        is_layout: whether the page says that it only arranges.
        captions: bold lines.
        rows: cells as they come.
    """

    is_layout: bool
    captions: list[Block] = field(default_factory=list)
    rows: list[list[Cell]] = field(default_factory=list)


Frame: TypeAlias = Listing | Table | Terms
"""What is being read, of which parts are looked for."""
