"""The specified bodies, to the field."""

import pytest

from searx_mcp.models.request import TimeRange

SEARCH, FETCH = "/v1/tools/web_search", "/v1/tools/web_fetch"


async def test_a_search_has_the_specified_fields_and_no_other(rest):
    answer = await rest.post(SEARCH, json={"query": "bees"})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {
        "results": [
            {
                "url": "https://a.example/bees",
                "title": "Bees",
                "snippet": "All about bees.",
                "published_at": "2026-05-01T00:00:00+00:00",
            },
            {"url": "https://b.example/", "snippet": "Cut \ufffd"},  # half a character
        ],
        "count": 2,
    }


async def test_every_specified_argument_of_a_search_reaches_the_service(rest, service):
    body = {
        "query": "bees",
        "max_results": 25,
        "recency": "oneMonth",
        "allowed_domains": ["a.example"],
        "blocked_domains": ["b.example"],
        "search_prompt": "what they eat",
    }
    assert (await rest.post(SEARCH, json=body)).status_code == 200
    (request,) = service.asked
    assert (request.query, request.results_count, request.time_range) == ("bees", 25, "month")
    assert request.allowed_domains == ("a.example",)
    assert request.blocked_domains == ("b.example",)
    assert request.search_prompt == "what they eat"
    assert not request.fetch_content


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("oneDay", TimeRange.DAY),
        ("oneWeek", TimeRange.WEEK),
        ("oneMonth", TimeRange.MONTH),
        ("oneYear", TimeRange.YEAR),
        ("noLimit", TimeRange.ANY),
    ],
)
async def test_each_recency_means_a_time_range(rest, service, written, meant):
    await rest.post(SEARCH, json={"query": "bees", "recency": written})
    assert service.asked[0].time_range is meant
    assert service.asked[0].results_count == 10


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        (SEARCH, {}, "query"),
        (SEARCH, {"query": " "}, "query"),
        (SEARCH, {"query": ["a", "b"]}, "query"),
        (SEARCH, {"query": "x" * 501}, "query"),
        (SEARCH, {"query": "bees", "max_results": 0}, "max_results"),
        (SEARCH, {"query": "bees", "max_results": 26}, "max_results"),
        (SEARCH, {"query": "bees", "max_results": 2.5}, "max_results"),
        (SEARCH, {"query": "bees", "recency": "twoDays"}, "recency"),
        (SEARCH, {"query": "bees", "allowed_domains": ["no domain"]}, "allowed_domains"),
        (SEARCH, {"query": "bees", "blocked_domains": 7}, "blocked_domains"),
        (SEARCH, {"query": "bees", "engines": "bing"}, "engines"),
        (FETCH, {}, "url"),
        (FETCH, {"url": ["https://a.example/", "https://b.example/"]}, "url"),
        (FETCH, {"url": "https://a.example/", "max_chars": 0}, "max_chars"),
        (FETCH, {"url": "https://a.example/", "ignore_robots": True}, "ignore_robots"),
        (FETCH, {"cursor": "no cursor"}, "cursor"),
        (FETCH, {"cursor": "abcdefghabcdefgh", "offset": -1}, "offset"),
        (FETCH, {"cursor": "abcdefghabcdefgh", "limit": 0}, "limit"),
    ],
)
async def test_a_wrong_argument_is_refused_by_its_name(rest, service, path, body, field):
    answer = await rest.post(path, json=body)
    error = answer.json()["error"]
    assert answer.status_code == 422
    assert (error["code"], error["field"]) == ("invalid_argument", field)
    assert error["message"].startswith(f"{field}: ")
    assert not service.asked


async def test_a_wrong_recency_is_told_those_that_were_specified(rest):
    answer = await rest.post(SEARCH, json={"query": "bees", "recency": "twoDays"})
    assert answer.json()["error"]["message"] == (
        "recency: 'twoDays' is not one of oneDay, oneWeek, oneMonth, oneYear, noLimit"
    )


async def test_a_page_has_the_specified_fields_and_no_other(rest, service):
    answer = await rest.post(FETCH, json={"url": "https://a.example/bees", "prompt": "wings"})
    assert answer.status_code == 200
    assert answer.json() == {
        "content": "# Bees\n\nThey fly. \U0001f41d",
        "status": 200,
        "content_type": "text/html",
        "truncated": False,
    }
    assert (service.asked[0].prompt, service.asked[0].max_chars) == ("wings", 200_000)


async def test_a_page_is_read_on_by_its_cursor_until_nothing_is_left(rest, service):
    first = (await rest.post(FETCH, json={"url": "https://a.example/", "max_chars": 6})).json()
    assert (first["content"], first["truncated"]) == ("# Bees", True)
    more = {"cursor": first["cursor"], "offset": 6, "limit": 100}
    last = (await rest.post(FETCH, json=more)).json()
    assert first["content"] + last["content"] == "# Bees\n\nThey fly. \U0001f41d"
    assert "cursor" not in last
    assert service.asked[1].url == ""
