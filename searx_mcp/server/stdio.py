"""CachedSearch over standard input and output."""

import contextlib
import io
import os
import sys
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Final, cast

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server

from searx_mcp.errors import SearxMcpError
from searx_mcp.tasks import CallThread

if TYPE_CHECKING:
    from anyio import AsyncFile

_CHUNK: Final = 1 << 20
"""Bytes read at once; what a host sends is some hundred."""


async def serve(server: MCPServer[None]) -> None:
    """Serve until the input ends; when cancelled, at once.

    The library reads its input on a thread that nothing interrupts: a server without a message would
    wait for one before it could end.

    Raises:
        SearxMcpError: there is no input.
        ExceptionGroup: of the `OSError` why the output cannot be written.
    """
    served = server._lowlevel_server  # noqa: SLF001 - the public way reads an input of its own
    options = served.create_initialization_options()
    with _input() as source, _output() as sink:
        lines = cast("AsyncFile[str]", _lines(source))
        async with stdio_server(lines, anyio.wrap_file(sink)) as (incoming, outgoing):
            await served.run(incoming, outgoing, options)


@contextlib.contextmanager
def _input() -> Iterator[int]:
    """The input; whatever else reads it meanwhile finds its end."""
    try:
        descriptor = sys.stdin.fileno()
    except OSError as exc:
        raise SearxMcpError(
            "standard input is closed", advice="An MCP host starts this program with pipes."
        ) from exc
    nothing = os.open(os.devnull, os.O_RDONLY)
    with _diverted(descriptor, nothing) as source:
        yield source


@contextlib.contextmanager
def _output() -> Iterator[io.TextIOWrapper]:
    """The output; whatever else is written to it meanwhile goes to standard error."""
    with _diverted(sys.stdout.fileno(), os.dup(2)) as sink:
        writer = io.TextIOWrapper(os.fdopen(sink, "wb", closefd=False), "utf-8", newline="\n")
        try:
            yield writer
        finally:
            with contextlib.suppress(OSError):
                writer.close()


@contextlib.contextmanager
def _diverted(descriptor: int, elsewhere: int) -> Iterator[int]:
    private = os.dup(descriptor)  # not closed at the end: a thread may still be reading from it
    os.dup2(elsewhere, descriptor)
    os.close(elsewhere)
    try:
        yield private
    finally:
        os.dup2(private, descriptor)


async def _lines(descriptor: int) -> AsyncIterator[str]:
    thread = CallThread("searx-mcp input")
    rest = b""
    while chunk := await thread.run(lambda: os.read(descriptor, _CHUNK)):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "replace")
    if rest:
        yield rest.decode("utf-8", "replace")
