"""The table of known clients, and what it decides."""

import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import fields
from types import SimpleNamespace
from typing import Any, NoReturn

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import Implementation
from typing_extensions import override

from searx_mcp.errors import SearxMcpError
from searx_mcp.evidence.requests import AnswerRequest
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.request import SearchRequest
from searx_mcp.server.app import build_server
from searx_mcp.server.calls import (
    UNKNOWN,
    Channels,
    KnownClient,
    VisiblePart,
    known_client,
    known_clients,
    wants_structured,
)
from searx_mcp.settings.values import Settings
from tests.doubles.service import PartOfService

FACTS = {each.name for each in fields(KnownClient)} - {"title", "names", "source"}

NAMES = [
    ("claude-code", "Claude Code"),
    ("Claude-Code", "Claude Code"),
    (" claude-code ", "Claude Code"),
    ("claude-code (via mcp-remote 0.1.37)", "Claude Code"),
    ("claude-ai", "Claude Desktop, claude.ai"),
    ("ChatGPT", "ChatGPT"),
    ("openai-mcp", "ChatGPT"),
    ("Codex", "Codex"),
    ("codex-mcp-client", "Codex"),
    ("cursor-vscode", "Cursor"),
    ("Cursor-VSCode", "Cursor"),
    ("Visual Studio Code", "Visual Studio Code"),
    ("Visual Studio Code - Insiders", "Visual Studio Code"),
    ("Visual-Studio-Code", "Visual Studio Code"),
    ("copilot-cli", "GitHub Copilot CLI"),
    ("gemini-cli-mcp-client", "Gemini CLI"),
    ("qwen-cli-mcp-client-searx", "Qwen Code"),
    ("@cline/core", "Cline CLI"),
    ("kilo", "Kilo Code"),
    ("kimi-code", "Kimi Code"),
    ("JetBrains-IU-copilot-intellij", "GitHub Copilot in JetBrains IDEs"),
    ("@librechat/api-client", "LibreChat"),
    ("@n8n/n8n-nodes-langchain.mcpClientTool", "n8n"),
    ("Jan-Streamable-Client", "Jan"),
    ("windsurf-client", "Windsurf"),
    ("mcp", "Python SDK without a name: Open WebUI, mcpo, LangChain"),
    (" " * 50 + "claude-code", "Claude Code"),
    (" " * 60 + "claude-code", ""),
    ("claude-code-router", ""),
    ("mcp-client", ""),
    ("a test", ""),
    ("", ""),
]


@pytest.mark.parametrize(("name", "title"), NAMES)
def test_a_client_is_found_by_the_name_that_it_gives(name, title):
    assert known_client(name).title == title


@pytest.mark.parametrize("client", known_clients(), ids=lambda client: client.title)
def test_a_client_has_a_source_for_each_fact_and_no_other(client):
    known = {fact for fact in FACTS if getattr(client, fact) is not None}
    assert set(client.source) == known
    assert all(len(source) > 10 for source in client.source.values())
    assert client.names
    for name in client.names:
        assert known_client(name.rstrip("*")) is client or name.endswith("-*")
        assert known_client(name.replace("*", "x")) is client


def test_no_name_belongs_to_two_clients():
    names = [name for client in known_clients() for name in client.names]
    assert len(names) == len(set(names))
    assert len({client.title for client in known_clients()}) == len(known_clients())


@pytest.mark.parametrize(
    "name",
    [
        "x" * 1_000_000,
        "claude-code" + "x" * 1_000_000,
        "(" * 1_000_000,
        " (via " * 200_000,
        "\x00\ud800\u202eclaude-code",
        "claude-code\n",
        "*",
        ".*",
    ],
    ids=range(8),
)
def test_a_strange_name_is_looked_up_like_any_other(name):
    known_client("")
    tracemalloc.start()
    found = known_client(name)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found is (known_client("claude-code") if name.strip() == "claude-code" else UNKNOWN)
    assert peak < 10_000


@pytest.mark.parametrize(
    ("structured", "auto"),
    [
        (None, True),
        (VisiblePart.TEXT, True),
        (VisiblePart.STRUCTURED, False),
        (VisiblePart.BOTH, False),
    ],
)
def test_structured_content_goes_to_clients_that_are_not_known_to_show_it(structured, auto):
    client = KnownClient(structured=structured)
    assert wants_structured("auto", client) is auto
    assert wants_structured("on", client)
    assert not wants_structured("off", client)


@pytest.mark.parametrize(
    ("client", "tokens", "within"),
    [
        (UNKNOWN, 200_000, 200_000),
        (KnownClient(result_tokens=25_000), 200_000, 25_000),
        (KnownClient(result_tokens=25_000), 6_000, 6_000),
        (KnownClient(result_chars=40_000), 200_000, 10_000),
        (KnownClient(result_tokens=9_000, result_chars=40_000), 200_000, 9_000),
    ],
)
def test_a_result_has_the_size_that_its_client_shows_whole(client, tokens, within):
    assert client.within(tokens) == within


@pytest.mark.parametrize(
    ("deadline", "seconds", "within"), [(None, 600, 600), (60, 50, 50), (30, 50, 25), (300, 50, 50)]
)
def test_a_call_ends_before_its_client_gives_up(deadline, seconds, within):
    assert KnownClient(deadline=deadline).in_time(seconds) == within


class Asked(PartOfService):
    """Notes what it is asked for, and answers with an error."""

    def __init__(self) -> None:
        self.requests: list[SearchRequest | FetchRequest | AnswerRequest] = []

    def _noted(self, request: SearchRequest | FetchRequest | AnswerRequest) -> NoReturn:
        self.requests.append(request)
        raise SearxMcpError("Noted")

    @override
    async def search(self, request, /, *, progress=None):
        self._noted(request)

    @override
    async def fetch(self, request, /, *, progress=None):
        self._noted(request)

    @override
    async def answer(self, request, /, *, progress=None):
        self._noted(request)


@asynccontextmanager
async def named(
    settings: Settings, service: Asked, name: str, mode: str = "auto"
) -> AsyncIterator[Client]:
    info = Implementation(name=name, version="1")
    server = build_server(settings, service=service)
    async with Client(server, mode=mode, client_info=info) as client:
        yield client


@asynccontextmanager
async def named_over_http(
    settings: Settings, service: Asked, name: str, mode: str
) -> AsyncIterator[Client]:
    app = build_server(settings, service=service).streamable_http_app()
    transport = httpx2.ASGITransport(app=app)
    async with app.router.lifespan_context(app):
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
            streams = streamable_http_client("http://127.0.0.1:8000/mcp", http_client=http)
            info = Implementation(name=name, version="1")
            async with Client(streams, mode=mode, client_info=info) as client:
                yield client


@pytest.mark.parametrize("connected", [named, named_over_http], ids=["in memory", "over HTTP"])
@pytest.mark.parametrize(("mode", "era"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
@pytest.mark.parametrize(("name", "attached"), [("claude-code", False), ("Zed", True)])
async def test_the_name_of_a_client_is_seen_in_both_eras(
    settings_for, connected, mode, era, name, attached
):
    async with connected(settings_for(), Asked(), name, mode) as client:
        assert client.protocol_version == era
        for tool, arguments in (
            ("web_search", {"query": "x"}),
            ("web_fetch", {"url": "https://example.org/"}),
            ("answer", {"query": "x"}),
        ):
            result = await client.call_tool(tool, arguments)
            assert (result.structured_content is not None) is attached


def test_who_does_not_say_its_name_gets_what_an_unknown_client_gets(settings_for):
    session = SimpleNamespace(client_params=None)
    asking = SimpleNamespace(session=session)
    context: Any = SimpleNamespace(request_context=asking, protocol_version="2025-11-25")
    channels = Channels(settings_for())
    assert (channels.seconds(context), channels.tokens(90_000, context)) == (50, 90_000)
    assert channels.succeeded("text", lambda: {"a": 1}, context).structured_content == {"a": 1}


@pytest.mark.parametrize(
    ("name", "tokens"), [("a test", 200_000), ("claude-code", 25_000), ("codex-mcp-client", 10_000)]
)
async def test_a_call_cannot_name_a_larger_result_than_its_client_shows(settings_for, name, tokens):
    settings, service = settings_for(server={"fetch_token_limit": 200_000}), Asked()
    async with named(settings, service, name) as client:
        await client.call_tool("web_search", {"query": "x", "max_tokens": 200_000})
        await client.call_tool("answer", {"query": "x", "max_tokens": 200_000})
        await client.call_tool("web_fetch", {"url": "https://a.example/", "max_chars": 1_000_000})
    search, answer, fetch = service.requests
    assert isinstance(search, SearchRequest)
    assert isinstance(answer, AnswerRequest)
    assert isinstance(fetch, FetchRequest)
    assert search.max_tokens == answer.max_tokens == tokens
    assert fetch.max_chars == min(1_000_000, tokens * 10), "of blanks, a token holds ten"


@pytest.mark.parametrize(
    ("name", "chosen", "seconds"),
    [("a test", {}, 50), ("Zed", {}, 50), ("Jan", {}, 25), ("Jan", {"tool_timeout": 110}, 110)],
)
async def test_a_call_has_the_time_that_its_client_waits_unless_the_operator_knows_better(
    settings_for, name, chosen, seconds
):
    settings, service = settings_for(server=chosen), Asked()
    async with named(settings, service, name) as client:
        await client.call_tool("web_search", {"query": "x", "timeout": 120})
        await client.call_tool("web_fetch", {"url": "https://a.example/", "timeout": 120})
        await client.call_tool("answer", {"query": "x", "timeout": 120})
    search, fetch, answer = service.requests
    assert search.timeout == fetch.timeout == seconds
    assert answer.timeout == pytest.approx(seconds - 3, abs=1)
