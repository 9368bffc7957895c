"""Lays JSON out for reading: an array or object that fits in a line gets one, and numbers share lines.

Works on the tokens of the text instead of its values, so that numbers and duplicate members stay as written: Python
would write 1e400 as Infinity, and refuses numbers of more than 4,300 digits.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

_LINE: Final = 100
"""Characters of a line, without its indentation."""
_INDENT: Final = "  "

_PRETTY_CHARS: Final = 200_000
"""Longer JSON of strangers stays unformatted: 1.8 MB would take most of a second."""
_PRETTY_DEPTH: Final = 64
"""Deeper JSON of strangers stays unformatted: each level indents every line in it, and the decoder of the standard
library recurses."""
_MAX_PRETTY: Final = 1_000_000
"""Characters; 180 kB of members in 60 brackets would become 11 MB of spaces."""

_PART = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{},:]|[^\s\[\]{},:"]++')
_BRACKET = re.compile(r"[\[\]{}]")
_ESCAPED = re.compile(r"\\u[0-9a-fA-F]{4}")


def json_text(text: str) -> str:
    """Lay out a body that is declared as JSON; if it is not JSON, or too large, it stays unchanged.

    Args:
        text: a body with a JSON media type.
    """
    if len(text) > _PRETTY_CHARS or _nesting(text) > _PRETTY_DEPTH or not _is_json(text):
        return text
    return laid_out(text, max_chars=_MAX_PRETTY)


def laid_out(text: str, *, max_chars: int | None = None) -> str:
    """Lay out JSON: an array or object that fits is one line, others have one member per line.

    In longer arrays, values that are neither arrays nor objects share lines. Escaped letters become letters.

    Args:
        text: valid JSON.
        max_chars: maximum length; a longer layout is given up for the text itself.
    """
    members: list[list[str]] = [[]]
    names = [""]
    for part in _PART.findall(text):
        match part:
            case "," | ":":
                if part == ":":
                    names[-1] = f"{members[-1].pop()}: "
                continue
            case "[" | "{":
                members.append([])
                names.append("")
                continue
            case "]" | "}":
                names.pop()
                written = _closed(members.pop(), part, depth=len(members) - 1)
                if max_chars is not None and len(written) > max_chars:
                    return text
            case _:
                written = _unescaped(part)
        members[-1].append(names[-1] + written)
        names[-1] = ""
    return members[0][0]


def _closed(members: Sequence[str], bracket: str, *, depth: int) -> str:
    """Write an array or object from its written members."""
    opening = "[" if bracket == "]" else "{"
    length = sum(map(len, members)) + 2 * len(members)
    if length <= _LINE and not any("\n" in member for member in members):
        return f"{opening}{', '.join(members)}{bracket}"
    lines = members if bracket == "}" else _filled(members)
    margin = f"\n{_INDENT * depth}"
    inner = f",{margin}{_INDENT}".join(lines)
    return f"{opening}{margin}{_INDENT}{inner}{margin}{bracket}"


def _filled(members: Sequence[str]) -> Iterator[str]:
    """Join neighbours that are neither arrays nor objects into lines."""
    line: list[str] = []
    length = 0
    for member in members:
        is_nested = member[0] in "[{"
        if line and (is_nested or length + len(member) > _LINE):
            yield ", ".join(line)
            line, length = [], 0
        if is_nested:
            yield member
        else:
            line.append(member)
            length += len(member) + 2
    if line:
        yield ", ".join(line)


def _is_json(text: str) -> bool:
    try:
        # Numbers are not converted: Python refuses those with more than 4,300 digits.
        json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except ValueError:
        return False
    return True


def _nesting(text: str) -> int:
    """Most brackets that are open at once; those in strings count, too."""
    depth = deepest = 0
    for bracket in _BRACKET.findall(text):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _unescaped(part: str) -> str:
    if part[0] == '"' and _ESCAPED.search(part):
        return json.dumps(json.loads(part), ensure_ascii=False)
    return part
