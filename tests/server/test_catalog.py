"""Which tools are published under which names, and what is said of them."""

import json
import re
from typing import Any

import pytest
from mcp import Client
from mcp.types import TextContent

from searx_mcp.server.app import build_server
from searx_mcp.server.tools import catalog, fill_in_names
from searx_mcp.settings.tools import PROFILES, Tool
from searx_mcp.settings.values import Settings
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb
from tests.doubles.counting import tokens_in

FOUR = ("web_search", "web_fetch", "read_page", "answer")
RENAMED = {"web_search": "find", "ingest": "keep"}
SETS = [
    ({}, FOUR),
    ({"profile": "research"}, (*FOUR, "search_corpus", "corpus_status", "ingest")),
    ({"profile": "small"}, ("web_search", "web_fetch")),
    ({"tools": ["answer", "web_search", "answer"]}, ("answer", "web_search")),
    ({"profile": "research", "tools": ["ingest"]}, ("ingest",)),
    ({"tool_prefix": "searx_", "profile": "small"}, ("searx_web_search", "searx_web_fetch")),
    ({"tool_names": RENAMED}, ("find", "web_fetch", "read_page", "answer")),
    (
        {"tool_names": {"web_search": "web_fetch", "web_fetch": "web_search"}},
        ("web_fetch", "web_search", "read_page", "answer"),
    ),
    (
        {"tool_names": RENAMED, "tool_prefix": "_", "tools": ["ingest", "web_search", "web_fetch"]},
        ("keep", "find", "_web_fetch"),
    ),
]


@pytest.mark.parametrize(("server", "names"), SETS, ids=str)
def test_the_published_tools_have_these_names_in_this_order(server, names):
    assert tuple(catalog(Settings.model_validate({"server": server}))) == names


NAMES = {Tool.WEB_SEARCH: "find", Tool.ANSWER: "ask"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Read it. Not for finding pages: use {web_search}.", "Read it. Not for finding pages: use find."),
        ("Search.\nUse for facts. Not for a known URL: use {web_fetch}.\nDone.", "Search.\nUse for facts.\nDone."),
        ("Between {answer} and {ingest}? No matter!", "No matter!"),
        ("{web_fetch} reads.\n{answer} answers, {web_search} finds.", "ask answers, find finds."),
        ("Next: {web_fetch} for more of one.", ""),
        ("Passages that answer a question, e.g.one.", "Passages that answer a question, e.g.one."),
    ],
)  # fmt: skip
def test_tools_have_their_published_names_and_others_are_not_named(text, expected):
    assert fill_in_names(text, NAMES) == expected


MOST_TOKENS = {"default": 1_300, "research": 1_725, "small": 300, "chatgpt": 300}
"""Of what a model sees of the tools, by our estimate, which is above what o200k counts."""


@pytest.mark.parametrize("profile", PROFILES)
async def test_the_tools_of_a_profile_cost_a_model_few_tokens(profile):
    async with Client(build_server(Settings(server={"profile": profile}))) as client:
        tools = (await client.list_tools()).tools
    seen = [f"{tool.name}\n{tool.description}\n{json.dumps(tool.input_schema)}" for tool in tools]
    assert tokens_in("\n".join(seen)) <= MOST_TOKENS[profile]


OTHER_NAMES = {tool: f"name_{number}" for number, tool in enumerate(Tool)}
OWN_NAMES = re.compile("web_search|web_fetch|read_page|search_corpus|corpus_status")


async def all_that_is_said(client: Client) -> str:
    """Everything that a client reads before its first call."""
    tools = (await client.list_tools()).tools
    said = [client.instructions or "", *(tool.model_dump_json() for tool in tools)]
    said.append((await client.get_prompt("research", {"question": "x"})).model_dump_json())
    said.append((await client.read_resource("searx://help")).model_dump_json())
    return "\n".join(said)


@pytest.mark.parametrize("tool", Tool)
async def test_nothing_names_a_tool_that_is_not_published(tool):
    settings = Settings(server={"tools": [tool], "tool_names": OTHER_NAMES})
    async with Client(build_server(settings)) as client:
        said = await all_that_is_said(client)
    assert OWN_NAMES.findall(said) == []
    assert {*re.findall(r"name_\d+", said)} == {OTHER_NAMES[tool]}


LONG = "".join(f"<p>Sentence {n} on what otters eat and where they live.</p>" for n in range(300))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_renamed_tools_are_called_and_name_each_other(connect, settings_for, mode):
    server = {"profile": "small", "tool_prefix": "acme_", "tool_names": {"web_fetch": "open-page"}}
    async with FakeWeb({"/otters": FakePage(f"<h1>Otters</h1>{LONG}")}) as web:
        async with FakeSearxng(links=web.links) as searxng:
            settings = settings_for(web, own=[searxng], server=server)
            async with connect(settings, mode=mode) as client:
                asked: list[tuple[str, dict[str, Any]]] = [("acme_web_search", {"query": "otters"})]
                for call in range(3):
                    name, arguments = asked[call]
                    (content,) = (await client.call_tool(name, arguments)).content
                    assert isinstance(content, TextContent)
                    calls = re.findall(r"^([\w-]+) (\{.*\})$", content.text, re.MULTILINE)
                    name, written = calls[-1]
                    asked.append((name, json.loads(written)))
                assert (await client.call_tool("web_fetch", {"url": web.url("/otters")})).is_error
    assert [name for name, _ in asked] == ["acme_web_search", *["open-page"] * 3]
    offsets = [arguments["offset"] for _, arguments in asked[1:]]
    assert offsets == sorted({*offsets})
