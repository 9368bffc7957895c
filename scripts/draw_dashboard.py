"""Draw the dashboard as the docs show it: a server of this machine's own, searched a few times, in Chromium.

Run it with `python scripts/draw_dashboard.py` after a change of the dashboard; it needs the extra `browser` and Chromium. Nothing leaves this
machine. With a folder as its argument it draws every width and theme into that.
"""

import asyncio
import os
import random
import shutil
import sys
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

from playwright.async_api import Page, async_playwright

from searx_mcp.client.facade import SearxClient
from searx_mcp.models.instance import Catalog, CatalogEntry
from searx_mcp.server.app import build_server
from searx_mcp.server.http import serve_http
from searx_mcp.settings.server import HttpConfig
from searx_mcp.settings.values import Settings
from searx_mcp.testing.results import FakeResult
from searx_mcp.testing.searxng import FakeSearxng

_TARGET = Path(__file__).parents[1] / "docs" / "images" / "dashboard.png"
_WIDTHS = {"phone": 360, "desktop": 1280}
_QUERIES = ("bees", "honey", "wax", "hives", "pollen", "clover", "mead")
_RESULTS = (
    FakeResult(
        url="https://bees.example/dance",
        title="How bees tell each other where flowers are",
        description="A dance tells the direction and the distance.",
    ),
    FakeResult(
        url="https://garden.example/clover",
        title="Clover in the garden",
        description="Bees visit white clover from May to September.",
    ),
    FakeResult(
        url="https://honey.example/colour",
        title="What gives honey its colour",
        description="It depends on the flowers and on how warm it was kept.",
    ),
)


async def draw(folder: Path | None) -> None:
    """Serve a pool, search it and draw it.

    Args:
        folder: takes pictures of every width and theme; unless given, one is made for the docs.
    """
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        json = ("html", "json")
        own = [
            await enter(
                FakeSearxng(results=_RESULTS, formats=json, engines_failed=True, latency=0.3)
            ),
            await enter(FakeSearxng(results=_RESULTS, formats=json, latency=0.2)),
        ]
        public = [await enter(FakeSearxng(results=_RESULTS, latency=0.5)) for _ in range(3)]
        settings = Settings(
            instances={"own": [fake.url for fake in own], "public": "on"},
            fetch={"allow_private": [fake.origin for fake in (*own, *public)]},
            web_search={"use_random_instances": False},
        )
        entries = (
            CatalogEntry(url=fake.url, tls_grade=grade, http_grade=grade)
            for grade, fake in zip(("A+", "A+", "B"), public, strict=True)
        )
        catalog = Catalog(source="the demo", listed_at=datetime.now(UTC), instances=tuple(entries))
        client = await enter(SearxClient(settings, catalog=catalog, rng=random.Random(1)))  # noqa: S311 - the same every time
        for query in _QUERIES:
            await client.search(query, fetch_content=False)
        own[1].fail(503)
        url: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        server = build_server(settings, service=client)
        async with asyncio.TaskGroup() as group:
            config = HttpConfig(port=0)
            task = group.create_task(serve_http(server, config, listening=url.set_result))
            await _pictures((await url).removesuffix("mcp"), folder)
            task.cancel()


async def _pictures(url: str, folder: Path | None) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            chromium_sandbox=not (hasattr(os, "geteuid") and os.geteuid() == 0),
        )
        if folder is None:
            page = await browser.new_page(viewport={"width": 1280, "height": 800})
            await _search(page, url, "where do bees find clover")
            await page.screenshot(path=_TARGET, full_page=True)
        else:
            for name, width in _WIDTHS.items():
                for theme in ("light", "dark"):
                    page = await browser.new_page(
                        viewport={"width": width, "height": 800},
                        color_scheme="dark" if theme == "dark" else "light",
                    )
                    await _search(page, url, f"{name} {theme} bees")
                    path = folder / f"{name}-{theme}.png"
                    await page.screenshot(path=path, full_page=True)
        await browser.close()


async def _search(page: Page, url: str, query: str) -> None:
    await page.goto(url)
    await page.get_by_label("Query").fill(query)
    await page.keyboard.press("Enter")
    await page.get_by_text("Instances asked").wait_for()


if __name__ == "__main__":
    asyncio.run(draw(Path(sys.argv[1]) if sys.argv[1:] else None))
