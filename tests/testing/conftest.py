"""A plain HTTP client whose headers pass SearXNG's checks."""

from collections.abc import AsyncIterator

import aiohttp
import pytest

HEADERS = {
    "User-Agent": "searx-mcp/1.0 (+https://example.org/)",
    "Accept": "text/html,application/json;q=0.9,*/*;q=0.5",
    "Accept-Language": "en-US,en;q=0.8",
    "Accept-Encoding": "gzip, deflate",
}


@pytest.fixture
async def http(anyio_backend: str) -> AsyncIterator[aiohttp.ClientSession]:
    timeout = aiohttp.ClientTimeout(total=10)
    async with aiohttp.ClientSession(headers=HEADERS, timeout=timeout) as session:
        yield session
