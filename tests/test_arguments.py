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
    parse_fetch,
    parse_search,
    search_schema,
)
from searx_mcp.errors import ErrorCode, InvalidArgumentError
from searx_mcp.models.request import (
    Category,
    FetchRequest,
    SafeSearch,
    SearchRequest,
    TimeRange,
)
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


def row_id(row: tuple[Any, ...]) -> str:
    size = f" of {len(row[1])}" if isinstance(row[1], str | list) else ""
    return f"{row[0]}={shown(row[1])}{size}"


def test_a_query_alone_takes_the_defaults() -> None:
    assert search() == SearchRequest(query="rust")


def test_a_url_alone_takes_the_defaults() -> None:
    assert fetch() == FetchRequest(url="https://example.org/")


@pytest.mark.parametrize(
    ("written", "name", "value"),
    [
        ("max_results", "results_count", 7),
        ("maxResults", "results_count", 7),
        ("num_results", "results_count", 7),
        ("numResults", "results_count", 7),
        ("count", "results_count", 7),
        ("limit", "results_count", 7),
        ("resultsCount", "results_count", 7),
        ("results-count", "results_count", 7),
        ("RESULTS_COUNT", "results_count", 7),
        ("num", "results_count", 7),
        ("top_k", "results_count", 7),
        ("recency", "time_range", "week"),
        ("freshness", "time_range", "week"),
        ("timelimit", "time_range", "week"),
        ("topic", "category", "news"),
        ("categories", "category", "news"),
        ("lang", "language", "de"),
        ("include_domains", "allowed_domains", ("example.org",)),
        ("includeDomains", "allowed_domains", ("example.org",)),
        ("exclude_domains", "blocked_domains", ("example.org",)),
        ("excludedSites", "blocked_domains", ("example.org",)),
        ("excludeDomains", "blocked_domains", ("example.org",)),
        ("page", "page", 7),
        ("pageno", "page", 7),
        ("pageNumber", "page", 7),
        ("start", "offset", 7),
        ("timeRange", "time_range", "week"),
        ("safesearch", "safe_search", 2),
        ("safeSearch", "safe_search", 2),
        ("fetchContent", "fetch_content", False),
        ("allowedDomains", "allowed_domains", ("example.org",)),
        ("blockedDomains", "blocked_domains", ("example.org",)),
        ("searchPrompt", "search_prompt", "what is new"),
        ("maxTokens", "max_tokens", 900),
        ("Category", "category", "news"),
        ("Language", "language", "de"),
        ("TIMEOUT", "timeout", 9.0),
    ],
)
def test_a_parameter_of_a_search_has_many_spellings(written: str, name: str, value: object) -> None:
    assert getattr(search(**{written: value}), name) == value


@pytest.mark.parametrize(
    ("written", "name", "value"),
    [
        ("max_length", "max_chars", 4096),
        ("maxCharacters", "max_chars", 4096),
        ("start_index", "offset", 4096),
        ("followRedirects", "follow_redirects", False),
        ("maxContentLength", "max_content_length", 4096),
        ("userAgent", "user_agent", "probe/1"),
        ("Timeout", "timeout", 9.0),
    ],
)
def test_a_parameter_of_a_fetch_has_many_spellings(written: str, name: str, value: object) -> None:
    assert getattr(fetch(**{written: value}), name) == value


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


ACCEPTED_SEARCH = [
    ("results_count", "5", 5),
    ("results_count", " 5 ", 5),
    ("results_count", "5.0", 5),
    ("results_count", 5.0, 5),
    ("results_count", 1, 1),
    ("results_count", 50, 50),
    ("results_count", None, 10),
    ("results_count", "", 10),
    ("fetch_content", "false", False),
    ("fetch_content", "False", False),
    ("fetch_content", "no", False),
    ("fetch_content", "off", False),
    ("fetch_content", "0", False),
    ("fetch_content", 0, False),
    ("fetch_content", 1.0, True),
    ("fetch_content", "YES", True),
    ("fetch_content", None, True),
    ("safe_search", 0, SafeSearch.OFF),
    ("safe_search", "2", SafeSearch.STRICT),
    ("safe_search", 2.0, SafeSearch.STRICT),
    ("safe_search", "off", SafeSearch.OFF),
    ("safe_search", "none", SafeSearch.OFF),
    ("safe_search", "Moderate", SafeSearch.MODERATE),
    ("safe_search", "STRICT", SafeSearch.STRICT),
    ("safe_search", True, SafeSearch.MODERATE),
    ("safe_search", False, SafeSearch.OFF),
    ("safe_search", "true", SafeSearch.MODERATE),
    ("time_range", "", TimeRange.ANY),
    ("time_range", None, TimeRange.ANY),
    ("time_range", "any", TimeRange.ANY),
    ("time_range", "All", TimeRange.ANY),
    ("time_range", "noLimit", TimeRange.ANY),
    ("time_range", "no_limit", TimeRange.ANY),
    ("time_range", "day", TimeRange.DAY),
    ("time_range", "oneDay", TimeRange.DAY),
    ("time_range", "oneWeek", TimeRange.WEEK),
    ("time_range", "one_month", TimeRange.MONTH),
    ("time_range", "oneYear", TimeRange.YEAR),
    ("time_range", "YEAR", TimeRange.YEAR),
    ("time_range", "past week", TimeRange.WEEK),
    ("time_range", "in the past week", TimeRange.WEEK),
    ("time_range", "Last Month", TimeRange.MONTH),
    ("time_range", "this year", TimeRange.YEAR),
    ("time_range", "past 24 hours", TimeRange.DAY),
    ("time_range", "hour", TimeRange.DAY),
    ("time_range", "48h", TimeRange.WEEK),
    ("time_range", "today", TimeRange.DAY),
    ("time_range", "7 days", TimeRange.WEEK),
    ("time_range", "7d", TimeRange.WEEK),
    ("time_range", "8d", TimeRange.MONTH),
    ("time_range", "3 months ago", TimeRange.YEAR),
    ("time_range", "10 years", TimeRange.ANY),
    ("time_range", "last 24 hours", TimeRange.DAY),
    ("time_range", "pw", TimeRange.WEEK),
    ("time_range", "pm", TimeRange.MONTH),
    ("time_range", "qdr:m", TimeRange.MONTH),
    ("time_range", "d", TimeRange.DAY),
    ("time_range", "any time", TimeRange.ANY),
    ("category", ["news"], Category.NEWS),
    ("category", '["news"]', Category.NEWS),
    ("category", "finance", Category.GENERAL),
    ("language", "English", "en"),
    ("language", "deutsch", "de"),
    ("language", "Chinese", "zh"),
    ("language", "日本語", "ja"),
    ("language", "any language", "all"),
    ("page", "3", 3),
    ("offset", 500, 500),
    ("category", "News", Category.NEWS),
    ("category", "IT", Category.IT),
    ("category", "image", Category.IMAGES),
    ("category", "Video", Category.VIDEOS),
    ("category", "", Category.GENERAL),
    ("category", "social media", "social media"),
    ("category", "Social_Media", "social media"),
    ("category", "q&a", "q&a"),
    ("category", "Scientific-Publications", "scientific publications"),
    ("category", " web ", "web"),
    ("engines", "bing", ("bing",)),
    ("engines", "Bing, Google  Images,,bing", ("bing", "google images")),
    ("engines", '["duckduckgo", "brave"]', ("duckduckgo", "brave")),
    ("engines", ["wikipedia", ""], ("wikipedia",)),
    ("engines", (), ()),
    ("engines", "", ()),
    ("language", "EN_us", "en-US"),
    ("language", "pt-br", "pt-BR"),
    ("language", "De", "de"),
    ("language", "fil", "fil"),
    ("language", "ALL", "all"),
    ("language", "Auto", "auto"),
    ("language", " ZH_hk ", "zh-HK"),
    ("language", "auto", "auto"),
    ("language", " ", "en"),
    ("timeout", 1, 1.0),
    ("timeout", "2.5", 2.5),
    ("timeout", 120.0, 120.0),
    ("timeout", None, None),
    ("max_tokens", "900", 900),
    ("search_prompt", " what\n is\tnew ", "what is new"),
    ("search_prompt", "", ""),
    ("allowed_domains", "example.org", ("example.org",)),
    ("allowed_domains", "example.org, Example.NET,", ("example.org", "example.net")),
    ("allowed_domains", '["example.org", "example.net"]', ("example.org", "example.net")),
    ("allowed_domains", ["example.org", "EXAMPLE.org"], ("example.org",)),
    ("allowed_domains", ("example.org",), ("example.org",)),
    ("allowed_domains", [], ()),
    ("allowed_domains", [""], ()),
    ("allowed_domains", "[]", ()),
    ("allowed_domains", None, ()),
    ("allowed_domains", "https://www.example.org/path?q#x", ("www.example.org",)),
    ("allowed_domains", "https://example.org:8443/", ("example.org",)),
    ("allowed_domains", "*.example.org", ("example.org",)),
    ("allowed_domains", ".example.org.", ("example.org",)),
    ("allowed_domains", "example.org/docs", ("example.org",)),
    ("allowed_domains", "bücher.example", ("xn--bcher-kva.example",)),
    ("allowed_domains", "STRASSE.de,straße.de", ("strasse.de", "xn--strae-oqa.de")),
    ("allowed_domains", "edu", ("edu",)),
    ("allowed_domains", "192.0.2.1", ("192.0.2.1",)),
    ("allowed_domains", ["example.org"] * 50, ("example.org",)),
]


@pytest.mark.parametrize(
    ("name", "value", "expected"), ACCEPTED_SEARCH, ids=map(row_id, ACCEPTED_SEARCH)
)
def test_a_value_of_a_search_has_many_spellings(name: str, value: object, expected: object) -> None:
    assert getattr(search(**{name: value}), name) == expected


ACCEPTED_FETCH = [
    ("url", " https://example.org/a%20b\n", "https://example.org/a%20b"),
    ("url", "example.org", "https://example.org"),
    ("url", "www.example.org/a?b=c#d", "https://www.example.org/a?b=c#d"),
    ("url", "example.org:8443/a", "https://example.org:8443/a"),
    ("url", "bücher.example/", "https://bücher.example/"),
    ("url", "example.xn--p1ai", "https://example.xn--p1ai"),
    ("url", "localhost/a", "localhost/a"),
    ("url", "192.0.2.1/a", "192.0.2.1/a"),
    ("url", "mailto:a@example.org", "mailto:a@example.org"),
    ("url", "javascript:alert(1)", "javascript:alert(1)"),
    ("url", "//example.org/", "//example.org/"),
    ("url", "user@example.org", "user@example.org"),
    ("url", "ftp://example.org/", "ftp://example.org/"),
    ("timeout", "5", 5.0),
    ("timeout", 120, 120.0),
    ("timeout", None, None),
    ("follow_redirects", "no", False),
    ("follow_redirects", "", True),
    ("max_content_length", "2MB", 2 * MEGABYTE),
    ("max_content_length", "512 kb", 512 * 1024),
    ("max_content_length", "1024", 1024),
    ("max_content_length", 2048.0, 2048),
    ("max_content_length", 10 * MEGABYTE, 10 * MEGABYTE),
    ("max_content_length", None, None),
    ("user_agent", "a" * 256, "a" * 256),
    ("user_agent", "", None),
    ("cursor", " ABCDEFGHIJKLM234 ", "abcdefghijklm234"),
    ("offset", "0", 0),
    ("offset", 100_000_000, 100_000_000),
    ("limit", 1, 1),
    ("limit", str(1_000_000), 1_000_000),
    ("max_chars", 1, 1),
    ("images", "Links", "links"),
    ("images", "", None),
    ("url", ["example.org"], "https://example.org"),
    ("url", '["https://example.org/a,b"]', "https://example.org/a,b"),
    ("max_chars", 1_000_000, 1_000_000),
    ("section", " Install ", "Install"),
    ("section", "a" * 300, "a" * 300),
    ("prompt", "a" * 2_000, "a" * 2_000),
]


@pytest.mark.parametrize(
    ("name", "value", "expected"), ACCEPTED_FETCH, ids=map(row_id, ACCEPTED_FETCH)
)
def test_a_value_of_a_fetch_has_many_spellings(name: str, value: object, expected: object) -> None:
    assert getattr(fetch(**{name: value}), name) == expected


REFUSED_SEARCH = [
    ("results_count", 0, "0 is not a whole number from 1 to 50"),
    ("results_count", 51, "51 is not a whole number from 1 to 50"),
    ("results_count", -1, "from 1 to 50"),
    ("results_count", "ten", "'ten' is not a whole number"),
    ("results_count", 1.5, "1.5 is not a whole number"),
    ("results_count", "1.5", "'1.5' is not a whole number"),
    ("results_count", "1e1", "whole number"),
    ("results_count", "1_0", "whole number"),
    ("results_count", "٣", "whole number"),
    ("results_count", True, "True is not a whole number"),
    ("results_count", [5], "[5] is not a whole number"),
    ("results_count", {}, "{} is not a whole number"),
    ("results_count", float("nan"), "nan is not a whole number"),
    ("results_count", float("inf"), "inf is not a whole number"),
    ("results_count", 10**5000, "a huge number is not a whole number"),
    ("fetch_content", "maybe", "'maybe' is not true or false"),
    ("fetch_content", 2, "2 is not true or false"),
    ("fetch_content", -1, "-1 is not true or false"),
    ("fetch_content", [], "[] is not true or false"),
    ("safe_search", 3, "3 is not 0, 1, 2, off, moderate, strict"),
    ("safe_search", -1, "-1 is not"),
    ("safe_search", 0.5, "0.5 is not"),
    ("safe_search", "high", "'high' is not"),
    ("safe_search", {"level": 1}, "is not 0, 1, 2"),
    ("time_range", "decade", "'decade' is not one of day, week, month, year, any"),
    ("time_range", "past", "is not one of day"),
    ("time_range", "7", "is not one of day"),
    ("time_range", "9" * 40 + "d", "is not one of day"),
    ("days", 0, "0 is not a whole number from 1 to"),
    ("days", "week", "'week' is not a whole number"),
    ("time_range", 1, "1 is not one of day"),
    ("time_range", ["day"], "['day'] is not one of"),
    ("time_range", "day" + "-" * 60, "is not one of day"),
    ("category", "sports", "is not one of general, images, videos, news"),
    ("category", "imges", "or another of SearXNG (did you mean images?)"),
    ("category", "socail media", "(did you mean social media?)"),
    ("category", "general,news", "is not one of general"),
    ("category", "a" * MEGABYTE, "is not one of general"),
    ("category", 5, "5 is not one of general"),
    ("category", ["news", "it"], "is not one of general"),
    ("category", '["news"', "is not one of general"),
    ("language", "elvish", "'elvish' is not a language such as en"),
    ("page", 0, "0 is not a whole number from 1 to 50"),
    ("page", 51, "from 1 to 50"),
    ("offset", 501, "from 0 to 500"),
    ("language", "e", "'e' is not a language"),
    ("language", "en-", "'en-' is not a language"),
    ("language", "en-USA", "'en-USA' is not a language"),
    ("language", "es-419", "'es-419' is not a language"),
    ("language", 5, "5 is not a language"),
    ("language", "en\x00", "is not a language"),
    ("timeout", 0, "0 is not a number from 1 to 120"),
    ("timeout", 0.5, "0.5 is not a number"),
    ("timeout", 121, "121 is not a number"),
    ("timeout", "30s", "'30s' is not a number"),
    ("timeout", False, "False is not a number"),
    ("timeout", float("nan"), "nan is not a number"),
    ("max_tokens", 199, "from 200 to 200,000"),
    ("max_tokens", 200_001, "from 200 to 200,000"),
    ("search_prompt", 5, "must be a text, not int"),
    ("search_prompt", "a" * 2_001, "has 2,001 characters; at most 2,000"),
    ("search_prompt", "a\x00", "U+0000 at position 2"),
    ("engines", 5, "5 is not a list of engines"),
    ("engines", [5], "5 is not the name of an engine"),
    ("engines", ["bing,google"], "is not the name of an engine"),
    ("engines", "a" * 61, "is not the name of an engine"),
    ("engines", "bi\x00ng", "is not the name of an engine"),
    ("engines", ["a\ud800"], "is not the name of an engine"),
    ("engines", '["bing"', "is not a JSON list of engines"),
    ("engines", ["bing"] * 21, "has 21 entries; at most 20"),
    ("allowed_domains", 5, "5 is not a list of domains"),
    ("allowed_domains", {"a": 1}, "is not a list of domains"),
    ("allowed_domains", [5], "5 is not a domain"),
    ("allowed_domains", [["example.org"]], "['example.org'] is not a domain"),
    ("allowed_domains", '["example.org"', "is not a JSON list of domains"),
    ("allowed_domains", "[" * 15_000, "is not a JSON list of domains"),
    ("allowed_domains", "example .org", "'example .org' is not a domain"),
    ("allowed_domains", "exa\x00mple.org", "is not a domain such as example.org"),
    ("allowed_domains", "a..example.org", "is not a domain"),
    ("allowed_domains", "-a.example.org", "is not a domain"),
    ("allowed_domains", "user@example.org", "is not a domain"),
    ("allowed_domains", "[::1]", "is not a JSON list of domains"),
    ("allowed_domains", ["::1"], "'::1' is not a domain"),
    ("allowed_domains", "site:example.org", "is not a domain"),
    ("allowed_domains", "*", "'*' is not a domain"),
    ("allowed_domains", "a" * 64 + ".org", "is not a domain"),
    ("allowed_domains", ".".join(["a" * 60] * 5), "is not a domain"),
    ("allowed_domains", "é" * 70 + ".example", "is not a domain"),
    ("allowed_domains", "\ud800.example", "is not a domain"),
    ("allowed_domains", ["é" * 5_000], "is not a domain"),
    ("allowed_domains", "a," * 20_000, "has 40,000 characters; at most 20,000"),
    ("allowed_domains", ["example.org"] * 51, "has 51 entries; at most 50"),
    ("blocked_domains", "http://", "is not a domain"),
    ("query", "", "is empty"),
    ("query", " \t\n", "is empty"),
    ("query", "\u200b\u2060 \u200b", "is empty"),
    ("query", 5, "must be a text, not int"),
    ("query", ["rust"], "must be a text, not list"),
    ("query", "a" * 501, "has 501 characters; at most 500"),
    ("query", "a\x07", "U+0007 at position 2"),
    ("query", "a\x1fb", "U+001F"),
    ("query", "a\x7f", "U+007F"),
    ("query", "a\x85b", "U+0085"),
    ("query", "ab\ud800", "U+D800 at position 3"),
    ("query", "a" * MEGABYTE, "has 1,048,576 characters; at most 500"),
]


@pytest.mark.parametrize(
    ("name", "value", "message"), REFUSED_SEARCH, ids=map(row_id, REFUSED_SEARCH)
)
def test_a_wrong_value_of_a_search_is_refused(name: str, value: object, message: str) -> None:
    error = refusal(search, {name: value})
    assert error.code == ErrorCode.INVALID_ARGUMENT
    assert error.field == name
    assert message in error.message
    assert len(error.message) < 220


REFUSED_FETCH = [
    ("url", "", "'' is not an address"),
    ("url", " ", "is not an address"),
    ("url", 5, "5 is not an address"),
    ("url", [], "[] is not an address"),
    ("url", ["https://example.org/", 5], "5 is not an address"),
    ("url", [["https://example.org/"]], "is not an address"),
    ("url", '["https://example.org/"', "is not a JSON list of addresses"),
    ("url", ["https://example.org/"] * 21, "has 21 entries; at most 20"),
    ("url", "https://example.org/a b", "has the character U+0020; encode it"),
    ("url", "https://example.org/\na", "U+000A"),
    ("url", "https://example.org/\x00", "U+0000"),
    ("url", "https://example.org/\xa0", "U+00A0"),
    ("url", "https://example.org/\ud800", "U+D800"),
    ("url", "https://example.org/" + "a" * 4_090, "has 4,110 characters; at most 4,096"),
    ("url", "example.org/" + "a" * 4_080, "has 4,100 characters; at most 4,096"),
    ("url", "a" * MEGABYTE, "has 1,048,576 characters"),
    ("url", "a." * MEGABYTE, "has 2,097,152 characters"),
    ("timeout", 4.9, "4.9 is not a number from 5 to 120"),
    ("timeout", 121, "from 5 to 120"),
    ("timeout", "soon", "'soon' is not a number"),
    ("follow_redirects", "perhaps", "is not true or false"),
    ("max_content_length", 1_023, "from 1,024 to 10,485,760"),
    ("max_content_length", "11MB", "from 1,024 to 10,485,760"),
    ("max_content_length", "2 GB", "'2 GB' is not a number of bytes or a size such as 2MB"),
    ("max_content_length", True, "is not a whole number"),
    ("max_content_length", 2048.5, "2048.5 is not a number of bytes"),
    ("max_content_length", [], "[] is not a number of bytes"),
    ("user_agent", "a\nb", "'a\\nb' is not printable ASCII of at most 256 characters"),
    ("user_agent", "a\n", "is not printable ASCII"),
    ("user_agent", "é", "is not printable ASCII"),
    ("user_agent", "a" * 257, "is not printable ASCII"),
    ("user_agent", 5, "5 is not printable ASCII"),
    ("cursor", "abcdefghijklm23", "is not a cursor from an earlier answer"),
    ("cursor", "abcdefghijklm2345", "is not a cursor from an earlier answer"),
    ("cursor", "abcdefghijklm230", "is not a cursor from an earlier answer"),
    ("offset", -1, "from 0 to"),
    ("offset", 100_000_001, "from 0 to"),
    ("limit", 0, "from 1 to 1,000,000"),
    ("limit", 1_000_001, "from 1 to 1,000,000"),
    ("max_chars", 0, "from 1 to 1,000,000"),
    ("max_chars", 1_000_001, "from 1 to 1,000,000"),
    ("images", "pictures", "'pictures' is not one of alt, links, inline, none"),
    ("section", "a" * 301, "at most 300"),
    ("prompt", "a" * 2_001, "at most 2,000"),
]


@pytest.mark.parametrize("name", ["uri", "urls", "link", "URL"])
def test_an_address_has_many_names(name: str) -> None:
    assert parse_fetch({name: "example.org"}).url == "https://example.org"


def test_of_several_addresses_the_first_is_read_and_the_others_are_kept() -> None:
    several = ["https://example.org/a", "example.net", "https://example.org/a"]
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
    ("name", "value", "message"), REFUSED_FETCH, ids=map(row_id, REFUSED_FETCH)
)
def test_a_wrong_value_of_a_fetch_is_refused(name: str, value: object, message: str) -> None:
    error = refusal(fetch, {name: value})
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
    ],
)
def test_a_wrong_name_is_refused(
    parse: Any, arguments: Mapping[str, Any], field: str, message: str
) -> None:
    error = refusal(parse, arguments)
    assert error.field.startswith(field[:50])
    assert message in error.message
    assert len(error.message) < 350


def test_an_error_names_the_argument_as_it_was_written() -> None:
    assert refusal(search, {"maxResults": 99}).field == "maxResults"


def test_a_null_does_not_collide_with_another_spelling() -> None:
    assert search(results_count=None, limit=3).results_count == 3


@pytest.mark.parametrize(("parse", "name"), [(parse_search, "query"), (parse_fetch, "url")])
def test_the_required_argument_is_asked_for(parse: Any, name: str) -> None:
    options = {"defaults": SearchDefaults()} if parse is parse_search else {}
    for arguments in ({}, {name: None}):
        with pytest.raises(InvalidArgumentError, match=f"^{name}: is missing"):
            parse(arguments, **options)


def test_a_domain_cannot_be_allowed_and_blocked() -> None:
    domains = {"allowedDomains": "a.example", "blockedDomains": "https://A.example/"}
    error = refusal(search, domains)
    assert error.field == "blockedDomains"
    assert "'a.example' is also in allowedDomains" in error.message


def test_whitespace_is_collapsed_and_letters_composed() -> None:
    assert search(query="  cafe\u0301\n\t bar ").query == "caf\u00e9 bar"


def test_a_query_of_500_characters_fits_after_collapsing() -> None:
    assert len(search(query="a" * 498 + " " * 1_000 + "b").query) == 500


def test_no_error_shows_the_query() -> None:
    secret = "hunter2"
    for query in (f"{secret}\x00", secret * 100, [secret]):
        assert secret not in str(refusal(search, {"query": query}))
        assert secret not in str(refusal(search, {"search_prompt": query * 10}))


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
        assert len(message) < 400
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
    for profile, field in (({"query": "a"}, "query"), ({"limit": 9}, "limit"), ({"x": 1}, "x")):
        with pytest.raises(InvalidArgumentError) as caught:
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
        name for name in SearchRequest.model_fields if name not in {"engines", "source", "offset"}
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
    """Tokenizers need between 3 and 4 characters a token for JSON; 580 leaves 120 for the words."""
    text = json.dumps(schemas(), separators=(",", ":"))
    assert len(text) / 3.1 < 580
