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
from searx_mcp.errors import ErrorCode, InvalidArgumentError
from searx_mcp.evidence.requests import ReadRequest
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.request import Category, SafeSearch, SearchRequest, TimeRange
from searx_mcp.models.spelling import shown

MEGABYTE = 1_048_576


def search(**arguments: Any) -> SearchRequest:
    return parse_search({"query": "rust", **arguments}, defaults=SearchDefaults())


def fetch(**arguments: Any) -> FetchRequest:
    return parse_fetch({"url": "https://example.org/", **arguments})


def refusal(parse: Any, arguments: Mapping[str, Any]) -> InvalidArgumentError:
    with pytest.raises(InvalidArgumentError) as caught:
        parse(**arguments)
    return caught.value


def rows(tables: Mapping[Any, Mapping[str, list[tuple[Any, ...]]]]) -> list[Any]:
    """A case for each value of tables that have, by argument, what comes of which values."""
    cases = [
        (parse, name, value, outcome)
        for parse, table in tables.items()
        for name, outcomes in table.items()
        for outcome, *values in outcomes
        for value in values
    ]
    return [
        pytest.param(*case, id=f"{case[1]}={shown(case[2])} {number}")
        for number, case in enumerate(cases)
    ]


def test_a_query_or_an_address_alone_takes_the_defaults() -> None:
    assert search() == SearchRequest(query="rust")
    assert fetch() == FetchRequest(url="https://example.org/")


SEARCH_SPELLINGS = {
    ("results_count", 7): "max_results maxResults num_results numResults count limit resultsCount"
    " results-count RESULTS_COUNT num top_k",
    ("time_range", "week"): "recency freshness timelimit timeRange",
    ("category", "news"): "topic categories Category",
    ("language", "de"): "lang Language",
    ("allowed_domains", ("example.org",)): "include_domains includeDomains allowedDomains",
    ("blocked_domains", ("example.org",)): "exclude_domains excludedSites excludeDomains"
    " blockedDomains",
    ("page", 7): "page pageno pageNumber",
    ("offset", 7): "start",
    ("safe_search", 2): "safesearch safeSearch",
    ("fetch_content", False): "fetchContent",
    ("search_prompt", "what is new"): "searchPrompt",
    ("max_tokens", 900): "maxTokens",
    ("timeout", 9.0): "TIMEOUT",
}
FETCH_SPELLINGS = {
    ("max_chars", 4096): "max_length maxCharacters",
    ("offset", 4096): "start_index",
    ("follow_redirects", False): "followRedirects",
    ("max_content_length", 4096): "maxContentLength",
    ("user_agent", "probe/1"): "userAgent",
    ("timeout", 9.0): "Timeout",
}


@pytest.mark.parametrize(
    ("parse", "written", "name", "value"),
    [
        pytest.param(parse, word, name, value, id=f"{parse.__name__} {word}")
        for parse, spellings in ((search, SEARCH_SPELLINGS), (fetch, FETCH_SPELLINGS))
        for (name, value), words in spellings.items()
        for word in words.split()
    ],
)
def test_a_parameter_has_many_spellings(parse: Any, written: str, name: str, value: object) -> None:
    assert getattr(parse(**{written: value}), name) == value


@pytest.mark.parametrize(
    ("days", "age"),
    [
        (1, TimeRange.DAY),
        (2, TimeRange.WEEK),
        ("7", TimeRange.WEEK),
        (8, TimeRange.MONTH),
        (31, TimeRange.MONTH),
        (32, TimeRange.YEAR),
        (366, TimeRange.YEAR),
        (367, TimeRange.ANY),
    ],
)
def test_days_become_the_shortest_range_that_has_all_of_them(days: object, age: TimeRange) -> None:
    assert search(days=days).time_range is age


ACCEPTED_SEARCH: dict[str, list[tuple[Any, ...]]] = {
    "query": [
        ("caf\u00e9 bar", "  cafe\u0301\n\t bar "),
        ("a" * 498 + " b", "a" * 498 + " " * 1_000 + "b"),
    ],
    "results_count": [(5, "5", " 5 ", "5.0", 5.0), (1, 1), (50, 50), (10, None, "")],
    "fetch_content": [(False, "false", "False", "no", "off", "0", 0), (True, 1.0, "YES", None)],
    "safe_search": [
        (SafeSearch.OFF, 0, "off", "none", False), (SafeSearch.STRICT, "2", 2.0, "STRICT"),
        (SafeSearch.MODERATE, "Moderate", True, "true"),
    ],
    "time_range": [
        (TimeRange.ANY, "", None, "any", "All", "noLimit", "no_limit", "10 years", "any time"),
        (TimeRange.DAY, "day", "oneDay", "past 24 hours", "hour", "today", "last 24 hours", "d"),
        (TimeRange.WEEK, "oneWeek", "past week", "in the past week", "48h", "7 days", "7d", "pw"),
        (TimeRange.MONTH, "one_month", "Last Month", "8d", "pm", "qdr:m"),
        (TimeRange.YEAR, "oneYear", "YEAR", "this year", "3 months ago"),
    ],
    "category": [
        (Category.NEWS, ["news"], '["news"]', "News"), (Category.GENERAL, "finance", ""),
        (Category.IT, "IT"), (Category.IMAGES, "image"), (Category.VIDEOS, "Video"),
        ("social media", "social media", "Social_Media"), ("q&a", "q&a"),
        ("scientific publications", "Scientific-Publications"), ("web", " web "),
    ],
    "language": [
        ("en", "English", " "), ("de", "deutsch", "De"), ("zh", "Chinese"), ("ja", "日本語"),
        ("all", "any language", "ALL"), ("en-US", "EN_us"), ("pt-BR", "pt-br"), ("fil", "fil"),
        ("auto", "Auto", "auto"), ("zh-HK", " ZH_hk "),
    ],
    "page": [(3, "3")],
    "offset": [(500, 500)],
    "engines": [
        (("bing",), "bing"), (("bing", "google images"), "Bing, Google  Images,,bing"),
        (("duckduckgo", "brave"), '["duckduckgo", "brave"]'), (("wikipedia",), ["wikipedia", ""]),
        ((), (), ""),
    ],
    "timeout": [(1.0, 1), (2.5, "2.5"), (120.0, 120.0), (None, None)],
    "max_tokens": [(900, "900")],
    "search_prompt": [("what is new", " what\n is\tnew "), ("", "")],
    "allowed_domains": [
        (("example.org",), "example.org", ["example.org", "EXAMPLE.org"], ("example.org",),
         "https://example.org:8443/", "*.example.org", ".example.org.", "example.org/docs",
         ["example.org"] * 50),
        (("example.org", "example.net"), "example.org, Example.NET,",
         '["example.org", "example.net"]'),
        ((), [], [""], "[]", None), (("www.example.org",), "https://www.example.org/path?q#x"),
        (("xn--bcher-kva.example",), "bücher.example"),
        (("strasse.de", "xn--strae-oqa.de"), "STRASSE.de,straße.de"), (("edu",), "edu"),
        (("192.0.2.1",), "192.0.2.1"),
    ],
}  # fmt: skip


ACCEPTED_FETCH: dict[str, list[tuple[Any, ...]]] = {
    "url": [
        ("https://example.org/a%20b", " https://example.org/a%20b\n"),
        ("https://example.org", "example.org", ["example.org"]),
        ("https://www.example.org/a?b=c#d", "www.example.org/a?b=c#d"),
        ("https://example.org:8443/a", "example.org:8443/a"),
        ("https://bücher.example/", "bücher.example/"),
        ("https://example.xn--p1ai", "example.xn--p1ai"), ("localhost/a", "localhost/a"),
        ("192.0.2.1/a", "192.0.2.1/a"), ("mailto:a@example.org", "mailto:a@example.org"),
        ("javascript:alert(1)", "javascript:alert(1)"), ("//example.org/", "//example.org/"),
        ("user@example.org", "user@example.org"), ("ftp://example.org/", "ftp://example.org/"),
        ("https://example.org/a,b", '["https://example.org/a,b"]'),
    ],
    "timeout": [(5.0, "5"), (120.0, 120), (None, None)],
    "follow_redirects": [(False, "no"), (True, "")],
    "max_content_length": [
        (2 * MEGABYTE, "2MB"), (512 * 1024, "512 kb"), (1024, "1024"), (2048, 2048.0),
        (10 * MEGABYTE, 10 * MEGABYTE), (None, None),
    ],
    "user_agent": [("a" * 256, "a" * 256), (None, "")],
    "cursor": [("abcdefghijklm234", " ABCDEFGHIJKLM234 ")],
    "offset": [(0, "0"), (100_000_000, 100_000_000)],
    "limit": [(1, 1), (1_000_000, str(1_000_000))],
    "max_chars": [(1, 1), (1_000_000, 1_000_000)],
    "images": [("links", "Links"), (None, "")],
    "section": [("Install", " Install "), ("a" * 300, "a" * 300)],
    "prompt": [("a" * 2_000, "a" * 2_000)],
}  # fmt: skip


@pytest.mark.parametrize(
    ("parse", "name", "value", "expected"), rows({search: ACCEPTED_SEARCH, fetch: ACCEPTED_FETCH})
)
def test_a_value_has_many_spellings(parse: Any, name: str, value: object, expected: object) -> None:
    assert getattr(parse(**{name: value}), name) == expected


REFUSED_SEARCH: dict[str, list[tuple[Any, ...]]] = {
    "results_count": [
        ("0 is not a whole number from 1 to 50", 0), ("51 is not a whole number from 1 to 50", 51),
        ("from 1 to 50", -1), ("'ten' is not a whole number", "ten"),
        ("1.5 is not a whole number", 1.5), ("'1.5' is not a whole number", "1.5"),
        ("whole number", "1e1", "1_0", "٣"), ("True is not a whole number", True),
        ("[5] is not a whole number", [5]), ("{} is not a whole number", {}),
        ("nan is not a whole number", float("nan")), ("inf is not a whole number", float("inf")),
        ("a huge number is not a whole number", 10**5000),
    ],
    "fetch_content": [
        ("'maybe' is not true or false", "maybe"), ("2 is not true or false", 2),
        ("-1 is not true or false", -1), ("[] is not true or false", []),
    ],
    "safe_search": [
        ("3 is not 0, 1, 2, off, moderate, strict", 3), ("-1 is not", -1), ("0.5 is not", 0.5),
        ("'high' is not", "high"), ("is not 0, 1, 2", {"level": 1}),
    ],
    "time_range": [
        ("'decade' is not one of day, week, month, year, any", "decade"),
        ("is not one of day", "past", "7", "9" * 40 + "d", "day" + "-" * 60),
        ("1 is not one of day", 1), ("['day'] is not one of", ["day"]),
    ],
    "days": [("0 is not a whole number from 1 to", 0), ("'week' is not a whole number", "week")],
    "category": [
        ("is not one of general, images, videos, news", "sports"),
        ("or another SearXNG category (did you mean images?)", "imges"),
        ("(did you mean social media?)", "socail media"),
        ("is not one of general", "general,news", "a" * MEGABYTE, ["news", "it"], '["news"'),
        ("5 is not one of general", 5),
    ],
    "language": [
        ("'elvish' is not a language such as en", "elvish"), ("'e' is not a language", "e"),
        ("'en-' is not a language", "en-"), ("'en-USA' is not a language", "en-USA"),
        ("'es-419' is not a language", "es-419"), ("5 is not a language", 5),
        ("is not a language", "en\x00"),
    ],
    "page": [("0 is not a whole number from 1 to 50", 0), ("from 1 to 50", 51)],
    "offset": [("from 0 to 500", 501)],
    "timeout": [
        ("0 is not a number from 1 to 120", 0), ("0.5 is not a number", 0.5),
        ("121 is not a number", 121), ("'30s' is not a number", "30s"),
        ("False is not a number", False), ("nan is not a number", float("nan")),
    ],
    "max_tokens": [("from 200 to 200,000", 199, 200_001)],
    "search_prompt": [
        ("must be text, not a number", 5), ("has 2,001 characters; at most 2,000", "a" * 2_001),
        ("U+0000 at position 2", "a\x00"),
    ],
    "engines": [
        ("5 is not a list of engines", 5), ("5 is not the name of an engine", [5]),
        ("is not the name of an engine", ["bing,google"], "a" * 61, "bi\x00ng", ["a\ud800"]),
        ("is not a JSON list of engines", '["bing"'), ("has 21 entries; at most 20", ["bing"] * 21),
    ],
    "allowed_domains": [
        ("5 is not a list of domains", 5), ("is not a list of domains", {"a": 1}),
        ("5 is not a domain", [5]), ("['example.org'] is not a domain", [["example.org"]]),
        ("is not a JSON list of domains", '["example.org"', "[" * 15_000, "[::1]"),
        ("'example .org' is not a domain", "example .org"),
        ("is not a domain such as example.org", "exa\x00mple.org"),
        ("is not a domain", "a..example.org", "-a.example.org", "user@example.org",
         "site:example.org", "a" * 64 + ".org", ".".join(["a" * 60] * 5), "é" * 70 + ".example",
         "\ud800.example", ["é" * 5_000]),
        ("'::1' is not a domain", ["::1"]), ("'*' is not a domain", "*"),
        ("has 40,000 characters; at most 20,000", "a," * 20_000),
        ("has 51 entries; at most 50", ["example.org"] * 51),
    ],
    "blocked_domains": [("is not a domain", "http://")],
    "query": [
        ("is empty", "", " \t\n", "\u200b\u2060 \u200b"), ("must be text, not a number", 5),
        ("has 501 characters; at most 500", "a" * 501),
        ("U+0007 at position 2", "a\x07"), ("U+001F", "a\x1fb"), ("U+007F", "a\x7f"),
        ("U+0085", "a\x85b"), ("U+D800 at position 3", "ab\ud800"),
        ("has 1,048,576 characters; at most 500", "a" * MEGABYTE),
    ],
}  # fmt: skip


REFUSED_FETCH: dict[str, list[tuple[Any, ...]]] = {
    "url": [
        ("'' is not an address", ""), ("is not an address", " ", [["https://example.org/"]]),
        ("5 is not an address", 5, ["https://example.org/", 5]), ("[] is not an address", []),
        ("is not a JSON list of addresses", '["https://example.org/"'),
        ("has 21 entries; at most 20", ["https://example.org/"] * 21),
        ("has the character U+0020; encode it", "https://example.org/a b"),
        ("U+000A", "https://example.org/\na"), ("U+0000", "https://example.org/\x00"),
        ("U+00A0", "https://example.org/\xa0"), ("U+D800", "https://example.org/\ud800"),
        ("has 4,110 characters; at most 4,096", "https://example.org/" + "a" * 4_090),
        ("has 4,100 characters; at most 4,096", "example.org/" + "a" * 4_080),
        ("has 1,048,576 characters", "a" * MEGABYTE), ("has 2,097,152 characters", "a." * MEGABYTE),
    ],
    "timeout": [
        ("4.9 is not a number from 5 to 120", 4.9), ("from 5 to 120", 121),
        ("'soon' is not a number", "soon"),
    ],
    "follow_redirects": [("is not true or false", "perhaps")],
    "max_content_length": [
        ("from 1,024 to 10,485,760", 1_023, "11MB"),
        ("'2 GB' is not a number of bytes or a size such as 2MB", "2 GB"),
        ("is not a whole number", True), ("2048.5 is not a number of bytes", 2048.5),
        ("[] is not a number of bytes", []),
    ],
    "user_agent": [
        ("'a\\nb' is not printable ASCII of at most 256 characters", "a\nb"),
        ("is not printable ASCII", "a\n", "é", "a" * 257), ("5 is not printable ASCII", 5),
    ],
    "cursor": [
        ("is not a cursor from an earlier answer", "abcdefghijklm23", "abcdefghijklm2345",
         "abcdefghijklm230"),
    ],
    "offset": [("from 0 to", -1, 100_000_001)],
    "limit": [("from 1 to 1,000,000", 0, 1_000_001)],
    "max_chars": [("from 1 to 1,000,000", 0, 1_000_001)],
    "images": [("'pictures' is not one of alt, links, inline, none", "pictures")],
    "section": [("at most 300", "a" * 301)],
    "prompt": [("at most 2,000", "a" * 2_001)],
}  # fmt: skip


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
    assert "says where to begin, as pageno does; give one" in error.message
    assert search(page=1, offset=10) == search(offset=10)
    assert search(page=2, offset=0).page == 2


@pytest.mark.parametrize("blank", ["", " "])
def test_an_empty_address_beside_a_cursor_is_none(blank: str) -> None:
    cursor = "abcdefghijklm234"
    assert fetch(url=blank, cursor=cursor) == parse_fetch({"cursor": cursor})
    assert parse_fetch({"uri": blank, "cursor": cursor}) == parse_fetch({"cursor": cursor})
    assert fetch(cursor=cursor).url == "https://example.org/"


@pytest.mark.parametrize(
    ("parse", "name", "value", "message"), rows({search: REFUSED_SEARCH, fetch: REFUSED_FETCH})
)
def test_a_wrong_value_is_refused(parse: Any, name: str, value: object, message: str) -> None:
    error = refusal(parse, {name: value})
    assert error.code == ErrorCode.INVALID_ARGUMENT
    assert error.field == name
    assert message in error.message
    assert len(error.message) < 220


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
    check_profile({"category": "news", "recency": "oneDay"})
    check_profile({})
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
        name for name in SearchRequest.model_fields if name not in {"engines", "source", "page"}
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
