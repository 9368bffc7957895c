"""Issues and pull requests, from the REST API."""

from collections.abc import Sequence
from dataclasses import replace

from searx_mcp.content.fields import Fields
from searx_mcp.fetch.site_adapters.composing.fields import list_of, object_of
from searx_mcp.fetch.site_adapters.composing.thread import (
    Comment,
    comment_of_forge,
    of_forge,
    write,
)
from searx_mcp.fetch.site_adapters.composing.writing import Value
from searx_mcp.fetch.site_adapters.github.repository import Place
from searx_mcp.fetch.site_adapters.interface import Composed, Material


def compose(materials: Sequence[Material | None], *, place: Place, number: int) -> Composed:
    """Make a page of an issue or a pull request, and the comments on it.

    Args:
        materials: the issue or pull request; lists of comments, as far as they could be had.
        place: which repository.
        number: which issue.

    Raises:
        ValueError: the answers are not what is documented.
    """
    found = object_of(materials[0])
    is_pull = "head" in found or "pull_request" in found
    thread = of_forge(
        found,
        place=place.title,
        number=number,
        kind="Pull request" if is_pull else "Issue",
        state=_state(found),
        more=_pull_facts(found),
    )
    comments: list[Comment] = []
    notes: list[str] = []
    for material in materials[1:]:
        if material is None:
            notes.append("Comments could not be had.")
            continue
        listed, _ = list_of(material)
        comments += map(comment_of_forge, listed)
    total = [count for name in ("comments", "review_comments") if (count := found.count(name))]
    page = f"{place.page}/{'pull' if is_pull else 'issues'}/{number}"
    return write(
        replace(
            thread,
            comments=tuple(sorted(comments, key=lambda comment: comment.moment)),
            total=sum(total),
            notes=tuple(dict.fromkeys(notes)),
        ),
        base=page,
    )


def _state(found: Fields) -> str:
    if found.day("merged_at") or found.part("pull_request").day("merged_at"):
        return "merged"
    reason = found.line("state_reason").replace("_", " ")
    state = (
        "draft" if found.flag("draft") and found.line("state") == "open" else found.line("state")
    )
    return f"{state} ({reason})" if reason else state


def _pull_facts(found: Fields) -> list[tuple[str, Value]]:
    return [
        ("From", found.part("head").line("label")),
        ("Into", found.part("base").line("label")),
        ("Merged", found.day("merged_at")),
        ("Commits", found.count("commits")),
        ("Changed files", found.count("changed_files")),
        ("Added lines", found.count("additions")),
        ("Removed lines", found.count("deletions")),
    ]
