"""Repositories and folders of GitHub."""

import base64
from collections.abc import Callable
from typing import Any

import pytest

from searx_mcp.fetch.site_adapters.github.repository import MAX_ENTRIES
from searx_mcp.fetch.site_adapters.interface import Composed, Material

ROOT = "https://github.com/octocat/Hello-World"
FOLDER = "https://github.com/octocat/Hello-World/tree/main/src"

# Members of `full-repository` in GitHub's OpenAPI description.
REPOSITORY: dict[str, Any] = {
    "name": "Hello-World",
    "full_name": "octocat/Hello-World",
    "owner": {"login": "octocat"},
    "description": "My *first* repo",
    "homepage": "https://octo.example/",
    "topics": ["api", "atom"],
    "language": "Python",
    "license": {"key": "mit", "name": "MIT License", "spdx_id": "MIT"},
    "stargazers_count": 12_345,
    "forks_count": 9,
    "open_issues_count": 0,
    "default_branch": "main",
    "created_at": "2011-01-26T19:01:12Z",
    "pushed_at": "2026-01-26T19:06:43Z",
    "archived": False,
    "parent": {"full_name": "up/stream"},
}


def readme(text: str, path: str = "README.md") -> dict[str, object]:
    """A README as the API gives it: base64, with a newline after each 60 characters."""
    return {
        "name": path.rpartition("/")[2],
        "path": path,
        "encoding": "base64",
        "content": base64.encodebytes(text.encode()).decode(),
    }


def entry(name: object, kind: str = "file", **more: object) -> dict[str, object]:
    url = f"https://raw.example/{name}" if kind == "file" else None
    return {"name": name, "type": kind, "size": 2_048, "download_url": url, **more}


def test_a_repository_is_shown_with_its_facts(read: Callable[..., Composed]):
    page = read(ROOT, REPOSITORY, readme("# Hello\n\n[a](docs/a.md) [b](/b.md) ![i](u)"))
    assert page.markdown == (
        "# octocat/Hello-World\n\nMy \\*first\\* repo\n\n"
        "- Homepage: [https://octo.example/](https://octo.example/)\n- Topics: api, atom\n"
        "- Language: Python\n- Licence: MIT\n- Stars: 12,345\n- Forks: 9\n"
        "- Open issues and pull requests: 0\n- Default branch: main\n- Last push: 2026-01-26\n"
        "- Fork of: up/stream\n\n## Hello\n\n"
        "[a](https://github.com/octocat/Hello-World/blob/HEAD/docs/a.md) "
        "[b](https://github.com/octocat/Hello-World/blob/HEAD/b.md) [image: i]"
    )
    assert page.title == "octocat/Hello-World"
    assert page.description == "My *first* repo"
    assert page.author == "octocat"
    assert page.published == "2011-01-26T19:01:12Z"
    assert page.modified == "2026-01-26T19:06:43Z"
    assert page.notes == ()


def test_links_of_a_readme_in_a_folder_start_there(read: Callable[..., Composed]):
    page = read(ROOT, REPOSITORY, readme("[a](a.md)", ".github/README.md"))
    assert "/blob/HEAD/.github/a.md)" in page.markdown


@pytest.mark.parametrize(
    ("found", "ending", "notes"),
    [
        (None, "- Fork of: up/stream", 0),
        (readme("Title\n=====", "README.rst"), "```rst\nTitle\n=====\n```", 0),
        (readme("plain", "README"), "```\nplain\n```", 0),
        ({**readme("x"), "encoding": "none", "content": ""}, "- Fork of: up/stream", 1),
        ({**readme("x"), "encoding": "utf-8"}, "- Fork of: up/stream", 1),
        ({**readme("x"), "content": "%%%"}, "- Fork of: up/stream", 1),
        ({**readme("x"), "content": 3}, "- Fork of: up/stream", 1),
        ({**readme("x"), "path": None, "name": None}, "- Fork of: up/stream", 1),
        ("<html>", "- Fork of: up/stream", 1),
        ([], "- Fork of: up/stream", 1),
    ],
)
def test_a_readme_may_be_of_any_kind(
    read: Callable[..., Composed], found: object, ending: str, notes: int
):
    page = read(ROOT, REPOSITORY, found)
    assert page.markdown.endswith(ending)
    assert len(page.notes) == notes


def test_an_archived_repository_says_so(read: Callable[..., Composed]):
    assert "archived" in read(ROOT, {**REPOSITORY, "archived": True}, None).notes[0]


@pytest.mark.parametrize(
    ("licence", "line"),
    [
        ({"spdx_id": "NOASSERTION", "name": "Other"}, "- Licence: Other"),
        ({"spdx_id": None, "name": "Other"}, "- Licence: Other"),
        (None, None),
        ("MIT", None),
    ],
)
def test_a_licence_is_named_if_it_is_known(
    read: Callable[..., Composed], licence: object, line: str | None
):
    lines = read(ROOT, {**REPOSITORY, "license": licence}, None).markdown.split("\n")
    assert [found for found in lines if "Licence" in found] == ([line] if line else [])


@pytest.mark.parametrize("value", [None, True, -1, 1.5, "![x](y)", [], [None], {}, {"login": 3}])
@pytest.mark.parametrize("name", list(REPOSITORY))
def test_a_member_of_another_type_is_a_missing_one(
    read: Callable[..., Composed], name: str, value: object
):
    page = read(ROOT, {**REPOSITORY, name: value}, None)
    assert page.title
    assert "![x](" not in page.markdown


@pytest.mark.parametrize("body", ["", "<html>", [], "null"])
def test_another_answer_is_an_error(read: Callable[..., Composed], body: object):
    with pytest.raises(ValueError, match=r"."):
        read(ROOT, body, None)


def test_a_folder_lists_folders_first(read: Callable[..., Composed]):
    entries = [
        entry("b.py"),
        entry("docs", "dir", size=0),
        entry("lib", "submodule"),
        entry("old", download_url=None),
        entry("link", "symlink"),
        entry("a b.md", size=None),
    ]
    page = read(FOLDER, entries, readme("# Here\n\n[x](y.md)", "src/README.md"))
    home = "https://github.com/octocat/Hello-World"
    assert page.markdown == (
        "# Hello-World/src at main\n\n"
        f"- [docs/]({home}/tree/main/src/docs)\n"
        f"- [b.py]({home}/blob/main/src/b.py), 2 KB\n"
        "- lib (submodule)\n"
        "- old (submodule)\n"
        f"- [link]({home}/blob/main/src/link), 2 KB\n"
        f"- [a b.md]({home}/blob/main/src/a%20b.md)\n\n"
        f"## Here\n\n[x]({home}/blob/main/src/y.md)"
    )
    assert page.title == "octocat/Hello-World: Hello-World/src at main"


@pytest.mark.parametrize(
    "name", ["..", ".", "a/b", "", None, 3, "![x](y)", "a](javascript:x)", "a\nb", "`", "<b>"]
)
def test_an_entry_does_not_lead_elsewhere(read: Callable[..., Composed], name: object):
    page = read(FOLDER, [entry(name), entry("good.py")], None)
    lines = page.markdown.split("\n")[2:]
    assert len(lines) in {1, 2}
    home = "https://github.com/octocat/Hello-World/blob/main/src/"
    assert all(line.count("](") == 1 and f"]({home}" in line for line in lines)


def test_an_empty_folder_says_so(read: Callable[..., Composed]):
    assert read(FOLDER, [], None).markdown == "# Hello-World/src at main\n\nThe folder is empty."


def test_a_folder_that_may_have_more_says_so(
    read: Callable[..., Composed], answer: Callable[..., Material]
):
    page = read(FOLDER, [entry(f"f{n}.py") for n in range(MAX_ENTRIES + 3)], None)
    assert page.notes == ("The first 1,000 entries are shown; there may be more.",)
    cut = read(FOLDER, answer('[{"name": "a.py", "type": "file", "x', is_truncated=True), None)
    assert cut.is_truncated
    assert cut.notes == ("The first 0 entries are shown; there may be more.",)


def test_a_file_where_a_folder_was_expected_is_an_error(read: Callable[..., Composed]):
    with pytest.raises(ValueError, match="no JSON list"):
        read(FOLDER, {"type": "file", "name": "src"}, None)
