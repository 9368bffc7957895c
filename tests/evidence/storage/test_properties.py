"""Whatever is kept, removed and kept again, a store holds what was kept last and finds no more."""

import asyncio
import secrets
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searx_mcp.evidence.storage.postgres import PostgresCorpusStore
from searx_mcp.evidence.storage.sqlite import SqliteCorpusStore
from searx_mcp.evidence.storage.store import CorpusStore, Kept, StoredChunk, StoredPage

NOW = 1_000_000_000.0
WORDS = ("wax", "honey", "智能", "น้ำ", "пчела", "hive")
URLS = [f"https://{name}.example/" for name in "ab"]
texts = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join), max_size=5)
steps = st.lists(
    st.tuples(st.sampled_from(URLS), st.sampled_from(["", "hive", "honey"]), st.none() | texts),
    max_size=8,
)


@settings(max_examples=40)
@given(done=steps)
def test_a_store_holds_what_was_kept_last(done, made):
    store = SqliteCorpusStore(None, namespace="n", max_bytes=1 << 26, max_age=1e9)
    asyncio.run(keep_and_compare(store, made, done))


@pytest.mark.slow
@settings(max_examples=40)
@given(done=steps)
def test_a_store_on_a_server_holds_what_was_kept_last(postgres_url, done, made):
    namespace = secrets.token_hex(8)
    store = PostgresCorpusStore(
        postgres_url,
        namespace=namespace,
        max_bytes=1 << 40,
        max_age=1e9,
        patience=60,
        schema="test_properties",
    )
    asyncio.run(keep_and_compare(store, made, done))


async def keep_and_compare(
    store: CorpusStore, made: Callable[..., Any], done: list[tuple[str, str, list[str] | None]]
) -> None:
    expected: dict[str, tuple[StoredPage, list[StoredChunk]]] = {}
    async with aclosing(store):
        for url, title, parts in done:
            was_there = url in expected
            _, before = expected.pop(url, (None, []))
            if parts is None:
                assert await store.remove([url]) == was_there
                continue
            page, chunks = made(list(dict.fromkeys(parts)), url, title=title)
            old, new = {each.id for each in before}, {each.id for each in chunks}
            counts = Kept(new=len(new - old), reused=len(new & old), removed=len(old - new))
            assert await store.keep(page, chunks, NOW) == counts
            expected[url] = page, chunks
        assert [head.url for head in await store.heads()] == sorted(expected)
        for url, (page, chunks) in expected.items():
            assert await store.page(url) == page
            assert await store.chunks(url) == tuple(chunks)
        total, counts_of = await store.frequencies(WORDS)
        assert total == sum(len(chunks) for _, chunks in expected.values())
        for word in WORDS:
            found = await store.match([word], urls=None, limit=100)
            having = {
                (page.url, chunk.id)
                for page, chunks in expected.values()
                for chunk in chunks
                if word in f"{page.title} {chunk.text}".split()
            }
            assert {(match.url, match.chunk.id) for match in found} == having
            assert counts_of[word] == len(having)
