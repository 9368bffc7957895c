"""Reads the pages of a search's results concurrently, and judges them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

from searx_mcp.content.summary import summarize
from searx_mcp.errors import ContentError, ErrorCode, SearxMcpError
from searx_mcp.fetch.turns import Turn, Turns
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.page import Page
from searx_mcp.models.progress import Progress
from searx_mcp.models.response import FetchStats, PageContent, SearchResult
from searx_mcp.render.tokens import estimate
from searx_mcp.search.config import QualityConfig, WebSearchConfig
from searx_mcp.search.judging import PageAssessment, assess_page, rerank

_GIST_CHARS: Final = 300
"""Characters that stand for a page if the token budget has no room for more: a sentence or two of its best
passage."""


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
        """Return the results with their pages, in the order of `judging`, and statistics.

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
