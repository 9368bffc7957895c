"""Times as an instance sent them.

Since 2023-06 JSON has ISO 8601, with and without an offset; HTML has it since 2025-03. Before, and
for papers still, there is a date in the reader's language, or, of the last day, only its distance.
"""

import re
from datetime import date, datetime
from typing import Final

from searx_mcp.searxng.fields import MAX_NAME, line

_YEAR = re.compile(r"[0-9]{4}")
_CANONICAL = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[+-]\d\d:\d\d)?", re.ASCII)
_DATE_LENGTH: Final = len("2026-02-01")
_MONTHS: Final = (
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
)
_AMERICAN = re.compile(r"(?P<month>[A-Za-z]{3,9})\.? (?P<day>[0-9]{1,2}), (?P<year>[0-9]{4})")
_BRITISH = re.compile(r"(?P<day>[0-9]{1,2}) (?P<month>[A-Za-z]{3,9})\.?,? (?P<year>[0-9]{4})")
"""The medium and long dates of English, `Feb 5, 2026` and `5 February 2026` (Unicode CLDR)."""


def instant(value: object) -> str | None:
    """An ISO 8601 date, date and time, or year.

    Offsets are kept and not guessed. English dates are understood, since English is what instances
    are asked for; `None` for other languages and for distances such as `5 minute(s) ago`: what
    they are counted from is not told, and an answer may be read out of a cache.
    """
    text = line(value, MAX_NAME)
    if not text:
        return None
    if _YEAR.fullmatch(text):
        return text
    try:
        if len(text) == _DATE_LENGTH:
            return date.fromisoformat(text).isoformat()
        read = datetime.fromisoformat(text)
    except ValueError:
        return _english_date(text)
    # Written as we would write it already, mostly; writing it takes longer than seeing that.
    return text if _CANONICAL.fullmatch(text) else read.isoformat()


def words(value: object) -> str:
    """The words of a time that `instant` cannot read; empty for `None` in words."""
    text = line(value, MAX_NAME)
    return "" if text == "None" else text


def _english_date(text: str) -> str | None:
    found = _AMERICAN.fullmatch(text) or _BRITISH.fullmatch(text)
    month = found["month"][:3].lower() if found else ""
    if found is None or month not in _MONTHS:
        return None
    try:
        return date(int(found["year"]), _MONTHS.index(month) + 1, int(found["day"])).isoformat()
    except ValueError:
        return None
