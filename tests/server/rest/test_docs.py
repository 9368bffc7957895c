"""`docs/reference/rest.md`: its table has every route, and its examples do what it says."""

import json
import re
import shlex
from pathlib import Path

import pytest

from searx_mcp.server import metrics
from searx_mcp.server.http import OPERATIONS
from searx_mcp.server.rest.operation import PAGE_FAILED, STATUSES
from searx_mcp.server.web.policy import HttpRefusal

TEXT = (Path(__file__).parents[3] / "docs" / "reference" / "rest.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^\$ (curl .+)$(?:\n```\n\n```json\n(.+)\n```)?", TEXT, re.MULTILINE)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.name)
def test_the_table_has_the_route_with_its_statuses(operation):
    (row,) = re.findall(rf"^\| `{operation.method} {operation.path}` \|.*$", TEXT, re.MULTILINE)
    told = {int(status) for status in row.rsplit("|", 2)[1].split(",")}
    assert told == set(operation.statuses)


def test_the_row_of_the_metrics_has_their_refusals():
    refusals = {each.status for each in vars(metrics).values() if isinstance(each, HttpRefusal)}
    (row,) = re.findall(r"^\| `GET /metrics` \|.*$", TEXT, re.MULTILINE)
    assert {int(status) for status in row.rsplit("|", 2)[1].split(",")} == refusals


def test_the_examples_are_found():
    assert len(EXAMPLES) >= 10
    assert sum(bool(shown) for _, shown in EXAMPLES) >= 3


@pytest.mark.parametrize(("command", "shown"), EXAMPLES, ids=[str(n) for n in range(len(EXAMPLES))])
async def test_an_example_gives_what_it_shows(rest, command, shown):
    words = shlex.split(command)
    url = next(word for word in words if word.startswith("http://"))
    headers = dict(
        words[place + 1].split(": ", 1) for place, word in enumerate(words) if word == "-H"
    )
    path = url.removeprefix("http://127.0.0.1:8765")
    if "-d" in words:
        body = words[words.index("-d") + 1]
        answer = await rest.post(path, content=body, headers=headers)
    else:
        answer = await rest.get(path, headers=headers)
    assert answer.status_code in {200, 400, 422}
    if shown:
        assert answer.json() == json.loads(shown)
    else:
        assert answer.status_code == 200


OF_COMMANDS = {"native_failed", "setup_failed"}


def test_every_code_of_a_call_is_told_with_its_status():
    rows = dict(re.findall(r"^\| (\d{3}) \| (.+?) \|", TEXT, re.MULTILINE))
    for code, status in STATUSES.items():
        if status not in {PAGE_FAILED, 401} and code not in OF_COMMANDS:
            assert f"`{code}`" in rows[str(status)]
