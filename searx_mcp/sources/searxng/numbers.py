"""Numbers, sizes and durations as an instance sent them: as numbers, as texts, or as neither."""

import re
from datetime import timedelta
from typing import Final

from searx_mcp.content import values
from searx_mcp.sources.searxng.fields import MAX_NAME, line

MAX_NUMBER: Final = 10**15
"""Larger numbers, infinities among them, are no counts, sizes or coordinates of anything."""
_MAX_SECONDS: Final = 10**9
"""Over 30 years; also keeps within what a duration can hold."""

_NUMBER = re.compile(r"[+-]?[0-9]{1,16}(?:\.[0-9]{1,30})?")
_COUNT = re.compile(r"[0-9]{1,3}(?:[ ,.'\u2019][0-9]{3}){1,4}(?![0-9])|[0-9]{1,16}(?![0-9])")
"""Digits, or groups of three with a separator between them."""
_DURATION = re.compile(
    r"(?:([0-9]{1,5}) days?, )?(?:([0-9]{1,5}):)?([0-9]{1,5}):([0-9]{1,2}(?:\.[0-9]{1,6})?)"
)
"""As a person writes it, `3:46`, and as Python does, `1 day, 2:03:04.5`; some engines write `3:5`."""


def number(value: object) -> float | None:
    """A number of moderate size, also out of a text; `None` for NaN and anything else."""
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip(" ")):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # NaN fails every comparison.
    return float(value) if -MAX_NUMBER <= value <= MAX_NUMBER else None


def count(value: object) -> int | None:
    """How many, also out of a text that begins with it, such as `1,244 Seeder`."""
    if isinstance(value, str):
        found = _COUNT.match(line(value, MAX_NAME))
        value = int(re.sub(r"\D", "", found[0])) if found else None
    exact = number(value)
    return int(exact) if exact is not None and exact >= 0 else None


def text(value: object, max_chars: int = MAX_NAME) -> str:
    """A clean line out of a text, a number or a truth value, as a page of SearXNG shows it."""
    if isinstance(value, bool) or (isinstance(value, int | float) and number(value) is not None):
        value = str(value)
    return line(value, max_chars)


def size(value: object) -> str:
    """The size of a file in words; a number counts bytes and is written as SearXNG writes it."""
    if isinstance(value, str):
        return line(value, MAX_NAME)
    return values.size(number(value))


def duration(value: object) -> tuple[str, float | None]:
    """A duration in words and in seconds.

    Args:
        value: seconds, or a text, which in HTML may hold nothing but seconds too.

    Returns:
        The text, made from the number where that was sent, and the seconds where the text is a
        duration.
    """
    seconds_ = number(value)
    if seconds_ is None and isinstance(value, str):
        words = line(value, MAX_NAME)
        found = _DURATION.fullmatch(words)
        if found is None:
            return words if words != "None" else "", None
        days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
        return words, ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    if seconds_ is None or not 0 < seconds_ <= _MAX_SECONDS:
        return "", None
    return str(timedelta(seconds=seconds_)), seconds_
