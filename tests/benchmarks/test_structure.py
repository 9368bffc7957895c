"""The structure of the package is measured."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
RECORDED = {"pool": [100, 5], "a search": [200, 40]}
TABLE = """
| of | what | first | second | why it last rose |
| --- | --- | --- | --- | --- |
| pool | statements, modules | 100 | 5 | |
| a search | functions, modules | 200 | 40 | A call may be hedged. |
"""


@pytest.fixture(scope="module")
def structure(load_benchmark: Callable[[str], ModuleType]) -> ModuleType:
    return load_benchmark("structure")


@pytest.mark.parametrize(
    ("imports", "chain"),
    [
        ({"a": set()}, ["a"]),
        ({"a": {"b", "c"}, "b": set(), "c": {"b"}}, ["a", "c", "b"]),
        ({"a": {"b"}, "b": {"face"}}, ["a", "b"]),
    ],
    ids=["one", "of two ways the longer", "what is left out"],
)
def test_the_longest_chain_of_imports_is_found(
    structure: ModuleType, imports: dict[str, set[str]], chain: list[str]
):
    assert structure.longest_chain(imports) == chain


def test_modules_that_import_each_other_are_named(structure: ModuleType):
    found = structure.longest_chain({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": set()})
    assert set(found) == {"a", "b", "c"}


def test_statements_are_counted_at_any_depth_and_without_docstrings(structure: ModuleType):
    source = '"""A module."""\nA = 1\n"""A number."""\ndef f():\n    """F."""\n    if A:\n        return\n'
    assert structure.statements_in(source) == 4


@pytest.mark.parametrize(
    ("counts", "risen"),
    [
        ({"pool": (100, 5)}, []),
        ({"pool": (99, 4)}, []),
        ({"pool": (101, 4)}, ["pool"]),
        ({"pool": (99, 6)}, ["pool"]),
        ({"new": (1, 1)}, ["new"]),
        ({"a search": (201, 40)}, ["a search"]),
    ],
)
def test_a_count_that_rises_is_named(structure: ModuleType, counts, risen):
    assert structure.risen_over(counts, RECORDED) == risen


@pytest.mark.parametrize(("functions", "kept"), [(199, 199), (202, 200), (203, 203)])
def test_a_way_that_is_longer_by_a_turn_of_another_thread_has_not_grown(
    structure: ModuleType, functions, kept
):
    counts = {"a search": (functions, 40), "a fetch": (1, 1)}
    assert structure.settled(counts, RECORDED)["a search"] == (kept, 40)


@pytest.mark.parametrize(
    ("recorded", "names"),
    [
        (RECORDED, []),
        ({"pool": [101, 5], "a search": [200, 40]}, ["pool"]),
        ({"pool": [100, 5]}, ["a search"]),
        (RECORDED | {"new": [1, 1]}, ["new"]),
    ],
    ids=["the same", "another count", "a row too many", "a row too few"],
)
def test_a_recorded_count_without_its_row_in_the_document_is_named(
    structure: ModuleType, recorded, names
):
    assert structure.differing(recorded, TABLE) == names


def test_the_recorded_counts_stand_in_the_document(structure: ModuleType):
    recorded = tomllib.loads((ROOT / "benchmarks" / "structure.toml").read_text("utf-8"))
    document = (ROOT / "docs" / "decisions" / "architecture.md").read_text("utf-8")
    assert structure.differing(recorded, document) == []
