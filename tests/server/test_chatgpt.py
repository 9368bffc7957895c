"""The tools that ChatGPT calls by fixed names: what they give, to the letter, in both eras."""

import json
import re
from typing import Any

import pytest
from mcp import Client
from mcp.types import CallToolResult

from searx_mcp.testing.results import FakeResult
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, redirect
from tests.doubles.counting import tokens_in

ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])
FACT = "A colony stores 27 kilograms of honey for winter."
PARTS = 600
CHATGPT = {"profile": "chatgpt"}
PAGES = {
    "/bees": FakePage(
        "<html lang=en><title>Bees</title><meta name=author content='A. Keeper'>"
        f"<article><h1>Bees</h1><p>{FACT}</p></article></html>"
    ),
    "/long": FakePage(
        "<title>Keeping bees</title><article><h1>Keeping bees</h1>"
        + "".join(f'<p>"Sentence {n}" of {PARTS} says \\what\\ keepers do.</p>' for n in range(PARTS))
        + "</article>"
    ),
    "/untitled": FakePage(f"<article><p>{FACT}</p></article>"),
    "/old": redirect("/bees"),
    "/locked": FakePage("no", status=403),
}  # fmt: skip


@pytest.fixture
async def world():
    """Give a site and an instance that finds its pages."""
    async with FakeWeb(PAGES) as web, FakeSearxng(links=web.links) as own:
        yield web, own


@pytest.fixture
def chatgpt(connect, settings_for, world):
    """Give what opens a client of a server for ChatGPT."""
    web, own = world

    def opened(mode: str = "auto", client: str = "openai-mcp", **server: Any):
        settings = settings_for(web, own=[own], server={**CHATGPT, **server})
        return connect(settings, mode=mode, client_name=client)

    return opened


def both_halves(result: CallToolResult, text: str) -> dict[str, Any]:
    """The object that a result has as text and as structured content."""
    assert not result.is_error
    data: dict[str, Any] = json.loads(text)
    assert result.structured_content == data
    return data


async def found(client: Client, text_of, page_id: str) -> dict[str, Any]:
    result = await client.call_tool("fetch", {"id": page_id})
    return both_halves(result, text_of(result))


def words(document: dict[str, Any]) -> str:
    """What stands inside the fence of a document."""
    fence = re.fullmatch(
        r"<web-content id=(\w+) [^>\n]*>\n(.*)\n</web-content \1>(?:\n.*)?",
        document["text"],
        re.DOTALL,
    )
    assert fence
    return fence[2]


@ERAS
async def test_a_search_gives_an_id_a_title_and_a_url_for_each_result(
    chatgpt, text_of, world, mode
):
    web, _ = world
    async with chatgpt(mode) as client:
        result = await client.call_tool("search", {"query": "bees"})
        data = both_halves(result, text_of(result))
    assert list(data) == ["results"]
    assert [each["url"] for each in data["results"]] == list(web.links)
    for each in data["results"]:
        assert list(each) == ["id", "title", "url"]
        assert each["id"] == each["url"]
        assert "bees" in each["title"]
    assert web.requests == []


@ERAS
async def test_every_result_is_fetched_by_its_id(chatgpt, text_of, world, mode):
    web, _ = world
    async with chatgpt(mode) as client:
        listed = json.loads(text_of(await client.call_tool("search", {"query": "bees"})))
        (page_id,) = [each["id"] for each in listed["results"] if each["url"].endswith("/bees")]
        document = await found(client, text_of, page_id)
    assert list(document) == ["id", "title", "text", "url", "metadata"]
    assert document["id"] == document["url"] == web.url("/bees")
    assert document["title"] == "Bees"
    assert FACT in words(document)
    assert document["text"].endswith(">")
    metadata = document["metadata"]
    assert metadata["author"] == "A. Keeper"
    assert metadata["content_type"] == "text/html"
    assert "next_id" not in metadata
    assert all(isinstance(fact, str) for fact in metadata.values())


@ERAS
async def test_a_long_page_is_read_to_its_end_by_the_ids_it_gives(chatgpt, text_of, world, mode):
    web, _ = world
    page_id, read = web.url("/long"), []
    async with chatgpt(mode, fetch_token_budget=2_000) as client:
        while page_id:
            result = await client.call_tool("fetch", {"id": page_id})
            size = tokens_in(text_of(result))
            document = both_halves(result, text_of(result))
            assert document["id"] == page_id
            assert document["url"] == web.url("/long")
            read.append(words(document))
            following = document["metadata"].get("next_id", "")
            if following:
                assert 1_800 <= size <= 2_000
                assert document["text"].endswith(f"To read on, call fetch with the id {following}")
            assert size <= 2_000
            page_id = following
    sentences = [int(n) for n in re.findall(rf'"Sentence (\d+)" of {PARTS} says', "\n".join(read))]
    assert sentences == list(range(PARTS))
    assert len([request for request in web.requests if request.path == "/long"]) == 1


async def test_a_page_is_named_by_the_url_that_it_was_found_under(chatgpt, text_of, world):
    web, _ = world
    async with chatgpt() as client:
        moved = await found(client, text_of, web.url("/old"))
        untitled = await found(client, text_of, f"0@{web.url('/untitled')}")
    assert (moved["id"], moved["url"]) == (web.url("/old"), web.url("/bees"))
    assert untitled["title"] == untitled["url"] == web.url("/untitled")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ({"id": "{site}/locked"}, "blocked_by_site", "HTTP 403"),
        ({"id": "7@{site}/missing"}, "not_found", "404"),
        ({"id": "nonsense"}, "invalid_argument", "id: must start with http"),
        ({"id": "99999@{site}/bees"}, "invalid_argument", "id: 99999 is past the end"),
        ({"id": "9999999999@{site}/bees"}, "invalid_argument", "id: must start with http"),
        ({"id": "http://10.0.0.1/"}, "blocked_address", "not on the public web"),
        ({"id": " "}, "invalid_argument", "id: is missing"),
        ({}, "invalid_argument", "id: is missing"),
        ({"id": 7}, "invalid_argument", "id: must be one text, not 7"),
        ({"id": ["{site}/bees", "{site}/long"]}, "invalid_argument", "id: must be one text"),
        ({"cursor": "c1"}, "invalid_argument", "cursor: is unknown; known: id"),
    ],
    ids=str,
)
async def test_a_page_that_cannot_be_read_is_a_typed_error(
    chatgpt, text_of, world, arguments, code, said
):
    web, _ = world
    site = web.url("")
    filled = json.loads(json.dumps(arguments).replace("{site}", site.rstrip("/")))
    async with chatgpt() as client:
        result = await client.call_tool("fetch", filled)
    assert result.is_error
    assert f"({code})" in text_of(result)
    assert said in text_of(result)
    assert (result.structured_content or {})["error_type"] == code


@ERAS
async def test_a_search_that_fails_is_a_typed_error(connect, settings_for, text_of, mode):
    settings = settings_for(server=CHATGPT, instances={"own": [], "public": "off"})
    async with connect(settings, mode=mode) as client:
        blank = await client.call_tool("search", {"query": " "})
        failed = await client.call_tool("search", {"query": "bees"})
    for result, code in ((blank, "invalid_argument"), (failed, "no_instances_available")):
        assert result.is_error
        assert f"({code})" in text_of(result)
        assert (result.structured_content or {})["error_type"] == code


@pytest.mark.parametrize("arguments", [{"url": "{}"}, {"ID": "{}"}, {"id": ["{}"]}, {"id": " {} "}])
async def test_other_spellings_of_the_id_are_understood(chatgpt, text_of, world, arguments):
    web, _ = world
    filled = json.loads(json.dumps(arguments).replace("{}", web.url("/bees")))
    async with chatgpt() as client:
        result = await client.call_tool("fetch", filled)
    assert FACT in text_of(result)


async def test_a_search_without_results_is_an_empty_list(connect, settings_for, text_of):
    async with FakeSearxng(results=[]) as own:
        async with connect(settings_for(own=[own], server=CHATGPT)) as client:
            result = await client.call_tool("search", {"query": "bees"})
    assert both_halves(result, text_of(result)) == {"results": []}


async def test_one_result_is_left_however_long_it_is(connect, settings_for, text_of):
    hits = [FakeResult(url=f"https://{n}.example/{'a' * 1_500}") for n in range(3)]
    async with FakeSearxng(results=hits) as own:
        server = {**CHATGPT, "search_token_budget": 300}
        async with connect(settings_for(own=[own], server=server)) as client:
            result = await client.call_tool("search", {"query": "bees"})
    assert len(both_halves(result, text_of(result))["results"]) == 1


async def test_results_beyond_the_budget_are_left_out(connect, settings_for, text_of):
    hits = [FakeResult(title=f"bees {n} " * 9, url=f"https://{n}.example/") for n in range(10)]
    async with FakeSearxng(results=hits) as own:
        server = {**CHATGPT, "search_token_budget": 300}
        async with connect(settings_for(own=[own], server=server)) as client:
            result = await client.call_tool("search", {"query": "bees"})
    listed = both_halves(result, text_of(result))["results"]
    assert 2 <= len(listed) < 10
    assert tokens_in(text_of(result)) <= 300


async def test_a_client_gets_no_more_of_a_page_than_it_shows(chatgpt, text_of, world):
    web, _ = world
    async with chatgpt(
        client="gemini-cli", fetch_token_budget=15_000, fetch_token_limit=20_000
    ) as client:
        result = await client.call_tool("fetch", {"id": web.url("/long")})
    assert tokens_in(text_of(result)) <= 10_000
    assert both_halves(result, text_of(result))["metadata"]["next_id"]


async def test_structured_content_is_left_out_where_it_is_off(chatgpt, text_of, world):
    web, _ = world
    async with chatgpt(structured_output="off") as client:
        result = await client.call_tool("fetch", {"id": web.url("/bees")})
    assert result.structured_content is None
    assert json.loads(text_of(result))["title"] == "Bees"


async def test_results_keep_to_their_published_schemas(chatgpt, text_of, world):
    web, _ = world
    async with chatgpt(structured_output="on") as client:
        tools = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        listed = await client.call_tool("search", {"query": "bees"})
        document = await client.call_tool("fetch", {"id": web.url("/bees")})
        refused = await client.call_tool("fetch", {"id": web.url("/locked")})
    for result, name in ((listed, "search"), (document, "fetch")):
        assert set(result.structured_content or {}) == set((tools[name] or {})["properties"])
    assert refused.is_error


async def test_a_stranger_writes_one_tame_line_of_a_title_and_the_rest_in_a_fence(
    connect, settings_for, text_of, hostile
):
    page = FakePage(
        f"<title>Bees {hostile.words}</title><meta name=author content='{hostile.words}'>"
        f"<article><h1>Bees</h1><p>{hostile.words}</p></article>"
    )
    async with FakeWeb({"/bees": page}) as web:
        hit = FakeResult(title=f"Bees\n\n{hostile.words}", url=web.url("/bees"))
        async with FakeSearxng(results=[hit]) as own:
            async with connect(settings_for(web, own=[own], server=CHATGPT)) as client:
                listed = await client.call_tool("search", {"query": "bees"})
                document = await found(client, text_of, web.url("/bees"))
    ((row,),) = both_halves(listed, text_of(listed)).values()
    for line in (row["title"], document["title"], *document["metadata"].values()):
        assert "\n" not in line
        assert tokens_in(line) <= 60
        assert hostile.breaches(line.replace("obey", "").replace("evil.example", "")) == []
    boundary = document["text"].partition("id=")[2].partition(" ")[0]
    assert hostile.breaches(document["text"], boundary=boundary) == []


async def test_what_reads_on_has_the_published_name(chatgpt, text_of, world):
    web, _ = world
    async with chatgpt(tool_prefix="searx_") as client:
        result = await client.call_tool("searx_fetch", {"id": web.url("/long")})
    assert "To read on, call searx_fetch with the id " in text_of(result)
