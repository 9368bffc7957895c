"""The guard's proof on a terminal: how many addresses of each kind, and every one that is wrong."""

import json

import click
from rich.table import Table
from rich.text import Text

from searx_mcp.cli import output
from searx_mcp.client.facade import SearxClient
from searx_mcp.ops.selfcheck import SelfCheck, bundled_vectors, selfcheck


async def run_selfcheck(*, as_json: bool) -> bool:
    """Run the bundled vectors and print what came of them; whether all are right."""
    found = await selfcheck(
        bundled_vectors(), lambda settings, dialling: SearxClient(settings, dialling=dialling)
    )
    if as_json:
        # Addresses hold what no terminal should get, so everything beyond ASCII is escaped.
        click.echo(json.dumps(found.model_dump(mode="json"), indent=2))
    else:
        _print(found)
    return found.passed


def _print(found: SelfCheck) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("kind")
    for name in ("refused", "allowed", "wrong"):
        table.add_column(name, justify="right")
    for kind in found.kinds:
        style = "red" if kind.wrong else ""
        cells = (kind.kind, str(kind.refused), str(kind.allowed), str(kind.wrong))
        table.add_row(*cells, style=style)
    out = output.console()
    out.print(table)
    for each in found.wrong:
        out.print(Text(f"{each.id}: {each.url!a}", style="red"))
        out.print(Text(f"  {each.why}; must be {each.expected}, came to {each.came_to}"))
    if found.error_texts > 1:
        out.print(Text("Errors for forbidden addresses differ, which tells them apart.", "red"))
    out.print()
    out.print(Text(_summary(found), style="bold"))


def _summary(found: SelfCheck) -> str:
    if found.passed:
        return f"All {found.vectors} addresses were judged right."
    return f"{len(found.wrong)} of {found.vectors} addresses were judged wrong."
