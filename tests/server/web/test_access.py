"""Who may send a request, which tools they may call, and how often."""

import base64
import json
import re

import httpx2
import pytest
from starlette.types import ASGIApp

from searx_mcp.errors import SettingsError
from searx_mcp.server.http import OPERATIONS, http_app
from searx_mcp.settings.server import HttpConfig
from searx_mcp.settings.tools import Tool
from tests.doubles.echo import EchoServer
from tests.doubles.tokens import new_token

TOKEN = "0123456789abcdef"
FORM = "application/x-www-form-urlencoded"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture
def tokens(write_tokens):
    """Give the tokens of a file by name, and the settings that name it."""
    path, made = write_tokens(all="", narrow='tools = ["web_search"]\n', few="per_minute = 2\n")
    return made, HttpConfig(tokens_file=str(path))


async def ask(
    app: ASGIApp,
    authorization: str = "",
    *,
    method: str = "POST",
    path: str = "/mcp",
    body: object = PING,
    client: str = "192.0.2.7",
) -> httpx2.Response:
    headers = {"Content-Type": FORM if path == "/search" else "application/json", "Accept": "*/*"}
    if authorization:
        headers["Authorization"] = authorization
    transport = httpx2.ASGITransport(app, client=(client, 7))
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
        encoded = {name.encode(): value.encode("latin-1") for name, value in headers.items()}
        return await http.request(method, path, content=content, headers=encoded)


def app_with(config: HttpConfig) -> ASGIApp:
    return http_app(EchoServer(), config)


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


@pytest.mark.parametrize(
    ("name", "path", "status"),
    [
        ("all", "/mcp", 200),
        ("all", "/v1/corpus/pages", 200),
        ("narrow", "/mcp", 200),
        ("narrow", "/v1/search", 200),
        ("narrow", "/search", 200),
        ("narrow", "/v1/tools/web_search", 200),
        ("narrow", "/v1/tools/web_fetch", 403),
        ("narrow", "/v1/fetch", 403),
        ("narrow", "/v1/read", 403),
        ("narrow", "/v1/answer", 403),
        ("narrow", "/v1/corpus", 403),
        ("narrow", "/v1/corpus/search", 403),
        ("narrow", "/v1/corpus/anything", 403),
        ("narrow", "/v1/capabilities", 200),
        ("nobody", "/mcp", 401),
        ("nobody", "/v1/fetch", 401),
    ],
)
async def test_a_token_opens_what_it_names(tokens, name, path, status):
    made, config = tokens
    made["nobody"] = new_token("nobody")[0]
    found = await ask(app_with(config), f"Bearer {made[name]}", path=path)
    assert found.status_code == status
    assert ("www-authenticate" in found.headers) is (status == 401)
    assert made[name] not in f"{found.headers!r}{found.text}"


@pytest.mark.parametrize(
    ("method", "path", "tool"),
    [
        ("POST", "/v1/corpus", Tool.INGEST),
        ("DELETE", "/v1/corpus", Tool.INGEST),
        ("GET", "/v1/corpus/status", Tool.CORPUS_STATUS),
        ("POST", "/mcp", None),
        ("GET", "/v1/corpuses", None),
        *((each.method, re.sub(r"\{.*", "x", each.path), each.tool) for each in OPERATIONS),
    ],
)
async def test_a_route_is_open_to_whoever_may_use_its_tool(write_tokens, method, path, tool):
    others = json.dumps([each for each in Tool if each is not tool])
    file, made = write_tokens(
        has=f"tools = {json.dumps([tool])}\n" if tool else "", lacks=f"tools = {others}\n"
    )
    app = app_with(HttpConfig(tokens_file=str(file)))
    for name, status in (("has", 200), ("lacks", 403 if tool else 200)):
        answer = await ask(app, f"Bearer {made[name]}", method=method, path=path)
        assert answer.status_code == status


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
    found = await ask(app_with(config), basic(user, made["all"]), path=path)
    assert (found.status_code == 200) is serves


async def test_the_one_token_goes_with_any_user():
    app = app_with(HttpConfig(token=TOKEN))
    for token, status in ((TOKEN, 200), (TOKEN[:-1], 401)):
        answer = await ask(app, basic("anybody", token), path="/search")
        assert answer.status_code == status


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
    found = await ask(app_with(tokens[1]), authorization, path="/search", method="GET")
    assert found.status_code == 401
    assert found.headers.get_list("www-authenticate") == [
        'Bearer realm="searx-mcp"',
        'Basic realm="searx-mcp", charset="UTF-8"',
    ]


async def test_a_stranger_who_guesses_is_slowed_and_the_owner_is_not(tokens, caplog):
    made, config = tokens
    app = app_with(config)
    wrong = f"Bearer {new_token('x')[0]}"
    refusals = [await ask(app, wrong) for _ in range(12)]
    assert [refusal.status_code for refusal in refusals] == [401] * 10 + [429] * 2
    assert 0 < int(refusals[-1].headers["retry-after"]) <= 61
    assert refusals[-1].headers["connection"] == "close"
    assert (await ask(app, f"Bearer {made['all']}")).status_code == 200
    assert (await ask(app, wrong, client="192.0.2.8")).status_code == 401
    said = [r.getMessage() for r in caplog.records]
    assert said == ["server.wrong_tokens address=192.0.2.7"]


async def test_calls_are_counted_by_name_and_other_requests_are_not(tokens, caplog):
    made, config = tokens
    app = app_with(config)
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}

    async def status(name: str = "few", path: str = "/mcp", body: object = call) -> int:
        return (await ask(app, f"Bearer {made[name]}", path=path, body=body)).status_code

    for body in (PING, {**call, "method": ["tools/call"]}):
        assert 429 not in [await status(body=body) for _ in range(5)]
    assert await status(path="/v1/capabilities") == 200
    assert await status() == 200
    assert await status(path="/v1/search") == 200
    refused = await ask(app, f"Bearer {made['few']}", path="/v1/search")
    error = refused.json()["error"]
    assert (refused.status_code, error["code"]) == (429, "rate_limited")
    wait = int(refused.headers["retry-after"])
    assert 0 < wait <= 61
    assert error["message"] == (
        f"The token has used up its quota of 2 calls a minute: try again in {wait} seconds."
    )
    assert await status(path="/search") == 429
    # JSON allows other spellings of the same call.
    assert await status(body=rb'{"jsonrpc": "2.0", "id": 1, "method": "tools\/c\u0061ll"}') == 429
    assert {await status("all") for _ in range(50)} == {200}
    assert {r.getMessage() for r in caplog.records} == {"server.quota_used caller=few"}


def test_one_token_and_a_file_of_them_exclude_each_other(tokens):
    with pytest.raises(ValueError, match="put that token into the file"):
        HttpConfig(token=TOKEN, tokens_file=tokens[1].tokens_file)


def test_a_file_that_is_not_there_keeps_the_server_from_starting(tmp_path):
    with pytest.raises(SettingsError, match="No such file"):
        app_with(HttpConfig(tokens_file=str(tmp_path / "none")))
