"""What a page consists of once it is read: blocks whose text is Markdown already."""

from dataclasses import dataclass, field
from typing import Final

MAX_LEVEL: Final = 16
"""How deep quotes, lists and notes nest; deeper ones are blocks of the innermost that still counts.

A quote is one level, a list with its items two. markdown-it drops what stands deeper than 20 levels
in its CommonMark preset, and every level lengthens every line: with more, a page of breaks in 500
quotes would become a thousand times as long.
"""


@dataclass(slots=True)
class Paragraph:
    """Inline Markdown; a newline in it follows two spaces and is a break that the page made."""

    text: str


@dataclass(slots=True)
class Headline:
    """A heading.

    Attributes:
        level: 1 to 6.
        text: inline Markdown of one line.
        title: plain text.
        anchor: the fragment that leads to it; may be empty.
    """

    level: int
    text: str
    title: str
    anchor: str


@dataclass(slots=True)
class Code:
    """Lines that are shown as they are, with their language, which may be empty."""

    language: str
    text: str


@dataclass(slots=True)
class Formula:
    """LaTeX that stands by itself; no empty lines."""

    text: str


@dataclass(slots=True)
class Rule:
    """A line between two parts."""


@dataclass(slots=True)
class Quote:
    """Blocks that are set apart: said by someone else, or a long callout."""

    blocks: "list[Block]"


@dataclass(slots=True)
class Items:
    """A list.

    Attributes:
        items: the blocks of each, none empty.
        numbers: one for each item of a numbered list; empty for any other.
        is_implied: whether the page has items there and no list around them.
    """

    items: "list[list[Block]]" = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    is_implied: bool = False


@dataclass(slots=True)
class Grid:
    """A table.

    Attributes:
        rows: cells of inline Markdown on one line each; the first row is as long as any.
        alignments: `left`, `center`, `right` or empty, for each column.
    """

    rows: list[list[str]]
    alignments: list[str]


@dataclass(slots=True)
class Note:
    """One footnote with its label."""

    label: str
    blocks: "list[Block]"


@dataclass(slots=True)
class Definitions:
    """The addresses of links, each with its number."""

    lines: list[str]


Block = (
    Paragraph | Headline | Code | Formula | Rule | Quote | Items | Grid | Note | Definitions
)  # fmt: skip
