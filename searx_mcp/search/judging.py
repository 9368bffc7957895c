"""Judges a list of results by their pages: reorders it, drops useless pages, and finds duplicates.

A result moves by the quality of its page: its place minus ten times `strength` times the difference from
usual quality. At the default strength two tenths of quality are worth one place, so a small difference
changes no order and a large one moves a result by a few places. A result whose page was not read has the
usual quality; one whose page is only a wall comes after those that can be read. Sites that the operator
prefers come first.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

from searx_mcp.content.passages import passages, words_of
from searx_mcp.content.quality import Quality, Sketch, assess, groups, sketch
from searx_mcp.content.support import support
from searx_mcp.content.words import terms, tokens
from searx_mcp.errors import ErrorCode
from searx_mcp.models.page import Page, Passage
from searx_mcp.models.response import DroppedPage, Poor, SearchResult
from searx_mcp.search.config import QualityConfig
from searx_mcp.search.merge import score_at

PREFERRED = 0.3
"""Bonus in quality of a preferred source: at the default strength one place, rarely two."""
DEMOTED = -0.6

_SHORTEST_NAME = 3
_SECOND_LEVEL = frozenset(
    {"ac", "co", "com", "edu", "gov", "go", "gob", "gouv", "ne", "net", "or", "org"}
)
"""Second-level labels under which registries assign names, as in `co.uk`."""


def preference(url: str, query: str, config: QualityConfig) -> float:
    """Return the bonus or penalty of a result's address, in quality.

    Args:
        url: of the result.
        query: the search; its words may name a site.
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
    """Return whether the registered name of a site is a word of the query."""
    labels = host.split(".")[:-1]
    if len(labels) > 1 and labels[-1] in _SECOND_LEVEL:
        labels.pop()
    name = labels[-1] if labels else ""
    return len(name) >= _SHORTEST_NAME and name in tokens(query)


_PLACES: Final = 10
"""Places that one unit of quality is worth at full strength."""
_USUAL: Final = 0.6
"""The quality of an unknown page. On the texts under `benchmarks/summaries_data`, a page has .72 on average
for a question about it and .48 for one about another text in its language."""

_ENOUGH: Final = 3
"""A doubtful page is dropped if there are this many good ones; with fewer, the reader may judge it."""
_WALLS: Final = MappingProxyType(
    {
        Poor.LOGIN: (ErrorCode.AUTHENTICATION_REQUIRED, "The page requires a login."),
        Poor.PAYWALL: (ErrorCode.AUTHENTICATION_REQUIRED, "The page is for subscribers only."),
        Poor.SCRIPT: (ErrorCode.EXTRACTION_FAILED, "The page needs JavaScript."),
        Poor.CONSENT: (ErrorCode.BLOCKED_BY_SITE, "The page asks for cookie consent first."),
    }
)
"""A browser or a member can get past them: the result stays, and only the wall's text is dropped."""
_CLOSED: Final = frozenset(
    {
        ErrorCode.AUTHENTICATION_REQUIRED,
        ErrorCode.BLOCKED_BY_SITE,
        ErrorCode.EXTRACTION_FAILED,
    }
)
"""Errors of existing pages that another try would not fix."""


_NOT_OF_PAGES: Final = re.compile(
    r"(?<!\S)(?:-?(?:site|filetype|inurl|intitle):\S*|-[^\W\d_]{2,}(?!\S)|(?:19|20)\d\d(?!\S))",
    re.IGNORECASE,
)
"""What an answer need not contain: operators of search engines, and years, which often only ask for new pages."""


@dataclass(frozen=True, slots=True)
class PageAssessment:
    """The judgement of a page that was read.

    Attributes:
        quality: of the page.
        sketch: for finding duplicates; empty if that is switched off.
        passages: the whole page in parts, those most relevant to the query first.
        answered: whether one of them supports the query; `None` if that was not asked.
    """

    quality: Quality
    sketch: Sketch = ()
    passages: tuple[Passage, ...] = ()
    answered: bool | None = None

    @property
    def is_wall(self) -> bool:
        """Whether the page contains only instructions for getting access to it."""
        return self.quality.poor in _WALLS


@dataclass(frozen=True, slots=True)
class Reranked:
    """The results after judging their pages.

    Attributes:
        results: in their new order, with new scores.
        dropped: pages that are left out.
        duplicates: results that refer to another one for their text.
    """

    results: tuple[SearchResult, ...]
    dropped: tuple[DroppedPage, ...] = ()
    duplicates: int = 0


def assess_page(
    page: Page, *, query: str, config: QualityConfig, is_room_short: bool = False
) -> PageAssessment:
    """Judge a page that was read; takes about 4 ms for 10 kB, 7 with `answered`.

    Args:
        page: the page.
        query: the search.
        config: what to judge.
        is_room_short: whether `answered` is wanted, as it is if pages compete for a number of tokens.
    """
    quality = assess(
        page.markdown_content,
        query=query,
        title=page.title,
        kind=page.kind,
        is_protected=page.is_protected,
    )
    found = sketch(page.markdown_content) if config.group_duplicates else ()
    ranked = _passages(page, query)
    answered = _is_answered(page, ranked, query) if is_room_short else None
    return PageAssessment(quality, found, ranked, answered)


def _is_answered(page: Page, ranked: Sequence[Passage], query: str) -> bool:
    """Return whether a passage of a page supports a query, apart from its operators and years."""
    parts = [words_of(each.text, (page.title, *each.path)) for each in ranked]
    asked = _NOT_OF_PAGES.sub(" ", query)
    return support(asked, parts or [words_of(page.markdown_content, (page.title,))]).answered


def rerank(
    results: Sequence[SearchResult],
    assessments: Mapping[str, PageAssessment],
    *,
    query: str,
    config: QualityConfig,
) -> Reranked:
    """Reorder results, and drop what is not useful.

    Args:
        results: in the order of the engines, with their pages.
        assessments: of the pages that were read, by the address of the result.
        query: the search.
        config: which of these steps to do.
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
    """Return a page's passages, most relevant first; its beginning first if the query names it."""
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
    """Return the dropped pages, by the address of their result."""
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
    """Return the address that replaces a duplicate, by its place in the list."""
    sketches = [
        assessments[result.url].sketch
        if result.content is not None and result.url in assessments
        else ()
        for result in results
    ]
    found = {place: results[first].url for place, first in groups(sketches).items()}
    # Rows of one page, such as several images of it, are not copies.
    return {place: url for place, url in found.items() if results[place].url != url}
