"""Arguments of calls to the corpus, as models, people and programs write them."""

import json
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.arguments import CorpusRequest, corpus_schema, parse_corpus
from searx_mcp.errors import ErrorCode, InvalidArgumentError
from searx_mcp.evidence.requests import (
    AnswerArguments,
    AnswerRequest,
    CorpusSearchArguments,
    CorpusSearchRequest,
    IngestRequest,
    Intent,
    ReadArguments,
    ReadRequest,
    StatusRequest,
)
from searx_mcp.models.argument import arguments_of
from searx_mcp.models.base import Frozen

PAGE = "https://example.org/"
LEAST: dict[type[Any], dict[str, object]] = {
    ReadRequest: {"url": PAGE, "query": "bees"},
    AnswerRequest: {"query": "bees"},
    CorpusSearchRequest: {"query": "bees"},
    StatusRequest: {},
    IngestRequest: {"url": PAGE},
}


def refusal(request: type[CorpusRequest], raw: dict[str, object]) -> InvalidArgumentError:
    with pytest.raises(InvalidArgumentError) as caught:
        parse_corpus(request, raw)
    assert caught.value.code is ErrorCode.INVALID_ARGUMENT
    return caught.value


@pytest.mark.parametrize(
    ("request_type", "written", "value", "name", "read"),
    [
        (ReadRequest, "forceRefresh", "true", "force_refresh", True),
        (ReadRequest, "force-refresh", 1, "force_refresh", True),
        (ReadRequest, "maxResults", "12", "max_results", 12),
        (ReadRequest, "top_k", 3.0, "max_results", 3),
        (ReadRequest, "includeMetadata", "yes", "include_metadata", True),
        (ReadRequest, "queries", "wasps", "queries", ("wasps",)),
        (ReadRequest, "queries", '["wasps", "ants", "wasps"]', "queries", ("wasps", "ants")),
        (ReadRequest, "queries", [" two  words ", ""], "queries", ("two words",)),
        (AnswerRequest, "url", "example.org", "url", ("https://example.org",)),
        (AnswerRequest, "url", [PAGE, PAGE], "url", (PAGE,)),
        (AnswerRequest, "urls", f'["{PAGE}"]', "urls", (PAGE,)),
        (AnswerRequest, "url", "", "url", ()),
        (AnswerRequest, "url", [], "url", ()),
        (AnswerRequest, "intent", "how-to", "intent", Intent.HOW_TO),
        (AnswerRequest, "intent", "How to", "intent", Intent.HOW_TO),
        (AnswerRequest, "intent", "", "intent", None),
        (AnswerRequest, "constraints", "must include code", "constraints", ("must include code",)),
        (AnswerRequest, "knownContext", "one\n\n two  three", "known_context", "one\ntwo three"),
        (AnswerRequest, "expansionBudget", "0", "expansion_budget", 0),
        (AnswerRequest, "expansion_budget", None, "expansion_budget", None),
        (CorpusSearchRequest, "topK", "5", "top_k", 5),
        (CorpusSearchRequest, "sourceUrls", PAGE, "source_urls", (PAGE,)),
        (StatusRequest, "url", [PAGE], "source_url", PAGE),
        (StatusRequest, "includeUrls", "false", "include_urls", False),
        (IngestRequest, "urls", [PAGE, "example.net"], "url", (PAGE, "https://example.net")),
    ],
)
def test_an_argument_has_many_spellings(
    request_type: type[Any], written: str, value: object, name: str, read: object
) -> None:
    raw = {**LEAST[request_type], written: value}
    if name == "url" and written != "url":
        del raw["url"]
    assert getattr(parse_corpus(request_type, raw), name) == read


@pytest.mark.parametrize(
    ("request_type", "raw", "name", "both"),
    [
        (ReadRequest, {"url": PAGE, "query": ["a", "b"], "queries": ["b", "c"]}, "questions", ("a", "b", "c")),
        (
            AnswerRequest, {"query": "x", "url": "a.example", "urls": ["https://a.example", "b.example"]},
            "addresses", ("https://a.example", "https://b.example"),
        ),
    ],
)  # fmt: skip
def test_what_two_arguments_say_is_taken_once(
    request_type: type[Any], raw: dict[str, object], name: str, both: tuple[str, ...]
) -> None:
    assert getattr(parse_corpus(request_type, raw), name) == both


@pytest.mark.parametrize(
    ("request_type", "raw", "field", "message"),
    [
        (ReadRequest, {}, "url", "is missing; give the address of the page"),
        (ReadRequest, {"url": PAGE}, "query", "is missing; say what you want to know"),
        (ReadRequest, {"url": PAGE, "query": ""}, "query", "is missing"),
        (ReadRequest, {"url": PAGE, "query": [""]}, "query", "is empty"),
        (ReadRequest, {"url": PAGE, "query": ["x"] * 21}, "query", "has 21 entries; at most 20"),
        (ReadRequest, {"url": PAGE, "query": "x" * 2_001}, "query", "has 2,001 characters"),
        (ReadRequest, {"url": PAGE, "query": "x", "maxResults": 51}, "maxResults", "from 1 to 50"),
        (ReadRequest, {"url": f"{PAGE}{'x' * 5_000}", "query": "x"}, "url", "at most 4,096"),
        (ReadRequest, {"url": [PAGE, "example.net"], "query": "x"}, "url", "is not an address"),
        (AnswerRequest, {"url": PAGE}, "query", "is missing"),
        (AnswerRequest, {"query": "x", "intent": "why"}, "intent", "is not one of factual"),
        (AnswerRequest, {"query": "x", "expansion_budget": 21}, "expansion_budget", "0 to 20"),
        (AnswerRequest, {"query": "x", "urls": [f"{PAGE}{'x' * 5_000}"]}, "urls", "at most 4,096"),
        (AnswerRequest, {"query": "x", "constraints": ["x"] * 11}, "constraints", "at most 10"),
        (AnswerRequest, {"query": "x", "known": "x\n" * 10_001}, "known", "20,002 char"),
        (AnswerRequest, {"query": "x", "depth": 3}, "depth", "is unknown; known: query, url"),
        (CorpusSearchRequest, {}, "query", "is missing"),
        (StatusRequest, {"source_url": 5}, "source_url", "5 is not an address"),
        (IngestRequest, {"url": ""}, "url", "is missing"),
    ],
)  # fmt: skip
def test_a_wrong_call_is_told_which_argument_and_what_to_do(
    request_type: type[Any], raw: dict[str, object], field: str, message: str
) -> None:
    error = refusal(request_type, raw)
    assert error.field == field
    assert message in str(error)


@given(
    request_type=st.sampled_from(list(LEAST)),
    arguments=st.dictionaries(
        st.sampled_from([*arguments_of(ReadRequest), *arguments_of(AnswerRequest), "source_urls"]),
        st.one_of(
            st.none(), st.booleans(), st.integers(), st.text(max_size=60),
            st.lists(st.one_of(st.text(max_size=9), st.integers()), max_size=4),
        ),
        max_size=4,
    ),
)  # fmt: skip
def test_anything_becomes_a_request_or_a_short_error(
    request_type: type[Any], arguments: dict[str, object]
) -> None:
    told = [""]
    try:
        parse_corpus(request_type, arguments)
    except InvalidArgumentError as error:
        told = [str(error), *map(": ".join, error.problems)]
    # The whole, of which four wrong ones and a missing one have made 400, and each problem in it.
    assert not [one for place, one in enumerate(told) if len(one) >= (170 if place else 500)]


@pytest.mark.parametrize("request_type", LEAST, ids=lambda kind: kind.__name__)
def test_a_schema_uses_only_what_every_client_reads(request_type: type[Any]) -> None:
    text = json.dumps(corpus_schema(request_type))
    assert not any(word in text for word in ("anyOf", "$ref", "additionalProperties", "null"))
    assert all("type" in rules for rules in json.loads(text)["properties"].values())


@pytest.mark.parametrize(
    ("request_type", "keywords", "given"),
    [
        (ReadRequest, ReadArguments, {"url"}),
        (AnswerRequest, AnswerArguments, {"query"}),
        (CorpusSearchRequest, CorpusSearchArguments, {"query"}),
    ],
)
def test_the_keywords_of_the_module_are_the_arguments(
    request_type: type[Frozen], keywords: type[Any], given: set[str]
) -> None:
    assert {*get_type_hints(keywords)} | given == {*arguments_of(request_type)}
