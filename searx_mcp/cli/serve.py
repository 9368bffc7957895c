"""The commands that serve MCP: over standard input and output, or over HTTP."""

from typing import TYPE_CHECKING, Final

import click

from searx_mcp.cli.loading import loading
from searx_mcp.cli.running import check, held, loaded, run, say
from searx_mcp.cli.streams import HeldOutput
from searx_mcp.errors import InvalidArgumentError, SettingsError

if TYPE_CHECKING:
    from searx_mcp.server.app import Server
    from searx_mcp.settings.values import Settings

_GRACE: Final = 1.5
"""Seconds in which an ending server closes its browsers, workers and files."""
_EXPOSED: Final = (
    "searx-mcp: WARNING: anyone who can reach this address can search and read pages through this"
    " machine: no token is required (--allow-unauthenticated)."
)


@click.command()
@click.pass_context
def stdio(context: click.Context) -> None:
    """Serve MCP over standard input and output."""
    _serve_stdio(loaded(context).settings, held(context))


@click.command()
@click.option("--transport", metavar="NAME", help="stdio or streamable-http.")
@click.option("--host", metavar="ADDRESS", help="Address to listen on for HTTP; default 127.0.0.1.")
@click.option("--port", metavar="N", help="Port for HTTP; default 8765, 0 picks a free one.")
@click.option(
    "--allow-unauthenticated",
    is_flag=True,
    help="Serve without a token on an address that is not loopback.",
)
@click.pass_context
def serve(
    context: click.Context,
    *,
    transport: str | None = None,
    host: str | None = None,
    port: str | None = None,
    allow_unauthenticated: bool = False,
) -> None:
    """Serve MCP over standard input and output, or over HTTP.

    The setting `server.transport` chooses unless --transport does; --host and --port mean HTTP.
    """
    if transport is None and (host or port):
        transport = "streamable-http"
    if transport == "stdio" and (host or port):
        raise InvalidArgumentError(
            "--host" if host else "--port", "is for HTTP; leave it or --transport stdio out"
        )
    given = {"server.transport": transport, "http.host": host, "http.port": port}
    read = loaded(context, given)
    settings = read.settings
    if settings.server.transport == "stdio":
        _serve_stdio(settings, held(context))
    elif settings.remote.url:
        raise SettingsError(
            "remote.url",
            "only a server on standard input and output can use a remote service",
            advice="Connect clients to that service directly, or leave remote.url empty.",
        )
    else:
        # Only a server reads the tokens file, which other users of this machine may not be able to read.
        check(read, lambda usable: _serve_http(usable, allow_unauthenticated=allow_unauthenticated))


def _serve_stdio(settings: "Settings", output: HeldOutput) -> None:
    async def work() -> None:
        # Inside the loop, so that a signal is handled during 0.4 s of imports.
        server = _built(settings)
        from searx_mcp.server.app import serve_stdio  # noqa: PLC0415 - as above
        from searx_mcp.server.events import lifetime  # noqa: PLC0415 - only servers need it

        with lifetime("stdio", profile=settings.server.profile) as start:
            start("")
            await serve_stdio(server, output.descriptor, greeted=server.backend.begin)

    run(work(), within=_GRACE)


@loading()
def _built(settings: "Settings") -> "Server":
    from searx_mcp.server.app import build_server  # noqa: PLC0415 - 0.4 s only servers need

    return build_server(settings)


def _serve_http(settings: "Settings", *, allow_unauthenticated: bool) -> None:
    from searx_mcp.server.events import lifetime  # noqa: PLC0415 - as above
    from searx_mcp.server.http import serve_http, stop_seconds  # noqa: PLC0415 - as above
    from searx_mcp.server.web.connections import LIMITS, raise_descriptors  # noqa: PLC0415 - as above
    from searx_mcp.server.web.policy import is_loopback  # noqa: PLC0415 - as above

    is_exposed = not (is_loopback(settings.http.host) or settings.http.wants_token)

    async def work() -> None:
        with lifetime("streamable-http", profile=settings.server.profile) as start:

            def listening(url: str) -> None:
                if is_exposed:
                    say(_EXPOSED)
                say(f"searx-mcp: listening on {url}")
                start(url)

            await serve_http(
                _built(settings),
                settings.http,
                allow_unauthenticated=allow_unauthenticated,
                listening=listening,
                limits=raise_descriptors(LIMITS),
            )

    run(work(), within=stop_seconds(settings.http) + _GRACE)
