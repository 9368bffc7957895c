"""No spelling of an address gets past the policy, and parsers agree on what it lets through.

Addresses are built from pieces that parsers are known to disagree about. The three that are asked:
yarl, which requests are made with; urllib, which other code would read an address with; and Ada, a
parser of the WHATWG standard, for what a browser makes of it.
"""

import contextlib
import re
from collections.abc import Callable
from functools import partial
from ipaddress import ip_address
from urllib.parse import urlsplit

import ada_url
from hypothesis import example, given, settings
from hypothesis import strategies as st
from yarl import URL

from searx_mcp.errors import (
    ErrorCode,
    InvalidArgumentError,
    PolicyError,
    SearxMcpError,
    TransportError,
)
from searx_mcp.fetch.hops.redirects import join, next_url
from searx_mcp.models.coercion import MAX_URL_LENGTH
from searx_mcp.urls.address import AllowList
from searx_mcp.urls.hosts import WEB_PORTS
from searx_mcp.urls.url import check_url

NOTHING = AllowList()
LIFTED = AllowList.parse(["localhost:8001", "wiki.lan:80", "10.0.0.0/8:80", "[fd00::/8]:443"])
DEFAULT_PORTS = {"http": 80, "https": 443}

LABELS = st.sampled_from(
    ["example", "EXAMPLE", "xn--mller-kva", "m\u00fcller", "fa\u00df", "xn--", "xn--a", "-a", "a-",
     "a_b", "exam\u00adple", "a\u200db", "\u2603", "i\u2764", "ex%61mple", "e\u0301", "\u03bf", "\u03c2",
     "\u0661\u0662", "\u05d0", "\u05d01", "a\u05d0", "\u2460", "0x7f", "127", "1", "0", "2130706433",
     "a" * 63, "a" * 64, "", "*", "\ufb01", "\u0130", "\u1e9e", "\u2167", "\u0915\u094d\u200d\u0937",
     "\U0001d7d8", "\u33c2", "\u2100", "\u2121", "ab--cd", "\u0301a", "\U0001d54f", "\u2260", "\ua790"]
) | st.text(st.characters(categories=["L", "M", "N", "So"]), max_size=6)  # fmt: skip
DOTS = st.sampled_from([".", "\u3002", "\uff0e", "\uff61", "..", "%2e", "\u2024"])
TOPS = st.sampled_from(
    ["org", "ORG", "\u0440\u0444", "xn--p1ai", "localhost", "internal", "1", "0x1"]
)
ENDS = st.sampled_from(["", "", "", ".", "\u3002", ".."])
NAMES = st.one_of(
    st.builds("{}.example.org".format, LABELS),
    st.builds("{}.example.{}{}".format, LABELS, TOPS, ENDS),
    st.builds("{}{}example.{}".format, LABELS, DOTS, TOPS),
    st.builds("{}{}{}.org{}".format, LABELS, DOTS, LABELS, ENDS),
)
LITERALS = st.sampled_from(
    ["127.0.0.1", "127.1", "8.8.8.8", "8.8.8.8.", "08.8.8.8", "0x8.8.8.8", "134744072", "localhost",
     "\u2467.\u2467.\u2467.\u2467", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:8.8.8.8]", "wiki.lan",
     "[2606:4700::1111]", "[2606:4700:0:0:0:0:0:1111]", "[2606:4700::1111%25eth0]", "[v1.fe80]", "[]",
     "[2606:4700::1111", "2606:4700::1111", "[2606:4700::0x1]", "[ 2606:4700::1]", "[fd00::1]", "10.1",
     "[2606:4700::8.8.8.8]", "[64:ff9b::8.8.8.8]", "10.0.0.1", "[2606::1]a.org", "a.org[2606::1]"]
)  # fmt: skip
ADDRESSES = st.ip_addresses(v=4).map(str) | st.ip_addresses(v=6).map("[{}]".format)
PLAIN = {
    "scheme": st.sampled_from(["https", "http"]),
    "separator": st.just("://"),
    "user": st.just(""),
    "host": st.sampled_from(["example.org", "www.m\u00fcller.org", "8.8.8.8", "[2606:4700::1111]"]),
    "port": st.sampled_from(["", ":8080"]),
    "tail": st.sampled_from(["", "/", "/a?b=c"]),
}
ODD = {
    "scheme": st.sampled_from(["HTTP", "hTTps", "ftp", "", "http:http", "\uff48ttp", "http+x"]),
    "separator": st.sampled_from([":/", ":", ":///", ":\\\\", "://\t", ":\\/", "//"]),
    "user": st.sampled_from(
        ["a@", "a:b@", "@", ":@", "a%40b@", "127.0.0.1@", "a.org@", "a@b@", "a\uff20", "[]@"]
    ),
    "host": NAMES | LITERALS | ADDRESSES,
    "port": st.sampled_from(
        [":", ":80", ":443", ":8001", ":080", ":+80", ":8_0", ":\uff10", ":65616", ":\u0668\u0660",
         ":80:80", ":-80", ":%380", ": 80"]
    ),
    "tail": st.sampled_from(
        ["\\x", "/..;/", "?q", "#f", "/@x", "?@x", "#@x", "/%2f..", "//x", "/\\x", "/\u00fc", "/\udc80",
         "?\u00fc=\u00e9", "/%zz", "@x", ";x", "/../../a", "/./%2e%2e/", "/x:80", "/[", "#\\@x"]
    ) | st.text(max_size=6).map("/{}".format),
}  # fmt: skip
PIECES = st.sampled_from(
    [*"\t\n\r\0 \\@#?/:[]%.\u3002\u00ad\u200b\uff20\uff0f\uff1a\uff1f\uff03\ufeff\ud800", "%00", "%2e",
     "%2f", "%40", "%09"]
)  # fmt: skip


@st.composite
def addresses(draw: st.DrawFn) -> str:
    """Any text, or an address with up to two odd parts and perhaps something odd put in."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.text(max_size=30))
    odd = draw(st.sets(st.sampled_from(sorted(ODD)), max_size=2))
    url = "".join(draw(ODD[part] if part in odd else PLAIN[part]) for part in PLAIN)
    if draw(st.integers(0, 4)) == 0:
        at = draw(st.integers(0, len(url)))
        url = url[:at] + draw(PIECES) + url[at:]
    return url


URLS = addresses()
# Relative to another address there are many more ways to write one.
LOCATIONS = addresses() | st.builds(
    "{}{}{}{}".format,
    st.sampled_from(
        ["", "/", "//", "///", "\\\\", "/\\", "http:", "https:/", ".", " ", "\t//", "?"]
    ),
    PLAIN["user"] | ODD["user"],
    PLAIN["host"] | ODD["host"] | ODD["tail"],
    PLAIN["tail"] | ODD["tail"],
)

fuzz = settings(deadline=None, max_examples=3 * settings().max_examples)

Place = tuple[str, str, int | None]
"""Scheme, host and port; an IP address in its shortest form and without brackets."""


def allowed(raw: str, allow: AllowList = NOTHING) -> URL | None:
    """What the policy lets through; nothing but its own errors may come of the rest."""
    try:
        return check_url(raw, allow=allow)
    except (InvalidArgumentError, PolicyError):
        return None


def place(scheme: str, host: str | None, port: int | None) -> Place:
    host = (host or "").strip("[]")
    with contextlib.suppress(ValueError):
        host = str(ip_address(host))
    return scheme, host, port or DEFAULT_PORTS.get(scheme)


def as_requested(url: URL) -> Place:
    return place(url.scheme, url.raw_host, url.port)


def as_urllib_reads(url: str) -> Place:
    parts = urlsplit(url)
    return place(parts.scheme, parts.hostname, parts.port)


def as_browsers_read(url: ada_url.URL) -> Place:
    return place(url.protocol.removesuffix(":"), url.hostname, int(url.port) if url.port else None)


def as_sent(location: str) -> str:
    """A header's raw bytes as browsers write them."""
    return re.sub("[\udc80-\udcff]", lambda byte: f"%{ord(byte[0]) - 0xDC00:02X}", location)


@fuzz
@example("http://[]@", NOTHING)  # an IndexError of yarl
@example("http://[2606:4700::0x1]#x", NOTHING)  # a ValueError of yarl when it is written
@given(URLS, st.sampled_from([NOTHING, LIFTED]))
def test_whatever_is_written_is_refused_or_an_address_of_the_web_that_every_parser_reads_alike(
    raw, allow
):
    url = allowed(raw, allow)
    if url is None:
        return
    written = str(url)
    assert url.scheme in {"http", "https"}
    assert url.port in WEB_PORTS or allow.permits(url.raw_host or "", url.port or 0)
    assert "@" not in url.raw_authority
    assert not url.raw_fragment
    assert written.isascii()
    assert written.isprintable()
    assert len(written) <= MAX_URL_LENGTH
    assert str(check_url(written, allow=allow)) == written
    expected = as_requested(url)
    assert as_urllib_reads(written) == expected
    assert as_browsers_read(ada_url.URL(written)) == expected
    assert as_browsers_read(ada_url.URL(raw)) == expected


def verdict(judge: Callable[..., URL], text: str) -> str:
    """The address that was let through, or the code of the error."""
    try:
        return str(judge(text, allow=NOTHING))
    except SearxMcpError as error:
        return error.code


CURRENT = st.sampled_from(
    ["https://site.example.org/", "http://site.example.org:8080/a/b?q=1", "https://8.8.8.8/x"]
).map(URL)


@fuzz
@example(URL("https://site.example.org/"), "//[]@")
@given(CURRENT, LOCATIONS)
def test_a_redirect_to_another_site_leads_where_a_browser_and_a_caller_may_go(current, location):
    with contextlib.suppress(ValueError):  # nothing else may come of it
        assert not join(current, location).raw_fragment
    try:
        target = next_url(current, location, allow=NOTHING)
    except (PolicyError, TransportError):
        return
    assert str(check_url(str(target), allow=NOTHING)) == str(target)
    if as_requested(target) != as_requested(current):
        there = ada_url.join_url(str(current), as_sent(location))
        assert as_browsers_read(ada_url.URL(there)) == as_requested(target)


@fuzz
@given(CURRENT, URLS)
def test_a_redirect_to_a_whole_address_is_judged_like_that_address(current, location):
    expected = verdict(check_url, location)
    # What is no whole address may be a relative one.
    if expected != ErrorCode.INVALID_ARGUMENT:
        assert verdict(partial(next_url, current), location) == expected
