"""Answers of services, read without trusting them: a value of the wrong type is a missing one."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Final

from searx_mcp.content.clean import clean_line

MAX_LINE: Final = 200
_MAX_COUNT: Final = 1 << 53  # what JSON numbers hold exactly (RFC 8259, section 6)
_DAY = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ]|$)")


class Fields:
    """The members of a JSON object; one that is missing or of another type is empty."""

    def __init__(self, members: Mapping[str, object]) -> None:
        self._members = members

    def __bool__(self) -> bool:
        return bool(self._members)

    def __contains__(self, name: str) -> bool:
        return self._members.get(name) is not None

    def line(self, name: str, most: int = MAX_LINE) -> str:
        """A string as one clean line of at most so many characters."""
        value = self._members.get(name)
        return clean_line(value, most) if isinstance(value, str) else ""

    def text(self, name: str) -> str:
        """A string as it came."""
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
        """The strings of a list, or the one string that stands in its place, as clean lines."""
        value = self._members.get(name)
        values = value if isinstance(value, list) else [value]
        cleaned = (clean_line(item, most) for item in values if isinstance(item, str))
        return [line for line in cleaned if line]

    def texts(self, name: str) -> list[str]:
        """The strings of a list, or the one string that stands in its place, as they came."""
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
        """The members that are objects, by name as it came."""
        return [
            (key, Fields(item)) for key, item in self._members.items() if isinstance(item, dict)
        ]


def loads(data: bytes | str) -> object:
    """JSON, or a `ValueError` whatever is wrong with it."""
    try:
        value: object = json.loads(data)
    except RecursionError as exc:
        raise ValueError("the answer nests too deep") from exc
    return value


def objects(values: Iterable[object]) -> list[Fields]:
    """The objects among some values."""
    return [Fields(value) for value in values if isinstance(value, dict)]
