"""What the pages that were read make of a list of results: its order, what is left out, what is the same.

A result moves by the quality of its page: its place less ten times `strength` times what the page is worth
more than a usual one. At the default strength two tenths of quality are worth one place, so that a small
difference changes no order and a large one at most a few places. A result whose page was not read counts as
a usual one; where its page is only a wall, it comes after those that can be read. Sites that an operator prefers go before others.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

from searx_mcp.content.passages import passages
from searx_mcp.content.quality import Quality, Sketch, assess, groups, sketch
from searx_mcp.content.words import terms, tokens
from searx_mcp.errors import ErrorCode
from searx_mcp.models.page import Page, Passage
from searx_mcp.models.response import DroppedPage, Poor, SearchResult
from searx_mcp.search.config import QualityConfig
from searx_mcp.search.merge import score_at

PREFERRED = 0.3
"""What a preferred source is worth in quality: at the default strength one place, rarely two."""
DEMOTED = -0.6

_SHORTEST_NAME = 3
_SECOND_LEVEL = frozenset(
    {"ac", "co", "com", "edu", "gov", "go", "gob", "gouv", "ne", "net", "or", "org"}
)
"""Labels under which countries give out names, as in `co.uk`."""


def preference(url: str, query: str, config: QualityConfig) -> float:
    """What the address of a result is worth, in quality.

    Args:
        url: of the result.
        query: what was searched for; its words may name a site.
        config: the operator's rules.

    Returns:
        `DEMOTED`, 0 or `PREFERRED`; demoting wins.
    """
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    address = f"{host}{parts.path.lower()}"
    if _matches(host, address, config.demoted_domains):
        return DEMOTED
    is_named = config.prefer_named_sites and _is_named(host, query)
    return PREFERRED if is_named or _matches(host, address, config.preferred_domains) else 0.0


def _matches(host: str, address: str, patterns: Iterable[str]) -> bool:
    return any(
        _compiled(pattern).fullmatch(address if "/" in pattern else host) for pattern in patterns
    )


@lru_cache(maxsize=1_024)
def _compiled(pattern: str) -> re.Pattern[str]:
    if "/" in pattern or "*" in pattern:
        return re.compile(translate(pattern))
    return re.compile(rf"(?:.*\.)?{re.escape(pattern)}")


def _is_named(host: str, query: str) -> bool:
    """Whether the name a site is registered under is a word of the query."""
    labels = host.split(".")[:-1]
    if len(labels) > 1 and labels[-1] in _SECOND_LEVEL:
        labels.pop()
    name = labels[-1] if labels else ""
    return len(name) >= _SHORTEST_NAME and name in tokens(query)


_PLACES: Final = 10
"""Places that a whole unit of quality is worth at full strength."""
_USUAL: Final = 0.6
"""The quality of a page nothing is known of. On the texts under `benchmarks/summaries_data`, a page has .72
on average for a question about it and .48 for one about another text in its language."""

_ENOUGH: Final = 3
"""Good pages beside which a doubtful one is left out; with fewer, the reader may judge it."""
_WALLS: Final = MappingProxyType(
    {
        Poor.LOGIN: (ErrorCode.AUTHENTICATION_REQUIRED, "The page requires a login."),
        Poor.PAYWALL: (ErrorCode.AUTHENTICATION_REQUIRED, "The page is for subscribers only."),
        Poor.SCRIPT: (ErrorCode.EXTRACTION_FAILED, "The page needs JavaScript."),
        Poor.CONSENT: (ErrorCode.BLOCKED_BY_SITE, "The page asks for cookie consent first."),
    }
)
"""A browser or a member gets past them: the result stays, and only the wall is left out."""
_CLOSED: Final = frozenset(
    {
        ErrorCode.AUTHENTICATION_REQUIRED,
        ErrorCode.BLOCKED_BY_SITE,
        ErrorCode.EXTRACTION_FAILED,
    }
)
"""Errors of pages that are there and that no further try would read."""


@dataclass(frozen=True, slots=True)
class PageAssessment:
    """What is known of a page that was read.

    Attributes:
        quality: what it is worth.
        sketch: what it is recognised by; empty if that is not asked for.
        passages: all of it in parts, those that fit the query best first.
    """

    quality: Quality
    sketch: Sketch = ()
    passages: tuple[Passage, ...] = ()

    @property
    def is_wall(self) -> bool:
        """Whether the page says nothing but what one must do to read it."""
        return self.quality.poor in _WALLS


@dataclass(frozen=True, slots=True)
class Reranked:
    """A list of results after its pages were read.

    Attributes:
        results: in their new order, with new scores.
        dropped: pages that are not given.
        duplicates: results that refer to another one for their text.
    """

    results: tuple[SearchResult, ...]
    dropped: tuple[DroppedPage, ...] = ()
    duplicates: int = 0


def assess_page(page: Page, *, query: str, config: QualityConfig) -> PageAssessment:
    """Look at a page that was read; takes about 4 ms for 10 kB."""
    quality = assess(
        page.markdown_content,
        query=query,
        title=page.title,
        kind=page.kind,
        is_protected=page.is_protected,
    )
    found = sketch(page.markdown_content) if config.group_duplicates else ()
    return PageAssessment(quality, found, _passages(page, query))


def rerank(
    results: Sequence[SearchResult],
    assessments: Mapping[str, PageAssessment],
    *,
    query: str,
    config: QualityConfig,
) -> Reranked:
    """Put results in order, and leave out what is not worth giving.

    Args:
        results: in the order of the engines, with their pages.
        assessments: of the pages that were read, by the address of the result.
        query: what was searched for.
        config: which of this is to be done.
    """
    ordered = _reranked(results, assessments, query, config) if config.rerank else tuple(results)
    dropped = _poor(ordered, assessments) if config.drop_poor else {}
    kept = [
        _behind_wall(result, dropped[result.url].reason) if result.url in dropped else result
        for result in ordered
        if result.url not in dropped or not dropped[result.url].result_dropped
    ]
    if config.rerank and any(result.content for result in kept):
        kept.sort(key=lambda result: result.error_type in _CLOSED)
    repeats = _repeats(kept, assessments) if config.group_duplicates else {}
    given = [
        result.model_copy(update={"content": None, "duplicate_of": repeats[place]})
        if place in repeats
        else result
        for place, result in enumerate(kept)
    ]
    if config.rerank:
        given = [
            result.model_copy(update={"score": score_at(place)})
            for place, result in enumerate(given, start=1)
        ]
    return Reranked(tuple(given), tuple(dropped.values()), len(repeats))


def _passages(page: Page, query: str) -> tuple[Passage, ...]:
    """What of a page fits a query best, first; its beginning, if the query names the page."""
    markdown = page.markdown_content
    outline = [heading for heading in page.outline if heading.offset < len(markdown)]
    ranked = passages(markdown, outline, query, title=page.title)
    title, asked = set(terms(page.title)), set(terms(query))
    if title and (title <= asked or asked <= title):
        ranked.sort(key=lambda passage: passage.offset > 0)
    return tuple(ranked)


def _reranked(
    results: Sequence[SearchResult],
    assessments: Mapping[str, PageAssessment],
    query: str,
    config: QualityConfig,
) -> tuple[SearchResult, ...]:
    def moved(place: int) -> tuple[float, int]:
        result = results[place]
        known = assessments.get(result.url)
        worth = _USUAL if known is None else known.quality.score
        gain = worth - _USUAL + preference(result.url, query, config)
        # Rounded, so that equal worth is equal on every machine.
        return round(place - _PLACES * config.strength * gain, 6), place

    return tuple(results[place] for place in sorted(range(len(results)), key=moved))


def _poor(
    results: Sequence[SearchResult], assessments: Mapping[str, PageAssessment]
) -> dict[str, DroppedPage]:
    """The pages that are left out, by the address of their result."""
    read = {
        result.url: assessments[result.url].quality.poor
        for result in results
        if result.content is not None and result.url in assessments
    }
    good = sum(poor is None for poor in read.values())
    return {
        url: DroppedPage(url=url, reason=poor, result_dropped=poor not in _WALLS)
        for url, poor in read.items()
        if poor is not None and (poor in _WALLS or good >= _ENOUGH)
    }


def _behind_wall(result: SearchResult, wall: Poor) -> SearchResult:
    code, details = _WALLS[wall]
    return result.model_copy(
        update={"content": None, "error_type": str(code), "error_details": details}
    )


def _repeats(
    results: Sequence[SearchResult], assessments: Mapping[str, PageAssessment]
) -> dict[int, str]:
    """The address that stands for a result, by its place in the list."""
    sketches = [
        assessments[result.url].sketch
        if result.content is not None and result.url in assessments
        else ()
        for result in results
    ]
    found = {place: results[first].url for place, first in groups(sketches).items()}
    # Rows of one page, such as several images of it, are not copies.
    return {place: url for place, url in found.items() if results[place].url != url}
