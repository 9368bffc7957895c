"""What the log of a server tells of real calls, and what it never tells."""

import asyncio
import logging
import re
from collections.abc import Iterator
from contextlib import suppress
from contextvars import copy_context
from typing import Any

import pytest
from mcp import Client, MCPError
from typing_extensions import override

from searx_mcp.cli.logs import LineFormatter
from searx_mcp.errors import DeadlineError, SearxMcpError
from searx_mcp.server.app import build_server
from searx_mcp.server.events import lifetime, warn_when_slow
from searx_mcp.settings.values import Settings
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, redirect
from tests.doubles.service import PartOfService

MARK = "zanzibar"
"""Stands in queries, addresses and pages, and in no log above DEBUG."""

PAGES = {
    f"/{MARK}": FakePage(f"<title>{MARK}</title><article><p>All of {MARK} is here.</p></article>"),
    f"/{MARK}/moved": redirect(f"/{MARK}/gone"),
    f"/{MARK}/cut": FakePage(f"<p>{MARK}</p>" * 99, cut_after=20),
    f"/{MARK}/deep": FakePage(f"<p>{MARK}" + "<div>" * 3_000, content_type="text/html"),
    f"/{MARK}/image": FakePage(MARK, content_type=f"image/{MARK}"),
}


class Lines(logging.Handler):
    """The lines of a log, without their time."""

    def __init__(self, *, debug: bool) -> None:
        super().__init__()
        self.setFormatter(LineFormatter(shows_messages=debug))
        self.lines: list[str] = []
        self.written = asyncio.Event()

    @override
    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record).partition("Z ")[2])
        self.written.set()

    @property
    def events(self) -> list[str]:
        return [line.split()[1] for line in self.lines]


@pytest.fixture
def log(request) -> Iterator[Lines]:
    """The log at INFO, or at the level that the test is parametrized with."""
    level = getattr(request, "param", logging.INFO)
    handler, root, ours = (
        Lines(debug=level == logging.DEBUG),
        logging.getLogger(),
        logging.getLogger("searx_mcp"),
    )
    before = ours.level
    root.addHandler(handler)
    ours.setLevel(level)
    yield handler
    ours.setLevel(before)
    root.removeHandler(handler)


class Broken(PartOfService):
    @override
    async def search(self, request, /, *, progress=None):
        raise RuntimeError(f"{request.query} broke it")


async def use(client: Client, site: FakeWeb) -> None:
    """Call every tool, in ways that work and in ways that do not."""
    url = site.url(f"/{MARK}")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("web_search", {"query": MARK}),
        ("web_search", {"query": MARK}),
        ("web_search", {"query": f"{MARK} empty", "queries": [MARK], "fetch_content": False}),
        ("web_search", {"query": MARK, "time_range": f"since {MARK}"}),
        ("web_search", {"query": MARK * 99}),
        ("web_fetch", {"url": f"http://[{MARK}"}),
        ("web_fetch", {"url": f"http://10.0.0.1/{MARK}"}),
        ("web_fetch", {"url": f"http://{MARK}.invalid/{MARK}"}),
        ("web_fetch", {"url": url, "cursor": MARK}),
        *(("web_fetch", {"url": site.url(path)}) for path in PAGES),
        ("web_fetch", {"url": url}),
        ("read_page", {"url": url, "queries": [MARK]}),
        ("read_page", {"url": f"{url}/gone", "queries": [MARK]}),
        ("answer", {"query": MARK, "urls": [url, f"{url}/gone"]}),
        ("ingest", {"urls": [url]}),
        ("search_corpus", {"query": MARK}),
        ("corpus_status", {"url": url}),
        (MARK, {"query": MARK}),
    ]
    for tool, arguments in calls:
        with suppress(MCPError):
            await client.call_tool(tool, arguments)
    with suppress(MCPError):
        await client.read_resource(f"searx://{MARK}")
    with suppress(MCPError):
        await client.get_prompt("research", {"question": MARK})


@pytest.mark.parametrize(
    ("log", "is_shown"), [(logging.INFO, False), (logging.DEBUG, True)], indirect=["log"]
)
async def test_no_query_no_address_and_no_page_is_logged_above_debug(
    log, is_shown, connect, settings_for, catalog_of
):
    async with FakeWeb(PAGES) as site, FakeSearxng(links=site.links[:2]) as instance:
        settings = settings_for(instance, site, server={"profile": "research"})
        async with connect(settings, catalog_of(instance)) as client:
            await use(client, site)
    async with Client(build_server(Settings(), service=Broken())) as client:
        await client.call_tool("web_search", {"query": MARK})
    assert {"server.call", "server.done", "server.call_failed"} <= {*log.events}
    shown = [line for line in log.lines if MARK in line]
    assert bool(shown) is is_shown, shown


async def test_a_call_is_told_with_what_came_of_it_and_its_size(
    log, connect, settings_for, catalog_of
):
    async with (
        FakeSearxng() as instance,
        connect(
            settings_for(instance), catalog_of(instance), mode="legacy", client_name="claude code"
        ) as client,
    ):
        await client.call_tool("web_search", {"query": "bees", "fetch_content": False})
        await client.call_tool("web_search", {"query": ""})
    assert [re.sub(r"=[0-9]+\b", "=N", line) for line in log.lines if "server." in line] == [
        'INFO server.call call=N tool=web_search client="claude code" protocol=N-11-25 caller=-',
        (
            "INFO server.done call=N tool=web_search code=ok ms=N text_chars=N text_tokens=N"
            " structured_chars=N"
        ),
        'INFO server.call call=N tool=web_search client="claude code" protocol=N-11-25 caller=-',
        (
            "INFO server.done call=N tool=web_search code=invalid_argument ms=N text_chars=N"
            " text_tokens=N structured_chars=N"
        ),
    ]


class Leaving(PartOfService):
    @override
    async def search(self, request, /, *, progress=None):
        self.left = copy_context()
        self.left.run(logging.getLogger("searx_mcp.a").info, "a.within")
        raise SearxMcpError("There is nothing.")


async def test_what_a_call_left_behind_is_told_without_its_number(log):
    service = Leaving()
    async with Client(build_server(Settings(), service=service)) as client:
        await client.call_tool("web_search", {"query": "bees"})
    service.left.run(logging.getLogger("searx_mcp.a").info, "a.later")
    assert log.lines[1] == "INFO a.within call=1"
    assert log.lines[-1] == "INFO a.later"


class Slow(PartOfService):
    @override
    async def search(self, request, /, *, progress=None):
        with suppress(TimeoutError):
            async with asyncio.timeout(request.timeout):
                await asyncio.Event().wait()
        raise DeadlineError("No instance answered")


async def test_a_call_that_takes_its_whole_time_is_told_twice(log):
    async with Client(build_server(Settings(), service=Slow())) as client:
        await client.call_tool("web_search", {"query": MARK, "timeout": 1})
    assert log.events == ["server.call", "server.slow", "server.timeout", "server.done"]
    assert log.lines[1:3] == [
        "WARNING server.slow call=1 limit_s=1 elapsed_s=0.8",
        "ERROR server.timeout call=1 limit_s=1",
    ]
    assert "code=deadline_exceeded" in log.lines[3]


async def test_a_search_without_results_is_warned_about(log, connect, settings_for, catalog_of):
    async with (
        FakeSearxng(results=[]) as instance,
        connect(settings_for(instance), catalog_of(instance)) as client,
    ):
        await client.call_tool("web_search", {"query": "bees"})
        await client.call_tool("web_search", {"query": "bees", "queries": ["wax"]})
    assert [line for line in log.lines if "server.empty" in line] == [
        "WARNING server.empty call=1",
        "WARNING server.empty call=2",
    ]


async def test_a_call_that_is_cancelled_says_so(log, connect, settings_for, catalog_of):
    async with FakeSearxng(hang=True) as hung:
        settings = settings_for(hung, search={"attempt_timeout": 30})
        async with connect(settings, catalog_of(hung)) as client, asyncio.TaskGroup() as group:
            call = group.create_task(client.call_tool("web_search", {"query": "bees"}))
            await hung.wait_for_requests(1)
            call.cancel()
    assert "code=cancelled" in next(line for line in log.lines if "server.done" in line)


async def test_four_fifths_of_a_deadline_are_warned_about(log):
    with warn_when_slow(60):
        await asyncio.sleep(0)
    assert log.lines == []
    with warn_when_slow(0.05):
        await log.written.wait()
    assert log.lines == ["WARNING server.slow limit_s=0.05 elapsed_s=0.04"]


NAME = "x y=1\nERROR server.done call=9 \x1b[31m\u202e token=hunter2hunter2"


async def test_the_name_of_a_client_is_no_line_and_no_field(log, connect, settings_for, catalog_of):
    async with (
        FakeSearxng() as instance,
        connect(settings_for(instance), catalog_of(instance), client_name=NAME) as client,
    ):
        await client.call_tool("web_search", {"query": "bees", "fetch_content": False})
    assert log.events == ["server.call", "server.done"]
    assert log.lines[0].isprintable()
    assert r'client="x y=1\nERROR server.done call=9 \u001b[31m\u202e token=…"' in log.lines[0]


@pytest.mark.parametrize(
    ("error", "reason"),
    [(None, "input_ended"), (asyncio.CancelledError(), "signal"), (OSError(), "OSError")],
)
def test_a_server_that_stops_says_why(log, error, reason):
    with suppress(OSError, asyncio.CancelledError), lifetime("stdio", profile="small") as start:
        start("")
        if error is not None:
            raise error
    assert log.events == ["server.start", "server.stop"]
    assert log.lines[1] == f"INFO server.stop transport=stdio reason={reason}"


def test_a_server_that_never_started_does_not_stop(log):
    with suppress(OSError), lifetime("stdio", profile="small"):
        raise OSError
    assert log.lines == []
