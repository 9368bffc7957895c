"""Either half of every kind of result alone: the text, or structured content, is enough to go on with.

The server publishes schemas of its results, and the client holds each result against its own.
"""

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any, NamedTuple

import pytest
from mcp import Client
from mcp.types import CallToolResult, TextContent

from searx_mcp.client.facade import SearxClient
from searx_mcp.server.app import build_server
from searx_mcp.settings.values import Settings
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, redirect
from tests.doubles.counting import tokens_in

QUESTION = "How many kilograms of honey does a colony store for winter?"
FACT = "A colony stores 27 kilograms of honey for winter."
DANCE = "Bees dance to tell each other where flowers are."


def chapter(title: str, *last: str) -> str:
    sentences = [f"Sentence {n} of the chapter on {title} says what keepers do." for n in range(60)]
    return f"<h2>{title}</h2>" + "".join(f"<p>{said}</p>" for said in (*sentences, *last))


PAGES = {
    "/long": FakePage(
        "<title>Keeping bees</title><main><h1>Keeping bees</h1>"
        f"{chapter('Hives')}{chapter('Swarms')}{chapter('Winter', FACT)}</main>"
    ),
    "/bees": FakePage(
        f"<title>Bees</title><article><h1>Bees</h1><p>{DANCE}</p>"
        "<p>More on <a href='/winter'>winter honey</a>.</p></article>"
    ),
    "/winter": FakePage(
        f"<title>Winter</title><article><h1>Winter</h1><p>{FACT}</p></article>"
    ),
    "/moved": redirect("/nowhere"),
    "/busy": FakePage("slow", status=429, headers={"Retry-After": "7"}),
    "/locked": FakePage("no", status=403),
}  # fmt: skip

GOOD: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "search with pages": (
        "web_search",
        {"query": "bees"},
        ("bees explained, part 1", "{site}/bees", "worked example", DANCE, "not_found", "404"),
    ),
    "search without pages": (
        "web_search",
        {"query": "bees", "fetch_content": False},
        ("bees explained, part 1", "{site}/bees", "worked example", "{site}/winter", "bee keeping"),
    ),
    "first of more results": (
        "web_search",
        {"query": "bees", "results_count": 2, "fetch_content": False},
        ("bees explained, part 1", "[offset 2]"),
    ),
    "results that follow": (
        "web_search",
        {"query": "bees", "results_count": 1, "offset": 2, "fetch_content": False},
        ("part 3", "[offset 3]"),
    ),
    "search in little room": (
        "web_search",
        {"query": "bees", "max_tokens": 300, "results_count": 2},
        ("bees explained, part 1", "{site}/bees", "more page", "web_fetch"),
    ),
    "long page of a search": (
        "web_search",
        {"query": "keeper", "max_tokens": 1_500},
        ("{site}/long", "of the chapter on", "[cursor]"),
    ),
    "images": (
        "web_search",
        {"query": "bees", "category": "images", "fetch_content": False},
        ("part 1", "{site}/bees", "https://pictures.example.org/bees/1.png", "1920 x 1080"),
    ),
    "several searches": (
        "web_search",
        {"queries": ["bees", "wasps"], "fetch_content": False},
        ("bees explained, part 1", "{site}/bees", "wasps"),
    ),
    "page": ("web_fetch", {"url": "{site}/bees"}, ("Bees", "{site}/bees", DANCE, "{site}/winter")),
    "beginning of a page": (
        "web_fetch",
        {"url": "{site}/long", "max_chars": 600},
        ("Keeping bees", "{site}/long", "Sentence 3 of the chapter on Hives", "[cursor]"),
    ),
    "page with its headings": (
        "web_fetch",
        {"url": "{site}/long"},
        ("Keeping bees", "Hives", "Swarms", "Winter", "[cursor]"),
    ),
    "page with a prompt": (
        "web_fetch",
        {"url": "{site}/long", "prompt": QUESTION, "max_chars": 900},
        ("Keeping bees", "{site}/long", FACT, "[cursor]"),
    ),
    "section": (
        "web_fetch",
        {"url": "{site}/long", "section": "winter", "max_chars": 300},
        ("Keeping bees", "Winter", "Sentence 2 of the chapter on Winter", "[cursor]"),
    ),
    "one of several addresses": (
        "web_fetch",
        {"urls": ["{site}/bees", "{site}/winter"]},
        (DANCE, "{site}/winter"),
    ),
    "passages": (
        "read_page",
        {"url": "{site}/long", "query": QUESTION, "max_results": 2},
        ("Keeping bees", "{site}/long", "Winter", FACT),
    ),
    "passages for two questions": (
        "read_page",
        {"url": "{site}/bees", "queries": ["dance", "zebras"]},
        ("Bees", DANCE, "zebras", "[refusal]"),
    ),
    "answer": (
        "answer",
        {"query": QUESTION, "url": "{site}/bees"},
        ("Winter", "{site}/winter", FACT, "no promising links left"),
    ),
    "answer of a search": (
        "answer",
        {"query": QUESTION},
        ("Winter", "{site}/winter", FACT, "/gone", "not_found"),
    ),
    "answer in little room": (
        "answer",
        {"query": QUESTION, "url": "{site}/long", "expansion_budget": 0, "max_tokens": 700},
        ("Keeping bees", "{site}/long", "Winter", FACT, "no expansion was asked for", " chunks"),
    ),
    "answer in least room": (
        "answer",
        {"query": QUESTION, "url": "{site}/long", "expansion_budget": 0, "max_tokens": 370},
        ("Keeping bees", "{site}/long", "chapter on Winter", "no expansion was asked for"),
    ),
    "kept passages": ("search_corpus", {"query": QUESTION}, ("Winter", "{site}/winter", FACT)),
    "kept pages": ("corpus_status", {}, ("Keeping bees", "{site}/long")),
    "page that is not kept": (
        "corpus_status",
        {"source_url": "https://b.example/"},
        ("https://b.example/", "not indexed: read it first"),
    ),
    "pages kept": (
        "ingest",
        {"url": ["{site}/winter", "{site}/gone"]},
        ("Winter", "{site}/winter", "{site}/gone", "not_found"),
    ),
}  # fmt: skip
"""By kind of result: the tool, its arguments, and what each half has."""

EMPTY: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "search": ("web_search", {"query": "bees"}, ("fewer or more general words",)),
    "answer": ("answer", {"query": "bees"}, ("fewer or more general words",)),
    "kept passages": ("search_corpus", {"query": "bees"}, ("No page is kept yet",)),
    "kept pages": ("corpus_status", {}, ("documents",)),
}

FINAL = "Do not repeat the same call."
FAILED: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "search": ("web_search", {"query": "x", "page": 99}, ("invalid_argument", "page: ", "50")),
    "several wrong": (
        "web_search",
        {"query": "x", "page": 99, "safe_search": "very", "timeout": 0, "sizes": 1},
        ("invalid_argument", "page: 99", "safe_search: 'very'", "timeout: 0", "sizes: is unknown"),
    ),
    "searches": ("web_search", {"queries": []}, ("invalid_argument", "query: ")),
    "no page": ("web_fetch", {"url": "{site}/gone"}, ("not_found", "404", FINAL, "search")),
    "redirected": (
        "web_fetch",
        {"url": "{site}/moved"},
        ("not_found", FINAL, "{site}/nowhere"),
    ),
    "refused": ("web_fetch", {"url": "{site}/locked"}, ("blocked_by_site", FINAL, "another result")),
    "private": ("web_fetch", {"url": "http://10.0.0.1/"}, ("blocked_address", FINAL, "public")),
    "cursor": (
        "web_fetch",
        {"cursor": "abcdefghijklmnop"},
        ("cursor_expired", FINAL, "url of the page"),
    ),
    "no section": (
        "web_fetch",
        {"url": "{site}/long", "section": "Zebras"},
        ("invalid_argument", "section: ", "Swarms"),
    ),
    "page": ("read_page", {"url": "{site}/gone", "query": "x"}, ("not_found", FINAL)),
    "page without a question": ("read_page", {"url": "{site}/bees"}, ("invalid_argument", "query: ")),
    "answer": ("answer", {"url": "{site}/gone", "query": "x"}, ("not_found", FINAL, "memory")),
    "answer of a guess": ("answer", {"query": "x", "intent": "?"}, ("invalid_argument", "factual")),
    "corpus": ("search_corpus", {"query": "x", "top_k": 0}, ("invalid_argument", "top_k: ", "100")),
    "status": ("corpus_status", {"include_urls": "?"}, ("invalid_argument", "include_urls: ")),
    "ingest": ("ingest", {}, ("invalid_argument", "url: ")),
    "busy": ("web_fetch", {"url": "{site}/busy"}, ("rate_limited", "[retry]", "another result")),
}  # fmt: skip

LIMITED: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "search": ("web_search", {"query": "x"}, ("no_instances_available", "[retry]", "settings.yml")),
    "searches": ("web_search", {"queries": ["x", "y"]}, ("no_instances_available", "[retry]")),
    "answer": ("answer", {"query": "x"}, ("no_instances_available", "[retry]", "memory")),
}

WORLDS = {"good": GOOD, "failed": FAILED, "empty": EMPTY, "limited": LIMITED}


NAMES = {
    "web_search": "find_pages",
    "web_fetch": "open_page",
    "read_page": "ask_page",
    "answer": "gather",
    "search_corpus": "ask_kept",
    "corpus_status": "list_kept",
    "ingest": "keep_pages",
}
_WORDS = {"answer", "ingest"}
OWN_NAMES = re.compile(rf"{'|'.join(NAMES.keys() - _WORDS)}|(?:call|use) (?:{'|'.join(_WORDS)})\b")
"""The tools' own names in what we say; two of them are words as well."""

NAMINGS: dict[str, Callable[[str], dict[str, Any]]] = {
    "own": lambda _: {"profile": "research", "structured_output": "on"},
    "renamed": lambda _: {"profile": "research", "tool_names": NAMES},
    "alone": lambda tool: {"tools": [tool], "tool_names": NAMES},
}
"""The settings of the server, by the tool that is called."""


class Results(NamedTuple):
    """A kind of result: what each half is to have, and the result under each naming of the tools."""

    wanted: tuple[str, ...]
    of: dict[str, CallToolResult]


async def all_results() -> dict[tuple[str, str], Results]:
    results: dict[tuple[str, str], Results] = {}
    async with FakeWeb(PAGES) as web, FakeSearxng(results=[]) as empty:
        links = [web.url(path) for path in ("/bees", "/winter", "/gone", "/long")]
        good = FakeSearxng(links=links, suggestions=["bee keeping"])
        async with good, FakeSearxng(status=429) as limited:
            instances = {"good": good, "failed": good, "empty": empty, "limited": limited}
            for world, kinds in WORLDS.items():
                tables = {
                    "instances": {"own": [instances[world].url]},
                    "open_sources": {"mode": "off"},
                    "fetch": {"allow_private": [web.origin]},
                }
                async with AsyncExitStack() as stack:
                    service = SearxClient(Settings.model_validate(tables))
                    await stack.enter_async_context(service)
                    clients: dict[str, Client] = {}
                    for kind, (tool, arguments, wanted) in kinds.items():
                        asked = json.loads(json.dumps(arguments).replace("{site}", web.url("")))
                        told = tuple(each.replace("{site}", web.url("")) for each in wanted)
                        results[world, kind] = Results(told, {})
                        for naming, of_tool in NAMINGS.items():
                            server = of_tool(tool)
                            if (key := json.dumps(server)) not in clients:
                                settings = Settings.model_validate({**tables, "server": server})
                                client = Client(build_server(settings, service=service))
                                clients[key] = await stack.enter_async_context(client)
                            name = tool if naming == "own" else NAMES[tool]
                            result = await clients[key].call_tool(name, asked)
                            results[world, kind].of[naming] = result
    return results


@pytest.fixture(scope="module")
def results() -> Mapping[tuple[str, str], Results]:
    """Give every kind of result, made once."""
    return asyncio.run(all_results())


def text_half(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


CASES = [
    pytest.param(world, kind, id=f"{world}: {kind}")
    for world, kinds in WORLDS.items()
    for kind in kinds
]


@pytest.mark.parametrize(("world", "kind"), CASES)
@pytest.mark.parametrize("half", ["text", "data"])
def test_either_half_alone_is_enough(results, world, kind, half):
    wanted, result = results[world, kind].wanted, results[world, kind].of["own"]
    data: dict[str, Any] = result.structured_content or {}
    said = text_half(result) if half == "text" else json.dumps(data, ensure_ascii=False)
    assert bool(result.is_error) is (world in {"failed", "limited"}), said
    for each in wanted:
        if each == "[cursor]":
            assert ('web_fetch {"cursor": "' if half == "text" else '"cursor": "') in said
            assert ('"offset": ' if half == "text" else '"next_offset": ') in said
        elif each.startswith("[offset"):
            offset = each.strip("[]").removeprefix("offset ")
            assert (
                f"(continue at offset {offset})" if half == "text" else f'"next_offset": {offset}'
            ) in said
        elif each == "[refusal]":
            assert ('does not answer "' if half == "text" else '"answered": false') in said
        elif each == "[retry]":
            assert ("Retry in " if half == "text" else '"retry_after": ') in said
            assert '"retry_after": null' not in said
        else:
            assert each.casefold() in said.casefold(), said


@pytest.mark.parametrize(("world", "kind"), CASES)
def test_neither_half_is_much_longer_than_it_may_be(results, world, kind):
    result = results[world, kind].of["own"]
    tool, arguments, _ = WORLDS[world][kind]
    most = arguments.get("max_tokens", 2_000 if tool == "web_fetch" else 8_000)
    assert tokens_in(text_half(result)) <= most
    # Names and quotation marks come on top of a text that was cut for a model.
    assert tokens_in(json.dumps(result.structured_content)) <= most * 1.5 + 150


@pytest.mark.parametrize(("world", "kind"), CASES)
def test_a_result_names_published_tools_alone_and_as_they_are_published(results, world, kind):
    wanted, of = results[world, kind]
    tool, _, _ = WORLDS[world][kind]
    for naming, others in (("renamed", set()), ("alone", {*NAMES.values()} - {NAMES[tool]})):
        said = f"{text_half(of[naming])}\n{json.dumps(of[naming].structured_content)}"
        assert OWN_NAMES.findall(said) == []
        assert [name for name in others if name in said] == []
    if "[cursor]" in wanted:
        assert 'open_page {"cursor": "' in text_half(of["renamed"])
