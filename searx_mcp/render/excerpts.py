"""Passages shown in place of a page, the call that reads on, and the text if none of them answers."""

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import Final

from searx_mcp.models.page import Passage
from searx_mcp.render.fence import one_line
from searx_mcp.render.tokens import closing

FETCH: Final = "web_fetch"
"""Default name of the tool that reads on."""

_SKIPPED: Final = "\n\n\u2026\n\n"
"""Marks omitted text of the page."""

_TITLE_TOKENS: Final = 25

_SHORTEST: Final = 200
"""Minimum characters of a passage for showing a part of it: two sentences."""


_REST: Final = 0.05
"""Share of the room that may stay empty: below it, no further passage is tried."""
_MISFITS: Final = 24
"""Passages that do not fit before the search ends: a page may have thousands."""


def choose(
    passages: Sequence[Passage],
    room: int,
    *,
    size: Callable[[str], int],
    cut: Callable[[str, int], str],
) -> list[Passage]:
    """Select passages while they fit; of the first that are too long, select the beginnings.

    Args:
        passages: in order of preference; they do not overlap.
        room: maximum size of `excerpts` of the selected ones.
        size: returns the size of a text, which never exceeds the sum of the sizes of its parts.
        cut: returns the beginning of a text up to a size.

    Returns:
        Passages in the order in which they were selected.
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
    """Join passages into one Markdown text.

    Args:
        passages: in any order.
        boundary: of the fence for the text; the passages themselves are not neutralised here.

    Returns:
        The passages in page order. A passage that does not directly follow the one before starts, after a `…`,
        with a line that has its headings and its character offset.
    """
    return _SKIPPED.join(_runs(sorted(passages, key=lambda passage: passage.offset), boundary))


def gap(passages: Sequence[Passage], start: int = 0) -> int:
    """Return the first code point from `start` on that is in none of the passages."""
    for passage in sorted(passages, key=lambda passage: passage.offset):
        if passage.offset > start:
            break
        start = max(start, passage.end)
    return start


def _runs(passages: Sequence[Passage], boundary: str) -> Iterator[str]:
    """Yield contiguous passages joined, each run with its label."""
    at = 0
    while at < len(passages):
        first = passages[at]
        texts = [first.text]
        at += 1
        while at < len(passages) and passages[at].offset == passages[at - 1].end:
            texts.append(passages[at].text)
            at += 1
        text = first.head + "".join(texts).lstrip("\n").rstrip()
        yield _label(first, boundary) + text + closing(text)


def _end(passage: Passage) -> str:
    """Return what closes a code block in which a passage ends."""
    return closing(passage.head + passage.text)


def _frame(passage: Passage) -> str:
    """Return the text around a passage that is not contiguous with another."""
    return _SKIPPED + _label(passage) + passage.head


def _label(passage: Passage, boundary: str = "") -> str:
    """Return a passage's location; nothing for the beginning of the page."""
    if not passage.offset:
        return ""
    # Do not repeat headings with which the passage begins.
    lines = filter(None, passage.text.split("\n"))
    own = sum(1 for _ in takewhile(lambda line: line.startswith("#"), lines))
    path = passage.path[: max(0, len(passage.path) - own)]
    titles = " > ".join(one_line(title, boundary, max_tokens=_TITLE_TOKENS) for title in path)
    return f"[{titles}{', ' if titles else ''}from character {passage.offset}]\n\n"


def next_call(fetch: str, **arguments: str | int) -> str:
    """Format a call with its arguments as JSON.

    Args:
        fetch: the published name of `web_fetch`.
        arguments: of the call.
    """
    return f"{fetch} {json.dumps(arguments, ensure_ascii=False)}"


NEXT: Final = (
    "Next: ask in other words, read another page, or search the web. Do not answer from memory."
)
_TERM_TOKENS: Final = 40


def refusal(
    support: float,
    missing: Sequence[str],
    boundary: str,
    *,
    told: str,
    section: str = "",
) -> str:
    """Say that a question is not answered, how good the best match is, and what is missing.

    Args:
        support: of the best passage, 0 to 1.
        missing: words of the question that were not found.
        boundary: of the fence; with one, the sentence contains no untrusted heading.
        told: which pages do not answer which question.
        section: the heading above the best passage.
    """
    where = f" (§ {section})" if section and not boundary else ""
    words = dict.fromkeys(missing)
    named = ", ".join(f'"{one_line(word, boundary, max_tokens=_TERM_TOKENS)}"' for word in words)
    lacking = f"; not found: {named}" if named else ""
    return f"{told}. Best match {support:.2f}{where}{lacking}."
