"""The client that is measured and the bare library below it, each in a process of its own.

    python -m benchmarks.fetching.clients ours|threads|aiohttp PASSES

Addresses and marks come as JSON on the standard input, figures leave on the standard output.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Final

import aiohttp
from yarl import URL

from benchmarks.fetching.load import CONCURRENCY, Fetch, jobs_from_stdin, report, run
from searx_mcp import SearxClient, Settings

TIMEOUT: Final = 60.0
_PAGES_A_MINUTE: Final = 6_000


def settings_for(urls: Iterable[str]) -> Settings:
    """Settings under which these sites may be reached, and as fast as they answer."""
    origins = sorted({URL(url).authority for url in urls})
    return Settings.model_validate(
        {
            "fetch": {
                "allow_private": origins,
                "max_per_host": CONCURRENCY,
                "host_rate": _PAGES_A_MINUTE,
            },
            "network": {"max_connections_per_host": CONCURRENCY},
            "instances": {"public": "off"},
        }
    )


@asynccontextmanager
async def ours(urls: Iterable[str], *, processes: bool = True) -> AsyncIterator[Fetch]:
    """Open the client that is measured.

    Args:
        urls: what will be fetched.
        processes: whether pages are converted in child processes, as in a server, or in a thread.
    """
    async with SearxClient(settings_for(urls), processes=processes) as client:

        async def fetch(url: str) -> str:
            page = await client.fetch(url, timeout=TIMEOUT, force_refresh=True)
            return page.markdown_content

        yield fetch


@asynccontextmanager
async def bare(_: Iterable[str]) -> AsyncIterator[Fetch]:
    """Open a session that only reads."""
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=TIMEOUT)) as http:

        async def fetch(url: str) -> str:
            async with http.get(url) as reply:
                return (await reply.read()).decode()

        yield fetch


Opens = Callable[[Iterable[str]], AbstractAsyncContextManager[Fetch]]
CLIENTS: Final[dict[str, Opens]] = {
    "ours": ours,
    "threads": partial(ours, processes=False),
    "aiohttp": bare,
}


async def _main(name: str, passes: int) -> None:
    jobs = jobs_from_stdin()
    async with CLIENTS[name](url for url, _ in jobs) as fetch:
        await fetch(str(URL(jobs[0][0]).with_path("/small")))  # whatever is loaded late
        load = await run(fetch, jobs, passes=passes)
    times = os.times()  # those of children are added when they have ended
    report(replace(load, children=times.children_user + times.children_system))


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], int(sys.argv[2])))
