"""A job makes of an answer what is made of it without one."""

import json
from pathlib import Path
from typing import Any

import pytest

from searx_mcp.http.body import Response
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.sources.searxng.answers import (
    CONFIG,
    JOBS,
    RESULTS,
    ROBOTS,
    SUGGESTIONS,
    options_for,
)
from searx_mcp.workers.jobs import Reader

BASE = "https://search.example/"
SEARCH = {"base_url": BASE, "format": Format.HTML, "own": False, "text": "pine marten"}
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


def _made(reader: Reader[Any], received: Response, arguments: dict[str, object]) -> Any:
    """What comes of a job when all of it has gone through JSON."""
    options = json.loads(json.dumps(options_for(received, arguments)))
    return reader.answer(json.loads(json.dumps(JOBS[reader.name](received.body, options))))


@pytest.mark.parametrize(
    ("reader", "arguments", "status", "text"),
    [
        pytest.param(RESULTS, SEARCH, 200, PAGE, id="HTML"),
        pytest.param(RESULTS, SEARCH, 200, ROWS, id="JSON"),
        pytest.param(RESULTS, {**SEARCH, "own": True}, 200, ROWS, id="of an own instance"),
        pytest.param(RESULTS, SEARCH, 429, "", id="a limit"),
        pytest.param(RESULTS, SEARCH, 200, "<h1>It works!</h1>", id="another program"),
        pytest.param(ROBOTS, SEARCH, 200, "User-agent: searx-mcp\nDisallow: /", id="robots.txt"),
        pytest.param(ROBOTS, SEARCH, 503, "", id="no robots.txt"),
        pytest.param(CONFIG, {}, 200, CONFIG_TEXT, id="config"),
        pytest.param(CONFIG, {}, 404, "", id="no config"),
        pytest.param(SUGGESTIONS, {}, 200, '["a", ["ab", "ac"]]', id="suggestions"),
    ],
)
def test_a_job_makes_the_same_of_an_answer(
    reader: Reader[Any], arguments: dict[str, object], status: int, text: str
) -> None:
    headers = {"Retry-After": "30", "X": "\udcff", "Server-Timing": "total;dur=5"}
    received = Response(status, headers, text.encode(), f"{BASE}search?q=x")

    made = _made(reader, received, arguments)

    assert made == reader.read(received.body, options_for(received, arguments))
    assert type(made) is type(reader.read(received.body, options_for(received, arguments)))


def test_a_job_makes_the_same_of_captured_answers(captures: Path | None) -> None:
    for path in sorted(captures.rglob("*.[hj][ts][mo]*")) if captures else ():
        received = Response(200, {}, path.read_bytes(), f"{BASE}search?q=x")
        if path.suffix in {".html", ".json"}:
            expected = RESULTS.read(received.body, options_for(received, SEARCH))
            assert _made(RESULTS, received, SEARCH) == expected, path


def test_what_a_job_may_say_is_checked() -> None:
    made = RESULTS.answer({"answer": {"verdict": "full", "page": None}})

    assert made.verdict is Verdict.FULL
