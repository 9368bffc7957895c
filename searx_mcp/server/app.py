"""The MCP server with its tools, resources and prompts, and its way over standard input and output."""

import asyncio
import contextlib
import io
import os
import secrets
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, cast

import anyio
from mcp.os.win32.utilities import rebind_std_handle_to_fd
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver import server as library
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.stdio import stdio_server
from mcp.types import CallToolResult, GetPromptResult, InputRequiredResult
from mcp.types import Tool as ListedTool
from typing_extensions import override

from searx_mcp import __version__
from searx_mcp.errors import SearxMcpError
from searx_mcp.models.spelling import did_you_mean, shown
from searx_mcp.server.backend import Backend
from searx_mcp.server.guidance import instructions, refusal, research_prompt, resources
from searx_mcp.server.tools import Tools, allowed_only, catalog
from searx_mcp.settings.values import Settings
from searx_mcp.tasks import CallThread
from searx_mcp.verbs.table import TOOLS

if TYPE_CHECKING:
    from anyio import AsyncFile

    from searx_mcp.service import Service

_LISTS: Final[tuple[CacheableMethod, ...]] = ("tools/list", "resources/list", "prompts/list")
_LISTS_TTL_MS: Final = 3_600_000
_REMOTE_LISTS_TTL_MS: Final = 60_000
"""Milliseconds; shorter, since a remote service may gain or lose tools."""
_CONFIGURE: Final = "configure_logging"
_ORIGINAL: Final = getattr(library, _CONFIGURE)


class Server(MCPServer[None]):
    """A server that tells clients what is wrong with a tool's name or a prompt request.

    The SDK treats an unknown prompt or a missing argument as an error of the server: it logs a traceback and tells
    the client nothing.

    Attributes:
        backend: performs the calls, also of the other fronts.
    """

    backend: Backend

    @override
    async def list_tools(self) -> list[ListedTool]:
        """List the tools, without those that the service at `remote.url` does not offer."""
        tools, offered = await super().list_tools(), await self.backend.offered()
        if offered is None:
            return tools
        settings = self.backend.settings
        kept = tuple(tool for tool in settings.server.published() if tool in offered)
        server = settings.server.model_copy(update={"tools": kept})
        told = catalog(settings.model_copy(update={"server": server})) if kept else {}
        return [
            tool.model_copy(update={"description": told[tool.name].description})
            for tool in tools
            if tool.name in told
        ]

    @override
    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool.

        Raises:
            ToolError: no tool has this name; tools may have been renamed since the client listed them.
        """
        if self._tool_manager.get_tool(name) is None:
            known = ", ".join(tool.name for tool in self._tool_manager.list_tools())
            raise ToolError(f"Unknown tool: {shown(name)}. This server has: {known}.")
        return await super().call_tool(name, arguments, context)

    @override
    async def get_prompt(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        context: Context[None, Any] | None = None,
    ) -> GetPromptResult | InputRequiredResult:
        """Return a prompt.

        Raises:
            MCPError: no prompt has this name, or an argument is missing or wrong.
        """
        known = {prompt.name: prompt for prompt in await self.list_prompts()}
        if name not in known:
            raise refusal(f"{shown(name)} is not a prompt{did_you_mean(name, known)}")
        for argument in known[name].arguments or ():
            if argument.required and argument.name not in (arguments or {}):
                raise refusal(f"{argument.name}: is missing")
        return await super().get_prompt(name, arguments, context)


def build_server(settings: Settings, *, service: "Service | None" = None) -> Server:
    """Return the server with its tools, not yet running.

    Args:
        settings: settings of the tools.
        service: performs the calls; by default a client in this process, opened by the first call and closed with
            the server.

    Raises:
        SettingsError: traces are enabled, and their libraries are not installed.
    """
    if settings.server.traces:
        from searx_mcp.server.spans import check_libraries  # noqa: PLC0415 - few starts need it

        check_libraries()
    backend, boundary = Backend(settings, service), secrets.token_hex(6)
    tools = Tools(settings, lambda name: backend.within(name).get, boundary, backend.log)
    names = settings.server.published()
    # With named tokens the lists differ, so proxies must not cache them.
    ttl = _REMOTE_LISTS_TTL_MS if settings.remote.url else _LISTS_TTL_MS
    scope: Literal["private", "public"] = "private" if settings.http.tokens_file else "public"
    with _logging_kept():
        server = Server(
            "searx-mcp",
            title="Web search",
            version=__version__,
            instructions=instructions(names),
            tools=[
                tools.make(name, TOOLS[tool], published)
                for (tool, name), published in zip(
                    names.items(), catalog(settings).values(), strict=True
                )
            ],
            resources=[*resources(backend.instances, names=names, boundary=boundary)],
            lifespan=backend.lifespan,
            subscriptions=False,  # the lists never change while the server runs
            cache_hints=dict.fromkeys(_LISTS, CacheHint(ttl_ms=ttl, scope=scope)),
            middleware=[allowed_only(names)] if settings.http.tokens_file else [],
        )
    server.backend = backend
    server.add_prompt(
        research_prompt(names, boundary, batches=settings.server.profile in {"default", "research"})
    )
    return server


@contextmanager
def _logging_kept() -> Iterator[None]:
    """Keep the library from configuring the process's logging.

    That imports rich, which takes 4 % of a start. The command line has configured logging already, and a program
    that embeds a server decides for itself.
    """
    setattr(library, _CONFIGURE, lambda _: None)
    try:
        yield
    finally:
        setattr(library, _CONFIGURE, _ORIGINAL)


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
