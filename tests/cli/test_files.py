"""`searx-mcp paths` and `purge`."""

import json

import pytest

from searx_mcp.cli.main import ExitCode
from searx_mcp.client.stores import open_pages
from searx_mcp.fetch.pages.interface import KeptRobots
from searx_mcp.models.attempt import Format
from searx_mcp.search.state.interface import Account, Window
from searx_mcp.search.state.redis import RedisStore
from searx_mcp.search.state.sqlite import FILE_NAME, open_store
from searx_mcp.settings.values import Settings

ACCOUNT = Account("https://a.example/", (Window(3, 3_600),))


@pytest.fixture
async def folder(tmp_path):
    """A state folder with one charge in it."""
    store = open_store(tmp_path / "state" / FILE_NAME)
    await store.reserve([ACCOUNT], Format.HTML, 1_800_000_000.0)
    await store.aclose()
    return tmp_path / "state"


async def test_paths_shows_every_file(run_cli, folder):
    ran = await run_cli("paths", SEARX_MCP_STORAGE__FOLDER=str(folder))
    assert ran.code == ExitCode.DONE
    assert str(folder / FILE_NAME) in ran.out
    assert "No query, no result." in ran.out
    assert "less than a minute ago" in ran.out


async def test_paths_as_json(run_cli, folder):
    ran = await run_cli("paths", "--json", SEARX_MCP_STORAGE__FOLDER=str(folder))
    data = json.loads(ran.out)
    assert set(data) == {"folder", "files", "size"}
    assert data["folder"] == str(folder)
    kinds = [file["kind"] for file in data["files"] if file["path"].startswith(str(folder))]
    assert kinds == ["state", "companion"]
    assert set(data["files"][0]) == {"path", "kind", "what", "size", "age"}


async def test_paths_says_when_nothing_is_kept(run_cli, tmp_path):
    empty = await run_cli("paths", SEARX_MCP_STORAGE__FOLDER=str(tmp_path / "none"))
    assert "Nothing is kept yet" in empty.out
    off = await run_cli("paths", SEARX_MCP_STORAGE__STATE="false")
    assert "Nothing outlives a process" in off.out


async def test_purge_asks_or_wants_to_be_told(run_cli, folder):
    ran = await run_cli("purge", SEARX_MCP_STORAGE__FOLDER=str(folder))
    assert ran.code == ExitCode.USAGE
    assert "--yes" in ran.err
    assert "Nothing was deleted." in ran.err


async def test_purge_empties_the_state_and_warns(run_cli, folder):
    ran = await run_cli("purge", "--yes", SEARX_MCP_STORAGE__FOLDER=str(folder))
    assert ran.code == ExitCode.DONE
    assert f"Emptied {folder / FILE_NAME}" in ran.out
    assert "will refuse" in ran.out
    store = open_store(folder / FILE_NAME)
    (budget,) = await store.budgets([ACCOUNT], 1_800_000_000.0)
    await store.aclose()
    assert budget.left == 3


async def test_purge_empties_the_pages_although_they_are_switched_off(run_cli, folder):
    origin, now = "https://a.example", 1_800_000_000.0
    pages = open_pages(Settings.model_validate({"storage": {"folder": str(folder)}}))
    await pages.keep_robots(origin, KeptRobots(200, "", now), now)
    environment = {
        "SEARX_MCP_STORAGE__FOLDER": str(folder),
        "SEARX_MCP_STORAGE__PAGES": "false",
    }
    shown = await run_cli("paths", "--json", **environment)
    assert [file["kind"] for file in json.loads(shown.out)["files"]].count("pages") == 1
    ran = await run_cli("purge", "--yes", "--json", **environment)
    purged = json.loads(ran.out)
    assert purged["emptied"] == [str(folder / "pages-v1.db"), str(folder / FILE_NAME)]
    assert list(purged["left"]) == [str(folder / "pages.key")]
    assert await pages.robots(origin, now) is None
    await pages.aclose()


async def test_purge_as_json(run_cli, folder):
    (folder / "catalog-v1.json").write_text("{}")
    ran = await run_cli("purge", "--all", "--yes", "--json", SEARX_MCP_STORAGE__FOLDER=str(folder))
    assert json.loads(ran.out) == {
        "emptied": [str(folder / FILE_NAME)],
        "deleted": [str(folder / "catalog-v1.json")],
        "left": {},
    }


async def test_purging_nothing_says_so(run_cli, tmp_path):
    ran = await run_cli("purge", "--yes", SEARX_MCP_STORAGE__FOLDER=str(tmp_path / "none"))
    assert (ran.code, ran.out.strip()) == (ExitCode.DONE, "There was nothing to delete.")


@pytest.mark.slow
async def test_purge_empties_the_server_too(run_cli, folder, redis_url):
    store = RedisStore(redis_url, prefix="purged:")
    await store.reserve([ACCOUNT], Format.HTML, 1_800_000_000.0)
    environment = {
        "SEARX_MCP_STORAGE__FOLDER": str(folder),
        "SEARX_MCP_REDIS_URL": redis_url,
        "SEARX_MCP_REDIS__PREFIX": "purged:",
    }
    ran = await run_cli("purge", "--yes", "--json", **environment)
    assert json.loads(ran.out)["emptied"] == [str(folder / FILE_NAME), "the server of redis.url"]
    await store.aclose()
    fresh = RedisStore(redis_url, prefix="purged:")
    (budget,) = await fresh.budgets([ACCOUNT], 1_800_000_000.0)
    await fresh.aclose()
    assert budget.left == 3


async def test_purge_says_when_the_server_cannot_be_reached(run_cli, folder):
    environment = {
        "SEARX_MCP_STORAGE__FOLDER": str(folder),
        "SEARX_MCP_REDIS_URL": "redis://127.0.0.1:1/0",
    }
    ran = await run_cli("purge", "--yes", **environment)
    assert ran.code == ExitCode.FAILED
    assert "redis" in ran.err.lower()
    assert "Traceback" not in ran.err
