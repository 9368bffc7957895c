"""Reads the pages of a search's results concurrently, reorders the results by them, and drops useless pages.

A result moves by the quality of its page: its place minus ten times `strength` times the difference from
usual quality. At the default strength two tenths of quality are worth one place, so a small difference
changes no order and a large one moves a result by a few places. A result whose page was not read has the
usual quality; one whose page is only a wall comes after those that can be read. Sites that the operator
prefers come first.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final, Protocol

from searx_mcp.content.passages import passages, words_of
from searx_mcp.content.quality import Quality, Sketch, assess, groups, sketch
from searx_mcp.content.summary import summarize
from searx_mcp.content.support import support
from searx_mcp.content.words import terms
from searx_mcp.errors import ContentError, ErrorCode, SearxMcpError
from searx_mcp.fetch.turns import Turn, Turns
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.page import Page, Passage
from searx_mcp.models.progress import Progress
from searx_mcp.models.response import DroppedPage, FetchStats, PageContent, Poor, SearchResult
from searx_mcp.render.tokens import estimate
from searx_mcp.search.config import QualityConfig, WebSearchConfig
from searx_mcp.search.merge import preference, score_at

_GIST_CHARS: Final = 300
"""Characters that stand for a page if the token budget has no room for more: a sentence or two of its best
passage."""
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
    # A page that is too short for a sketch can only be a copy of one with the same final address.
    found: Sketch = (
        (sketch(page.markdown_content) or (hash(page.final_url),))
        if config.group_duplicates
        else ()
    )
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


class PageReader(Protocol):
    """Reads one page as Markdown."""

    async def fetch(
        self,
        request: FetchRequest,
        *,
        deadline: float | None = None,
        max_bytes: int | None = None,
        query: str = "",
    ) -> Page:
        """Read one page by `deadline` (loop time); raises `SearxMcpError` only."""
        ...


class ResultReader:
    """Adds the pages to the results of a search, and judges the results by them.

    A page that cannot be read, or not in time, leaves its result without content and with the reason; it
    never fails the search. Reading a late page continues into the page cache, for as long as the search might
    have taken.
    """

    def __init__(
        self,
        reader: PageReader,
        config: WebSearchConfig,
        quality: QualityConfig | None = None,
        *,
        turns: Turns,
    ) -> None:
        """Take the parts.

        Args:
            reader: reads the pages.
            config: how many concurrently, for how long and how much of each.
            quality: how the pages are judged.
            turns: schedules the pages, and ends the wait for them.
        """
        self._reader = reader
        self._config = config
        self._quality = quality or QualityConfig()
        self._turns = turns

    async def read(
        self,
        results: Sequence[SearchResult],
        *,
        deadline: float,
        query: str,
        room: int | None = None,
        for_model: bool = False,
        progress: Progress | None = None,
    ) -> tuple[tuple[SearchResult, ...], FetchStats]:
        """Return the results with their pages, in the order of `rerank`, and statistics.

        Args:
            results: what to read.
            deadline: loop time by which everything ends.
            query: for summaries, and for judging pages.
            room: tokens of the answer, which need not wait for pages that do not fit; `None` if unlimited.
            for_model: whether a model reads them, and no summary.
            progress: called with each page.
        """
        started = asyncio.get_running_loop().time()
        pages = {url: _Reading(url) for url in dict.fromkeys(result.url for result in results)}
        asked = _Asked(deadline, query, room, for_model, progress, tuple(pages.values()))
        turns = {
            url: Turn(partial(self._read_one, page, asked), url) for url, page in pages.items()
        }
        try:
            await self._turns.take(
                [*turns.values()],
                deadline=deadline,
                room=room,
                at_once=self._config.max_concurrent_fetches,
            )
        finally:
            asked.is_over = True
        now = asyncio.get_running_loop().time()
        read = [
            result.model_copy(update=pages[result.url].outcome(turns[result.url], now))
            for result in results
        ]
        assessments = {
            url: page.assessment for url, page in pages.items() if page.assessment is not None
        }
        reranked = rerank(read, assessments, query=query, config=self._quality)
        dropped = {page.url for page in reranked.dropped}
        successful = sum(
            result.content is not None and result.url not in dropped for result in read
        )
        return reranked.results, FetchStats(
            attempted=len(read),
            successful=successful,
            failed=len(read) - successful,
            total_time_ms=round((now - started) * 1_000),
            duplicates=reranked.duplicates,
            dropped=reranked.dropped,
        )

    async def _read_one(self, reading: "_Reading", asked: "_Asked") -> int:
        """Read a page; return its tokens in the answer."""
        started = asyncio.get_running_loop().time()
        try:
            page = await self._reader.fetch(
                FetchRequest(url=reading.url, for_model=asked.for_model),
                deadline=min(asked.deadline, started + self._config.content_fetch_timeout),
                max_bytes=self._config.max_content_size,
                query=asked.query,
            )
        except SearxMcpError as error:
            reading.error = error
            return 0
        if asked.is_over:
            return 0
        if not page.markdown_content.strip():
            reading.error = ContentError(
                "The page has no text.",
                code=ErrorCode.EXTRACTION_FAILED,
                status_code=page.status_code,
            )
            return 0
        elapsed = asyncio.get_running_loop().time() - started
        # Some milliseconds of processor time that would block others on this loop.
        known, tokens, gist = await asyncio.to_thread(self._weighed, page, asked)
        reading.assessment = known
        reading.content = _content(page, known, gist, round(elapsed * 1_000))
        asked.tell()
        return 0 if known.is_wall or known.answered is False else tokens

    def _weighed(self, page: Page, asked: "_Asked") -> tuple[PageAssessment, int, str]:
        known = assess_page(
            page, query=asked.query, config=self._quality, is_room_short=asked.room is not None
        )
        gist = page.summary
        if asked.room is not None and not gist and known.passages:
            gist = summarize(known.passages[0].text, query=asked.query, max_chars=_GIST_CHARS)
        return known, estimate(page.markdown_content, limit=asked.room), gist


@dataclass(slots=True)
class _Asked:
    """The parameters of reading a search's pages.

    Attributes:
        deadline: loop time by which it ends.
        query: for judging the pages.
        room: tokens of the answer, if there is a limit.
        for_model: whether a model reads them.
        progress: called with each page.
        pages: all of them.
        is_over: whether the search has ended.
    """

    deadline: float
    query: str
    room: int | None
    for_model: bool
    progress: Progress | None
    pages: "tuple[_Reading, ...]"
    is_over: bool = False

    def tell(self) -> None:
        """Report the progress."""
        if self.progress is not None and not self.is_over:
            count = sum(page.content is not None for page in self.pages)
            self.progress(f"read {count} of {len(self.pages)} pages")


@dataclass(slots=True)
class _Reading:
    """The outcome of one page."""

    url: str
    content: PageContent | None = None
    assessment: PageAssessment | None = None
    error: SearxMcpError | None = None

    def outcome(self, turn: Turn, now: float) -> dict[str, object]:
        """Return the fields of a result."""
        if self.content is not None:
            return {"content": self.content}
        error = self.error or turn.missed(now)
        return {
            "error_type": str(error.code),
            "error_details": error.message,
            "status_code": getattr(error, "status_code", None),
        }


def _content(page: Page, known: PageAssessment, gist: str, fetch_time_ms: int) -> PageContent:
    return PageContent(
        markdown=page.markdown_content,
        word_count=page.word_count,
        fetch_time_ms=fetch_time_ms,
        summary=gist,
        key_points=page.key_points,
        kind=page.kind,
        quality=known.quality.score,
        truncated=page.truncated,
        cursor=page.cursor,
        next_offset=page.next_offset,
        total_chars=None if page.next_offset is None else page.total_chars,
        passages=known.passages,
        answered=known.answered,
    )
