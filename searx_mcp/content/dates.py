"""Dates as pages and feeds write them, in ISO 8601."""

import re
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from searx_mcp.content.clean import clean_line

_MAX_CHARS: Final = 60
"""Longer text is no date."""

_PARTIAL = re.compile(r"[0-9]{4}(?:-[0-9]{2})?")
_DATE = re.compile(r"([0-9]{4})(?:[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})|([0-9]{2})([0-9]{2}))")
_ENGLISH = re.compile(
    r"(?:[A-Za-z]{3,9},? )?(?:(?P<month>[A-Za-z]{3,9})\.? (?P<day>[0-9]{1,2})(?:st|nd|rd|th)?,?"
    r"|(?P<day_first>[0-9]{1,2})(?:st|nd|rd|th)?\.? (?P<month_last>[A-Za-z]{3,9})\.?,?)"
    r" (?P<year>[0-9]{4})"
)
_MONTHS: Final = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
)  # fmt: skip
_ZONE = re.compile(r" ?(?:(?P<offset>[+-][0-9]{2}:?[0-9]{2})|(?:UTC|GMT|Z))$")
_UNIX = re.compile(r"1[0-9]{9}(?:[0-9]{3})?")
"""Seconds or milliseconds between 2001 and 2033."""
_FIGURES = re.compile(r"[0-9]{1,4}(?:[-/. :T+\u5e74\u6708\u65e5]{1,2}[0-9]{1,9}){0,9}(?:Z|\u65e5)?")
"""Figures and what stands between them in dates, East Asia's year, month and day among it."""


def iso_date(text: str) -> str:
    """A date in ISO 8601 where it parses, else the text itself as one clean line.

    A date without a time stays one, an offset is kept and none is guessed, fractions of seconds are
    dropped. Numbers such as 3/4/2024 stay as they are: nobody knows which is the month.

    Args:
        text: what a page or a feed gives; any string.

    Returns:
        At most 60 characters; empty if there is nothing.
    """
    line = clean_line(text, _MAX_CHARS)
    if not line or _PARTIAL.fullmatch(line):
        return line
    try:
        return _date(line) or _instant(line)
    except (ValueError, OverflowError):
        return line


def only_date(text: str) -> str:
    """A date in ISO 8601, or in figures that nobody can order; empty for any other text.

    For where a date is told to be one: unlike `iso_date` it passes on no words.

    Args:
        text: any string.
    """
    return next((line for line in (text, iso_date(text)) if _FIGURES.fullmatch(line)), "")


def _date(line: str) -> str:
    if found := _DATE.fullmatch(line):
        month, day = found[2] or found[4], found[3] or found[5]
        return date(int(found[1]), int(month), int(day)).isoformat()
    found = _ENGLISH.fullmatch(line)
    if found is None:
        return ""
    name = (found["month"] or found["month_last"])[:3].lower()
    if name not in _MONTHS:
        return ""
    day = found["day"] or found["day_first"]
    return date(int(found["year"]), _MONTHS.index(name) + 1, int(day)).isoformat()


def _instant(line: str) -> str:
    if _UNIX.fullmatch(line):
        instant = datetime.fromtimestamp(int(line[:10]), UTC)
    elif line[:4].isdigit():
        zone = _ZONE.search(line)
        plain = line if zone is None else line[: zone.start()] + (zone["offset"] or "+00:00")
        instant = datetime.fromisoformat(plain)
    elif ":" in line:  # without a time, RFC 5322 knows no date
        instant = parsedate_to_datetime(line)
    else:
        return line
    return instant.isoformat(timespec="seconds")
