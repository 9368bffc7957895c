"""Answers of services are read without trusting them."""

import pytest

from searx_mcp.content.fields import Fields

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
    ("value", "number"),
    [
        pytest.param(1, 1.0, id="whole"),
        pytest.param(-0.5, -0.5, id="below zero"),
        pytest.param(True, None, id="a flag"),
        pytest.param("1", None, id="text"),
        pytest.param(1e400, None, id="infinite"),
        pytest.param(float("nan"), None, id="no number"),
        pytest.param(10**400, None, id="too large"),
    ],
)
def test_a_number_is_finite(value: object, number: float | None):
    assert Fields({"m": value}).number("m") == number
