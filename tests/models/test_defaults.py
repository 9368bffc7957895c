"""What values say where nothing is said, and which outcomes stand together."""

from dataclasses import astuple
from typing import Any

import pytest
from pydantic import BaseModel

from searx_mcp.models.attempt import Attempt, Format, PastOutcome, Verdict
from searx_mcp.models.instance import (
    Catalog,
    EngineReport,
    EngineState,
    InstanceReport,
    InstanceState,
    MonthReport,
    PoolReport,
    Tier,
)
from searx_mcp.models.style import Images, Links, Style

URL = "https://a.example/"
MONTH = dict.fromkeys(("capacity", "spent", "left_now", "left_month", "kept_back"), 1)
LEAST: list[tuple[type[BaseModel], dict[str, Any]]] = [
    (Attempt, {"instance": URL, "verdict": Verdict.FULL, "format": Format.JSON}),
    (PastOutcome, {"at": 1.0, "verdict": Verdict.FULL, "format": Format.JSON}),
    (EngineReport, {"name": "a", "state": EngineState.WELL}),
    (
        InstanceReport,
        {"url": URL, "tier": Tier.A, "grade": "A", "state": InstanceState.NEW, "score": 1.0},
    ),
    (MonthReport, MONTH),
    (PoolReport, {"instances": ()}),
]


@pytest.mark.parametrize(("kind", "given"), LEAST, ids=[kind.__name__ for kind, _ in LEAST])
def test_what_is_not_known_is_nothing(kind, given):
    value = kind(**given)
    assert [name for name in kind.model_fields if name not in given and getattr(value, name)] == []
    assert "outcomes" not in repr(value)


def test_a_list_of_instances_is_of_the_first_version():
    assert Catalog.model_validate({"listed_at": "2026-08-05T00:00:00Z"}).schema_version == 1


def test_a_page_is_written_whole_unless_told_otherwise():
    assert astuple(Style()) == (Images.ALT, Links.INLINE, 6, True, True, True, True)


def test_some_outcomes_are_of_the_network_and_some_end_a_search():
    assert {each for each in Verdict if each.is_network} == {
        *(Verdict.DNS, Verdict.CONNECTION, Verdict.TIMEOUT)
    }
    assert {each for each in Verdict if each.ends_search} == {
        *(Verdict.FULL, Verdict.THIN, Verdict.EMPTY)
    }
