"""Files that an earlier version kept are read: `kept` has the state and the pages of one that searched and read."""

import json
import re
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

pytestmark = pytest.mark.smoke

KEPT = Path(__file__).parent / "kept"
OWN = "http://127.0.0.1:42673/"
CURSOR = "st3pibsat4fvw6kx"
_MOMENT = re.compile(r"\b(?:1795\d{6}\.\d+|1\.795\d+e\+09)\b")


@pytest.fixture
def run(run_cli, tmp_path):
    """Run the command on those files, as if they had been written just now."""
    now = time.time()  # noqa: TID251 - the command goes by the real time
    for source in KEPT.glob("*.sql"):
        with closing(sqlite3.connect(tmp_path / source.with_suffix(".db").name)) as database:
            database.executescript(_MOMENT.sub(f"{now:.3f}", source.read_text()))
    (tmp_path / "pages.key").write_bytes(bytes.fromhex((KEPT / "pages.key").read_text()))

    async def run(*arguments: str):
        return await run_cli(
            *arguments, SEARX_MCP_STORAGE__FOLDER=str(tmp_path), SEARX_MCP_INSTANCES__OWN=OWN
        )

    return run


async def test_what_was_learned_of_an_instance_is_known(run):
    listed = json.loads((await run("instances", "list", "--json")).out)
    (row,) = [row for row in listed["instances"] if row["url"] == OWN]
    assert (row["successes"], row["failures"], row["state"]) == (2, 0, "healthy")


async def test_what_was_chosen_holds(run):
    listed = json.loads((await run("instances", "list", "--json")).out)
    assert "https://own.example/" in [row["url"] for row in listed["instances"]]
    freed = json.loads((await run("instances", "unblock", "nobody.example", "--json")).out)
    assert freed["changed"]


async def test_what_was_read_is_read_on_without_a_request(run):
    ran = await run("fetch", "--cursor", CURSOR, "--json")
    assert ran.code == 0, ran.err
    page = json.loads(ran.out)
    assert page["title"] == "Tea"
    assert "Tea is made of leaves that are dried." in page["markdown_content"]
    assert page["from_cache"]
