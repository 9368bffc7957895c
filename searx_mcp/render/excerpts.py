"""The passages of a page that are shown in its place, in its order, and the call that reads on."""

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import Final

from searx_mcp.models.page import Passage
from searx_mcp.render.fence import one_line
from searx_mcp.render.tokens import closing

FETCH: Final = "web_fetch"
"""The tool that reads on, under its own name."""

_SKIPPED: Final = "\n\n\u2026\n\n"
"""Stands where text of the page is left out."""

_FENCE: Final = "```\n"
_TITLE_TOKENS: Final = 25

_SHORTEST: Final = 200
"""Characters of a passage that are worth being shown without the rest of it: two sentences."""


_REST: Final = 0.05
"""Share of the room that is not worth looking for something that fits."""
_MISFITS: Final = 24
"""Passages that find no room before no further one is tried: a page may have thousands."""


def choose(
    passages: Sequence[Passage],
    room: int,
    *,
    size: Callable[[str], int],
    cut: Callable[[str, int], str],
) -> list[Passage]:
    """Take passages while there is room, of the first that are too long the beginnings.

    Args:
        passages: those to be taken first in front; they do not overlap.
        room: what `excerpts` of the taken ones may come to.
        size: of a text, which is never more than the sizes of its parts together.
        cut: gives the beginning of a text that has no more than a size.

    Returns:
        Passages in the order in which they were taken.
    """
    taken: list[Passage] = []
    starts: dict[int, int] = {}
    ends: set[int] = set()
    left = room
    misfits = 0
    for passage in passages:
        if left < room * _REST or misfits == _MISFITS:
            break
        frame = 0 if passage.offset in ends else size(_frame(passage))
        needed = frame + size(passage.text + _end(passage))
        shown = passage
        if needed - starts.get(passage.end, 0) > left:
            text = cut(passage.text, max(0, left - frame)).rstrip()
            if not text or (taken and len(text) < _SHORTEST):
                misfits += 1
                continue
            shown = passage.model_copy(update={"text": text})
            needed = frame + size(text + _end(shown))
        left += starts.pop(shown.end, 0) - needed
        if frame:
            starts[shown.offset] = frame
        ends.add(shown.end)
        taken.append(shown)
    return taken


def excerpts(passages: Sequence[Passage], boundary: str = "") -> str:
    """Write passages as one Markdown text.

    Args:
        passages: in any order.
        boundary: of the fence that the text is for; the passages themselves are not neutralised here.

    Returns:
        The passages in the order of the page. What does not join on to the one before begins with a line
        that says under which headings and at which character it stands, below a `…`.
    """
    return _SKIPPED.join(_runs(sorted(passages, key=lambda passage: passage.offset), boundary))


def gap(passages: Sequence[Passage], start: int = 0) -> int:
    """The first code point from a start on that is in none of the passages."""
    for passage in sorted(passages, key=lambda passage: passage.offset):
        if passage.offset > start:
            break
        start = max(start, passage.end)
    return start


def _runs(passages: Sequence[Passage], boundary: str) -> Iterator[str]:
    """Join what stands in one piece in the page, each with its label."""
    at = 0
    while at < len(passages):
        first = passages[at]
        texts = [first.text]
        at += 1
        while at < len(passages) and passages[at].offset == passages[at - 1].end:
            texts.append(passages[at].text)
            at += 1
        text = "".join(texts).lstrip("\n").rstrip()
        if first.is_code:
            text = f"{_FENCE}{text}"
        yield _label(first, boundary) + text + closing(text)


def _end(passage: Passage) -> str:
    """Give what closes the code that a passage ends in."""
    return closing((_FENCE if passage.is_code else "") + passage.text)


def _frame(passage: Passage) -> str:
    """Give what stands around a passage that joins on to no other."""
    return _SKIPPED + _label(passage) + (_FENCE if passage.is_code else "")


def _label(passage: Passage, boundary: str = "") -> str:
    """Where a passage stands; nothing for the beginning of the page."""
    if not passage.offset:
        return ""
    # Headings that the passage begins with are not said twice.
    lines = filter(None, passage.text.split("\n"))
    own = sum(1 for _ in takewhile(lambda line: line.startswith("#"), lines))
    path = passage.path[: max(0, len(passage.path) - own)]
    titles = " > ".join(one_line(title, boundary, max_tokens=_TITLE_TOKENS) for title in path)
    return f"[{titles}{', ' if titles else ''}from character {passage.offset}]\n\n"


def next_call(fetch: str, **arguments: str | int) -> str:
    """Write a call with its arguments as JSON.

    Args:
        fetch: the published name of `web_fetch`.
        arguments: of the call.
    """
    return f"{fetch} {json.dumps(arguments, ensure_ascii=False)}"
