"""The web sites of the benchmark, in a process of their own.

    python -m benchmarks.fetching.site SEED MEGABYTES

Says on its first line of output where its sites are, and ends with its standard input. Each path is
counted; `/-/counts` tells the counts and begins anew.
"""

import asyncio
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import Final

from aiohttp import web

from benchmarks.fetching.bombs import BOMBS, Bomb
from benchmarks.fetching.pages import Page, make_pages

SITES: Final = 8
"""Origins that share the pages."""
_LATENCY: Final = (0.03, 0.07)
"""Seconds until an answer begins, as from a site on the same continent."""
_SMALL: Final = b"<!DOCTYPE html><title>Small</title><p>A small page with a few words of text.</p>"
_HTML: Final = "text/html; charset=utf-8"


class Site:
    """Counts and answers the requests to one origin."""

    def __init__(self, pages: Iterable[Page], bombs: dict[str, bytes], robots: str = "") -> None:
        """Take what it serves.

        Args:
            pages: by path.
            bombs: bodies that are ready, by name of the bomb.
            robots: name of the bomb that is its robots.txt; without one there is none.
        """
        self.counts: Counter[str] = Counter()
        self._pages = {page.path: page.html for page in pages}
        self._bombs = bombs
        self._robots = robots

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request."""
        path = request.path
        if path == "/-/counts":
            counts, self.counts = self.counts, Counter()
            return web.json_response(counts)
        self.counts[path] += 1
        name = self._robots if path == "/robots.txt" else path.removeprefix("/bomb/")
        if name in BOMBS:
            return await self._explode(request, BOMBS[name], self._bombs.get(name))
        low, high = _LATENCY
        await asyncio.sleep(random.Random(path).uniform(low, high))  # noqa: S311 - a benchmark's
        html = _SMALL if path == "/small" else self._pages.get(path)
        if html is None:
            return web.Response(status=404, text="There is nothing here.")
        return web.Response(body=html, headers={"Content-Type": _HTML})

    async def _explode(
        self, request: web.BaseRequest, bomb: Bomb, ready: bytes | None
    ) -> web.StreamResponse:
        response = web.StreamResponse(status=bomb.status, headers=bomb.headers)
        response.headers["Content-Type"] = bomb.content_type
        if bomb.encoding:
            response.headers["Content-Encoding"] = bomb.encoding
        if ready is None:
            response.enable_chunked_encoding()
        else:
            response.content_length = len(ready)
        await response.prepare(request)
        with suppress(ConnectionError):
            for piece in bomb.body(0) if ready is None else [ready]:
                await response.write(piece)
                self.counts["bytes of bombs"] += len(piece)
        return response


async def _serve(seed: int, megabytes: int) -> None:
    pages = make_pages(seed)
    bombs = {
        name: b"".join(bomb.body(megabytes)) for name, bomb in BOMBS.items() if not bomb.is_endless
    }
    async with AsyncExitStack() as stack:
        open_site = partial(_open, stack)
        origins = [
            await open_site(Site(pages[number::SITES], bombs).answer) for number in range(SITES)
        ]
        robots = {
            name: await open_site(Site((), bombs, name).answer)
            for name, bomb in BOMBS.items()
            if bomb.is_robots
        }
        print(json.dumps({"origins": origins, "robots": robots}), flush=True)
        await asyncio.to_thread(sys.stdin.read)


async def _open(stack: AsyncExitStack, answer: Callable[..., object]) -> str:
    runner = web.ServerRunner(web.Server(answer, access_log=None), shutdown_timeout=1)  # type: ignore[arg-type] # - its Callable is not exported
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    return f"http://127.0.0.1:{site.port}"


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), int(sys.argv[2])))
