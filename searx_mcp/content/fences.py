"""Fenced code in Markdown: where nothing is markup."""

import re
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from typing import Final

_FENCE = re.compile(
    r"^(?P<prefix>[ \t>]*+(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]++)*+)(?P<marks>`{3,}+|~{3,}+)(?P<info>[^\n]*+)",
    re.MULTILINE,
)
"""A line that opens or closes a fence, also inside quotes and lists (CommonMark, section 4.5)."""

_BACKTICKS = re.compile(r"`++")
_LEAST: Final = 3

_KINDS: Final = "`~"
_MAX_INDENT: Final = 3


def fence(code: str, *, language: str) -> str:
    """A fenced code block that its content cannot close.

    Args:
        code: the content, lines separated by newlines.
        language: the info string; may be empty.

    Returns:
        The block, without a newline at its end.
    """
    marks = "`" * max(_LEAST, longest_backticks(code) + 1)
    return f"{marks}{language}\n{code}\n{marks}"


def longest_backticks(code: str) -> int:
    """How many backticks stand in a row at most."""
    return max(map(len, _BACKTICKS.findall(code))) if "`" in code else 0


def code_spans(markdown: str) -> list[tuple[int, int]]:
    """Where fenced code stands, its fences included, in order.

    A fence at the margin that is never closed ends with the text. One inside a quote or a list
    would end with that, and counts for nothing.

    Args:
        markdown: any text. Linear in its length.
    """
    marks = list(_FENCE.finditer(markdown))
    closers = {kind: _Closers(marks, kind) for kind in _KINDS}
    spans: list[tuple[int, int]] = []
    end = 0
    for mark in marks:
        kind, length = mark["marks"][0], len(mark["marks"])
        if mark.start() < end or not _can_open(mark):
            continue
        close = closers[kind].behind(mark.start(), length)
        if close is not None:
            end = close
        elif _is_at_margin(mark):
            end = len(markdown)
        else:
            continue
        spans.append((mark.start(), end))
    return spans


def in_code(markdown: str) -> Callable[[int], bool]:
    """A question to ask of offsets: whether fenced code stands there."""
    spans = code_spans(markdown)
    starts = [start for start, _ in spans]

    def is_code(offset: int) -> bool:
        at = bisect_right(starts, offset) - 1
        return at >= 0 and offset < spans[at][1]

    return is_code


def _can_open(mark: re.Match[str]) -> bool:
    # `` ```x``` `` on one line is code in a sentence.
    return mark["marks"][0] == "~" or "`" not in mark["info"]


def _can_close(mark: re.Match[str]) -> bool:
    return not mark["info"].strip() and not mark["prefix"].strip("> \t")


def _is_at_margin(mark: re.Match[str]) -> bool:
    return not mark["prefix"].strip(" ") and len(mark["prefix"]) <= _MAX_INDENT


class _Closers:
    """The lines of one kind that can close a fence."""

    def __init__(self, marks: list[re.Match[str]], kind: str) -> None:
        closing = [mark for mark in marks if mark["marks"][0] == kind and _can_close(mark)]
        self._starts = [mark.start() for mark in closing]
        self._ends = [mark.end() for mark in closing]
        self._lengths = [len(mark["marks"]) for mark in closing]
        # The longest from each on: so that no fence is looked for that is not there.
        longest = accumulate(reversed(self._lengths), max)
        self._longest = list(longest)[::-1]

    def behind(self, start: int, length: int) -> int | None:
        """The end of the first one behind a start that has at least a length."""
        at = bisect_right(self._starts, start)
        if at == len(self._starts) or self._longest[at] < length:
            return None
        while self._lengths[at] < length:
            at += 1
        return self._ends[at]
