"""What lies on the disk of a corpus, and what happens when it cannot be used or read."""

import logging
import random
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from pathlib import Path

import pytest

from searx_mcp.errors import StorageUnavailableError
from searx_mcp.evidence.storage import rows
from searx_mcp.evidence.storage.sqlite import FILE_NAME, SqliteCorpusStore
from searx_mcp.evidence.storage.store import CorpusStore, Kept
from searx_mcp.storage.opening import Schema, set_aside_files
from searx_mcp.storage.sqlite import Database

NOW = 1_000_000_000.0
URL = "https://secret-host.example/secret-path"
OTHER = "https://b.example/"
TEXTS = ("A secretword of bees.", "Bees make wax.")


@pytest.fixture
async def store_at() -> AsyncIterator[Callable[..., CorpusStore]]:
    """Make stores in files."""
    made: list[CorpusStore] = []

    def make(path: Path, namespace: str = "mine", **options) -> CorpusStore:
        given = {"max_bytes": 1 << 26, "max_age": 1e9, "patience": 30, **options}
        made.append(SqliteCorpusStore(path, namespace=namespace, **given))
        return made[-1]

    yield make
    for store in made:
        await store.aclose()


@pytest.fixture
def store(store_at, path):
    return store_at(path)


@pytest.fixture
def made(made):
    """Make a page of secret words."""
    return lambda url=URL, texts=TEXTS: made(texts, url, path=("Hives",), title="A secrettitle")


def change(path: Path, sql: str, **values) -> int:
    """Change the file as another program would."""
    with closing(sqlite3.connect(path)) as connection:
        changed = connection.execute(sql, values).rowcount
        connection.commit()
    return changed


async def test_pages_survive_a_restart_and_are_shared(store_at, path, made, found):
    assert FILE_NAME == "corpus-v1.db"
    one, other = store_at(path), store_at(path)
    assert repr(one) == f"<SqliteCorpusStore {path}>"
    assert not path.parent.exists(), "nothing is made before the first use"
    page, chunks = made()
    await one.keep(page, chunks, NOW)
    assert await other.page(URL) == page
    await one.aclose()
    await other.aclose()
    again = store_at(path)
    assert await again.chunks(URL) == tuple(chunks)
    assert await found(again, "secrettitle wax") == [TEXTS[1], TEXTS[0]]


async def test_what_another_process_keeps_and_removes_is_counted_and_found_at_once(
    store_at, path, made, found
):
    one, other = store_at(path), store_at(path)
    for _ in range(2):
        await other.keep(*made(), NOW)
        assert await one.frequencies(["bees", "wax"]) == (2, {"bees": 2, "wax": 1})
        assert await found(one, "wax") == [TEXTS[1]]
        await other.remove([URL])
        assert await one.frequencies(["bees", "wax"]) == (0, {"bees": 0, "wax": 0})
        assert await found(one, "wax") == []


@pytest.mark.parametrize("how", ["remove", "clear", "purge"])
async def test_what_was_deleted_leaves_no_trace_in_any_file(
    store_at, path, noise, how, made, found
):
    store = store_at(path, "secretnamespace")
    for number in range(30):
        url = f"{URL}/{number}"
        texts = (f"qsecret{number} {noise(number, 20_000)}", *TEXTS)
        await store.keep(*made(url, texts), NOW)
        ids = [chunk.id for chunk in await store.chunks(url)]
        await store.keep_vectors("secretmodel", dict.fromkeys(ids, b"secretvector"))
    path.with_name(f"{FILE_NAME}.damaged-1").write_bytes(b"secret")
    # Words stand in the index by their first letters, without an English ending.
    assert {b"qsecr", b"secret-host", b"secretvector"} == set(marks_in(path))
    size = path.stat().st_size
    match how:
        case "remove":
            assert await store.remove([f"{URL}/{number}" for number in range(30)]) == 30
        case "clear":
            await store.clear()
        case _:
            await store_at(path, "another").purge()
    assert marks_in(path) == []
    assert path.stat().st_size < size / 2
    await store.keep(*made(), NOW)
    assert await found(store, "wax") == [TEXTS[1]]


async def test_pages_removed_from_among_others_leave_no_copy_behind(path, noise, made, store):
    # Rows that SQLite moves between its pages leave copies, which it does not overwrite with the rows.
    dice = random.Random(3)
    urls = [f"https://secret{at:03}.example/{'a' * dice.choice((1, 40, 300))}" for at in range(250)]
    for number, url in enumerate(urls):
        texts = tuple(noise(1_000 * number + at, 900) for at in range(dice.choice((1, 3, 20))))
        await store.keep(*made(url, texts), NOW)
        again = dice.choice(urls[: number + 1])
        await store.keep(
            *made(
                again,
                tuple(noise(1_000 * number + 500 + at, 900) for at in range(dice.randrange(9))),
            ),
            NOW,
        )
    dice.shuffle(urls)
    for first in range(0, 150, 25):
        gone = urls[first : first + 25]
        marks = [url.encode() for url in gone]
        with closing(sqlite3.connect(path)) as other:
            for url in gone:
                for name, content in other.execute(
                    "SELECT CAST(name AS BLOB), content FROM chunks JOIN documents"
                    " ON documents.id = document WHERE url = ?",
                    (url,),
                ):
                    marks += (
                        name,
                        *(content[at : at + 24] for at in range(200, len(content) - 24, 200)),
                    )
        assert await store.remove(gone) == len(gone)
        content = b"".join(entry.read_bytes() for entry in path.parent.iterdir())
        assert [mark for mark in marks if mark in content] == []
    assert len(await store.heads()) == 100


def marks_in(path: Path) -> list[bytes]:
    """What can be read, in any file of the folder, of a page with these words."""
    contents = b"".join(entry.read_bytes() for entry in path.parent.iterdir())
    return [mark for mark in (b"qsecr", b"secret-host", b"secretvector") if mark in contents]


@pytest.mark.parametrize("vector", ["x''", "x'01'", "'ab'", "7"])
async def test_a_vector_of_another_type_is_bytes_or_none(path, vector, made, store):
    page, chunks = made()
    await store.keep(page, chunks, NOW)
    await store.keep_vectors("m", {chunks[0].id: b"ab"})
    change(path, f"UPDATE vectors SET vector = {vector}")  # noqa: S608 - the table above
    known = await store.vectors("m", [chunks[0].id])
    assert all(isinstance(value, bytes) for value in known.values())


# Files that cannot be used


async def test_a_damaged_index_is_found_out_although_the_tables_are_whole(
    path, noise, caplog, made, found, store
):
    for number in range(20):
        await store.keep(*made(f"{URL}/{number}", (noise(number, 4_000), *TEXTS)), NOW)
    await store.aclose()
    assert change(path, "UPDATE chunk_index_data SET block = x'00ff00ff00ff00ff00' WHERE id > 10")
    assert await found(store, "wax") == []
    assert len(set_aside_files(path)) == 1
    await store.keep(*made(), NOW)
    assert await found(store, "wax") == [TEXTS[1]]


@pytest.mark.parametrize("trouble", ["folder", "other program", "other major"])
async def test_what_cannot_be_kept_in_the_file_is_kept_in_memory_and_said_once(
    path, caplog, trouble, made, found, store
):
    if trouble == "folder":
        path.parent.write_text("a file")
    elif trouble == "other program":
        path.parent.mkdir()
        change(path, "CREATE TABLE theirs (x)")
    else:
        theirs = Database(path, Schema(major=2, minors=(("CREATE TABLE theirs (x)",),)))
        await theirs.write(lambda tx: tx.change("INSERT INTO theirs VALUES (1)"))
        await theirs.aclose()
    caplog.set_level(logging.INFO)
    for store_method in (store.clear, store.purge):
        with pytest.raises(StorageUnavailableError):
            await store_method()
    with pytest.raises(StorageUnavailableError):
        await store.remove([URL])
    page, chunks = made()
    await store.keep(page, chunks, NOW)
    assert await store.page(URL) == page
    assert await found(store, "wax") == [TEXTS[1]]
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert str(path.parent) in caplog.text
    assert "secret" not in caplog.text


async def set_pragma(store: SqliteCorpusStore, rule: str) -> None:
    """Let the disk of a store be full or be read alone, or no more."""
    await store._database.read(lambda tx: tx.rows(f"PRAGMA {rule}"))


async def test_a_page_for_which_a_disk_has_no_room_is_not_kept_and_the_others_stay(
    store_at, path, noise, made, store, found, caplog
):
    await store.keep(*made(OTHER), NOW)
    await set_pragma(store, "max_page_count = 1")
    page, chunks = made(URL, (noise(1, 100_000),))
    for _ in range(2):
        assert await store.keep(page, chunks, NOW) == Kept(0, 0, 0)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert (await store.page(URL), store.is_lasting) == (None, True)
    assert await found(store, "wax") == [TEXTS[1]]
    await set_pragma(store, "max_page_count = 1000000")
    assert await store.keep(page, chunks, NOW) == Kept(1, 0, 0)
    assert await store_at(path).page(URL) == page


async def test_a_citation_that_was_not_recorded_is_before_pages_make_room(
    store_at, path, made, noise
):
    store = store_at(path, max_bytes=1 << 18)
    cited = made(OTHER)
    await store.keep(*cited, NOW)
    for number in range(3):
        await store.keep(*made(f"{URL}/{number}"), NOW)
    await set_pragma(store, "query_only = 1")
    await store.pin([OTHER], NOW)
    await set_pragma(store, "query_only = 0")
    for number in range(90):
        await store.keep(*made(f"{URL}/more{number}", (noise(number, 9_000),)), NOW)
    assert await store.page(OTHER) == cited[0]
    assert await store.page(f"{URL}/0") is None


async def test_only_the_latest_citations_wait_until_they_can_be_recorded(path, made, store):
    for number in range(3):
        await store.keep(*made(f"{URL}/{number}"), NOW)
    await set_pragma(store, "query_only = 1")
    await store.pin([f"{URL}/0", f"{URL}/1"], NOW)
    await store.pin([f"{URL}/0"], NOW + 1)
    await store.pin([f"{URL}/more{number}" for number in range(999)], NOW + 2)
    await set_pragma(store, "query_only = 0")
    await store.pin([f"{URL}/2"], NOW)
    with closing(sqlite3.connect(path)) as connection:
        pinned = connection.execute("SELECT url, pinned_at FROM documents ORDER BY url").fetchall()
    assert pinned == [(f"{URL}/0", NOW + 1), (f"{URL}/1", 0), (f"{URL}/2", 0)]


async def test_a_full_disk_does_not_turn_a_question_away_from_the_pages_in_the_file(
    made, found, store
):
    page, chunks = made()
    await store.keep(page, chunks, NOW)
    await set_pragma(store, "max_page_count = 1")
    model = "m" * 100_000
    await store.keep_vectors(model, {chunks[0].id: bytes(100_000)})
    await store.pin([URL], NOW)
    await store.renew(URL, fetched_at=NOW, fresh_until=NOW, etag=model, last_modified="")
    assert await found(store, "wax") == [TEXTS[1]]
    assert await store.page(URL) == page


async def test_a_file_that_can_only_be_read_is_read(path, made, store):
    page, chunks = made()
    for number in range(40):
        await store.keep(*made(f"{OTHER}{number}"), NOW)
    await store.keep(page, chunks, NOW)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        store._database.patience = 0.2
        assert (await store.page(f"{OTHER}0")).url == f"{OTHER}0", (
            "its use is not noted, that is all"
        )
        assert await store.chunks(URL) == tuple(chunks)
        other.execute("ROLLBACK")


# Versions of the words


@pytest.fixture
def keep_under(path, monkeypatch) -> Callable[..., Awaitable[None]]:
    """Store a page whose chunks are found by one word, as another version of the index might do."""

    async def keep(store: CorpusStore, page, chunks, *, version: int, word: str) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(rows, "index_words", lambda *_: f"\n{word}")
            await store.keep(page, chunks, NOW)
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE documents SET version = ?", (version,))

    return keep


async def test_pages_indexed_by_an_earlier_version_are_indexed_anew(
    store_at, path, made, found, store, keep_under
):
    await keep_under(store_at(path), *made(), version=0, word="former")
    assert await found(store, "wax") == [TEXTS[1]]
    assert await found(store, "former") == []
    assert await store.frequencies(["former", "bees"]) == (2, {"former": 0, "bees": 2})
    check_index(path)


async def test_pages_indexed_by_a_later_version_are_left_so_and_can_be_replaced(
    store_at, path, made, found, store, keep_under
):
    page, chunks = made()
    await keep_under(store_at(path), page, chunks, version=99, word="later")
    assert await found(store, "wax") == []
    assert len(await found(store, "later")) == 2
    await store.keep(page, chunks, NOW)
    assert await found(store, "wax") == [TEXTS[1]]
    assert await found(store, "later") == []
    check_index(path)
    await store.remove([URL])
    check_index(path)


def check_index(path: Path) -> None:
    """The index is whole, and has a row for each chunk and no other."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO chunk_index (chunk_index) VALUES ('integrity-check')")
        rows, numbers = (
            set(connection.execute(f"SELECT id FROM {table}"))  # noqa: S608 - two of ours
            for table in ("chunk_index_docsize", "chunks")
        )
        assert rows == numbers
