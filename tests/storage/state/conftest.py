"""Stores of all kinds, closed at the end of the test."""

import secrets
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from searx_mcp.storage.redis_state import RedisStore
from searx_mcp.storage.sqlite_state import FILE_NAME, SqliteStore, open_store
from searx_mcp.storage.state import StateStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / FILE_NAME


@pytest.fixture
async def store_at() -> AsyncIterator[Callable[..., SqliteStore]]:
    """Make stores in files."""
    made: list[SqliteStore] = []

    def make(path: Path, **options) -> SqliteStore:
        made.append(SqliteStore(path, **options))
        return made[-1]

    yield make
    for store in made:
        await store.aclose()


@pytest.fixture(
    params=["memory", "sqlite", pytest.param("redis", marks=pytest.mark.slow)], scope="session"
)
def new_store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], StateStore]:
    """Make new stores of each kind: what holds for one holds for the others."""
    if request.param == "redis":
        url: str = request.getfixturevalue("redis_url")
        return lambda: RedisStore(url, prefix=f"{secrets.token_hex(8)}:", patience=10)
    if request.param == "sqlite":
        return lambda: open_store(tmp_path_factory.mktemp("state") / FILE_NAME)
    return lambda: open_store(None)


@pytest.fixture
async def store(new_store: Callable[[], StateStore]) -> AsyncIterator[StateStore]:
    """A store of each kind."""
    store = new_store()
    yield store
    await store.aclose()
    assert store.problem == ""
