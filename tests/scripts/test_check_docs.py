"""The checks of the docs find what they promise to find, and nothing else."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

# Put together here, so that the checks do not find them in this file.
PRIVATE = "/".join(("", "home", "x"))  # noqa: FLY002 - see above
REGISTRY = ".".join(("pypi", "org"))  # noqa: FLY002 - see above


@pytest.fixture
def problems_of(
    load_script: Callable[[str], ModuleType], tmp_path: Path
) -> Callable[[str], list[str]]:
    """Give a function that checks one page lying beside `docs/other.md`."""

    def check(page: str) -> list[str]:
        (tmp_path / "docs").mkdir()
        (tmp_path / "docs" / "other.md").write_text("# Other page\n\n## A `b`, c!\n")
        (tmp_path / "searx_mcp" / "pool").mkdir(parents=True)
        for module in ("docs/made.py", "searx_mcp/pool/made.py"):
            (tmp_path / module).write_text("")
        (tmp_path / "page.md").write_text(page, encoding="utf-8")
        problems = load_script("check_docs").find_problems(tmp_path)
        assert isinstance(problems, list)
        return problems

    return check


@pytest.mark.parametrize(
    "page",
    [
        "[other](docs/other.md)",
        "[folder](docs/)",
        "[heading](docs/other.md#a-b-c)",
        "[here](#there)\n\n# There",
        '[titled](docs/other.md "Other")',
        "[pointed](<docs/other.md>)",
        "[web](https://example.org/a) [mail](mailto:a@example.org)",
        "`[code](missing.md)`",
        "```text\n[code](missing.md)\n```",
        "```python\nvalue = await read()\n```",
        "1. a step\n\n   ```python\n   if True:\n       pass\n   ```",
        "```console\n$ python -c 'this is no python'\n```",
        "https://example.org/home/page and ~/root/page",
        "`docs/made.py` and `pool/made.py`, and `searx/version.py` of SearXNG",
        "`docs/other.md` and https://example.org/docs/gone.md",
    ],
)
def test_a_page_in_order_has_no_problem(page: str, problems_of: Callable[[str], list[str]]) -> None:
    assert problems_of(page) == []


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ("[gone](docs/gone.md)", "1: links to docs/gone.md, which is not there"),
        ("\n[up](../../gone.md)", "2: links to ../../gone.md, which is not there"),
        (
            "[gone](docs/other.md#gone)",
            "1: links to docs/other.md#gone, which has no such heading",
        ),
        ("[gone](#gone)", "1: links to #gone, which has no such heading"),
        (
            "text\n\n```python\nif True\n```",
            "3: has a python block that does not compile: expected ':' (example, line 1)",
        ),
        ("in `pool/gone.py`", "1: names pool/gone.py, which is not there"),
        ("as `docs/gone/page.md#a` says", "1: names docs/gone/page.md, which is not there"),
        (f"see {PRIVATE}/x", f"1: names a directory of one machine: {PRIVATE}"),
        (f"from {REGISTRY}", f"1: names a package registry: {REGISTRY}"),
    ],
)
def test_a_problem_is_told_with_its_place(
    page: str, problem: str, problems_of: Callable[[str], list[str]]
) -> None:
    assert problems_of(page) == [f"page.md:{problem}"]


def test_code_is_searched_for_machine_paths_and_hidden_folders_are_not(
    load_script: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    (tmp_path / ".hidden").mkdir()
    for name in ("code.py", ".hidden/code.py", "picture.png"):
        (tmp_path / name).write_text(f"x = '{PRIVATE}'")

    assert load_script("check_docs").find_problems(tmp_path) == [
        f"code.py:1: names a directory of one machine: {PRIVATE}"
    ]


@pytest.mark.parametrize("module", ["searx_mcp/a.py", "config/a.toml", "tests/test_a.py"])
@pytest.mark.parametrize("name", ["docs/gone.md", '{URL}/blob/main/docs/gone.md"'])
def test_code_names_pages_that_are_there_but_for_tests(
    module: str, name: str, load_script: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "other.md").write_text("")
    (tmp_path / module).parent.mkdir()
    text = f"# docs/other.md, https://example.org/blob/main/docs/x.md\n# {name}"
    (tmp_path / module).write_text(text)
    problem = f"{module}:2: names docs/gone.md, which is not there"
    told = [] if module.startswith("tests/") else [problem]
    assert load_script("check_docs").find_problems(tmp_path) == told


def test_words_are_counted_in_every_folder_of_docs_those_of_the_decisions_apart(
    load_script: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    for page, text in {
        "README.md": "not counted",
        "docs/index.md": "# One\n\ntwo, `three()`",
        "docs/guides/table.md": "| four | five — |\n| --- | --- |",
        "docs/decisions/why.md": "six seven",
    }.items():
        (tmp_path / page).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / page).write_text(text, encoding="utf-8")
    assert load_script("check_docs").count_words(tmp_path) == (5, 2)


@pytest.mark.parametrize(
    ("words", "decisions", "told"),
    [
        (2, 1, "the docs are in order: 2 words in docs/ without decisions/, 1 in decisions/\n"),
        (3, 1, "3 words in docs/ without decisions/, 1 more than the limit of 2\n"),
        (2, 3, "3 in decisions/, 2 more than the limit of 1\n"),
    ],
)
def test_more_words_than_the_limit_fail(
    words: int,
    decisions: int,
    told: str,
    load_script: Callable[[str], ModuleType],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "docs" / "decisions").mkdir(parents=True)
    (tmp_path / "docs" / "page.md").write_text("word " * words)
    (tmp_path / "docs" / "decisions" / "page.md").write_text("word " * decisions)
    check_docs = load_script("check_docs")
    monkeypatch.setattr(check_docs, "ROOT", tmp_path)
    monkeypatch.setattr(check_docs, "MOST_WORDS", 2)
    monkeypatch.setattr(check_docs, "MOST_WORDS_OF_DECISIONS", 1)
    assert check_docs.main() == ("more" in told)
    assert capsys.readouterr().out == told
