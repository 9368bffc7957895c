"""The result pages of a search, read side by side behind a semaphore."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from searx_mcp.errors import SearxMcpError
from searx_mcp.models.page import Page
from searx_mcp.models.request import FetchRequest
from searx_mcp.models.response import FetchStats, PageContent, SearchResult
from searx_mcp.models.service import Progress
from searx_mcp.search.config import WebSearchConfig


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
    """Adds the pages to the results of a search.

    At most `max_concurrent_fetches` pages are read at the same time over all calls. A page that
    cannot be read in time leaves its result without content, never the search without an answer.
    """

    def __init__(self, reader: PageReader, config: WebSearchConfig) -> None:
        self._reader = reader
        self._config = config
        self._slots = asyncio.Semaphore(config.max_concurrent_fetches)

    async def read(
        self,
        results: Sequence[SearchResult],
        *,
        deadline: float,
        query: str,
        progress: Progress | None = None,
    ) -> tuple[tuple[SearchResult, ...], FetchStats]:
        """The results with their pages, in the same order, and how it went.

        Args:
            results: what to read.
            deadline: loop time by which everything ends; pages unfinished then are given up.
            query: what the summaries are to be about.
            progress: told how far it is.
        """
        started = asyncio.get_running_loop().time()
        contents: dict[str, PageContent] = {}
        urls = list(dict.fromkeys(result.url for result in results))
        try:
            async with asyncio.timeout_at(deadline), asyncio.TaskGroup() as group:
                for url in urls:
                    group.create_task(self._read_one(url, contents, deadline=deadline, query=query))
        except TimeoutError:
            pass  # what is in `contents` by now is the answer
        elapsed = asyncio.get_running_loop().time() - started
        if progress is not None:
            progress(f"read {len(contents)} of {len(urls)} pages")
        read = tuple(
            result.model_copy(update={"content": contents.get(result.url)}) for result in results
        )
        successful = sum(result.content is not None for result in read)
        return read, FetchStats(
            attempted=len(read),
            successful=successful,
            failed=len(read) - successful,
            total_time_ms=round(elapsed * 1_000),
        )

    async def _read_one(
        self, url: str, contents: dict[str, PageContent], *, deadline: float, query: str
    ) -> None:
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
        contents[url] = PageContent(
            markdown=page.markdown_content,
            word_count=page.word_count,
            fetch_time_ms=round(elapsed * 1_000),
            summary=page.summary,
            truncated=page.truncated,
            cursor=page.cursor,
            next_offset=page.next_offset,
            total_chars=None if page.next_offset is None else page.total_chars,
        )
