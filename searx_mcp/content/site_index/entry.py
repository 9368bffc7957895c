"""The entries of an index, whatever its format: how values are read, and which pages fit a question."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final
from urllib.parse import urlsplit

from searx_mcp.content.addresses import slug_words
from searx_mcp.content.passages import score_all
from searx_mcp.models.page import PageLink

MAX_BYTES: Final = 8 << 20
"""Bytes of an index. Python's has 3.6 MB; a longer one is not worth the wait."""
MOST_ENTRIES: Final = 20_000
"""Entries read from an index, in its order. The largest seen, of the JDK, has 6,500 pages."""
MOST_ROWS: Final = 4 * MOST_ENTRIES
"""Rows of an index that are read: rows without a page, and repeated rows of a page, count too."""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One page, or a section of one, as its site lists it; nothing is cleaned.

    Attributes:
        address: as written, relative to the index unless the format differs.
        title: its name.
        words: its description, or words in it.
    """

    address: str
    title: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class IndexFile:
    """A further file of an index that is split into several.

    Attributes:
        address: as written.
        label: what its entries have in common; a single letter is their first letter.
        format: by name.
    """

    address: str
    label: str
    format: str


Row = IndexEntry | IndexFile
Reader = Callable[[str], Iterable[Row]]
"""Returns the rows of a file; raises `ValueError` if it is not an index of its format."""


class Collected:
    """Words by document, of each at most so many characters."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._sizes: dict[Hashable, int] = defaultdict(int)
        self._words: dict[Hashable, list[str]] = defaultdict(list)

    def add(self, document: Hashable, word: str) -> None:
        """Collect a word, if there is room for it."""
        if self._sizes[document] + len(word) < self._most:
            self._sizes[document] += len(word) + 1
            self._words[document].append(word)

    def of(self, document: Hashable) -> list[str]:
        """The words of a document."""
        return self._words[document]


def mapping(value: object) -> Mapping[str, object]:
    """Read a JSON object; any other value has no members."""
    return value if isinstance(value, dict) else {}


def rows(value: object) -> Iterator[object]:
    """The items of a list, or the values of an object, up to the limit."""
    items: Iterable[object] = ()
    if isinstance(value, list):
        items = value
    elif isinstance(value, dict):
        items = value.values()
    return islice(items, MOST_ROWS)


def pair(value: object) -> tuple[object, object] | None:
    """Read a list of two values; `None` if it is none."""
    found = [*islice(rows(value), 3)]
    return (found[0], found[1]) if len(found) == 2 else None  # noqa: PLR2004 - a pair


def items(value: object) -> Iterator[tuple[str, object]]:
    """The members of an object, up to the limit."""
    return islice(mapping(value).items(), MOST_ROWS)


def string(value: object) -> str:
    """Read a string; any other value is empty."""
    return value if isinstance(value, str) else ""


def place(value: object, places: int) -> int | None:
    """Read a position in a list of `places` items; `None` if it is not one."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < places else None


def required(value: object, kind: str) -> Mapping[str, object]:
    """Read an object that must have members.

    Raises:
        ValueError: it is something else, so the file is not of this kind.
    """
    found = mapping(value)
    if not found:
        raise ValueError(f"no index of {kind}")
    return found


MOST_RANKED: Final = 10
"""Pages of an index that are returned. More than six are never opened."""
_SNIPPET: Final = 300


@dataclass(frozen=True, slots=True)
class IndexedPage:
    """A page as the index of its site lists it.

    Attributes:
        url: without a fragment.
        title: of the entry that fits best.
        snippet: its description in the index, or words in it.
        score: how well it fits, 0 to 1.
        coverage: share of a question's words in its title and address, 0 to 1.
    """

    url: str
    title: str
    snippet: str
    score: float
    coverage: float


def rank(entries: Sequence[PageLink], questions: Iterable[str]) -> list[IndexedPage]:
    """Rank the pages of an index.

    Args:
        entries: of the index: each a page or a section, with its description as context. Linear in their text.
        questions: the questions; a page is scored by the one that it fits best.

    Returns:
        Best first, each page once; only pages that share a word with a question.
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
    return sorted(best.values(), key=lambda page: -page.score)[:MOST_RANKED]


def is_same_site(address: str, url: str) -> bool:
    """Whether an address is on the host of another, with or without `www.`."""
    hosts = {urlsplit(each).netloc.lower().removeprefix("www.") for each in (address, url)}
    return len(hosts) == 1
