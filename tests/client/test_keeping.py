"""Every file that is kept, and how to be rid of them."""

import os

import pytest

from searx_mcp.client.keeping import kept_files, purge
from searx_mcp.models.attempt import Format
from searx_mcp.models.files import FileKind
from searx_mcp.search.state.interface import Account, Window
from searx_mcp.search.state.sqlite import FILE_NAME, open_store

NOW = 1_800_000_000.0
ACCOUNT = Account("https://a.example/", (Window(3, 3_600),))


@pytest.fixture
def folder(tmp_path):
    """A folder with a file of every kind but the state itself."""
    for name in (
        f"{FILE_NAME}.damaged-1",
        "catalog-v1.json",
        "answers.key",
        "own-instance/settings.yml",
        "notes.txt",
        "deeper/state-v1.db",
    ):
        path = tmp_path / "state" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("four")
        os.utime(path, (NOW - 60, NOW - 60))
    return tmp_path / "state"


async def charged(folder):
    store = open_store(folder / FILE_NAME)
    await store.reserve([ACCOUNT], Format.HTML, NOW)
    return store


async def left_of(store):
    (budget,) = await store.budgets([ACCOUNT], NOW)
    return budget.left


async def test_every_file_is_listed_with_what_it_is_its_size_and_its_age(folder, tmp_path):
    store = await charged(folder)
    await store.aclose()
    config = tmp_path / "searx-mcp.toml"
    config.write_text("")
    kept = kept_files(folder, config=config, now=NOW)
    kinds = {file.path.removeprefix(f"{tmp_path}{os.sep}"): file.kind for file in kept.files}
    assert kinds == {
        "searx-mcp.toml": FileKind.SETTINGS,
        "state/state-v1.db": FileKind.STATE,
        "state/state-v1.db.lock": FileKind.COMPANION,
        "state/state-v1.db.damaged-1": FileKind.DAMAGED,
        "state/catalog-v1.json": FileKind.LIST,
        "state/answers.key": FileKind.KEY,
        "state/own-instance/settings.yml": FileKind.OWN_INSTANCE,
        "state/notes.txt": FileKind.OTHER,
        "state/deeper/state-v1.db": FileKind.OTHER,
    }
    listed = next(file for file in kept.files if file.kind is FileKind.LIST)
    assert (listed.size, listed.age) == (4, 60)
    assert kept.size == sum(file.size for file in kept.files)
    assert all(file.what for file in kept.files)


def test_nothing_kept_is_nothing_listed(tmp_path):
    assert kept_files(None, config=None, now=NOW).folder is None
    missing = kept_files(tmp_path / "none", config=tmp_path / "none.toml", now=NOW)
    assert missing.files == ()


@pytest.mark.parametrize("everything", [False, True])
async def test_a_purge_deletes_what_was_learned_and_leaves_what_is_yours(folder, everything):
    store = await charged(folder)
    purged = await purge(folder, store, everything=everything)
    assert await left_of(store) == 3
    await store.aclose()
    names = {path.name for path in folder.rglob("*") if path.is_file()}
    assert purged.emptied == (str(folder / FILE_NAME),)
    assert f"{FILE_NAME}.damaged-1" not in names
    assert ({"catalog-v1.json", "answers.key"} <= names) is not everything
    assert {"settings.yml", "notes.txt"} <= names
    assert set(purged.left) == {
        str(folder / name)
        for name in ("own-instance/settings.yml", "notes.txt", "deeper/state-v1.db")
    } | (set() if everything else {str(folder / n) for n in ("catalog-v1.json", "answers.key")})


async def test_a_server_that_runs_begins_anew(tmp_path):
    server, command = await charged(tmp_path), open_store(tmp_path / FILE_NAME)
    assert await left_of(server) == 2
    await purge(tmp_path, command, everything=True)
    assert await left_of(server) == 3
    assert (await server.reserve([ACCOUNT], Format.HTML, NOW)).granted
    assert server.problem == ""
    await command.aclose()
    await server.aclose()


async def test_purging_what_is_not_there_makes_nothing(tmp_path):
    store = open_store(tmp_path / "state" / FILE_NAME)
    purged = await purge(tmp_path / "state", store, everything=True)
    await store.aclose()
    assert (purged.emptied, purged.deleted, dict(purged.left)) == ((), (), {})
    assert not (tmp_path / "state").exists()


async def test_a_store_in_memory_is_emptied_too():
    store = open_store(None)
    await store.reserve([ACCOUNT], Format.HTML, NOW)
    await purge(None, store, everything=False)
    assert await left_of(store) == 3
