"""Gists."""

from collections.abc import Callable
from typing import Any

import pytest

from searx_mcp.fetch.site_adapters.github.gist import MAX_FILES
from searx_mcp.fetch.site_adapters.interface import Composed

URL = "https://gist.github.com/ann/aa5a315d61ae9438b18d"


def gist(**files: object) -> dict[str, Any]:
    return {
        "description": "Two *files*",
        "owner": {"login": "ann"},
        "created_at": "2026-01-02T00:00:00Z",
        "updated_at": "2026-01-03T00:00:00Z",
        "comments": 2,
        "truncated": False,
        "files": files
        or {
            "a.py": {"filename": "a.py", "content": "x = 1\n", "truncated": False},
            "b.md": {"filename": "b.md", "content": "# B ![i](u)", "truncated": False},
        },
    }


def test_a_gist_shows_all_its_files(read: Callable[..., Composed]):
    page = read(URL, gist())
    assert page.markdown == (
        "# Two \\*files\\*\n\n- Author: ann\n- Files: 2\n- Updated: 2026-01-03\n- Comments: 2\n\n"
        "## a.py\n\n```python\nx = 1\n```\n\n## b.md\n\n### B [image: i]"
    )
    assert page.title == "Two *files*"
    assert page.author == "ann"
    assert page.notes == ()


def test_a_gist_without_a_description_is_called_by_its_first_file(read: Callable[..., Composed]):
    assert read(URL, {**gist(), "description": None}).title == "a.py"


def test_files_are_capped(read: Callable[..., Composed]):
    page = read(URL, gist(**{f"f{n}.txt": {"content": "x"} for n in range(MAX_FILES + 7)}))
    assert page.markdown.count("\n## f") == MAX_FILES
    assert page.notes == ("7 more files are left out.",)
    assert page.is_truncated


def test_a_file_that_was_cut_says_so(read: Callable[..., Composed]):
    page = read(URL, gist(x={"content": "x", "truncated": True}))
    assert page.notes == ("x is cut: the API gives 1 MB of a file.",)
    assert read(URL, {**gist(), "truncated": True}).is_truncated


@pytest.mark.parametrize(
    ("file", "shown"),
    [
        ({"content": "aGk=", "encoding": "base64"}, "(not text)"),
        ({"content": "hi", "encoding": "utf-8"}, "```\nhi\n```"),
        ({"content": None}, ""),
        ({"content": ["x"]}, ""),
        ({}, ""),
    ],
)
def test_a_file_may_hold_anything(read: Callable[..., Composed], file: object, shown: str):
    page = read(URL, gist(x=file))
    assert page.markdown.endswith(f"## x\n\n{shown}" if shown else "## x")


@pytest.mark.parametrize("name", ["![x](y)", "a\n# b", "<img src=x>", "x" * 500])
def test_the_name_of_a_file_is_a_strangers_text(read: Callable[..., Composed], name: str):
    page = read(URL, gist(**{name: {"content": "x"}}))
    assert "![x](" not in page.markdown
    assert "\n# b" not in page.markdown


@pytest.mark.parametrize(
    "body", ["", "<html>", [], {}, {"files": None}, {"files": {}}, {"files": {"a": None}}]
)
def test_another_answer_is_an_error(read: Callable[..., Composed], body: object):
    with pytest.raises(ValueError, match=r"."):
        read(URL, body)
