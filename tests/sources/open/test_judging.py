"""A job makes of an answer what is made of it without one."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from searx_mcp.sources.open.interface import Engine, OpenQuery
from searx_mcp.sources.open.judging import ANSWERED, Reply, judge, options_for
from searx_mcp.sources.open.table import ENGINES

ANSWERS = sorted((Path(__file__).parent / "answers").iterdir())
QUERY = OpenQuery(
    text="red panda", keywords=("red", "panda"), now=datetime(2026, 11, 22, 12, tzinfo=UTC)
)


@pytest.mark.parametrize("status", [200, 400, 429])
@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_a_job_makes_the_same_of_an_answer(engine: Engine, status: int) -> None:
    answers = [path for path in ANSWERS if path.name.startswith(engine.name)]
    for body in [b"", b"{}", *(path.read_bytes() for path in answers)]:
        reply = Reply(status, {"Retry-After": "30"}, body)
        options = json.loads(json.dumps(options_for(engine, QUERY, reply, 1_790_000_000.0)))
        made = ANSWERED.answer(json.loads(json.dumps(ANSWERED.job(body, options))))

        assert made == judge(engine, QUERY, reply, 1_790_000_000.0)
