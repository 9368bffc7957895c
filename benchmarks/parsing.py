"""How fast a result page becomes hits.

    python -m benchmarks.parsing [--json] [--quick]

HTML is held against the same selectors through BeautifulSoup with lxml (at least 5 times faster), JSON
against `json.loads` alone (at most 3 times slower). Pages come from the folder named by
`SEARX_MCP_CAPTURES` if there is one, else from the instance of `searx_mcp.testing`.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

import aiohttp

from benchmarks.measure import Ratio, command_line, interleaved, report
from benchmarks.parsing_reference import parse_with_soup
from searx_mcp.sources.searxng.html_parser import parse_html
from searx_mcp.sources.searxng.json_parser import ParsedBody, parse_json
from searx_mcp.testing.searxng import FakeSearxng

BASE = "https://search.example.org/"
CATEGORIES = ("general", "news", "images")


def main() -> None:
    """Measure and report."""
    options = command_line("How fast a result page becomes hits.")
    pages = _captured() or asyncio.run(_served())
    for name, (html, text) in pages.items():
        _check(name, html, text)
    if options.quick:
        sys.exit(0)
    ratios = []
    for name, (html, text) in pages.items():
        times = interleaved(
            {
                "html": lambda html=html: parse_html(html, base_url=BASE),  # type: ignore[misc] # bound at once
                "soup": lambda html=html: parse_with_soup(html),  # type: ignore[misc] # bound at once
            },
            rounds=9,
            calls=20,
        )
        ratios.append(
            Ratio(f"{name}: soup / HTML", times["soup"] / times["html"], 5, at_least=True)
        )
        times = interleaved(
            {
                "json": lambda text=text: parse_json(text, base_url=BASE),  # type: ignore[misc] # bound at once
                "loads": lambda text=text: json.loads(text),  # type: ignore[misc] # bound at once
            },
            rounds=9,
            calls=200,
        )
        ratios.append(
            Ratio(f"{name}: JSON / loads", times["json"] / times["loads"], 3, at_least=False)
        )
    report(ratios, as_json=options.json)


def _check(name: str, html: bytes, text: bytes) -> None:
    """All three readings of a page have the same rows, or the comparison is worth nothing."""
    rows, _ = parse_with_soup(html)
    theirs = {str(row["url"]).replace(" ", "%20") for row in rows}
    ours = _addresses(parse_html(html, base_url=BASE))
    as_json = _addresses(parse_json(text, base_url=BASE))
    if not ours or not ours == theirs == as_json:
        sys.exit(f"{name}: the readings differ: {len(ours)}, {len(theirs)}, {len(as_json)} rows")


def _addresses(reading: ParsedBody) -> set[str]:
    return {hit.url for hit in reading.page.hits} if reading.page else set()


def _captured() -> dict[str, tuple[bytes, bytes]]:
    captures = os.environ.get("SEARX_MCP_CAPTURES")
    folder = Path(captures) / "searxng-captures" / "all" if captures else None
    if folder is None or not folder.is_dir():
        return {}
    return {
        name: (
            (folder / "html" / f"{name}.html").read_bytes(),
            (folder / "json" / f"{name}.json").read_bytes(),
        )
        for name in CATEGORIES
    }


async def _served() -> dict[str, tuple[bytes, bytes]]:
    async with (
        FakeSearxng(formats=("html", "json"), page_size=20) as instance,
        aiohttp.ClientSession() as http,
    ):
        pages = {}
        for name in CATEGORIES:
            address = f"{instance.url}search?q=hello&categories={name}"
            async with http.get(address) as page, http.get(f"{address}&format=json") as text:
                pages[name] = (await page.read(), await text.read())
        return pages


if __name__ == "__main__":
    main()
