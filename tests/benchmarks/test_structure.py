"""The structure of the package is measured."""

from collections.abc import Callable
from types import ModuleType

import pytest


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
