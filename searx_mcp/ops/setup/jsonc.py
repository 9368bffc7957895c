"""Changes one member of a JSON file that people edit, and leaves every other byte unchanged.

Editors allow comments and trailing commas in their settings, which `json` can neither read nor write. Some editors
on Windows also write a byte order mark first.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

_TOKEN: Final = re.compile(
    r'"(?:[^"\\\r\n]|\\.)*"|//[^\r\n]*|/\*.*?\*/|[{}\[\]:,]|[^\s"{}\[\]:,/]+', re.DOTALL
)
_MARK: Final = "\ufeff"
_SPACE: Final = re.compile(rf"(?:\A{_MARK})?\s*")
_INDENT: Final = re.compile(r"^([ \t]+)\S", re.MULTILINE)
_OPENING: Final = frozenset("{[")
_CLOSING: Final = frozenset("}]")


class _Token(NamedTuple):
    text: str
    start: int
    end: int

    @property
    def is_comment(self) -> bool:
        return self.text.startswith(("//", "/*"))


class _Member(NamedTuple):
    """The position of an object's member: numbers of its tokens."""

    key: int
    first: int
    last: int


class _Object(NamedTuple):
    """The position of an object: numbers of its braces, and its members."""

    opening: int
    closing: int
    members: Mapping[str, _Member]


def parse(text: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Parse JSON with comments and trailing commas; blank text is an empty object.

    Raises:
        ValueError: it is invalid; the sentence says where.
    """
    tokens = _tokens(text)
    plain = [token for token in tokens if not token.is_comment]
    if not plain:
        return {}
    trailing = {
        comma
        for before, comma, after in zip(plain, plain[1:], plain[2:], strict=False)
        if comma.text == "," and after.text in _CLOSING and before.text not in {*_OPENING, ","}
    }
    pieces, position = [], 0
    for token in tokens:
        if token.is_comment or token in trailing:
            pieces += [text[position : token.start], re.sub(r"[^\r\n]", " ", token.text)]
            position = token.end
    return json.loads("".join([*pieces, text[position:]]).removeprefix(_MARK))


def with_member(text: str, path: Sequence[str], value: object) -> str:
    """Set the member at a path of names; missing objects are created.

    Args:
        text: of the file.
        path: names, from the outermost object.
        value: of the member.

    Raises:
        ValueError: the text cannot be parsed, or cannot be changed without loss.
    """
    expected = parse(text)
    _put(expected, path, value)
    if all(token.is_comment for token in _tokens(text)):
        text = f"{text}{_newline(text) if text.removeprefix(_MARK).strip() else ''}{{}}\n"
    return _checked(_changed(text, path, value), expected)


def without_member(text: str, path: Sequence[str]) -> str:
    """Remove the member at a path of names, if it exists.

    Raises:
        ValueError: as for `with_member`.
    """
    expected = parse(text)
    parent = member_at(expected, path[:-1])
    if not isinstance(parent, dict) or path[-1] not in parent:
        return text
    del parent[path[-1]]
    tokens = [token for token in _tokens(text) if not token.is_comment]
    found = _object(tokens, 0)
    for name in path[:-1]:
        found = _object(tokens, found.members[name].first)
    member = found.members[path[-1]]
    start, end = tokens[member.key].start, tokens[member.last].end
    before, after = tokens[member.key - 1], tokens[member.last + 1]
    if after.text == ",":
        end, before = after.end, tokens[member.key]
    head, tail = text[:start], text[end:]
    if re.match(r"[ \t]*\r?\n", tail):  # leave no blank line behind
        head = re.sub(r"\r?\n[ \t]*\Z", "", head)
    if before.text == ",":  # of the member before it, now the last
        head = head[: before.start] + head[before.end :]
    return _checked(head + tail, expected)


def member_at(value: object, path: Sequence[str]) -> object:
    """Return the value at a path of names in a parsed value, or `None`."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _put(root: object, path: Sequence[str], value: object) -> None:
    for what, name in zip(("the file", *path), path, strict=False):
        if not isinstance(root, dict):
            raise ValueError(f"{what} is not a JSON object")  # noqa: TRY004 - the text is wrong
        if name == path[-1]:
            root[name] = value
        root = root.setdefault(name, {})


def _checked(text: str, expected: object) -> str:
    """Refuse a change with another result than expected, for example because of duplicate names."""
    if parse(text) != expected:
        raise ValueError("it has a duplicate key")
    return text


def _changed(text: str, path: Sequence[str], value: object) -> str:
    tokens = _tokens(text)
    plain = [token for token in tokens if not token.is_comment]
    found = _object(plain, 0)
    for depth, name in enumerate(path[:-1]):
        if name not in found.members:
            for inner in reversed(path[depth + 1 :]):
                value = {inner: value}
            return _inserted(text, tokens, found, {name: value})
        found = _object(plain, found.members[name].first)
    name = path[-1]
    if name not in found.members:
        return _inserted(text, tokens, found, {name: value})
    member = found.members[name]
    start, end = plain[member.first].start, plain[member.last].end
    return text[:start] + _dumped(text, value, _margin(text, plain[member.key].start)) + text[end:]


def _inserted(
    text: str, tokens: Sequence[_Token], found: _Object, members: Mapping[str, object]
) -> str:
    """Insert members at the end of an object, after its comments."""
    plain = [token for token in tokens if not token.is_comment]
    newline = _newline(text)
    outer = _margin(text, plain[found.opening].start)
    inner = outer + _unit(text)
    for member in found.members.values():
        start = plain[member.key].start
        if not text[:start].rpartition("\n")[2].strip():
            inner = _margin(text, start)
            break
    closing, last = plain[found.closing], plain[found.closing - 1]
    place = max(token.end for token in tokens if token.end <= closing.start)
    comma = "," if found.members and last.text != "," else ""
    added = ",".join(
        f"{newline}{inner}{json.dumps(name)}: {_dumped(text, value, inner)}"
        for name, value in members.items()
    )
    end = "" if "\n" in text[place : closing.start] else f"{newline}{outer}"
    tail = text[place:] if not end else text[place:].lstrip(" \t")
    return f"{text[: last.end]}{comma}{text[last.end : place]}{added}{end}{tail}"


def _dumped(text: str, value: object, margin: str) -> str:
    dumped = json.dumps(value, indent=_unit(text), ensure_ascii=False)
    return dumped.replace("\n", _newline(text) + margin)


def _unit(text: str) -> str:
    found = _INDENT.search(text)
    return found[1] if found else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _margin(text: str, position: int) -> str:
    line = text[:position].rpartition("\n")[2]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _tokens(text: str) -> list[_Token]:
    tokens, position = [], _end_of_space(text, 0)
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"unexpected text in line {text.count(chr(10), 0, position) + 1}")
        tokens.append(_Token(match[0], position, match.end()))
        position = _end_of_space(text, match.end())
    return tokens


def _end_of_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _object(plain: Sequence[_Token], opening: int) -> _Object:
    """Find the members of the object that begins with a token; the text is known to be valid."""
    members: dict[str, _Member] = {}
    number = opening + 1
    while plain[number].text != "}":
        if plain[number].text == ",":
            number += 1
            continue
        last = _last_of(plain, number + 2)
        members[json.loads(plain[number].text)] = _Member(number, number + 2, last)
        number = last + 1
    return _Object(opening, number, members)


def _last_of(plain: Sequence[_Token], number: int) -> int:
    depth = 0
    while True:
        depth += (plain[number].text in _OPENING) - (plain[number].text in _CLOSING)
        if depth == 0:
            return number
        number += 1
