"""Fixtures of the content tests."""

import os
from pathlib import Path

import pytest

from searx_mcp.content.config import ContentConfig


@pytest.fixture
def config() -> ContentConfig:
    return ContentConfig()


@pytest.fixture
def captured_pages() -> list[Path]:
    """HTML files of the folder named by SEARX_MCP_CAPTURES; none when it is unset."""
    folder = os.environ.get("SEARX_MCP_CAPTURES")
    return sorted(Path(folder).rglob("*.html"))[:40] if folder else []
