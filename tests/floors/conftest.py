"""The benchmarks, which are no part of the package, for tests."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def floors() -> ModuleType:
    """Give the module that reads the manifest."""
    # After what is installed, so that the benchmarks import the package that is under test.
    sys.path.append(str(ROOT))
    try:
        return importlib.import_module("benchmarks.extracting.floors")
    finally:
        sys.path.remove(str(ROOT))
