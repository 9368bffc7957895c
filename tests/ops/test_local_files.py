"""Every file that is kept, and how to be rid of them."""

import os

import pytest

from searx_mcp.client.stores import open_pages
from searx_mcp.content.document import Document
from searx_mcp.evidence.storage.sqlite import FILE_NAME as CORPUS_NAME
from searx_mcp.evidence.storage.sqlite import SqliteCorpusStore
from searx_mcp.evidence.storage.store import StoredChunk, StoredPage
from searx_mcp.models.attempt import Format
from searx_mcp.ops.local_files import FileKind, delete_kept, kept_files
from searx_mcp.settings.values import Settings
from searx_mcp.storage.memory import MemoryPageStore
from searx_mcp.storage.pages import Capture, CapturedPage, KeptRobots, PageKey
from searx_mcp.storage.sqlite_state import FILE_NAME, open_store
from searx_mcp.storage.state import Account, Window

NOW = 1_800_000_000.0
ACCOUNT = Account("https://a.example/", (Window(3, 3_600),))


@pytest.fixture
def folder(tmp_path):
    """A folder with a file of every kind but the state and the pages themselves."""
    for name in (
        f"{FILE_NAME}.damaged-1",
        "pages-v1.db.damaged-2",
        "corpus-v1.db.damaged-1",
        "catalog-v1.json",
        "answers.key",
        "pages.key",
        "own-native/settings.yml",
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


def pages_in(folder):
    """The store of pages that the settings name."""
    return open_pages(Settings.model_validate({"storage": {"folder": str(folder)}}))


KEY = PageKey("default", "https://a.example/")


async def read_in(folder):
    """A store of pages with one in it."""
    store = pages_in(folder)
    page = CapturedPage(
        document=Document(markdown="text", word_count=1),
        final_url=KEY.url,
        content_type="text/html",
        content_length=4,
        status_code=200,
    )
    await store.keep(KEY, Capture(page, KEY.url, NOW, NOW, 1_024), NOW)
    return store


@pytest.fixture
async def corpus_in():
    """Make stores of the corpus in a folder, or in memory."""
    made = []

    def make(folder, namespace="default"):
        path = folder and folder / CORPUS_NAME
        made.append(SqliteCorpusStore(path, namespace=namespace, max_bytes=1 << 26, max_age=86_400))
        return made[-1]

    yield make
    for store in made:
        await store.aclose()


async def with_page(store):
    """A corpus with a page in it."""
    text = {"title": "", "etag": "", "last_modified": "", "language": "", "extractor": "1"}
    page = StoredPage(
        url=KEY.url,
        final_url=KEY.url,
        content_hash="",
        tier="native",
        fetched_at=NOW,
        fresh_until=NOW,
        document=Document(markdown="text", word_count=1),
        **text,
    )
    await store.keep(page, [StoredChunk("1", "text", (), 0, 4, 1)], NOW)
    return store


async def left_of(store):
    (budget,) = await store.budgets([ACCOUNT], NOW)
    return budget.left


async def test_every_file_is_listed_with_what_it_is_its_size_and_its_age(
    folder, tmp_path, corpus_in
):
    for made in (await charged(folder), await read_in(folder), await with_page(corpus_in(folder))):
        await made.aclose()
    config = tmp_path / "searx-mcp.toml"
    config.write_text("")
    kept = kept_files(folder, config=config, now=NOW)
    kinds = {file.path.removeprefix(f"{tmp_path}{os.sep}"): file.kind for file in kept.files}
    assert kinds == {
        "searx-mcp.toml": FileKind.SETTINGS,
        "state/state-v1.db": FileKind.STATE,
        "state/state-v1.db.lock": FileKind.COMPANION,
        "state/state-v1.db.damaged-1": FileKind.DAMAGED,
        "state/corpus-v1.db": FileKind.CORPUS,
        "state/corpus-v1.db.lock": FileKind.COMPANION,
        "state/corpus-v1.db.damaged-1": FileKind.DAMAGED,
        "state/pages-v1.db": FileKind.PAGES,
        "state/pages-v1.db.lock": FileKind.COMPANION,
        "state/pages-v1.db.damaged-2": FileKind.DAMAGED,
        "state/pages.key": FileKind.PAGES_KEY,
        "state/catalog-v1.json": FileKind.LIST,
        "state/answers.key": FileKind.KEY,
        "state/own-native/settings.yml": FileKind.OWN_INSTANCE,
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
async def test_a_purge_deletes_what_was_learned_and_read_and_leaves_what_is_yours(
    folder, everything, corpus_in
):
    store, pages, corpus = (
        await charged(folder),
        await read_in(folder),
        await with_page(corpus_in(folder, "mine")),
    )
    purged = await delete_kept(folder, store, pages, corpus_in(folder), everything=everything)
    assert await left_of(store) == 3
    assert await pages.find(KEY, NOW) is None
    assert await corpus.page(KEY.url) is None, "whatever its namespace"
    await store.aclose()
    await pages.aclose()
    names = {path.name for path in folder.rglob("*") if path.is_file()}
    emptied = ("corpus-v1.db", "pages-v1.db", FILE_NAME)
    assert purged.emptied == tuple(str(folder / name) for name in emptied)
    assert not [name for name in names if ".damaged-" in name]
    with_all = {"catalog-v1.json", "answers.key", "pages.key"}
    assert (with_all <= names) is not everything
    assert {"settings.yml", "notes.txt"} <= names
    assert set(purged.left) == {
        str(folder / name)
        for name in ("own-native/settings.yml", "notes.txt", "deeper/state-v1.db")
    } | (set() if everything else {str(folder / name) for name in with_all})


async def test_a_server_that_runs_begins_anew(tmp_path, corpus_in):
    server, command = await charged(tmp_path), open_store(tmp_path / FILE_NAME)
    reader, pages = await read_in(tmp_path), pages_in(tmp_path)
    assert await left_of(server) == 2
    assert await reader.find(KEY, NOW)
    await delete_kept(tmp_path, command, pages, corpus_in(tmp_path), everything=True)
    assert await left_of(server) == 3
    assert await reader.find(KEY, NOW) is None
    assert (await server.reserve([ACCOUNT], Format.HTML, NOW)).granted
    assert server.problem == ""
    for store in (command, server, reader, pages):
        await store.aclose()


async def test_purging_what_is_not_there_makes_nothing(tmp_path, corpus_in):
    folder = tmp_path / "state"
    stores = open_store(folder / FILE_NAME), pages_in(folder), corpus_in(folder)
    purged = await delete_kept(folder, *stores, everything=True)
    for store in stores[:2]:
        await store.aclose()
    assert (purged.emptied, purged.deleted, dict(purged.left)) == ((), (), {})
    assert not (tmp_path / "state").exists()


async def test_stores_in_memory_are_emptied_too(corpus_in):
    store, pages = open_store(None), MemoryPageStore(max_bytes=1 << 20, max_age=60)
    await store.reserve([ACCOUNT], Format.HTML, NOW)
    await pages.keep_robots("https://a.example", KeptRobots(200, "", NOW), NOW)
    corpus = await with_page(corpus_in(None))
    await delete_kept(None, store, pages, corpus, everything=False)
    assert await left_of(store) == 3
    assert pages.size == 0
    assert await corpus.page(KEY.url) is None


def test_searxng_itself_is_one_entry_and_hides_nothing(folder):
    (folder / FILE_NAME).touch()
    source = folder / "own-native" / "versions" / "abc" / "source"
    source.mkdir(parents=True)
    for number in range(1_200):
        (source / f"{number}.py").touch()
    (source / "link").symlink_to("nowhere")
    (source / "some.py").write_text("x" * 1_000)
    (folder / "own-native" / "settings.yml").write_text("four")
    (folder / "own-native.lock").touch()
    kept = {
        file.path.removeprefix(f"{folder}{os.sep}"): file
        for file in kept_files(folder, config=None, now=NOW).files
    }
    assert kept[FILE_NAME].kind is FileKind.STATE
    assert kept["own-native.lock"].kind is FileKind.COMPANION
    ours = {name: file for name, file in kept.items() if name.startswith("own-native/")}
    assert set(ours) == {"own-native/settings.yml", "own-native/versions"}
    assert {file.kind for file in ours.values()} == {FileKind.OWN_INSTANCE}
    assert ours["own-native/versions"].size >= 1_000
