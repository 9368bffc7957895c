"""GitLab."""

from collections.abc import Callable
from typing import Any

import pytest
from yarl import URL

from searx_mcp.fetch.site_adapters.gitlab import GitlabTier
from searx_mcp.fetch.site_adapters.interface import Composed, Material

ROOT = "https://gitlab.com/group/sub/project"
ISSUE = f"{ROOT}/-/issues/3"
REQUEST = f"{ROOT}/-/merge_requests/4"

# Members of the examples in doc/api/projects.md, issues.md and merge_requests.md of GitLab.
PROJECT: dict[str, Any] = {
    "path_with_namespace": "group/sub/project",
    "description": "Does *things*",
    "topics": ["a", "b"],
    "license": {"key": "mit", "name": "MIT License"},
    "star_count": 5,
    "forks_count": 0,
    "default_branch": "main",
    "created_at": "2020-01-02T00:00:00.000Z",
    "last_activity_at": "2026-01-02T00:00:00.000Z",
    "namespace": {"name": "Group"},
    "archived": False,
}
THREAD: dict[str, Any] = {
    "iid": 3,
    "title": "It *breaks*",
    "state": "opened",
    "description": "# How\n\n[x](y.md)",
    "author": {"username": "ann"},
    "assignees": [{"username": "bob"}],
    "labels": ["bug", "x"],
    "milestone": {"title": "1.0"},
    "created_at": "2026-01-02T03:04:05.000Z",
    "updated_at": "2026-01-03T03:04:05.000Z",
    "closed_at": None,
    "user_notes_count": 0,
}


def test_a_project_is_shown_with_its_facts(read: Callable[..., Composed]):
    page = read(ROOT, PROJECT, "# T\n\n[x](docs/y.md) [z](/z.md)")
    assert page.markdown == (
        "# group/sub/project\n\nDoes \\*things\\*\n\n- Topics: a, b\n- Licence: MIT License\n"
        "- Stars: 5\n- Forks: 0\n- Default branch: main\n- Last activity: 2026-01-02\n\n## T\n\n"
        f"[x]({ROOT}/-/blob/HEAD/docs/y.md) [z]({ROOT}/-/blob/HEAD/z.md)"
    )
    assert page.title == "group/sub/project"
    assert page.modified == "2026-01-02T00:00:00.000Z"
    assert page.notes == ()


def test_what_is_missing_is_told(read: Callable[..., Composed], answer: Callable[..., Material]):
    page = read(ROOT, {**PROJECT, "archived": True}, None)
    assert page.notes == (
        "The project is archived: nobody works on it.",
        "The project has no README.md.",
    )
    assert read(ROOT, PROJECT, answer("# T", is_truncated=True)).is_truncated


def test_an_issue_is_shown(read: Callable[..., Composed]):
    page = read(ISSUE, THREAD)
    assert page.markdown == (
        "# It \\*breaks\\* (#3)\n\n- Repository: group/sub/project\n- Kind: Issue\n"
        "- State: opened\n- Milestone: 1.0\n- Assignees: bob\n- Author: ann\n"
        "- Opened: 2026-01-02\n- Labels: bug, x\n\n### How\n\n"
        f"[x]({ROOT}/-/issues/y.md)"
    )
    assert page.notes == ()
    assert not page.is_truncated


def test_a_merge_request_names_its_branches(read: Callable[..., Composed]):
    page = read(
        REQUEST,
        {**THREAD, "iid": 4, "source_branch": "fix", "target_branch": "main", "state": "merged",
         "merged_at": "2026-01-04T00:00:00Z", "user_notes_count": 1_234},
    )  # fmt: skip
    assert page.title == "It *breaks* (!4)"
    for fact in ("- Kind: Merge request", "- From: fix", "- Into: main", "- Merged: 2026-01-04"):
        assert fact in page.markdown
    assert page.notes == ("GitLab shows the 1,234 comments to members only.",)


@pytest.mark.parametrize(
    "value", [None, True, -1, 1.5, "![x](y)", [], [None], [3], {}, {"name": 3}]
)
@pytest.mark.parametrize(
    "name", [name for name in THREAD if name not in {"iid", "title", "description"}]
)
def test_a_member_of_an_issue_of_another_type_is_a_missing_one(
    read: Callable[..., Composed], name: str, value: object
):
    page = read(ISSUE, {**THREAD, name: value})
    assert page.title == "It *breaks* (#3)"
    assert "![x](" not in page.markdown


@pytest.mark.parametrize("value", [None, True, -1, 1.5, "![x](y)", [], [None], {}, {"name": 3}])
@pytest.mark.parametrize("name", [name for name in PROJECT if name != "path_with_namespace"])
def test_so_is_one_of_a_project(read: Callable[..., Composed], name: str, value: object):
    page = read(ROOT, {**PROJECT, name: value}, None)
    assert page.title == "group/sub/project"
    assert "![x](" not in page.markdown


@pytest.mark.parametrize("body", ["", "<html>", [], {}, {"message": "404 Project Not Found"}])
@pytest.mark.parametrize("url", [ISSUE, REQUEST])
def test_another_answer_is_an_error(read: Callable[..., Composed], url: str, body: object):
    with pytest.raises(ValueError, match=r"."):
        read(url, body)


@pytest.mark.parametrize("body", ["", "<html>", [], {}, {"path_with_namespace": 3}])
def test_another_project_is_an_error(read: Callable[..., Composed], body: object):
    with pytest.raises(ValueError, match=r"."):
        read(ROOT, body, None)


def test_a_login_page_is_not_the_file(answer: Callable[..., Material]):
    plan = GitlabTier().plan(URL(f"{ROOT}/-/blob/main/a.py"))
    assert plan is not None
    with pytest.raises(ValueError, match="a page instead of the file"):
        plan.compose([answer("<html>Sign in", media="text/html; charset=utf-8")])


def test_lines_of_a_file_are_shown(read: Callable[..., Composed]):
    page = read(f"{ROOT}/-/blob/main/src/a.rb#L2-3", "a\nb\nc\nd\n")
    assert page.markdown == "# src/a.rb, lines 2 to 3 of 4\n\n```ruby\nb\nc\n```"


@pytest.mark.parametrize(
    ("query", "is_source"), [("", False), ("?plain=1", True), ("?plain=0", False)]
)
def test_the_source_of_markdown_can_be_asked_for(
    read: Callable[..., Composed], query: str, *, is_source: bool
):
    page = read(f"{ROOT}/-/blob/main/a.md{query}", "# T")
    assert ("```markdown" in page.markdown) is is_source
