"""Every tool in both eras of the protocol, over standard streams and over HTTP.

The clients are the official one. Over standard streams each has a process of its own; over HTTP all
share a server of this process. What a host sees of a tool is compared here; what a tool does, elsewhere.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.server.mcpserver import MCPServer
from mcp.types import CallToolResult, Implementation, TextContent, TextResourceContents

from searx_mcp.render.tokens import estimate
from searx_mcp.server.app import build_server
from searx_mcp.server.calls import KnownClient, VisiblePart, known_client, known_clients
from searx_mcp.settings.values import Settings
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb
from tests.doubles.serving import connected, in_turn, serving
from tests.doubles.watched import Watched

pytestmark = pytest.mark.slow

PATIENCE = 60
"""Seconds until a test fails that would hang; nothing is measured."""
FACT = "A colony stores 27 kilograms of honey for winter."
MODERN = "2026-07-28"
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
LATE = ("timeout", "deadline_exceeded", "no_instances_available")
"""What a call is given when its time is over: which of them depends on what was waited for last."""


@pytest.fixture(scope="module")
def anyio_backend(backend_at: Any) -> Any:
    """One loop for all tests of the module, as they share servers."""
    return backend_at(1.0)


class Site(Watched, FakeWeb):
    """Pages about bees, and `/held/...`, which never come."""

    def __init__(self) -> None:
        fact = f"<title>Winter</title><article><h1>Winter</h1><p>{FACT}</p></article>"
        long = "".join(f"<p>Sentence {n} on what keepers do with hives.</p>" for n in range(9_000))
        self._held = count()
        super().__init__(
            {
                "/robots.txt": FakePage(status=404),
                "/winter": FakePage(fact),
                "/bees": FakePage(
                    "<title>Bees</title><article><h1>Bees</h1><p>Bees dance to tell each other"
                    " where flowers are.</p></article>"
                ),
                "/long": FakePage(f"<title>Hives</title><article>{long}</article>"),
            },
            otherwise=lambda _: FakePage(silent=True),
        )

    def held(self) -> str:
        """The address of a page that never comes, a new one each time."""
        return self.url(f"/held/{next(self._held)}")


class Instance(Watched, FakeSearxng):
    """An instance that finds the page about bees."""


@dataclass
class World:
    """What the servers ask, and words that none of them has been asked for yet."""

    site: Site
    instance: Instance
    words: Iterator[int] = field(default_factory=count)

    def settings(self, folder: Path) -> dict[str, Any]:
        """The settings of a server that asks nothing else, and keeps pages in a folder."""
        return {
            "fetch": {"allow_private": [self.site.origin], "host_rate": 6_000},
            "instances": {"own": [self.instance.url], "public": "off"},
            "open_sources": {"mode": "off"},
            "server": {"profile": "research"},
            "storage": {"folder": str(folder)},
        }

    def server(self, folder: Path) -> MCPServer[None]:
        """A server of this process with these settings."""
        return build_server(Settings.model_validate(self.settings(folder)))


@pytest.fixture(scope="module")
async def world() -> AsyncIterator[World]:
    async with Site() as site:
        links = [site.url("/bees")]
        async with Instance(links=links, formats=["html", "json"]) as instance:
            yield World(site, instance)


@pytest.fixture
def site(world: World) -> Site:
    return world.site


@pytest.fixture
def silent_instance(world: World) -> Iterator[Instance]:
    """The instance, which does not answer until it recovers."""
    world.instance.hold()
    yield world.instance
    world.instance.recover()


@dataclass(frozen=True)
class Tool:
    """How a tool is called, and what comes of it. `{site}` is the site, `{new}` another word each time.

    Attributes:
        good: arguments of a call that succeeds.
        found: in both halves of its result.
        told: how its first and its last progress begin, if it tells any.
        wrong: arguments one of which is wrong.
        field: that one.
        held: arguments of a call that never ends, if it asks anybody.
    """

    good: dict[str, Any]
    found: str
    wrong: dict[str, Any]
    field: str
    told: tuple[str, str] | None = None
    held: dict[str, Any] | None = None


TOOLS = {
    "web_search": Tool(
        {"query": "bees {new}"}, "Bees dance",
        {"query": "bees", "results_count": "many"}, "results_count",
        ("asking http://127.0.0.1", "read 1 of 1 pages"),
        {"query": "held {new}", "timeout": 5},
    ),
    "web_fetch": Tool(
        {"url": "{site}/winter"}, FACT,
        {"url": "{site}/winter", "max_chars": []}, "max_chars",
        ("reading 127.0.0.1", "reading 127.0.0.1"),
        {"url": "{held}", "timeout": 5},
    ),
    "read_page": Tool(
        {"url": "{site}/winter?{new}", "query": "honey"}, FACT,
        {"url": "{site}/winter"}, "query",
        ("Checking if", "Indexed"),
        {"url": "{held}", "query": "honey", "timeout": 5},
    ),
    "answer": Tool(
        {"url": "{site}/winter", "query": "How many kilograms of honey for winter?"}, FACT,
        {"query": "honey", "intent": "guess"}, "intent",
        ("Analyzing query", "Assembling results"),
        {"url": "{held}", "query": "honey", "timeout": 5},
    ),
    "search_corpus": Tool(
        {"query": "How many kilograms of honey for winter?"}, FACT,
        {"query": "honey", "top_k": "many"}, "top_k",
        ("Searching", "Assembling results"),
    ),
    "corpus_status": Tool(
        {}, "{site}/winter",
        {"include_urls": "perhaps"}, "include_urls",
    ),
    "ingest": Tool(
        {"url": ["{site}/bees?{new}"]}, "{site}/bees",
        {}, "url",
        ("Checking if", "Indexed"),
        {"url": "{held}", "timeout": 5},
    ),
}  # fmt: skip
HELD = [name for name, tool in TOOLS.items() if tool.held]


class Host:
    """What starts a client of a server, or connects to one, and calls its tools.

    Attributes:
        client: the official one.
        folder: of the server, if it is a process of the host's.
        is_here: whether the server shares this process, and its clock.
    """

    client: Client

    def __init__(
        self,
        world: World,
        connect: Callable[[], AbstractAsyncContextManager[Client]],
        folder: Path | None = None,
    ) -> None:
        self.world = world
        self.folder = folder
        self.is_here = folder is None
        self._connect = connect
        self._stack = AsyncExitStack()

    async def open(self) -> None:
        self.client = await self._stack.enter_async_context(self._connect())

    async def aclose(self) -> None:
        await self._stack.aclose()

    async def call(self, tool: str, arguments: dict[str, Any], **options: Any) -> CallToolResult:
        """Call a tool with what is to be filled in filled in."""
        world = self.world
        said = json.dumps(arguments).replace("{site}", world.site.base)
        said = said.replace("{held}", world.site.held()).replace("{new}", f"{next(world.words)}")
        async with asyncio.timeout(PATIENCE):
            result = await self.client.call_tool(tool, json.loads(said), **options)
        assert isinstance(result, CallToolResult)
        return result

    async def good(self, tool: str) -> CallToolResult:
        """Call a tool so that it succeeds."""
        result = await self.call(tool, TOOLS[tool].good)
        assert not result.is_error, text_of(result)
        return result


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def halves(result: CallToolResult) -> tuple[str, str]:
    assert result.structured_content is not None
    return text_of(result), json.dumps(result.structured_content, ensure_ascii=False)


def process(world: World, folder: Path) -> StdioServerParameters:
    """A server as a host starts it; the file `pid` of the folder names its process."""
    program = (
        "import os, pathlib, searx_mcp.cli.main as command\n"
        f"pathlib.Path({str(folder / 'pid')!r}).write_text(str(os.getpid()))\n"
        "command.main(['stdio'])"
    )
    return StdioServerParameters(
        command=sys.executable, args=["-c", program], env=environment(world, folder)
    )


def environment(world: World, folder: Path) -> dict[str, str]:
    """The environment of a process that keeps pages in a folder."""
    config = folder / "searx-mcp.toml"
    config.write_text(toml(world.settings(folder / "kept")))
    return {**os.environ, "SEARX_MCP_CONFIG": str(config)}


def toml(tables: dict[str, Any]) -> str:
    """The tables as a file; JSON of text and lists is TOML."""
    return "\n".join(
        line
        for name, table in tables.items()
        for line in (f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in table.items()))
    )


WAYS = [
    ("stdio", "auto"), ("stdio", "legacy"),
    ("http", "auto"), ("http", "legacy"), ("http", MODERN),
]  # fmt: skip


@pytest.fixture(scope="module", params=WAYS, ids=" ".join)
async def host(
    request: pytest.FixtureRequest,
    world: World,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Host]:
    """A host by one of the ways to a server of its own that keeps the page about winter."""
    transport, mode = request.param
    folder = tmp_path_factory.mktemp(f"{transport}-{mode}")
    async with AsyncExitStack() as stack:
        if transport == "stdio":
            parameters = process(world, folder)
            host = Host(world, lambda: Client(stdio_client(parameters), mode=mode), folder)
        else:
            url = await stack.enter_async_context(serving(world.server(folder)))
            host = Host(world, lambda: connected(url, mode=mode))
        await host.open()
        stack.push_async_callback(host.aclose)
        await host.call("ingest", {"url": "{site}/winter"})
        yield host


@pytest.mark.parametrize("tool", TOOLS)
async def test_a_tool_gives_both_halves_of_its_result(host: Host, site: Site, tool: str) -> None:
    result = await host.good(tool)
    for half in halves(result):
        assert TOOLS[tool].found.replace("{site}", site.base) in half


async def test_the_tools_are_listed(host: Host) -> None:
    listed = await host.client.list_tools()
    assert [tool.name for tool in listed.tools] == [*TOOLS]


async def test_what_is_no_tool_is_there_as_well(host: Host) -> None:
    client = host.client
    listed = await client.list_resources()
    assert {f"{resource.uri}" for resource in listed.resources} == {
        "searx://instances",
        "searx://help",
    }
    for uri, wanted in (
        ("searx://instances", host.world.instance.url),
        ("searx://help", "## search_corpus"),
    ):
        (content,) = (await client.read_resource(uri)).contents
        assert isinstance(content, TextResourceContents)
        assert wanted in content.text
    (prompt,) = (await client.list_prompts()).prompts
    (message,) = (await client.get_prompt(prompt.name, {"question": "Why do bees dance?"})).messages
    assert isinstance(message.content, TextContent)
    assert "Why do bees dance?" in message.content.text
    with pytest.raises(MCPError, match="question: is missing"):
        await client.get_prompt(prompt.name, {})


@pytest.mark.parametrize("tool", [name for name, tool in TOOLS.items() if tool.told])
async def test_progress_arrives_in_order_and_before_the_result(host: Host, tool: str) -> None:
    told: list[tuple[float, str]] = []

    async def tell(progress: float, _: float | None, message: str | None) -> None:
        told.append((progress, message or ""))

    await host.call(tool, TOOLS[tool].good, progress_callback=tell)
    arrived = [number for number, _ in told]
    assert arrived == [*range(1, len(told) + 1)]
    first, last = TOOLS[tool].told or ("", "")
    assert told[0][1].startswith(first)
    assert told[-1][1].startswith(last)


@pytest.mark.parametrize("tool", TOOLS)
async def test_a_wrong_argument_is_named_in_both_halves(host: Host, tool: str) -> None:
    result = await host.call(tool, TOOLS[tool].wrong)
    assert result.is_error
    for half in halves(result):
        assert "invalid_argument" in half
        assert TOOLS[tool].field in half
    assert (result.structured_content or {})["field"] == TOOLS[tool].field


async def test_a_tool_that_is_not_there_is_an_answer(host: Host) -> None:
    result = await host.call("google", {"q": "bees"})
    assert result.is_error
    assert text_of(result) == f"Unknown tool: 'google'. This server has: {', '.join(TOOLS)}."
    await host.good("corpus_status")


async def test_calls_at_the_same_time_get_their_own_answers(host: Host) -> None:
    async def find(query: str) -> None:
        result = await host.call("web_search", {"query": query, "fetch_content": False})
        assert (result.structured_content or {})["query"] == query

    async def use(tool: str) -> None:
        assert TOOLS[tool].found.replace("{site}", host.world.site.base) in text_of(
            await host.good(tool)
        )

    async with asyncio.TaskGroup() as group:
        for tool in TOOLS:
            group.create_task(find(f"bees for {tool} {next(host.world.words)}"))
            group.create_task(use(tool))


@pytest.mark.parametrize("tool", HELD)
async def test_what_a_client_cancels_asks_nobody_any_more(
    host: Host, tool: str, silent_instance: Instance
) -> None:
    asked = silent_instance if tool == "web_search" else host.world.site
    arguments = {**(TOOLS[tool].held or {})}
    arguments.pop("timeout")
    async with asyncio.TaskGroup() as group:
        call = group.create_task(host.call(tool, arguments))
        await asked.until_waiting(1)
        call.cancel()
    assert call.cancelled()
    await asked.until_waiting(0)
    silent_instance.recover()
    await host.good(tool)


@pytest.mark.parametrize("host", WAYS[2:], indirect=True, ids=" ".join)
async def test_a_client_that_leaves_takes_its_calls_with_it(host: Host) -> None:
    async def hold() -> None:
        with pytest.raises(MCPError):
            await host.call("web_fetch", {"url": "{held}"})

    async with asyncio.TaskGroup() as group:
        group.create_task(hold())
        await host.world.site.until_waiting(1)
        await host.aclose()
        await host.world.site.until_waiting(0)
    await host.open()
    await host.good("web_fetch")


async def test_calls_whose_time_is_over_say_so(
    host: Host, silent_instance: Instance, pass_by: Callable[[float], None]
) -> None:
    # The last one: an instance that kept silent is left alone for a while.
    async with asyncio.TaskGroup() as group:
        calls = {tool: group.create_task(host.call(tool, TOOLS[tool].held or {})) for tool in HELD}
        if host.is_here:
            await host.world.site.until_waiting(len(HELD) - 1)
            await silent_instance.until_waiting(1)
            pass_by(10)
    for tool, call in calls.items():
        result = call.result()
        assert result.is_error or tool == "ingest", text_of(result)
        for half in halves(result):
            assert any(code in half for code in LATE), half
    await host.world.site.until_waiting(0)
    await host.good("web_fetch")


@pytest.mark.parametrize("host", WAYS[:2], indirect=True, ids=" ".join)
async def test_a_process_that_is_killed_ends_its_calls_and_another_takes_over(host: Host) -> None:
    async def hold() -> None:
        with pytest.raises(MCPError, match="Connection closed"):
            await host.call("web_fetch", {"url": "{held}"})

    assert host.folder is not None
    async with asyncio.TaskGroup() as group:
        group.create_task(hold())
        await host.world.site.until_waiting(1)
        os.kill(int((host.folder / "pid").read_text()), KILL)
    with pytest.raises(MCPError, match="Connection closed"):
        await host.good("corpus_status")
    await host.world.site.until_waiting(0)
    await host.aclose()
    await host.open()
    asked = len(host.world.site.requests)
    await host.good("search_corpus")
    assert len(host.world.site.requests) == asked, "what was kept is kept"


@pytest.fixture(scope="module")
async def endpoint(world: World, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """A server over HTTP for whoever comes, by its address."""
    async with serving(world.server(tmp_path_factory.mktemp("anybody"))) as url:
        yield url


KINDS = {
    (each.structured, each.within(20_000)): each.names[0].removesuffix("*")
    for each in (*known_clients(), KnownClient(names=("a stranger",)))
}
"""A client for each kind of result that a page as long as can be asked for becomes."""
BOTH_ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])


@asynccontextmanager
async def visiting(world: World, url: str, mode: str, name: str) -> AsyncIterator[Host]:
    info = Implementation(name=name, version="1")
    host = Host(world, lambda: connected(url, mode=mode, client_info=info))
    await host.open()
    try:
        yield host
    finally:
        await host.aclose()


@BOTH_ERAS
@pytest.mark.parametrize("name", KINDS.values())
async def test_a_client_gets_what_it_is_known_to_show(
    world: World, endpoint: str, mode: str, name: str
) -> None:
    known = known_client(name)
    async with visiting(world, endpoint, mode, name) as host:
        result = await host.call("web_fetch", {"url": "{site}/long", "max_chars": 200_000})
    most = known.within(20_000)
    assert most * 0.9 < estimate(text_of(result)) <= most
    assert (result.structured_content is not None) == (known.structured in {None, VisiblePart.TEXT})


@pytest.mark.parametrize(
    ("version", "has_data"),
    [("2024-11-05", False), ("2025-03-26", False), ("2025-06-18", True), ("2025-11-25", True)],
)
async def test_a_client_of_an_older_revision_gets_what_that_has(
    world: World, endpoint: str, version: str, *, has_data: bool
) -> None:
    said = {
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "a", "version": "1"},
    }
    tool = {"name": "web_fetch", "arguments": {"url": world.site.url("/winter")}}
    headers = {"Accept": "application/json, text/event-stream"}
    async with httpx2.AsyncClient(trust_env=False, headers=headers, timeout=PATIENCE) as http:

        async def ask(method: str, params: dict[str, Any]) -> dict[str, Any]:
            body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            answer = await http.post(endpoint, json=body)
            if session := answer.headers.get("mcp-session-id"):
                http.headers.update({"mcp-session-id": session, "mcp-protocol-version": version})
            result: dict[str, Any] = json.loads(answer.text.partition("data: ")[2])["result"]
            return result

        assert (await ask("initialize", said))["protocolVersion"] == version
        await http.post(endpoint, json={"jsonrpc": "2.0", "method": "notifications/initialized"})
        result = await ask("tools/call", tool)
    assert FACT in result["content"][0]["text"]
    assert ("structuredContent" in result) == has_data


@BOTH_ERAS
@pytest.mark.parametrize(("name", "seconds"), [("a stranger", 50), ("jan", 25)])
async def test_a_client_that_waits_less_is_answered_earlier(
    world: World,
    endpoint: str,
    mode: str,
    name: str,
    seconds: int,
    pass_by: Callable[[float], None],
) -> None:
    async with visiting(world, endpoint, mode, name) as host, asyncio.TaskGroup() as group:
        call = group.create_task(host.call("web_fetch", {"url": "{held}", "timeout": 9}))
        await world.site.until_waiting(1)
        pass_by(10)
        assert f"a longer timeout, up to {seconds} seconds" in text_of(await call)


@pytest.fixture
def start_server(world: World, tmp_path: Path, start_program: Any) -> Callable[[int], Any]:
    """Start a process that serves over HTTP on a port, and keeps what it keeps where others of the test do."""

    async def start(port: int) -> Any:
        program = await start_program(
            *(sys.executable, "-m", "searx_mcp", "serve"),
            *("--transport", "streamable-http", "--port", f"{port}"),
            env=environment(world, tmp_path),
        )
        said = (await program.stderr.readline()).decode().split()
        assert said[-3:] == ["listening", "on", f"http://127.0.0.1:{port}/mcp"]
        return program

    return start


async def test_two_processes_take_the_requests_of_a_client_in_turn(
    world: World, unused_port: Callable[[], int], start_server: Any
) -> None:
    ports = [unused_port() for _ in range(2)]
    processes = [await start_server(port) for port in ports]
    async with (
        in_turn(*(f"http://127.0.0.1:{port}/mcp" for port in ports)) as url,
        visiting(world, url, "auto", "cursor") as modern,
        visiting(world, url, "legacy", "cursor") as old,
    ):
        results = [await host.good("web_fetch") for host in (modern, old) for _ in range(4)]
    assert all(FACT in text_of(result) for result in results)
    # As is known of this client, whichever process answers.
    assert not any(result.structured_content for result in results)
    for process in processes:
        process.terminate()
        _, said = await process.communicate()
        assert b"Traceback" not in said


async def test_a_process_over_http_that_is_killed_wedges_no_client(
    world: World, unused_port: Callable[[], int], start_server: Any
) -> None:
    port = unused_port()
    url = f"http://127.0.0.1:{port}/mcp"
    killed = await start_server(port)
    async with (
        visiting(world, url, "auto", "a") as modern,
        visiting(world, url, "legacy", "b") as old,
    ):
        listed = await modern.client.list_tools()
        assert listed.tools == (await old.client.list_tools()).tools
        killed.kill()
        await killed.wait()
        await start_server(port)
        for host in (modern, old) * 2:
            wrong = await host.call("web_search", {})
            assert "query: is missing" in text_of(wrong)
