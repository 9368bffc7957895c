"""A cancelled fetch leaves nothing behind, wherever it is cancelled."""

import asyncio
import threading

import pytest

from searx_mcp.content import convert as conversion
from searx_mcp.models.fetch_request import FetchRequest

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9999\r\n\r\n"
# Enough for connecting, a redirect, headers and body; each is checked to be reached.
TURNS = 60


async def loop_turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def until_only(tasks: set[asyncio.Task[object]]) -> None:
    """Let the server's own tasks end; one that a fetch left would stay."""
    async with asyncio.timeout(5):
        while asyncio.all_tasks() - tasks:
            await loop_turns(1)


@pytest.mark.parametrize(
    ("answer", "reached"),
    [
        (b"", "headers"),
        (HEAD, "body"),
        (HEAD + b"<p>Some of the text", "body"),
        (b"HTTP/1.1 403 Forbidden\r\nContent-Length: 99\r\n\r\n", "refusal"),
    ],
    ids=["in the headers", "before the body", "in the body", "in a refusal"],
)
async def test_a_fetch_cancelled_after_any_turn_leaves_no_task_and_no_connection(
    site, other, fetcher, answer, reached
):
    url = site.redirect("/", other.raw("/page", answer))
    before = asyncio.all_tasks()
    for turns in range(TURNS):
        async with asyncio.TaskGroup() as group:
            task = group.create_task(fetcher.fetch(FetchRequest(url=url)))
            await loop_turns(turns)
            assert not task.done()
            task.cancel()
        assert task.cancelled()
        await site.until_idle()
        await other.until_idle()
        await until_only(before)
    assert other.requests, f"the sweep never came to the {reached}"


async def test_a_fetch_cancelled_while_a_page_is_converted_ends_at_once(site, fetcher, monkeypatch):
    loop = asyncio.get_running_loop()
    entered, done = asyncio.Event(), threading.Event()

    def convert(*_args: object, **_kwargs: object) -> None:
        loop.call_soon_threadsafe(entered.set)
        done.wait(9)

    monkeypatch.setattr(conversion, "convert", convert)
    url = site.page("/", "<p>Some text")
    before = asyncio.all_tasks()
    try:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(fetcher.fetch(FetchRequest(url=url)))
            await entered.wait()
            task.cancel()
        assert task.cancelled()
        await site.until_idle()
        await until_only(before)
    finally:
        done.set()
