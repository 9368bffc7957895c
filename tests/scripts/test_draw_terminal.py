"""The picture of a terminal in the README."""

import subprocess
import sys
from pathlib import Path

import pytest
from lxml import etree

from searx_mcp.testing.web import article

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"


def shown(file: Path) -> str:
    """What a picture says; it loads nothing from elsewhere."""
    root = etree.parse(file).getroot()
    assert root.tag == f"{SVG}svg"
    assert "url(http" not in file.read_text(encoding="utf-8")
    return "".join(root.itertext()).replace("\xa0", " ")


def test_the_readme_shows_the_pictures():
    text = shown(ROOT / "docs" / "images" / "demo.svg")
    words = ("$ uvx searx-mcp demo", "Found 3 search results", "What was asked", "rate limited")
    assert [each for each in words if each not in text] == []
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "(docs/images/demo.svg)" in readme
    assert "(docs/images/answer.svg)" in readme


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such terminals")
def test_an_answer_is_drawn_with_its_passage_and_quotes(tmp_path):
    text = "How to open a SQLite database read-only: pass the mode ro in its address."
    more = [
        f"A SQLite database may be opened read-only by way {way} of several." for way in "abcdef"
    ]
    site, file = tmp_path / "site", tmp_path / "answer.svg"
    site.mkdir()
    (site / "index.html").write_text(article("Databases", [text, *more]), encoding="utf-8")
    script = ROOT / "scripts" / "draw_terminal.py"
    command = [sys.executable, script, "--answer", site, file]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    assert "$ " in shown(file)
    drawn = file.read_text(encoding="utf-8")
    assert "https://docs.python.org/3.11/" in drawn
    assert "127.0.0.1" not in drawn
    assert "read-only" in drawn
