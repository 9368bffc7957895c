"""Arguments as models and people write them, and the requests they become."""

import json
import tracemalloc
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.arguments import (
    SearchDefaults,
    check_profile,
    fetch_schema,
    parse_corpus,
    parse_fetch,
    parse_search,
    search_schema,
)
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.evidence.requests import ReadRequest
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.request import Category, SearchRequest, TimeRange

MEGABYTE = 1_048_576


def search(**arguments: Any) -> SearchRequest:
    return parse_search({"query": "rust", **arguments}, defaults=SearchDefaults())


def fetch(**arguments: Any) -> FetchRequest:
    return parse_fetch({"url": "https://example.org/", **arguments})


def refusal(parse: Any, arguments: Mapping[str, Any]) -> InvalidArgumentError:
    with pytest.raises(InvalidArgumentError) as caught:
        parse(**arguments)
    return caught.value


def test_a_query_or_an_address_alone_takes_the_defaults() -> None:
    assert search() == SearchRequest(query="rust")
    assert fetch() == FetchRequest(url="https://example.org/")


def test_an_address_has_many_names_and_of_several_the_first_is_read() -> None:
    several = ["https://example.org/a", "example.net", "https://example.org/a"]
    for name in ("uri", "urls", "link", "URL"):
        assert parse_fetch({name: "example.org"}).url == "https://example.org"
    for written in (several, json.dumps(several)):
        request = parse_fetch({"urls": written})
        assert request.url == "https://example.org/a"
        assert request.further_urls == ("https://example.net",)


def test_a_page_and_an_offset_do_not_go_together() -> None:
    error = refusal(search, {"pageno": 2, "start": 10})
    assert error.field == "start"
    assert "start: cannot be combined with pageno: both say where to begin" in error.message
    assert search(page=1, offset=10) == search(offset=10)
    assert search(page=2, offset=0).page == 2


@pytest.mark.parametrize("blank", ["", " "])
def test_an_empty_address_beside_a_cursor_is_none(blank: str) -> None:
    cursor = "abcdefghijklm234"
    assert fetch(url=blank, cursor=cursor) == parse_fetch({"cursor": cursor})
    assert parse_fetch({"uri": blank, "cursor": cursor}) == parse_fetch({"cursor": cursor})
    assert fetch(cursor=cursor).url == "https://example.org/"


@pytest.mark.parametrize(
    ("parse", "arguments", "field", "message"),
    [
        (search, {"result_count": 5}, "result_count", "(did you mean results_count?)"),
        (search, {"includes_domains": []}, "include", "(did you mean allowed_domains?)"),
        (search, {"domains_excluded": []}, "domains", "is unknown; known"),
        (search, {"disallowed_domains": []}, "disallowed", "(did you mean blocked_domains?)"),
        (search, {"dont_fetch_content": 1}, "dont_fetch_content", "is unknown; known"),
        (search, {"min_tokens": 1}, "min_tokens", "is unknown; known"),
        (fetch, {"noFollowRedirects": 1}, "noFollowRedirects", "is unknown; known"),
        (search, {"zzz": 5}, "zzz", "is unknown; known: query, category, language"),
        (search, {"zzz": None}, "zzz", "is unknown"),
        (search, {"url": "x"}, "url", "is unknown"),
        (fetch, {"recency": "day"}, "recency", "known: url, cursor, offset, limit"),
        (fetch, {"user_agents": "a"}, "user_agents", "(did you mean user_agent?)"),
        (search, {"a" * MEGABYTE: 5}, "a" * 56 + "...", "is unknown"),
        (search, {"\ud800\n": 5}, "\\ud800\\n", "is unknown"),
        (search, {"count": 5, "limit": 5}, "limit", "is the same as count; give one"),
        (search, {"time_range": "", "recency": "day"}, "recency", "is the same as time_range"),
        (search, {"QUERY": "go"}, "QUERY", "is the same as query"),
        (
            search,
            {"allowedDomains": "a.example", "blockedDomains": "https://A.example/"},
            "blockedDomains",
            "'a.example' is also in allowedDomains",
        ),
    ],
)
def test_what_does_not_go_together_or_is_unknown_is_refused(
    parse: Any, arguments: Mapping[str, Any], field: str, message: str
) -> None:
    error = refusal(parse, arguments)
    assert error.field.startswith(field[:50])
    assert message in error.message
    assert len(error.message) < 350


def test_all_that_is_wrong_with_a_call_is_told_at_once() -> None:
    written = {"maxResults": 99, "zzz": 1, "yyy": 2, "recency": "soon", "page": 2, "offset": 5}
    error = refusal(parse_search, {"raw": written, "defaults": SearchDefaults()})
    assert [name for name, _ in error.problems] == [
        "zzz", "yyy", "query", "maxResults", "recency", "offset",
    ]  # fmt: skip
    assert error.field == "zzz"
    assert error.message.count("known: ") == 1
    error = refusal(parse_fetch, {"raw": {"limit": -1, "timeout": "x", "prompts": 1}})
    assert {name for name, _ in error.problems} == {"limit", "timeout", "prompts", "url"}
    error = refusal(parse_corpus, {"request": ReadRequest, "raw": {"intent": 1, "max_results": 0}})
    assert {name for name, _ in error.problems} == {"intent", "url", "query", "max_results"}


def test_of_very_many_wrong_arguments_some_are_told_and_the_others_counted() -> None:
    error = refusal(search, {f"no{n}": n for n in range(30_000)})
    assert len(error.problems) == 8
    assert error.message.endswith("; and 29992 more")
    assert len(error.message) < 1_200


def test_a_null_does_not_collide_with_another_spelling() -> None:
    assert search(results_count=None, limit=3).results_count == 3


@pytest.mark.parametrize(("parse", "name"), [(parse_search, "query"), (parse_fetch, "url")])
def test_the_required_argument_is_asked_for(parse: Any, name: str) -> None:
    options = {"defaults": SearchDefaults()} if parse is parse_search else {}
    for arguments in ({}, {name: None}):
        with pytest.raises(InvalidArgumentError, match=f"^{name}: is missing"):
            parse(arguments, **options)


def test_no_error_shows_the_query() -> None:
    secret = "hunter2"
    for query in (f"{secret}\x00", secret * 100, [secret]):
        assert secret not in str(refusal(search, {"search_prompt": query * 10}))
    wrong: tuple[object, ...] = (f"{secret}\x00", secret * 100, [f"{secret}\x00"], {"q": secret})
    for value in wrong:
        for name in ("query", "queries"):
            assert secret not in str(refusal(search, {name: value}))


def test_a_huge_query_is_refused_before_it_is_copied() -> None:
    query = "a\u0301 " * MEGABYTE
    tracemalloc.start()
    refusal(search, {"query": query})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < MEGABYTE


@given(
    st.dictionaries(
        st.sampled_from([*SearchRequest.model_fields, "count", "recency"]) | st.text(),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: (
                st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=2)
            ),
            max_leaves=4,
        ),
        max_size=4,
    )
)
def test_anything_becomes_a_request_or_a_short_error(arguments: dict[str, object]) -> None:
    for parse in (lambda raw: parse_search(raw, defaults=SearchDefaults()), parse_fetch):
        message = ""
        try:
            parse(arguments)
        except InvalidArgumentError as error:
            message = error.message
        assert len(message) < 1_200
        assert message.isprintable()


def test_defaults_apply_where_the_call_names_nothing() -> None:
    defaults = SearchDefaults(
        results_count=3, max_results=20, category=Category.NEWS, language="de"
    )
    request = parse_search({"query": "rust"}, defaults=defaults)
    assert (request.results_count, request.category, request.language) == (3, Category.NEWS, "de")


def test_a_configured_category_is_accepted_in_any_spelling_and_sent_as_it_is_written() -> None:
    defaults = SearchDefaults(categories=("House Rules", "a_b"))
    for written, category in (("house_rules", "House Rules"), ("A B", "a_b"), ("news", "news")):
        request = parse_search({"query": "rust", "category": written}, defaults=defaults)
        assert request.category == category
    with pytest.raises(InvalidArgumentError, match="did you mean House Rules"):
        parse_search({"query": "rust", "category": "Hose Rules"}, defaults=defaults)


def test_a_category_outside_the_nine_may_be_a_default_of_the_schema() -> None:
    defaults = SearchDefaults(profile={"category": "social media"})
    rules: Any = search_schema(defaults)["properties"]
    assert rules["category"]["default"] == "social media"
    assert rules["category"]["enum"] == [*Category, "social media"]


def test_the_configured_maximum_bounds_the_number_of_results() -> None:
    with pytest.raises(InvalidArgumentError, match="21 is not a whole number from 1 to 20"):
        parse_search({"query": "rust", "count": 21}, defaults=SearchDefaults(max_results=20))


def test_a_profile_stands_between_the_call_and_the_defaults() -> None:
    defaults = SearchDefaults(
        results_count=3, language="de", profile={"maxResults": 5, "category": "it"}
    )
    request = parse_search({"query": "rust", "category": "news", "limit": None}, defaults=defaults)
    assert (request.results_count, request.category, request.language) == (5, Category.NEWS, "de")


def test_a_call_can_lift_the_time_range_of_a_profile() -> None:
    defaults = SearchDefaults(profile={"recency": "day"})
    assert parse_search({"query": "rust"}, defaults=defaults).time_range is TimeRange.DAY
    request = parse_search({"query": "rust", "time_range": ""}, defaults=defaults)
    assert request.time_range is TimeRange.ANY


def test_a_profile_holds_search_arguments_without_a_query() -> None:
    for fine in ({"category": "news", "recency": "oneDay"}, {}):
        check_profile(fine, defaults=SearchDefaults())
    for profile, field, message in (
        ({"query": "a"}, "query", "query"),
        ({"queries": ["a"]}, "queries", "belongs to a call"),
        ({"limit": 9}, "limit", "limit"),
        ({"x": 1}, "x", "is unknown"),
    ):
        with pytest.raises(InvalidArgumentError, match=message) as caught:
            check_profile(profile, defaults=SearchDefaults(max_results=8))
        assert caught.value.field == field


def schemas() -> dict[str, dict[str, Any]]:
    return {"web_search": search_schema(SearchDefaults()), "web_fetch": fetch_schema()}


@pytest.mark.parametrize("tool", ["web_search", "web_fetch"])
def test_a_schema_uses_only_what_every_client_reads(tool: str) -> None:
    schema = schemas()[tool]
    text = json.dumps(schema)
    assert "additionalProperties" not in schema
    for word in ("anyOf", "oneOf", "allOf", "$ref", "$defs", "null", "title", "format"):
        assert f'"{word}"' not in text
    assert "null" not in text
    for rules in schema["properties"].values():
        assert isinstance(rules["type"], str)
        assert all(isinstance(member, str) and member for member in rules.get("enum", ["x"]))
        assert rules.get("default", "x") != ""


def test_the_schema_of_a_search_has_the_bounds_and_defaults_of_the_specification() -> None:
    properties = schemas()["web_search"]["properties"]
    assert [*properties] == [
        name
        for name in SearchRequest.model_fields
        if name not in {"engines", "source", "page", "for_model"}
    ]
    assert properties["query"] == {"type": "string", "minLength": 1, "maxLength": 500}
    assert properties["category"] == {
        "type": "string",
        "enum": ["general", "images", "videos", "news", "map", "music", "it", "science", "files"],
        "default": "general",
    }
    assert properties["language"]["default"] == "en"
    assert properties["results_count"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 50,
        "default": 10,
    }
    assert properties["fetch_content"]["default"] is True
    assert properties["safe_search"] == {
        "type": "integer",
        "description": "0 off, 1 moderate, 2 strict",
        "minimum": 0,
        "maximum": 2,
        "default": 1,
    }
    assert properties["time_range"]["enum"] == ["day", "week", "month", "year", "any"]
    assert properties["time_range"]["default"] == "any"
    assert schemas()["web_search"]["required"] == ["query"]


def test_the_schema_of_a_fetch_has_the_bounds_and_defaults_of_the_specification() -> None:
    schema = schemas()["web_fetch"]
    bounds = {
        name: (rules.get("minimum"), rules.get("maximum"), rules.get("default"))
        for name, rules in schema["properties"].items()
    }
    assert bounds["timeout"] == (5, 120, 30)
    assert bounds["max_content_length"] == (1024, 10_485_760, 1_048_576)
    assert bounds["follow_redirects"] == (None, None, True)
    assert schema["properties"]["user_agent"]["type"] == "string"
    # A cursor will do instead, which a schema without unions cannot say.
    assert "required" not in schema


def test_schemas_show_the_configured_defaults() -> None:
    defaults = SearchDefaults(
        max_results=20, profile={"recency": "week", "safesearch": "off", "fetchContent": "no"}
    )
    properties: Any = search_schema(defaults)["properties"]
    assert properties["results_count"]["maximum"] == 20
    assert properties["time_range"]["default"] == "week"
    assert properties["safe_search"]["default"] == 0
    assert properties["fetch_content"]["default"] is False
    fetch_properties: Any = fetch_schema(timeout=1.0, max_content_length=2048)["properties"]
    assert fetch_properties["timeout"]["default"] == 5
    assert fetch_properties["max_content_length"]["default"] == 2048


@pytest.mark.parametrize("tool", ["web_search", "web_fetch"])
def test_the_defaults_of_a_schema_are_accepted(tool: str) -> None:
    defaults = {
        name: rules["default"]
        for name, rules in schemas()[tool]["properties"].items()
        if "default" in rules
    }
    plain: dict[str, FetchRequest | SearchRequest] = {"web_search": search(), "web_fetch": fetch()}
    request = (search if tool == "web_search" else fetch)(**defaults)
    assert request.model_dump(exclude={"timeout", "max_content_length"}) == plain[tool].model_dump(
        exclude={"timeout", "max_content_length"}
    )


def test_the_schemas_leave_room_in_700_tokens() -> None:
    """Tokenizers need between 3 and 4 characters a token for JSON; 600 leaves 100 for the words."""
    text = json.dumps(schemas(), separators=(",", ":"))
    assert len(text) / 3.1 < 600


@pytest.mark.parametrize(
    ("written", "query", "queries"),
    [
        ({"queries": ["a", "b"]}, "a", ("b",)),
        ({"query": "a", "queries": "b"}, "a", ("b",)),
        ({"query": ["a", "b", "a"]}, "a", ("b",)),
        ({"query": ["a"]}, "a", ()),
        ({"queries": '["a", "b"]'}, "a", ("b",)),
        ({"query": "a", "queries": []}, "a", ()),
        ({"query": "a", "queries": ["a"]}, "a", ()),
    ],
    ids=str,
)
def test_several_queries_are_one_and_those_beside_it(written, query, queries) -> None:
    request = parse_search(written, defaults=SearchDefaults())
    assert (request.query, request.queries) == (query, queries)


@pytest.mark.parametrize(
    ("written", "field"),
    [
        ({"query": ["a"], "queries": ["b"]}, "query"),
        ({"queries": ["a"] * 11}, "queries"),
        ({"queries": ["a", "b" * 501]}, "queries"),
        ({"queries": [{"a": 1}]}, "queries"),
    ],
    ids=["both", "too many", "too long", "no text"],
)
def test_wrong_queries_are_named(written, field) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        parse_search(written, defaults=SearchDefaults())
    assert caught.value.field == field
