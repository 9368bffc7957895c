"""The MCP server on standard input and output."""

import asyncio
import contextlib
import io
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
from mcp.os.win32.utilities import rebind_std_handle_to_fd
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from typing_extensions import override

from searx_mcp.errors import SearxMcpError
from searx_mcp.tasks import CallThread

if TYPE_CHECKING:
    from anyio import AsyncFile

_CHUNK: Final = 1 << 20
"""Most bytes per read; hosts send a few hundred."""


async def serve_stdio(
    server: MCPServer[Any], output: int, *, greeted: Callable[[], None] | None = None
) -> None:
    """Serve until the input ends; stop at once when cancelled.

    The library would read its input in a thread that cannot be interrupted, so that a server could not stop before
    another message arrives.

    Args:
        server: server from `searx_mcp.server.app.build_server`.
        output: descriptor of a file to which nothing but messages is written.
        greeted: called once, after the first response, which a client waits for.

    Raises:
        SearxMcpError: standard input is closed.
        ExceptionGroup: the output cannot be written; contains the `OSError`.
    """
    served = server._lowlevel_server  # noqa: SLF001 - the public method opens its own input
    options = served.create_initialization_options()
    source = _take_input()
    for number in (0, 1):
        with contextlib.suppress(OSError):  # Windows passes these handles to child processes
            rebind_std_handle_to_fd(number)
    with _open_output(output, greeted) as sink:
        lines = cast("AsyncFile[str]", _read_lines(source))
        async with stdio_server(lines, anyio.wrap_file(sink)) as (incoming, outgoing):
            await served.run(incoming, outgoing, options)


def _take_input() -> int:
    """Take over standard input, which is empty for other readers from now on."""
    try:
        descriptor = sys.stdin.fileno()
    except OSError as exc:
        raise SearxMcpError(
            "standard input is closed", advice="An MCP client starts this program with pipes."
        ) from exc
    private = os.dup(descriptor)  # not closed at the end: a thread may still be reading from it
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, descriptor)
    os.close(nothing)
    return private


class _Output(io.TextIOWrapper):
    """Calls `written` once, after the first message; the library writes from threads."""

    written: Callable[[], object] | None = None

    @override
    def flush(self) -> None:
        super().flush()
        written, self.written = self.written, None
        if written is not None:
            written()


@contextlib.contextmanager
def _open_output(descriptor: int, greeted: Callable[[], None] | None) -> Iterator[io.TextIOWrapper]:
    writer = _Output(os.fdopen(descriptor, "wb", closefd=False), "utf-8", newline="\n")
    if greeted is not None:
        loop = asyncio.get_running_loop()
        writer.written = partial(loop.call_soon_threadsafe, greeted)
    try:
        yield writer
    finally:
        writer.written = None
        with contextlib.suppress(OSError):
            writer.close()


async def _read_lines(descriptor: int) -> AsyncIterator[str]:
    thread = CallThread("searx-mcp input")
    rest = b""
    while chunk := await thread.run(lambda: os.read(descriptor, _CHUNK)):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "replace")
    if rest:
        yield rest.decode("utf-8", "replace")
