"""Fetching one page, against a real server on loopback."""

import asyncio
import logging
import threading
from collections.abc import Mapping
from typing import NoReturn

import pytest
from typing_extensions import override

from searx_mcp.content import convert as conversion
from searx_mcp.errors import (
    ContentError,
    ErrorCode,
    FetchError,
    SiteError,
    TransportError,
)
from searx_mcp.fetch import capture
from searx_mcp.fetch.fetcher import Fetcher
from searx_mcp.http.http import HttpSession
from searx_mcp.models.fetch_request import FetchRequest

SENTENCE = "The quick brown fox jumps over the lazy dog near the bank of the river. "
ARTICLE = (
    "<!DOCTYPE html><html lang=en><head><title>A page</title>"
    '<meta name="description" content="About foxes."></head>'
    f"<body><main><h1>Foxes</h1><p>{SENTENCE * 5}</p><p>{SENTENCE * 5}</p></main></body></html>"
)


async def failure(fetcher: Fetcher, url: str, **kwargs) -> FetchError:
    """Fetch what cannot be fetched; every error has its code, its URL and its time."""
    with pytest.raises(FetchError) as caught:
        await fetcher.fetch(FetchRequest(url=url), **kwargs)
    error = caught.value
    assert error.code in set(ErrorCode)
    assert error.url
    assert error.response_time_ms is not None
    assert error.response_time_ms >= 0
    error.message.encode()
    return error


def soon() -> float:
    return asyncio.get_running_loop().time() + 0.5


async def test_a_page_comes_back_as_markdown_with_what_the_specification_names(site, fetcher):
    url = site.page(
        "/page?a=b",
        ARTICLE,
        content_type="Text/HTML; charset=utf-8",
        headers={
            "Server": "nginx/1.18.0",
            "Content-Language": "en",
            "Last-Modified": "Fri, 20 Nov 2026 12:00:00 GMT",
            "X-Other": "unshown",
            "Set-Cookie": "a=b",
        },
    )
    page = await fetcher.fetch(FetchRequest(url=url))
    told = page.model_dump(include={
        "url", "final_url", "title", "description", "content_type", "content_length", "status_code",
        "redirect_count", "redirect_chain", "truncated", "hidden_chars_removed",
    })  # fmt: skip
    assert told == {
        "url": url,
        "final_url": url,
        "title": "A page",
        "description": "About foxes.",
        "content_type": "text/html",
        "content_length": len(ARTICLE),
        "status_code": 200,
        "redirect_count": 0,
        "redirect_chain": (f"{url} -> 200",),
        "truncated": False,
        "hidden_chars_removed": 0,
    }
    assert page.response_time_ms >= 0
    assert "Foxes" in page.markdown_content
    assert "quick brown fox" in page.markdown_content
    assert page.word_count > 100
    assert dict(page.headers) == {
        "server": "nginx/1.18.0",
        "content-language": "en",
        "last-modified": "Fri, 20 Nov 2026 12:00:00 GMT",
    }


async def test_requests_say_who_we_are_and_nothing_else(site, fetcher):
    await fetcher.fetch(FetchRequest(url=site.page("/", ARTICLE)))
    headers = site.requests[0].headers
    assert headers["User-Agent"] == "searx-mcp/test"
    assert headers["Accept"].startswith("text/html,application/xhtml+xml,text/markdown;q=0.9,")
    assert (headers["Accept-Language"], headers["Accept-Encoding"]) == ("en", "gzip, deflate")
    assert set(headers) == {
        "Host", "User-Agent", "Accept", "Accept-Language", "Accept-Encoding", "DNT", "Sec-GPC",
    }  # fmt: skip


async def test_cookies_are_never_sent_back(site, fetcher):
    url = site.page("/", ARTICLE, headers={"Set-Cookie": "id=1"})
    await fetcher.fetch(FetchRequest(url=url))
    await fetcher.fetch(FetchRequest(url=url, force_refresh=True))
    assert [request.headers.get("Cookie") for request in site.requests] == [None, None]


async def test_redirects_are_followed_and_recorded(site, other, fetcher):
    first = site.redirect("/old", "/temp#part", status="301 Moved Permanently")
    target = other.page("/new", ARTICLE)
    second = site.redirect("/temp", target)
    page = await fetcher.fetch(FetchRequest(url=first, user_agent="mine/1"))
    assert (page.url, page.final_url, page.redirect_count) == (first, target, 2)
    assert page.redirect_chain == (f"{first} -> 301", f"{second} -> 302", f"{target} -> 200")
    assert page.status_code == 200
    crossed = other.requests[0].headers
    assert crossed["User-Agent"] == "mine/1"
    assert "Referer" not in crossed


@pytest.mark.parametrize(
    ("location", "target", "note"),
    [
        ("/new", "/new", "redirect_target is where it leads."),
        ("http://[::1 nowhere", "", "it leads to something that is not a valid address."),
    ],
)
async def test_a_redirect_is_a_page_without_content_when_not_followed(
    site, fetcher, location, target, note
):
    url = site.redirect("/old", location, status="308 Permanent Redirect")
    page = await fetcher.fetch(FetchRequest(url=url, follow_redirects=False))
    leads = (f"{site.at(target)} -> not followed",) if target else ()
    assert page.redirect_chain == (f"{url} -> 308", *leads)
    assert (page.status_code, page.final_url, page.redirect_count) == (308, url, 0)
    assert (page.markdown_content, len(site.requests)) == ("", 1)
    assert page.notes == (f"A redirect was not followed: {note}",)


async def test_one_deadline_spans_all_hops_and_one_that_is_over_asks_nobody(site, fetcher):
    url = site.redirect("/", site.raw("/slow", b""))
    error = await failure(fetcher, url, deadline=soon())
    assert (error.code, error.url) == (ErrorCode.TIMEOUT, site.at("/slow"))
    assert error.redirect_chain == (f"{url} -> 302",)
    asked = len(site.requests)
    error = await failure(fetcher, site.page("/page", ARTICLE), deadline=soon() - 1)
    assert (error.code, len(site.requests)) == (ErrorCode.TIMEOUT, asked)


async def test_a_page_without_text_is_no_page_and_an_empty_one_has_a_note(site, fetcher):
    error = await failure(fetcher, site.page("/", "<script>render()</script>"))
    assert isinstance(error, ContentError)
    assert (error.code, error.status_code) == (ErrorCode.EXTRACTION_FAILED, 200)
    page = await fetcher.fetch(FetchRequest(url=site.page("/empty", "")))
    assert (page.content_length, page.markdown_content, page.truncated) == (0, "", False)
    assert page.notes == ("The site sent an empty page.",)


async def test_the_domain_policy_holds_on_every_hop(site, make_fetcher):
    blocking = make_fetcher(fetch={"blocked_domains": ("example.org",)})
    error = await failure(blocking, site.redirect("/", "//example.org"))
    assert error.code is ErrorCode.BLOCKED_DOMAIN
    blocking = make_fetcher(fetch={"blocked_domains": ("127.0.0.1",)})
    error = await failure(blocking, site.at("/"))
    assert error.code is ErrorCode.BLOCKED_DOMAIN
    assert len(site.requests) == 1


@pytest.mark.parametrize("status", ["200 OK", "403 Forbidden", "503 Unavailable"])
async def test_a_challenge_page_is_never_content(site, fetcher, status):
    challenge = "<!DOCTYPE html><title>Just a moment...</title><p>Verifying you are human."
    error = await failure(fetcher, site.page("/", challenge, status=status))
    assert isinstance(error, SiteError)
    assert error.code is ErrorCode.BLOCKED_BY_SITE


@pytest.mark.parametrize(
    "end",
    [
        b"Content-Length: 100\r\n\r\n",
        b"Content-Length: 100\r\n\r\n<p>No",
        b"Content-Encoding: br\r\nContent-Length: 0\r\n\r\n",
        b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnone",
    ],
    ids=["silent", "half", "encoding", "corrupt"],
)
async def test_the_status_counts_even_when_its_body_cannot_be_read(site, fetcher, end):
    url = site.raw("/", b"HTTP/1.1 404 Not Found\r\n" + end)
    error = await failure(fetcher, url, deadline=soon())
    assert error.code is ErrorCode.NOT_FOUND


async def test_a_type_that_is_no_text_is_refused_before_the_body(site, fetcher):
    url = site.raw("/", b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n")
    error = await failure(fetcher, url)
    assert error.code is ErrorCode.UNSUPPORTED_CONTENT_TYPE
    await site.until_idle()


@pytest.mark.parametrize(
    ("content_type", "encoding", "prefix"),
    [
        ("text/html; charset=iso-8859-1", "latin-1", ""),
        ("text/html; charset=koi8-r", "utf-8", "\ufeff"),
        ("text/html", "utf-16", ""),
        ("text/html", "windows-1252", '<meta charset="windows-1252">'),
        ("text/html", "utf-8", ""),
    ],
    ids=["header", "BOM beats header", "UTF-16", "meta", "guess"],
)
async def test_the_charset_is_found(site, fetcher, content_type, encoding, prefix):
    body = f"{prefix}<title>Café</title><p>Garçon, un café crème, s'il vous plaît. {SENTENCE * 3}"
    url = site.page("/", body.encode(encoding), content_type=content_type)
    page = await fetcher.fetch(FetchRequest(url=url))
    assert page.title == "Café"
    assert "Garçon, un café crème" in page.markdown_content


@pytest.mark.parametrize(
    ("configured", "asked", "caller", "expected"),
    [(2_000, None, None, 2_000), (2_000, 3_000, None, 3_000), (2_000, 3_000, 4_000, 4_000)],
)
async def test_the_nearest_limit_of_size_holds(
    site, make_fetcher, *, configured, asked, caller, expected
):
    fetcher = make_fetcher(max_content_size=configured)
    request = FetchRequest(
        url=site.page("/", "word " * 2_000, content_type="text/plain"), max_content_length=asked
    )
    page = await fetcher.fetch(request, max_bytes=caller)
    assert page.content_length == expected


async def test_a_deadline_in_the_body_gives_the_part_that_arrived(site, fetcher, monkeypatch):
    # Reading ends after half a second, and a busy machine has the rest for the conversion.
    monkeypatch.setattr(capture, "_CONVERSION_SHARE", 0.95)
    monkeypatch.setattr(capture, "_MAX_CONVERSION_TIME", 60)
    deadline = asyncio.get_running_loop().time() + 10
    start = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99999\r\n\r\n"
    url = site.raw("/", start + ARTICLE[:-40].encode())
    page = await fetcher.fetch(FetchRequest(url=url), deadline=deadline)
    assert page.truncated
    assert "quick brown fox" in page.markdown_content
    assert page.notes == ("The page is incomplete: cut off when time ran out.",)
    await site.until_idle()


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Ty",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99\r\n\r\n<html><head>",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 99\r\n\r\n \n \n",
    ],
    ids=["silent", "half a header", "no body", "no text", "only spaces"],
)
async def test_a_deadline_before_any_text_is_a_timeout(site, fetcher, start):
    url = site.raw("/", start)
    error = await failure(fetcher, url, deadline=soon())
    assert isinstance(error, TransportError)
    assert (error.code, error.url) == (ErrorCode.TIMEOUT, url)
    await site.until_idle()


async def test_a_conversion_that_outlasts_the_deadline_is_a_timeout(site, fetcher, monkeypatch):
    done = threading.Event()
    monkeypatch.setattr(conversion, "convert", lambda *_args, **_kwargs: done.wait(9))
    try:
        error = await failure(fetcher, site.page("/", ARTICLE), deadline=soon())
    finally:
        done.set()
    assert error.code is ErrorCode.TIMEOUT


class Refusing(HttpSession):
    """Keeps the time it was given, and fails."""

    def __init__(self) -> None:
        self.timeout = 0.0

    @override
    def open(
        self, url: str, *, headers: Mapping[str, str], timeout: float, body: bytes | None = None
    ) -> NoReturn:
        self.timeout = timeout
        raise TransportError("The connection failed.", code=ErrorCode.CONNECTION_ERROR)


@pytest.mark.parametrize(
    ("config", "asked", "left", "expected"),
    [
        ({}, None, None, 29), ({"default_timeout": 10}, None, None, 9),
        ({"default_timeout": 90}, None, None, 59), ({"max_response_time": 20}, None, None, 19),
        ({"max_response_time": 20}, 100, None, 99), ({"default_timeout": 90}, 5, None, 4.5),
        ({}, 100, 50, 49), ({}, None, 5, 4.5), ({}, 5, 50, 4.5),
    ],
)  # fmt: skip
async def test_time_is_what_the_call_the_settings_and_the_caller_leave(
    make_fetcher, config, asked, left, expected
):
    session = Refusing()
    fetcher = make_fetcher(session=session, **config)
    deadline = None if left is None else asyncio.get_running_loop().time() + left
    with pytest.raises(TransportError) as caught:
        await fetcher.fetch(
            FetchRequest(
                url="https://example.org/", timeout=asked, by_person=True, ignore_robots=True
            ),
            deadline=deadline,
        )
    assert caught.value.url == "https://example.org/"
    # What is missing to a round number is kept back for the conversion.
    assert session.timeout == pytest.approx(expected, abs=0.2)


async def test_surrogates_and_nuls_never_reach_the_caller(site, fetcher):
    body = (
        b"<title>a\x00b&#xD83D;c</title><p>cut \xed\xa0\xbd emoji \x00 &#xD83D; \xff "
        + SENTENCE.encode() * 5
    )
    url = site.page("/", body, headers={"Server": b"ng\xffinx\x7f" + b"x" * 500})
    page = await fetcher.fetch(FetchRequest(url=url))
    page.model_dump_json().encode()
    assert "\x00" not in page.model_dump_json()
    assert "emoji" in page.markdown_content
    assert len(page.headers["server"]) <= 200


class Broken(Refusing):
    """Has a bug."""

    @override
    def open(
        self, url: str, *, headers: Mapping[str, str], timeout: float, body: bytes | None = None
    ) -> NoReturn:
        raise RuntimeError("its cause")


async def test_a_fault_of_ours_is_an_error_of_ours(make_fetcher, caplog):
    fetcher = make_fetcher(session=Broken())
    with caplog.at_level(logging.ERROR, logger="searx_mcp.fetch"):
        error = await failure(fetcher, "https://example.org/")
    assert error.code is ErrorCode.INTERNAL
    assert "its cause" not in error.message
    assert [record.message for record in caplog.records] == ["fetch.unexpected_error"]
