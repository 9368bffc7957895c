"""`searx-mcp paths` and `purge`."""

import io
import json
import sys
from typing import Any

import pytest

from searx_mcp.cli.files import print_settings
from searx_mcp.cli.running import ExitCode
from searx_mcp.client.stores import open_pages
from searx_mcp.content.document import Document
from searx_mcp.evidence.storage.postgres import PostgresCorpusStore
from searx_mcp.evidence.storage.store import StoredPage
from searx_mcp.models.attempt import Format
from searx_mcp.ops import local_files
from searx_mcp.ops.local_files import FileKind, KeptFile, KeptFiles, Purged
from searx_mcp.settings.sources import SettingRow
from searx_mcp.settings.values import Settings
from searx_mcp.storage.pages import KeptRobots
from searx_mcp.storage.redis_state import RedisStore
from searx_mcp.storage.state import Account, Window

WARNING = (
    "Public instances still count the searches you already made: for up to 30 days some may refuse "
    "more."
)
ACCOUNT = Account("https://a.example/", (Window(3, 3_600),))


OWN = "http://10.0.0.1/"


@pytest.fixture
async def folder(run_cli, tmp_path):
    """A state folder with a choice in it."""
    folder = tmp_path / "state"
    await run_cli("instances", "add", OWN, SEARX_MCP_STORAGE__FOLDER=str(folder))
    return folder


def state_in(folder):
    """The file of the state."""
    return next(folder.glob("state-v*.db"))


async def holds_choice(run_cli, folder) -> bool:
    ran = await run_cli("instances", "export", SEARX_MCP_STORAGE__FOLDER=str(folder))
    return OWN in json.loads(ran.out)["choices"]["own"]


async def test_paths_shows_every_file(run_cli, folder, monkeypatch):
    # However long the path of the folder is: a table in a pipe has 200 columns.
    monkeypatch.setattr("searx_mcp.cli.output._PIPE_WIDTH", 400)
    ran = await run_cli("paths", SEARX_MCP_STORAGE__FOLDER=str(folder))
    assert ran.code == ExitCode.DONE
    assert str(state_in(folder)) in ran.out
    assert "No queries, no results." in ran.out
    assert "less than a minute ago" in ran.out


async def test_paths_as_json(run_cli, folder):
    ran = await run_cli("paths", "--json", SEARX_MCP_STORAGE__FOLDER=str(folder))
    data = json.loads(ran.out)
    assert set(data) == {"folder", "files", "size"}
    assert data["folder"] == str(folder)
    kinds = [file["kind"] for file in data["files"] if file["path"].startswith(str(folder))]
    assert kinds == ["state", "companion"]
    assert set(data["files"][0]) == {"path", "kind", "what", "size", "age"}


async def test_purge_asks_or_wants_to_be_told(run_cli, folder):
    ran = await run_cli("purge", SEARX_MCP_STORAGE__FOLDER=str(folder))
    assert ran.code == ExitCode.USAGE
    assert "--yes" in ran.err
    assert "Nothing was deleted." in ran.err


@pytest.mark.smoke
async def test_purge_empties_the_state_and_warns(run_cli, folder):
    ran = await run_cli("purge", "--yes", SEARX_MCP_STORAGE__FOLDER=str(folder))
    assert ran.code == ExitCode.DONE
    assert f"Emptied {state_in(folder)}" in ran.out
    assert "may refuse" in ran.out
    assert not await holds_choice(run_cli, folder)


async def test_purge_empties_the_pages_although_they_are_switched_off(run_cli, folder):
    origin, now = "https://a.example", 1_800_000_000.0
    pages = open_pages(Settings.model_validate({"storage": {"folder": str(folder)}}))
    await pages.keep_robots(origin, KeptRobots(200, "", now), now)
    environment = {"SEARX_MCP_STORAGE__FOLDER": str(folder), "SEARX_MCP_STORAGE__PAGES": "false"}
    shown = await run_cli("paths", "--json", **environment)
    assert [file["kind"] for file in json.loads(shown.out)["files"]].count("pages") == 1
    ran = await run_cli("purge", "--yes", "--json", **environment)
    purged = json.loads(ran.out)
    assert purged["emptied"] == [str(folder / "pages-v1.db"), str(state_in(folder))]
    assert list(purged["left"]) == [str(folder / "pages.key")]
    assert await pages.robots(origin, now) is None
    await pages.aclose()


async def test_purge_as_json(run_cli, folder):
    (folder / "catalog-v1.json").write_text("{}")
    ran = await run_cli("purge", "--all", "--yes", "--json", SEARX_MCP_STORAGE__FOLDER=str(folder))
    assert json.loads(ran.out) == {
        "emptied": [str(state_in(folder))],
        "deleted": [str(folder / "catalog-v1.json")],
        "left": {},
    }


@pytest.mark.slow
async def test_purge_empties_the_server_too(run_cli, folder, redis_url):
    store = RedisStore(redis_url, prefix="purged:", patience=30)
    await store.reserve([ACCOUNT], Format.HTML, 1_800_000_000.0)
    environment = {
        "SEARX_MCP_STORAGE__FOLDER": str(folder),
        "SEARX_MCP_REDIS_URL": redis_url,
        "SEARX_MCP_REDIS__PREFIX": "purged:",
    }
    ran = await run_cli("purge", "--yes", "--json", **environment)
    assert json.loads(ran.out)["emptied"] == [str(state_in(folder)), "the server of redis.url"]
    await store.aclose()
    fresh = RedisStore(redis_url, prefix="purged:", patience=30)
    (budget,) = await fresh.budgets([ACCOUNT], 1_800_000_000.0)
    await fresh.aclose()
    assert budget.left == 3


@pytest.mark.slow
async def test_purge_empties_the_corpus_of_all_on_the_server(run_cli, folder, postgres_url):
    given: Any = {"max_bytes": 1 << 26, "max_age": 1e9, "patience": 30}
    store = PostgresCorpusStore(postgres_url, namespace="theirs", **given)
    document = Document(markdown="x", word_count=1)
    page = StoredPage("https://a.example/", "", "", "", "", "", "", "", "", 1.0, 1.0, document)
    await store.keep(page, [], 1.0)
    assert len(await store.heads()) == 1
    environment = {
        "SEARX_MCP_STORAGE__FOLDER": str(folder),
        "SEARX_MCP_POSTGRES_URL": postgres_url,
    }
    ran = await run_cli("purge", "--yes", "--json", **environment)
    assert "the server of postgres.url" in json.loads(ran.out)["emptied"]
    assert await store.heads() == ()
    await store.aclose()


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("redis", "redis://127.0.0.1:1/0"),
        ("postgres", "postgresql://127.0.0.1:1/d?sslmode=disable"),
    ],
)
async def test_purge_says_when_the_server_cannot_be_reached(run_cli, folder, name, url):
    environment = {"SEARX_MCP_STORAGE__FOLDER": str(folder), f"SEARX_MCP_{name.upper()}_URL": url}
    ran = await run_cli("purge", "--yes", **environment)
    assert ran.code == ExitCode.FAILED
    assert name in ran.err.lower()
    assert "Traceback" not in ran.err


def kept(*files: tuple[str, int, float], folder: str | None = "/s") -> KeptFiles:
    listed = tuple(
        KeptFile(path=path, kind=FileKind.OTHER, what="What.", size=size, age=age)
        for path, size, age in files
    )
    return KeptFiles(folder=folder, files=listed, size=sum(size for _, size, _ in files))


@pytest.mark.parametrize(
    ("found", "lines"),
    [
        (
            kept(("/s/a", 999, 59), ("/s/b", 1_500_000, 172_800), ("/c", 1_000, 3_600)),
            [
                "file size written what",
                "/s/a 999 B less than a minute ago What.",
                "/s/b 1,500 kB 2 days ago What.",
                "/c 1 kB 1 hour ago What.",
                "1,502 kB in all; `searx-mcp purge` deletes what was learned and read.",
            ],
        ),
        (
            kept(("/c", 1, 60)),
            ["file size written what", "/c 1 B 1 minute ago What.", "Nothing stored yet in /s"],
        ),
        (kept(folder=None), ["Nothing is stored: storage.state is off."]),
        (kept(), ["Nothing stored yet in /s"]),
    ],
    ids=["some", "settings alone", "off", "none"],
)
async def test_files_are_listed_with_size_and_age(run_cli, monkeypatch, found, lines):
    monkeypatch.setattr(local_files, "kept_files", lambda *_, **__: found)
    ran = await run_cli("paths")
    assert [" ".join(line.split()) for line in ran.out.splitlines()] == lines


@pytest.mark.parametrize(
    ("purged", "lines"),
    [
        (
            Purged(emptied=("/a", "/b"), deleted=("/c",), left={"/d": "It is in use."}),
            ["Emptied /a", "Emptied /b", "Deleted /c", "Kept /d: It is in use.", WARNING],
        ),
        (Purged(deleted=("/c",)), ["Deleted /c"]),
        (
            Purged(left={"/d": "It is in use."}),
            ["Kept /d: It is in use.", "There was nothing to delete."],
        ),
        (Purged(), ["There was nothing to delete."]),
    ],
    ids=["all kinds", "deleted", "left", "nothing"],
)
async def test_what_was_deleted_is_listed_and_warned_of_once(
    run_cli, monkeypatch, tmp_path, purged, lines
):
    async def delete(*_, **__):
        return purged

    monkeypatch.setattr(local_files, "delete_kept", delete)
    ran = await run_cli("purge", "--yes", SEARX_MCP_STORAGE__FOLDER=str(tmp_path))
    assert ran.out.splitlines() == lines


@pytest.mark.parametrize(("answer", "is_gone"), [("y\n", True), ("n\n", False)])
async def test_on_a_terminal_purge_asks_first(run_cli, folder, monkeypatch, answer, is_gone):
    terminal = io.StringIO(answer)
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", terminal)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    ran = await run_cli("purge", SEARX_MCP_STORAGE__FOLDER=str(folder))
    assert f"Delete what was learned and read in {folder}?" in ran.err
    assert ran.code == (0 if is_gone else 130)
    assert ("Emptied" in ran.out) is is_gone
    assert await holds_choice(run_cli, folder) is not is_gone


def test_a_narrow_terminal_shows_every_value_and_origin(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_settings([SettingRow("a_table.a_long_name_of_a_setting", 1, "file f, line 2", "", 1, "")])
    assert capsys.readouterr().out == "a_table.a_long_name_of_a_setting = 1 (file f, line 2)\n"


def test_a_long_value_is_folded_and_its_origin_stays_in_sight(capsys):
    long = SettingRow("a.c", "x" * 70, "file f", "", "", "")
    print_settings([SettingRow("a.b", 1, "default", "", 1, ""), long])
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["setting", "value", "from"],
        ["a.b", "1", "default"],
        ["a.c", "x" * 60, "file", "f"],
        ["x" * 10],
    ]
