"""What a site says of keeping its answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from searx_mcp.fetch.pages.freshness import (
    Lifetime,
    lifetime,
    validators_of,
)
from searx_mcp.storage.pages import Validators

NOW = 1_000_000_000.0
DATE = "Sun, 09 Sep 2001 01:46:40 GMT"
"""What `NOW` is called in HTTP."""
HOUR_LATER = "Sun, 09 Sep 2001 02:46:40 GMT"
DAY = 86_400.0
TTL = 300.0


def life(*lines, status=200, ttl=TTL):
    headers = CIMultiDict(line.split(": ", 1) for line in lines)
    return lifetime(status, headers, NOW, default_ttl=ttl, max_age=7 * DAY)


def fresh_for(*lines, **options):
    return life(*lines, **options).fresh_until - NOW


@pytest.mark.parametrize(
    ("lines", "seconds"),
    [
        ([], TTL),
        (["Cache-Control: max-age=60"], 60),
        (["cache-control: Max-Age=60"], 60),
        (["Cache-Control: public, max-age=60, immutable"], 60),
        (["Cache-Control: private, max-age=60"], 60),
        (["Cache-Control: private"], TTL),
        (['Cache-Control: private="Set-Cookie, X", max-age=60'], 60),
        (['Cache-Control: max-age="60"'], 60),
        (["Cache-Control: max-age = 60"], 60),
        (["Cache-Control: max-age=60;"], 60),
        (["Cache-Control: ,,max-age=60,,"], 60),
        (["Cache-Control: s-maxage=9"], TTL),
        (["Cache-Control: s-maxage=9, max-age=60"], 60),
        (["Cache-Control: max-age=60", "Age: 20"], 40),
        (["Cache-Control: max-age=60", "Age: 20, 50"], 40),
        (["Cache-Control: max-age=60", "Age: 61"], 0),
        (["Cache-Control: max-age=60", "Age: -5"], 60),
        (["Cache-Control: max-age=60", "Age: soon"], 60),
        (["Cache-Control: max-age=60", f"Age: {'9' * 5_000}"], 0),
        (["Cache-Control: max-age=60", f"Expires: {HOUR_LATER}"], 60),
        ([f"Expires: {HOUR_LATER}", f"Date: {DATE}"], 3_600),
        ([f"Expires: {HOUR_LATER}", f"Date: {DATE}", "Age: 600"], 3_000),
        ([f"Expires: {HOUR_LATER}"], 3_600),
        ([f"Expires: {HOUR_LATER}", "Date: today"], 3_600),
        ([f"Expires: {HOUR_LATER}", "Date: Sun, 09 Sep 2001 02:16:40 GMT"], 1_800),
        (["Expires: Sunday, 09-Sep-01 02:46:40 GMT", f"Date: {DATE}"], 3_600),
        (["Expires: Sun Sep  9 02:46:40 2001", f"Date: {DATE}"], 3_600),
        (["Expires: 0"], 0),
        (["Expires: -1"], 0),
        (["Expires: never"], 0),
        (["Expires: "], 0),
        ([f"Expires: {DATE}", f"Date: {HOUR_LATER}"], 0),
        ([f"Expires: {DATE}", f"Date: {DATE}"], 0),
    ],
)
def test_a_page_serves_for_the_time_its_site_names(lines, seconds):
    told = life(*lines)
    assert (told.fresh_until - NOW, told.may_store) == (seconds, True)


@pytest.mark.parametrize(
    "lines",
    [
        ["Cache-Control: no-cache"],
        ["Cache-Control: NO-CACHE"],
        ["Cache-Control: max-age=60, no-cache"],
        ['Cache-Control: no-cache="Set-Cookie", max-age=60'],
        ["Cache-Control: max-age=0"],
        ["Cache-Control: max-age=-1"],
        ["Cache-Control: max-age"],
        ["Cache-Control: max-age="],
        ["Cache-Control: max-age=1.5"],
        ["Cache-Control: max-age=1e3"],
        ["Cache-Control: max-age=\u0661\u0662"],
        ["Cache-Control: max-age=\u00b2"],
        ["Cache-Control: max-age=an hour"],
        ["Cache-Control: max-age=60, max-age=0"],
        ["Cache-Control: max-age=0, max-age=60"],
        ["Cache-Control: max-age=60, max-age=x"],
        ["Cache-Control: must-revalidate"],
        ["Pragma: no-cache"],
        ["Vary: *"],
        ["Cache-Control: max-age=60", "Vary: Accept, *"],
    ],
)
def test_a_page_is_stale_at_once_if_its_site_says_so_or_cannot_be_understood(lines):
    assert fresh_for(*lines) == 0


def test_of_two_times_the_shorter_counts():
    assert fresh_for("Cache-Control: max-age=60, max-age=30") == 30


def test_what_must_be_asked_for_when_stale_is_fresh_for_the_time_named():
    """RFC 9111, section 5.2.2.2: `must-revalidate` speaks of stale pages only."""
    told = life("Cache-Control: max-age=60, must-revalidate")
    assert told == Lifetime(may_store=True, fresh_until=NOW + 60, may_be_stale=False)


@pytest.mark.parametrize(
    "line",
    [
        "Cache-Control: max-age=604801",
        "Cache-Control: max-age=31536000, immutable",
        "Cache-Control: max-age=2147483648",
        "Cache-Control: max-age=99999999999",
        f"Cache-Control: max-age={'9' * 4_000}",
        "Expires: Fri, 31 Dec 9999 23:59:59 GMT",
    ],
)
def test_no_time_is_longer_than_pages_are_kept(line):
    assert fresh_for(line) == 7 * DAY


def test_the_default_is_never_longer_than_pages_are_kept_and_may_be_nothing():
    assert fresh_for(ttl=8 * DAY) == 7 * DAY
    assert fresh_for(ttl=0.0) == 0


@pytest.mark.parametrize(
    ("status", "seconds"),
    [
        *((status, TTL) for status in (200, 203, 301, 304, 404)),
        *((status, 0) for status in (206, 302, 307, 403, 500, 503)),
    ],
)
def test_without_a_time_only_some_statuses_serve_again(status, seconds):
    assert fresh_for(status=status) == seconds
    assert fresh_for("Cache-Control: max-age=60", status=status) == 60


@pytest.mark.parametrize(
    "line",
    [
        "Cache-Control: no-store",
        "cache-control: No-Store",
        "Cache-Control: no-store, max-age=60",
        "Cache-Control: max-age=60, no-store",
        "Cache-Control: no-cache, no-store, must-revalidate",
        "Cache-Control: must-understand, no-store",
        'Cache-Control: private="x, no-store',
        r'Cache-Control: private="x\", no-store',
    ],
)
def test_a_page_that_must_not_be_stored_is_not_and_is_stale(line):
    assert life(line) == Lifetime(may_store=False, fresh_until=NOW, may_be_stale=False)


@pytest.mark.parametrize(
    "line",
    [
        "Cache-Control: private",
        "Cache-Control: max-age=0",
        "Cache-Control: x-no-store",
        "Cache-Control: no-storage",
        "Cache-Control: x=no-store",
        'Cache-Control: x="no-store"',
        "Pragma: no-store",
        "X-Cache-Control: no-store",
    ],
)
def test_anything_else_may_be_stored(line):
    assert life(line).may_store


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("X-Nothing: said", True),
        ("Cache-Control: max-age=0", True),
        ("Cache-Control: proxy-revalidate", True),
        ("Cache-Control: no-cache", False),
        ("Cache-Control: must-revalidate", False),
        ("Pragma: no-cache", False),
    ],
)
def test_a_stale_page_may_stand_in_unless_its_site_forbids_it(line, expected):
    assert life(line).may_be_stale is expected


def test_a_pragma_is_for_sites_without_cache_control():
    assert fresh_for("Pragma: no-cache", "Cache-Control: max-age=60") == 60


_HEADER = st.text(max_size=60) | st.lists(
    st.sampled_from(
        [
            "max-age",
            "no-cache",
            "private",
            "=",
            '"',
            "\\",
            ",",
            " ",
            "1",
            "-",
            ";",
            "*",
            "GMT",
            DATE,
        ]
    ),
    max_size=25,
).map("".join)


@given(control=_HEADER, pragma=_HEADER, age=_HEADER, expires=_HEADER, date=_HEADER, vary=_HEADER)
def test_no_header_breaks_it(control, pragma, age, expires, date, vary):
    headers = CIMultiDict(
        {"Cache-Control": control, "Pragma": pragma, "Age": age, "Expires": expires}
        | {"Date": date, "Vary": vary, "ETag": age, "Last-Modified": expires}
    )
    told = lifetime(200, headers, NOW, default_ttl=TTL, max_age=DAY)
    assert NOW <= told.fresh_until <= NOW + DAY
    validators = validators_of(headers)
    for value in (validators.etag, validators.last_modified):
        assert value.isascii()
        assert value == "" or value.isprintable()
        assert len(value) <= 256


@pytest.mark.parametrize(
    "etag",
    ['"abc"', 'W/"abc"', '""', '"a,b"', "abc-gzip", "5f3-abc:0", f'"{"x" * 254}"'],
)
def test_an_etag_is_kept_as_sent(etag):
    assert validators_of(CIMultiDict(ETag=f" {etag} ")) == Validators(etag=etag)


@pytest.mark.parametrize(
    "etag",
    [
        "",
        "*",
        '"abc',
        'abc"',
        'w/"abc"',
        '"a"b"',
        '"a", "b"',
        '"a b"',
        '"\u00e4"',
        '"\x00"',
        '"a"\r\nX: y',
        f'"{"x" * 255}"',
    ],
)
def test_an_etag_that_cannot_be_sent_back_is_left_out(etag):
    assert validators_of(CIMultiDict(ETag=etag)) == Validators()


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        (DATE, DATE),
        ("Sunday, 09-Sep-01 01:46:40 GMT", "Sunday, 09-Sep-01 01:46:40 GMT"),
        ("yesterday", ""),
        ("", ""),
        ("0", ""),
        ("Sun, 99 Sep 2001 01:46:40 GMT", ""),
        (f"{DATE}\r\nX: y", ""),
        (f"{DATE} {'x' * 100}", ""),
        (f"Sun, 09 Sep {'9' * 30} 01:46:40 GMT", ""),
    ],
)
def test_a_date_of_change_is_kept_if_it_is_one(sent, kept):
    assert validators_of({"Last-Modified": sent}) == Validators(last_modified=kept)
