"""Where the address of the server of the corpus comes from, and that nobody sees its password."""

import pytest
from pydantic import ValidationError

from searx_mcp.errors import SettingsError
from searx_mcp.settings.sources import effective, load
from searx_mcp.settings.values import Settings
from searx_mcp.storage.config import PostgresConfig

URL = "postgresql://alice:hunter2@db.example:5433/searx?sslmode=verify-full"
SHORT, LONG = "SEARX_MCP_POSTGRES_URL", "SEARX_MCP_POSTGRES__URL"


@pytest.mark.parametrize(
    ("environ", "origin"), [({SHORT: URL}, SHORT), ({SHORT: "postgresql://o/d", LONG: URL}, LONG)]
)
def test_two_variables_name_the_server_and_nothing_shows_it(environ, origin):
    settings, origins = load(environ=environ)
    assert settings.postgres.url.get_secret_value() == URL
    assert origins["postgres.url"] == f"environment {origin}"
    shown = {row.key: row.value for row in effective(settings, origins)}
    assert shown["postgres.url"] == "**********"
    assert "hunter2" not in f"{settings!r} {settings.model_dump_json()}"


@pytest.mark.parametrize(
    "url", ["", "postgres://h/d", "postgresql://[::1]:5432/d", "postgresql:///d?host=/run/pg"]
)
def test_the_ways_to_a_server(url):
    assert Settings(postgres={"url": url}).postgres.url.get_secret_value() == url


@pytest.mark.parametrize(
    "url",
    [
        *("mysql://alice:hunter2@h/d", "alice:hunter2@h/d", "postgresql:///d", "postgresql://h"),
        *("postgresql://a:hunter2@h:x/d", "postgresql://a:hunter2@h:0/d", "hunter2"),
    ],
)
def test_a_mistake_is_told_without_showing_a_secret(url):
    with pytest.raises(SettingsError) as caught:
        load(environ={LONG: url})
    assert caught.value.field == "postgres.url"
    assert "hunter2" not in f"{caught.value} {caught.value.__cause__}"
    with pytest.raises(ValidationError) as refused:
        PostgresConfig.model_validate({"url": url})
    assert "hunter2" not in str(refused.value)
