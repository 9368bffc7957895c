"""Tokens for a server over HTTP, as the command makes them."""

import json

from click.testing import CliRunner

from searx_mcp.cli.main import cli


def new_token(name: str) -> tuple[str, str]:
    """Make a token; give it and the lines for the file of tokens."""
    made = json.loads(CliRunner().invoke(cli, ["token", name, "--json"]).stdout)
    return made["token"], made["lines"]
