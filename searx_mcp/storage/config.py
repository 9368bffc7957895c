"""Settings of what outlives a process, and of servers that processes share."""

from typing import Annotated, Final
from urllib.parse import parse_qs, urlsplit

from pydantic import AfterValidator, ConfigDict, Field, SecretStr

from searx_mcp.models.base import Frozen, matching, refusal

KEY_FILE: Final = "answers.key"
"""File in the state folder with the secret of the processes that share answers and pages."""
_SHORTEST_SECRET: Final = 16
_WANTED: Final = "it must look like redis://host:6379/0, rediss://user:password@host:6380/0 or unix:///path/socket"


_SSL_MODES: Final = {"disable", "allow", "prefer", "require", "verify-ca", "verify-full"}
_OPTIONS: Final = {
    "application_name", "dbname", "gsslib", "host", "krbsrvname", "passfile", "password", "port",
    "service", "ssl_max_protocol_version", "ssl_min_protocol_version", "sslcert", "sslcrl", "sslkey",
    "sslmode", "sslnegotiation", "sslpassword", "sslrootcert", "target_session_attrs", "user",
}  # fmt: skip
"""Parameters that asyncpg knows; it sends all others to the server as settings, which refuses the
connection."""
_DATABASE: Final = (
    "it must look like postgresql://user:password@host:5432/database or"
    " postgresql:///database?host=/run/postgresql"
)


def _check_url(url: SecretStr) -> SecretStr:
    text = url.get_secret_value()
    try:
        parts = urlsplit(text)
        is_complete = bool(parts.path if parts.scheme == "unix" else parts.hostname)
        has_port = parts.port != 0
    except ValueError:
        raise refusal("redis.url", _WANTED) from None
    is_known = parts.scheme in {"redis", "rediss", "unix"}
    if text and not (is_known and is_complete and has_port):
        raise refusal("redis.url", _WANTED)
    return url


def _check_database(url: SecretStr) -> SecretStr:
    text = url.get_secret_value()
    try:
        parts = urlsplit(text)
        options = parse_qs(parts.query, keep_blank_values=True)
        is_complete = bool(parts.hostname or "host" in options) and parts.port != 0
    except ValueError:
        raise refusal("postgres.url", _DATABASE) from None
    is_known = parts.scheme in {"postgres", "postgresql"}
    if text and not (is_known and is_complete and parts.path.strip("/")):
        raise refusal("postgres.url", _DATABASE)
    if not _OPTIONS.issuperset(options):
        # Does not name it: it could be the rest of a password with an unescaped `?`.
        reason = f"it has an unknown option; known: {', '.join(sorted(_OPTIONS))}"
        raise refusal("postgres.url", reason)
    if not _SSL_MODES.issuperset(options.get("sslmode", ())):
        raise refusal("postgres.url", f"sslmode must be one of {', '.join(sorted(_SSL_MODES))}")
    return url


def _check_secret(secret: SecretStr) -> SecretStr:
    if 0 < len(secret.get_secret_value()) < _SHORTEST_SECRET:
        raise refusal("redis.secret", f"it has fewer than {_SHORTEST_SECRET} characters")
    return secret


class StorageConfig(Frozen):
    """The `[storage]` table: what outlives a process."""

    state: bool = Field(
        default=True,
        description="Store budgets and states of instances; false keeps them in memory.",
    )
    folder: str = Field(
        default="",
        description="State folder; empty uses the user's default.",
    )
    pages: bool = Field(
        default=True,
        description="Keep captured pages in that folder or in Redis, so that cursors survive restarts.",
    )
    corpus: bool = Field(
        default=True,
        description="Keep the corpus in that folder; false keeps it in memory until the process ends.",
    )
    namespace: Annotated[
        str, matching(r"^[A-Za-z0-9_.-]{1,64}$", "1 to 64 ASCII letters, digits, -, _ and .")
    ] = Field(
        default="default",
        description="Name that separates captured pages and corpus from those under other names.",
    )


class RedisConfig(Frozen):
    """The `[redis]` table: a server that processes share instead of a file."""

    # The address may contain a password, so pydantic's errors must not show their input.
    model_config = ConfigDict(hide_input_in_errors=True)

    url: Annotated[SecretStr, AfterValidator(_check_url)] = Field(
        default=SecretStr(""),
        description="Redis or Valkey to share state, answers, pages: redis://, rediss:// or unix://.",
    )
    prefix: Annotated[
        str, matching(r"^[A-Za-z0-9_.:-]{1,64}$", "1 to 64 ASCII letters, digits, -, _, . and :")
    ] = Field(default="searx-mcp:", description="Prefix of all keys on the server.")
    timeout: Annotated[float, Field(ge=0.05, le=10)] = Field(
        default=0.5,
        description="Seconds a call waits for the server before the process carries on alone.",
    )
    secret: Annotated[SecretStr, AfterValidator(_check_secret)] = Field(
        default=SecretStr(""),
        description="Secret that seals shared data, never sent to the server; empty: one per state folder.",
    )


class PostgresConfig(Frozen):
    """The `[postgres]` table: a server on which processes share the corpus."""

    # As above.
    model_config = ConfigDict(hide_input_in_errors=True)

    url: Annotated[SecretStr, AfterValidator(_check_database)] = Field(
        default=SecretStr(""),
        description="PostgreSQL server to share the corpus: postgresql://user:password@host/database.",
    )
    timeout: Annotated[float, Field(ge=0.1, le=60)] = Field(
        default=5.0,
        description="Seconds a call waits for it before the process keeps what it reads in memory.",
    )
