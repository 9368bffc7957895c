"""Values in scripts that assign one: read as data, and never run.

JSON is read unchanged. What JavaScript also allows in a literal (unquoted names of members, single quotes,
trailing commas, its own escapes) is rewritten as JSON first; anything else makes it invalid.
"""

import json
import re
from collections.abc import Iterator
from typing import Final

MAX_DEPTH: Final = 32
"""Nested brackets. Those of indexes have 8 levels at most."""
MAX_PARTS: Final = 2_000_000
"""Lists, objects and commas of an index: each may become a Python object. Python's own index has 450,000."""

_STRING: Final = r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'"
_SHAPE = re.compile(rf"{_STRING}|[\[{{(]|[\]}})]", re.DOTALL)
_TOKEN = re.compile(
    rf"(?P<string>{_STRING})|(?P<name>[A-Za-z_$][\w$]*+)(?P<key>\s*+:)?|(?P<number>-?\d[\d.eE+-]*+)(?P<numbered>\s*+:)?"
    r"|(?P<comma>,)(?:\s*+(?P<end>[\]}]))?|(?P<sign>[\[\]{}:])|\s++",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u\{([0-9A-Fa-f]{1,6})\}|(\r\n|.))|(\")", re.DOTALL)
_JSON_ESCAPES: Final = frozenset('"\\/bfnrtu')
_WORDS: Final = frozenset({"true", "false", "null"})
_ENDS: Final = {"}": "{", "]": "[", ")": "("}


def value_at(text: str, start: int) -> object:
    """Read the value that begins at a position in a script or a JSON file.

    Args:
        text: of the whole file.
        start: where the value begins.

    Raises:
        ValueError: there is none, or it is too deep or has too many parts.
    """
    literal = text[start : _end(text, start)]
    try:
        return json.loads(literal)
    except ValueError:
        return json.loads("".join(_as_json(literal)))


def value_after(text: str, mark: re.Pattern[str]) -> object:
    """Read the value that follows a mark, such as the name it is assigned to.

    Args:
        text: of the whole file.
        mark: searched for once; the value, or a `JSON.parse(` of one, begins at its end.

    Raises:
        ValueError: as in `value_at`, or the mark is missing.
    """
    found = mark.search(text)
    if found is None:
        raise ValueError("the index does not begin as its format does")
    start = found.end()
    if text[start : start + 1] in {"'", '"'}:
        return value_at(string_at(text, start), 0)
    return value_at(text, start)


def string_at(text: str, start: int) -> str:
    """Read the string that begins at a position in a script.

    Raises:
        ValueError: there is none.
    """
    found = re.compile(_STRING, re.DOTALL).match(text, start)
    if found is None:
        raise ValueError("a string is missing")
    return str(json.loads(_quoted(found[0])))


def _end(text: str, start: int) -> int:
    """The position where a list or an object ends."""
    if sum(text.count(each, start) for each in "[{,") > MAX_PARTS:
        raise ValueError("the index has too many parts")
    open_: list[str] = []
    for parts, found in enumerate(_SHAPE.finditer(text, start)):
        sign = found[0]
        if not parts and (sign not in {"[", "{"} or text[start : found.start()].strip()):
            break
        if sign in {"[", "{", "("}:
            open_.append(sign)
            if len(open_) > MAX_DEPTH:
                raise ValueError("the index is nested too deeply")
        elif sign in _ENDS:
            if open_.pop() != _ENDS[sign]:
                break
            if not open_:
                return found.end()
    raise ValueError("the index ends in the middle of a value, or is none")


def _as_json(literal: str) -> Iterator[str]:
    at = 0
    while at < len(literal):
        found = _TOKEN.match(literal, at)
        if found is None:
            raise ValueError("the index is no literal")
        at = found.end()
        if found["string"]:
            yield _quoted(found["string"])
        elif name := found["name"]:
            if not found["key"] and name not in _WORDS:
                raise ValueError("the index is no literal")
            yield f'"{name}":' if found["key"] else name
        elif number := found["number"]:
            yield f'"{number}":' if found["numbered"] else number
        elif found["comma"]:
            yield found["end"] or ","
        else:
            yield found["sign"] or ""


def _quoted(string: str) -> str:
    """Convert a JavaScript string to JSON."""
    return f'"{_ESCAPE.sub(_escaped, string[1:-1])}"'.replace("\n", "\\n").replace("\t", "\\t")


def _escaped(match: re.Match[str]) -> str:
    code, point, letter, quote = match.groups()
    if quote:
        return '\\"'
    if code:
        return f"\\u00{code}"
    if point:
        return json.dumps(chr(min(int(point, 16), 0x10FFFF)))[1:-1]
    if letter in _JSON_ESCAPES:
        return f"\\{letter}"
    if letter in {"\n", "\r\n"}:
        return ""
    return {"'": "'", "0": "\\u0000", "v": " "}.get(letter, json.dumps(letter)[1:-1])
