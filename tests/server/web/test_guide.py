"""`docs/guides/http-server.md`: its program calls a tool, and its table has the paths that are served."""

import asyncio
import json
import re
import sys
from pathlib import Path

import httpx2
import pytest

from searx_mcp.server.app import build_server
from searx_mcp.server.web.policy import (
    DASHBOARD_PATH,
    HEALTH_PATH,
    MCP_PATH,
    METRICS_PATH,
    READY_PATH,
    SEARXNG_PATH,
)
from searx_mcp.settings.server import HttpConfig
from searx_mcp.settings.values import Settings
from tests.doubles.serving import serving
from tests.server.rest.conftest import Known

GUIDES = Path(__file__).parents[3] / "docs" / "guides"
TEXT = (GUIDES / "http-server.md").read_text("utf-8")
TOKEN = "0123456789abcdef"


@pytest.mark.slow
async def test_the_program_prints_what_a_search_finds():
    (program,) = re.findall(r"^```python\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    config = HttpConfig.model_validate({"token": TOKEN, "port": 0})
    async with serving(build_server(Settings(), service=Known()), config) as url:
        code = program.replace("http://127.0.0.1:8765/mcp", url).replace("TOKEN", TOKEN)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-W", "error", "-c", code), stdout=asyncio.subprocess.PIPE
        )
        output, _ = await process.communicate()
    assert "https://a.example/bees" in output.decode()


async def test_the_table_has_every_path_and_says_which_want_the_token():
    rows = re.findall(r"^\| (`/.*?) \| .* \| (yes|no|a login) \|$", TEXT, re.MULTILINE)
    told = {path: wanted for cell, wanted in rows for path in re.findall(r"`(/\S*?)…?`", cell)}
    config = HttpConfig.model_validate({"token": TOKEN, "port": 0})
    found = {}
    async with (
        serving(build_server(Settings(), service=Known()), config) as url,
        httpx2.AsyncClient(trust_env=False, base_url=url.removesuffix("/mcp")) as http,
    ):
        for path in told:
            answer = await http.get(path, headers={"Accept": "text/html"})
            leads = answer.headers.get("location", "")
            found[path] = {401: "yes", 200: "no", 303: f"a {leads.strip('/')}"}[answer.status_code]
    assert found == told
    paths = {MCP_PATH, DASHBOARD_PATH, SEARXNG_PATH, METRICS_PATH, HEALTH_PATH, READY_PATH}
    others = {"/tavily/", "/firecrawl/", "/external/", "/r/"}
    assert told.keys() == paths | {"/v1/", "/openapi.json"} | others


@pytest.mark.parametrize("page", ["http-server.md", "remote.md"])
def test_what_is_shown_for_a_client_names_one_server(page: str):
    text = (GUIDES / page).read_text("utf-8")
    (shown,) = re.findall(r"^```json\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    (server,) = json.loads(shown)["mcpServers"].values()
    assert "https://search.example.org" in json.dumps(server)
