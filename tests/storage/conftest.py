"""A small database, and captures to keep."""

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from searx_mcp.content.document import Document
from searx_mcp.storage.opening import Schema
from searx_mcp.storage.pages import Capture, CapturedPage
from searx_mcp.storage.sqlite import Database

NOW = 1_000_000_000.0
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

    def make(path: Path | None, schema: Schema = SCHEMA, **options) -> Database:
        made.append(Database(path, schema, **options))
        return made[-1]

    yield make
    for database in made:
        await database.aclose()


@pytest.fixture(scope="session")
def database_of() -> Callable[[Any], Database]:
    """Give the database of a store in a file, to make it impatient, read-only or full."""

    def find(store: Any) -> Database:
        database: Database = store._database
        return database

    return find


@pytest.fixture(scope="session")
def link_of() -> Callable[[Any], Any]:
    """Give the connection of a store on a server, to make it impatient or see its error."""
    return lambda store: store._link


@pytest.fixture(scope="session")
def set_pragma(database_of: Callable[[Any], Database]) -> Callable[[Any, str], Awaitable[object]]:
    """Set what SQLite keeps by connection, of a store's own."""
    return lambda store, text: database_of(store).read(lambda tx: tx.rows(f"PRAGMA {text}"))


@pytest.fixture
def quick_check() -> Callable[[Path], str]:
    """Ask SQLite whether a file is whole."""

    def check(path: Path) -> str:
        with closing(sqlite3.connect(path)) as connection:
            verdict: str = connection.execute("PRAGMA quick_check").fetchone()[0]
        return verdict

    return check


@pytest.fixture(scope="session")
def make_capture() -> Callable[..., Capture]:
    """Make a capture of a page with a text, fetched at a time and fresh for five minutes."""

    def make(
        text: str = "text", at: float = NOW, *, url: str = "https://a.example/", **known
    ) -> Capture:
        page = CapturedPage(
            document=Document(markdown=text, word_count=1),
            final_url=url,
            content_type="text/html",
            content_length=len(text),
            status_code=200,
        )
        given = {"fetched_at": at, "fresh_until": at + 300, "max_bytes": 1 << 20, **known}
        return Capture(page=page, url=url, **given)

    return make
