"""Long pages over MCP: read on with the cursor, from either channel alone."""

import json
import re
from typing import Any

import pytest
from mcp.types import CallToolResult

from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb
from tests.doubles.counting import tokens_in
from tests.server.conftest import text

LONG = FakePage(
    "<html><head><title>Long</title></head><body><main><h1>Long</h1>"
    + "".join(
        f"<h2 id=part{part}>Part {part}</h2>"
        + "".join(f"<p>Sentence {n} of part {part}, which is about bees.</p>" for n in range(90))
        for part in range(6)
    )
    + "</main></body></html>"
)


def next_call(last_line: str) -> dict[str, Any]:
    name, _, arguments = last_line.partition(" ")
    assert name == "web_fetch"
    call: dict[str, Any] = json.loads(arguments)
    return call


def passage(result: CallToolResult) -> str:
    """The words of the page in a text answer."""
    inside = text(result).partition("trust=untrusted>\n")[2].partition("\n</web-content")[0]
    about, _, words = inside.partition("\n\n")
    assert about.startswith("Title: Long")
    return words.rpartition("Text:\n\n")[2]


@pytest.mark.parametrize("channel", ["text", "structured"])
async def test_a_page_is_read_to_its_end_from_one_channel_alone(connect, settings_for, channel):
    async with FakeWeb({"/long": LONG}) as web, connect(settings_for(web)) as client:
        call: dict[str, Any] | None = {"url": web.url("/long")}
        seen = ""
        while call is not None:
            result = await client.call_tool("web_fetch", call)
            assert not result.is_error
            assert tokens_in(text(result)) <= 2_000
            data: dict[str, Any] = result.structured_content or {}
            seen += passage(result) if channel == "text" else data["markdown_content"]
            last = text(result).splitlines()[-1]
            if channel == "text":
                call = next_call(last) if last.startswith("web_fetch") else None
            else:
                offset = data.get("next_offset")
                call = None if offset is None else {"cursor": data["cursor"], "offset": offset}
    assert len(web.requests) == 1
    assert [line for line in seen.splitlines() if line.startswith("Sentence")] == [
        f"Sentence {n} of part {part}, which is about bees." for part in range(6) for n in range(90)
    ]


async def test_a_cut_page_has_its_headings_with_offsets_in_both_channels(connect, settings_for):
    async with FakeWeb({"/long": LONG}) as web, connect(settings_for(web)) as client:
        result = await client.call_tool("web_fetch", {"url": web.url("/long")})
        data = result.structured_content or {}
        part = next(item for item in data["outline"] if item["title"] == "Part 4")
        assert f"## Part 4 ({part['offset']})" in text(result)
        there = await client.call_tool(
            "web_fetch", {"cursor": data["cursor"], "offset": part["offset"]}
        )
    assert passage(there).startswith("## Part 4")


def guide(parts: int, words: str) -> FakePage:
    """A page whose last part but one answers, and about 800 characters for each part."""
    sections = "".join(
        f"<h2>Part {part}</h2><h3>Notes of {part}</h3>"
        f"<p>{f'A sentence of part {part} about bees and their hives. ' * 14}</p>"
        + (f"<p>{words}</p>" if part == parts - 2 else "<p>Old queens leave.</p>" * (part == 1))
        for part in range(parts)
    )
    return FakePage(f"<title>Guide</title><main><h1>Guide</h1>{sections}</main>")


@pytest.mark.parametrize("parts", [12, 60], ids="{} parts".format)
async def test_the_passage_that_answers_is_shown_wherever_it_stands(connect, settings_for, parts):
    answer = "A queen lays two thousand eggs a day in June."
    pages = {"/guide": guide(parts, answer)}
    async with FakeWeb(pages) as web, connect(settings_for(web)) as client:
        call = {"url": web.url("/guide"), "prompt": "how many eggs does the queen lay?"}
        asked = await client.call_tool("web_fetch", call)
        data = asked.structured_content or {}
        for half in (text(asked), data["markdown_content"]):
            assert answer in half
            before = half.partition(answer)[0].rpartition("\n\n…\n\n")[2]
            assert re.match(r"\[(Part \d+ > .+, )?from character \d+\]\n\n", before)
            assert f"## Part {parts - 2}" in before
            assert "Old queens leave." in half
        assert 1_800 <= tokens_in(text(asked)) <= 2_000
        assert {"summary", "key_points"}.isdisjoint(data)
        assert next_call(text(asked).splitlines()[-1]) == {
            "cursor": data["cursor"],
            "offset": data["next_offset"],
        }
        rest = await client.call_tool(
            "web_fetch", {"cursor": data["cursor"], "offset": data["next_offset"]}
        )
    assert "Guide" in text(rest)
    assert len(web.requests) == 1


async def test_a_page_without_the_words_of_the_prompt_is_shown_from_its_beginning(
    connect, settings_for
):
    async with FakeWeb({"/long": LONG}) as web, connect(settings_for(web)) as client:
        asked = await client.call_tool("web_fetch", {"url": web.url("/long"), "prompt": "zebra"})
    assert passage(asked).startswith("# Long")
    assert "## Part 4 (" in text(asked), "the headings"


async def test_a_section_that_is_too_long_is_read_by_a_prompt_too(connect, settings_for):
    async with FakeWeb({"/long": LONG}) as web, connect(settings_for(web)) as client:
        call = {"url": web.url("/long"), "section": "Part 3", "prompt": "sentence 71"}
        asked = await client.call_tool("web_fetch", call)
    assert "Sentence 71 of part 3" in text(asked)
    assert "part 4" not in text(asked)


async def test_a_model_cannot_switch_robots_off(connect, settings_for):
    robots = FakePage("User-agent: *\nDisallow: /", content_type="text/plain")
    async with FakeWeb({"/long": LONG, "/robots.txt": robots}) as web:
        async with connect(settings_for(web)) as client:
            forbidden = await client.call_tool("web_fetch", {"url": web.url("/long")})
            asked = await client.call_tool(
                "web_fetch", {"url": web.url("/long"), "ignore_robots": True}
            )
            claimed = await client.call_tool(
                "web_fetch", {"url": web.url("/long"), "by_person": True}
            )
    assert "robots_disallowed" in text(forbidden)
    assert tokens_in(text(forbidden)) <= 120
    assert "ignore_robots" in text(asked)
    assert "by_person" in text(claimed)
    assert web.requests == []


@pytest.mark.parametrize("channel", ["text", "structured"])
async def test_a_cut_page_among_search_results_is_read_on_with_its_cursor(
    connect, settings_for, catalog_of, channel
):
    async with FakeWeb({"/long": LONG}) as web, FakeSearxng(links=web.links) as good:
        async with connect(settings_for(web, good), catalog_of(good)) as client:
            found = await client.call_tool("web_search", {"query": "bees", "max_tokens": 1_200})
            if channel == "text":
                (line,) = [ln for ln in text(found).splitlines() if ln.startswith("web_fetch {")]
                call = next_call(line)
            else:
                content = (found.structured_content or {})["results"][0]["content"]
                call = {"cursor": content["cursor"], "offset": content["next_offset"]}
            rest = await client.call_tool("web_fetch", call)
    assert not rest.is_error
    assert len(web.requests) == 1
    assert f"Shown: characters {call['offset']} to" in text(rest)


@pytest.mark.parametrize("channel", ["text", "structured"])
async def test_a_search_shows_the_passage_that_fits_wherever_it_stands_in_the_page(
    connect, settings_for, channel
):
    parts = [
        f"<h2>Part {n}</h2>" + "<p>Bees live in hives and fly out of them.</p>" * 40
        for n in range(9)
    ]
    parts[7] += "<h2>Swarming</h2><p>A swarm leaves the hive with the old queen in May.</p>"
    late = FakePage(f"<html><body><main><h1>Bees</h1>{''.join(parts)}</main></body></html>")
    async with FakeWeb({"/late": late, "/long": LONG}) as web:
        async with FakeSearxng(links=web.links, formats=["json"]) as fake:
            async with connect(settings_for(web, fake, own=[fake])) as client:
                found = await client.call_tool(
                    "web_search", {"query": "bees swarm queen", "max_tokens": 1_200}
                )
    shown = text(found)
    if channel == "structured":
        contents = [r.get("content") for r in (found.structured_content or {})["results"]]
        shown = "\n".join(content["markdown"] for content in contents if content)
        assert all(content["summary"] == "" for content in contents if content)
    assert "A swarm leaves the hive with the old queen in May." in shown
    assert re.search(r"\n\[(?:[^\n]+, )?from character \d+\]\n", shown)


@pytest.mark.parametrize("channel", ["text", "structured"])
async def test_a_page_without_room_is_told_by_the_passage_that_fits(connect, settings_for, channel):
    def page(insect: str) -> FakePage:
        parts = [
            f"<h2>Part {n}</h2>" + f"<p>{insect} live in nests and fly out of them.</p>" * 20
            for n in range(6)
        ]
        parts[4] += f"<h2>Winter</h2><p>In the winter {insect} sleep under the old leaves.</p>"
        return FakePage(f"<body><main><h1>{insect}</h1>{''.join(parts)}</main></body>")

    pages = {f"/{insect}": page(insect) for insect in ("Wasps", "Hornets", "Ants", "Bumblebees")}
    async with FakeWeb(pages) as web, FakeSearxng(links=web.links, formats=["json"]) as fake:
        settings = settings_for(web, fake, own=[fake], web_search={"summarize_long_content": False})
        async with connect(settings) as client:
            found = await client.call_tool(
                "web_search", {"query": "insects winter leaves sleep", "max_tokens": 450}
            )
    if channel == "text":
        told = re.findall(r"^ *Page: (.*)$", text(found), re.MULTILINE)
    else:
        contents = [r.get("content") for r in (found.structured_content or {})["results"]]
        told = [content["summary"] for content in contents if content and not content["markdown"]]
    # How much of it has room hangs on the numbers of ports.
    assert told
    assert all(line.startswith("In the winter ") for line in told)
