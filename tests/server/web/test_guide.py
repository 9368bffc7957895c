"""`docs/guides/http-server.md`: its program calls a tool, and its table has the paths that are served."""

import asyncio
import json
import re
import sys
from pathlib import Path

import pytest

from searx_mcp.server.app import build_server
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


@pytest.mark.parametrize("page", ["http-server.md", "remote.md"])
def test_what_is_shown_for_a_client_names_one_server(page: str):
    text = (GUIDES / page).read_text("utf-8")
    (shown,) = re.findall(r"^```json\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    (server,) = json.loads(shown)["mcpServers"].values()
    assert "https://search.example.org" in json.dumps(server)
