"""Who may send a request, which tools they may call, and how often."""

import base64
import json
from typing import Any

import pytest
from starlette.types import Scope

from searx_mcp.errors import SettingsError
from searx_mcp.server.http import OPERATIONS
from searx_mcp.server.identity import EVERYBODY, Identity
from searx_mcp.server.web.access import Access, tool_of
from searx_mcp.server.web.policy import HttpRefusal, Policy
from searx_mcp.settings.server import HttpConfig
from searx_mcp.settings.tools import Tool
from tests.doubles.tokens import new_token

TOKEN = "0123456789abcdef"


@pytest.fixture
def tokens(write_tokens):
    """Give the tokens of a file by name, and the settings that name it."""
    path, made = write_tokens(all="", narrow='tools = ["web_search"]\n', few="per_minute = 2\n")
    return made, HttpConfig(tokens_file=str(path))


def scope(path: str = "/mcp", method: str = "POST", client: str = "192.0.2.7") -> dict[str, Any]:
    return {"type": "http", "method": method, "path": path, "client": (client, 7)}


async def admitted(access: Access, authorization: str, **parts: str) -> Identity | HttpRefusal:
    headers = {b"authorization": authorization.encode()} if authorization else {}
    return await access.admit(scope(**parts), headers)


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


@pytest.mark.parametrize(
    ("name", "path", "status"),
    [
        ("all", "/mcp", None),
        ("all", "/v1/corpus/pages", None),
        ("narrow", "/mcp", None),
        ("narrow", "/v1/search", None),
        ("narrow", "/search", None),
        ("narrow", "/v1/tools/web_search", None),
        ("narrow", "/v1/tools/web_fetch", 403),
        ("narrow", "/v1/fetch", 403),
        ("narrow", "/v1/read", 403),
        ("narrow", "/v1/answer", 403),
        ("narrow", "/v1/corpus", 403),
        ("narrow", "/v1/corpus/search", 403),
        ("narrow", "/v1/corpus/anything", 403),
        ("narrow", "/v1/capabilities", None),
        ("nobody", "/mcp", 401),
        ("nobody", "/v1/fetch", 401),
    ],
)
async def test_a_token_opens_what_it_names(tokens, name, path, status):
    made, config = tokens
    made["nobody"] = new_token("nobody")[0]
    found = await admitted(Access(config), f"Bearer {made[name]}", path=path)
    if status is None:
        assert isinstance(found, Identity)
        assert found.name == name
    else:
        assert isinstance(found, HttpRefusal)
        assert found.status == status
        assert any(key == b"www-authenticate" for key, _ in found.headers) is (status == 401)
        assert made[name] not in repr(found)


@pytest.mark.parametrize(
    ("method", "path", "tool"),
    [
        ("GET", "/search", Tool.WEB_SEARCH),
        ("GET", "/v1/corpus", Tool.CORPUS_STATUS),
        ("POST", "/v1/corpus", Tool.INGEST),
        ("DELETE", "/v1/corpus", Tool.INGEST),
        ("POST", "/v1/corpus/search", Tool.SEARCH_CORPUS),
        ("POST", "/v1/corpus/ingest", Tool.INGEST),
        ("GET", "/v1/corpus/status", Tool.CORPUS_STATUS),
        ("POST", "/mcp", None),
        ("GET", "/v1/corpuses", None),
    ],
)
def test_a_route_is_allowed_to_whoever_may_use_its_tool(method, path, tool):
    assert tool_of(method, path) is tool


@pytest.mark.parametrize(
    ("user", "path", "serves"),
    [
        ("all", "/search", True),
        ("other", "/search", False),
        ("", "/search", False),
        ("all", "/mcp", False),
        ("all", "/v1/search", False),
    ],
)
async def test_clients_of_searxng_name_themselves_by_basic_authentication(
    tokens, user, path, serves
):
    made, config = tokens
    found = await admitted(Access(config), basic(user, made["all"]), path=path, method="GET")
    assert isinstance(found, Identity) is serves


def test_people_log_in_where_there_is_a_token(tokens):
    configs = (HttpConfig(), HttpConfig(token=TOKEN), tokens[1])
    assert [Access(config).wants_token for config in configs] == [False, True, True]


async def test_the_one_token_goes_with_any_user(tokens):
    access = Access(HttpConfig(token=TOKEN))
    assert await admitted(access, basic("anybody", TOKEN), path="/search") is EVERYBODY
    assert isinstance(await admitted(access, basic("", TOKEN[:-1]), path="/search"), HttpRefusal)


@pytest.mark.parametrize(
    "authorization",
    [
        "",
        "Basic",
        "Basic %%%",
        "Basic YQ=",
        "Basic OnA",
        "Basic YTo=",
        "Basic " + "A" * 4_000,
        "\xff",
    ],
)
async def test_what_is_no_user_and_no_token_is_asked_for_both(tokens, authorization):
    found = await admitted(Access(tokens[1]), authorization, path="/search", method="GET")
    assert isinstance(found, HttpRefusal)
    challenges = [value for key, value in found.headers if key == b"www-authenticate"]
    assert challenges == [
        b'Bearer realm="searx-mcp"',
        b'Basic realm="searx-mcp", charset="UTF-8"',
    ]


async def test_a_stranger_who_guesses_is_slowed_and_the_owner_is_not(tokens, caplog):
    made, config = tokens
    access = Access(config)
    wrong = f"Bearer {new_token('x')[0]}"
    found = [await admitted(access, wrong) for _ in range(12)]
    refusals = [each for each in found if isinstance(each, HttpRefusal)]
    assert [refusal.status for refusal in refusals] == [401] * 10 + [429] * 2
    assert 0 < refusals[-1].retry_after <= 61
    assert (b"connection", b"close") in refusals[-1].headers
    assert isinstance(await admitted(access, f"Bearer {made['all']}"), Identity)
    elsewhere = await admitted(access, wrong, client="192.0.2.8")
    assert isinstance(elsewhere, HttpRefusal)
    assert elsewhere.status == 401
    said = [r.getMessage() for r in caplog.records]
    assert said == ["server.wrong_tokens address=192.0.2.7"]


def posted(body: bytes, path: str = "/mcp") -> Scope:
    """The scope of a request with a body that is not refused."""
    found = Policy.with_message(scope(path), body)
    assert not isinstance(found, HttpRefusal)
    return found


async def test_calls_are_counted_by_name_and_other_requests_are_not(tokens, caplog):
    made, config = tokens
    access = Access(config)
    few = await admitted(access, f"Bearer {made['few']}")
    free = await admitted(access, f"Bearer {made['all']}")
    assert isinstance(few, Identity)
    assert isinstance(free, Identity)

    async def charged(who: Identity, path: str = "/mcp", body: object = None) -> HttpRefusal | None:
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"} if body is None else body
        return await access.charge(posted(json.dumps(call).encode(), path), who)

    for body in (
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 1, "method": ["tools/call"]},
    ):
        for _ in range(5):
            assert await charged(few, body=body) is None
    assert await charged(few, "/v1/capabilities") is None
    assert await charged(few) is None
    assert await charged(few, "/v1/search") is None
    refused = await charged(few)
    assert refused is not None
    assert refused.status == 429
    assert refused.code.value == "rate_limited"
    assert 0 < refused.retry_after <= 61
    assert refused.message == (
        "The token has used up its quota of 2 calls a minute: try again in"
        f" {refused.retry_after} seconds."
    )
    assert await charged(few, "/search") == refused
    for _ in range(50):
        assert await charged(free) is None
    assert {r.getMessage() for r in caplog.records} == {"server.quota_used caller=few"}


async def test_a_call_that_is_spelled_otherwise_counts_too(tokens):
    access, few = Access(tokens[1]), Identity("few", per_minute=1)
    body = rb'{"jsonrpc": "2.0", "id": 1, "method": "tools\/c\u0061ll"}'
    assert await access.charge(posted(body), few) is None
    assert await access.charge(posted(body), few) is not None


def test_one_token_and_a_file_of_them_exclude_each_other(tokens):
    with pytest.raises(ValueError, match="put that token into the file"):
        HttpConfig(token=TOKEN, tokens_file=tokens[1].tokens_file)


def test_a_file_that_is_not_there_keeps_the_server_from_starting(tmp_path):
    with pytest.raises(SettingsError, match="No such file"):
        Access(HttpConfig(tokens_file=str(tmp_path / "none")))


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_every_route_needs_the_right_that_it_declares(operation):
    assert tool_of(operation.method, operation.path) is operation.tool
