"""Keeps and reads pages of a corpus as fast as it can; started, and killed, by `test_processes.py`.

    python corpus_process.py FILE SEED TURNS
    python corpus_process.py URL,SCHEMA SEED TURNS

A page is written in many versions: each of its chunks names the version, so that parts of two can be told
apart. A dot on standard output tells that another ten turns are done.
"""

import asyncio
import hashlib
import random
import sys
from pathlib import Path
from typing import Any

from searx_mcp.content import words
from searx_mcp.content.document import Document
from searx_mcp.evidence.storage.postgres import PostgresCorpusStore
from searx_mcp.evidence.storage.sqlite import SqliteCorpusStore
from searx_mcp.evidence.storage.store import CorpusStore, StoredChunk, StoredPage

PAGES = 12
NOW = 1_000_000_000.0


def page_of(url: str, version: str, parts: int) -> tuple[StoredPage, list[StoredChunk]]:
    """A page whose chunks all name its version, but for the first, which every version has."""
    texts = [f"shared start of {url}", *(f"part{n} of version{version} wax" for n in range(parts))]
    markdown = "\n\n".join(texts)
    chunks = []
    for text in texts:
        start = len(markdown[: markdown.index(text)].encode())
        name = hashlib.sha256(f"{url}|{text}".encode()).hexdigest()
        chunks.append(StoredChunk(name, text, (), start, start + len(text.encode()), 5))
    page = StoredPage(
        url=url,
        final_url=url,
        title="",
        etag=version,
        last_modified="",
        content_hash=hashlib.sha256(markdown.encode()).hexdigest(),
        language="",
        extractor="1",
        tier="native",
        fetched_at=NOW,
        fresh_until=NOW,
        document=Document(markdown=markdown, word_count=1),
    )
    return page, chunks


async def check(store: CorpusStore, url: str) -> None:
    """What is read between two equal heads is of one version."""
    before = await store.head(url)
    page, chunks = await store.page(url), await store.chunks(url)
    vectors = await store.vectors("m", [chunk.id for chunk in chunks])
    if before is None or before != await store.head(url):
        return
    assert page is not None
    assert (page.etag, len(chunks)) == (before.etag, before.chunks)
    data = page.document.markdown.encode()
    assert "\n\n".join(chunk.text for chunk in chunks) == page.document.markdown
    assert all(data[chunk.start : chunk.end].decode() == chunk.text for chunk in chunks)
    assert all(vectors[chunk.id] == chunk.id.encode() for chunk in chunks if chunk.id in vectors)


def opened(place: str) -> CorpusStore:
    """The store in a file, or on a server."""
    given: Any = {"namespace": "shared", "max_bytes": 1 << 28, "max_age": 86_400, "patience": 60}
    if not place.startswith("postgresql:"):
        return SqliteCorpusStore(Path(place), **given)
    url, _, schema = place.rpartition(",")
    return PostgresCorpusStore(url, **given, schema=schema)


async def run(place: str, seed: int, turns: int) -> None:
    store = opened(place)
    dice = random.Random(seed)
    for turn in range(turns):
        url = f"https://{dice.randrange(PAGES)}.example/"
        match dice.randrange(5):
            case 0 | 1:
                page, chunks = page_of(url, f"{seed}x{turn}", dice.randrange(1, 25))
                await store.keep(page, chunks, NOW)
            case 2:
                missing = await store.unembedded("m", 10)
                await store.keep_vectors("m", {each.id: each.id.encode() for each in missing})
            case 3:
                for match in await store.match(words.terms("wax part3"), urls=None, limit=20):
                    assert "wax" in match.chunk.text
                await store.pin([url], NOW)
            case _:
                await check(store, url)
                if turn % 50 == 0:
                    await store.remove([url])
        if turn % 10 == 9:
            print(".", flush=True)  # noqa: T201 - what the parent waits for
    await store.aclose()


if __name__ == "__main__":
    asyncio.run(run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
