"""What a call of web_fetch can ask for beyond the text: images, lists, very small parts."""

import json

import pytest

from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb
from tests.doubles.counting import tokens_in

WORDS = "Bees dance to tell each other where the flowers are, and how far. "
BODY = (
    "<title>Bees</title><main><h1>Bees</h1><p>{words}<a href='/hive'>the hive</a></p>"
    "<p><img src='/dance.png' alt='a dance'> Seen in a garden in May.</p>"
    "<pre><code class='language-python'>print('bees')</code></pre>"
    "<div class='note'><p>Mind the bees before you go there.</p></div></main>"
)
SHORT, LONG = (FakePage(BODY.format(words=WORDS * count)) for count in (3, 400))


@pytest.mark.parametrize(
    ("images", "written"),
    [
        ("links", "[image: a dance]({})"),
        ("inline", "![a dance]({})"),
        ("alt", "[image: a dance] Seen"),
        ("none", "\n\nSeen in a garden"),
        (None, "[image: a dance] Seen"),
    ],
)
async def test_a_call_says_what_becomes_of_images(connect, settings_for, text_of, images, written):
    async with FakeWeb({"/a": SHORT}) as web, connect(settings_for(web)) as client:
        await client.call_tool("web_fetch", {"url": web.url("/a")})
        result = await client.call_tool("web_fetch", {"url": web.url("/a"), "images": images})
    shown = written.format(web.url("/dance.png"))
    assert shown in text_of(result)
    assert shown in result.structured_content["markdown_content"]


@pytest.mark.parametrize("page", [SHORT, LONG], ids=["short", "long"])
async def test_images_links_and_code_are_in_the_data_within_the_budget(
    connect, settings_for, text_of, page
):
    async with FakeWeb({"/a": page}) as web, connect(settings_for(web)) as client:
        result = await client.call_tool("web_fetch", {"url": web.url("/a")})
    data = result.structured_content
    assert [image["url"] for image in data["images"]] == [web.url("/dance.png")]
    assert [link["url"] for link in data["links"]] == [web.url("/hive")]
    assert [block["language"] for block in data["code_blocks"]] == ["python"]
    assert tokens_in(json.dumps(data)) <= 2_000 * 1.25
    assert ("NOTE: Mind the bees before you go there." in text_of(result)) is (page is SHORT)


async def test_a_page_is_read_on_character_by_character(connect, settings_for):
    read = ""
    call: dict[str, object] = {}
    async with FakeWeb({"/a": FakePage("<p>Bees dance.</p>")}) as web:
        async with connect(settings_for(web)) as client:
            for _ in range(len("Bees dance.")):
                result = await client.call_tool(
                    "web_fetch", {"url": web.url("/a"), "max_chars": 1, **call}
                )
                data = result.structured_content
                read += data["markdown_content"].split("\n")[1]
                if "next_offset" not in data:
                    break
                call = {"cursor": data["cursor"], "offset": data["next_offset"]}
    assert read == "Bees dance."


async def test_pages_are_asked_not_to_track(connect, settings_for, catalog_of):
    async with FakeWeb({"/a": SHORT}) as web, FakeSearxng(links=web.links) as good:
        async with connect(settings_for(web, good), catalog_of(good)) as client:
            await client.call_tool("web_search", {"query": "bees"})
    (request,) = web.requests
    assert (request.headers["DNT"], request.headers["Sec-GPC"]) == ("1", "1")
