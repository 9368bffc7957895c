"""`token`: make a token for a server over HTTP."""

import json

import click

from searx_mcp.cli.running import say
from searx_mcp.errors import InvalidArgumentError


@click.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print token and lines as JSON.")
def token(name: str, *, as_json: bool) -> None:
    """Create a token for an HTTP server.

    The token goes to standard error and is not stored. The lines for the file that http.tokens_file
    names, with the token's hash, go to standard output: searx-mcp token laptop >> tokens.toml
    """
    from searx_mcp.server.web.tokens_file import new_token  # noqa: PLC0415 - no help needs it

    try:
        text, lines = new_token(name)
    except ValueError as exc:
        raise InvalidArgumentError("NAME", str(exc)) from exc
    if as_json:
        click.echo(json.dumps({"name": name, "token": text, "lines": lines}))
        return
    click.echo(lines, nl=False)
    say(f"searx-mcp: token for {name}, shown only once: {text}")
