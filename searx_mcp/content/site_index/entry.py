"""What an index says of pages, whatever its format, and what is asked of values in it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

MOST_ENTRIES: Final = 20_000
"""Entries read of an index, in its order. The largest seen, of the JDK, has 6,500 pages."""
MOST_ROWS: Final = 4 * MOST_ENTRIES
"""Rows of an index that are looked at: those of no page, and further ones of the same page, count too."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One page, or a section of one, as its site lists it; nothing is cleaned.

    Attributes:
        address: as written, relative to the index unless the format says otherwise.
        title: its name.
        words: what else is said of it, or words that it has.
    """

    address: str
    title: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A further file of an index that is in several.

    Attributes:
        address: as written.
        label: what its entries have in common; one letter is that with which they begin.
        format: by name.
    """

    address: str
    label: str
    format: str


Row = Entry | Part


@dataclass(frozen=True, slots=True)
class Format:
    """A format of indexes.

    Attributes:
        name: of the format.
        read: gives the rows of a file; raises `ValueError` for what is none.
        is_packed: whether it reads bytes, decoded by itself as Latin-1, and no text.
    """

    name: str
    read: Callable[[str], Iterable[Row]]
    is_packed: bool = False


def mapping(value: object) -> Mapping[str, object]:
    """An object of JSON; any other value has no members."""
    return value if isinstance(value, dict) else {}


def rows(value: object) -> Iterator[object]:
    """The items of a list, or the values of an object, as far as they are looked at."""
    items: Iterable[object] = ()
    if isinstance(value, list):
        items = value
    elif isinstance(value, dict):
        items = value.values()
    return islice(items, MOST_ROWS)


def items(value: object) -> Iterator[tuple[str, object]]:
    """The members of an object, as far as they are looked at."""
    return islice(mapping(value).items(), MOST_ROWS)


def string(value: object) -> str:
    """A string; any other value is empty."""
    return value if isinstance(value, str) else ""


def place(value: object, places: int) -> int | None:
    """A place in a list of so many, or `None` if it is none."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < places else None


def required(value: object, kind: str) -> Mapping[str, object]:
    """An object that must have members.

    Raises:
        ValueError: it is something else, so the file is none of its kind.
    """
    found = mapping(value)
    if not found:
        raise ValueError(f"no index of {kind}")
    return found
