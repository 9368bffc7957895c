"""What the server searches and reads, in a process of its own.

    python -m benchmarks.loading.world

Says on its first line of output where everything is, and ends with its standard input.
"""

import asyncio
import json
import logging
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from typing import Final

from aiohttp import web

from benchmarks.serving.site import article
from searx_mcp.testing.loopback import LoopbackServer, ReceivedRequest
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb

_INSTANCES: Final = 2
_SITES: Final = 4
_PAGES: Final = 25
"""Of one site."""
_SECTIONS: Final = 4
_SILENT: Final = 32
"""Sites whose pages never come; one that has failed three times is left alone for half a minute."""


@dataclass(frozen=True, slots=True)
class World:
    """Where everything is.

    Attributes:
        instances: of SearXNG, whose results lead to the pages.
        origins: hosts and ports of the sites.
        pages: addresses of articles of 5,000 characters.
        missing: the address of a page that is not there.
        silent: addresses of pages that never come, each of a host of its own.
        collector: takes traces, and answers with the number of batches so far.
    """

    instances: Sequence[str]
    origins: Sequence[str]
    pages: Sequence[str]
    missing: str
    silent: Sequence[str]
    collector: str


async def _serve() -> None:
    async with AsyncExitStack() as stack:
        sites = [await stack.enter_async_context(FakeWeb(_pages(at))) for at in range(_SITES)]
        # One site after the other, as the pages of a result list stand on many hosts.
        pages = [site.url(f"/{number}") for number in range(_PAGES) for site in sites]
        silent = [
            await stack.enter_async_context(FakeWeb({"/": FakePage(silent=True)}))
            for _ in range(_SILENT)
        ]
        instances = [
            await stack.enter_async_context(FakeSearxng(links=pages, formats=("html", "json")))
            for _ in range(_INSTANCES)
        ]
        world = World(
            instances=[instance.url for instance in instances],
            origins=[server.origin for server in (*sites, *silent, *instances)],
            pages=pages,
            missing=sites[0].url("/nothing"),
            silent=[site.url("/") for site in silent],
            collector=(await stack.enter_async_context(LoopbackServer(_Collector()))).base,
        )
        print(json.dumps(asdict(world)), flush=True)
        await asyncio.to_thread(sys.stdin.read)


def _pages(site: int) -> dict[str, FakePage]:
    return {
        f"/{number}": FakePage(article(sections=_SECTIONS, first=site * _PAGES + number))
        for number in range(_PAGES)
    }


class _Collector:
    def __init__(self) -> None:
        self._batches = 0

    async def __call__(self, request: web.BaseRequest, _: ReceivedRequest) -> web.Response:
        await request.read()
        self._batches += request.method == "POST"
        return web.Response(text=str(self._batches))


if __name__ == "__main__":
    # Whoever asks may be gone before the answer; aiohttp tells of each.
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)
    asyncio.run(_serve())
