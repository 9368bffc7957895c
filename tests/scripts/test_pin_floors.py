"""Floors are pinned below what is reached, and nothing gets worse unasked."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest


@pytest.fixture
def script(load_script: Callable[[str], ModuleType]) -> ModuleType:
    return load_script("pin_floors")


def _entry(**facts: object) -> dict[str, Any]:
    return {"file": "pages/a.html", "floor": 0.8, "known": ["missing: x"], "reason": "", **facts}


@pytest.mark.parametrize(
    ("value", "floor"),
    [
        pytest.param(0.9, 0.895, id="below by the margin"),
        pytest.param(0.8969, 0.891, id="cut off, not rounded"),
        pytest.param(0.001, 0.0, id="never below zero"),
    ],
)
def test_a_floor_lies_below_what_is_reached(script: ModuleType, value, floor):
    assert script.pinned(value, 0.005) == floor


@pytest.mark.parametrize(
    ("facts", "f1", "failures", "problems"),
    [
        ({}, 0.9, (), []),
        ({}, 0.79, (), ["a: floor 0.8 sinks to 0.785"]),
        ({}, 0.801, ("missing: x",), []),
        ({}, 0.9, ("wrong kind",), ["a: new: wrong kind"]),
        ({"floor": 0.0}, 0.4, (), ["a: a floor of 0.395 needs a reason"]),
        ({"floor": 0.0, "reason": "why"}, 0.4, (), []),
    ],
    ids=["better", "worse", "within its margin", "a new failure", "below one half", "explained"],
)
def test_a_page_is_a_problem_if_it_is_worse_or_low_without_a_reason(
    script: ModuleType, facts, f1, failures, problems
):
    entry = _entry(**facts)
    assert script.pin_page(entry, f1=f1, failures=failures) == problems
    if f1 == 0.9 and not failures:
        assert (entry["floor"], entry["known"]) == (0.895, []), (
            "pinned higher, and what is met gone"
        )


def test_means_are_pinned_and_groups_that_are_gone_forgotten(script: ModuleType):
    pins = {"forum": 0.9, "gone": 0.5}
    assert script.pin_means(pins, {"forum": 0.85, "article": 0.95}) == [
        "forum: mean floor 0.9 sinks to 0.847"
    ]
    assert pins == {"forum": 0.847, "article": 0.947}
