"""Processes that read pages go wrong, or are left by those who wanted something of them."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from searx_mcp import SearxClient
from searx_mcp.errors import SearxMcpError
from searx_mcp.models.page import Page
from tests.doubles.raw import RawServer, response

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc"),
]

HOST = "fault.example.org"
PARAGRAPHS = 2_000
TEXT = "<title>Arrived</title>" + "<p>Some <b>words</b> of a page.</p>" * PARAGRAPHS
COUNT = 8
"""Pages at once, of which one is converted while the others wait."""


def children() -> set[int]:
    """The numbers of the processes that this one started, those that are dead included."""
    found: set[int] = set()
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # the thread has ended since
            found.update(map(int, (task / "children").read_text().split()))
    return found


@pytest.fixture
def pace() -> float:
    """Processes take the time they need here, which is not that of the loop."""
    return 1.0


@pytest.fixture
def before() -> set[int]:
    """What other tests started, such as a server that all of them share."""
    return children()


@pytest.fixture
async def client(internet, settings_of, before) -> AsyncIterator[SearxClient]:
    """A client with one process, and pages that it can read."""
    settings = settings_of(
        workers={"processes": 1},
        network={"max_connections": COUNT, "max_connections_per_host": COUNT},
        fetch={"max_per_host": COUNT},
        web_fetch={"max_content_size": 1 << 20},
    )
    async with RawServer({f"/{number}": response(TEXT) for number in range(COUNT)}) as server:
        internet.host(HOST, server)
        async with SearxClient(settings, dialling=internet.dialling, processes=True) as client:
            yield client
        assert children() == before


def fetching(client: SearxClient, count: int = COUNT) -> "list[asyncio.Future[Page]]":
    urls = [f"http://{HOST}/{number}" for number in range(count)]
    return [asyncio.ensure_future(client.fetch(url)) for url in urls]


async def test_pages_come_whole_from_one_process(client, before):
    pages = [await task for task in fetching(client)]
    assert {page.markdown_content.count("**words**") for page in pages} == {PARAGRAPHS}
    assert len(children() - before) == 1


@pytest.mark.parametrize("done", [0, 1, 5])
async def test_calls_that_are_all_cancelled_leave_a_client_that_works(client, done):
    tasks = fetching(client)
    while done > len(tasks) - len(waiting := [task for task in tasks if not task.done()]):
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    page = await client.fetch(f"http://{HOST}/7", force_refresh=True)
    assert page.markdown_content.count("**words**") == PARAGRAPHS


async def test_a_process_that_is_killed_costs_a_page_at_most_its_markup(client, before):
    await fetching(client, 1)[0]
    for _ in range(2):  # the second time, the process is one that came after another
        tasks = fetching(client)
        for number in children() - before:
            os.kill(number, signal.SIGKILL)
        endings = [await _ended(task) for task in tasks]
        assert all("words" in ending for ending in endings)
        assert sum("**words**" in ending for ending in endings) >= COUNT - 1


async def _ended(task: "asyncio.Future[Page]") -> str:
    try:
        return (await task).markdown_content
    except SearxMcpError as error:
        return str(error)


async def test_a_client_that_closes_in_the_middle_of_pages_leaves_no_process(client):
    tasks = fetching(client)
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    await client.aclose()
    endings = [await _ended(task) for task in tasks]
    assert any("closing" in ending for ending in endings)
