"""Answers of sites, judged by status, headers and the beginning of their body."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict, CIMultiDictProxy

from searx_mcp.errors import ErrorCode
from searx_mcp.fetch.hops.answers import HEAD_BYTES, ReceivedPage, is_success, judge, location_of
from searx_mcp.fetch.hops.media import parse_content_type, resolve, sniff
from searx_mcp.http.body import Body
from searx_mcp.urls.retry_after import LONGEST, SHORTEST, retry_after

URL = "https://example.org/page"
DATE = "Fri, 20 Nov 2026 12:00:00 GMT"


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        (401, "authentication_required", "needs a login"),
        (402, "blocked_by_site", "content protected"),
        (403, "blocked_by_site", "content protected"),
        (999, "blocked_by_site", "content protected"),
        (404, "not_found", "no page at this address"),
        (410, "not_found", "no page at this address"),
        (429, "rate_limited", "limits the rate"),
        (400, "http_error", "refused the request"),
        (405, "http_error", "refused the request"),
        (418, "http_error", "refused the request"),
        (451, "http_error", "legal reasons"),
        (500, "http_error", "failed"),
        (503, "http_error", "failed"),
        (520, "http_error", "failed"),
        (300, "http_error", "without content"),
        (302, "http_error", "without content"),
        (304, "http_error", "without content"),
    ],
)
def test_a_status_that_is_no_success_has_a_code_a_sentence_and_advice(status, code, words):
    error = judge(status, {}, b"", url=URL)
    assert error is not None
    assert error.code == code
    assert words in error.message
    assert f"(HTTP {status})." in error.message
    assert error.advice.endswith(".")
    assert (error.url, error.status_code) == (URL, status)


@pytest.mark.parametrize("status", [200, 203, 204, 206])
def test_a_success_is_the_page(status):
    protected = {
        "Server": "cloudflare",
        "Content-Security-Policy": "script-src https://www.google.com/recaptcha/",
        "x-datadome": "protected",
    }
    assert judge(status, CIMultiDict(protected), b"<title>Robots</title>", url=URL) is None


def is_block(status, head, headers=None):
    error = judge(status, headers or {}, head, url=URL)
    assert error is not None
    return error.code is ErrorCode.BLOCKED_BY_SITE and "CAPTCHA" in error.message


@pytest.mark.parametrize("status", [200, 401, 403, 404, 429, 503])
@pytest.mark.parametrize(
    "headers",
    [
        {"CF-Mitigated": "challenge"}, {"cf-mitigated": " Block "},
        {"X-Vercel-Mitigated": "challenge"}, {"x-amzn-waf-action": "captcha"},
    ],
)  # fmt: skip
def test_a_mitigation_header_is_a_block_at_any_status(status, headers):
    assert is_block(status, b"<p>welcome", CIMultiDict(headers))


@pytest.mark.parametrize("status", [200, 403, 503])
@pytest.mark.parametrize(
    "head",
    [
        "<!DOCTYPE html><title>Just a moment...</title>",
        "<script>(function(){window._cf_chl_opt = {cvId: '3'}})()</script>",
        "<title>Making sure you&#39;re not a bot!</title>",
        "<title>Making sure you\u2019re not a bot!</title>",
        '<head><script id="anubis_challenge" type="application/json">{}</script>',
        "<TITLE lang=en>\n Attention Required! |\n Cloudflare</TITLE>",
        '<script src="https://ct.captcha-delivery.com/c.js"></script>',
        '<iframe id="main-iframe" src="/_Incapsula_Resource?x=1"></iframe>',
        '<div id="px-captcha"></div>',
        "<title>Vercel Security Checkpoint</title>",
        "<title>Client Challenge</title>",
    ],
)
def test_a_challenge_page_is_a_block_at_any_status(status, head):
    assert is_block(status, head.encode())


@pytest.mark.parametrize("status", [403, 429, 451, 503])
@pytest.mark.parametrize(
    "title", ["Captcha required", "Are you a robot?", "Are you human?", "Checking your browser"]
)
def test_a_suspicious_title_counts_beside_a_refusing_status(status, title):
    assert is_block(status, f"<title>{title}</title>".encode())


@pytest.mark.parametrize(
    "head",
    [
        "<title>Are you a robot? A short history of the CAPTCHA</title>",
        "<title>Just a moment - lyrics</title>",
        "<title>How Anubis works</title><p>It says Making sure you're not a bot!",
        "<pre>&lt;script&gt;window._cf_chl_opt = {}&lt;/script&gt;</pre>",
        '<p>Look for <code>_cf_chl_opt</code> or <code>id="anubis_challenge"</code>.',
        '<p>Loads <a href="https://ct.captcha-delivery.com/c.js">this</a>',
        # Bytes that are no HTML, and half a mark a thousand times.
        *(b"\xff\xfe<\x00t\x00", b"\x00" * 100, b"<title", b"<title>"),
        *(
            unit * 5_000
            for unit in ("<script ", "<script>", "<iframe ", "<div ", "<title", "<title>")
        ),
    ],
)
def test_a_page_about_challenges_is_a_page(head):
    assert judge(200, {}, head.encode() if isinstance(head, str) else head, url=URL) is None


@pytest.mark.parametrize("count", [0, 300, 301])
@pytest.mark.parametrize(
    "markup",
    [
        "<script {}>_cf_chl_opt",
        "<script>{}_cf_chl_opt",
        '<script {} id="anubis_challenge"',
        '<script {} src="https://a.captcha-delivery.com/',
        '<iframe {} src="/_Incapsula_Resource',
        '<div {} id="px-captcha"',
        "<title {}>Just a moment...</title>",
    ],
)
def test_marks_of_a_challenge_stand_near_each_other(markup, count):
    """So that a page that holds half of one a thousand times costs no more than its length."""
    spaces = " " * (count - markup.count(" {}") - markup.count("{} ") if count else 0)
    is_challenge = judge(200, {}, markup.format(spaces).encode(), url=URL) is not None
    assert is_challenge is (count <= 300)


@pytest.mark.parametrize(("count", "is_there"), [(40, True), (41, False)])
def test_a_challenge_is_served_from_a_host_of_some_length(count, is_there):
    host = f"https://{'a' * (count - 1)}.captcha-delivery.com/"
    page = f'<script src="{host}c.js">'.encode()
    assert (judge(200, {}, page, url=URL) is not None) is is_there


_TO_X = '<meta http-equiv="refresh" content="0; url=/x">'


@pytest.mark.parametrize(
    ("markup", "target"),
    [
        (_TO_X, "/x"),
        # Sphinx, Doxygen, rustdoc and Jekyll, as they write it.
        ('<meta http-equiv="refresh" content="0; url=./main/index.html">', "./main/index.html"),
        ('<meta http-equiv="Refresh" content="0;URL=html/index.html"/>', "html/index.html"),
        ('<meta http-equiv="refresh" content="0;URL=../a/struct.B.html">', "../a/struct.B.html"),
        ('<h1>Redirecting&hellip;</h1><META content="0; url=/x?a=1&amp;b=2" http-equiv="refresh">',
         "/x?a=1&b=2"),
        ("<meta http-equiv=refresh content=1;url=/x>", "/x"),
        ("<meta content=0;url=/x http-equiv=refresh>", "/x"),
        ("""<meta http-equiv='refresh' content='0; url="/a b"'>""", "/a b"),
        ('<meta http-equiv="refresh" content=" 0.5 , URL = \'/x\'">', "/x"),
        # What waits for a reader, goes nowhere, or is not markup of the page.
        ('<meta http-equiv="refresh" content="2; url=/x">', ""),
        ('<meta http-equiv="refresh" content="10; url=/x">', ""),
        ('<meta http-equiv="refresh" content="0">', ""),
        ('<meta name="refresh" content="0; url=/x">', ""),
        (f"<!-- {_TO_X} -->", ""),
        (f"<noscript>{_TO_X}</noscript>", ""),
        (f"<script>document.write('{_TO_X}')</script>", ""),
        (f"{_TO_X}{' ' * 4_096}", ""),
        *((half * (4_096 // len(half)), "") for half in ("<meta ", "<!--", "<script ", _TO_X[:-1])),
        (f"<meta http-equiv=refresh content={' ' * 4_000}>", ""),
    ],
)  # fmt: skip
def test_a_short_page_forwards_its_readers_at_once(markup, target):
    page = ReceivedPage(URL, 200, {}, parse_content_type("text/html"), Body(markup.encode()))
    assert page.refresh == target


def test_only_html_forwards():
    page = ReceivedPage(URL, 200, {}, parse_content_type("text/plain"), Body(_TO_X.encode()))
    assert page.refresh == ""


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        (429, {"Retry-After": "7"}, 7.0), (429, {}, 60.0), (429, {"Retry-After": "whenever"}, 60.0),
        (503, {"Retry-After": "7"}, 7.0), (503, {}, None), (404, {"Retry-After": "7"}, None),
    ],
)  # fmt: skip
def test_waiting_is_proposed_where_it_helps(status, headers, seconds):
    error = judge(status, headers, b"", url=URL)
    assert error is not None
    assert error.retry_after == seconds


ANYTHING = st.text(st.characters(exclude_categories=[]), max_size=60)
DATES = st.sampled_from(
    ["Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:00", "Sun, 06-Nov-94 08:49:37 GMT",
     "Sun Nov  6 08:49:37 1994", "Wed, 21 Oct 0000 07:28:00 GMT", "Wed, 21 Oct 99999 07:28:00 GMT",
     "Wed, 31 Feb 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:00 +9999", "21 Oct 2026 25:61:61 GMT",
     "Thu, 01 Jan 1970 00:00:00 -0000", "2026-10-21T07:28:00Z", "0", "-1", ""]
)  # fmt: skip
NUMBERS = st.sampled_from(
    [
        "0", "1", "120", "-5", "1.5", "1e9", "+7", "  9 ", "9" * 400, "\u0663", "\u00b2", "0x10",
        "nan", "inf",
    ]
)  # fmt: skip
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


@given(TYPES)
def test_a_content_type_is_a_type_in_plain_ascii_or_none(value):
    media = parse_content_type(value)
    assert media.name.isascii()
    assert media.name == media.name.lower()
    assert not set(media.name) & set(" \t\n\"';,")
    assert len(media.name) <= 161
    assert media.charset is None or (media.charset.isascii() and len(media.charset) <= 40)


@given(TYPES, HEADS)
def test_a_body_of_any_declared_type_has_one_type(value, body):
    declared = parse_content_type(value)
    assert resolve(declared, body) in {declared, sniff(body)}
    assert sniff(body).name


@given(WAITS, WAITS)
def test_a_wait_is_a_number_within_its_bounds_or_none(value, date):
    seconds = retry_after({"Retry-After": value, "Date": date})
    if seconds is not None:
        assert math.isfinite(seconds)
        assert SHORTEST <= seconds <= LONGEST


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


@given(st.integers(200, 299), HEADERS, st.binary(max_size=50))
def test_only_the_first_bytes_of_a_page_are_judged(status, headers, tail):
    head = b"x" * HEAD_BYTES
    shorter = judge(status, headers, head, url="")
    longer = judge(status, headers, head + b"<title>Just a moment...</title>" + tail, url="")
    assert (shorter is None) == (longer is None)


@given(st.integers(100, 999), HEADERS)
def test_only_redirects_with_a_location_are_followed(status, headers):
    location = location_of(status, headers)
    assert location is None or (300 < status < 309 and location == headers["location"])
