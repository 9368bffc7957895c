"""Which tools are published under which names, and the texts that name them."""

import pytest

from searx_mcp.server.catalog import catalog, told
from searx_mcp.settings.tools import Tool
from searx_mcp.settings.values import Settings

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
    assert told(text, NAMES) == expected
