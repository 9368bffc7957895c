import os
from pathlib import Path

import pytest

from searx_mcp.fetch.browser.chromium import private_memory

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4_096


def process(proc: Path, number: int, stat: str, statm: str | None) -> None:
    folder = proc / str(number)
    folder.mkdir()
    (folder / "stat").write_text(stat, "utf-8")
    if statm is not None:
        (folder / "statm").write_text(statm, "utf-8")


def test_what_a_group_takes_for_itself_is_added_up(tmp_path):
    process(tmp_path, 7, "7 (chromium) S 1 7 7 0", "900 500 200 1 0 1 0")
    process(tmp_path, 8, "8 (a) b) R 9 9 9) S 7 7 7 0", "900 50 20 1 0 1 0")
    process(tmp_path, 9, "9 (other) S 1 9 7 0", "900 800 0 1 0 1 0")
    (tmp_path / "meminfo").touch()
    assert private_memory(7, proc=tmp_path) == (300 + 30) * PAGE


def test_a_process_that_ends_meanwhile_does_not_count(tmp_path):
    process(tmp_path, 7, "7 (chromium) S 1 7 7 0", "900 500 200 1 0 1 0")
    process(tmp_path, 8, "8 (chromium) Z 7 7 7 0", None)
    process(tmp_path, 9, "", "900 500 200 1 0 1 0")
    (tmp_path / "10").mkdir()
    assert private_memory(7, proc=tmp_path) == 300 * PAGE


def test_where_nobody_tells_it_is_unknown(tmp_path):
    assert private_memory(7, proc=tmp_path) is None
    assert private_memory(7, proc=tmp_path / "gone") is None


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells")
def test_this_process_takes_something():
    taken = private_memory(os.getpgrp())
    assert taken is not None
    assert taken > 1_000_000
