"""Reads pages for calls with several addresses or a maximum age."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from searx_mcp.errors import DeadlineError, SearxMcpError
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.page import Page
from searx_mcp.server.rest.full import run_verb
from searx_mcp.server.rest.operation import Call
from searx_mcp.verbs.web import WEB_FETCH

MAX_PAGES: Final = 20
"""Maximum per call: Tavily's limit, which Open WebUI uses."""
PARTS: Final = " [...] "
"""Tavily's separator between parts of a page."""
_CONCURRENCY: Final = 5
_LATE: Final = "The page was not read in time"


def warning_of(page: Page) -> str | None:
    """Return what a reader of a page should know, in sentences."""
    notes = [*page.notes]
    if page.next_offset is not None:
        shown = page.next_offset - page.offset
        notes.append(f"These are the first {shown:,} of {page.total_chars:,} characters.")
    return " ".join(notes) or None


async def read_page(call: Call, request: FetchRequest, max_age: float | None = None) -> Page:
    """Read a page.

    Args:
        call: call that the page is for.
        request: request for the page.
        max_age: maximum age of a stored copy in seconds; `None` for the cache's own rule.

    Raises:
        SearxMcpError: the page cannot be read.
    """
    page = await run_verb(WEB_FETCH, request, call)
    if max_age is not None and page.from_cache and page.age_seconds > max_age:
        again = request.model_copy(update={"force_refresh": True})
        page = await run_verb(WEB_FETCH, again, call)
    return page


async def read_pages(
    call: Call, urls: Sequence[str], build_request: Callable[[str], FetchRequest]
) -> list[tuple[str, Page | SearxMcpError]]:
    """Read several pages, a few at a time, within the deadline of the call.

    Args:
        call: call that the pages are for.
        urls: addresses, at least one.
        build_request: returns the request for an address.

    Returns:
        Each address with its page, or with the reason why it cannot be read, in their order.
    """
    slots = asyncio.Semaphore(_CONCURRENCY)

    async def read(url: str) -> Page | SearxMcpError:
        async with slots:
            try:
                return await read_page(call, build_request(url))
            except SearxMcpError as error:
                return error

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(read(url)) for url in urls]
        _, late = await asyncio.wait(tasks, timeout=call.limit)
        for task in late:
            task.cancel()
    found = [DeadlineError(_LATE) if task.cancelled() else task.result() for task in tasks]
    return list(zip(urls, found, strict=True))
