"""Captures on disk: what came back, without the query and the address."""

import json
from pathlib import Path
from typing import Unpack

import click

from searx_mcp.client.facade import remembering_client
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.models.attempt import Format
from searx_mcp.models.request import SearchArguments
from searx_mcp.settings.sources import Loaded
from searx_mcp.sources.searxng.scrub.answer import Fixture


async def capture(
    loaded: Loaded,
    host: str,
    query: str,
    *,
    form: str | None,
    output: Path,
    **arguments: Unpack[SearchArguments],
) -> None:
    """Search once and write `head.txt`, `body.<kind>` and `report.json` into a folder.

    Raises:
        InvalidArgumentError: an argument is wrong, or the folder cannot be written to.
        NoInstancesError: the instance may not be asked now.
    """
    _make(output)
    async with remembering_client(loaded.settings) as client:
        taken = await client.capture(
            host, query, format=Format(form) if form else None, **arguments
        )
    files = {"report.json": f"{json.dumps(taken.report, indent=2)}\n"}
    if taken.fixture is not None:
        files |= {
            "head.txt": _head(taken.fixture),
            f"body.{taken.fixture.kind}": taken.fixture.body,
        }
    for name, text in files.items():
        # Line ends stay as they came.
        (output / name).write_text(text, encoding="utf-8", newline="")
        click.echo(output / name)
    seen, used = taken.report["rows_seen"], taken.report["rows_used"]
    click.echo(f"{taken.report['verdict']}: {used} of {seen} rows read", err=True)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise InvalidArgumentError("output", f"{folder} cannot be made: {exc.strerror}") from exc


def _head(fixture: Fixture) -> str:
    lines = [
        f"HTTP {fixture.status}",
        *(f"{name}: {value}" for name, value in fixture.headers.items()),
    ]
    return "\n".join(lines) + "\n"
