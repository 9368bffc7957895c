"""What is kept in memory while a server is away, and where it is when the server is back."""

from typing import Any

import pytest
from typing_extensions import override

from searx_mcp.errors import StorageBusyError, StorageError, StorageUnavailableError
from searx_mcp.evidence.storage.sqlite import SqliteCorpusStore
from searx_mcp.evidence.storage.standing_in import StandingInCorpusStore
from searx_mcp.evidence.storage.store import Kept

NOW = 1_000_000_000.0
URL, OTHER = "https://a.example/", "https://b.example/"
BOUNDS: dict[str, Any] = {"namespace": "n", "max_bytes": 1 << 26, "max_age": 1e9}


class Server(SqliteCorpusStore):
    """A store that fails as long as it is told to."""

    error: Exception | None = None

    @override
    async def _try(self, call):
        if self.error is not None:
            raise self.error
        return await super()._try(call)

    @override
    async def remove(self, urls) -> int:
        if self.error is not None:
            raise self.error
        return await super().remove(urls)


@pytest.fixture
async def server():
    store = Server(None, **BOUNDS)
    yield store
    store.error = None
    await store.aclose()


@pytest.fixture
async def store(server):
    made = StandingInCorpusStore(server, lambda: SqliteCorpusStore(None, **BOUNDS))
    yield made
    await made.aclose()


async def test_all_that_works_in_memory_works_while_the_server_is_away(store, server, made):
    server.error = StorageUnavailableError("away", advice="wait")
    page, chunks = made()
    assert await store.keep(page, chunks, NOW) == Kept(2, 0, 0)
    assert await store.page(URL) == page
    assert (await store.head(URL)).url == URL
    assert [head.url for head in await store.heads()] == [URL]
    assert await store.chunks(URL) == tuple(chunks)
    assert len(await store.match(["wax"], urls=None, limit=5)) == 1
    assert await store.frequencies(["wax"]) == (2, {"wax": 1})
    assert await store.unembedded("m", 5) == tuple(chunks)
    await store.keep_vectors("m", {chunks[0].id: b"12"})
    assert await store.vectors("m", [chunks[0].id]) == {chunks[0].id: b"12"}
    assert await store.embedded("m") == 1
    await store.pin([URL], NOW)
    await store.renew(URL, fetched_at=NOW, fresh_until=NOW, etag="x", last_modified="")
    assert (await store.totals()).documents == 1
    assert [each.etag async for each in store.export()] == ["x"]
    assert "away" in repr(store)


async def test_what_was_kept_meanwhile_is_on_the_server_before_anything_is_asked_of_it(
    store, server, made
):
    await store.keep(*made(url=OTHER), NOW)
    server.error = StorageUnavailableError("away", advice="wait")
    page, chunks = made()
    await store.keep(page, chunks, NOW)
    assert await store.page(OTHER) is None
    server.error = None
    assert await store.chunks(URL) == tuple(chunks)
    assert [head.url for head in await server.heads()] == [URL, OTHER]
    assert "there" in repr(store)


async def test_a_page_that_the_server_does_not_take_holds_up_nothing(store, server, made):
    server.error = StorageUnavailableError("away", advice="wait")
    await store.keep(*made(), NOW)
    server.error = None
    keep = server.keep

    async def refuse(page, chunks, now):
        if page.url == URL:
            raise StorageError("rejected a value")
        return await keep(page, chunks, now)

    server.keep = refuse
    await store.keep(*made(url=OTHER), NOW)
    assert [head.url for head in await store.heads()] == [OTHER]


async def test_a_busy_server_is_no_reason_to_go_on_without_it(store, server, made):
    server.error = StorageBusyError("busy", advice="wait")
    with pytest.raises(StorageBusyError):
        await store.keep(*made(), NOW)
    assert "there" in repr(store)


async def test_a_corpus_is_not_said_to_be_empty_because_its_server_is_away(store, server, made):
    await store.keep(*made(), NOW)
    server.error = StorageUnavailableError("away", advice="wait")
    with pytest.raises(StorageUnavailableError):
        await store.totals()
    server.error = None
    assert (await store.totals()).documents == 1


@pytest.mark.parametrize("how", ["remove", "clear", "purge"])
async def test_nothing_is_said_to_be_deleted_while_the_server_is_away(store, server, how, made):
    server.error = StorageUnavailableError("away", advice="wait")
    await store.keep(*made(), NOW)
    if how != "remove":
        server._database.write = server.remove
    with pytest.raises(StorageUnavailableError):
        await (store.remove([URL]) if how == "remove" else getattr(store, how)())


@pytest.mark.parametrize("how", ["remove", "clear", "purge"])
async def test_a_page_of_memory_and_server_is_removed_from_both(store, server, how, made):
    server.error = StorageUnavailableError("away", advice="wait")
    await store.keep(*made(), NOW)
    server.error = None
    done = await (store.remove([URL]) if how == "remove" else getattr(store, how)())
    assert done == (1 if how == "remove" else None)
    assert await store.heads() == await server.heads() == ()
