"""A small database, and ways to get it into trouble."""

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path

import pytest

from searx_mcp.storage.opening import Schema
from searx_mcp.storage.sqlite import Database

SCHEMA = Schema(major=1, minors=(("CREATE TABLE words (word TEXT NOT NULL)",),))


@pytest.fixture
def schema() -> Schema:
    return SCHEMA


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "words-v1.db"


@pytest.fixture
async def database_at() -> AsyncIterator[Callable[..., Database]]:
    """Make databases that are closed at the end of the test."""
    made: list[Database] = []

    def make(path: Path, schema: Schema = SCHEMA, **options) -> Database:
        made.append(Database(path, schema, **options))
        return made[-1]

    yield make
    for database in made:
        await database.aclose()


@pytest.fixture
def quick_check() -> Callable[[Path], str]:
    """Ask SQLite whether a file is whole."""

    def check(path: Path) -> str:
        with closing(sqlite3.connect(path)) as connection:
            verdict: str = connection.execute("PRAGMA quick_check").fetchone()[0]
        return verdict

    return check


@pytest.fixture
def spoil() -> Callable[..., None]:
    """Overwrite a part of a file, as a failing disk does; by default its first pages."""

    def overwrite(path: Path, offset: int = 100) -> None:
        with path.open("r+b") as file:
            file.seek(offset)
            file.write(b"\xa5" * (8_000 if offset == 100 else 2_000))

    return overwrite
