"""The table of addresses, as it comes with the package."""

import json
from collections.abc import Mapping
from importlib import resources
from typing import Final

from pydantic import TypeAdapter

from searx_mcp.models.selfcheck import Vector

PUBLIC_ADDRESSES: Final = ("93.184.216.34", "2606:4700::6810:84e5")
"""The public addresses of the table: names without another one have the first."""

_FILE: Final = "vectors.json"
_VECTORS: Final = TypeAdapter(tuple[Vector, ...])


def bundled_vectors() -> tuple[Vector, ...]:
    """Read the table of the package."""
    return parse_vectors((resources.files(__package__) / _FILE).read_text("utf-8"))


def parse_vectors(text: str) -> tuple[Vector, ...]:
    """Read a table: a JSON list of objects with the fields of `Vector`.

    The answers of a name may be one list of addresses instead of a list of lists.

    Raises:
        ValueError: it is no such list.
    """
    # Not by pydantic's own parser, which refuses half a character in a string.
    rows = json.loads(text)
    for row in rows:
        row["dns"] = {name: _each_look_up(answers) for name, answers in _dns(row).items()}
    return _VECTORS.validate_python(rows)


def _dns(row: Mapping[str, Mapping[str, list[object]]]) -> Mapping[str, list[object]]:
    return row.get("dns") or {}


def _each_look_up(answers: list[object]) -> list[object]:
    return [answers] if answers and isinstance(answers[0], str) else answers
