"""Fixtures of the content tests."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from searx_mcp.content.config import ContentConfig


@pytest.fixture
def config() -> ContentConfig:
    return ContentConfig()


@pytest.fixture
def manual() -> str:
    """A page with text before its first heading, and headings of three levels."""
    return """Before everything.

# Manual

General words about the program and its makers.

## Install

Get the package and unpack it anywhere.

### Linux

Use the package manager of the system.

## Configure

Timeouts are set in seconds. The retry limit is a number.

# Licence

Free for everybody.
"""


@pytest.fixture
def captured_pages() -> list[Path]:
    """HTML files of the folder named by SEARX_MCP_CAPTURES; none when it is unset."""
    folder = os.environ.get("SEARX_MCP_CAPTURES")
    return sorted(Path(folder).rglob("*.html"))[:40] if folder else []


@pytest.fixture(scope="session")
def first() -> Callable[[Callable[[int], bool]], int]:
    """Return the least number below 20,000 for which a probe is true; it is false for all below."""

    def _first(probe: Callable[[int], bool]) -> int:
        low, high = -1, 20_000
        assert probe(high), "never"
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if probe(middle) else (middle, high)
        return high

    return _first
