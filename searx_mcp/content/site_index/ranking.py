"""Pages of an index by how well they fit a question."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from searx_mcp.content.addresses import slug_words
from searx_mcp.content.passages import score_all
from searx_mcp.models.page import PageLink

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
