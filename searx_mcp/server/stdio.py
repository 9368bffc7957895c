"""Serving over standard input and output."""

import os
import sys
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Final, cast

from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server

from searx_mcp.errors import SearxMcpError
from searx_mcp.storage.thread import CallThread

if TYPE_CHECKING:
    from anyio import AsyncFile

_CHUNK: Final = 1 << 20
"""Bytes read at once; what a host sends is some hundred."""


async def serve(server: MCPServer[None]) -> None:
    """Serve until the input ends; when cancelled, at once.

    The library reads its input on a thread that nothing interrupts: a server without a message would
    wait for one before it could end.

    Raises:
        SearxMcpError: there is no input, or no output any more.
    """
    try:
        source = os.dup(sys.stdin.fileno())
    except OSError as exc:
        raise SearxMcpError(
            "standard input is closed", advice="An MCP host starts this program with pipes."
        ) from exc
    _divert(sys.stdin.fileno())
    served = server._lowlevel_server  # noqa: SLF001 - the public way reads an input of its own
    try:
        async with stdio_server(stdin=cast("AsyncFile[str]", _lines(source))) as (
            incoming,
            outgoing,
        ):
            await served.run(incoming, outgoing, served.create_initialization_options())
    except* OSError as group:
        raise SearxMcpError("standard output cannot be written: the host has gone") from group


def _divert(descriptor: int) -> None:
    """Let whatever else reads the input find its end."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, descriptor)
    os.close(nothing)


async def _lines(descriptor: int) -> AsyncIterator[str]:
    thread = CallThread("searx-mcp input")
    rest = b""
    while chunk := await thread.run(lambda: os.read(descriptor, _CHUNK)):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "replace")
    if rest:
        yield rest.decode("utf-8", "replace")
