"""Answers of services as JSON, whole or cut."""

import json
import re

from searx_mcp.content.fields import Fields, loads, objects
from searx_mcp.fetch.site_adapters.interface import Material

_BETWEEN = re.compile(r"[\s,]*")


def object_of(material: Material | None) -> Fields:
    """The object an answer holds.

    Raises:
        ValueError: it holds something else, or was cut.
    """
    value = loads(_given(material).data)
    if not isinstance(value, dict):
        raise ValueError("the answer is no JSON object")  # noqa: TRY004 - says what the service sent
    return Fields(value)


def list_of(material: Material | None) -> tuple[list[Fields], bool]:
    """The objects of the list an answer holds.

    Returns:
        Them, and whether the list is whole: of an answer that was cut, what came whole is given.

    Raises:
        ValueError: it holds no list.
    """
    given = _given(material)
    if given.is_truncated:
        return _beginning(given.data.decode(errors="replace"))
    value = loads(given.data)
    if not isinstance(value, list):
        raise ValueError("the answer is no JSON list")  # noqa: TRY004 - says what the service sent
    return objects(value), True


def first_member(material: Material, name: str) -> Fields:
    """An object that is the first member of an object, although the answer was cut behind it.

    Raises:
        ValueError: it is not the first, or was cut itself.
    """
    text = material.data.decode(errors="replace")
    start = re.match(rf'\s*\{{\s*"{re.escape(name)}"\s*:\s*', text)
    if start is None:
        raise ValueError(f"the answer does not begin with {name}")
    value, _ = _decode(text, start.end())
    if not isinstance(value, dict):
        raise ValueError(f"{name} is no JSON object")  # noqa: TRY004 - says what the service sent
    return Fields(value)


def _given(material: Material | None) -> Material:
    if material is None:
        raise ValueError("the answer is missing")
    return material


def _beginning(text: str) -> tuple[list[Fields], bool]:
    position = len(text) - len(text.lstrip())
    if not text.startswith("[", position):
        raise ValueError("the answer is no JSON list")
    position += 1
    values: list[object] = []
    while True:
        position = _skip(text, position)
        if text.startswith("]", position):
            return objects(values), True
        try:
            value, position = _decode(text, position)
        except ValueError:
            return objects(values), False
        values.append(value)


def _skip(text: str, position: int) -> int:
    between = _BETWEEN.match(text, position)
    return between.end() if between else position


def _decode(text: str, position: int) -> tuple[object, int]:
    try:
        return json.JSONDecoder().raw_decode(text, position)
    except RecursionError as exc:
        raise ValueError("the answer nests too deep") from exc
