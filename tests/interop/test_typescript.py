"""The official client in TypeScript, the second implementation of the protocol, uses our server.

It checks structured content against the schema that a tool was listed with, and refuses what does not fit.
"""

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Self

import pytest

from searx_mcp.server.app import build_server
from searx_mcp.server.guidance import HELP, INSTANCES
from searx_mcp.settings.server import HttpConfig
from searx_mcp.settings.tools import PROFILES
from searx_mcp.settings.values import Settings
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb
from tests.doubles.serving import in_turn, serving
from tests.doubles.watched import Watched

pytestmark = pytest.mark.slow

PATIENCE = 60
"""Seconds until a test fails that would hang; nothing is measured."""
TOKEN = "0123456789abcdef"
MODERN = "2026-07-28"
LEGACY = "2025-11-25"
FACT = "A colony stores 27 kilograms of honey for winter."


@pytest.fixture(scope="module")
def anyio_backend(backend_at: Any) -> Any:
    """One loop for all tests of the module, as they share servers."""
    return backend_at(1.0)


class Refused(Exception):  # noqa: N818 - the answer of the client
    """What the client threw.

    Attributes:
        said: its `name`, `code`, `message` and `data`.
    """

    def __init__(self, said: dict[str, Any]) -> None:
        super().__init__(said)
        self.said = said


@dataclass(frozen=True)
class Order:
    """What the client was told to do.

    Attributes:
        answer: what comes of it.
        progress: each report, as it arrives.
    """

    answer: "asyncio.Future[Any]"
    progress: "asyncio.Queue[Any]"


class TypeScript:
    """The client, in a process of Node that takes orders.

    Args:
        process: that runs `client.mjs`.
    """

    def __init__(self, process: Process) -> None:
        self._process = process
        self._numbers = count()
        self._orders: dict[int, Order] = {}

    @classmethod
    @asynccontextmanager
    async def started(cls, node: Path, node_modules: Path) -> AsyncIterator[Self]:
        """Start it without a server."""
        script = Path(__file__).with_name("client.mjs")
        process = await asyncio.create_subprocess_exec(
            node, script, node_modules, stdin=PIPE, stdout=PIPE, limit=1 << 24
        )
        try:
            async with asyncio.TaskGroup() as group:
                client = cls(process)
                listening = group.create_task(client.listen())
                yield client
                listening.cancel()
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.communicate()

    async def listen(self) -> None:
        """Hand out what it tells, until it has gone."""
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            told = json.loads(line)
            order = self._orders[told["number"]]
            if "progress" in told:
                order.progress.put_nowait(told["progress"])
            elif "error" in told:
                order.answer.set_exception(Refused(told["error"]))
            else:
                order.answer.set_result(told["value"])

    def give(self, order: str, **rest: Any) -> Order:
        """Give an order of `client.mjs`."""
        assert self._process.stdin is not None
        number = next(self._numbers)
        given = Order(asyncio.get_running_loop().create_future(), asyncio.Queue())
        self._orders[number] = given
        line = json.dumps({"number": number, "order": order, **rest})
        self._process.stdin.write(line.encode() + b"\n")
        return given

    async def do(self, order: str, **rest: Any) -> Any:
        """Give an order, and wait for what comes of it.

        Raises:
            Refused: the client threw an error.
        """
        async with asyncio.timeout(PATIENCE):
            return await self.give(order, **rest).answer

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool."""
        return await self.do("call", name=tool, args=arguments)


class Instance(Watched, FakeSearxng):
    """An instance that finds the page about winter."""


class Site(Watched, FakeWeb):
    """A page about winter, and every other page, which never comes."""

    def __init__(self) -> None:
        page = FakePage(f"<title>Winter</title><article><h1>Winter</h1><p>{FACT}</p></article>")
        pages = {"/robots.txt": FakePage(status=404), "/winter": page}
        super().__init__(pages, otherwise=lambda _: FakePage(silent=True))


@pytest.fixture(scope="module")
async def site() -> AsyncIterator[Site]:
    async with Site() as site:
        yield site


@pytest.fixture(scope="module")
async def instance(site: Site) -> AsyncIterator[Instance]:
    async with Instance(links=[site.url("/winter")], formats=["html", "json"]) as instance:
        yield instance


@pytest.fixture(scope="module")
def tables(site: Site, instance: Instance) -> dict[str, dict[str, Any]]:
    """The settings of a server that asks these two."""
    return {
        "fetch": {"allow_private": [site.origin], "host_rate": 6_000},
        "instances": {"own": [instance.url], "public": "off"},
        "open_sources": {"mode": "off"},
        "search": {"attempt_timeout": 20},
        "server": {"structured_output": "on"},
    }


def process(tables: dict[str, dict[str, Any]], folder: Path) -> dict[str, Any]:
    """A server as a host starts it. JSON of text and lists is TOML."""
    config = folder / "searx-mcp.toml"
    lines = [
        line
        for name, table in {**tables, "storage": {"folder": str(folder)}}.items()
        for line in (f"[{name}]", *(f"{key} = {json.dumps(item)}" for key, item in table.items()))
    ]
    config.write_text("\n".join(lines))
    return {
        "command": sys.executable,
        "args": ["-m", "searx_mcp", "stdio"],
        "stderr": "ignore",  # it would be written between the dots of the tests
        "env": {**os.environ, "SEARX_MCP_CONFIG": str(config)},
    }


@asynccontextmanager
async def over_http(
    tables: dict[str, dict[str, Any]], folder: Path, port: int = 0
) -> AsyncIterator[str]:
    """A server in this process that wants a token, by the address of its endpoint."""
    settings = Settings.model_validate({**tables, "storage": {"folder": str(folder)}})
    async with serving(build_server(settings), HttpConfig(port=port, token=TOKEN)) as url:
        yield url


@dataclass(frozen=True)
class Host:
    """A client that is connected.

    Attributes:
        name: of the way to the server.
        client: it.
        revision: of the protocol, that both should speak.
        greeting: what the server said of itself.
        listed: its tools, resources and prompts.
    """

    name: str
    client: TypeScript
    revision: str
    greeting: dict[str, Any]
    listed: dict[str, Any]


# What the client does without being told is the handshake; `auto` asks which revisions there are.
WAYS = {
    "stdio-legacy": LEGACY, "stdio-auto": MODERN, "http-legacy": LEGACY, "http-auto": MODERN,
}  # fmt: skip


@pytest.fixture(scope="module", params=WAYS)
async def host(
    request: pytest.FixtureRequest,
    tables: dict[str, dict[str, Any]],
    node: Path,
    node_modules: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Host]:
    transport, mode = request.param.split("-")
    folder = tmp_path_factory.mktemp(request.param)
    async with AsyncExitStack() as stack:
        if transport == "http":
            url = await stack.enter_async_context(over_http(tables, folder))
            server: dict[str, Any] = {"url": url, "token": TOKEN}
        else:
            server = {"server": process(tables, folder)}
        client = await stack.enter_async_context(TypeScript.started(node, node_modules))
        greeting = await client.do("connect", mode=mode, **server)
        # From here on the client knows the schemas, and refuses what does not fit them.
        listed = await client.do("list")
        yield Host(request.param, client, WAYS[request.param], greeting, listed)


async def test_what_is_announced_is_there_and_nothing_else_is_announced(host: Host) -> None:
    assert host.greeting["version"] == host.revision
    announced = host.greeting["capabilities"]
    assert announced.keys() == {"tools", "resources", "prompts"}
    for said in announced.values():
        assert not any(said.values()), "lists do not change, and nobody can subscribe"
    assert "web_search" in host.greeting["instructions"]
    tools, resources, prompts = (host.listed[kind] for kind in ("tools", "resources", "prompts"))
    assert [tool["name"] for tool in tools] == [*PROFILES["default"]]
    assert all(tool["outputSchema"] for tool in tools)
    assert [resource["uri"] for resource in resources] == [INSTANCES, HELP]
    assert [prompt["name"] for prompt in prompts] == ["research"]


TOOLS = {
    "web_search": {"query": "bees in {place}"},
    "web_fetch": {"url": "{site}/{place}"},
    "read_page": {"url": "{site}/{place}", "query": "honey"},
    "answer": {"url": "{site}/{place}", "query": "How many kilograms of honey?"},
}


def filled(tool: str, site: Site, place: str) -> dict[str, str]:
    """The arguments of a call, of which `winter` is found, and what begins with `held/` never comes."""
    wanted = TOOLS[tool].items()
    return {key: text.format(site=site.base, place=place) for key, text in wanted}


@pytest.mark.parametrize("tool", TOOLS)
async def test_a_tool_gives_a_result_that_fits_its_schema(
    host: Host, site: Site, tool: str
) -> None:
    result = await host.client.call(tool, **filled(tool, site, "winter"))
    assert not result.get("isError")
    (content,) = result["content"]
    assert FACT in content["text"]
    assert FACT in json.dumps(result["structuredContent"])


@pytest.mark.parametrize("tool", TOOLS)
async def test_a_call_tells_how_far_it_is_and_a_cancelled_one_ends_in_the_server(
    host: Host, site: Site, instance: Instance, tool: str
) -> None:
    asked = instance if tool == "web_search" else site
    instance.hold()
    arguments = filled(tool, site, f"held/{host.name}")
    order = host.client.give("call", name=tool, args=arguments)
    async with asyncio.timeout(PATIENCE):
        # The client drops what arrives together with the result; this call has none.
        told = await order.progress.get()
        assert told["progress"] >= 0
        assert told["message"]
        await asked.until_waiting(1)
        await host.client.do("cancel")
        with pytest.raises(Refused, match="no longer wanted"):
            await order.answer
        await asked.until_waiting(0)
    instance.recover()


async def test_an_error_of_a_tool_is_a_result_and_one_of_the_protocol_is_thrown(host: Host) -> None:
    result = await host.client.call("web_fetch", url="http://192.168.0.1/")
    assert result["isError"]
    assert result["content"][0]["text"].startswith("Failed to fetch content: ")
    assert result["structuredContent"]["error_type"] == "blocked_address"
    with pytest.raises(Refused) as refused:
        await host.client.do("read", uri="searx://nothing")
    assert refused.value.said["code"] == -32602


async def test_resources_and_the_prompt_are_read(host: Host) -> None:
    (instances,) = (await host.client.do("read", uri=INSTANCES))["contents"]
    assert json.loads(instances["text"])
    (manual,) = (await host.client.do("read", uri=HELP))["contents"]
    assert "web_search" in manual["text"]
    question = "How do bees winter?"
    prompt = await host.client.do("prompt", name="research", args={"question": question})
    (message,) = prompt["messages"]
    assert question in message["content"]["text"]


async def test_a_client_goes_on_after_a_restart_of_the_server(
    tables: dict[str, dict[str, Any]], node: Path, node_modules: Path, tmp_path: Path
) -> None:
    async with TypeScript.started(node, node_modules) as client:
        async with over_http(tables, tmp_path) as url:
            await client.do("connect", url=url, token=TOKEN, mode="legacy")
            await client.call("web_search", query="bees")
        port = int(url.split(":")[2].split("/")[0])
        async with over_http(tables, tmp_path, port):
            result = await client.call("web_search", query="bees")
    assert FACT in result["content"][0]["text"]


async def test_two_servers_take_the_requests_of_a_client_in_turn(
    tables: dict[str, dict[str, Any]], node: Path, node_modules: Path, tmp_path: Path
) -> None:
    async with (
        asyncio.timeout(2 * PATIENCE),
        TypeScript.started(node, node_modules) as client,
        over_http(tables, tmp_path) as one,
        over_http(tables, tmp_path) as two,
        in_turn(one, two) as url,
    ):
        await client.do("connect", url=url, token=TOKEN, mode="legacy")
        results = [await client.call("web_search", query="bees") for _ in range(3)]
    assert all(FACT in result["content"][0]["text"] for result in results)
