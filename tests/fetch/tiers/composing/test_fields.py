"""Answers of services are read without trusting them."""

from collections.abc import Callable

import pytest

from searx_mcp.fetch.tiers.composing.fields import (
    Fields,
    first_member,
    list_of,
    object_of,
)
from searx_mcp.fetch.tiers.interface import Material

ODD: list[object] = [
    None,
    True,
    False,
    0,
    -1,
    1.5,
    1e400,
    "",
    "x",
    [],
    ["x"],
    {},
    {"x": "y"},
    [[]],
    [None],
]


@pytest.mark.parametrize("value", ODD)
def test_a_member_of_any_type_can_be_asked_for_anything(value: object):
    fields = Fields({"m": value})
    for name in ("m", "missing"):
        assert isinstance(fields.line(name), str)
        assert isinstance(fields.text(name), str)
        assert isinstance(fields.day(name), str)
        assert fields.count(name) is None or isinstance(fields.count(name), int)
        assert isinstance(fields.flag(name), bool)
        assert isinstance(fields.part(name), Fields)
        assert all(isinstance(part, Fields) for part in fields.parts(name))
        assert all(isinstance(line, str) for line in fields.lines(name))
        assert all(isinstance(text, str) for text in fields.texts(name))
        assert all(isinstance(item, tuple) for item in fields.pairs(name))


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (0, 0),
        (12, 12),
        (2**53 - 1, 2**53 - 1),
        (2**53, None),
        (-1, None),
        (True, None),
        (1.0, None),
        ("1", None),
        (None, None),
    ],
)
def test_a_count_is_a_whole_number_that_json_can_hold(value: object, count: int | None):
    assert Fields({"n": value}).count("n") == count


def test_a_line_is_clean_and_capped():
    fields = Fields({"a": " x\r\n\u202ey\u200b  z ", "b": "x" * 300, "c": "\ud800x"})
    assert fields.line("a") == "x y z"
    assert fields.line("b") == "x" * 199 + "…"
    assert fields.line("c") == "x"


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("2024-11-06T22:37:09Z", "2024-11-06"),
        ("2024-11-06 22:37", "2024-11-06"),
        ("2024-11-06", "2024-11-06"),
        ("2024-11-061", ""),
        ("# x", ""),
        ("", ""),
        (20241106, ""),
    ],
)
def test_a_day_is_the_date_of_a_timestamp(value: object, day: str):
    assert Fields({"t": value}).day("t") == day


def test_one_string_may_stand_for_a_list():
    assert Fields({"l": "mit"}).lines("l") == ["mit"]
    assert Fields({"l": ["mit", None, 3, "bsd", ""]}).lines("l") == ["mit", "bsd"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b'"x"',
        b"null",
        b"{",
        b'{"a": 1}x',
        b'{"a": "\xff"}',
        b'{"a": ' + b"9" * 5_000 + b"}",
        b"[" * 100_000,
        b'{"a":' * 100_000,
    ],
)
def test_what_is_no_object_is_an_error(answer: Callable[..., Material], body: bytes):
    with pytest.raises(ValueError, match=r"."):
        object_of(answer(body))


@pytest.mark.parametrize("body", [b"", b"{}", b"null", b"[1", b"[" * 100_000])
def test_what_is_no_list_is_an_error(answer: Callable[..., Material], body: bytes):
    with pytest.raises(ValueError, match=r"."):
        list_of(answer(body))


def test_nothing_is_an_error():
    with pytest.raises(ValueError, match="missing"):
        object_of(None)


def test_what_is_no_object_in_a_list_is_left_out(answer: Callable[..., Material]):
    found, is_whole = list_of(answer([{"a": "1"}, None, 3, [], {"a": "2"}]))
    assert [fields.line("a") for fields in found] == ["1", "2"]
    assert is_whole


@pytest.mark.parametrize(
    ("body", "count", "is_whole"),
    [
        ('[{"a":"1"},{"a":"2"},{"a":"3', 2, False),
        (' [ {"a":"1"} , {"a":"2"}', 2, False),
        ('[{"a":"1"}]', 1, True),
        ("[", 0, False),
        ("[]", 0, True),
        ('[{"a":"1"},' + "[" * 100_000, 1, False),
        ('[{"a":"1"},x', 1, False),
    ],
)
def test_of_a_list_that_was_cut_what_came_whole_is_read(
    answer: Callable[..., Material], body: str, count: int, *, is_whole: bool
):
    found, whole = list_of(answer(body, is_truncated=True))
    assert len(found) == count
    assert whole is is_whole


def test_an_answer_that_was_cut_must_still_be_a_list(answer: Callable[..., Material]):
    with pytest.raises(ValueError, match="no JSON list"):
        list_of(answer('{"message": "x"', is_truncated=True))


def test_the_first_member_can_be_read_from_an_answer_that_was_cut(
    answer: Callable[..., Material],
):
    material = answer('{"info": {"name": "x"}, "releases": {"1.0": [{"a', is_truncated=True)
    assert first_member(material, "info").line("name") == "x"


@pytest.mark.parametrize(
    "body", ['{"other": {}, "info": {}}', '{"info": [', '{"info": []', '{"info": {"name', "", "[1"]
)
def test_a_first_member_that_is_not_whole_is_an_error(answer: Callable[..., Material], body: str):
    with pytest.raises(ValueError, match=r"."):
        first_member(answer(body, is_truncated=True), "info")
