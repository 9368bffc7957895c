"""Threads as Markdown."""

from dataclasses import replace

import pytest

from searx_mcp.content.fields import Fields
from searx_mcp.fetch.site_adapters.composing.thread import (
    MAX_CHARS,
    MAX_COMMENTS,
    Comment,
    Thread,
    comment_of_forge,
    of_forge,
    write,
)

BASE = "https://site.example/o/r/issues/1"


def thread(body: str = "body", *comments: Comment, total: int | None = None) -> Thread:
    return Thread(
        title="T (#1)",
        place="o/r",
        author="ann",
        created="2026-01-02T03:04:05Z",
        updated="2026-01-03T03:04:05Z",
        labels=("bug", "help wanted"),
        facts=(("State", "open"),),
        body=body,
        comments=comments,
        total=total,
    )


def test_a_thread_is_written_in_order():
    page = write(
        thread("# Big\n\nbody", Comment("bob", "2026-01-03", "first"), Comment("", "", "second")),
        base=BASE,
    )
    assert page.markdown == (
        "# T (#1)\n\n- Repository: o/r\n- State: open\n- Author: ann\n- Opened: 2026-01-02\n"
        "- Labels: bug, help wanted\n\n### Big\n\nbody\n\n## bob, 2026-01-03\n\nfirst\n\n"
        "## a deleted account\n\nsecond"
    )
    assert page.author == "ann"
    assert page.published == "2026-01-02T03:04:05Z"
    assert not page.is_truncated


def test_a_comment_without_text_says_so():
    assert write(thread("", Comment("bob", "", "![](x)")), base=BASE).markdown.endswith("(no text)")


@pytest.mark.parametrize(
    ("count", "total", "shown", "note"),
    [
        (3, 3, 3, ""),
        (3, None, 3, ""),
        (3, 250, 3, "3 comments are shown; 247 more are on the site."),
        (0, 7, 0, "0 comments are shown; 7 more are on the site."),
        (MAX_COMMENTS + 4, None, MAX_COMMENTS, "300 comments are shown; 4 more are on the site."),
    ],
)
def test_a_note_says_how_many_comments_are_left(
    count: int, total: int | None, shown: int, note: str
):
    page = write(thread("", *[Comment("b", "", "x")] * count, total=total), base=BASE)
    assert page.markdown.count("\n## b") == shown
    assert page.notes == ((note,) if note else ())
    assert page.is_truncated is bool(note)


def test_long_comments_end_a_thread():
    size = MAX_CHARS // 4
    page = write(thread("", *[Comment("b", "", "x" * size)] * 6), base=BASE)
    assert page.markdown.count("\n## b") == 4
    assert page.notes == ("4 comments are shown; 2 more are on the site.",)


def test_of_very_long_threads_the_rest_is_shown_as_its_source():
    body = f"*x* {'x' * 80_000}"
    page = write(thread("", *[Comment("b", "", body)] * 3), base=BASE)
    assert page.markdown.count("```markdown\n*x*") == 1
    assert not page.is_truncated


def test_a_comment_with_an_open_fence_does_not_swallow_the_next():
    page = write(
        thread("```\nopen", Comment("b", "", "~~~\nopen"), Comment("c", "", "x")), base=BASE
    )
    assert "\n```\n\n## b\n" in page.markdown
    assert page.markdown.endswith("\n```\n\n## c\n\nx")


@pytest.mark.parametrize("name", ["![x](http://evil.example)", "a\n# b", "[a](javascript:x)"])
def test_names_do_not_become_markup(name: str):
    found = Fields({
        "title": name, "user": {"login": name}, "labels": [{"name": name}], "body": "b",
        "milestone": {"title": name}, "assignees": [{"login": name}], "created_at": name,
    })  # fmt: skip
    read = of_forge(found, place=name, number=1, kind="Issue", state=name, more=[])
    comment = comment_of_forge(
        Fields({"user": {"login": name}, "path": name, "line": 3, "body": "x"})
    )
    written = write(replace(read, comments=(comment,)), base=BASE).markdown
    assert "![" not in written
    assert "](" not in written
    assert written.count("\n# ") == 0


@pytest.mark.parametrize(
    "found", [{}, {"title": None}, {"title": ""}, {"title": 3}, {"title": "\u200b"}]
)
def test_a_thread_has_a_title(found: dict[str, object]):
    with pytest.raises(ValueError, match="no title"):
        of_forge(Fields(found), place="o/r", number=1, kind="Issue", state="", more=[])


@pytest.mark.parametrize(
    ("found", "about"),
    [
        ({"path": "a.py", "line": 3}, "a.py, line 3"),
        ({"path": "a.py", "line": None}, "a.py"),
        ({"line": 3}, ""),
        ({"path": 3, "line": "x"}, ""),
    ],
)
def test_a_comment_on_code_names_its_place(found: dict[str, object], about: str):
    assert comment_of_forge(Fields(found)).about == about
