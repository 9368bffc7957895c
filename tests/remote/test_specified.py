"""A service that has the two specified routes alone."""

import pytest

from searx_mcp.errors import CursorError, ErrorCode, FetchError, SearxMcpError
from searx_mcp.evidence.requests import AnswerRequest, ReadRequest, StatusRequest
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.request import SearchRequest
from searx_mcp.settings.tools import Tool
from tests.remote.conftest import TEXT, Proxy, asking


def search(**arguments: object) -> SearchRequest:
    return SearchRequest.model_validate({"query": "bees", "fetch_content": False, **arguments})


def fetch(**arguments: object) -> FetchRequest:
    return FetchRequest.model_validate(arguments)


@pytest.mark.parametrize(
    ("arguments", "body"),
    [
        ({}, {"query": "bees", "max_results": 10, "recency": "noLimit"}),
        ({"results_count": 50}, {"query": "bees", "max_results": 25, "recency": "noLimit"}),
        (
            {"results_count": 3, "offset": 5, "time_range": "week"},
            {"query": "bees", "max_results": 8, "recency": "oneWeek"},
        ),
        (
            {
                "allowed_domains": ["a.example"],
                "blocked_domains": ["b.example"],
                "search_prompt": "honey",
            },
            {
                "query": "bees",
                "max_results": 10,
                "recency": "noLimit",
                "allowed_domains": ["a.example"],
                "blocked_domains": ["b.example"],
                "search_prompt": "honey",
            },
        ),
    ],
)
async def test_a_search_is_asked_for_in_the_specified_body(
    proxy: Proxy, arguments: dict[str, object], body: dict[str, object]
) -> None:
    async with asking(proxy.base) as client:
        await client.search(search(**arguments))
    assert proxy.bodies == [body]


async def test_results_come_as_specified_from_the_offset_on(proxy: Proxy) -> None:
    async with asking(proxy.base) as client:
        found = await client.search(search(results_count=2, offset=3))
    assert [row.url for row in found.results] == [
        "https://4.example/bees",
        "https://5.example/bees",
    ]
    first = found.results[0]
    assert (first.title, first.description) == ("Bees 4", "What 4 says.")
    assert first.published_at == "2026-05-01"
    assert first.score == 1
    assert (found.results_count, found.next_offset) == (2, 5)
    assert found.notes == ()


async def test_nothing_goes_on_behind_the_last_result(proxy: Proxy) -> None:
    proxy.rows = proxy.rows[:3]
    async with asking(proxy.base) as client:
        assert (await client.search(search(results_count=5))).next_offset is None
        proxy.rows = [*proxy.rows] * 10
        assert (await client.search(search(results_count=25))).next_offset is None


@pytest.mark.parametrize(
    ("arguments", "note"),
    [
        (
            {"category": "news", "engines": ["bing"], "safe_search": 2, "page": 2},
            (
                "The remote service does not support these arguments, so they were left out:"
                " category, safe_search, engines, page."
            ),
        ),
        ({"fetch_content": True}, "The remote service does not read result pages."),
        ({"results_count": 50}, "The remote service returns at most 25 results."),
    ],
)
async def test_an_answer_names_what_was_lost(
    proxy: Proxy, arguments: dict[str, object], note: str
) -> None:
    async with asking(proxy.base) as client:
        found = await client.search(search(**arguments))
    assert found.notes == (note,)


async def test_rows_that_are_no_web_pages_are_left_out_and_hidden_characters_with_them(
    proxy: Proxy,
) -> None:
    proxy.rows = [
        {"url": "javascript:alert(1)", "title": "x"},
        {"url": "https://a.example/ b", "title": "x"},
        {"url": "https://a.example/", "title": "A\u200b\u202ebc", "snippet": "d\x00e"},
        {"url": "https://b.example/"},
    ]
    async with asking(proxy.base) as client:
        found = await client.search(search())
    assert [(row.url, row.title, row.description) for row in found.results] == [
        ("https://a.example/", "Abc", "de"),
        ("https://b.example/", "https://b.example/", ""),
    ]


async def test_several_searches_are_asked_for_one_by_one(proxy: Proxy) -> None:
    async with asking(proxy.base) as client:
        batch = await client.search_all(search(queries=["wasps"]))
    assert sorted(body["query"] for body in proxy.bodies) == ["bees", "wasps"]
    assert [each.query for each in batch.queries] == ["bees", "wasps"]


async def test_a_page_is_read_to_its_end_with_a_cursor_of_ours(proxy: Proxy) -> None:
    async with asking(proxy.base) as client:
        first = await client.fetch(fetch(url="https://a.example/", max_chars=1_000, prompt="bees"))
        second = await client.fetch(
            fetch(cursor=first.cursor, offset=first.next_offset, max_chars=100_000)
        )
    assert proxy.bodies[0] == {"url": "https://a.example/", "max_chars": 200_000, "prompt": "bees"}
    assert (first.next_offset, first.total_chars) == (1_000, len(TEXT))
    assert proxy.bodies[1]["url"] == "https://a.example/"
    assert first.truncated
    assert first.content_type == "text/html"
    assert first.markdown_content + second.markdown_content == TEXT
    assert second.next_offset is None
    assert second.url == "https://a.example/"


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("nonsense", "invalid_argument"),
        ("https://user:password@a.example/", "invalid_argument"),
        ("ftp://a.example/", "blocked_scheme"),
    ],
)
async def test_a_url_that_is_none_of_the_web_is_refused_before_anything_is_sent(
    proxy: Proxy, url: str, code: str
) -> None:
    async with asking(proxy.base) as client:
        with pytest.raises(SearxMcpError) as caught:
            await client.fetch(fetch(url=url))
    assert caught.value.code == code
    assert proxy.bodies == []


async def test_a_cursor_of_the_service_is_sent_back_to_it(proxy: Proxy) -> None:
    proxy.page = {"cursor": "Any/thing==", "truncated": True}
    async with asking(proxy.base) as client:
        first = await client.fetch(fetch(url="https://a.example/", max_chars=1_000))
        await client.fetch(fetch(cursor=first.cursor, offset=first.next_offset, max_chars=500))
    assert proxy.bodies[1] == {"cursor": "Any/thing==", "offset": 1_000, "limit": 500}


async def test_a_cursor_that_is_not_known_has_expired(proxy: Proxy) -> None:
    async with asking(proxy.base) as client:
        with pytest.raises(CursorError):
            await client.fetch(fetch(cursor="a" * 16))


async def test_a_page_names_the_arguments_that_were_lost(proxy: Proxy) -> None:
    async with asking(proxy.base) as client:
        page = await client.fetch(fetch(url="https://a.example/", section="Honey"))
    assert page.notes == (
        "The remote service does not support these arguments, so they were left out: section.",
    )


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"content": ""}, ErrorCode.EXTRACTION_FAILED),
        ({"content": "", "status": 404}, ErrorCode.NOT_FOUND),
        ({"content": "Forbidden", "status": 403}, ErrorCode.HTTP_ERROR),
    ],
)
async def test_a_page_that_no_tier_could_read_is_an_error_with_the_reasons(
    proxy: Proxy, answer: dict[str, object], code: ErrorCode
) -> None:
    proxy.page = {**answer, "errors": ["native: 403", "browser: \u202etimed out"]}
    async with asking(proxy.base) as client:
        with pytest.raises(FetchError) as caught:
            await client.fetch(fetch(url="https://a.example/"))
    assert caught.value.message == "Failed to fetch URL content after all fallback tiers"
    assert caught.value.code is code
    assert caught.value.quoted == "native: 403; browser: timed out"


async def test_other_tools_are_not_offered_and_are_an_error_of_their_own(proxy: Proxy) -> None:
    async with asking(proxy.base) as client:
        assert await client.offered() == {
            Tool.WEB_SEARCH,
            Tool.WEB_FETCH,
            Tool.SEARCH,
            Tool.FETCH,
        }
        for call in (
            client.read_page(ReadRequest(url="https://a.example/", query=("q",))),
            client.answer(AnswerRequest(query="q")),
            client.corpus_status(StatusRequest()),
            client.raw_search("google", search()),
            client.instances(),
        ):
            with pytest.raises(SearxMcpError, match="The remote service does not offer ") as caught:
                await call
            assert caught.value.code is ErrorCode.NOT_FOUND
    assert [request.path for request in proxy.requests] == ["/v1/capabilities"], "asked once"
