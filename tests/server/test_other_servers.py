"""Arguments as models write them that know other servers' tools, over the tools themselves."""

import json

import pytest

from searx_mcp.testing.loopback import ReceivedRequest
from searx_mcp.testing.results import FakeResult
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, article
from tests.doubles.counting import tokens_in

ROWS = [
    FakeResult(title=f"Row {n}", url=f"https://h{n % 2}.example/{n}", description="bees")
    for n in range(1, 26)
]
TEXT = "Bees dance to tell each other where the flowers are. " * 40


def searches(instance: FakeSearxng) -> list[ReceivedRequest]:
    return [request for request in instance.requests if request.path == "/search"]


def titles(result) -> list[str]:
    return [row["title"] for row in result.structured_content["results"]]


SEARCHES = [
    # Written so, asked of the instance, rows of the answer.
    ({"q": "bees"}, {}, [1, 2]),
    ({"query": "bees", "num_results": 1}, {}, [1]),
    ({"query": "bees", "include_domains": ["h0.example", "x.example"]}, {}, [2, 4]),
    ({"query": "bees", "include_domains": ["h0.example"]}, {"q": "bees site:h0.example"}, [2, 4]),
    ({"query": "bees", "exclude_domains": ["h1.example"]}, {}, [2, 4]),
    ({"query": "bees", "topic": "news"}, {"categories": "news"}, [1, 2]),
    ({"query": "bees", "lang": "German"}, {"language": "de"}, [1, 2]),
    ({"query": "bees", "days": 7}, {"time_range": "week"}, [1, 2]),
    ({"query": "bees", "time_range": "past week"}, {"time_range": "week"}, [1, 2]),
    ({"query": "bees", "page": 2}, {"pageno": "2"}, [11, 12]),
    ({"query": "bees", "offset": 10}, {"pageno": "2"}, [11, 12]),
    ({"query": "bees", "start": 12}, {"pageno": "2"}, [13, 14]),
    ({"query": "bees", "offset": 1}, {}, [2, 3]),
]


@pytest.mark.parametrize(("arguments", "asked", "rows"), SEARCHES, ids=str)
async def test_a_search_written_for_another_server_is_understood(
    connect, settings_for, catalog_of, text_of, arguments, asked, rows
):
    async with FakeSearxng(results=ROWS) as good:
        async with connect(settings_for(good), catalog_of(good)) as client:
            call = {"fetch_content": False, "results_count": 2, **arguments}
            if "num_results" in arguments:
                del call["results_count"]
            result = await client.call_tool("web_search", call)
    assert not result.is_error, text_of(result)
    (request,) = searches(good)
    assert asked.items() <= request.parameters.items()
    assert request.parameters.get("pageno", "1") == asked.get("pageno", "1")
    assert titles(result) == [f"Row {n}" for n in rows]
    assert all(f"Row {n}" in text_of(result) for n in rows)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"page": 9}, "The list ends before page 9: nothing more was found."),
        ({"offset": 90}, "The list ends before offset 90: nothing more was found."),
        (
            {"blocked_domains": ["example"]},
            "All 10 results were left out by blocked_domains.",
        ),
        (
            {"include_domains": ["x.example", "y.example"]},
            "All 10 results were left out by allowed_domains.",
        ),
        (
            {"exclude_domains": ["h1.example"]},
            "Fewer results than asked for (5 of 10): 5 left out by blocked_domains.",
        ),
    ],
    ids=str,
)
async def test_an_answer_without_results_says_why_in_both_halves(
    connect, settings_for, catalog_of, text_of, arguments, said
):
    async with FakeSearxng(results=ROWS) as good:
        async with connect(settings_for(good), catalog_of(good)) as client:
            call = {"query": "bees", "fetch_content": False, **arguments}
            result = await client.call_tool("web_search", call)
    assert not result.is_error
    assert said in text_of(result)
    assert said in result.structured_content["notes"]


async def test_an_own_instance_is_asked_for_as_many_pages_from_there_on_as_are_wanted(
    connect, settings_for
):
    async with FakeSearxng(results=ROWS, formats=("html", "json")) as own:
        async with connect(settings_for(own, own=[own])) as client:
            call = {"query": "bees", "fetch_content": False, "results_count": 12, "page": 2}
            result = await client.call_tool("web_search", call)
    asked = [request.parameters.get("pageno") for request in searches(own)]
    assert asked == ["2", "3"]
    assert titles(result) == [f"Row {n}" for n in range(11, 23)]
    assert result.structured_content["page"] == 2


FETCHES = [
    ({"urls": ["{}"]}, 0),
    ({"url": "{}", "max_length": 60}, 0),
    ({"url": "{}", "start_index": 30}, 30),
    ({"url": "{}", "max_length": 60, "start_index": 30}, 30),
    ({"url": "{}", "max_chars": 1}, 0),
]


@pytest.mark.parametrize(("arguments", "offset"), FETCHES, ids=str)
async def test_a_fetch_written_for_another_server_is_understood(
    connect, settings_for, text_of, arguments, offset
):
    async with FakeWeb({"/a": FakePage(article("Bees", [TEXT]))}) as web:
        call = json.loads(json.dumps(arguments).replace("{}", web.url("/a")))
        async with connect(settings_for(web)) as client:
            result = await client.call_tool("web_fetch", call)
            whole = await client.call_tool("web_fetch", {"url": web.url("/a")})
    assert not result.is_error, text_of(result)
    data, full = result.structured_content, whole.structured_content["markdown_content"]
    inside = data["markdown_content"].split("\n", 1)[1].rsplit("\n", 1)[0]
    assert 0 < len(inside) <= call.get("max_length", call.get("max_chars", 10**6))
    assert inside in full
    assert data.get("offset", 0) == offset
    assert text_of(result).startswith(f"CONTENT from {web.url('/a')} (")
    if "next_offset" in data:
        assert data["next_offset"] > offset


async def test_of_several_addresses_one_is_read_and_the_calls_for_the_others_are_given(
    connect, settings_for, text_of
):
    page = FakePage(article("Bees", [TEXT]))
    async with FakeWeb({"/a": page, "/b": page, "/c": page}) as web:
        async with connect(settings_for(web)) as client:
            result = await client.call_tool("web_fetch", {"urls": [*web.links]})
            failed = await client.call_tool("web_fetch", {"urls": [web.url("/x"), web.url("/b")]})
        assert [request.path for request in web.requests] == ["/a", "/x"]
    assert text_of(result).endswith(
        "\nOne address is read per call. For the others:\n"
        f'web_fetch {{"url": "{web.url("/b")}"}}\nweb_fetch {{"url": "{web.url("/c")}"}}'
    )
    assert result.structured_content["further_urls"] == [web.url("/b"), web.url("/c")]
    assert failed.is_error
    assert text_of(failed).endswith(f'\nweb_fetch {{"url": "{web.url("/b")}"}}')
    assert failed.structured_content["url"] == web.url("/x")
    assert failed.structured_content["further_urls"] == [web.url("/b")]


async def test_many_long_addresses_do_not_outgrow_the_answer(connect, settings_for, text_of):
    async with FakeWeb({"/a": FakePage(article("Bees", [TEXT * 20]))}) as web:
        further = [f"https://{n}.example/{'path/' * 500}" for n in range(19)]
        async with connect(settings_for(web)) as client:
            result = await client.call_tool("web_fetch", {"urls": [web.url("/a"), *further]})
            near = [f"https://{n}.example/page" for n in range(6)]
            several = await client.call_tool(
                "web_fetch", {"urls": [web.url("/a"), *near[:3], *further[:9], *near[3:]]}
            )
    assert text_of(several).count('\nweb_fetch {"url"') == 6
    assert several.structured_content["further_urls"] == near
    assert tokens_in(text_of(several)) <= 2_000
    assert "Addresses left out here: 19" in text_of(result)
    assert len(text_of(result)) < 12_000


@pytest.mark.parametrize(
    ("tool", "name", "never"),
    [
        ("web_search", "disallowed_domains", "allowed_domains?"),
        ("web_fetch", "no_follow_redirects", "follow_redirects?"),
    ],
)
async def test_an_error_never_proposes_the_opposite(
    connect, settings_for, text_of, tool, name, never
):
    async with connect(settings_for()) as client:
        call = {"query": "x"} if tool == "web_search" else {"url": "https://a.example/"}
        result = await client.call_tool(tool, {**call, name: 1})
    assert f"{name}: is unknown" in text_of(result)
    assert f"did you mean {never}" not in text_of(result)
    assert f"did you mean {never}" not in result.structured_content["error_details"]
