"""Every argument of every tool, as models write it that do not keep to a schema.

`test_arguments.py` has what single arguments take and refuse; here is what holds for all of them.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import pytest

from searx_mcp.arguments import SearchDefaults, parse_corpus, parse_fetch, parse_search
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.evidence.requests import (
    AnswerRequest,
    CorpusSearchRequest,
    IngestRequest,
    ReadRequest,
    StatusRequest,
)
from searx_mcp.models.argument import arguments_of
from searx_mcp.models.base import Frozen
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.request import SearchRequest
from searx_mcp.settings.tools import Tool

URL = "https://example.org/a"
TOOLS: dict[str, tuple[type[Frozen], Callable[[Mapping[str, object]], Frozen], dict[str, Any]]] = {
    "web_search": (SearchRequest, partial(parse_search, defaults=SearchDefaults()), {"query": "a"}),
    "web_fetch": (FetchRequest, parse_fetch, {"url": URL}),
    "read_page": (ReadRequest, partial(parse_corpus, ReadRequest), {"url": URL, "query": "a"}),
    "answer": (AnswerRequest, partial(parse_corpus, AnswerRequest), {"query": "a"}),
    "search_corpus": (CorpusSearchRequest, partial(parse_corpus, CorpusSearchRequest), {"query": "a"}),
    "corpus_status": (StatusRequest, partial(parse_corpus, StatusRequest), {}),
    "ingest": (IngestRequest, partial(parse_corpus, IngestRequest), {"url": URL}),
}  # fmt: skip
"""By tool: its request, what reads its arguments, and the least call."""

PLAIN: dict[str, dict[str, Any]] = {
    "web_search": {
        "query": "tokio select", "category": "news", "language": "de", "results_count": 7,
        "fetch_content": False, "safe_search": 2, "time_range": "week",
        "allowed_domains": ["example.org"], "blocked_domains": ["example.org", "example.net"],
        "engines": ["bing", "brave"], "search_prompt": "what is new", "source": "open",
        "timeout": 9, "max_tokens": 900, "page": 3, "offset": 20, "queries": ["b", "c"],
    },
    "web_fetch": {
        "url": [URL, "https://example.org/b"], "timeout": 9, "follow_redirects": False,
        "max_content_length": 4096, "user_agent": "probe/1", "cursor": "abcdefghijklm234",
        "offset": 7, "limit": 900, "max_chars": 900, "section": "Install", "prompt": "which option",
        "images": "links", "force_refresh": True,
    },
    "read_page": {
        "url": URL, "query": "which option", "queries": ["b", "c"], "force_refresh": True,
        "max_results": 3, "include_metadata": True, "timeout": 9, "max_tokens": 900,
    },
    "answer": {
        "query": "which option", "url": [URL], "urls": [URL, "https://example.org/b"],
        "intent": "how_to", "known_context": "none yet", "constraints": ["code", "version 2"],
        "expansion_budget": 4, "timeout": 9, "max_tokens": 900,
    },
    "search_corpus": {
        "query": "which option", "source_urls": [URL], "intent": "factual", "top_k": 5,
        "max_tokens": 900,
    },
    "corpus_status": {"source_url": URL, "include_urls": False},
    "ingest": {"url": [URL, "https://example.org/b"], "force_refresh": True, "timeout": 9},
}  # fmt: skip
"""A value of each argument, of the type of the schema; lists have one entry or two."""

COMMA_LISTS = {"allowed_domains", "blocked_domains", "engines"}
ARGUMENTS = [(tool, name) for tool, values in PLAIN.items() for name in values]


def parsed(tool: str, arguments: Mapping[str, object]) -> dict[str, Any]:
    _, parse, least = TOOLS[tool]
    # Two ways to say where to begin are one too many, and a cursor does without an address.
    base = {} if "cursor" in arguments else least
    return parse({**base, **arguments}).model_dump()


def others(name: str, value: Any) -> Iterator[object]:
    """The same value in the types and spellings in which models send it."""
    match value:
        case bool():
            yield from (str(value), str(value).lower(), str(value).upper(), f" {value} ")
            yield from (int(value), float(value), str(int(value)), "yes" if value else "no")
            yield "on" if value else "off"
        case int():
            yield from (str(value), f" {value} ", float(value))
            if name != "safe_search":
                yield from (f"{value}.0", f"+{value}")
        case str():
            yield f" {value}\n" if name != "user_agent" else value
        case list():
            yield from (tuple(value), json.dumps(value), f" {json.dumps(value)}")
            yield [*value, ""]
            if len(value) == 1:
                yield value[0]
            if name in COMMA_LISTS:
                yield from (",".join(value), ", ".join(value), f"{', '.join(value)},")
        case _:
            raise AssertionError(f"{name} has a value of a type that no schema has")


VALUES = [
    pytest.param(tool, name, other, id=f"{tool} {name}={other!r:.40} {number}")
    for tool, name in ARGUMENTS
    for number, other in enumerate(others(name, PLAIN[tool][name]))
]


def test_the_table_has_every_argument_of_every_tool() -> None:
    # ChatGPT's two take one argument each, which is one of `web_search` or `web_fetch`.
    assert TOOLS.keys() == {*Tool} - {Tool.SEARCH, Tool.FETCH}
    for tool, (request, _, _) in TOOLS.items():
        declared = arguments_of(request).items()
        named = {name for name, each in declared if not each.argument.by_person}
        assert set(PLAIN[tool]) == named


@pytest.mark.parametrize(("tool", "name", "other"), VALUES)
def test_a_value_in_another_type_means_the_same(tool: str, name: str, other: object) -> None:
    assert parsed(tool, {name: other}) == parsed(tool, {name: PLAIN[tool][name]})


def spellings(name: str) -> Iterator[str]:
    first, *rest = name.split("_")
    yield from (name.upper(), name.replace("_", "-"), name.replace("_", " "), f" {name} ")
    yield first + "".join(map(str.title, rest))
    yield name.title().replace("_", "")


@pytest.mark.parametrize(("tool", "name"), ARGUMENTS)
def test_a_name_in_another_spelling_is_the_same_argument(tool: str, name: str) -> None:
    value = PLAIN[tool][name]
    least = {key: said for key, said in TOOLS[tool][2].items() if key != name}
    for spelling in spellings(name):
        assert (
            TOOLS[tool][1]({**least, spelling: value}).model_dump()
            == TOOLS[tool][1]({**least, name: value}).model_dump()
        )


NOTHING: list[tuple[str, str, Any]] = [
    (tool, name, nothing)
    for tool, name in ARGUMENTS
    for nothing in (None, "", " ", *([[], "[]"] if isinstance(PLAIN[tool][name], list) else []))
]


@pytest.mark.parametrize(("tool", "name", "nothing"), NOTHING)
def test_nothing_is_as_if_the_argument_were_not_there(tool: str, name: str, nothing: Any) -> None:
    _, parse, least = TOOLS[tool]
    if name in least:
        with pytest.raises(InvalidArgumentError) as caught:
            parse({**least, name: nothing})
        assert caught.value.field == name
    else:
        assert parse({**least, name: nothing}) == parse(least)
