"""The result pages of a search, read side by side behind a semaphore."""

import asyncio
from collections.abc import Sequence
from typing import Protocol, TypeAlias

from searx_mcp.errors import SearxMcpError
from searx_mcp.models.page import Page
from searx_mcp.models.request import FetchRequest
from searx_mcp.models.response import FetchStats, PageContent, SearchResult
from searx_mcp.models.service import Progress
from searx_mcp.search.config import QualityConfig, WebSearchConfig
from searx_mcp.search.judging import Opinion, judge, opinion

_Found: TypeAlias = dict[str, tuple[PageContent, Opinion]]
"""What was read, by the address of the result."""


class PageReader(Protocol):
    """Reads one page as Markdown."""

    def warm(self) -> None:
        """Get ready for pages that are about to be asked for; returns at once."""
        ...

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

    At most `max_concurrent_fetches` pages are read at the same time over all calls. A page that
    cannot be read in time leaves its result without content, never the search without an answer.
    """

    def __init__(
        self,
        reader: PageReader,
        config: WebSearchConfig,
        quality: QualityConfig | None = None,
    ) -> None:
        self._reader = reader
        self._config = config
        self._quality = quality or QualityConfig()
        self._slots = asyncio.Semaphore(config.max_concurrent_fetches)

    def warm(self) -> None:
        """Get ready while the results are on their way: what reads pages takes a second to start."""
        self._reader.warm()

    async def read(
        self,
        results: Sequence[SearchResult],
        *,
        deadline: float,
        query: str,
        progress: Progress | None = None,
    ) -> tuple[tuple[SearchResult, ...], FetchStats]:
        """The results with their pages, in the order of `judging`, and how it went.

        Args:
            results: what to read.
            deadline: loop time by which everything ends; pages unfinished then are given up.
            query: what the summaries are to be about, and by which pages are judged.
            progress: told how far it is.
        """
        started = asyncio.get_running_loop().time()
        found: _Found = {}
        urls = list(dict.fromkeys(result.url for result in results))
        try:
            async with asyncio.timeout_at(deadline), asyncio.TaskGroup() as group:
                for url in urls:
                    group.create_task(self._read_one(url, found, deadline=deadline, query=query))
        except TimeoutError:
            pass  # what is in `found` by now is the answer
        elapsed = asyncio.get_running_loop().time() - started
        if progress is not None:
            progress(f"read {len(found)} of {len(urls)} pages")
        read = [
            result.model_copy(update={"content": found[result.url][0]})
            if result.url in found
            else result
            for result in results
        ]
        opinions = {url: known for url, (_, known) in found.items()}
        judgement = judge(read, opinions, query=query, config=self._quality)
        dropped = {page.url for page in judgement.dropped}
        successful = sum(result.url in found and result.url not in dropped for result in results)
        return judgement.results, FetchStats(
            attempted=len(read),
            successful=successful,
            failed=len(read) - successful,
            total_time_ms=round(elapsed * 1_000),
            duplicates=judgement.duplicates,
            dropped=judgement.dropped,
        )

    async def _read_one(self, url: str, found: _Found, *, deadline: float, query: str) -> None:
        async with self._slots:
            started = asyncio.get_running_loop().time()
            own_deadline = min(deadline, started + self._config.content_fetch_timeout)
            try:
                page = await self._reader.fetch(
                    FetchRequest(url=url),
                    deadline=own_deadline,
                    max_bytes=self._config.max_content_size,
                    query=query,
                )
            except SearxMcpError:
                return
        if not page.markdown_content.strip():
            return
        elapsed = asyncio.get_running_loop().time() - started
        # Some milliseconds of a processor that others on this loop would wait for.
        known = await asyncio.to_thread(opinion, page, query=query, config=self._quality)
        found[url] = _content(page, known, round(elapsed * 1_000)), known


def _content(page: Page, known: Opinion, fetch_time_ms: int) -> PageContent:
    return PageContent(
        markdown=page.markdown_content,
        word_count=page.word_count,
        fetch_time_ms=fetch_time_ms,
        summary=page.summary,
        key_points=page.key_points,
        kind=page.kind,
        quality=known.quality.score,
        truncated=page.truncated,
        cursor=page.cursor,
        next_offset=page.next_offset,
        total_chars=None if page.next_offset is None else page.total_chars,
        passages=known.passages,
    )
