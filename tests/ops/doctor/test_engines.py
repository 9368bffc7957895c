"""Engines inside an instance, and searches there."""

import json

import pytest

from searx_mcp.models.instance import EngineReport, EngineState
from searx_mcp.ops.doctor.checks import CheckStatus
from searx_mcp.ops.doctor.engines import ListedEngine, check_searches, listed_engines


def test_engines_are_listed_with_their_categories():
    listed = {
        "engines": [
            {"name": "a", "categories": ["general", 1, "web"], "enabled": True},
            {"name": "b", "categories": "general", "enabled": False},
            {"name": "c"},
            {"categories": ["general"]},
            1,
        ]
    }
    assert listed_engines(json.dumps(listed)) == (
        ListedEngine("a", enabled=True, categories=("general", "web")),
        ListedEngine("b", enabled=False, categories=()),
        ListedEngine("c", enabled=True, categories=()),
    )
    assert listed_engines('{"engines": 1}') == ()


@pytest.mark.parametrize("text", ["[]", "<html>", "[" * 100_000], ids=["list", "page", "deep"])
def test_another_document_lists_none(text):
    assert listed_engines(text) == ()


def engine(name: str, results: int = 10) -> EngineReport:
    return EngineReport(name=name, state=EngineState.WELL, results=results)


RESTING = EngineReport(
    name="brave", state=EngineState.REFUSED, reason="CAPTCHA", retry_after=60, spared=True
)


ENGINES = {
    "all well, and too few to spread": (
        [engine("a", 9), engine("b", 2), engine("c", 0)],
        CheckStatus.OK,
        "Results come from a 9, b 2.",
    ),
    "one refused": (
        [engine("a"), engine("b"), engine("c"), RESTING],
        CheckStatus.OK,
        (
            "Results come from a 10, b 10, c 10. In cooldown: brave (CAPTCHA). "
            "Searches use the others."
        ),
    ),
    "too few left": (
        [engine("a"), engine("b"), RESTING],
        CheckStatus.WARNING,
        ("Results come from a 10, b 10. In cooldown: brave (CAPTCHA). Searches use the others."),
    ),
    "none left": (
        [RESTING],
        CheckStatus.WARNING,
        ("Results come from no engine yet. In cooldown: brave (CAPTCHA). Searches use the others."),
    ),
    "many": (
        [engine(f"e{n}") for n in range(8)],
        CheckStatus.OK,
        "Results come from e0 10, e1 10, e2 10, e3 10, e4 10, e5 10 and 2 more.",
    ),
}


@pytest.mark.parametrize(("engines", "status", "detail"), ENGINES.values(), ids=ENGINES)
def test_engines_are_named_with_what_they_bring(engines, status, detail):
    finding = check_searches(engines)

    assert (finding.status, finding.detail) == (status, detail)
    assert bool(finding.fix) is (status is CheckStatus.WARNING)
