"""JSON as a person reads it, and other data as it came."""

import json
import re
from typing import Final

from searx_mcp.content.fences import fence

MAX_CHARS: Final = 2_000_000
"""Characters of data shown; nobody reads more, and each costs counting words."""

_PRETTY_CHARS: Final = 200_000
"""Longer JSON stays as it came: 1.8 MB would take a good part of a second, and nobody reads it."""

_PRETTY_DEPTH: Final = 64
"""Deeper JSON stays as it came: each level indents every line in it, and the decoder of the
standard library recurses."""

_MAX_PRETTY: Final = 1_000_000
"""Characters; 180 kB of numbers in 60 brackets would become 11 MB of spaces."""

_PART = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{},:]|[^\s\[\]{},:"]++')
_BRACKET = re.compile(r"[\[\]{}]")
_ESCAPED = re.compile(r"\\u[0-9a-fA-F]{4}")
_INDENT: Final = "  "


def json_text(text: str) -> str:
    """JSON with a member on each line; anything else as it came.

    Numbers stay as they were written, and so do members that are given twice; escaped letters
    become letters.

    Args:
        text: a body that says it is JSON.
    """
    if len(text) > _PRETTY_CHARS or _nesting(text) > _PRETTY_DEPTH or not _is_json(text):
        return text
    pieces: list[str] = []
    depth, is_fresh = 0, False
    for part in _PART.findall(text):
        if part in "]}":
            depth -= 1
            pieces.append(part if is_fresh else f"\n{_INDENT * depth}{part}")
            is_fresh = False
            continue
        if is_fresh:
            pieces.append("\n" + _INDENT * depth)
        is_fresh = part in "[{"
        if is_fresh:
            depth += 1
            pieces.append(part)
        elif part == ",":
            pieces.append(f",\n{_INDENT * depth}")
        else:
            pieces.append(": " if part == ":" else _unescaped(part))
    pretty = "".join(pieces)
    return pretty if len(pretty) <= _MAX_PRETTY else text


def fenced(text: str, *, language: str) -> str:
    """Data in a fence; empty if there is none."""
    code = text.strip()
    return fence(code, language=language) if code else ""


def _is_json(text: str) -> bool:
    try:
        # Numbers need not become numbers: Python refuses those of more than 4,300 digits.
        json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except ValueError:
        return False
    return True


def _nesting(text: str) -> int:
    """Brackets open at once at most; those in strings are counted too."""
    depth = deepest = 0
    for bracket in _BRACKET.findall(text):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _unescaped(part: str) -> str:
    if part[0] == '"' and _ESCAPED.search(part):
        return json.dumps(json.loads(part), ensure_ascii=False)
    return part
