"""Named tokens over real sockets: what each sees, may and has left, and whose a session is."""

import asyncio
import json
import logging
from collections.abc import Mapping
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp import Client
from typing_extensions import override

from searx_mcp.client.facade import SearxClient
from searx_mcp.server.app import build_server
from searx_mcp.settings.values import Settings
from searx_mcp.testing.web import FakePage, FakeWeb
from tests.doubles.service import PartOfService, found_nothing
from tests.doubles.serving import DEADLINE, HEADERS, HELLO, READY, connected, serving
from tests.doubles.tokens import new_token
from tests.server.conftest import text

pytestmark = pytest.mark.slow

MODES = ("auto", "legacy")
RIGHTS = {
    "all": "",
    "narrow": 'tools = ["web_search"]\n',
    "few": "per_minute = 2\n",
}


class Nothing(PartOfService):
    """Finds nothing."""

    @override
    async def search(self, request, /, *, progress=None):
        return found_nothing(request)


class Tokens:
    """A file of tokens, and the tokens themselves."""

    def __init__(self, path) -> None:
        self.path = path
        self.by_name: dict[str, str] = {}
        self._tables: dict[str, str] = {}
        for name, rights in RIGHTS.items():
            self.add(name, rights)

    def add(self, name: str, rights: str) -> None:
        self.by_name[name], lines = new_token(name)
        self._tables[name] = lines + rights
        self.write(*self._tables)

    def write(self, *names: str) -> None:
        self.path.write_text("[tokens]\n" + "".join(self._tables[name] for name in names))

    def header(self, name: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.by_name[name]}"}


@pytest.fixture
def tokens(tmp_path):
    """Give a file of three tokens."""
    return Tokens(tmp_path / "tokens.toml")


@pytest.fixture
def served(tokens):
    """Give what serves with that file."""

    @asynccontextmanager
    async def serve():
        settings = Settings.model_validate({"http": {"port": 0, "tokens_file": str(tokens.path)}})
        server = build_server(settings, service=Nothing())
        async with asyncio.timeout(DEADLINE), serving(server, settings.http) as url:
            yield url

    return serve


async def ask(
    url: str, headers: Mapping[str, str], message: object = None, method: str = "POST"
) -> httpx2.Response:
    async with httpx2.AsyncClient(trust_env=False, timeout=DEADLINE) as http:
        content = json.dumps(message)
        return await http.request(method, url, content=content, headers={**HEADERS, **headers})


def call() -> dict[str, object]:
    params = {"name": "web_search", "arguments": {"query": "bees"}}
    return {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_sees_and_calls_what_its_token_names(served, tokens, caplog, mode):
    caplog.set_level(logging.INFO, "searx_mcp.server")

    async def use(client: Client) -> tuple[list[str], str, str]:
        names = [tool.name for tool in (await client.list_tools()).tools]
        found = await client.call_tool("web_search", {"query": "bees"})
        refused = await client.call_tool("read_page", {"url": "not an address", "queries": "x"})
        return names, text(found), text(refused)

    async with served() as url:
        async with connected(url, mode=mode, token=tokens.by_name["all"]) as client:
            all_names, _, wrong = await use(client)
        async with connected(url, mode=mode, token=tokens.by_name["narrow"]) as client:
            names, found, refused = await use(client)
    assert all_names == ["web_search", "web_fetch", "read_page", "answer"]
    assert "does not allow" not in wrong
    assert names == ["web_search"]
    assert found.startswith("No search results")
    assert refused == "The token does not allow read_page: use the listed tools."
    said = [record.getMessage() for record in caplog.records]
    assert sum("server.call " in line and "caller=narrow" in line for line in said) == 2
    assert any("tool=read_page code=unauthorized" in line for line in said)
    for token in tokens.by_name.values():
        assert token not in caplog.text


async def test_each_namespace_has_a_corpus_of_its_own(tokens, settings_for):
    tokens.add("ours", 'namespace = "a"\n')
    tokens.add("also-ours", 'namespace = "a"\n')
    tokens.add("theirs", 'namespace = "b"\n')
    page = FakePage("<title>Bees</title><article><p>Bees dance to tell of flowers.</p></article>")
    tables = {
        "server": {"profile": "research"},
        "http": {"port": 0, "tokens_file": str(tokens.path)},
        "embedding": {"provider": "none"},
    }

    async def found(url: str, name: str) -> str:
        async with connected(url, token=tokens.by_name[name]) as client:
            question = {"query": "What do bees tell of?"}
            return text(await client.call_tool("search_corpus", question))

    async with asyncio.timeout(DEADLINE), FakeWeb({"/bees": page}) as web:
        settings = settings_for(web, **tables)
        async with (
            SearxClient(settings) as service,
            serving(build_server(settings, service=service), settings.http) as url,
        ):
            async with connected(url, token=tokens.by_name["ours"]) as client:
                await client.call_tool("ingest", {"url": web.url("/bees")})
            texts = {name: await found(url, name) for name in ("also-ours", "theirs", "all")}
            corpus = url.replace("/mcp", "/v1/corpus")
            kept = {
                name: (await ask(corpus, tokens.header(name), method="GET")).text
                for name in ("also-ours", "theirs", "all")
            }
    assert [name for name, text in texts.items() if "flowers" in text] == ["also-ours"]
    assert [name for name, text in kept.items() if "/bees" in text] == ["also-ours"]


async def test_a_session_is_of_the_token_that_opened_it_and_of_no_other(served, tokens):
    async with served() as url:
        opened = await ask(url, tokens.header("all"), HELLO)
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        assert (await ask(url, {**tokens.header("all"), **session}, READY)).status_code == 202
        stolen = await ask(url, {**tokens.header("narrow"), **session}, call())
        streamed = await ask(url, {**tokens.header("narrow"), **session}, None, "GET")
        ended = await ask(url, {**tokens.header("narrow"), **session}, None, "DELETE")
        own = await ask(url, {**tokens.header("all"), **session}, call())
    assert [answer.status_code for answer in (stolen, streamed, ended, own)] == [404] * 3 + [200]


async def test_a_token_without_calls_left_is_told_when_to_come_back(served, tokens):
    modern = {"MCP-Protocol-Version": "2026-07-28"}
    async with served() as url:
        async with connected(url, token=tokens.by_name["few"]) as client:
            for _ in range(2):
                assert not (await client.call_tool("web_search", {"query": "bees"})).is_error
            with pytest.raises(
                Exception, match=r"used up its quota of 2 calls a minute: try again in"
            ):
                await client.call_tool("web_search", {"query": "bees"})
            assert (await client.list_tools()).tools
        refused = await ask(url, {**tokens.header("few"), **modern}, call())
        other = await ask(url, tokens.header("all"), HELLO)
    error = refused.json()
    assert refused.status_code == 429
    assert error["id"] == 7
    assert error["error"]["data"]["code"] == "rate_limited"
    assert refused.headers["retry-after"] == str(error["error"]["data"]["retry_after"])
    assert other.status_code == 200


async def test_a_token_that_is_taken_back_is_refused_and_a_new_one_served(served, tokens):
    tokens.write("all")
    statuses: dict[str, list[int]] = {name: [] for name in RIGHTS}

    async def wait_for(url: str, name: str, status: int) -> None:
        # The file is looked at once a second.
        while (await ask(url, tokens.header(name), HELLO)).status_code != status:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.1)
        statuses[name].append(status)

    async with served() as url:
        await wait_for(url, "all", 200)
        await wait_for(url, "narrow", 401)
        tokens.write("narrow")
        await wait_for(url, "all", 401)  # first: what is right until then counts as no wrong token
        await wait_for(url, "narrow", 200)
        tokens.path.write_text("half a fi")
        await wait_for(url, "narrow", 200)
    assert statuses == {"all": [200, 401], "narrow": [401, 200, 200], "few": []}


async def test_whoever_asks_while_the_file_changes_is_served(served, tokens):
    async with served() as url, httpx2.AsyncClient(trust_env=False, timeout=DEADLINE) as http:
        headers, content = {**HEADERS, **tokens.header("all")}, json.dumps(HELLO)
        async with asyncio.TaskGroup() as group:
            asked = []
            for number in range(60):
                tokens.write("all", *(["few"] if number % 2 else []))
                asked.append(group.create_task(http.post(url, content=content, headers=headers)))
                await asyncio.sleep(0)
    assert {each.result().status_code for each in asked} == {200}
