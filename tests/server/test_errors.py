"""Errors as a model meets them: the same in the text and in structured content, for every code."""

import re
from typing import Any

import pytest
from mcp import Client
from mcp.types import CallToolResult
from typing_extensions import override

from searx_mcp.errors import DeadlineError, ErrorCode, FetchError, SearxMcpError, TransportError
from searx_mcp.server.app import build_server
from searx_mcp.testing.web import FakePage, FakeWeb, article, redirect
from tests.doubles.counting import tokens_in
from tests.doubles.raw import RawServer
from tests.doubles.service import PartOfService

PAGE = FakePage(article("Bees", ["Bees dance to tell each other where the flowers are."] * 3))
PDF = FakePage(b"%PDF-1.7\n" + b"x" * 5_000, content_type="application/pdf")
WAITS = re.compile(r"(?:Retry|One retry may work) in ([0-9]+) (second|minute|hour|day)s?\.")


def check(result: CallToolResult, text: str, code: str) -> dict[str, Any]:
    """Both halves have the code, and the same advice and wait."""
    data: dict[str, Any] | None = result.structured_content
    assert result.is_error
    assert data is not None
    assert data["error_type"] == code
    assert f"({code})." in text
    assert tokens_in(text) <= 120
    waits = WAITS.search(text)
    assert (waits is None) is (data.get("retry_after") is None)
    may_be_called_again = waits or code in {"invalid_argument", "content_too_large"}
    assert ("Do not repeat the same call." in text) is not bool(may_be_called_again)
    return data


FAILURES = [
    ("rate_limited", FakePage("slow", status=429), {}),
    ("rate_limited", FakePage("slow", status=429, headers={"Retry-After": "7"}), {}),
    ("http_error", FakePage("oh", status=500), {}),
    ("http_error", FakePage("oh", status=503, headers={"Retry-After": "7"}), {}),
    ("content_too_large", PDF, {"max_content_length": 1_024}),
    ("too_many_redirects", lambda request: redirect(f"{request.path}x"), {}),
    ("malformed_response", redirect("http://[/"), {}),
    ("cursor_expired", PAGE, {"url": "", "cursor": "abcdefghijklmnop"}),
    ("invalid_argument", PAGE, {"offset": 1_000_000}),
]


@pytest.mark.parametrize(
    ("code", "page", "arguments"), FAILURES, ids=[f"{row[0]} {n}" for n, row in enumerate(FAILURES)]
)
async def test_a_page_that_cannot_be_read_says_why_in_both_halves(
    connect, settings_for, text_of, code, page, arguments
):
    async with FakeWeb({"/page": page}, otherwise=page if callable(page) else None) as web:
        async with connect(settings_for(web)) as client:
            result = await client.call_tool("web_fetch", {"url": web.url("/page"), **arguments})
    data = check(result, text_of(result), code)
    assert data["url"] in {web.url("/page"), arguments.get("url")}
    if code == "rate_limited" or getattr(page, "status", 0) >= 500:
        assert data["retry_after"] == (7 if "Retry-After" in page.headers else 60)


@pytest.mark.parametrize(
    "url",
    ["example", "https:///a", "https://example.org:99999/", "http://[/", "http://[]@", "http://a:b:c/",
     "http://exa mple.org/", f"http://{'é' * 3_000}/", "http://a..org/"],
    ids=lambda url: url[:30],
)  # fmt: skip
async def test_what_is_no_address_is_an_argument_to_correct(connect, settings_for, text_of, url):
    steps: list[str | None] = []

    async def tell(progress: float, _: float | None, message: str | None) -> None:
        steps.append(message)

    async with connect(settings_for()) as client:
        fetched = await client.call_tool("web_fetch", {"url": url}, progress_callback=tell)
        asked = [
            await client.call_tool(tool, {"url": url, "query": "bees"})
            for tool in ("read_page", "answer")
        ]
    for result in (fetched, *asked):
        assert check(result, text_of(result), "invalid_argument")["field"] == "url"
    assert all(step not in {"reading None", "reading "} and len(step or "") < 100 for step in steps)


async def test_errors_of_the_way_to_a_page_say_when_to_come_back(connect, settings_for, text_of):
    async def garbage(connection) -> None:
        await connection.send(b"this is no HTTP\r\n\r\n")

    async def reset(connection) -> None:
        connection.reset()

    async with RawServer({"/garbage": garbage, "/reset": reset}) as raw, FakeWeb() as web:
        at = f"127.0.0.1:{raw.port}"
        settings = settings_for(fetch={"allow_private": [web.origin, at]})
        async with connect(settings) as client:
            for url, code, wait in (
                (web.url("/a").replace("http", "https"), "tls_error", None),
                (f"http://{at}/garbage", "malformed_response", 5),
                (f"http://{at}/reset", "connection_error", 5),
            ):
                result = await client.call_tool("web_fetch", {"url": url})
                assert check(result, text_of(result), code).get("retry_after") == wait


async def test_an_error_behind_redirects_says_where_they_led_in_both_halves(
    connect, settings_for, text_of
):
    pages = {
        "/a": redirect("/b"),
        "/b": redirect("/c", status=301),
        "/loop": redirect("/loop"),
        "/away": redirect("http://10.0.0.1/x"),
    }
    async with FakeWeb(pages) as web, connect(settings_for(web)) as client:
        gone = await client.call_tool("web_fetch", {"url": web.url("/a")})
        loop = await client.call_tool("web_fetch", {"url": web.url("/loop")})
        away = await client.call_tool("web_fetch", {"url": web.url("/away")})
        plain = await client.call_tool("web_fetch", {"url": web.url("/x")})
    chain = [f"{web.url('/a')} -> 302", f"{web.url('/b')} -> 301", f"{web.url('/c')} -> 404"]
    data = check(gone, text_of(gone), "not_found")
    assert (data["final_url"], data["redirect_chain"]) == (web.url("/c"), chain)
    assert f"\nFinal URL: {web.url('/c')}\n" in text_of(gone)
    data = check(loop, text_of(loop), "redirect_loop")
    assert data["redirect_chain"] == [f"{web.url('/loop')} -> 302"]
    assert check(away, text_of(away), "blocked_address")["final_url"] == "http://10.0.0.1/x"
    assert "\nFinal URL: http://10.0.0.1/x\n" in text_of(away)
    assert "redirect_chain" not in check(plain, text_of(plain), "not_found")


async def test_a_redirect_that_is_not_followed_has_its_target_as_a_field(
    connect, settings_for, text_of
):
    async with FakeWeb({"/a": redirect("/b?x=1#y"), "/b": PAGE}) as web:
        async with connect(settings_for(web)) as client:
            call = {"url": web.url("/a"), "follow_redirects": False}
            result = await client.call_tool("web_fetch", call)
            page = await client.call_tool("web_fetch", {"url": web.url("/b")})
    assert result.structured_content["redirect_target"] == web.url("/b?x=1")
    assert f"\nRedirect target: {web.url('/b?x=1')}\n" in text_of(result)
    assert "redirect_target" not in page.structured_content


class Failing(PartOfService):
    """A service that raises what it is told."""

    def __init__(self, error: SearxMcpError) -> None:
        self.error = error

    @override
    async def search(self, request, /, *, progress=None):
        raise self.error

    @override
    async def fetch(self, request, /, *, progress=None):
        raise self.error


@pytest.mark.parametrize("code", ErrorCode)
async def test_every_code_reads_the_same_in_both_halves(settings_for, text_of, code):
    service = Failing(FetchError("It went wrong.", code=code))
    async with Client(build_server(settings_for(), service=service)) as client:
        page = await client.call_tool("web_fetch", {"url": "https://a.example/"})
        search = await client.call_tool("web_search", {"query": "x"})
    for result in (page, search):
        data = check(result, text_of(result), code)
        advice = data["error_details"].removeprefix("It went wrong. ")
        assert advice
        assert advice in text_of(result)


@pytest.mark.parametrize(("limit", "may_be_longer"), [(20, True), (50, False), (49, False)])
@pytest.mark.parametrize(
    "make",
    [
        lambda: DeadlineError("No instance answered"),
        lambda: TransportError("No answer within", code=ErrorCode.TIMEOUT),
    ],
    ids=["deadline", "timeout"],
)
async def test_no_longer_time_is_advised_than_the_server_gives(
    settings_for, text_of, make, limit, may_be_longer
):
    error = make()
    error.ran_out(limit, limit)
    settings = settings_for(server={"tool_timeout": min(limit, 49) if not may_be_longer else 50})
    async with Client(build_server(settings, service=Failing(error))) as client:
        page = await client.call_tool("web_fetch", {"url": "https://a.example/"})
        search = await client.call_tool("web_search", {"query": "x"})
    for result in (page, search):
        data = check(result, text_of(result), error.code)
        for half in (text_of(result), data["error_details"]):
            assert f"Timed out after {limit} seconds: " in half
            assert ("Give a longer timeout, up to 50 seconds" in half) is may_be_longer
            assert ("longer" in half) is may_be_longer
