"""What an index says of pages, whatever its format: how a value is read, and which pages fit a question."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from searx_mcp.content.addresses import slug_words
from searx_mcp.content.passages import score_all
from searx_mcp.models.page import PageLink

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


MOST_RANKED: Final = 10
"""Pages of an index that are given. More than six are never opened."""
_SNIPPET: Final = 300


@dataclass(frozen=True, slots=True)
class IndexedPage:
    """A page as the index of its site lists it.

    Attributes:
        url: without a fragment.
        title: of the entry that fits best.
        snippet: what the index says of it besides, or words that it has.
        score: how well it fits, 0 to 1.
        coverage: share of a question that its title and address have, 0 to 1.
    """

    url: str
    title: str
    snippet: str
    score: float
    coverage: float


def rank(entries: Sequence[PageLink], questions: Iterable[str]) -> list[IndexedPage]:
    """Rank the pages of an index.

    Args:
        entries: of the index: a page or a section each, with what is said of it as context. Linear in their text.
        questions: what is asked; a page counts by the one that it fits best.

    Returns:
        Best first, each page once; none that shares no word with a question.
    """
    names = [f"{entry.text} {slug_words(entry.url)}" for entry in entries]
    best: dict[str, IndexedPage] = {}
    for question in questions:
        by_name = score_all([(name, ()) for name in names], question)
        wholes = zip(entries, names, strict=True)
        by_all = score_all([(entry.context, (name,)) for entry, name in wholes], question)
        for entry, name, whole in zip(entries, by_name, by_all, strict=True):
            score = (name.score + whole.score) / 2
            url = entry.url.partition("#")[0]
            known = best.get(url)
            if score and (known is None or score > known.score):
                coverage = max(name.coverage, known.coverage if known else 0.0)
                best[url] = IndexedPage(url, entry.text, entry.context[:_SNIPPET], score, coverage)
            elif known is not None and name.coverage > known.coverage:
                best[url] = replace(known, coverage=name.coverage)
    ranked = sorted(best.values(), key=lambda page: -page.score)
    return [*islice(ranked, MOST_RANKED)]
