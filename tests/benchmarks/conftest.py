"""Loading modules of the benchmarks, which are no part of the package."""

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def load_benchmark() -> Iterator[Callable[[str], ModuleType]]:
    """Give a function that imports a module of `benchmarks` by its name there."""
    # After what is installed, so that the benchmarks import the package that is under test.
    sys.path.append(str(ROOT))
    yield lambda name: importlib.import_module(f"benchmarks.{name}")
    sys.path.remove(str(ROOT))
