"""The script that looks for untested code, run on a repository of one module."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
FILES = {
    "searx_mcp/__init__.py": "",
    "searx_mcp/room/__init__.py": "",
    "searx_mcp/room/door.py": "LIMIT = 7\n\n\ndef may_enter(guests):\n    return guests < LIMIT\n",
    "tests/room/test_door.py": "from searx_mcp.room.door import may_enter\n\n\ndef test_door():\n    assert may_enter(6)\n",
}


@pytest.mark.slow
def test_what_no_test_notices_is_printed_and_the_working_tree_is_left_alone(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "scripts").mkdir()
    for name in ("mutate.py", "mutants.py"):
        shutil.copy(SCRIPTS / name, tmp_path / "scripts")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("COVERAGE_")}
    environment["PYTHONPATH"] = str(tmp_path)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)  # noqa: S607 - the one on the path
    printed = subprocess.run(
        [sys.executable, "-m", "scripts.mutate", "searx_mcp/room/door.py", "--most", "9"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    ).stdout
    assert "searx_mcp/room/door.py:5: compared otherwise\n-    return guests < LIMIT\n" in printed
    assert "+LIMIT = 8" in printed
    assert "+LIMIT = 6" not in printed
    assert "tests/room: 3 of 6 changes noticed (50%)" in printed
    assert {name: (tmp_path / name).read_text("utf-8") for name in FILES} == FILES
