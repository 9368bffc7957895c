"""Lists of structured content whose rows hold untrusted text, in fences and within a number of tokens."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

from searx_mcp.render.blocks import strangers
from searx_mcp.render.fence import fenced
from searx_mcp.render.public import marked
from searx_mcp.render.tokens import estimate, fit

Row = dict[str, Any]

_LEAST_TEXT: Final = 60
"""Minimum tokens for showing the beginning of a text."""
_JSON: Final = 1.3
"""Maximum cost of a text in JSON, relative to the text: quotation marks and line breaks are escaped."""
_BETWEEN: Final = 1
"""Tokens of the separator between two rows of a list."""


def fence_texts(rows: Iterable[Row], boundary: str) -> list[Row]:
    """Put the `text` of each row in its own fence, and neutralise the other fields."""
    return [_fenced(row, boundary) for row in rows]


def _fenced(row: Row, boundary: str) -> Row:
    told = marked({name: value for name, value in row.items() if name != "text"}, boundary)
    text = fenced(strangers(row["text"], boundary), boundary=boundary)
    return {name: text if name == "text" else told[name] for name in row}


def costs_until(texts: Iterable[str], room: int) -> list[int]:
    """Estimate the tokens of texts until their sum exceeds the room: cheaper than to render them all."""
    costs: list[int] = []
    spent = 0
    for text in texts:
        costs.append(estimate(text, limit=room))
        spent += costs[-1]
        if spent > room:
            break
    return costs


def rows_within(rows: Sequence[Row], room: int) -> list[Row]:
    """Return the first rows that fit together."""
    kept = []
    for row in rows:
        room -= cost(row)
        if room < 0:
            break
        kept.append(row)
    return kept


def beginning(rows: Sequence[Row], room: int, boundary: str) -> list[Row]:
    """Return the first row with the beginning of its text, or no row if none fits.

    Args:
        rows: from `fence_texts`, or with plain texts.
        room: tokens.
        boundary: of the fences; empty if there are none.
    """
    for row in rows[:1]:
        text = row["text"]
        if boundary:
            text = text.partition("\n")[2].rpartition("\n")[0]
        left = room - cost({**row, "text": fenced("", boundary=boundary) if boundary else ""})
        if left >= _LEAST_TEXT:
            short, _ = fit(text, round(left / _JSON))
            return [{**row, "text": fenced(short, boundary=boundary) if boundary else short}]
    return []


def cost(value: object) -> int:
    """Estimate the tokens of a value as JSON, with the separator after it."""
    return estimate(json.dumps(value, ensure_ascii=False)) + _BETWEEN
