"""Every setting that a page names exists, and every one that exists is used."""

import ast
import re
import tomllib
from pathlib import Path

from searx_mcp.errors import SettingsError
from searx_mcp.settings.sources import effective, load
from searx_mcp.settings.values import Settings
from searx_mcp.verbs.table import VERBS

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
_NAMED = rf"`((?:{'|'.join(sorted(TABLES))})\.(?!json\b)[a-z_]+)\b(?!\.md|\()"
PAGES = [
    ROOT / "README.md",
    *(page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "decisions"),
]


TEXTS = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in PAGES}


def named(pattern: str) -> set[tuple[str, str]]:
    """What the pages name that matches a pattern, each with its page."""
    return {(name, page) for page, text in TEXTS.items() for name in re.findall(pattern, text)}


def test_every_setting_that_a_page_names_exists():
    known = KEYS | SUBTABLES | EVENTS
    assert [each for each in named(_NAMED) if each[0] not in known] == []


def is_read(variable: str) -> bool:
    try:
        load(environ={variable: "no file, address or number"})
    except SettingsError as exc:
        return "is not a setting" not in str(exc)
    return True


def test_every_variable_that_a_page_names_is_read():
    found = named(r"\bSEARX_MCP_[A-Z_]*[A-Z]\b")
    assert [each for each in found if not is_read(each[0])] == []
    assert not is_read("SEARX_MCP_REDIS__URLS")


def test_every_extra_that_a_page_names_can_be_installed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found = {
        extra
        for extras, _ in named(r"(?:searx-mcp|'\.)\[([a-z,]+)\]")
        for extra in extras.split(",")
    }
    assert found <= project["optional-dependencies"].keys()


def test_every_setting_and_every_argument_is_read_somewhere():
    read = {
        node.attr
        for module in (ROOT / "searx_mcp").rglob("*.py")
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
    }
    arguments = {name for verb in VERBS for name in verb.request.model_fields}
    assert {key.rpartition(".")[2] for key in KEYS} | arguments <= read
