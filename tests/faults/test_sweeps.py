"""Whatever wait of a fetch fails, and wherever it is cancelled: fault 46 of `test_table.py`.

The call is a whole one: names, connections, TLS, robots.txt, two redirects, a body in pieces, the
conversion and what is kept of it.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import count

import pytest
import trustme
from aiohttp.abc import AbstractResolver
from typing_extensions import override

from searx_mcp import SearxClient
from searx_mcp.errors import SearxMcpError
from searx_mcp.http.dialling import Dialling
from searx_mcp.models.page import Page
from searx_mcp.storage.sqlite_pages import open_store
from tests.doubles.internet import FakeInternet
from tests.doubles.raw import RawServer, response
from tests.doubles.waits import Waits

pytestmark = pytest.mark.slow

Result = Page | SearxMcpError | asyncio.CancelledError
NewClient = Callable[..., AbstractAsyncContextManager[SearxClient]]

MOST_WAITS = 400
DEADLINE = 12
PATIENCE = 6
"""The loop's seconds for which work may go on that nobody waits for; until its deadline is longer."""
TEXT = "<title>Arrived</title>" + "<p>Some words of a page that comes in several pieces.</p>" * 40
PLAIN, SAFE = "www.example.org", "safe.example.org"
CLOSE = {"Connection": "close"}


class SlowNames(AbstractResolver):
    """Answers after a while, so that there is a wait for it."""

    def __init__(self, inner: AbstractResolver) -> None:
        self._inner = inner

    @override
    async def resolve(self, *args, **kwargs):
        await asyncio.sleep(0.004)
        return await self._inner.resolve(*args, **kwargs)

    @override
    async def close(self) -> None:
        pass


def answering(body: str, **fields: str):
    async def answer(connection):
        await connection.send(response(body, headers=CLOSE, **fields))

    return answer


async def in_pieces(connection):
    """Send a page so that a reader has to wait for each piece."""
    whole = response(TEXT, headers=CLOSE)
    if connection.path == "/endless":
        whole = whole.replace(b"Content-Length: ", b"Content-Length: 9")
    for start in range(0, len(whole), 700):
        await connection.send(whole[start : start + 700])
        await asyncio.sleep(0.004)


async def never_ending(connection):
    await in_pieces(connection)
    await connection.hang()


def to(location: str):
    async def answer(connection):
        headers = {**CLOSE, "Location": location}
        await connection.send(response(status="302 Found", headers=headers))

    return answer


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
async def new_client(
    internet: FakeInternet, settings_of, authority, tmp_path
) -> AsyncIterator[NewClient]:
    """Give what opens a client beside two sites, the second of which has a certificate."""
    file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(file)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(SAFE).configure_cert(context)
    robots = answering("User-agent: *\nDisallow: /private\n", content_type="text/plain")
    usual = {"/robots.txt": robots, "/after": answering(TEXT)}
    plain = {**usual, "/": to(f"https://{SAFE}/"), "/endless": to(f"https://{SAFE}/endless")}
    safe = {**usual, "/": to("/page"), "/page": in_pieces, "/endless": never_ending}
    resolver = internet.dialling.resolver
    assert resolver is not None
    slow = Dialling(SlowNames(resolver), internet.dialling.dial)
    limits = {"web_fetch": {"default_timeout": DEADLINE}, "network": {"ca_file": str(file)}}
    settings = settings_of(**limits)
    numbers = count()

    @asynccontextmanager
    async def new_client(dialling: Dialling = slow) -> AsyncIterator[SearxClient]:
        """Open a client that knows nothing yet, no robots.txt either."""
        pages = None
        if dialling is slow:
            file = tmp_path / f"{next(numbers)}.sqlite"
            pages = open_store(file, max_bytes=1 << 24, max_age=86_400)
        async with SearxClient(settings, dialling=dialling, pages=pages) as client:
            await client._asking()  # loading code waits for nothing that a site could make fail
            yield client

    async with RawServer(plain) as one, RawServer(safe, ssl_context=context) as other:
        internet.host(PLAIN, one)
        internet.host(SAFE, other, port=443)
        yield new_client
        async with asyncio.timeout(20):
            await one.until_idle()
            await other.until_idle()


async def result_of(call: Awaitable[Page]) -> Result:
    try:
        async with asyncio.timeout(60):
            return await call
    except (SearxMcpError, asyncio.CancelledError) as error:
        return error


async def still_serves(client: SearxClient) -> bool:
    """Whether no slot and no connection is held: there is one of each for every host."""
    titles = set()
    async with asyncio.timeout(60):
        for url in (f"http://{PLAIN}/after", f"https://{SAFE}/after"):
            # A robots.txt that could not be read keeps programs out for a minute.
            titles.add((await client.fetch(url, ignore_robots=True)).title)
    return titles == {"Arrived"}


async def swept(
    new_client: NewClient, watch_tasks, *failures, path: str = "/", step: int = 1
) -> list[Result]:
    """Strike one wait of a call after the other, with the failures in turn; give how each call ended.

    The last one has no such wait, and ends as if nothing had been struck.
    """
    results: list[Result] = []
    for number in range(1, MOST_WAITS, step):
        waits = Waits(number, failures[number % len(failures)] if failures else None)
        async with watch_tasks(), new_client() as client:
            async with watch_tasks(PATIENCE):
                results.append(await result_of(waits.run(client.fetch(f"http://{PLAIN}{path}"))))
            assert await still_serves(client), f"wait {number}: {results[-1]!r}"
        if waits.count < number:
            return results
    pytest.fail("there were more waits than were tried")


async def test_a_call_that_is_not_struck_has_waits_of_every_kind(new_client):
    waits = Waits()
    async with new_client() as client:
        page = await waits.run(client.fetch(f"http://{PLAIN}/"))
    assert page.final_url == f"https://{SAFE}/page"
    assert page.redirect_count == 2
    assert 30 < waits.count < MOST_WAITS


def struck(error: type[Exception]):
    return lambda: error("struck")


@pytest.mark.parametrize(
    ("failures", "codes"),
    [
        pytest.param(
            [struck(OSError), struck(TimeoutError)],
            {"connection_error", "timeout"},
            id="46 OSError and TimeoutError in turn",
        ),
        pytest.param([struck(RuntimeError)], {"internal"}, id="46 RuntimeError"),
    ],
)
async def test_whichever_wait_fails_the_call_ends_in_a_page_or_a_typed_error(
    new_client, watch_tasks, failures, codes
):
    results = await swept(new_client, watch_tasks, *failures)
    assert all(isinstance(result, Page | SearxMcpError) for result in results), results
    assert isinstance(results[-1], Page)
    assert codes <= {result.code for result in results if isinstance(result, SearxMcpError)}


@pytest.mark.parametrize(("path", "step"), [("/", 1), ("/endless", 3)])
async def test_wherever_it_is_cancelled_a_call_leaves_nothing(new_client, watch_tasks, path, step):
    """Fault 46: cancellation at every wait; of a page without end, what is left would go on."""
    results = await swept(new_client, watch_tasks, path=path, step=step)
    assert all(isinstance(result, Page | asyncio.CancelledError) for result in results), results
    assert isinstance(results[-1], Page)
    assert results[-1].truncated == (path == "/endless")
    assert sum(isinstance(result, asyncio.CancelledError) for result in results) > 25 / step


async def test_after_any_turn_of_the_loop_a_call_can_be_cancelled(
    new_client, watch_tasks, internet
):
    """Fault 46: cancellation between the waits too, where nothing waits for a thread."""
    for turns in range(0, 160, 8):
        async with watch_tasks(), new_client(internet.dialling) as client:
            async with watch_tasks(PATIENCE), asyncio.TaskGroup() as group:
                task = group.create_task(client.fetch(f"http://{PLAIN}/endless"))
                for _ in range(turns):
                    await asyncio.sleep(0)
                task.cancel()
            assert task.cancelled()
            assert await still_serves(client), f"after {turns} turns"
    assert (internet.host(SAFE), 443) in internet.dialled
