"""What each argument of a search and of a fetch takes, in which spellings, and what it refuses."""

from collections.abc import Mapping
from typing import Any

import pytest

from searx_mcp.arguments import SearchDefaults, parse_fetch, parse_search
from searx_mcp.errors import ErrorCode, InvalidArgumentError
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.request import Category, SafeSearch, SearchRequest, TimeRange
from searx_mcp.models.spelling import shown

MEGABYTE = 1_048_576


def search(**arguments: Any) -> SearchRequest:
    return parse_search({"query": "rust", **arguments}, defaults=SearchDefaults())


def fetch(**arguments: Any) -> FetchRequest:
    return parse_fetch({"url": "https://example.org/", **arguments})


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
        ("all", "any language", "all languages", "ALL"), ("en-US", "EN_us"), ("pt-BR", "pt-br"), ("fil", "fil"),
        ("auto", "Auto", "auto"), ("zh-HK", " ZH_hk "),
    ],
    "page": [(3, "3")],
    "offset": [(500, 500)],
    "queries": [(("a",), ["a"] * 10)],
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
        (2 * MEGABYTE, "2MB", "2 MiB"), (512 * 1024, "512 kb", "512KiB"), (1024, "1024"),
        (2048, 2048.0, "2048B"),
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
        ("must be text, not a number", 5, 0.5), ("must be text, not true or false", True),
        ("must be text, not a list", ["a"]), ("must be text, not an object", {"a": "b"}),
        ("must be text, not bytes", b"a"), ("has 2,001 characters; at most 2,000", "a" * 2_001),
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


@pytest.mark.parametrize(
    ("parse", "name", "value", "message"), rows({search: REFUSED_SEARCH, fetch: REFUSED_FETCH})
)
def test_a_wrong_value_is_refused(parse: Any, name: str, value: object, message: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        parse(**{name: value})
    error = caught.value
    assert error.code == ErrorCode.INVALID_ARGUMENT
    assert error.field == name
    assert message in error.message
    assert len(error.message) < 220
