"""What the commands do: call the service, print what comes back."""

import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import click

from searx_mcp.arguments import parse_fetch, parse_search
from searx_mcp.cli import output
from searx_mcp.client.facade import remembering_client
from searx_mcp.errors import InvalidArgumentError, SearxMcpError
from searx_mcp.models.service import Progress
from searx_mcp.render.errors import fetch_error_data, search_error_data
from searx_mcp.render.public import page_data, response_data, scrub
from searx_mcp.settings.sources import Loaded, effective


async def search(
    loaded: Loaded,
    arguments: Mapping[str, Any],
    *,
    profile: str | None,
    pages: bool,
    as_json: bool,
) -> None:
    """Search and print the response, or the error as JSON before it is raised."""
    settings = loaded.settings
    if profile is not None:
        if profile not in settings.profiles:
            known = ", ".join(sorted(settings.profiles)) or "none is configured"
            raise InvalidArgumentError("profile", f"{profile!r} is not a profile ({known})")
        settings = settings.model_copy(update={"profile": profile})
    try:
        request = parse_search(arguments, defaults=settings.search_defaults())
        async with remembering_client(settings) as client, show_progress("searching") as progress:
            response = await client.search(request, progress=progress)
    except SearxMcpError as error:
        if as_json:
            print_json(search_error_data(error, str(arguments.get("query", ""))))
        output.print_attempts(error)
        raise
    if as_json:
        print_json(response_data(response, budget=request.max_tokens))
    else:
        output.print_response(response, pages=pages, budget=request.max_tokens)


async def fetch(loaded: Loaded, arguments: Mapping[str, Any], *, as_json: bool) -> None:
    """Read a page and print it, or the error as JSON before it is raised."""
    try:
        request = parse_fetch(arguments, by_person=True)
        async with (
            remembering_client(loaded.settings) as client,
            show_progress("reading") as progress,
        ):
            page = await client.fetch(request, progress=progress)
    except SearxMcpError as error:
        if as_json:
            print_json(fetch_error_data(error, str(arguments.get("url", ""))))
        raise
    if as_json:
        print_json(page_data(page))
    else:
        output.print_page(page)


async def suggest(loaded: Loaded, query: str) -> None:
    """Print suggestions, one a line."""
    async with remembering_client(loaded.settings) as client:
        suggestions = await client.suggest(query)
    for suggestion in suggestions:
        click.echo(scrub(suggestion))
    if not suggestions:
        click.echo(
            "No instance of your own proposes anything; public ones are not asked.", err=True
        )


def config(loaded: Loaded, *, as_json: bool) -> None:
    """Print the effective settings and where each value comes from."""
    rows = effective(loaded.settings, loaded.origins)
    if as_json:
        print_json({row.key: {"value": row.value, "origin": row.origin} for row in rows})
    else:
        output.print_settings(rows)


@asynccontextmanager
async def show_progress(message: str) -> AsyncIterator[Progress | None]:
    """A line on standard error that says what is going on, when a person is looking.

    Args:
        message: what it says at first.
    """
    if not sys.stderr.isatty():
        yield None
        return
    with output.error_console().status(message) as status:
        yield status.update


def print_json(data: Mapping[str, Any]) -> None:
    """Print data for a program."""
    click.echo(json.dumps(scrub(data), ensure_ascii=False, indent=2, allow_nan=False))
