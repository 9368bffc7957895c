"""A job makes of an answer what is made of it without one."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.http.body import Response
from searx_mcp.models.attempt import Verdict
from searx_mcp.pool.engine_care import Trouble
from searx_mcp.sources.searxng.answers import (
    CONFIG,
    JOBS,
    RESULTS,
    ROBOTS,
    SUGGESTIONS,
    FailingEngine,
    InstanceContext,
    failing_engines,
    parse_suggestions,
    suggest_url,
)
from searx_mcp.workers.jobs import Reader

MAX_SUGGESTIONS = 20


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param('["q", ["a b", "c"], [], [], {}]', ("a b", "c"), id="OpenSearch"),
        pytest.param('["q", []]', (), id="OpenSearch without any"),
        pytest.param(
            '["q", [], [], [], {"google:suggestrelevance": []}]', (), id="as of August 2026"
        ),
        pytest.param('["a b", "c"]', ("a b", "c"), id="plain list"),
        pytest.param("[]", (), id="empty plain list"),
        pytest.param('["a", 5, null, "a", "b", ["c"]]', ("a", "b"), id="mixed and repeated"),
        pytest.param('["q", ["\\u200b", " a \\n b "]]', ("a b",), id="cleaned"),
        pytest.param('["q", ["\\ud800x"]]', ("x",), id="lone surrogate"),
        pytest.param('{"suggestions": ["a"]}', (), id="another shape"),
        pytest.param('"a"', (), id="a text"),
        pytest.param("<html>", (), id="a page"),
        pytest.param("", (), id="nothing"),
        pytest.param("[" * 100_000, (), id="too deep"),
    ],
)
def test_both_forms_of_suggestions_are_read(body, expected):
    assert parse_suggestions(body.encode()) == expected


def test_suggestions_are_few_and_short():
    found = parse_suggestions(json.dumps([f"{n} {'x' * 500}" for n in range(99)]).encode())

    assert len(found) == MAX_SUGGESTIONS
    assert all(len(text) == 200 for text in found)


def test_a_body_that_is_too_long_is_not_read():
    assert parse_suggestions(b" " * 300_000 + b'["a"]') == ()


@given(st.binary(max_size=200))
def test_any_body_gives_suggestions_or_none(body):
    assert all(isinstance(text, str) for text in parse_suggestions(body))


def test_the_text_is_neutralised():
    url = suggest_url("https://a.example/sx/", "!images caf\u00e9")

    assert url == "https://a.example/sx/autocompleter?q=%22%21images%22+caf%C3%A9"


BASE = "https://search.example/"
SEARCH = InstanceContext(base_url=BASE, text="pine marten")
PAGE = (
    '<meta name="generator" content="searxng/2026.8.22"><body class="results_endpoint"><div id=urls>'
    '<article class="result"><h3><a href="https://a.example/">A</a></h3></article>'
)
ROWS = json.dumps(
    {
        "results": [
            {"url": "https://a.example/", "title": "A", "publishedDate": "2026-02-01T10:00:00"},
            {"url": "https://b.example/", "title": "B", "template": "torrent.html", "seed": 3},
            {"url": "https://c.example/", "title": "C", "template": "map.html", "latitude": 1.5},
        ],
        "answers": [{"answer": "42", "url": "https://d.example/"}],
        "infoboxes": [
            {"infobox": "I", "content": "c", "attributes": [{"label": "l", "value": "v"}]}
        ],
        "unresponsive_engines": [["bing", "timeout"]],
    }
)
CONFIG_TEXT = '{"version": "2026.8.22", "engines": [{"name": "bing", "categories": ["general"]}]}'


def _made(reader: Reader[InstanceContext, Any], received: Response, asked: InstanceContext) -> Any:
    """What comes of a job when all of it has gone through JSON."""
    options = json.loads(json.dumps(reader.options(received, asked)))
    return reader.made(json.loads(json.dumps(JOBS[reader.name](received.body, options))))


@pytest.mark.parametrize(
    ("reader", "asked", "status", "text"),
    [
        pytest.param(RESULTS, SEARCH, 200, PAGE, id="HTML"),
        pytest.param(RESULTS, SEARCH, 200, ROWS, id="JSON"),
        pytest.param(RESULTS, replace(SEARCH, own=True), 200, ROWS, id="of an own instance"),
        pytest.param(RESULTS, SEARCH, 429, "", id="a limit"),
        pytest.param(RESULTS, SEARCH, 200, "<h1>It works!</h1>", id="another program"),
        pytest.param(ROBOTS, SEARCH, 200, "User-agent: searx-mcp\nDisallow: /", id="robots.txt"),
        pytest.param(ROBOTS, SEARCH, 503, "", id="no robots.txt"),
        pytest.param(CONFIG, SEARCH, 200, CONFIG_TEXT, id="config"),
        pytest.param(CONFIG, SEARCH, 404, "", id="no config"),
        pytest.param(SUGGESTIONS, SEARCH, 200, '["a", ["ab", "ac"]]', id="suggestions"),
    ],
)
def test_a_job_makes_the_same_of_an_answer(reader, asked, status, text):
    headers = {"Retry-After": "30", "X": "\udcff", "Server-Timing": "total;dur=5"}
    received = Response(status, headers, text.encode(), f"{BASE}search?q=x")

    made = _made(reader, received, asked)

    assert made == reader.read(received, asked)
    assert type(made) is type(reader.read(received, asked))


def test_a_job_makes_the_same_of_captured_answers(captures):
    for path in sorted(captures.rglob("*.[hj][ts][mo]*")) if captures else ():
        received = Response(200, {}, path.read_bytes(), f"{BASE}search?q=x")
        if path.suffix in {".html", ".json"}:
            expected = RESULTS.read(received, SEARCH)
            assert _made(RESULTS, received, SEARCH) == expected, path


def test_what_a_job_may_say_is_checked():
    made = RESULTS.made({"answer": {"verdict": "full", "page": None}})

    assert made.verdict is Verdict.FULL


def errors(name: str | None, message: str | None, percentage: object = 100, **more: object) -> str:
    error = {"exception_classname": name, "log_message": message, "percentage": percentage} | more
    return json.dumps({"bing": [error]})


@pytest.mark.parametrize(
    ("text", "reason", "trouble"),
    [
        (errors("searx.exceptions.SearxEngineCaptchaException", None), "CAPTCHA", Trouble.REFUSES),
        (
            errors("searx.exceptions.SearxEngineTooManyRequestsException", ""),
            "too many requests",
            Trouble.REFUSES,
        ),
        (
            errors("searx.exceptions.SearxEngineAccessDeniedException", "HTTP 403"),
            "access denied",
            Trouble.REFUSES,
        ),
        (errors("httpx.ConnectTimeout", None), "timeout", Trouble.SLOW),
        (errors(None, "engine timed out"), "timeout", Trouble.SLOW),
        (errors("httpx.ConnectError", None), "no connection", Trouble.UNREACHED),
        (errors("httpx.ProxyError", None), "no connection", Trouble.UNREACHED),
        (errors(None, "HTTP connection error"), "no connection", Trouble.UNREACHED),
        (errors(None, "network error"), "no connection", Trouble.UNREACHED),
        (errors("lxml.etree.ParserError", None), "ParserError", Trouble.OTHER),
        (errors("builtins.KeyError", "no\x1b[31m key"), "no key", Trouble.OTHER),
        (errors(None, None), "unknown", Trouble.OTHER),
    ],
    ids=str,
)
def test_an_engine_fails_for_a_reason(text, reason, trouble):
    assert failing_engines(text) == (FailingEngine("bing", reason, trouble),)


def test_the_worst_error_counts():
    few = {"exception_classname": "x.Captcha", "log_message": "", "percentage": 50}
    most = {"exception_classname": "x.Timeout", "log_message": "", "percentage": 60}
    found = failing_engines(json.dumps({"b": [few, most], "a": [few]}))
    assert found is not None
    assert [(each.name, each.reason) for each in found] == [("a", "CAPTCHA"), ("b", "timeout")]


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        errors("x.Timeout", "", 45),
        errors("x.Timeout", "", secondary=True),
        errors("x.Timeout", "", "much"),
        '{"bing": {}}',
        '{"bing": [1]}',
    ],
    ids=["none", "seldom", "of a row", "no number", "no list", "no error"],
)
def test_an_engine_that_mostly_works_does_not_fail(text):
    assert failing_engines(text) == ()


@pytest.mark.parametrize("text", ["[]", "<html>", "[" * 100_000], ids=["list", "page", "deep"])
def test_another_document_tells_nothing(text):
    assert failing_engines(text) is None
