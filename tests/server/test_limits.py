"""What a call may take of time and room, whatever it names."""

from typing import Any

import pytest
from typing_extensions import override

from searx_mcp.models.page import Page
from searx_mcp.models.response import SearchResult
from searx_mcp.server.app import build_server
from searx_mcp.settings.values import Settings
from tests.doubles.counting import tokens_in
from tests.doubles.service import PartOfService, found_nothing

WORDS = "é " * 200_000
"""A token and a tenth for two characters."""


class Answering(PartOfService):
    """A service that has one page and so many results for everybody, and keeps what it was asked."""

    def __init__(self, results: int) -> None:
        self.asked: list[Any] = []
        self._results = results

    @override
    async def search(self, request, /, *, progress=None):
        self.asked.append(request)
        result = SearchResult(title="T", url="https://a.example/", score=1.0, description=WORDS)
        return found_nothing(request).model_copy(update={"results": (result,) * self._results})

    @override
    async def fetch(self, request, /, *, progress=None):
        self.asked.append(request)
        return Page(
            url="https://a.example/",
            final_url="https://a.example/",
            title="T",
            content_type="text/html",
            content_length=1,
            status_code=200,
            response_time_ms=1,
            markdown_content=WORDS,
            word_count=1,
        )


@pytest.fixture
def call(connect_to):
    """Calls a tool of a server with these settings; returns what the service was asked, and the text."""

    async def _call(
        tool: str, arguments: dict[str, Any], *, results: int = 1, **settings: Any
    ) -> tuple[Any, str]:
        service = Answering(results)
        server = build_server(Settings.model_validate(settings), service=service)
        async with connect_to(server) as client:
            result = await client.call_tool(tool, arguments)
        (asked,) = service.asked
        return asked, result.content[0].text

    return _call


SEARCH = ("web_search", {"query": "x"})
FETCH = ("web_fetch", {"url": "https://a.example/"})


@pytest.mark.parametrize(
    ("tool", "named", "limit", "seconds"),
    [
        (SEARCH, {}, None, 30),
        (SEARCH, {"timeout": 20}, None, 20),
        (SEARCH, {"timeout": 120}, None, 50),
        (SEARCH, {}, 10, 10),
        (SEARCH, {"timeout": 9}, 10, 9),
        (FETCH, {}, None, None),
        (FETCH, {"timeout": 50}, None, 50),
        (FETCH, {"timeout": 51}, None, 50),
        (FETCH, {"timeout": 9}, 5, 5),
    ],
    ids=range(9),
)
async def test_a_call_ends_before_the_server_does(call, tool, named, limit, seconds):
    name, arguments = tool
    settings = {"server": {"tool_timeout": limit}} if limit else {}
    asked, _ = await call(name, {**arguments, **named}, **settings)
    assert asked.timeout == seconds


@pytest.mark.parametrize(
    ("named", "settings", "chars", "tokens"),
    [
        pytest.param({}, {}, 20_000, 2_000, id="nothing named"),
        pytest.param({"max_chars": 1_000}, {}, 1_000, 1_000, id="characters"),
        pytest.param({"limit": 1_000}, {}, 1_000, 1_000, id="their other name"),
        pytest.param({"max_chars": 100}, {}, 100, 400, id="room for the head"),
        pytest.param({"max_chars": 90_000}, {}, 90_000, 20_000, id="most"),
        pytest.param({"max_chars": 900_000}, {}, 200_000, 20_000, id="most characters"),
        pytest.param({}, {"server": {"fetch_token_budget": 500}}, 5_000, 500, id="configured"),
        pytest.param(
            {},
            {"server": {"fetch_token_budget": 900, "fetch_token_limit": 300}},
            3_000,
            300,
            id="configured limit",
        ),
        pytest.param(
            {}, {"web_fetch": {"default_max_chars": 150}}, 150, 2_000, id="configured characters"
        ),
    ],
)
async def test_a_page_keeps_to_the_size_that_was_named(call, named, settings, chars, tokens):
    asked, text = await call("web_fetch", {"url": "https://a.example/", **named}, **settings)
    assert (asked.max_chars, asked.limit, asked.for_model) == (chars, None, True)
    assert tokens * 0.95 - 20 < tokens_in(text) <= tokens


@pytest.mark.parametrize(
    ("named", "settings", "tokens"),
    [
        ({}, {}, 6_000),
        ({"max_tokens": 500}, {}, 500),
        ({}, {"server": {"search_token_budget": 900}}, 900),
        ({"max_tokens": 1_500}, {"server": {"search_token_budget": 900}}, 1_500),
    ],
)
async def test_a_search_keeps_to_its_room(call, named, settings, tokens):
    asked, text = await call("web_search", {"query": "x", **named}, results=600, **settings)
    assert tokens * 0.9 < tokens_in(text) <= tokens
    assert asked.max_tokens == tokens, "so that it waits for no page that does not fit"
