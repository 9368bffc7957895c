"""The inspector of the protocol lists the tools of every profile, and finds nothing in their schemas."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer

from searx_mcp.server.app import build_server
from searx_mcp.settings.server import HttpConfig
from searx_mcp.settings.tools import PROFILES
from searx_mcp.settings.values import Settings
from tests.doubles.serving import serving

pytestmark = pytest.mark.slow

TOKEN = "0123456789abcdef"
SUMMARY = re.compile(r"^\d+ errors?, \d+ warnings? across", re.MULTILINE)
"""What it ends with if there is anything to say."""


@pytest.fixture
def inspect(node_modules: Path, run_node: Any) -> Any:
    """List the tools of a server, with all that is wrong with a schema."""
    launcher = node_modules / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"

    async def run(*how: str, era: str = "modern") -> tuple[int, str]:
        asked = ("--method", "tools/list", "--strict", "--protocol-era", era)
        patient = ("--connect-timeout", "100000")  # ms
        code, said = await run_node(launcher, "--cli", *how, *asked, *patient)
        return code, said

    return run


@pytest.mark.parametrize("profile", ["research", "chatgpt"])  # the others have fewer of these tools
async def test_nothing_is_found_in_a_profile_over_standard_streams(
    inspect: Any, profile: str, tmp_path: Path
) -> None:
    config = tmp_path / "searx-mcp.toml"
    config.write_text(f'[server]\nprofile = "{profile}"\nstructured_output = "on"\n')
    command = (sys.executable, "-m", "searx_mcp", "stdio", "-e", f"SEARX_MCP_CONFIG={config}")
    code, said = await inspect(*command)
    assert (code, SUMMARY.findall(said)) == (0, []), said
    assert said.count('"outputSchema"') == len(PROFILES[profile])


async def test_nothing_is_found_over_http_with_a_token(inspect: Any) -> None:
    tables = {"server": {"profile": "research", "structured_output": "on"}}
    server = build_server(Settings.model_validate(tables))
    async with serving(server, HttpConfig(port=0, token=TOKEN)) as url:
        code, said = await inspect(url, "--header", f"Authorization: Bearer {TOKEN}", era="legacy")
    assert (code, SUMMARY.findall(said)) == (0, []), said
    assert said.count('"outputSchema"') == len(PROFILES["research"])


async def test_what_a_client_would_stumble_over_is_found(inspect: Any) -> None:
    server = MCPServer[None]("careless")
    server.add_tool(print, name="careless", structured_output=False)
    server._tool_manager._tools["careless"].parameters = {
        "type": "object",
        "properties": {"n": {"type": ["integer", "null"]}},
    }
    async with serving(server) as url:
        _, said = await inspect(url)
    assert SUMMARY.findall(said), said
