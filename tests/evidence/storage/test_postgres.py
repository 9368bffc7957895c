"""What a store on a server makes of rows that others wrote, and of a server that goes and comes."""

import secrets
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest

from searx_mcp.evidence.storage import postgres_tables as schema
from searx_mcp.evidence.storage.postgres import PostgresCorpusStore
from searx_mcp.evidence.storage.sqlite import SqliteCorpusStore
from searx_mcp.evidence.storage.standing_in import StandingInCorpusStore
from searx_mcp.evidence.storage.store import Kept

NOW = 1_000_000_000.0
URL, OTHER = "https://a.example/", "https://b.example/"
BOUNDS: dict[str, Any] = {"namespace": "n", "max_bytes": 1 << 26, "max_age": 1e9}


@pytest.fixture
async def store_of() -> AsyncIterator[Callable[..., PostgresCorpusStore]]:
    made: list[PostgresCorpusStore] = []
    schema = f"test_{secrets.token_hex(6)}"

    def make(url: str, **known) -> PostgresCorpusStore:
        made.append(PostgresCorpusStore(url, **BOUNDS, patience=30, schema=schema, **known))
        return made[-1]

    yield make
    for store in made:
        await store.aclose()


@pytest.fixture
def store(store_of, postgres_url):
    return store_of(postgres_url)


async def change(store, sql: str, *values) -> None:
    await store._link.read(lambda connection: connection.execute(sql, *values))


async def test_pages_of_a_schema_that_had_vectors_of_an_extension_stay_and_get_new_ones(
    store_of, postgres_url, monkeypatch, made
):
    page, chunks = made()
    names = [chunk.id for chunk in chunks]
    former = (*schema.MINORS[0], "CREATE TABLE vectors (chunk bigint, model int, vector bytea)")
    monkeypatch.setattr(schema, "MINORS", (former,))
    await store_of(postgres_url).keep(page, chunks, NOW)
    monkeypatch.undo()
    store = store_of(postgres_url)
    assert await store.page(URL) == page
    assert await store.unembedded("m", 9) == tuple(chunks)
    await store.keep_vectors("m", dict.fromkeys(names, b"12"))
    assert await store.vectors("m", names) == dict.fromkeys(names, b"12")


async def test_words_of_an_earlier_version_are_renewed_and_those_of_a_later_one_are_left(
    store, store_of, postgres_url, monkeypatch, made, found
):
    page, chunks = made()
    await store.keep(page, chunks, NOW)
    await store.keep(*made(("Honey melts.",), OTHER), NOW)
    await change(store, "UPDATE chunk_words SET words = '''1:former'':1'")
    await change(
        store, "UPDATE documents SET version = CASE url WHEN $1 THEN 0 ELSE 99 END", URL.encode()
    )
    fresh = store_of(postgres_url)
    assert await found(fresh, "wax") == ["Bees make wax."]
    assert await found(fresh, "honey") == []
    assert await found(fresh, "former") == ["Honey melts."]
    assert await fresh.chunks(URL) == tuple(chunks)
    assert await fresh.keep(*made(("Honey melts.",), OTHER), NOW) == Kept(0, 1, 0)
    assert await found(fresh, "honey") == ["Honey melts."]


async def test_a_chunk_of_very_many_words_is_kept_and_found_by_those_it_has_most(
    store, made, found
):
    words = [f"w{number}" for number in range(25_000)]
    text = " ".join([*words, "wax wax"])
    await store.keep(*made(texts=(text,)), NOW)
    assert await found(store, "wax") == [text]
    ((_, counts),) = [await store.frequencies([words[0], words[-1]])]
    assert counts == {words[0]: 1, words[-1]: 0}


async def test_how_often_a_word_stands_in_a_chunk_is_counted_exactly(store, made):
    texts = tuple(
        " ".join(["wax"] * times + ["honey"] * (300 - times)) for times in (1, 2, 40, 254)
    )
    page, chunks = made(texts=texts)
    await store.keep(replace(page, title=""), chunks, NOW)
    matches = await store.match(["wax"], urls=None, limit=9)
    scores = {match.chunk.text.count("wax"): match.bm25 for match in matches}
    # All chunks are of one length, so that the formula is f * 2.2 / (f + 1.2) of one weight.
    weight = scores[1]
    for times, score in scores.items():
        assert score == pytest.approx(weight * times * 2.2 / (times + 1.2), rel=1e-6)


@pytest.mark.slow
async def test_a_server_that_stops_is_stood_in_for_and_gets_what_was_kept_when_it_is_back(
    start_postgres, store_of, pass_by, made
):
    server = start_postgres()
    there = store_of(server.url)
    store = StandingInCorpusStore(there, lambda: SqliteCorpusStore(None, **BOUNDS))
    other, others = made(url=OTHER)
    await store.keep(other, others, NOW)
    server.stop()
    page, chunks = made()
    assert await store.keep(page, chunks, NOW) == Kept(2, 0, 0)
    assert await store.page(URL) == page
    server.start()
    pass_by(there._link.retry_interval + 1)
    assert await store.chunks(URL) == tuple(chunks)
    assert [head.url for head in await there.heads()] == [URL, OTHER]
    await store.aclose()
