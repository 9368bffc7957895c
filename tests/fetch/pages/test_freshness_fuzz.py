"""Whatever a site says of keeping its answer, it is kept for a time within bounds."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st
from multidict import CIMultiDict, CIMultiDictProxy

from searx_mcp.fetch.pages.freshness import MAX_ETAG, lifetime, validators_of

ANYTHING = st.text(st.characters(exclude_categories=[]), max_size=40)
DIRECTIVES = st.lists(
    st.sampled_from(
        ["max-age", "s-maxage", "no-store", "no-cache", "private", "must-revalidate", "stale-if-error",
         "immutable", "=", "=0", "=60", '="60"', '="', "=-1", "=1e9", "=" + "9" * 400, "=\u0663", "=\u00b2",
         "=nan", "=inf", ",", ", ", ";", " ", "\t", '"', "\\", "\udcff", "MAX-AGE=5", "*"]
    ),
    max_size=8,
).map("".join)  # fmt: skip
DATES = st.sampled_from(
    ["Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:00", "Sun Nov  6 08:49:37 1994", "0", "-1",
     "Wed, 21 Oct 0001 00:00:00 +2359", "Fri, 31 Dec 9999 23:59:59 -2359", "Wed, 21 Oct 99999 07:28:00 GMT",
     "Wed, 31 Feb 2026 07:28:00 GMT", "Thu, 01 Jan 1970 00:00:00 GMT", ""]
)  # fmt: skip
ETAGS = st.sampled_from(
    [
        '"a"',
        'W/"a"',
        "a",
        "*",
        '""',
        '"',
        'W/"',
        '"a\udcff"',
        '"a\nb"',
        '"' + "a" * 300 + '"',
        '"a", "b"',
    ]
)
HEADERS = st.dictionaries(
    st.sampled_from(
        [
            "Cache-Control",
            "cache-control",
            "Pragma",
            "Expires",
            "Date",
            "Age",
            "Vary",
            "ETag",
            "Last-Modified",
        ]
    ),
    DIRECTIVES | DATES | ETAGS | ANYTHING | st.integers().map(str),
).map(lambda headers: CIMultiDictProxy(CIMultiDict(headers)))

fuzz = settings(deadline=None, max_examples=5 * settings().max_examples)


@fuzz
@given(
    st.integers(100, 599), HEADERS, st.floats(0, 4e9), st.floats(0, 86_400), st.floats(60, 2_592_000)
)  # fmt: skip
def test_a_lifetime_lies_between_now_and_the_longest(status, headers, now, default_ttl, max_age):
    said = lifetime(status, headers, now, default_ttl=default_ttl, max_age=max_age)
    assert math.isfinite(said.fresh_until)
    assert now <= said.fresh_until <= now + max_age


@fuzz
@given(HEADERS, DIRECTIVES, st.sampled_from(["no-store", "No-Store", "no-store=1", 'no-store="x"']))
def test_no_store_is_heard_beside_whatever_else_is_said(headers, before, no_store):
    said = lifetime(
        200,
        {**headers, "Cache-Control": f"{before.replace(chr(34), '')}, {no_store}"},
        1e9,
        default_ttl=300,
        max_age=600,
    )
    assert not said.may_store
    assert said.fresh_until == 1e9


@fuzz
@given(HEADERS)
def test_what_is_sent_back_fits_into_a_header(headers):
    validators = validators_of(headers)
    for value in (validators.etag, validators.last_modified):
        assert value.isascii()
        assert value.isprintable()
        assert len(value) <= MAX_ETAG
    assert validators.etag != "*"
