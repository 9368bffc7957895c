"""The picture of a terminal in the README."""

import subprocess
import sys
from pathlib import Path

import pytest
from lxml import etree

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"


def check(file: Path) -> None:
    root = etree.parse(file).getroot()
    text = "".join(root.itertext()).replace("\xa0", " ")
    assert "$ uvx searx-mcp demo" in text
    assert "Found 3 search results" in text
    assert "What was asked" in text
    assert "rate limited" in text
    assert "url(http" not in file.read_text(encoding="utf-8")  # nothing is loaded from elsewhere
    assert root.tag == f"{SVG}svg"


def test_the_readme_shows_the_picture():
    check(ROOT / "docs" / "images" / "demo.svg")
    assert "(docs/images/demo.svg)" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such terminals")
def test_the_script_draws_it_anew(tmp_path):
    file = tmp_path / "demo.svg"
    script = ROOT / "scripts" / "draw_terminal.py"
    subprocess.run([sys.executable, script, file], check=True, capture_output=True, timeout=120)
    check(file)
