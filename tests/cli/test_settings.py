"""A wrong setting is told when settings are read, wherever that is; nothing is served, written or asked."""

import json

import pydantic
import pytest
from aiohttp import web

from searx_mcp.client.facade import SearxClient
from searx_mcp.errors import SettingsError
from searx_mcp.settings.values import Settings
from searx_mcp.testing.loopback import LoopbackServer, ReceivedRequest

WRONG = [
    ("fetch.allow_private", ["10.0.0.1"], "host:port"),
    ("fetch.allow_private", ["wiki.lan:99999"], "one exact port"),
    ("fetch.allow_private", ["10.0.0.0/33:80"], "cidr:port"),
    ("fetch.allowed_domains", ["a b"], "a b"),
    ("fetch.blocked_domains", ["http://"], "domain"),
    ("fetch.github_token", "ghp secret", "without spaces"),
    ("fetch.blocklist_file", "/none/such", "does not exist"),
    ("web_fetch.user_agent", "a\nb", "ASCII"),
    ("fetch.headers", {"a b": {"X": "y"}}, "host"),
    ("fetch.cache_ttl", "5 minutes", "a number"),
    ("network.ca_file", "/none/such.pem", "cannot be read"),
    ("network.proxy", "ftp://proxy:1", "proxy"),
    ("network.no_proxy", ["10.0.0.0/99"], "10.0.0.0/99"),
    ("instances.own", ["search.example.org"], "http:// or https://"),
    ("instances.blocked", ["https://x.example/"], "a host"),
    ("instances.catalog", "/none/such.json", "Correct the path"),
    ("instances.source", "https://x.example:99999/", "http or https address"),
    ("own.source", "https://x.example:99999/", "http or https address"),
    ("open_sources.npm_url", "http://x.example:0/", "http or https address"),
    ("embedding.url", "http://[::1/", "http or https address"),
    ("embedding.provider", "http", "needs it"),
    ("rerank.url", "http://x.example:99999/", "http or https address"),
    ("redis.url", "redis://127.0.0.1:6379/0?nonsense=1", "option"),
    ("redis.url", "http://127.0.0.1", "redis://host"),
    ("postgres.url", "postgresql://a:b@127.0.0.1/c?sslmode=perhaps", "verify-full"),
    ("postgres.url", "postgresql://a:b@127.0.0.1/c?sslmod=require", "unknown option"),
    ("postgres.url", "postgresql://a:b@127.0.0.1/c?nonsense", "unknown option"),
    ("remote.url", "http://x.example:99999/", "http or https address"),
    ("quality.preferred_domains", ["Docs RS"], "domain or pattern"),
    ("search.default_language", "?", "language"),
    ("workers.memory", "2 of them", "size such as 2MB"),
    ("server.traces", "127.0.0.1:4318", "http or https address"),
]
"""Settings, wrong values, and what each error says besides the name."""
OF_SERVERS = [
    ("http.tokens_file", "/none/such", "cannot be"),
    ("http.token", "short", "16 to 500"),
    ("storage.folder", __file__, "is a file"),
    ("storage.folder", f"{__file__}/below", "is a file"),
]
SERVE = "serve --transport streamable-http --port 0"
NAMED = {"embedding.provider": "embedding.url"}
"""Where another setting has to be changed."""


def row_name(value: object) -> str:
    return value if isinstance(value, str) else ""


@pytest.fixture
def written(tmp_path):
    """Write a configuration with one setting."""

    def write(key: str, value: object) -> str:
        table, _, name = key.rpartition(".")
        text = json.dumps(value)
        if isinstance(value, dict):
            (host, headers), *_ = value.items()
            given = f'[{table}.{name}."{host}"]\n' + "".join(
                f"{each} = {json.dumps(text)}\n" for each, text in headers.items()
            )
        else:
            given = f"[{table}]\n{name} = {text}\n"
        (tmp_path / "searx-mcp.toml").write_text(given, encoding="utf-8")
        return str(tmp_path / "searx-mcp.toml")

    return write


@pytest.mark.parametrize(
    ("command", "key", "value", "said"),
    [
        *(("config", *row) for row in (*WRONG, *OF_SERVERS)),
        *((SERVE, *row) for row in (WRONG[0], *OF_SERVERS)),
        ("serve --transport stdio", *WRONG[0]),
    ],
    ids=row_name,
)
async def test_a_command_refuses_a_wrong_setting_by_its_name(
    run_cli, written, key, value, said, command
):
    file = written(key, value)
    ran = await run_cli("--config", file, *command.split())
    assert (ran.code, ran.out) == (5, "")
    assert NAMED.get(key, key) in ran.err
    assert said in ran.err
    assert file in ran.err or key in NAMED
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("command", ["paths", "instances list"])
async def test_a_file_that_only_the_server_may_read_stops_no_other_command(
    run_cli, written, command
):
    file = written("http.tokens_file", "/none/such")
    ran = await run_cli("--config", file, *command.split())
    assert (ran.code, "tokens_file" in ran.err) == (0, False)
    refused = await run_cli("--config", file, *SERVE.split())
    assert (
        f"http.tokens_file (from file {file}): /none/such: the file cannot be read" in refused.err
    )


@pytest.mark.parametrize(("key", "value", "said"), WRONG, ids=row_name)
async def test_a_client_of_a_program_refuses_a_wrong_setting_by_its_name(key, value, said):
    table, _, name = key.rpartition(".")
    with pytest.raises((SettingsError, pydantic.ValidationError)) as caught:
        async with SearxClient(Settings.model_validate({table: {name: value}})):
            raise AssertionError("it opened")
    assert name in str(caught.value) or NAMED[key] in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "value", "said"),
    [WRONG[0], WRONG[10]],
    ids=row_name,
)
async def test_setup_changes_nothing_if_the_server_could_not_use_a_setting(
    run_cli, written, tmp_path, key, value, said
):
    file = tmp_path / "client" / "mcp.json"
    ran = await run_cli(*("--config", written(key, value), "setup", "cursor", "--file", str(file)))
    assert ran.code == 1
    assert key in ran.err
    assert said in " ".join(ran.err.split())
    assert not file.parent.exists()


@pytest.mark.slow
async def test_setup_changes_nothing_if_there_is_nothing_to_search_with(run_cli, tmp_path):
    settings, file = tmp_path / "searx-mcp.toml", tmp_path / "mcp.json"
    settings.write_text(
        '[instances]\npublic = "off"\n[open_sources]\nmode = "off"\n', encoding="utf-8"
    )
    ran = await run_cli("--config", str(settings), "setup", "cursor", "--file", str(file))
    assert ran.code == 3
    assert "nothing to search with" in ran.err
    assert not file.exists()


@pytest.mark.slow
@pytest.mark.parametrize("status", [0, 401])
async def test_setup_changes_nothing_if_the_remote_service_does_not_answer(
    run_cli, tmp_path, status
):
    async def refuse(_: web.BaseRequest, __: ReceivedRequest) -> web.StreamResponse:
        return web.json_response({"error": "no"}, status=status)

    file = tmp_path / "client" / "mcp.json"
    async with LoopbackServer(refuse) as server:
        asks = ("--env", f"SEARX_MCP_REMOTE_URL={server.base}/", "--file", str(file))
        ran = await run_cli("setup", "cursor", *asks) if status else None
    ran = ran or await run_cli("setup", "cursor", *asks)
    assert ran.code not in {0, 2}
    assert "emote" in ran.err
    assert "Traceback" not in ran.err
    assert not file.parent.exists()


@pytest.mark.slow
async def test_setup_adds_a_server_whose_remote_service_answers(run_cli, tmp_path):
    async def missing(_: web.BaseRequest, __: ReceivedRequest) -> web.StreamResponse:
        return web.json_response({"error": "unknown route"}, status=404)

    file = tmp_path / "mcp.json"
    async with LoopbackServer(missing) as server:
        asks = ("--env", f"SEARX_MCP_REMOTE_URL={server.base}/", "--file", str(file))
        ran = await run_cli("setup", "cursor", *asks)
    assert ran.code == 0, ran.err
    assert file.exists()


@pytest.mark.parametrize("token", ["a b", "a\nb", "a\r\nX: y", "geheimnisü", " secret", "x" * 501])
def test_a_token_that_no_header_can_carry_is_refused_without_repeating_it(token):
    with pytest.raises(pydantic.ValidationError, match=r"fetch\.github_token") as caught:
        Settings(fetch={"github_token": token})
    assert token not in str(caught.value)
