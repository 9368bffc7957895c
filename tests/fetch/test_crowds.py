"""Many pages asked for at once."""

import asyncio

import pytest

from searx_mcp.errors import ErrorCode, TransportError
from searx_mcp.fetch import capture
from searx_mcp.models.fetch_request import FetchRequest

HALF = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 90\r\n\r\nThe first half, "
MANY = {"max_per_host": 64}


@pytest.fixture
def one_body(monkeypatch):
    """A single body may be in hand at a time."""
    monkeypatch.setattr(capture, "_BODIES", 1)


def start(fetcher, url, **fields):
    return asyncio.ensure_future(fetcher.fetch(FetchRequest(url=url, timeout=60, **fields)))


async def test_two_hundred_pages_asked_for_at_once_all_come(site, make_fetcher):
    fetcher = make_fetcher(fetch=MANY)
    urls = [
        site.page(f"/{number}", f"Page {number}.", content_type="text/plain")
        for number in range(200)
    ]
    pages = [await task for task in [start(fetcher, url) for url in urls]]
    assert [page.markdown_content for page in pages] == [f"Page {n}." for n in range(200)]


@pytest.mark.usefixtures("one_body")
async def test_a_site_that_is_silent_keeps_nobody_waiting(site, make_fetcher):
    fetcher = make_fetcher(fetch=MANY)
    silent = start(fetcher, site.raw("/silent", b""))
    await site.until_asked()
    page = await start(fetcher, site.page("/page", "Bees.", content_type="text/plain"))
    assert page.markdown_content == "Bees."
    silent.cancel()


@pytest.mark.usefixtures("one_body")
async def test_no_body_is_read_while_as_many_as_allowed_are_in_hand(site, make_fetcher):
    fetcher = make_fetcher(fetch=MANY)
    url = site.page("/page", "Bees.", content_type="text/plain")
    half = start(fetcher, site.raw("/half", HALF))
    while not fetcher._capturer._bodies.locked():  # noqa: ASYNC110 - no event tells
        await asyncio.sleep(0)
    with pytest.raises(TransportError) as caught:
        await fetcher.fetch(FetchRequest(url=url), deadline=asyncio.get_running_loop().time() + 0.5)
    assert caught.value.code is ErrorCode.TIMEOUT
    half.cancel()
    assert (await start(fetcher, url)).markdown_content == "Bees."
