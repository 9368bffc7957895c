"""Lists of structured content whose rows hold a text of a stranger, fenced and cut to a number of tokens."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

from searx_mcp.render.blocks import strangers
from searx_mcp.render.fence import fenced
from searx_mcp.render.public import marked
from searx_mcp.render.tokens import estimate, fit

Row = dict[str, Any]

_LEAST_TEXT: Final = 60
"""Tokens below which the beginning of a text is not worth showing."""
_JSON: Final = 1.3
"""What a text costs in JSON at most, compared with itself: quotation marks and line breaks are written longer."""
_BETWEEN: Final = 1
"""Tokens between two rows of a list."""


def fence_texts(rows: Iterable[Row], boundary: str) -> list[Row]:
    """Put the `text` of each row in a fence of its own, and tame all else in it."""
    return [_fenced(row, boundary) for row in rows]


def _fenced(row: Row, boundary: str) -> Row:
    told = marked({name: value for name, value in row.items() if name != "text"}, boundary)
    text = fenced(strangers(row["text"], boundary), boundary=boundary)
    return {name: text if name == "text" else told[name] for name in row}


def costs_until(texts: Iterable[str], room: int) -> list[int]:
    """Price texts, up to the one with which they have no room together: cheaper than to render them all."""
    costs: list[int] = []
    spent = 0
    for text in texts:
        costs.append(estimate(text, limit=room))
        spent += costs[-1]
        if spent > room:
            break
    return costs


def rows_within(rows: Sequence[Row], room: int) -> list[Row]:
    """Give the first rows that have room together."""
    kept = []
    for row in rows:
        room -= cost(row)
        if room < 0:
            break
        kept.append(row)
    return kept


def beginning(rows: Sequence[Row], room: int, boundary: str) -> list[Row]:
    """Give the first row with the beginning of its text, or no row if there is no room for one.

    Args:
        rows: as `fence_texts` gives them, or with plain texts.
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
    """Price a value as JSON, with what stands between it and the next one."""
    return estimate(json.dumps(value, ensure_ascii=False)) + _BETWEEN
