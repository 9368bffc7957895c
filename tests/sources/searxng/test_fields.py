import math

import pytest

from searx_mcp.content.clean import clean_line
from searx_mcp.sources.searxng.fields import (
    count,
    duration,
    image_address,
    instant,
    line,
    lines,
    magnet_address,
    names,
    number,
    row_template,
    size,
    text,
    web_address,
    words,
)

BASE = "https://search.example/searx/"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("https://a.example/x?y#z", "https://a.example/x?y#z", id="https"),
        pytest.param("HTTP://A.example", "HTTP://A.example", id="scheme in capitals"),
        pytest.param("  https://a.example/\n", "https://a.example/", id="white space around"),
        pytest.param("https://a.example/b c", "https://a.example/b%20c", id="space in the path"),
        pytest.param(
            "https://a.example/b\u3000c", "https://a.example/b%E3%80%80c", id="wide space"
        ),
        pytest.param("https://a\u3000b/", None, id="wide space in the host"),
        pytest.param("https://münchen.example/ä", "https://münchen.example/ä", id="IDN"),
        pytest.param("https://[::1]:80/", "https://[::1]:80/", id="IPv6 literal"),
        pytest.param("https://u:p@a.example/x@y", "https://a.example/x@y", id="user and password"),
        pytest.param("https://u@a.example:8080", "https://a.example:8080", id="user"),
        pytest.param(
            "HTTPS://good.org%2F@a.example/", "HTTPS://a.example/", id="looks like another"
        ),
        pytest.param("https://a@b:c@a.example/?q=@", "https://a.example/?q=@", id="two signs"),
        pytest.param("https://@a.example/", "https://a.example/", id="empty user"),
        pytest.param("https://u:p w@a.example/", "https://a.example/", id="space in the password"),
        pytest.param("https://" + "\ufdfa" * 1_000, None, id="host too long to be converted"),
        pytest.param("https://" + "é" * 300 + "/", None, id="host longer than any name"),
        pytest.param("/relative", None, id="relative"),
        pytest.param("//a.example/", None, id="without scheme"),
        pytest.param("javascript:alert(1)", None, id="javascript"),
        pytest.param("magnet:?xt=urn:btih:0", None, id="magnet"),
        pytest.param("data:text/html,x", None, id="data"),
        pytest.param("https://", None, id="without host"),
        pytest.param("https://a b/", None, id="space in the host"),
        pytest.param("https://a\\b/", None, id="backslash in the host"),
        pytest.param("https://[::1/", None, id="broken IPv6"),
        pytest.param("https://a.example:port/", None, id="broken port"),
        pytest.param("https://a.example:99999/", None, id="port out of range"),
        pytest.param("https://a.example/\x00", None, id="NUL"),
        pytest.param("https://a.example/\r\nX: y", None, id="line break"),
        pytest.param("https://a.example/\nb", None, id="newline"),
        pytest.param("https://a.example/\tb", None, id="tab"),
        pytest.param("https://a.example/\u202e", None, id="bidi control"),
        pytest.param("https://a.example/\ud800", None, id="lone surrogate"),
        pytest.param("https://a.example/" + "a" * 4096, None, id="too long"),
        pytest.param("https://a.example/" + " " * 2000, "https://a.example/", id="long blank end"),
        pytest.param("https://a.example/" + " b" * 1500, None, id="too long once encoded"),
        pytest.param(None, None, id="null"),
        pytest.param(5, None, id="number"),
        pytest.param(["https://a.example/"], None, id="list"),
    ],
)
def test_only_absolute_web_addresses_are_usable(value, expected):
    assert web_address(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("https://i.example/a.png", "https://i.example/a.png", id="direct"),
        pytest.param(
            "/searx/image_proxy?url=https%3A%2F%2Fi.example%2Fa.png%3Fb%3D1&h=00",
            "https://i.example/a.png?b=1",
            id="behind the image proxy",
        ),
        pytest.param(
            "https://search.example/image_proxy?url=https%3A%2F%2Fi.example%2Fa.png&h=00",
            "https://i.example/a.png",
            id="behind the image proxy, absolute",
        ),
        pytest.param(
            "/static/none.png", "https://search.example/static/none.png", id="of the instance"
        ),
        pytest.param(
            "/image_proxy?h=0", "https://search.example/image_proxy?h=0", id="no original"
        ),
        pytest.param("/image_proxy?url=javascript:x", None, id="original is no web address"),
        pytest.param("/image_proxy?" + "a=b&" * 20, None, id="too many arguments"),
        pytest.param("data:image/png;base64,AA", None, id="data"),
        pytest.param("//[", None, id="broken"),
        pytest.param("", None, id="empty"),
        pytest.param(None, None, id="null"),
    ],
)
def test_images_are_addressed_at_their_origin(value, expected):
    assert image_address(value, BASE) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("magnet:?xt=urn:btih:0a&dn=x", "magnet:?xt=urn:btih:0a&dn=x", id="plain"),
        pytest.param("magnet:?xt=urn:btih:0&dn=a b", "magnet:?xt=urn:btih:0&dn=a%20b", id="space"),
        pytest.param("magnet:?dn=x", None, id="of nothing"),
        pytest.param("https://a.example/?xt=urn:x", None, id="web address"),
        pytest.param("magnet:?xt=urn:btih:0\u202e", None, id="bidi control"),
        pytest.param("magnet:?xt=urn:" + "0" * 5_000, None, id="too long"),
        pytest.param(7, None, id="number"),
    ],
)
def test_a_magnet_names_what_it_is_for(value, expected):
    assert magnet_address(value) == expected


@pytest.mark.parametrize(
    "value",
    ["a b", "a  b", " a", "a ", "", "a\tb", "a\x7fb", "x" * 11, "n\u00e4h", "a\u200bb", "\ud800"],
    ids=ascii,
)
def test_a_line_that_is_plain_is_not_cleaned_differently(value):
    assert line(value, 10) == clean_line(value, 10)


def test_every_character_is_cleaned_as_if_there_were_no_short_way():
    planes = (*range(0x4_0000), *range(0xE_0000, 0xF_0000))  # the others have no characters
    for start in planes[::0x100]:
        block = [f"a{chr(code)}b" for code in range(start, start + 0x100)]
        if any(clean_line(text, 10) != text for text in block):
            assert [line(text, 10) for text in block] == [clean_line(text, 10) for text in block]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("images.html", "images", id="suffix"),
        pytest.param("key-value.html", "keyvalue", id="until 2025-05"),
        pytest.param("files", "file", id="until 2025-10"),
        pytest.param("../x", "default", id="path"),
        pytest.param(None, "default", id="null"),
    ],
)
def test_templates_have_their_current_names(value, expected):
    assert row_template(value) == expected


def test_names_come_as_a_list_or_in_one_text():
    assert names("A. One, B. Two") == names(["A. One", "B. Two", 3]) == ("A. One", "B. Two")
    assert names({"a": 1}) == ()


def test_a_line_is_clean_short_and_empty_for_other_types():
    assert line(" a\n\u200bb\x1b[31mc ", 10) == "a bc"
    assert len(line("x" * 50, 10)) == 10
    assert line({"a": 1}, 10) == ""


def test_lines_are_distinct_and_only_of_collections():
    assert lines(["b", "a", "b", "", 3, None]) == ("b", "a")
    assert lines("abc") == ()
    assert lines({"a": 1}) == ()
    assert lines(7) == ()


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
def test_numbers_are_read_whatever_type_they_have(value, expected):
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
def test_counts_are_whole_and_not_negative(value, expected):
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
def test_a_number_of_bytes_is_written_as_searxng_writes_it(value, expected):
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
def test_durations_have_words_and_seconds(value, expected):
    assert duration(value) == expected


def test_texts_may_be_numbers_and_truth_values():
    values = ["a  b", 3, 1.5, True, math.nan, 10**400, None, ["x"]]

    assert [text(value) for value in values] == ["a b", "3", "1.5", "True", "", "", "", ""]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("2026-02-01T00:46:35+00:00", "2026-02-01T00:46:35+00:00", id="JSON aware"),
        pytest.param("2026-02-05T17:25:32", "2026-02-05T17:25:32", id="JSON naive"),
        pytest.param("2026-02-01 00:46:35+0000", "2026-02-01T00:46:35+00:00", id="HTML"),
        pytest.param("2026-02-01", "2026-02-01", id="date"),
        pytest.param("2019", "2019", id="year"),
        pytest.param("Feb 5, 2026", "2026-02-05", id="until 2023-06"),
        pytest.param("February 5, 2026", "2026-02-05", id="long"),
        pytest.param("Sept. 30, 2026", "2026-09-30", id="abbreviated"),
        pytest.param("5 Feb 2026", "2026-02-05", id="British"),
        pytest.param("30 June 2026", "2026-06-30", id="long British"),
        pytest.param("Feb 30, 2026", None, id="no such day of the month"),
        pytest.param("Foo 5, 2026", None, id="no such month"),
        pytest.param("5 févr. 2026", None, id="French"),
        pytest.param("None", None, id="None in words"),
        pytest.param("5 minute(s) ago", None, id="distance"),
        pytest.param("2026-13-45", None, id="no such day"),
        pytest.param(1767225600, None, id="number"),
        pytest.param("", None, id="empty"),
    ],
)
def test_times_become_iso_or_nothing(value, expected):
    assert instant(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("3 hour(s), 5 minute(s) ago", "3 hour(s), 5 minute(s) ago", id="distance"),
        pytest.param("5 févr. 2026", "5 févr. 2026", id="French"),
        pytest.param("None", "", id="None in words"),
        pytest.param(5, "", id="number"),
    ],
)
def test_what_cannot_be_read_keeps_its_words(value, expected):
    assert words(value) == expected
