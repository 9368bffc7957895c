"""Every setting that a page names exists."""

import re
from pathlib import Path

import pytest

from searx_mcp.settings.sources import effective
from searx_mcp.settings.values import Settings

ROOT = Path(__file__).parents[2]
KEYS = {row.key for row in effective(Settings(), {})}
TABLES = {key.partition(".")[0] for key in KEYS if "." in key}
SUBTABLES = {key.rpartition(".")[0] for key in KEYS}
EVENTS = {
    name
    for module in (ROOT / "searx_mcp").rglob("*.py")
    for name in re.findall(r'"([a-z_]+\.[a-z_]+)\b', module.read_text(encoding="utf-8"))
}
"""Events of the log, which are written in the same way."""
_NAMED = re.compile(rf"`((?:{'|'.join(sorted(TABLES))})\.(?!json\b)[a-z_]+)\b(?!\.md|\()")
PAGES = [
    ROOT / "README.md",
    *(page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "decisions"),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_setting_that_a_page_names_exists(page: Path):
    named = set(_NAMED.findall(page.read_text(encoding="utf-8")))
    assert sorted(named - KEYS - SUBTABLES - EVENTS) == []
