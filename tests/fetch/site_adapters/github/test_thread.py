"""Issues and pull requests of GitHub."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from searx_mcp.fetch.site_adapters.interface import Composed, Material

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


def test_an_issue_is_shown_with_its_comments(read: Callable[..., Composed]):
    page = read(ISSUE_URL, ISSUE, [comment(3), comment(4, None)])
    assert page.markdown == (
        "# It \\*breaks\\* (#12)\n\n- Repository: o/r\n- Kind: Issue\n"
        "- State: closed (not planned)\n- Milestone: 1.0\n- Assignees: bob\n- Closed: 2026-01-04\n"
        "- Author: ann\n- Opened: 2026-01-02\n- Labels: bug\n\n### How\n\n"
        "see [x](https://github.com/o/r/issues/y.md)\n\n## u3, 2026-01-03\n\nsaid\n\n"
        "## u4, 2026-01-04\n\n(no text)"
    )
    assert page.title == "It *breaks* (#12)"
    assert page.author == "ann"
    assert page.modified == "2026-01-05T03:04:05Z"
    assert page.notes == ()
    assert not page.is_truncated


def test_comments_on_a_pull_request_are_put_in_order(read: Callable[..., Composed]):
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
def test_a_pull_request_tells_what_became_of_it(
    read: Callable[..., Composed], changes: dict[str, object], state: str | None
):
    lines = read(PULL_URL, {**PULL, **changes}, [], []).markdown.split("\n")
    assert [line for line in lines if "State" in line] == ([f"- State: {state}"] if state else [])


def test_a_pull_request_asked_for_as_an_issue_is_one(read: Callable[..., Composed]):
    page = read(ISSUE_URL, {**ISSUE, "pull_request": {"merged_at": None}}, [])
    assert "- Kind: Pull request" in page.markdown


@pytest.mark.parametrize(
    ("first", "second", "notes"),
    [
        (
            None,
            None,
            ("Comments could not be had.", "0 comments are shown; 2 more are on the site."),
        ),
        (
            [comment(3)],
            None,
            ("Comments could not be had.", "1 comments are shown; 1 more are on the site."),
        ),
    ],
)
def test_missing_comments_are_told(
    read: Callable[..., Composed], first: object, second: object, notes: tuple[str, ...]
):
    assert read(PULL_URL, PULL, first, second).notes == notes


def test_more_comments_than_an_answer_holds_are_told(read: Callable[..., Composed]):
    page = read(ISSUE_URL, {**ISSUE, "comments": 250}, [comment(3)] * 100)
    assert page.notes == ("100 comments are shown; 150 more are on the site.",)
    assert page.is_truncated


def test_comments_that_were_cut_are_read_as_far_as_they_came(
    read: Callable[..., Composed], answer: Callable[..., Material]
):
    text = json.dumps([comment(3), comment(4)])
    page = read(ISSUE_URL, ISSUE, answer(text[:-20], is_truncated=True))
    assert page.markdown.count("\n## ") == 1
    assert page.notes == ("1 comments are shown; 1 more are on the site.",)


@pytest.mark.parametrize(
    "value", [None, True, -1, 1.5, "![x](y)", [], [None], [3], {}, {"login": []}]
)
@pytest.mark.parametrize("name", [name for name in PULL if name not in {"title", "body"}])
def test_a_member_of_another_type_is_a_missing_one(
    read: Callable[..., Composed], name: str, value: object
):
    page = read(PULL_URL, {**PULL, name: value}, [], [])
    assert page.title == "It *breaks* (#12)"
    assert "![x](" not in page.markdown


@pytest.mark.parametrize("value", [None, 3, "![x](y)", [], {}, {"login": 3}])
@pytest.mark.parametrize("name", ["user", "body", "created_at", "path", "line"])
def test_a_comment_of_another_shape_is_shown_as_far_as_it_goes(
    read: Callable[..., Composed], name: str, value: object
):
    page = read(
        PULL_URL, PULL, [comment(3, **({name: value} if name != "body" else {}))], [None, 3]
    )
    assert page.markdown.count("\n## ") == 1
    assert "![x](" not in page.markdown


@pytest.mark.parametrize("body", ["", "<html>", [], {}, {"title": None}, {"message": "Gone"}])
def test_another_answer_is_an_error(read: Callable[..., Composed], body: object):
    with pytest.raises(ValueError, match=r"."):
        read(ISSUE_URL, body, [])


@pytest.mark.parametrize("body", ["<html>", {}, "null"])
def test_comments_of_another_kind_are_an_error(read: Callable[..., Composed], body: object):
    with pytest.raises(ValueError, match=r"."):
        read(ISSUE_URL, ISSUE, body)
