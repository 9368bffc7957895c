"""Proxies in the settings: where they come from, and that no password is shown."""

import json
from collections.abc import Mapping

import pytest
from pydantic import ValidationError

from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.proxy import DIRECT, ProxyUrl
from searx_mcp.settings.sources import effective, load
from searx_mcp.settings.values import Settings

ENV = {"SEARX_MCP_NETWORK__PROXY": "env"}
ONE, OTHER = "http://one.example.org:3128", "http://two.example.org:3128"
SECRET = "http://alice:hunter2@proxy.example.org:3128"


def proxies(environ: Mapping[str, str]) -> tuple[str, str]:
    """The proxies for https and for http."""
    rules = load(environ=environ).settings.network.proxies()
    return str(rules.https or ""), str(rules.http or "")


def test_without_env_the_proxies_of_the_environment_are_not_read():
    environ = {"HTTPS_PROXY": ONE, "HTTP_PROXY": ONE, "ALL_PROXY": ONE, "NO_PROXY": "*"}
    assert load(environ=environ).settings == Settings()


@pytest.mark.parametrize(
    ("environ", "https", "http"),
    [
        ({}, "", ""),
        ({"HTTPS_PROXY": ONE}, ONE, ""),
        ({"https_proxy": ONE}, ONE, ""),
        ({"HTTPS_PROXY": OTHER, "https_proxy": ONE}, ONE, ""),
        ({"HTTPS_PROXY": OTHER, "https_proxy": ""}, OTHER, ""),
        ({"HTTP_PROXY": ONE}, "", ONE),
        ({"http_proxy": ONE, "HTTPS_PROXY": OTHER}, OTHER, ONE),
        ({"HTTP_PROXY": ONE, "HTTPS_PROXY": ONE}, ONE, ONE),
        ({"ALL_PROXY": ONE}, ONE, ONE),
        ({"all_proxy": ONE, "HTTPS_PROXY": OTHER}, OTHER, ONE),
        ({"ALL_PROXY": ONE, "HTTP_PROXY": OTHER}, ONE, OTHER),
        ({"HTTPS_PROXY": "one.example.org:3128"}, ONE, ""),
        ({"ALL_PROXY": "socks5h://one.example.org"}, *["socks5h://one.example.org:1080"] * 2),
        ({"HTTP_PROXY": ONE, "REQUEST_METHOD": "GET"}, "", ""),
        ({"HTTP_PROXY": ONE, "ALL_PROXY": OTHER, "REQUEST_METHOD": "GET"}, OTHER, OTHER),
    ],
)
def test_env_takes_the_proxies_of_the_environment(environ, https, http):
    assert proxies({**ENV, **environ}) == (https, http)


def test_env_in_a_file_is_understood_and_origins_name_the_variables(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('[network]\nproxy = "env"\n', encoding="utf-8")
    environ = {"https_proxy": ONE, "HTTP_PROXY": OTHER, "no_proxy": "example.org"}
    origins = load(path=path, environ=environ).origins
    assert origins["network.proxy"] == "environment https_proxy"
    assert origins["network.http_proxy"] == "environment HTTP_PROXY"
    assert origins["network.no_proxy"] == "environment no_proxy"
    origins = load(path=path, environ={}).origins
    assert origins["network.proxy"] == f"file {path}"
    assert origins["network.no_proxy"] == "default"


def test_a_proxy_for_http_that_was_named_is_kept():
    assert proxies({**ENV, "SEARX_MCP_NETWORK__HTTP_PROXY": "none", "ALL_PROXY": ONE}) == (ONE, "")


@pytest.mark.parametrize("text", ["example.org,.example.net", " example.org   .example.net, "])
def test_no_proxy_adds_to_what_is_reached_directly(text):
    network = load(environ={**ENV, "NO_PROXY": text}).settings.network
    assert network.no_proxy == (*DIRECT, "example.org", ".example.net")
    named = {"SEARX_MCP_NETWORK__NO_PROXY": "example.com", "NO_PROXY": text}
    network = load(environ={**ENV, **named}).settings.network
    assert network.no_proxy == ("example.com", "example.org", ".example.net")


def test_env_is_for_fronts_alone(refusal):
    with pytest.raises(ValidationError, match="a program names the proxy itself"):
        Settings.model_validate({"network": {"proxy": "env"}})
    error = refusal(environ={"SEARX_MCP_NETWORK__HTTP_PROXY": "env"})
    assert error.message.endswith("env belongs in network.proxy")


BAD = [
    ({"SEARX_MCP_NETWORK__PROXY": "http://alice:hunter2@proxy"}, "network.proxy", "names no port"),
    ({"SEARX_MCP_NETWORK__PROXY": "alice:hunter2"}, "network.proxy", "must look like"),
    ({"SEARX_MCP_NETWORK__PROXY": "ftp://hunter2@proxy:1"}, "network.proxy", "must start with"),
    ({"SEARX_MCP_NETWORK__HTTP_PROXY": "http://hunter2"}, "network.http_proxy", "names no port"),
    (
        {"SEARX_MCP_NETWORK__NO_PROXY": "a/b"},
        "network.no_proxy",
        "'a/b' is not a domain, address or network such as",
    ),
    ({**ENV, "HTTPS_PROXY": "http://hunter2"}, "network.proxy", "from environment HTTPS_PROXY"),
    ({**ENV, "NO_PROXY": "a/b"}, "network.no_proxy", "from environment NO_PROXY"),
    (
        {**ENV, "NO_PROXY": "a", "SEARX_MCP_NETWORK__NO_PROXY": '{"x": 1}'},
        "network.no_proxy",
        "",
    ),
    ({"SEARX_MCP_NETWORK": '{"proxy": "hunter2"'}, "network", "it is not a table"),
    ({"SEARX_MCP_NETWORK": '{"proxy": ["hunter2"]}'}, "network.proxy", "is not text"),
]


@pytest.mark.parametrize(("environ", "field", "message"), BAD, ids=[str(row[0]) for row in BAD])
def test_a_mistake_names_the_setting_and_shows_no_password(environ, field, message, refusal):
    error = refusal(environ=environ)
    assert error.field == field
    assert message in error.message


def test_a_broken_table_alone_shows_no_password():
    for table in ({"proxy": "http://alice:hunter2@proxy"}, {"proxy": SECRET, "max_connections": 0}):
        with pytest.raises(ValidationError) as caught:
            NetworkConfig.model_validate(table)
        assert "hunter2" not in str(caught.value)


def test_what_is_shown_of_the_settings_holds_no_password():
    settings, origins = load(environ={"SEARX_MCP_NETWORK__PROXY": SECRET})
    rows = {row.key: row for row in effective(settings, origins)}
    assert rows["network.proxy"].value == "http://***@proxy.example.org:3128"
    assert settings.network.proxies().https == settings.network.proxy
    text = f"{settings!r} {settings} {settings.model_dump()} {rows} {settings.model_dump_json()}"
    assert "hunter2" not in text
    assert "alice" not in text
    assert json.loads(settings.model_dump_json())["network"]["http_proxy"] == ""
    assert settings.network.proxy is not None
    assert settings.network.proxy.password == "hunter2"


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["table", "JSON"])
async def test_the_command_shows_no_password(run_cli, options):
    secrets = {"HTTPS_PROXY": SECRET, "SEARX_MCP_REDIS_URL": "redis://alice:hunter2@cache.example"}
    ran = await run_cli("config", *options, SEARX_MCP_NETWORK__PROXY="env", **secrets)
    for words in ("***@proxy.example.org:3128", "environment HTTPS_PROXY", "**********"):
        assert words in ran.out
    assert "hunter2" not in ran.out + ran.err


def test_a_program_may_give_a_proxy_that_was_read():
    proxy = ProxyUrl.parse(SECRET)
    assert NetworkConfig(proxy=proxy).proxies().http == proxy
    assert NetworkConfig.model_validate({"proxy": None}).proxies().https is None
