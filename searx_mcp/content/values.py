"""Values from services and pages, read without trusting them: members of JSON, dates, lengths and sizes."""

import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

from searx_mcp.content.clean import clean_line

MAX_LINE: Final = 200
_MAX_COUNT: Final = 1 << 53  # exact in JSON numbers (RFC 8259, section 6)
_DAY = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ]|$)")

_MAX_CHARS: Final = 60
"""Longer text is not a date."""

_PARTIAL = re.compile(r"[0-9]{4}(?:-[0-9]{2})?")
_DATE = re.compile(r"([0-9]{4})(?:[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})|([0-9]{2})([0-9]{2}))")
_ENGLISH = re.compile(
    r"(?:[A-Za-z]{3,9},? )?(?:(?P<month>[A-Za-z]{3,9})\.? (?P<day>[0-9]{1,2})(?:st|nd|rd|th)?,?"
    r"|(?P<day_first>[0-9]{1,2})(?:st|nd|rd|th)?\.? (?P<month_last>[A-Za-z]{3,9})\.?,?)"
    r" (?P<year>[0-9]{4})"
)
MONTHS: Final = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
)  # fmt: skip
_ZONE = re.compile(r" ?(?:(?P<offset>[+-][0-9]{2}:?[0-9]{2})|(?:UTC|GMT|Z))$")
_UNIX = re.compile(r"1[0-9]{9}(?:[0-9]{3})?")
"""Seconds or milliseconds between 2001 and 2033."""
_FIGURES = re.compile(r"[0-9]{1,4}(?:[-/. :T+\u5e74\u6708\u65e5]{1,2}[0-9]{1,9}){0,9}(?:Z|\u65e5)?")
"""Figures and the separators between them in dates, including East Asia's year, month and day."""

_MAX_SECONDS: Final = 10**9
"""Over 30 years; anything longer is not a duration."""
_UNIT: Final = 1024
_UNITS: Final = ("kiB", "MiB", "GiB")


class Fields:
    """The members of a JSON object; a missing one, or one of another type, is empty."""

    def __init__(self, members: Mapping[str, object]) -> None:
        self._members = members

    def __bool__(self) -> bool:
        return bool(self._members)

    def __contains__(self, name: str) -> bool:
        return self._members.get(name) is not None

    def line(self, name: str, most: int = MAX_LINE) -> str:
        """A string as one clean line of at most `most` characters."""
        return clean_line(self.text(name), most)

    def text(self, name: str) -> str:
        """A string, unchanged."""
        value = self._members.get(name)
        return value if isinstance(value, str) else ""

    def day(self, name: str) -> str:
        """The date of a timestamp, `2024-11-06`."""
        match = _DAY.match(self.line(name))
        return match[1] if match else ""

    def count(self, name: str) -> int | None:
        """A whole number that is not negative."""
        value = self._members.get(name)
        if not isinstance(value, int) or isinstance(value, bool):
            return None
        return value if 0 <= value < _MAX_COUNT else None

    def number(self, name: str) -> float | None:
        """A finite number."""
        value = self._members.get(name)
        if not isinstance(value, int | float) or isinstance(value, bool):
            return None
        return float(value) if abs(value) < _MAX_COUNT else None

    def flag(self, name: str) -> bool:
        """Whether a member is `true`."""
        return self._members.get(name) is True

    def part(self, name: str) -> "Fields":
        """An object."""
        value = self._members.get(name)
        return Fields(value if isinstance(value, dict) else {})

    def parts(self, name: str) -> list["Fields"]:
        """The objects of a list."""
        value = self._members.get(name)
        return objects(value) if isinstance(value, list) else []

    def lines(self, name: str, most: int = MAX_LINE) -> list[str]:
        """The strings of a list, or a single string instead of one, as clean lines."""
        cleaned = (clean_line(item, most) for item in self.texts(name))
        return [line for line in cleaned if line]

    def texts(self, name: str) -> list[str]:
        """The strings of a list, or a single string instead of one, unchanged."""
        value = self._members.get(name)
        values = value if isinstance(value, list) else [value]
        return [item for item in values if isinstance(item, str)]

    def pairs(self, name: str) -> list[tuple[str, str]]:
        """The members of an object whose values are strings, as clean lines."""
        value = self._members.get(name)
        if not isinstance(value, dict):
            return []
        return [
            (clean_line(key, MAX_LINE), clean_line(item, MAX_LINE))
            for key, item in value.items()
            if isinstance(item, str)
        ]

    def members(self) -> list[tuple[str, "Fields"]]:
        """The members that are objects, by unchanged name."""
        return [
            (key, Fields(item)) for key, item in self._members.items() if isinstance(item, dict)
        ]


def loads(data: bytes | str) -> object:
    """Parse JSON; raises `ValueError` whatever is wrong with it."""
    try:
        value: object = json.loads(data)
    except RecursionError as exc:
        raise ValueError("the answer nests too deep") from exc
    return value


def objects(values: Iterable[object]) -> list[Fields]:
    """The objects among some values."""
    return [Fields(value) for value in values if isinstance(value, dict)]


def iso_date(text: str) -> str:
    """A date in ISO 8601 if it parses, else the text itself as one clean line.

    A date without a time stays one, an offset is kept and none is guessed, fractions of seconds are dropped. Numbers
    such as 3/4/2024 stay as they are: which one is the month is unknown.

    Args:
        text: from a page or a feed; any string.

    Returns:
        At most 60 characters; empty if there is no text.
    """
    line = clean_line(text, _MAX_CHARS)
    if not line or _PARTIAL.fullmatch(line):
        return line
    try:
        return _date(line) or _instant(line)
    except (ValueError, OverflowError):
        return line


def only_date(text: str) -> str:
    """A date in ISO 8601, or in figures whose order is unknown; empty for any other text.

    For a field that readers trust to be a date: unlike `iso_date` it never returns words.

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
    if name not in MONTHS:
        return ""
    day = found["day"] or found["day_first"]
    return date(int(found["year"]), MONTHS.index(name) + 1, int(day)).isoformat()


def _instant(line: str) -> str:
    if _UNIX.fullmatch(line):
        instant = datetime.fromtimestamp(int(line[:10]), UTC)
    elif line[:4].isdigit():
        zone = _ZONE.search(line)
        plain = line if zone is None else line[: zone.start()] + (zone["offset"] or "+00:00")
        instant = datetime.fromisoformat(plain)
    elif ":" in line:  # RFC 5322 has no date without a time
        instant = parsedate_to_datetime(line)
    else:
        return line
    return instant.isoformat(timespec="seconds")


def length(seconds: float | None) -> str:
    """A duration as `0:45:32`; empty if unknown."""
    if seconds is None or not 0 < seconds <= _MAX_SECONDS:
        return ""
    return str(timedelta(seconds=round(seconds)))


def size(count: float | None) -> str:
    """A number of bytes as `1.50 MiB`; empty if unknown."""
    if count is None or count < 0:
        return ""
    if count < _UNIT:
        return f"{count:g} Bytes"
    for unit in _UNITS:
        count /= _UNIT
        if count < _UNIT:
            return f"{count:.2f} {unit}"
    return f"{count / _UNIT:.2f} TiB"
