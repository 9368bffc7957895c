"""A small site of linked pages, and clients that may read it."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any

import pytest

from searx_mcp import SearxClient
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb

COMMON = (
    "The valley lies between two ridges, and a railway has led through it since 1887.",
    "Its houses are built of grey stone, and the roofs are covered with slate from a quarry.",
)


def page(title: str, *parts: str) -> FakePage:
    """A page of paragraphs; a part that begins with a tag stands as it is."""
    body = "".join(part if part.startswith("<") else f"<p>{part}</p>" for part in parts)
    head = f"<head><title>{title}</title></head>"
    main = f"<main><article><h1>{title}</h1>{body}</article></main>"
    return FakePage(f"<!DOCTYPE html><html lang=en>{head}<body>{main}</body></html>")


VALLEY = {
    "/": page(
        "Marlow Valley",
        *COMMON,
        'Much is written about <a href="/dams">the dams of the valley</a>,'
        ' <a href="/birds">its birds</a> and <a href="/inns">its inns</a>.',
    ),
    "/dams": page(
        "Dams of the valley",
        "Three dams were built to keep the mills working through dry summers.",
        'The oldest has <a href="/tarn">a page of its own: Tarn Dam</a>.',
    ),
    "/tarn": page(
        "Tarn Dam",
        "The wall of Tarn Dam was finished in 1931 and is 43 metres high.",
        "Behind it lie nine million cubic metres of water.",
    ),
    "/birds": page(
        "Birds of the valley",
        "Ospreys have nested on the northern shore since 1998.",
        "A hide stands where the river leaves the lake, and it is open all year.",
    ),
    "/inns": page(
        "Inns of the valley",
        "The Grey Heron has eleven rooms and closes in January.",
        "The Slate has a garden, and serves trout on Fridays.",
    ),
}


@pytest.fixture
def page_of() -> Callable[..., FakePage]:
    return page


@pytest.fixture
async def valley() -> AsyncIterator[FakeWeb]:
    """A site whose first page leads to four others, one of them two links away: /dams, then /tarn."""
    async with FakeWeb(VALLEY) as web:
        yield web


@pytest.fixture
async def client_of(settings_for) -> AsyncIterator[Callable[..., Any]]:
    """Open clients that may reach some servers; instances among them are searched."""
    async with AsyncExitStack() as stack:

        async def make(*servers: Any, **tables: Mapping[str, Any]) -> SearxClient:
            own = [server for server in servers if isinstance(server, FakeSearxng)]
            tables["fetch"] = {"host_rate": 6_000, **tables.get("fetch", {})}
            settings = settings_for(*servers, own=own, **tables)
            return await stack.enter_async_context(SearxClient(settings))

        yield make


@pytest.fixture
async def client(client_of, valley: FakeWeb) -> SearxClient:
    """A client that may reach the valley alone."""
    opened: SearxClient = await client_of(valley)
    return opened
