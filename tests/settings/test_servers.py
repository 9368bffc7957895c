"""Where the addresses of shared servers come from, and that nobody sees their passwords."""

import pytest
from pydantic import ValidationError

from searx_mcp.settings.sources import effective, load
from searx_mcp.settings.values import Settings

REDIS = "rediss://alice:hunter2@cache.example:6380/1"
POSTGRES = "postgresql://alice:hunter2@db.example:5433/searx?sslmode=verify-full"


@pytest.mark.parametrize(
    ("table", "url", "other"),
    [("redis", REDIS, "redis://other"), ("postgres", POSTGRES, "postgresql://o/d")],
)
def test_two_variables_beat_the_file_and_nothing_shows_the_address(table, url, other, write):
    short, long = f"SEARX_MCP_{table.upper()}_URL", f"SEARX_MCP_{table.upper()}__URL"
    path = write(f'{table}.url = "{other}"\nredis.secret = "hunter2 hunter2 hunter2"\n')
    for environ, origin in (
        ({short: url}, short),
        ({long: url}, long),
        ({short: other, long: url}, long),
        ({short: url, long: ""}, short),
    ):
        settings, origins = load(path=path, environ=environ)
        assert getattr(settings, table).url.get_secret_value() == url
        assert origins[f"{table}.url"] == f"environment {origin}"
        shown = {row.key: row.value for row in effective(settings, origins)}
        assert shown[f"{table}.url"] == shown["redis.secret"] == "**********"
        assert "hunter2" not in f"{settings!r} {settings.model_dump_json()}"


@pytest.mark.parametrize(
    "url",
    [
        *("redis://h", "redis://[::1]:6379/0", "rediss://h:1?ssl_ca_certs=/ca", "unix:///run/r"),
        *("postgres://h/d", "postgresql://[::1]:5432/d", "postgresql:///d?host=/run/pg", ""),
    ],
)
def test_the_ways_to_a_server(url):
    table = "redis" if url.startswith(("redis", "unix")) else "postgres"
    assert (
        getattr(Settings.model_validate({table: {"url": url}}), table).url.get_secret_value() == url
    )


WRONG = {
    "redis": [
        "http://alice:hunter2@cache.example",
        "alice:hunter2@cache.example",
        "redis://alice:hunter2@:6379",
        "redis://alice:hunter2@h:port",
        "redis://alice:hunter2@h:0",
        "unix://hunter2",
        '["redis://alice:hunter2@h"]',
        "hunter2",
    ],
    "postgres": [
        *("mysql://alice:hunter2@h/d", "alice:hunter2@h/d", "postgresql:///d", "postgresql://h"),
        *("postgresql://a:hunter2@h:x/d", "postgresql://a:hunter2@h:0/d", "hunter2"),
    ],
}


@pytest.mark.parametrize(
    ("table", "url"), [(table, url) for table in WRONG for url in WRONG[table]]
)
def test_a_wrong_address_is_told_without_showing_it(table, url, refusal):
    assert refusal(environ={f"SEARX_MCP_{table.upper()}_URL": url}).field == f"{table}.url"
    with pytest.raises(ValidationError) as caught:
        Settings.model_validate({table: {"url": url}})
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "environ",
    [
        {"SEARX_MCP_REDIS": REDIS},
        {"SEARX_MCP_REDIS": '{"url": 5, "secret": "hunter2"}'},
        {"SEARX_MCP_REDIS__SECRET": "hunter2"},
        {"SEARX_MCP_REDIS__TIMEOUT": "60"},
        {"SEARX_MCP_REDIS__PREFIX": "with space"},
    ],
    ids=["table", "type", "short secret", "timeout", "prefix"],
)
def test_a_mistake_beside_the_address_does_not_show_it(environ, refusal):
    error = refusal(environ={"SEARX_MCP_REDIS_URL": REDIS, **environ})
    assert error.field.startswith("redis")
