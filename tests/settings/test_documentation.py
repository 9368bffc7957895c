"""Every setting that a page names exists, every one that exists is used, and the written lists are up to date."""

import ast
import importlib.util
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from searx_mcp.errors import SettingsError
from searx_mcp.settings.sources import effective, load
from searx_mcp.settings.values import Settings
from searx_mcp.verbs.table import VERBS

ROOT = Path(__file__).parents[2]
ROWS = effective(Settings(), {})
KEYS = {row.key for row in ROWS}
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


FOLDERS = [ROOT / name for name in ("searx_mcp", "tests", "benchmarks", "docs", "config")]
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


def leaves(table: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in table.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


@pytest.fixture(scope="module")
def write_config() -> ModuleType:
    """The script that writes the lists of settings."""
    spec = importlib.util.spec_from_file_location(
        "write_config", ROOT / "scripts" / "write_config.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_argument_is_given_in_a_test_besides_those_of_reading_arguments():
    reading = {"test_coercion.py", "test_arguments.py"}
    tests = (path for path in (ROOT / "tests").rglob("*.py") if path.name not in reading)
    code = "\n".join(path.read_text(encoding="utf-8") for path in tests)
    names = {name for verb in VERBS for name in verb.request.model_fields}
    assert {name for name in names if not re.search(rf'\b{name}["=]', code)} == set()


def test_the_files_and_names_that_the_guide_to_changes_names_exist():
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Files to touch")[2]
    named = set(re.findall(r"`([^`\s]+)`", guide))
    files = {path for folder in FOLDERS for path in folder.rglob("*")}
    paths = [f"/{path.relative_to(ROOT)}" for path in (*FOLDERS, *files)]
    missing = {
        name
        for name in named
        if "/" in name and not any(path.endswith(f"/{name.rstrip('/')}") for path in paths)
    }
    code = "\n".join(path.read_text(encoding="utf-8") for path in files if path.suffix == ".py")
    constants = (name for name in named if re.fullmatch(r"_?[A-Z][A-Z_]+", name))
    missing |= {
        name for name in constants if not re.search(rf"^ *{name}\b.* = ", code, re.MULTILINE)
    }
    assert missing == set()


def test_the_written_lists_are_up_to_date(write_config):
    assert write_config.main(["--check"]) == 0


def test_the_example_file_changes_nothing():
    settings, origins = load(path=ROOT / "config" / "searx-mcp.toml", environ={})
    assert settings == Settings()
    assert set(origins.values()) == {"default"}


def test_every_line_of_the_example_file_is_a_default():
    lines = (ROOT / "config" / "searx-mcp.toml").read_text(encoding="utf-8").splitlines()
    text = "\n".join(line.removeprefix("# ") if " = " in line else line for line in lines)
    values = tomllib.loads(text.partition("# Search arguments by")[0])
    assert Settings.model_validate(values) == Settings()
    assert set(leaves(values)) == {row.key for row in ROWS}


def test_the_documentation_names_every_setting_and_variable():
    page = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    for row in ROWS:
        assert f"| `{row.key.rpartition('.')[2]}` |" in page
    for name in ("SEARXNG_URL", "SEARX_MCP_CONFIG", "SEARX_MCP_LOG_LEVEL", "SEARX_MCP_CAPTURES"):
        assert f"`{name}`" in page


def test_the_examples_of_the_documentation_load(write):
    page = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    entries, profile = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    variables, addresses = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    settings, _ = load(path=write(profile), environ=environ_of(variables))
    assert settings.search.cache_ttl == 60
    assert len(settings.instances.own) == 2
    assert settings.search_defaults().profile["time_range"] == "week"
    settings, _ = load(path=write(entries), environ={})
    assert len(settings.instances.credentials) == len(settings.instances.own) == 2
    settings, _ = load(environ=environ_of(addresses))
    (entry,) = settings.instances.credentials
    assert entry.password is not None
    assert entry.password.get_secret_value() == "p@ss"


@pytest.mark.parametrize(
    ("key", "default", "values"),
    [
        ("search.fan_out", "`1`", "1-10"),
        ("fetch.cache_size", "`104857600`", "1,048,576-10,737,418,240"),
        ("embedding.threshold", "`-1.0`", "-1 to 1"),
        ("instances.public", '`"auto"`', "auto, on, off"),
        ("server.profile", '`"default"`', "default, research, small, chatgpt"),
        ("web_search.request_delay_range", "`[100, 500]`", "0-60,000"),
        ("web_fetch.user_agent", '`""`', ""),
        ("markdown.tables", "`true`", ""),
    ],
)
def test_the_documentation_shows_bounds_and_names_of_values(write_config, key, default, values):
    table, _, name = key.rpartition(".")
    section = write_config.markdown().partition(f"### `[{table}]`")[2].partition("\n###")[0]
    assert f"| `{name}` | {default} | {values} |" in section


def test_the_documentation_shows_the_beginning_of_a_long_list(write_config):
    (row,) = [
        line for line in write_config.markdown().splitlines() if "`preferred_domains`" in line
    ]
    assert '"docs.*"' in row
    assert "in all" in row
    assert "unicode.org" not in row


def environ_of(shell: str) -> dict[str, str]:
    return dict(line.replace('"', "").split("=", 1) for line in shell.splitlines())


def test_the_script_tells_and_mends_what_is_not_up_to_date(write_config, tmp_path, capsys):
    for folder in ("config", "docs/decisions", "docs/reference", "tests/server/published"):
        (tmp_path / folder).mkdir(parents=True)
    tools = (
        *("web_search", "web_fetch", "read_page", "answer"),
        *("search_corpus", "corpus_status", "ingest"),
    )
    pages = {
        "reference/settings.md": ("settings",),
        "reference/tools.md": tools,
        "reference/cli.md": ("commands", "exit_codes"),
        "reference/errors.md": ("errors", "reasons"),
        "reference/metrics.md": ("metrics",),
        "decisions/channels.md": ("clients", "sources"),
    }
    for file, names in pages.items():
        places = (
            (write_config.BEGIN.format(name), write_config.END.format(name)) for name in names
        )
        text = "\n".join(f"{begin}\nold\n{end}" for begin, end in places)
        (tmp_path / "docs" / file).write_text(f"a\n{text}\nb\n", encoding="utf-8")
    page = tmp_path / "docs" / "reference" / "tools.md"
    assert write_config.main(["--check"], root=tmp_path) == 1
    assert str(page) in capsys.readouterr().out
    assert not (tmp_path / "config" / "searx-mcp.toml").exists()
    assert write_config.main([], root=tmp_path) == 0
    assert page.read_text(encoding="utf-8").startswith("a\n<!--")
    assert "| `cursor` |" in page.read_text(encoding="utf-8")
    page.write_text("nothing\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="are missing"):
        write_config.main([], root=tmp_path)
