"""Whatever stands in a header is read within bounds, raw bytes and halves of characters included.

A header's bytes beyond ASCII arrive as lone surrogates (PEP 383).
"""

import math

from hypothesis import given, settings
from hypothesis import strategies as st
from multidict import CIMultiDict, CIMultiDictProxy

from searx_mcp.errors import ErrorCode
from searx_mcp.fetch.hops.media import parse_content_type, resolve, sniff
from searx_mcp.fetch.hops.redirects import location_of
from searx_mcp.fetch.hops.site import HEAD_BYTES, is_success, judge
from searx_mcp.urls.retry_after import LONGEST, SHORTEST, retry_after

ANYTHING = st.text(st.characters(exclude_categories=[]), max_size=60)
DATES = st.sampled_from(
    ["Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:00", "Sun, 06-Nov-94 08:49:37 GMT",
     "Sun Nov  6 08:49:37 1994", "Wed, 21 Oct 0000 07:28:00 GMT", "Wed, 21 Oct 99999 07:28:00 GMT",
     "Wed, 31 Feb 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:00 +9999", "21 Oct 2026 25:61:61 GMT",
     "Thu, 01 Jan 1970 00:00:00 -0000", "2026-10-21T07:28:00Z", "0", "-1", ""]
)  # fmt: skip
NUMBERS = st.sampled_from(
    [
        "0",
        "1",
        "120",
        "-5",
        "1.5",
        "1e9",
        "+7",
        "  9 ",
        "9" * 400,
        "\u0663",
        "\u00b2",
        "0x10",
        "nan",
        "inf",
    ]
)
WAITS = ANYTHING | DATES | NUMBERS | st.integers().map(str)
TYPES = st.lists(
    st.sampled_from(
        ["text", "html", "TEXT/HTML", "/", ";", ",", " ", "=", '"', "'", "charset", "charset=utf-8", "*/*",
         "application/", "json", "+json", "+xml", "x-", "octet-stream", "; charset=\udcff", "\udce9", "\0",
         "\t", "a" * 90, "=" * 50, "pdf", "boundary=x", "; " * 30]
    ),
    max_size=8,
).map("".join) | ANYTHING  # fmt: skip
HEADERS = st.dictionaries(
    st.sampled_from(
        ["Retry-After", "Date", "cf-mitigated", "X-Vercel-Mitigated", "x-amzn-waf-action", "Location",
         "Server", "Content-Type"]
    ),
    WAITS | st.sampled_from(["challenge", "CHALLENGE ", "block", "/x"]),
).map(lambda headers: CIMultiDictProxy(CIMultiDict(headers)))  # fmt: skip
HEADS = st.lists(
    st.sampled_from(
        [b"<title>", b"</title>", b"Just a moment...", b"<script>", b"_cf_chl_opt", b'<iframe src="',
         b"captcha-delivery.com/", b"<!doctype html>", b"<html ", b"<?xml", b"\xff\xfe", b"\xef\xbb\xbf",
         b"%PDF-", b"\x89PNG\r\n\x1a\n", b"\x00", b"{", b" " * 300, b"robot", b"&#0;", b"&#xD800;", b"\xd8"]
    )
    | st.binary(max_size=30),
    max_size=12,
).map(b"".join)  # fmt: skip

fuzz = settings(deadline=None, max_examples=3 * settings().max_examples)


@fuzz
@given(TYPES)
def test_a_content_type_is_a_type_in_plain_ascii_or_none(value):
    media = parse_content_type(value)
    assert media.name.isascii()
    assert media.name == media.name.lower()
    assert not set(media.name) & set(" \t\n\"';,")
    assert len(media.name) <= 161
    assert media.charset is None or (media.charset.isascii() and len(media.charset) <= 40)
    assert media.is_readable == bool(media.read_as)


@fuzz
@given(TYPES, HEADS)
def test_a_body_of_any_declared_type_has_one_type(value, body):
    declared = parse_content_type(value)
    assert resolve(declared, body) in {declared, sniff(body)}
    assert sniff(body).name


@fuzz
@given(WAITS, WAITS)
def test_a_wait_is_a_number_within_its_bounds_or_none(value, date):
    seconds = retry_after(value, date=date)
    if seconds is not None:
        assert math.isfinite(seconds)
        assert SHORTEST <= seconds <= LONGEST


@fuzz
@given(st.integers(100, 999), HEADERS, HEADS)
def test_any_answer_is_the_page_or_a_refusal_with_a_code(status, headers, head):
    error = judge(status, headers, head, url="https://site.example/")
    if error is None:
        assert is_success(status)
        return
    assert error.code in ErrorCode
    assert error.status_code == status
    assert error.message.isprintable()
    assert error.retry_after is None or SHORTEST <= error.retry_after <= LONGEST
    assert str(error).encode()


@fuzz
@given(st.integers(200, 299), HEADERS, st.binary(max_size=50))
def test_only_the_first_bytes_of_a_page_are_judged(status, headers, tail):
    head = b"x" * HEAD_BYTES
    shorter = judge(status, headers, head, url="")
    longer = judge(status, headers, head + b"<title>Just a moment...</title>" + tail, url="")
    assert (shorter is None) == (longer is None)


@fuzz
@given(st.integers(100, 999), HEADERS)
def test_only_redirects_with_a_location_are_followed(status, headers):
    location = location_of(status, headers)
    assert location is None or (300 < status < 309 and location == headers["location"])
