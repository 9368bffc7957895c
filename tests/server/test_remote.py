"""The server as a thin client, through the official client of MCP."""

import pytest
from mcp import Client
from mcp.types import CallToolResult

from searx_mcp.server.app import build_server
from searx_mcp.settings.server import RemoteConfig
from searx_mcp.settings.values import Settings
from tests.doubles.raw import Connection, RawServer
from tests.doubles.serving import serving
from tests.remote.conftest import KEY, Proxy, answer
from tests.server.conftest import text
from tests.server.rest.conftest import Known


def settings(
    base: str, *, key: str = KEY, timeout: float = 20, profile: str = "default"
) -> Settings:
    remote = RemoteConfig.model_validate({"url": base, "key": key, "timeout": timeout})
    return Settings(remote=remote, server={"profile": profile})


async def call(client: Client, tool: str, **arguments: object) -> CallToolResult:
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    return result


async def test_a_search_and_a_page_have_the_specified_form() -> None:
    async with Proxy() as proxy, Client(build_server(settings(proxy.base))) as client:
        found = text(await call(client, "web_search", query="bees", results_count=2))
        page = text(await call(client, "web_fetch", url="https://a.example/"))
        proxy.rows = []
        none = text(await call(client, "web_search", query="bees"))
    lines = found.splitlines()
    assert lines[0] == "SEARCH RESULTS (2 found):"
    assert "1. Bees 1" in lines
    assert "URL: https://1.example/bees" in lines
    assert "Note: The remote service does not read result pages." in lines
    assert page.startswith("CONTENT from https://a.example/ (text/html, 2092 chars):")
    assert none.startswith("No search results found.")


async def test_only_the_tools_of_the_service_are_published_and_the_others_are_not_told_of() -> None:
    async with Proxy() as proxy, Client(build_server(settings(proxy.base))) as client:
        assert proxy.requests == [], "the first answer needs no network"
        listed = (await client.list_tools()).tools
        missing = await call(client, "answer", query="why?")
    assert [tool.name for tool in listed] == ["web_search", "web_fetch"]
    assert all("read_page" not in (tool.description or "") for tool in listed)
    assert missing.is_error
    assert "The remote service does not offer the tool answer" in text(missing)


async def test_a_description_names_no_tool_that_the_service_lacks() -> None:
    routes = {"routes": [{"path": "/v1/search"}]}
    async with RawServer({"/v1/capabilities": answer(200, routes)}) as raw:
        async with Client(build_server(settings(raw.url))) as client:
            (tool,) = (await client.list_tools()).tools
    assert tool.name == "web_search"
    assert "web_fetch" not in (tool.description or "")


async def test_all_tools_are_published_while_the_service_cannot_be_asked() -> None:
    async with RawServer() as closed:
        base = closed.url
    async with Client(build_server(settings(base))) as client:
        listed = (await client.list_tools()).tools
        failed = await call(client, "web_search", query="bees")
    assert len(listed) == 4
    assert failed.is_error
    assert "The remote service cannot be reached" in text(failed)


@pytest.mark.parametrize("tool", ["web_search", "web_fetch"])
async def test_a_wrong_key_is_told_by_the_name_of_its_variable(
    tool: str, caplog: pytest.LogCaptureFixture
) -> None:
    wrong = "wrong-0123456789"
    arguments = {"query": "bees"} if tool == "web_search" else {"url": "https://a.example/"}
    async with Proxy() as proxy, Client(build_server(settings(proxy.base, key=wrong))) as client:
        result = await call(client, tool, **arguments)
    assert result.is_error
    assert "authentication failed. Check SEARX_MCP_REMOTE_KEY" in text(result)
    assert wrong not in f"{result} {caplog.text}"


async def test_progress_of_the_service_reaches_the_client() -> None:
    told: list[str] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        del total
        told.append(f"{progress:g} {message}")

    async with serving(build_server(Settings(), service=Known())) as url:
        thin = build_server(settings(url.removesuffix("/mcp")))
        async with Client(thin) as client:
            arguments = {"query": "do they fly?"}
            result = await client.call_tool("answer", arguments, progress_callback=hear)
    assert not result.is_error
    assert told == [
        "1 asking the remote service",
        "2 reading 1 page",
        "3 the remote service is at work",
    ]


@pytest.mark.parametrize(
    ("remote", "chosen", "seconds"),
    [
        ({}, {}, 60),
        ({"timeout": 90}, {}, 90),
        ({}, {"tool_timeout": 20}, 20),
        ({"timeout": 30}, {"tool_timeout": 300}, 30),
        ({"timeout": 4}, {}, 4),
    ],
)
async def test_a_call_has_the_time_of_the_service_unless_the_operator_allows_less(
    remote: dict[str, float], chosen: dict[str, float], seconds: float
) -> None:
    thin = Settings(remote={"url": "http://127.0.0.1:9/", **remote}, server=chosen)
    service = Known()
    async with Client(build_server(thin, service=service)) as client:
        await call(client, "web_search", query="bees")
        await call(client, "web_search", query="bees", timeout=120)
        await call(client, "web_fetch", url="https://a.example/", timeout=120)
        await call(client, "answer", query="bees")
    usual, search, fetch, answer = service.asked
    assert usual.timeout is None, "the service knows what is usual"
    assert (search.timeout, fetch.timeout) == (min(seconds, 120), max(5, min(seconds, 120)))
    assert answer.timeout == pytest.approx(max(seconds - 3, 0.8 * seconds), abs=1)


@pytest.mark.parametrize(
    ("limit", "arguments", "ms", "advice"),
    [
        (0.3, {}, 300, "raise remote.timeout"),
        (20, {"timeout": 1}, 1_000, "Give a longer timeout, up to 20 seconds"),
    ],
    ids=["of the service", "of the call"],
)
async def test_a_service_that_hangs_is_told_with_the_milliseconds_that_it_had(
    limit: float, arguments: dict[str, float], ms: int, advice: str
) -> None:
    async def hang(connection: Connection) -> None:
        await connection.hang()

    async with RawServer({"/v1/tools/web_search": hang}) as raw:
        async with Client(build_server(settings(raw.url, timeout=limit))) as client:
            late = await call(client, "web_search", query="bees", **arguments)
    assert late.is_error
    assert f"timed out after {ms} ms" in text(late)
    assert advice in text(late)


async def test_chatgpt_searches_and_reads_through_the_service_too() -> None:
    async with Proxy() as proxy:
        async with Client(build_server(settings(proxy.base, profile="chatgpt"))) as client:
            listed = (await client.list_tools()).tools
            found = await call(client, "search", query="bees")
    assert [tool.name for tool in listed] == ["search", "fetch"]
    assert "https://1.example/bees" in text(found)
