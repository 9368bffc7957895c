"""Every key of the `[markdown]` table changes what a client writes."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from searx_mcp import SearxClient
from searx_mcp.content.config import MarkdownConfig
from searx_mcp.models.page import Page
from searx_mcp.storage.memory import MemoryPageStore
from searx_mcp.testing.web import FakePage, FakeWeb

HTML = (
    "<title>Bees</title><article><h1>Bees</h1><h4>Deep</h4>"
    f"<p>{'Bees fly from flower to flower and back to their hive. ' * 5}"
    "See <a href='https://flowers.example/'>the flowers</a>.</p>"
    "<table><tr><th>Kind<th>Wings<tr><td>honey bee<td>4<tr><td>bumblebee<td>4</table>"
    "<p><img src='https://flowers.example/a.png' alt='a bee'> Seen in a garden.</p>"
    "<figure><img src='https://flowers.example/b.png'><figcaption>Its hive</figcaption></figure></article>"
)
NEITHER = "neither"
EFFECTS = [
    pytest.param("images", "alt", "[image: a bee] Seen", "/a.png", id="images alt"),
    pytest.param(
        "images", "links", "[image: a bee](https://flowers.example/a.png) Seen", "!", id="images links"
    ),
    pytest.param(
        "images", "inline", "![a bee](https://flowers.example/a.png)", NEITHER, id="images inline"
    ),
    pytest.param("images", "none", "Seen in a garden.", "image", id="images none"),
    pytest.param("tables", True, "| Kind | Wings |", NEITHER, id="tables"),
    pytest.param("tables", False, "honey bee", "|", id="no tables"),
    pytest.param("links", "inline", "[the flowers](https://flowers.example/)", "[1]", id="links inline"),
    pytest.param(
        "links", "footnotes", "[1]: https://flowers.example/", "](https", id="links footnotes"
    ),
    pytest.param("links", "none", "See the flowers.", "flowers.example", id="links none"),
    pytest.param("captions", True, "[caption: Its hive]", NEITHER, id="captions"),
    pytest.param("captions", False, "Seen in a garden.", "Its hive", id="no captions"),
    pytest.param("max_heading_level", 6, "\n#### Deep\n", NEITHER, id="all levels"),
    pytest.param("max_heading_level", 3, "\n**Deep**\n", "####", id="three levels"),
]  # fmt: skip


@pytest.fixture
async def web():
    async with FakeWeb({"/bees": FakePage(HTML)}) as web:
        yield web


async def fetch(settings_for: Callable[..., Any], web: FakeWeb, table: Any, **kept: Any) -> Page:
    settings = settings_for(web, markdown=table)
    async with asyncio.timeout(60), SearxClient(settings, **kept) as client:
        return await client.fetch(web.url("/bees"))


@pytest.mark.parametrize(("key", "value", "written", "not_written"), EFFECTS)
async def test_the_key_has_an_effect(settings_for, web, key, value, written, not_written):
    page = await fetch(settings_for, web, {key: value})
    assert written in page.markdown_content
    assert not_written not in page.markdown_content


def test_every_key_of_the_table_is_tried():
    assert {case.values[0] for case in EFFECTS} == set(MarkdownConfig.model_fields)


async def test_a_page_that_was_kept_is_not_shown_in_another_form(settings_for, web):
    pages = MemoryPageStore(max_bytes=1_000_000, max_age=3_600.0)
    with_links = await fetch(settings_for, web, {"links": "inline"}, pages=pages)
    without = await fetch(settings_for, web, {"links": "none"}, pages=pages)
    again = await fetch(settings_for, web, {"links": "inline"}, pages=pages)
    assert not without.from_cache
    assert without.markdown_content != with_links.markdown_content
    assert again.from_cache
    assert again.markdown_content == with_links.markdown_content
