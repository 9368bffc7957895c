"""The MCP server, and its client, which is opened on the first call.

A host starts its servers long before it needs them and waits for the first answer. What searching
needs to import takes three times as long as that answer does, so it waits for the first call.
"""

import asyncio
import contextlib
import io
import os
import secrets
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, cast

import anyio
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server

from searx_mcp import __version__
from searx_mcp.errors import SearxMcpError
from searx_mcp.server.catalog import catalog
from searx_mcp.server.events import note_unopened
from searx_mcp.server.instructions import instructions
from searx_mcp.server.prompts import research_prompt
from searx_mcp.server.resources import resources
from searx_mcp.server.tools import Tools
from searx_mcp.settings.values import Settings
from searx_mcp.tasks import CallThread

if TYPE_CHECKING:
    from searx_mcp.client.facade import SearxClient
    from searx_mcp.models.instance import PoolReport
    from searx_mcp.models.service import Service


class LazyService:
    """Opens one `SearxClient` for the life of a server, when somebody first asks for it.

    The client lives in a task of its own, so that it is opened and closed by the same task
    whichever call came first and however that call ended.
    """

    def __init__(self, settings: Settings) -> None:
        # A model is shown passages; a summary that nobody sees takes 2 ms a page on this loop.
        shown = settings.web_search.model_copy(update={"summarize_long_content": False})
        self._settings = settings.model_copy(update={"web_search": shown})
        self._group = asyncio.TaskGroup()
        self._stop = asyncio.Event()
        self._service: asyncio.Future[Service] | None = None

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop.set()
        await self._group.__aexit__(exc_type, exc, traceback)

    async def get(self) -> "Service":
        """The open client.

        Raises:
            SettingsError: if a setting cannot be used.
        """
        if self._service is None or _failed(self._service):
            self._service = asyncio.get_running_loop().create_future()
            self._group.create_task(self._host(self._service))
        return await asyncio.shield(self._service)

    async def instances(self) -> "PoolReport":
        """Report the pool; makes no request.

        Health checks begin with the first call, not because somebody looks: until then, a client
        without them reads what is kept.

        Raises:
            SettingsError: if a setting cannot be used.
        """
        if self._service is not None and not _failed(self._service):
            return await (await self.get()).instances()
        async with await self._client(background=False) as client:
            return await client.instances()

    async def _client(self, *, background: bool) -> "SearxClient":
        module: Any = await asyncio.to_thread(import_module, "searx_mcp.client.facade")
        await asyncio.to_thread(import_module, "searx_mcp.client.stores")
        client: SearxClient = module.persistent_client(self._settings, background=background)
        return client

    async def _host(self, service: "asyncio.Future[Service]") -> None:
        try:
            client = await self._client(background=True)
            await client.__aenter__()
        except Exception as exc:  # noqa: BLE001 - handed to the caller of get()
            note_unopened(exc)
            service.set_exception(exc)
            service.exception()  # marks it as retrieved: the caller may be gone
            return
        try:
            service.set_result(client)
            await self._stop.wait()
        finally:
            await client.aclose()


def _failed(future: "asyncio.Future[Service]") -> bool:
    return future.done() and (future.cancelled() or future.exception() is not None)


_LISTS: Final[tuple[CacheableMethod, ...]] = ("tools/list", "resources/list", "prompts/list")
_LISTS_TTL_MS = 3_600_000


def build_server(settings: Settings, *, service: "Service | None" = None) -> MCPServer[None]:
    """The server with its tools, not yet running.

    Args:
        settings: what the tools go by.
        service: what performs the calls; unless given, a client of this process that is opened on
            the first call and closed with the server.
    """
    holder, boundary = _Holder(settings, service), secrets.token_hex(6)
    tools, names = Tools(settings, holder.get, boundary), settings.server.published()
    server = MCPServer[None](
        "searx-mcp",
        title="Web search",
        version=__version__,
        instructions=instructions(names),
        tools=[tools.make(name, each) for name, each in catalog(settings).items()],
        resources=[*resources(holder.instances, names=names, boundary=boundary)],
        lifespan=holder.lifespan,
        log_level="WARNING",
        subscriptions=False,  # no list changes while the server runs, so no change is announced
        cache_hints=dict.fromkeys(_LISTS, CacheHint(ttl_ms=_LISTS_TTL_MS, scope="public")),
    )
    server.add_prompt(
        research_prompt(names, boundary, batches=settings.server.profile in {"default", "research"})
    )
    return server


class _Holder:
    """Knows the service while the server runs."""

    def __init__(self, settings: Settings, service: "Service | None") -> None:
        self._settings = settings
        self._given = service
        self._lazy: LazyService | None = None

    @asynccontextmanager
    async def lifespan(self, _: MCPServer[None]) -> AsyncIterator[None]:
        async with LazyService(self._settings) as self._lazy:
            yield

    async def get(self) -> "Service":
        return self._given or await self._running().get()

    async def instances(self) -> "PoolReport":
        return await (self._given or self._running()).instances()

    def _running(self) -> LazyService:
        if self._lazy is None:
            raise RuntimeError("the server is not running")
        return self._lazy


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
    # Neither closed nor put back at the end: a thread may still be reading from it, and what a library
    # printed into a buffer is written when the process ends.
    private = os.dup(descriptor)
    os.dup2(elsewhere, descriptor)
    os.close(elsewhere)
    yield private


async def _lines(descriptor: int) -> AsyncIterator[str]:
    thread = CallThread("searx-mcp input")
    rest = b""
    while chunk := await thread.run(lambda: os.read(descriptor, _CHUNK)):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "replace")
    if rest:
        yield rest.decode("utf-8", "replace")
