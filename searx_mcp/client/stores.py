"""Opens the stores of state, answers, pages and the corpus that the settings name."""

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from searx_mcp.errors import SettingsError
from searx_mcp.fetch.config import FetchConfig
from searx_mcp.files import kept_secret
from searx_mcp.settings.values import Settings
from searx_mcp.sources.open.config import ProvidersConfig
from searx_mcp.storage import sqlite_pages as pages
from searx_mcp.storage.config import KEY_FILE
from searx_mcp.storage.pages import PageStore
from searx_mcp.storage.sqlite_pages import FILE_NAME as PAGES_NAME
from searx_mcp.storage.sqlite_state import FILE_NAME, open_store
from searx_mcp.storage.state import StateStore

if TYPE_CHECKING:
    from searx_mcp.evidence.storage.store import CorpusStore
    from searx_mcp.search.cache import SharedAnswers
    from searx_mcp.storage.redis_quotas import RedisQuotas

T = TypeVar("T")

_log = logging.getLogger("searx_mcp.client")


def open_state(settings: Settings) -> StateStore:
    """Return the store that the settings name: on a server, in a file or in memory.

    Nothing is opened before the first use.

    Raises:
        SettingsError: `redis.url` is set, but not usable.
    """
    redis, folder = settings.redis, settings.state_folder()
    if not redis.url.get_secret_value():
        return open_store(folder / FILE_NAME if folder else None)

    def make() -> StateStore:
        from searx_mcp.storage.redis_state import RedisStore  # noqa: PLC0415 - an optional library

        return RedisStore(redis.url.get_secret_value(), prefix=redis.prefix, patience=redis.timeout)

    return _with_library(make)


def open_pages(settings: Settings) -> PageStore:
    """Return the store of captured pages that the settings name: on a server, in a file or in memory.

    Except for the secret of `[redis]`, nothing is opened before the first use.

    Raises:
        SettingsError: `redis.url` is set, but not usable.
    """
    fetch, redis = settings.fetch, settings.redis
    folder = settings.state_folder() if settings.storage.pages else None
    secret = _secret_of(settings, folder) if settings.storage.pages else b""
    if not secret:
        return pages.open_store(
            folder / PAGES_NAME if folder else None,
            max_bytes=fetch.cache_size,
            max_age=fetch.cache_max_age,
        )

    def make() -> PageStore:
        from searx_mcp.storage.redis_pages import RedisPageStore  # noqa: PLC0415 - an optional library

        return RedisPageStore(
            redis.url.get_secret_value(),
            prefix=redis.prefix,
            secret=secret,
            scope=_reading_scope(fetch),
            max_bytes=fetch.cache_size,
            max_age=fetch.cache_max_age,
            patience=redis.timeout,
        )

    return _with_library(make)


def open_corpus(settings: Settings, folder: Path | None, namespace: str) -> "CorpusStore":
    """Return the store of a corpus that the settings name: on a server, in a file or in memory.

    Nothing is opened before the first use.

    Args:
        settings: say how much is stored, and whether on disk.
        folder: of its file.
        namespace: of the pages.

    Raises:
        SettingsError: `postgres.url` is set, but not usable.
    """
    from searx_mcp.evidence.storage import sqlite as corpus  # noqa: PLC0415 - no search needs it

    bounds: dict[str, Any] = {
        "namespace": namespace,
        "max_bytes": settings.corpus.max_size,
        "max_age": settings.corpus.max_age,
    }
    postgres, is_kept = settings.postgres, settings.storage.corpus
    if not (is_kept and postgres.url.get_secret_value()):
        path = folder / corpus.FILE_NAME if folder and is_kept else None
        return corpus.SqliteCorpusStore(path, **bounds)

    def make() -> "CorpusStore":
        from searx_mcp.evidence.storage.postgres import (  # noqa: PLC0415 - an optional library
            PostgresCorpusStore,
        )
        from searx_mcp.evidence.storage.standing_in import StandingInCorpusStore  # noqa: PLC0415 - as above

        return StandingInCorpusStore(
            PostgresCorpusStore(
                postgres.url.get_secret_value(), patience=postgres.timeout, **bounds
            ),
            lambda: corpus.SqliteCorpusStore(None, **bounds),
        )

    return _with_library(make, "asyncpg", "postgres")


def open_answers(settings: Settings, folder: Path | None) -> "SharedAnswers | None":
    """Return the store that shares answers with other processes, or `None` if there is none.

    Args:
        settings: name the server, and perhaps the secret.
        folder: of the secret, if the settings do not name one.

    Raises:
        SettingsError: `redis.url` is set, but not usable.
    """
    redis, instances = settings.redis, settings.instances
    secret = _secret_of(settings, folder) if settings.search.cache_ttl else b""
    if not secret:
        return None
    # Different sources give different answers.
    sources, providers = settings.open_sources, settings.providers
    scope = " ".join(
        [
            instances.public,
            *sorted(instances.own),
            sources.mode,
            *sorted(sources.disabled),
            str(sources.keenable),
            *_keyed_scope(providers),
        ]
    )

    def make() -> "SharedAnswers":
        from searx_mcp.search import redis_answers as answers  # noqa: PLC0415 - an optional library

        return answers.RedisAnswers(
            redis.url.get_secret_value(),
            prefix=redis.prefix,
            secret=secret,
            scope=scope,
            patience=min(redis.timeout, answers.PATIENCE),
        )

    return _with_library(make)


def open_quotas(settings: Settings) -> "RedisQuotas":
    """Return the counter of tokens' calls for all processes.

    Raises:
        SettingsError: `redis.url` is not usable.
    """
    redis = settings.redis

    def make() -> "RedisQuotas":
        from searx_mcp.storage.redis_quotas import RedisQuotas  # noqa: PLC0415 - an optional library

        return RedisQuotas(
            redis.url.get_secret_value(), prefix=redis.prefix, patience=redis.timeout
        )

    return _with_library(make)


def _keyed_scope(providers: ProvidersConfig) -> list[str]:
    """Return the settings that change answers of keyed providers; none without one, as in older versions."""
    google, brave = providers.google, providers.brave
    names = [google.search_engine_id, google.safe_search] if google.key else []
    names += ["brave"] if brave.key else []
    return [providers.mode, *names] if names else []


def _reading_scope(fetch: FetchConfig) -> str:
    """Return the settings that decide which pages a process may read; with others, it shares none of them."""
    headers = {
        host: {name: value.get_secret_value() for name, value in given.items()}
        for host, given in fetch.headers.items()
    }
    scope = [sorted(fetch.allow_private), headers, fetch.github_token.get_secret_value()]
    return json.dumps(scope, sort_keys=True)


def _with_library(make: Callable[[], T], library: str = "redis", table: str = "redis") -> T:
    try:
        return make()
    except ModuleNotFoundError as exc:
        if exc.name is None or exc.name.partition(".")[0] != library:
            raise
        raise SettingsError(
            f"{table}.url",
            f"the {table.capitalize()} library is not installed",
            advice=f"Install the extra: pip install 'searx-mcp[{table}]'.",
        ) from exc
    except ValueError:
        # Without its text, which may contain a part of a password.
        raise SettingsError(
            f"{table}.url", "an option in it is unknown or has a wrong value"
        ) from None


def _secret_of(settings: Settings, folder: Path | None) -> bytes:
    """Return the secret for sharing answers and pages; empty if they are not shared."""
    if not settings.redis.url.get_secret_value():
        return b""
    given = settings.redis.secret.get_secret_value().encode()
    if given or folder is None:
        return given
    try:
        return kept_secret(folder / KEY_FILE)
    except OSError as exc:
        _log.warning("redis.not_shared folder=%s reason=%s", folder, exc.strerror)
        return b""
