"""What an answer came to: as a job makes it, and how long it asks us to stay away."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from searx_mcp.http.body import Response
from searx_mcp.sources.open.answers import ANSWERED, EngineContext, judge, pause
from searx_mcp.sources.open.engine import OpenQuery
from searx_mcp.sources.open.table import ENGINES, KEYED

NOW = 1_790_000_000.0
ANSWERS = sorted((Path(__file__).parent / "answers").iterdir())
QUERY = OpenQuery(
    text="red panda", keywords=("red", "panda"), now=datetime(2026, 11, 22, 12, tzinfo=UTC)
)


@pytest.mark.parametrize("status", [200, 400, 429])
@pytest.mark.parametrize("engine", [*ENGINES, *KEYED], ids=lambda engine: engine.name)
def test_a_job_makes_the_same_of_an_answer(engine, status):
    answers = [path for path in ANSWERS if path.name.startswith(engine.name)]
    for body in [b"", b"{}", *(path.read_bytes() for path in answers)]:
        reply = Response(status, {"Retry-After": "30"}, body)
        asked = EngineContext(engine=engine, query=QUERY, now=NOW)
        options = json.loads(json.dumps(ANSWERED.options(reply, asked)))
        made = ANSWERED.made(json.loads(json.dumps(ANSWERED.job(body, options))))

        assert made == judge(reply, asked)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        pytest.param({}, None, id="nothing"),
        pytest.param({"Retry-After": "30"}, 30, id="retry-after"),
        pytest.param({"RETRY-AFTER": "999999"}, 86_400, id="a day at most"),
        pytest.param({"x-ratelimit-remaining": "9", "x-ratelimit-reset": "5"}, None, id="some left"),
        pytest.param({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1790000042"}, 42, id="GitHub"),
        pytest.param({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "5"}, 5, id="seconds"),
        pytest.param({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "0"}, 1, id="a second at least"),
        pytest.param({"x-ratelimit-remaining": "0"}, None, id="no time"),
        pytest.param({"x-rate-limit-remaining": "0", "x-rate-limit-reset": "7"}, 7, id="other spelling"),
        pytest.param({"RateLimit": '"api";r=0;t=120'}, 120, id="structured"),
        pytest.param({"RateLimit": '"api";r=3;t=120'}, None, id="structured, some left"),
        pytest.param({"RateLimit": "r" * 10_000}, None, id="nonsense"),
        pytest.param({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "soon"}, None, id="words"),
        pytest.param({"x-ratelimit-remaining": "-1", "x-ratelimit-reset": "5"}, None, id="below zero"),
    ],
)  # fmt: skip
def test_an_answer_asks_for_a_pause(headers, seconds):
    assert pause(headers, NOW) == seconds
