"""A feed, whatever it was written in."""

from dataclasses import dataclass
from typing import Final

MAX_ENTRIES: Final = 100


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry; nothing is cleaned, and what is not given is empty.

    Attributes:
        title: text, perhaps with markup.
        link: as written.
        date: as written.
        author: names.
        html: its summary, or else its content.
    """

    title: str
    link: str
    date: str
    author: str
    html: str


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed; nothing is cleaned, and what is not given is empty.

    Attributes:
        title: text, perhaps with markup.
        description: likewise.
        link: of the site, as written.
        author: names.
        language: a tag, as written.
        updated: when it changed last, as written.
        entries: the first of them, in their order.
        count: all that were read.
    """

    title: str
    description: str
    link: str
    author: str
    language: str
    updated: str
    entries: tuple[Entry, ...]
    count: int
