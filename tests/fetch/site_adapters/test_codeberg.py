"""Codeberg, and other sites of Forgejo and Gitea."""

from collections.abc import Callable
from typing import Any

import pytest

from searx_mcp.fetch.site_adapters.interface import Composed, Material

ROOT = "https://codeberg.org/o/r"
ISSUE = f"{ROOT}/issues/5"
PULL = f"{ROOT}/pulls/6"

# Members of Repository, Issue, PullRequest, Comment and Release in Forgejo's API description.
REPOSITORY: dict[str, Any] = {
    "full_name": "o/r",
    "description": "Does *things*",
    "website": "https://site.example/",
    "topics": ["a"],
    "language": "Go",
    "licenses": ["MIT"],
    "stars_count": 5,
    "forks_count": 1,
    "open_issues_count": 2,
    "default_branch": "trunk",
    "created_at": "2020-01-02T00:00:00Z",
    "updated_at": "2026-01-02T00:00:00Z",
    "owner": {"login": "o"},
    "archived": False,
    "parent": None,
}
THREAD: dict[str, Any] = {
    "title": "It *breaks*",
    "state": "open",
    "body": "[x](y.md)",
    "user": {"login": "ann"},
    "labels": [{"name": "bug"}],
    "assignees": [{"login": "bob"}],
    "milestone": {"title": "1.0"},
    "comments": 1,
    "created_at": "2026-01-02T03:04:05Z",
    "updated_at": "2026-01-03T03:04:05Z",
    "closed_at": None,
    "pull_request": None,
}
COMMENT = {"user": {"login": "carl"}, "body": "said", "created_at": "2026-01-04T00:00:00+01:00"}


def test_a_repository_is_shown_with_its_facts(read: Callable[..., Composed]):
    page = read(ROOT, REPOSITORY, "# T\n\n[x](docs/y.md) [z](/z.md)")
    assert page.markdown == (
        "# o/r\n\nDoes \\*things\\*\n\n- Website: [https://site.example/](https://site.example/)\n"
        "- Topics: a\n- Language: Go\n- Licence: MIT\n- Stars: 5\n- Forks: 1\n- Open issues: 2\n"
        "- Default branch: trunk\n- Updated: 2026-01-02\n\n## T\n\n"
        f"[x]({ROOT}/src/branch/trunk/docs/y.md) [z]({ROOT}/src/branch/trunk/z.md)"
    )
    assert page.title == "o/r"
    assert page.author == "o"
    assert page.notes == ()


def test_what_is_missing_is_told(read: Callable[..., Composed], answer: Callable[..., Material]):
    page = read(ROOT, {**REPOSITORY, "archived": True}, None)
    assert page.notes == (
        "The repository is archived: nobody works on it.",
        "The repository has no README.md.",
    )
    assert read(ROOT, REPOSITORY, answer("# T", is_truncated=True)).is_truncated


def test_an_issue_is_shown_with_its_comments(read: Callable[..., Composed]):
    page = read(ISSUE, THREAD, [COMMENT])
    assert page.markdown == (
        "# It \\*breaks\\* (#5)\n\n- Repository: o/r\n- Kind: Issue\n- State: open\n"
        "- Milestone: 1.0\n- Assignees: bob\n- Author: ann\n- Opened: 2026-01-02\n- Labels: bug\n\n"
        f"[x]({ROOT}/issues/y.md)\n\n## carl, 2026-01-04\n\nsaid"
    )
    assert page.notes == ()


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({"merged": True, "state": "closed"}, "merged"),
        ({"pull_request": {"merged": True}, "state": "closed"}, "merged"),
        ({"merged": False, "state": "closed"}, "closed"),
    ],
)
def test_a_pull_request_tells_what_became_of_it(
    read: Callable[..., Composed], changes: dict[str, object], state: str
):
    branches = {"head": {"label": "fix"}, "base": {"label": "trunk"}}
    page = read(PULL, {**THREAD, **branches, **changes}, [])
    assert f"- Kind: Pull request\n- State: {state}\n- From: fix\n- Into: trunk\n" in page.markdown


def test_missing_comments_are_told(read: Callable[..., Composed]):
    assert read(ISSUE, THREAD, None).notes == (
        "Comments could not be had.",
        "0 comments are shown; 1 more are on the site.",
    )


@pytest.mark.parametrize("path", ["latest", "tag/v1"])
def test_a_release_is_shown(read: Callable[..., Composed], path: str):
    page = read(f"{ROOT}/releases/{path}", {"tag_name": "v1", "name": "One", "body": "x"})
    assert page.markdown == "# o/r v1 One\n\n- Tag: v1\n\nx"


def test_releases_are_shown(read: Callable[..., Composed]):
    page = read(f"{ROOT}/releases", [{"tag_name": "v2"}, {"tag_name": "v1"}])
    assert page.markdown == "# Releases of o/r\n\n## v2\n\n- Tag: v2\n\n## v1\n\n- Tag: v1"


def test_lines_of_a_file_are_shown_at_any_such_site(read: Callable[..., Composed]):
    page = read("https://git.example/o/r/src/branch/main/src/a.go#L2", "a\nb\nc\n")
    assert page.markdown == "# src/a.go, line 2 of 3\n\n```go\nb\n```"


@pytest.mark.parametrize(("query", "is_source"), [("", False), ("?display=source", True)])
def test_the_source_of_markdown_can_be_asked_for(
    read: Callable[..., Composed], query: str, *, is_source: bool
):
    page = read(f"{ROOT}/src/branch/main/a.md{query}", "# T")
    assert ("```markdown" in page.markdown) is is_source


@pytest.mark.parametrize(
    "value", [None, True, -1, 1.5, "![x](y)", [], [None], [3], {}, {"login": 3}]
)
@pytest.mark.parametrize("name", [name for name in THREAD if name not in {"title", "body"}])
def test_a_member_of_an_issue_of_another_type_is_a_missing_one(
    read: Callable[..., Composed], name: str, value: object
):
    page = read(PULL, {**THREAD, name: value}, [])
    assert page.title == "It *breaks* (#6)"
    assert "![x](" not in page.markdown


@pytest.mark.parametrize("value", [None, True, -1, 1.5, "![x](y)", [], [None], {}, {"login": 3}])
@pytest.mark.parametrize("name", [name for name in REPOSITORY if name != "full_name"])
def test_so_is_one_of_a_repository(read: Callable[..., Composed], name: str, value: object):
    page = read(ROOT, {**REPOSITORY, name: value}, "text")
    assert page.title == "o/r"
    assert "![x](" not in page.markdown


@pytest.mark.parametrize("body", ["", "<html>", [], {}, {"message": "Not Found"}])
@pytest.mark.parametrize("url", [ROOT, ISSUE, PULL])
def test_another_answer_is_an_error(read: Callable[..., Composed], url: str, body: object):
    with pytest.raises(ValueError, match=r"."):
        read(url, body, None)
