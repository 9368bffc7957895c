"""Where the address of a shared server comes from, and that nobody sees its password."""

import pytest
from pydantic import ValidationError

from searx_mcp.errors import SettingsError
from searx_mcp.settings.sources import effective, load
from searx_mcp.settings.values import Settings

URL = "rediss://alice:hunter2@cache.example:6380/1"
SHORT, LONG = "SEARX_MCP_REDIS_URL", "SEARX_MCP_REDIS__URL"


@pytest.mark.parametrize(
    ("environ", "origin"),
    [
        ({SHORT: URL}, SHORT),
        ({LONG: URL}, LONG),
        ({SHORT: "redis://other", LONG: URL}, LONG),
        ({SHORT: URL, LONG: ""}, SHORT),
    ],
    ids=["short", "long", "long wins", "empty is not set"],
)
def test_two_variables_name_the_server(environ, origin):
    settings, origins = load(environ=environ)
    assert settings.redis.url.get_secret_value() == URL
    assert origins["redis.url"] == f"environment {origin}"


def test_a_file_names_the_server_and_the_environment_beats_it(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(f'[redis]\nurl = "{URL}"\nprefix = "team:"\ntimeout = 1.5\n')
    settings, origins = load(path=path, environ={})
    assert settings.redis.url.get_secret_value() == URL
    assert (settings.redis.prefix, settings.redis.timeout) == ("team:", 1.5)
    settings, origins = load(path=path, environ={SHORT: "redis://other"})
    assert settings.redis.url.get_secret_value() == "redis://other"
    assert origins["redis.prefix"] == f"file {path}"


@pytest.mark.parametrize(
    "url", ["redis://h", "redis://[::1]:6379/0", "rediss://h:1?ssl_ca_certs=/ca", "unix:///run/r"]
)
def test_the_ways_to_a_server(url):
    assert Settings.model_validate({"redis": {"url": url}}).redis.url.get_secret_value() == url


@pytest.mark.parametrize(
    "environ",
    [
        {LONG: "http://alice:hunter2@cache.example"},
        {LONG: "alice:hunter2@cache.example"},
        {LONG: "redis://alice:hunter2@:6379"},
        {LONG: "redis://alice:hunter2@h:port"},
        {LONG: "redis://alice:hunter2@h:0"},
        {LONG: "unix://hunter2"},
        {LONG: '["redis://alice:hunter2@h"]'},
        {SHORT: "hunter2"},
        {"SEARX_MCP_REDIS": URL},
        {"SEARX_MCP_REDIS": '{"url": 5, "secret": "hunter2"}'},
        {"SEARX_MCP_REDIS__SECRET": "hunter2"},
        {"SEARX_MCP_REDIS__TIMEOUT": "60", LONG: URL},
        {"SEARX_MCP_REDIS__PREFIX": "with space", LONG: URL},
    ],
    ids=[
        *("scheme", "no scheme", "no host", "port", "port zero", "no path", "list", "short"),
        *("table", "type", "short secret", "timeout", "prefix"),
    ],
)
def test_a_mistake_is_told_without_showing_a_secret(environ):
    with pytest.raises(SettingsError) as caught:
        load(environ=environ)
    assert caught.value.field.startswith("redis")
    cause = caught.value.__cause__
    assert "hunter2" not in f"{caught.value} {cause}"


def test_no_dump_text_or_error_shows_the_address(tmp_path):
    settings, origins = load(environ={SHORT: URL, "SEARX_MCP_REDIS__SECRET": "hunter2 " * 3})
    shown = {row.key: row.value for row in effective(settings, origins)}
    assert shown["redis.url"] == shown["redis.secret"] == "**********"
    assert "hunter2" not in f"{settings!r} {settings.model_dump_json()}"
    with pytest.raises(ValidationError) as caught:
        Settings.model_validate({"redis": {"url": "hunter2"}})
    assert "hunter2" not in str(caught.value)
