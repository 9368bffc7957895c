"""The wiring of what searches and reads."""

import subprocess
import sys

import pytest

LOADED = """
import asyncio, sys
from searx_mcp import SearxClient

async def main():
    async with SearxClient() as client:
        await client.admin.list()

asyncio.run(main())
print(*sys.modules)
"""
HEAVY = {
    "aiohttp",
    "asyncpg",
    "bs4",
    "cachetools",
    "lxml",
    "markdownify",
    "mcp",
    "pypdfium2",
    "redis",
    "rich",
    "selectolax",
    "searx_mcp.client.asking",
    "searx_mcp.evidence.values",
    "searx_mcp.fetch.capture",
    "searx_mcp.fetch.fetcher",
    "searx_mcp.models.response",
    "searx_mcp.ops.instance_export",
    "searx_mcp.ops.own.waking",
    "searx_mcp.search.background.health",
    "searx_mcp.search.cache",
    "searx_mcp.search.providers.instances",
    "searx_mcp.search.providers.open_sources",
    "searx_mcp.search.searcher",
    "searx_mcp.search.trial",
    "searx_mcp.search.providers.concurrent_queries",
    "searx_mcp.sources.searxng.upstream",
    "searx_mcp.workers.pool",
}


def loaded_by(program: str) -> set[str]:
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return set(ran.stdout.split())


@pytest.mark.slow
def test_whoever_imports_the_client_loads_no_engine():
    loaded = loaded_by("import sys; from searx_mcp import SearxClient; print(*sys.modules)")
    assert {name for name in loaded if name.startswith("searx_mcp.sources.open")} == {
        "searx_mcp.sources.open",
        "searx_mcp.sources.open.config",
    }
    assert "lxml" not in loaded


def test_a_client_that_shows_its_pool_loads_nothing_that_searches_or_reads():
    assert not loaded_by(LOADED) & HEAVY
