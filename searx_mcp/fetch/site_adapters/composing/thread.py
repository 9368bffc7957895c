"""An issue or a pull request with what was said under it, as Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from searx_mcp.content.fields import Fields
from searx_mcp.fetch.site_adapters.composing.prose import Prose
from searx_mcp.fetch.site_adapters.composing.writing import Value, capped, facts, heading, joined
from searx_mcp.fetch.site_adapters.interface import Composed

MAX_COMMENTS: Final = 300
MAX_CHARS: Final = 500_000
"""Characters of bodies written at most; a body of GitHub's may have 65,536."""

_MAX_LABELS: Final = 30
_GONE: Final = "a deleted account"
_BODY_SHIFT: Final = 2


@dataclass(frozen=True, slots=True)
class Comment:
    """What somebody said.

    Attributes:
        author: account name; may be empty.
        day: date.
        body: Markdown as it was written.
        about: what it is about, such as a line of a file; may be empty.
        moment: by which comments are put in order.
    """

    author: str
    day: str
    body: str
    about: str = ""
    moment: str = ""


@dataclass(frozen=True, slots=True)
class Thread:
    """An issue, a pull request or a merge request.

    Attributes:
        title: plain text, with its number.
        place: the repository.
        author: account name; may be empty.
        created, updated: timestamps as they came.
        labels: names.
        facts: what else is known, by our labels.
        body: Markdown as it was written.
        comments: in order.
        total: how many comments there are, or `None` if that is not known.
        notes: sentences a caller should know.
    """

    title: str
    place: str
    author: str
    created: str
    updated: str
    labels: tuple[str, ...]
    facts: tuple[tuple[str, Value], ...]
    body: str
    comments: tuple[Comment, ...] = ()
    total: int | None = None
    notes: tuple[str, ...] = ()


def write(thread: Thread, *, base: str) -> Composed:
    """Make a page of a thread.

    Args:
        thread: what was read.
        base: its address on the site.
    """
    prose = Prose(base)
    blocks = [
        heading(1, thread.title),
        facts(
            [
                ("Repository", thread.place),
                *thread.facts,
                ("Author", thread.author or _GONE),
                ("Opened", thread.created[:10]),
                ("Labels", capped(list(thread.labels), _MAX_LABELS)),
            ]
        ),
        prose.write(thread.body, shift=_BODY_SHIFT),
    ]
    room = MAX_CHARS - len(thread.body)
    shown = 0
    for comment in thread.comments[:MAX_COMMENTS]:
        room -= len(comment.body)
        if room < 0:
            break
        shown += 1
        said = prose.write(comment.body, shift=_BODY_SHIFT) or "(no text)"
        blocks += [heading(2, _caption(comment)), said]
    left = max(thread.total or 0, len(thread.comments)) - shown
    more = (f"{shown:,} comments are shown; {left:,} more are on the site.",) if left > 0 else ()
    return Composed(
        markdown=joined(*blocks),
        title=thread.title,
        author=thread.author,
        published=thread.created,
        modified=thread.updated,
        is_truncated=left > 0,
        notes=(*thread.notes, *more),
    )


def of_forge(
    issue: Fields,
    *,
    place: str,
    number: int,
    kind: str,
    state: str,
    more: Sequence[tuple[str, Value]],
) -> Thread:
    """Read an issue or a pull request in the shape of GitHub's REST API, which Forgejo shares.

    Args:
        issue: the answer.
        place: the repository.
        number: of the thread.
        kind: what it is called.
        state: what has become of it.
        more: further facts.

    Raises:
        ValueError: it has no title.
    """
    title = issue.line("title", 300)
    if not title:
        raise ValueError(f"the {kind.lower()} has no title")
    return Thread(
        title=f"{title} (#{number})",
        place=place,
        author=issue.part("user").line("login"),
        created=issue.line("created_at"),
        updated=issue.line("updated_at"),
        labels=tuple(name for label in issue.parts("labels") if (name := label.line("name"))),
        facts=(
            ("Kind", kind),
            ("State", state),
            *more,
            ("Milestone", issue.part("milestone").line("title")),
            ("Assignees", capped([u.line("login") for u in issue.parts("assignees")], _MAX_LABELS)),
            ("Closed", issue.day("closed_at")),
        ),
        body=issue.text("body"),
        total=issue.count("comments"),
    )


def comment_of_forge(comment: Fields) -> Comment:
    """Read a comment in the shape of GitHub's REST API; those on code name their file."""
    path, line = comment.line("path"), comment.count("line")
    return Comment(
        author=comment.part("user").line("login"),
        day=comment.day("created_at"),
        body=comment.text("body"),
        about=f"{path}, line {line}" if path and line else path,
        moment=comment.line("created_at"),
    )


def _caption(comment: Comment) -> str:
    about = f" on {comment.about}" if comment.about else ""
    day = f", {comment.day}" if comment.day else ""
    return f"{comment.author or _GONE}{about}{day}"
