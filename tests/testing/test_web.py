import asyncio
import zlib

import aiohttp
import pytest

from searx_mcp.testing.loopback import ReceivedRequest
from searx_mcp.testing.web import (
    FakePage,
    FakeWeb,
    article,
    broken,
    drip,
    gzip_bomb,
    huge,
    redirect,
    silent,
)


async def test_pages_are_served_with_status_type_and_headers(http):
    page = FakePage(b"\xff\x00", content_type="image/x", status=418, headers={"X-Tea": "pot"})
    async with FakeWeb({"/a": page}) as web, http.get(web.url("/a")) as response:
        assert (response.status, response.content_type) == (418, "image/x")
        assert response.headers["X-Tea"] == "pot"
        assert await response.read() == b"\xff\x00"


async def test_unknown_paths_are_missing_and_recorded(http):
    async with FakeWeb() as web:
        async with http.get(web.url("/nowhere?x=1")) as response:
            assert response.status == 404
        assert [request.target for request in web.requests] == ["/nowhere?x=1"]


async def test_a_key_with_a_query_wins_over_one_without(http):
    async with FakeWeb({"/a": FakePage("any"), "/a?b=1": FakePage("one")}) as web:
        for target, body in {"/a?b=1": "one", "/a?b=2": "any", "/a": "any"}.items():
            async with http.get(web.url(target)) as response:
                assert await response.text() == body


async def test_a_function_makes_the_page_from_the_request(http):
    def greet(request: ReceivedRequest) -> FakePage:
        return FakePage(f"hello {request.headers['user-agent']}")

    async with (
        FakeWeb({"/": greet}) as web,
        http.get(web.url("/"), headers={"User-Agent": "tester"}) as response,
    ):
        assert await response.text() == "hello tester"


async def test_pages_are_added_and_replaced_while_the_site_runs(http):
    async with FakeWeb({"/a": FakePage("old")}) as web:
        web.put("/a", FakePage("new"))
        web.put("/b", FakePage("more"))
        assert web.links == (web.url("/a"), web.url("/b"))
        for path, body in {"/a": "new", "/b": "more"}.items():
            async with http.get(web.url(path)) as response:
                assert await response.text() == body


async def test_an_article_is_a_whole_page_with_escaped_text(http):
    text = article("Tea & <milk>", ["One.", "1 < 2"], language="de", description='"hot"')
    assert '<html lang="de">' in text
    assert "<title>Tea &amp; &lt;milk&gt;</title>" in text
    assert "<p>1 &lt; 2</p>" in text
    assert 'content="&quot;hot&quot;"' in text
    assert "description" not in article("A", [])


async def test_a_redirect_sends_its_location_as_it_is(http):
    async with (
        FakeWeb({"/a": redirect("b?x=1", status=308)}) as web,
        http.get(web.url("/a"), allow_redirects=False) as response,
    ):
        assert (response.status, response.headers["Location"]) == (308, "b?x=1")


async def test_a_silent_page_is_never_answered(http):
    async with FakeWeb({"/a": silent()}) as web, asyncio.TaskGroup() as group:

        async def call() -> None:
            async with http.get(web.url("/a")):
                pytest.fail("a silent page was answered")

        caller = group.create_task(call())
        async with asyncio.timeout(5):
            await web.wait_for_requests(1)
        assert not caller.done()
        caller.cancel()


async def test_a_dripping_page_arrives_in_pieces(http):
    async with FakeWeb({"/a": drip("abcdef", interval=0.001, piece=2)}) as web:
        async with http.get(web.url("/a")) as response:
            assert response.content_length == 6
            assert await response.read() == b"abcdef"
        web.put("/a", FakePage("late", delay=0.001))
        async with http.get(web.url("/a")) as response:
            assert await response.read() == b"late"


async def test_a_huge_page_announces_and_sends_its_size(http):
    async with FakeWeb({"/a": huge(10_000_000)}) as web, http.get(web.url("/a")) as response:
        body = await response.read()
        assert len(body) == response.content_length
        assert 9_900_000 < len(body) <= 10_000_000
    assert huge(1).copies == 1


async def test_a_broken_page_ends_before_its_announced_length(http):
    async with (
        FakeWeb({"/a": broken("x" * 100, cut_after=40)}) as web,
        http.get(web.url("/a")) as response,
    ):
        assert response.content_length == 100
        with pytest.raises(aiohttp.ClientPayloadError):
            await response.read()


async def test_a_gzip_bomb_is_small_on_the_wire_and_large_when_decoded():
    page = gzip_bomb(10_000_000)
    assert len(page.content) < 20_000
    decoded = zlib.decompress(page.content, wbits=31)
    assert 9_900_000 < len(decoded) <= 10_000_000
    async with (
        aiohttp.ClientSession(auto_decompress=False) as session,
        FakeWeb({"/a": page}) as web,
        session.get(web.url("/a")) as response,
    ):
        assert response.headers["Content-Encoding"] == "gzip"
        assert await response.read() == page.content


async def test_a_head_request_gets_the_headers_only(http):
    async with FakeWeb({"/a": FakePage("abc")}) as web, http.head(web.url("/a")) as response:
        assert response.content_length == 3
        assert await response.read() == b""


async def test_a_reader_that_hangs_up_is_no_fault_of_the_page(http, caplog):
    async with FakeWeb({"/a": huge(100_000_000)}) as web:
        async with http.get(web.url("/a")) as response:
            await response.content.read(10)
            response.close()
        async with http.get(web.url("/b")) as response:
            assert response.status == 404
    assert caplog.records == []
