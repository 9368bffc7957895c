"""The script that looks for untested code, run on a repository of one module."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
FILES = {
    "pytest.ini": "[pytest]\nmarkers = slow\n",
    "searx_mcp/__init__.py": "",
    "searx_mcp/room/__init__.py": "",
    "searx_mcp/room/door.py": "def may_enter(guests):\n    return guests < 7\n",
    "tests/far/test_house.py": "from searx_mcp.room.door import may_enter\n\n\ndef test_house():\n    assert not may_enter(7)\n",
    "tests/room/test_door.py": "import pytest\n\nfrom searx_mcp.room.door import may_enter\n\n\n@pytest.mark.slow\ndef test_door():\n    assert may_enter(6)\n",
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
    environment |= {"PYTHONPATH": str(tmp_path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)  # noqa: S607 - the one on the path
    room, whole = [
        subprocess.run(
            [
                sys.executable,
                "-m",
                "scripts.mutate",
                "searx_mcp/room",
                "--most",
                "2",
                "--seed",
                "6",
                *more,
            ],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        ).stdout
        for more in ([], ["--reach", "reach"])
    ]
    assert (
        "door.py:2: compared otherwise\n-    return guests < 7\n+    return (guests <= 7)\n" in room
    )
    assert room.count("door.py") == 1
    assert "tests/room: 1 of 2 changes noticed (50%); drawn with seed 6 from 6" in room
    assert "tests/room: 2 of 2 changes noticed" in whole
    assert (tmp_path / "reach").is_file()
    assert {name: (tmp_path / name).read_text("utf-8") for name in FILES} == FILES
