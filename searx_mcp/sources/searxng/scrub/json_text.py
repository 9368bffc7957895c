"""JSON with masked values, also where it is cut off or broken."""

import json
import re
from typing import Final

from searx_mcp.sources.searxng.scrub.mask import Mask, looks_like_address

_TOKEN = re.compile(
    r'(?P<string>"(?:[^"\\]++|\\.)*+"?)|(?P<open>[\[{])|(?P<close>[\]}])|(?P<mark>[:,])'
    r'|(?P<space>\s++)|(?P<scalar>[^\s"\[\]{},:]++)',
    re.DOTALL,
)
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORDS: Final = frozenset({"true", "false", "null", "NaN", "Infinity", "-Infinity"})
_NAMED: Final = frozenset({"category", "engine", "engines", "template", "unresponsive_engines"})
"""Keys whose values are names."""


def scrub_json(text: str, mask: Mask) -> str:
    """Mask the values of a JSON text and keep its keys, its shape and its mistakes."""
    keys: list[str] = []
    """The key that leads to each open bracket, outermost first."""
    objects: list[bool] = []
    key, is_key = "", False
    written: list[str] = []
    for token in _TOKEN.finditer(text):
        match token.lastgroup, token[0]:
            case "string", string if is_key:
                key, is_key = _decoded(string), False
                written.append(_encoded(_value(key, string, is_name=True, mask=mask), like=string))
            case "string", string:
                value = _value(_decoded(string), string, is_name=key in _NAMED, mask=mask)
                written.append(_encoded(value, like=string))
            case "open", bracket:
                keys.append(key)
                is_key = bracket == "{"
                objects.append(is_key)
                written.append(bracket)
            case "close", bracket:
                if keys:
                    key = keys.pop()
                    objects.pop()
                is_key = False
                written.append(bracket)
            case "mark", mark:
                is_key = mark == "," and bool(objects) and objects[-1]
                written.append(mark)
            case "scalar", scalar:
                written.append(_scalar(scalar, mask))
            case _, space:
                written.append(" " if space.strip(" ") == "" else "\n")
    return "".join(written)


def _value(text: str, token: str, *, is_name: bool, mask: Mask) -> str:
    # A name shows the query in whole words only, so that nothing is kept of one that is cut.
    if is_name and _is_closed(token):
        return mask.name(text)
    return mask.address(text) if looks_like_address(text) else mask.text(text)


def _scalar(text: str, mask: Mask) -> str:
    if text in _WORDS:
        return text
    return re.sub("[0-9]", "1", text) if _NUMBER.fullmatch(text) else mask.text(text)


def _decoded(token: str) -> str:
    closed = token if _is_closed(token) else f'{token}"'
    try:
        return str(json.loads(closed, strict=False))
    except ValueError:
        # A wrong escape: it may spell anything, so that nothing of it is kept.
        return "word"


def _encoded(text: str, *, like: str) -> str:
    token = json.dumps(text, ensure_ascii=False)
    return token if _is_closed(like) else token[:-1]


def _is_closed(token: str) -> bool:
    return len(token) > 1 and token.endswith('"')
