"""Stores of both kinds, closed at the end of the test."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from searx_mcp.search.state.interface import StateStore
from searx_mcp.search.state.sqlite import FILE_NAME, SqliteStore, open_store


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


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, path: Path) -> AsyncIterator[StateStore]:
    """A store of each kind: what holds for one holds for the other."""
    store = open_store(path if request.param == "sqlite" else None)
    yield store
    await store.aclose()
    assert store.problem == ""
