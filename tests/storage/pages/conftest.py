"""Stores of both kinds, and captures to keep in them."""

import random
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from searx_mcp.content.document import Document
from searx_mcp.storage.pages import Capture, CapturedPage, PageStore
from searx_mcp.storage.sqlite_pages import FILE_NAME, SqlitePageStore, open_store

NOW = 1_000_000_000.0
WEEK = 7 * 86_400.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / FILE_NAME


@pytest.fixture(params=["memory", "sqlite"], scope="session")
def new_store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., PageStore]:
    """Make new stores of each kind: what holds for one holds for the other."""

    def make(*, max_bytes: int = 1 << 20, max_age: float = WEEK) -> PageStore:
        is_file = request.param == "sqlite"
        path = tmp_path_factory.mktemp("state") / FILE_NAME if is_file else None
        return open_store(path, max_bytes=max_bytes, max_age=max_age)

    return make


@pytest.fixture
async def store(new_store: Callable[..., PageStore]) -> AsyncIterator[PageStore]:
    store = new_store()
    yield store
    await store.aclose()


@pytest.fixture
async def store_at() -> AsyncIterator[Callable[..., SqlitePageStore]]:
    """Make stores in files."""
    made: list[SqlitePageStore] = []

    def make(path: Path, *, max_bytes: int = 1 << 20, max_age: float = WEEK) -> SqlitePageStore:
        made.append(SqlitePageStore(path, max_bytes=max_bytes, max_age=max_age))
        return made[-1]

    yield make
    for store in made:
        await store.aclose()


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


@pytest.fixture(scope="session")
def noise() -> Callable[[int, int], str]:
    """Make text of so many characters that hardly becomes smaller, by a number."""

    def make(number: int, size: int) -> str:
        return random.Random(number).randbytes(size // 2).hex()

    return make
