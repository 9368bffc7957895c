"""Several processes on one corpus, some of them killed."""

import asyncio
import secrets
import sqlite3
import sys
from contextlib import aclosing, closing
from pathlib import Path

import pytest

from searx_mcp.evidence.storage.postgres import PostgresCorpusStore
from searx_mcp.evidence.storage.sqlite import FILE_NAME, SqliteCorpusStore
from searx_mcp.evidence.storage.store import CorpusStore

PROGRAM = Path(__file__).with_name("corpus_process.py")
TURNS = 100


@pytest.fixture
def run(start_program):
    """Runs the program to its end, after it was killed in the middle of its work some times."""

    async def ran(place: Path | str, seed: int, *, killed: int) -> None:
        for life in range(killed):
            doomed = await start_program(
                sys.executable, PROGRAM, place, str(seed + 100 * (life + 1)), "100000"
            )
            doomed.stdin.close()
            for _ in range(2 + seed):
                await doomed.stdout.readline()
            doomed.kill()
            _, errors = await doomed.communicate()
            assert errors.decode() == ""
        process = await start_program(sys.executable, PROGRAM, place, str(seed), str(TURNS))
        _, errors = await process.communicate(b"")
        assert (errors.decode(), process.returncode) == ("", 0)

    return ran


async def check_whole(store: CorpusStore) -> None:
    """Every page is of one version, and all of its chunks are found."""
    heads = await store.heads()
    assert heads
    for head in heads:
        page, chunks = await store.page(head.url), await store.chunks(head.url)
        assert page is not None
        assert len(chunks) == head.chunks
        assert "\n\n".join(chunk.text for chunk in chunks) == page.document.markdown
        found = await store.match(["wax"], urls=[head.url], limit=100)
        assert {match.chunk for match in found} == set(chunks[1:])
    everything = await store.match(["wax"], urls=None, limit=10_000)
    assert len(everything) == sum(head.chunks - 1 for head in heads)


@pytest.mark.slow
async def test_processes_some_of_them_killed_leave_whole_pages_and_a_whole_index(run, tmp_path):
    path = tmp_path / "state" / FILE_NAME
    async with asyncio.TaskGroup() as group:
        for seed in range(4):
            group.create_task(run(path, seed, killed=2 if seed < 2 else 0))

    store = SqliteCorpusStore(path, namespace="shared", max_bytes=1 << 28, max_age=86_400)
    async with aclosing(store):
        await check_whole(store)
    assert sorted(entry.name for entry in path.parent.iterdir()) == [FILE_NAME, f"{FILE_NAME}.lock"]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.execute("INSERT INTO chunk_index (chunk_index) VALUES ('integrity-check')")
        for left, right in (
            ("SELECT id FROM chunks", "SELECT id FROM chunk_index_docsize"),
            ("SELECT document FROM chunks", "SELECT id FROM documents"),
            ("SELECT id FROM documents", "SELECT document FROM bodies"),
        ):
            one, other = (set(connection.execute(sql).fetchall()) for sql in (left, right))
            assert one == other
        assert not connection.execute(
            "SELECT 1 FROM vectors WHERE chunk NOT IN (SELECT id FROM chunks)"
        ).fetchall()


@pytest.mark.slow
async def test_processes_on_one_server_some_of_them_killed_leave_whole_pages(run, postgres_url):
    schema = f"test_{secrets.token_hex(6)}"
    async with asyncio.TaskGroup() as group:
        for seed in range(3):
            group.create_task(run(f"{postgres_url},{schema}", seed, killed=1 if seed < 2 else 0))

    store = PostgresCorpusStore(
        postgres_url,
        namespace="shared",
        max_bytes=1 << 28,
        max_age=86_400,
        patience=60,
        schema=schema,
    )
    async with aclosing(store):
        await check_whole(store)
        left = await store._link.read(
            lambda connection: connection.fetchval(
                "SELECT count(*) FROM chunks FULL JOIN chunk_words ON chunk = id"
                " WHERE id IS NULL OR chunk IS NULL"
            )
        )
    assert left == 0
