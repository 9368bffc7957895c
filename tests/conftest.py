"""Fixtures every test may use."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """The suite runs on asyncio, the loop the package is written for."""
    return "asyncio"
