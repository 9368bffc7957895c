"""The client that is measured and the bare library below it, each in a process of its own.

    python -m benchmarks.fetching.clients ours|aiohttp PASSES

Addresses and marks come as JSON on the standard input, figures leave on the standard output.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
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
async def ours(urls: Iterable[str]) -> AsyncIterator[Fetch]:
    """Open the client that is measured."""
    async with SearxClient(settings_for(urls)) as client:

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
CLIENTS: Final[dict[str, Opens]] = {"ours": ours, "aiohttp": bare}


async def _main(name: str, passes: int) -> None:
    jobs = jobs_from_stdin()
    async with CLIENTS[name](url for url, _ in jobs) as fetch:
        await fetch(str(URL(jobs[0][0]).with_path("/small")))  # whatever is loaded late
        report(await run(fetch, jobs, passes=passes))


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], int(sys.argv[2])))
