"""The client that a server opens for its models."""

import subprocess
import sys

from searx_mcp.models.request import FetchRequest
from searx_mcp.server.app import LazyService
from searx_mcp.testing.web import FakePage, FakeWeb

PAGE = FakePage("<p>Otters live along the coast and eat fish all day.</p>")


async def test_no_summary_is_made_that_no_model_sees(settings_for, tmp_path):
    async with FakeWeb({"/a": PAGE}) as web:
        settings = settings_for(web, storage={"folder": str(tmp_path)})
        assert settings.web_search.summarize_long_content
        async with LazyService(settings) as lazy:
            page = await (await lazy.get()).fetch(FetchRequest(url=web.url("/a")))
    assert page.markdown_content == "Otters live along the coast and eat fish all day."
    assert (page.summary, page.key_points) == ("", ())


BUILT = """
import sys
from searx_mcp.server.app import build_server
from searx_mcp.settings.sources import load
build_server(load(environ={"SEARX_MCP_CONFIG": sys.argv[1]}).settings)
print(*sys.modules)
"""
OF_CALLS = {
    "aiohttp",
    "apscheduler",
    "bs4",
    "lxml",
    "markdownify",
    "redis",
    "selectolax",
    "yarl",
    "pydantic_settings",
    "searx_mcp.answer.answerer",
    "searx_mcp.client.facade",
    "searx_mcp.corpus.corpus",
    "searx_mcp.models.evidence",
    "searx_mcp.models.hits",
    "searx_mcp.models.response",
    "searx_mcp.render.corpus",
    "searx_mcp.render.evidence",
    "searx_mcp.render.instances",
    "searx_mcp.server.corpus_calls",
    "searx_mcp.server.manual",
    "searx_mcp.storage.sqlite",
    "searx_mcp.render.errors",
    "searx_mcp.render.public",
    "searx_mcp.server.calls",
    "searx_mcp.server.clients",
}


def test_what_only_a_call_needs_is_not_loaded_before_the_first(tmp_path):
    config = tmp_path / "empty.toml"
    config.touch()
    command = [sys.executable, "-c", BUILT, str(config)]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    assert not OF_CALLS & set(ran.stdout.split())
