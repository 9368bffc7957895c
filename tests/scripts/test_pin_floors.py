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


def test_a_better_page_is_pinned_higher_and_forgets_what_is_met(script: ModuleType):
    entry = _entry()
    assert script.pin_page(entry, f1=0.9, failures=()) == []
    assert (entry["floor"], entry["known"]) == (0.895, [])


def test_a_floor_that_sinks_is_a_problem(script: ModuleType):
    assert script.pin_page(_entry(), f1=0.79, failures=()) == ["a: floor 0.8 sinks to 0.785"]


def test_a_page_within_its_margin_is_no_problem(script: ModuleType):
    assert script.pin_page(_entry(), f1=0.801, failures=("missing: x",)) == []


def test_a_new_failure_is_a_problem(script: ModuleType):
    assert script.pin_page(_entry(), f1=0.9, failures=("wrong kind",)) == ["a: new: wrong kind"]


def test_a_floor_below_one_half_needs_a_reason(script: ModuleType):
    problems = script.pin_page(_entry(floor=0.0), f1=0.4, failures=())
    assert problems == ["a: a floor of 0.395 needs a reason"]
    assert script.pin_page(_entry(floor=0.0, reason="why"), f1=0.4, failures=()) == []


def test_means_are_pinned_and_groups_that_are_gone_forgotten(script: ModuleType):
    pins = {"forum": 0.9, "gone": 0.5}
    assert script.pin_means(pins, {"forum": 0.85, "article": 0.95}) == [
        "forum: mean floor 0.9 sinks to 0.847"
    ]
    assert pins == {"forum": 0.847, "article": 0.947}
