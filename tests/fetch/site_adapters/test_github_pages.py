"""Repositories, folders, threads, releases and gists of GitHub as pages."""

import base64
import json
from typing import Any

import pytest

from searx_mcp.fetch.site_adapters.github_pages import (
    MAX_COMMENTS,
    MAX_ENTRIES,
    MAX_FILES,
    MAX_RELEASES,
    MAX_THREAD_CHARS,
)

REPOSITORY_URL = "https://github.com/octocat/Hello-World"
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


def test_a_repository_is_shown_with_its_facts(read):
    page = read(REPOSITORY_URL, REPOSITORY, readme("# Hello\n\n[a](docs/a.md) [b](/b.md) ![i](u)"))
    assert page.markdown == (
        "# octocat/Hello-World\n\nMy \\*first\\* repo\n\n"
        "- Homepage: [https://octo.example/](https://octo.example/)\n- Topics: api, atom\n"
        "- Language: Python\n- Licence: MIT\n- Stars: 12,345\n- Forks: 9\n"
        "- Open issues and pull requests: 0\n- Default branch: main\n- Last push: 2026-01-26\n"
        "- Fork of: up/stream\n\n## Hello\n\n"
        "[a](https://github.com/octocat/Hello-World/blob/HEAD/docs/a.md) "
        "[b](https://github.com/octocat/Hello-World/blob/HEAD/b.md) [image: i]"
    )
    assert (page.title, page.description) == ("octocat/Hello-World", "My *first* repo")
    assert (page.author, page.published) == ("octocat", "2011-01-26T19:01:12Z")
    assert (page.modified, page.notes) == ("2026-01-26T19:06:43Z", ())


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
def test_a_readme_may_be_of_any_kind(read, found, ending, notes):
    page = read(REPOSITORY_URL, REPOSITORY, found)
    assert page.markdown.endswith(ending)
    assert len(page.notes) == notes


@pytest.mark.parametrize(
    ("licence", "line"),
    [
        ({"spdx_id": "NOASSERTION", "name": "Other"}, "- Licence: Other"),
        ({"spdx_id": None, "name": "Other"}, "- Licence: Other"),
        (None, None),
        ("MIT", None),
    ],
)
def test_a_licence_is_named_if_it_is_known(read, licence, line):
    lines = read(REPOSITORY_URL, {**REPOSITORY, "license": licence}, None).markdown.split("\n")
    assert [found for found in lines if "Licence" in found] == ([line] if line else [])


@pytest.mark.parametrize("value", [None, True, -1, 1.5, "![x](y)", [], [None], {}, {"login": 3}])
@pytest.mark.parametrize("name", list(REPOSITORY))
def test_a_member_of_a_repository_of_another_type_is_a_missing_one(read, name, value):
    page = read(REPOSITORY_URL, {**REPOSITORY, name: value}, None)
    assert page.title
    assert "![x](" not in page.markdown


def test_a_folder_lists_folders_first(read):
    entries = [
        entry("b.py"), entry("docs", "dir", size=0), entry("lib", "submodule"),
        entry("old", download_url=None), entry("link", "symlink"), entry("a b.md", size=None),
    ]  # fmt: skip
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
def test_an_entry_does_not_lead_elsewhere(read, name):
    page = read(FOLDER, [entry(name), entry("good.py")], None)
    lines = page.markdown.split("\n")[2:]
    assert len(lines) in {1, 2}
    home = "https://github.com/octocat/Hello-World/blob/main/src/"
    assert all(line.count("](") == 1 and f"]({home}" in line for line in lines)


ISSUE_URL = "https://github.com/o/r/issues/12"
PULL_URL = "https://github.com/o/r/pull/12"

# Members of `issue`, `pull-request` and `issue-comment` in GitHub's OpenAPI description.
ISSUE: dict[str, Any] = {
    "number": 12,
    "title": "It *breaks*",
    "state": "closed",
    "state_reason": "not_planned",
    "user": {"login": "ann"},
    "labels": ["plain", {"name": "bug"}, {"name": None}],
    "assignees": [{"login": "bob"}],
    "milestone": {"title": "1.0"},
    "comments": 2,
    "created_at": "2026-01-02T03:04:05Z",
    "updated_at": "2026-01-05T03:04:05Z",
    "closed_at": "2026-01-04T03:04:05Z",
    "body": "# How\r\n\r\n<!-- template -->\r\nsee [x](y.md)",
}
PULL: dict[str, Any] = {
    **ISSUE,
    "state": "open",
    "state_reason": None,
    "closed_at": None,
    "draft": False,
    "merged_at": None,
    "head": {"label": "ann:fix"},
    "base": {"label": "o:main"},
    "comments": 1,
    "review_comments": 1,
    "commits": 3,
    "changed_files": 2,
    "additions": 1_234,
    "deletions": 5,
}


def comment(day: int, body: object = "said", **more: object) -> dict[str, object]:
    moment = f"2026-01-{day:02}T00:00:00Z"
    return {"user": {"login": f"u{day}"}, "body": body, "created_at": moment, **more}


def test_an_issue_is_shown_with_its_comments(read):
    page = read(ISSUE_URL, ISSUE, [comment(3), comment(4, None)])
    assert page.markdown == (
        "# It \\*breaks\\* (#12)\n\n- Repository: o/r\n- Kind: Issue\n"
        "- State: closed (not planned)\n- Milestone: 1.0\n- Assignees: bob\n- Closed: 2026-01-04\n"
        "- Author: ann\n- Opened: 2026-01-02\n- Labels: bug\n\n### How\n\n"
        "see [x](https://github.com/o/r/issues/y.md)\n\n## u3, 2026-01-03\n\nsaid\n\n"
        "## u4, 2026-01-04\n\n(no text)"
    )
    assert page.title == "It *breaks* (#12)"
    assert (page.author, page.modified, page.notes) == ("ann", "2026-01-05T03:04:05Z", ())
    assert not page.truncated


def test_comments_on_a_pull_request_are_put_in_order(read):
    review = [comment(5, "here", path="a.py", line=7), comment(3, "first", path="b.py", line=None)]
    page = read(PULL_URL, PULL, [comment(4, "between")], review)
    headings = [line for line in page.markdown.split("\n") if line.startswith("## ")]
    assert headings == [
        "## u3 on b.py, 2026-01-03",
        "## u4, 2026-01-04",
        "## u5 on a.py, line 7, 2026-01-05",
    ]
    for fact in (
        "- Kind: Pull request", "- State: open", "- From: ann:fix", "- Into: o:main",
        "- Commits: 3", "- Changed files: 2", "- Added lines: 1,234", "- Removed lines: 5",
    ):  # fmt: skip
        assert fact in page.markdown


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({"draft": True}, "draft"),
        ({"state": "closed"}, "closed"),
        ({"state": "closed", "draft": True}, "closed"),
        ({"state": "closed", "merged_at": "2026-01-04T00:00:00Z"}, "merged"),
        ({"state": "closed", "pull_request": {"merged_at": "2026-01-04T00:00:00Z"}}, "merged"),
        ({"state": 3}, None),
    ],
)
def test_a_pull_request_tells_what_became_of_it(read, changes, state):
    lines = read(PULL_URL, {**PULL, **changes}, [], []).markdown.split("\n")
    assert [line for line in lines if "State" in line] == ([f"- State: {state}"] if state else [])


@pytest.mark.parametrize(
    "value", [None, True, -1, 1.5, "![x](y)", [], [None], [3], {}, {"login": []}]
)
@pytest.mark.parametrize("name", [name for name in PULL if name not in {"title", "body"}])
def test_a_member_of_a_thread_of_another_type_is_a_missing_one(read, name, value):
    page = read(PULL_URL, {**PULL, name: value}, [], [])
    assert page.title == "It *breaks* (#12)"
    assert "![x](" not in page.markdown


@pytest.mark.parametrize("value", [None, 3, "![x](y)", [], {}, {"login": 3}])
@pytest.mark.parametrize("name", ["user", "body", "created_at", "path", "line"])
def test_a_comment_of_another_shape_is_shown_as_far_as_it_goes(read, name, value):
    page = read(
        PULL_URL, PULL, [comment(3, **({name: value} if name != "body" else {}))], [None, 3]
    )
    assert page.markdown.count("\n## ") == 1
    assert "![x](" not in page.markdown


def test_a_comment_with_an_open_fence_does_not_swallow_the_next(read):
    comments = [comment(3, "~~~\nopen"), {"body": "x"}]
    page = read(ISSUE_URL, {**ISSUE, "body": "```\nopen", "comments": 2}, comments)
    assert "\n## a deleted account\n\nx\n\n## u3, 2026-01-03\n" in page.markdown
    assert "\n```\n\n## a deleted" in page.markdown
    assert page.markdown.endswith("\n```")


@pytest.mark.parametrize("name", ["![x](http://evil.example)", "a\n# b", "[a](javascript:x)"])
def test_names_do_not_become_markup(read, name):
    found = {
        "title": name, "user": {"login": name}, "labels": [{"name": name}], "body": "b", "state": name,
        "milestone": {"title": name}, "assignees": [{"login": name}], "created_at": name,
    }  # fmt: skip
    said = {"user": {"login": name}, "path": name, "line": 3, "body": "x"}
    written = read(ISSUE_URL, found, [said]).markdown
    assert "![" not in written
    assert "](" not in written
    assert written.count("\n# ") == 0


RELEASE = {
    "tag_name": "v1.0",
    "name": "One",
    "body": "See [x](docs/x.md)",
    "published_at": "2026-01-02T00:00:00Z",
    "author": {"login": "ann"},
    "assets": [
        {"name": "a.whl", "size": 2_048, "browser_download_url": "https://site.example/a.whl"},
        {"name": "b", "size": None, "browser_download_url": "javascript:alert(1)"},
        {},
    ],
    "prerelease": True,
}
LATEST = "https://github.com/o/r/releases/latest"
RELEASES = "https://github.com/o/r/releases"


@pytest.mark.parametrize("path", ["latest", "tag/v1.0"])
def test_one_release_is_shown(read, path):
    page = read(f"https://github.com/o/r/releases/{path}", RELEASE)
    assert page.markdown == (
        "# o/r v1.0 One\n\n- Tag: v1.0\n- State: pre-release\n- Published: 2026-01-02\n"
        "- Author: ann\n\nSee [x](https://github.com/o/r/docs/x.md)\n\nFiles:\n\n"
        "- [a.whl](https://site.example/a.whl), 2 KB\n- b\n- a file"
    )
    assert page.published == "2026-01-02T00:00:00Z"


@pytest.mark.parametrize(
    ("name", "shown"), [(None, "v1.0"), ("", "v1.0"), ("v1.0", "v1.0"), ("App v1.0", "App v1.0")]
)
def test_a_release_is_called_by_its_tag_and_name(read, name, shown):
    assert read(LATEST, {**RELEASE, "name": name}).title == f"o/r {shown}"


GIST_URL = "https://gist.github.com/ann/aa5a315d61ae9438b18d"


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


def test_a_gist_shows_all_its_files(read):
    page = read(GIST_URL, gist())
    assert page.markdown == (
        "# Two \\*files\\*\n\n- Author: ann\n- Files: 2\n- Updated: 2026-01-03\n- Comments: 2\n\n"
        "## a.py\n\n```python\nx = 1\n```\n\n## b.md\n\n### B [image: i]"
    )
    assert (page.title, page.author, page.notes) == ("Two *files*", "ann", ())


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
def test_a_file_may_hold_anything(read, file, shown):
    page = read(GIST_URL, gist(x=file))
    assert page.markdown.endswith(f"## x\n\n{shown}" if shown else "## x")


@pytest.mark.parametrize("name", ["![x](y)", "a\n# b", "<img src=x>", "x" * 500])
def test_the_name_of_a_file_is_a_strangers_text(read, name):
    page = read(GIST_URL, gist(**{name: {"content": "x"}}))
    assert "![x](" not in page.markdown
    assert "\n# b" not in page.markdown


def counted(comments: int | None) -> dict[str, Any]:
    """An issue that says so of the number of its comments."""
    return {**ISSUE, "comments": comments}


LONG = comment(3, "x" * (MAX_THREAD_CHARS // 4))
VERY_LONG = comment(3, f"*x* {'x' * 80_000}")
EMPTY = {**ISSUE, "body": ""}
FILES = gist(**{f"f{n}.txt": {"content": "x"} for n in range(MAX_FILES + 7)})
LOST = "Comments could not be loaded."


@pytest.mark.parametrize(
    ("url", "bodies", "part", "count", "note"),
    [
        pytest.param(PULL_URL, [PULL, None, None], "\n## ", 0, "0 comments are shown; 2 more", id="no comments"),
        pytest.param(PULL_URL, [PULL, [comment(3)], None], "\n## ", 1, "1 comments are shown; 1 more", id="some lost"),
        pytest.param(
            ISSUE_URL, [counted(250), [comment(3)] * 100], "\n## u3", 100,
            "100 comments are shown; 150 more are on the site.", id="more comments than an answer holds",
        ),
        pytest.param(
            ISSUE_URL, [counted(7), []], "\n## ", 0, "0 comments are shown; 7 more", id="none of seven"
        ),
        pytest.param(
            ISSUE_URL, [counted(None), [comment(3)] * (MAX_COMMENTS + 4)], "\n## u3", MAX_COMMENTS,
            "300 comments are shown; 4 more", id="too many comments",
        ),
        pytest.param(ISSUE_URL, [counted(3), [comment(3)] * 3], "\n## u3", 3, "", id="all comments"),
        pytest.param(ISSUE_URL, [counted(None), [comment(3)] * 3], "\n## u3", 3, "", id="no number"),
        pytest.param(ISSUE_URL, [EMPTY, [LONG] * 6], "\n## u3", 4, "4 comments are shown; 2 more", id="long ones"),
        pytest.param(ISSUE_URL, [EMPTY, [VERY_LONG] * 3], "```markdown\n*x*", 1, "", id="the rest as its source"),
        pytest.param(RELEASES, [[]], "There are no releases.", 1, "", id="no releases"),
        pytest.param(RELEASES, [[RELEASE] * 2], "\n## v1.0 One\n", 2, "", id="two releases"),
        *(
            pytest.param(RELEASES, [[RELEASE] * (MAX_RELEASES + n)], "\n## v1.0", MAX_RELEASES, "more", id=f"{n} too many")
            for n in (0, 1)
        ),
        pytest.param(FOLDER, [[], None], "The folder is empty.", 1, "", id="an empty folder"),
        pytest.param(
            FOLDER, [[entry(f"f{n}.py") for n in range(MAX_ENTRIES + 3)], None], "\n- [f", MAX_ENTRIES,
            "The first 1,000 entries are shown; there may be more.", id="a large folder",
        ),
        pytest.param(GIST_URL, [FILES], "\n## f", MAX_FILES, "7 more files are left out.", id="many files"),
        pytest.param(
            GIST_URL, [gist(x={"content": "x", "truncated": True})], "## x", 1,
            "x is cut off: the API returns 1 MB of a file.", id="a file that was cut",
        ),
        pytest.param(GIST_URL, [{**gist(), "truncated": True}], "\n## ", 2, "more", id="a gist that was cut"),
    ],
)  # fmt: skip
def test_what_is_left_out_is_told(read, url, bodies, part, count, note):
    page = read(url, *bodies)
    assert page.markdown.count(part) == count
    assert note in "".join(page.notes)
    assert page.truncated is (bool(note) and not note.endswith(("may be more.", "of a file.")))
    assert (LOST in page.notes) is (None in bodies and url == PULL_URL)


@pytest.mark.parametrize(
    ("url", "text", "more", "note"),
    [
        (FOLDER, '[{"name": "a.py", "type": "file", "x', [None], "The first 0 entries are shown; there may be more."),
        (RELEASES, '[{"tag_name": "v1"}, {', [], ""),
    ],
)  # fmt: skip
def test_a_list_that_was_cut_on_its_way_says_so(read, answer, url, text, more, note):
    page = read(url, answer(text, is_truncated=True), *more)
    assert page.truncated
    assert note in "".join(page.notes)


def test_comments_that_were_cut_are_read_as_far_as_they_came(read, answer):
    text = json.dumps([comment(3), comment(4)])
    page = read(ISSUE_URL, ISSUE, answer(text[:-20], is_truncated=True))
    assert page.markdown.count("\n## ") == 1
    assert page.notes == ("1 comments are shown; 1 more are on the site.",)


@pytest.mark.parametrize(
    ("url", "bodies", "words"),
    [
        (REPOSITORY_URL, [REPOSITORY, readme("[a](a.md)", ".github/README.md")], "/blob/HEAD/.github/a.md)"),
        (ISSUE_URL, [{**ISSUE, "pull_request": {"merged_at": None}}, []], "- Kind: Pull request"),
        (LATEST, [{**RELEASE, "assets": [{"name": f"f{n}"} for n in range(80)]}], "- f49\n- and 30 more files"),
        (RELEASES, [[RELEASE]], "# Releases of o/r\n\n## v1.0 One\n"),
        (LATEST, [{**RELEASE, "draft": True, "published_at": None, "created_at": "2026-01-03"}], "- State: draft\n- Published: 2026-01-03\n"),
        (FOLDER, [[], None], "# Hello-World/src at main\n\n"),
        (GIST_URL, [{**gist(), "description": None}], "# a.py\n"),
    ],
    ids=["links of a README", "a pull request as an issue", "many files", "releases", "a draft", "a folder", "a gist"],
)  # fmt: skip
def test_a_page_has(read, url, bodies, words):
    assert words in read(url, *bodies).markdown


def test_an_archived_repository_says_so(read):
    assert "archived" in read(REPOSITORY_URL, {**REPOSITORY, "archived": True}, None).notes[0]
