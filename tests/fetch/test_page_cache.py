"""How long captures serve, which of them are kept, and what HTTP says of it (RFC 9111)."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict, CIMultiDictProxy

from searx_mcp.content.document import Document
from searx_mcp.errors import CursorError
from searx_mcp.fetch.capture import Captured
from searx_mcp.fetch.config import FetchConfig
from searx_mcp.fetch.page_cache import MAX_ETAG, Lifetime, PageCache, lifetime, validators_of
from searx_mcp.storage.pages import CapturedPage, KeptPage, PageStore, Validators

URL = "https://example.com/"
DAY = 86_400


def keeper(
    store: PageStore, clock: Callable[[], float], namespace: str = "default", **config
) -> PageCache:
    return PageCache(
        store, namespace=namespace, config=FetchConfig.model_validate(config), clock=clock
    )


def page(markdown: str = "Some words.") -> CapturedPage:
    return CapturedPage(
        document=Document(markdown=markdown, word_count=2),
        final_url=URL,
        content_type="text/html",
        content_length=len(markdown),
        status_code=200,
    )


async def keep(pages: PageCache, *, is_settled: bool = True, **headers: str) -> KeptPage:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    captured = Captured(page(), 200, sent, is_settled=is_settled)
    return await pages.keep(pages.key(URL, variant=""), captured, url=URL, max_bytes=1_024)


async def test_what_must_not_be_stored_never_comes_to_the_store(store, clock):
    pages = keeper(store, clock)
    kept = await keep(pages, Cache_Control="no-store")
    assert await store.find(pages.key(URL, variant=""), clock()) is None
    assert await pages.find(pages.key(URL, variant="")) is None
    assert (await pages.read(kept.cursor)).capture.page == page()
    clock.time += 601
    with pytest.raises(CursorError):
        await pages.read(kept.cursor)


async def test_a_page_that_must_not_be_stored_any_more_retires_the_one_that_was(store, clock):
    pages = keeper(store, clock)
    old = await keep(pages, Cache_Control="max-age=900")
    await keep(pages, Cache_Control="no-store")
    found = await pages.find(pages.key(URL, variant=""))
    assert found is not None
    assert not pages.is_fresh(found)
    assert not pages.is_spare(found)
    assert (await pages.read(old.cursor)).capture.page == page()


async def test_news_that_a_page_has_not_changed_may_bring_new_validators(store, clock):
    pages = keeper(store, clock)
    kept = await keep(pages, ETag='"v1"', Cache_Control="must-revalidate")
    key = pages.key(URL, variant="")
    renewed = await pages.renew(key, kept, status=304, headers={"ETag": '"v2"'})
    assert renewed.capture.validators == Validators(etag='"v2"')
    assert not pages.is_spare(renewed)


NOW = 1_000_000_000.0
DATE = "Sun, 09 Sep 2001 01:46:40 GMT"
"""What `NOW` is called in HTTP."""
HOUR_LATER = "Sun, 09 Sep 2001 02:46:40 GMT"
TTL = 300.0


def life(*lines, status=200, ttl=TTL):
    headers = CIMultiDict(line.split(": ", 1) for line in lines)
    return lifetime(status, headers, NOW, default_ttl=ttl, max_age=7 * DAY)


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
        (["Cache-Control: max-age=60, max-age=30"], 30),
        (["Pragma: no-cache", "Cache-Control: max-age=60"], 60),
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
        # Stale at once, since the site says so or cannot be understood.
        *(
            ([line], 0)
            for line in (
                "Cache-Control: no-cache",
                "Cache-Control: NO-CACHE",
                "Cache-Control: max-age=60, no-cache",
                'Cache-Control: no-cache="Set-Cookie", max-age=60',
                "Cache-Control: max-age=0",
                "Cache-Control: max-age=-1",
                "Cache-Control: max-age",
                "Cache-Control: max-age=",
                "Cache-Control: max-age=1.5",
                "Cache-Control: max-age=1e3",
                "Cache-Control: max-age=\u0661\u0662",
                "Cache-Control: max-age=\u00b2",
                "Cache-Control: max-age=an hour",
                "Cache-Control: max-age=60, max-age=0",
                "Cache-Control: max-age=0, max-age=60",
                "Cache-Control: max-age=60, max-age=x",
                "Cache-Control: must-revalidate",
                "Pragma: no-cache",
                "Vary: *",
            )
        ),
        (["Cache-Control: max-age=60", "Vary: Accept, *"], 0),
        # RFC 9111, section 5.2.2.2: `must-revalidate` speaks of stale pages only.
        (["Cache-Control: max-age=60, must-revalidate"], 60),
        # No time is longer than pages are kept.
        *(
            ([line], 7 * DAY)
            for line in (
                "Cache-Control: max-age=604801",
                "Cache-Control: max-age=31536000, immutable",
                "Cache-Control: max-age=2147483648",
                "Cache-Control: max-age=99999999999",
                f"Cache-Control: max-age={'9' * 4_000}",
                "Expires: Fri, 31 Dec 9999 23:59:59 GMT",
            )
        ),
    ],
)
def test_a_page_serves_for_the_time_its_site_names(lines, seconds):
    told = life(*lines)
    assert (told.fresh_until - NOW, told.may_store) == (seconds, True)


@pytest.mark.parametrize(
    ("status", "seconds"),
    [
        *((status, TTL) for status in (200, 203, 204, 300, 301, 304, 308, 404, 405, 410, 414, 501)),
        *((status, 0) for status in (206, 302, 307, 403, 500, 503)),
    ],
)
def test_without_a_time_only_some_statuses_serve_again(status, seconds):
    assert life(status=status).fresh_until == NOW + seconds
    assert life("Cache-Control: max-age=60", status=status).fresh_until == NOW + 60


@pytest.mark.parametrize(("ttl", "seconds"), [(8.0 * DAY, 7 * DAY), (0.0, 0)])
def test_the_default_is_never_longer_than_pages_are_kept_and_may_be_nothing(ttl, seconds):
    assert life(ttl=ttl).fresh_until == NOW + seconds


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
        "Cache-Control: private", "Cache-Control: max-age=0", "Cache-Control: x-no-store",
        "Cache-Control: no-storage", "Cache-Control: x=no-store", 'Cache-Control: x="no-store"',
        "Pragma: no-store", "X-Cache-Control: no-store",
    ],
)  # fmt: skip
def test_anything_else_may_be_stored(line):
    assert life(line).may_store


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("X-Nothing: said", True), ("Cache-Control: max-age=0", True),
        ("Cache-Control: proxy-revalidate", True), ("Cache-Control: no-cache", False),
        ("Cache-Control: must-revalidate", False), ("Pragma: no-cache", False),
        ("Cache-Control: max-age=60, must-revalidate", False),
    ],
)  # fmt: skip
def test_a_stale_page_may_stand_in_unless_its_site_forbids_it(line, expected):
    assert life(line).may_be_stale is expected


@pytest.mark.parametrize(
    ("name", "sent", "kept"),
    [
        *(
            ("etag", f" {sent} ", sent)
            for sent in (
                '"abc"', 'W/"abc"', '""', '"a,b"', "abc-gzip", "5f3-abc:0", f'"{"x" * 254}"',
            )
        ),
        *(
            ("etag", sent, "")
            for sent in (
                "", "*", '"abc', 'abc"', 'w/"abc"', '"a"b"', '"a", "b"', '"a b"', '"\u00e4"', '"\x00"',
                '"a"\r\nX: y', f'"{"x" * 255}"',
            )
        ),
        ("last_modified", DATE, DATE),
        ("last_modified", "Sunday, 09-Sep-01 01:46:40 GMT", "Sunday, 09-Sep-01 01:46:40 GMT"),
        *(
            ("last_modified", sent, "")
            for sent in (
                "yesterday", "", "0", "Sun, 99 Sep 2001 01:46:40 GMT", f"{DATE}\r\nX: y",
                f"{DATE} {'x' * 100}", f"Sun, 09 Sep {'9' * 30} 01:46:40 GMT",
            )
        ),
    ],
)  # fmt: skip
def test_a_validator_is_kept_as_sent_if_it_can_be_sent_back(name, sent, kept):
    headers = CIMultiDict({name.replace("_", "-"): sent})
    assert validators_of(headers) == Validators(**{name: kept})


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
        '"a"', 'W/"a"', "a", "*", '""', '"', 'W/"', '"a\udcff"', '"a\nb"', '"' + "a" * 300 + '"',
        '"a", "b"',
    ]
)  # fmt: skip
HEADERS = st.dictionaries(
    st.sampled_from(
        [
            "Cache-Control", "cache-control", "Pragma", "Expires", "Date", "Age", "Vary", "ETag",
            "Last-Modified",
        ]
    ),
    DIRECTIVES | DATES | ETAGS | ANYTHING | st.integers().map(str),
).map(lambda headers: CIMultiDictProxy(CIMultiDict(headers)))  # fmt: skip


@given(
    st.integers(100, 599), HEADERS, st.floats(0, 4e9), st.floats(0, 86_400), st.floats(60, 2_592_000)
)  # fmt: skip
def test_a_lifetime_lies_between_now_and_the_longest(status, headers, now, default_ttl, max_age):
    said = lifetime(status, headers, now, default_ttl=default_ttl, max_age=max_age)
    assert math.isfinite(said.fresh_until)
    assert now <= said.fresh_until <= now + max_age


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


@given(HEADERS)
def test_what_is_sent_back_fits_into_a_header(headers):
    validators = validators_of(headers)
    for value in (validators.etag, validators.last_modified):
        assert value.isascii()
        assert value.isprintable()
        assert len(value) <= MAX_ETAG
    assert validators.etag != "*"
