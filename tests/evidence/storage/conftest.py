"""Pages with their chunks, as they are kept in a store, and what is found of them."""

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from searx_mcp.content import words
from searx_mcp.content.document import Document
from searx_mcp.evidence.storage.store import CorpusStore, StoredChunk, StoredPage

NOW = 1_000_000_000.0

Made = Callable[..., tuple[StoredPage, list[StoredChunk]]]


@pytest.fixture(scope="session")
def made() -> Made:
    """Make a page of some texts, each of which is a chunk; `known` are fields of the page."""

    def make(
        texts: Sequence[str] = ("A word of bees.", "Bees make wax."),
        url: str = "https://a.example/",
        *,
        path: tuple[str, ...] = (),
        **known,
    ) -> tuple[StoredPage, list[StoredChunk]]:
        markdown, chunks = "", []
        for text in texts:
            start = len(markdown.encode())
            markdown += f"{text}\n\n"
            name = hashlib.sha256(f"{url}|{' > '.join(path)}|{text}".encode()).hexdigest()
            end = start + len(text.encode())
            chunks.append(StoredChunk(name, text, path, start, end, len(text) // 4))
        page = StoredPage(
            url=url,
            final_url=f"{url}final",
            title="Hives",
            etag='"1"',
            last_modified="Mon, 01 Jan 2001 00:00:00 GMT",
            content_hash=hashlib.sha256(markdown.encode()).hexdigest(),
            language="en",
            extractor="1",
            tier="native",
            fetched_at=NOW,
            fresh_until=NOW + 300,
            document=Document(title="Hives", markdown=markdown, word_count=1),
        )
        return replace(page, **known), chunks

    return make


@pytest.fixture(scope="session")
def found() -> Callable[..., Awaitable[list[str]]]:
    """Find the texts of the chunks that fit a question, best first."""

    async def find(
        store: CorpusStore, question: str, *, urls: Sequence[str] | None = None
    ) -> list[str]:
        matches = await store.match(words.terms(question), urls=urls, limit=10)
        return [match.chunk.text for match in matches]

    return find


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a corpus is kept in a file."""
    return tmp_path / "state" / "corpus-v1.db"
