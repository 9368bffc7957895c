import math

import pytest

from searx_mcp.sources.searxng.numbers import count, duration, number, size, text


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(42, 42.0, id="integer"),
        pytest.param(-71.5, -71.5, id="float"),
        pytest.param("-71.5", -71.5, id="text"),
        pytest.param(" 42 ", 42.0, id="spaces"),
        pytest.param("1e5", None, id="exponent"),
        pytest.param("\u0664\u0662", None, id="other digits"),
        pytest.param("NaN", None, id="NaN in words"),
        pytest.param(math.nan, None, id="NaN"),
        pytest.param(-math.inf, None, id="infinity"),
        pytest.param(10**400, None, id="huge integer"),
        pytest.param("9" * 400, None, id="huge text"),
        pytest.param(True, None, id="truth value"),
        pytest.param(None, None, id="null"),
        pytest.param([1], None, id="list"),
    ],
)
def test_numbers_are_read_whatever_type_they_have(value: object, expected: float | None) -> None:
    assert number(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(244, 244, id="integer"),
        pytest.param(244.0, 244, id="float"),
        pytest.param("244", 244, id="text"),
        pytest.param("244 Seeder", 244, id="with a word"),
        pytest.param("1,244", 1244, id="comma"),
        pytest.param("1 244 567 Seeder", 1_244_567, id="spaces"),
        pytest.param("12,34", 12, id="no group of three"),
        pytest.param("Seeder 3", None, id="word first"),
        pytest.param("9" * 30, None, id="too many digits"),
        pytest.param(-1, None, id="negative"),
        pytest.param(math.inf, None, id="infinity"),
        pytest.param("", None, id="empty"),
    ],
)
def test_counts_are_whole_and_not_negative(value: object, expected: int | None) -> None:
    assert count(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("1.5 GiB", "1.5 GiB", id="words"),
        pytest.param(900, "900 Bytes", id="bytes"),
        pytest.param(1_536, "1.50 kiB", id="kiB"),
        pytest.param(1_048_576, "1.00 MiB", id="MiB"),
        pytest.param(1.5 * 2**30, "1.50 GiB", id="GiB"),
        pytest.param(3 * 2**40, "3.00 TiB", id="TiB"),
        pytest.param(-1, "", id="negative"),
        pytest.param(math.nan, "", id="NaN"),
        pytest.param(None, "", id="null"),
    ],
)
def test_a_number_of_bytes_is_written_as_searxng_writes_it(value: object, expected: str) -> None:
    assert size(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(2732.0, ("0:45:32", 2732.0), id="seconds"),
        pytest.param(93784, ("1 day, 2:03:04", 93784.0), id="days of seconds"),
        pytest.param("3:46", ("3:46", 226.0), id="minutes"),
        pytest.param("0:45:32", ("0:45:32", 2732.0), id="hours"),
        pytest.param("1 day, 2:03:04", ("1 day, 2:03:04", 93784.0), id="days"),
        pytest.param("0:00:01.500000", ("0:00:01.500000", 1.5), id="fraction"),
        pytest.param(" 45 min ", ("45 min", None), id="words"),
        pytest.param("226", ("0:03:46", 226.0), id="seconds in HTML"),
        pytest.param("226.5", ("0:03:46.500000", 226.5), id="fraction in HTML"),
        pytest.param("0", ("", None), id="zero in HTML"),
        pytest.param("3:5", ("3:5", 185.0), id="unpadded"),
        pytest.param("None", ("", None), id="None in words"),
        pytest.param(0, ("", None), id="zero"),
        pytest.param(math.inf, ("", None), id="infinity"),
        pytest.param(10**12, ("", None), id="too long"),
        pytest.param(None, ("", None), id="null"),
    ],
)
def test_durations_have_words_and_seconds(
    value: object, expected: tuple[str, float | None]
) -> None:
    assert duration(value) == expected


def test_texts_may_be_numbers_and_truth_values() -> None:
    values = ["a  b", 3, 1.5, True, math.nan, 10**400, None, ["x"]]

    assert [text(value) for value in values] == ["a b", "3", "1.5", "True", "", "", "", ""]
