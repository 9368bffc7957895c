"""The service that performs a server's calls, opened by the first of them.

A host starts its servers long before it needs them, and waits for their first response. The imports for searching
would take three times as long, so they follow in the background, or with the first call if that comes earlier.
"""

import asyncio
import copy
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from opentelemetry.trace import ProxyTracerProvider, get_tracer_provider

from searx_mcp.errors import SearxMcpError, SettingsError
from searx_mcp.server.events import CallLog, note_unopened
from searx_mcp.settings.tools import Tool
from searx_mcp.settings.values import Settings

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from searx_mcp.evidence.values import CorpusStatus
    from searx_mcp.models.instance import PoolReport
    from searx_mcp.service import Service, ServiceClient
    from searx_mcp.storage.state import StateStore

QUIET: Final = 0.25
"""Seconds after the first response in which a host requests the lists, which nothing may delay."""
_LISTING: Final = 5.0
"""Seconds that a list of tools waits for a remote service; hosts wait 10 or more for the list."""
_OF_CALLS: Final = (
    *("aiohttp", "selectolax.lexbor", "encodings.idna"),
    *("apscheduler.schedulers.asyncio", "apscheduler.executors.asyncio"),
    "apscheduler.triggers.interval",
    *("searx_mcp.client.stores", "searx_mcp.client.facade", "searx_mcp.client.wiring"),
    *("searx_mcp.client.asking", "searx_mcp.search.background.health"),
    *("searx_mcp.search.providers.open_sources", "searx_mcp.search.providers.keyed"),
    *("searx_mcp.sources.searxng.html_parser", "searx_mcp.http.dialling"),
    *("searx_mcp.server.calls", "searx_mcp.server.identity", "searx_mcp.verbs.web_writing"),
)
"""Modules to import for a call; they import the others. A test finds those that a search still lacks."""
_OF_REMOTE_CALLS: Final = ("searx_mcp.remote.client", "searx_mcp.verbs.web_writing")


class LazyService:
    """Opens one client for the life of a server, on first use.

    It is a `SearxClient`, or with `remote.url` a `RemoteClient`.

    The client has a task of its own, which both opens and closes it, whichever call comes first and however that
    call ends.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._group = asyncio.TaskGroup()
        self._stop = asyncio.Event()
        self._service: asyncio.Future[Service] | None = None
        self._seen: StateStore | None = None

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

    @property
    def is_open(self) -> bool:
        """Whether the client is open."""
        return self._service is not None and self._service.done() and not _failed(self._service)

    async def get(self) -> "Service":
        """Return the open client.

        Raises:
            SettingsError: a setting cannot be used.
        """
        if self._service is None or _failed(self._service):
            self._service = asyncio.get_running_loop().create_future()
            self._group.create_task(self._host(self._service))
        return await asyncio.shield(self._service)

    def begin(self) -> None:
        """Prepare for the first call: import its modules, and open the client if that starts an instance."""
        if not self._stop.is_set():  # the first response may also be the last
            self._group.create_task(self._begin())

    async def _begin(self) -> None:
        with suppress(Exception):  # logged, and a call fails with the same error
            if not self._settings.remote.url and await asyncio.to_thread(
                self._settings.has_native_instance
            ):
                await self.get()
            with suppress(TimeoutError):
                async with asyncio.timeout(QUIET):
                    await self._stop.wait()
            await self.load()

    async def load(self) -> None:
        """Import the modules of a call, one by one: a message or the shutdown waits for one at most."""
        for name in _OF_REMOTE_CALLS if self._settings.remote.url else _OF_CALLS:
            if self._stop.is_set():
                return
            await asyncio.to_thread(import_module, name)

    @asynccontextmanager
    async def for_reports(self) -> AsyncIterator["Service"]:
        """Yield a client for reports, which send no request.

        A report must not start the health checks of the client for calls. Until that is open, a client without
        health checks reads the stored state.

        Raises:
            SettingsError: a setting cannot be used.
        """
        if self._service is not None and not _failed(self._service):
            yield await self.get()
            return
        async with await self._client(background=False) as client:
            yield client

    async def offered(self) -> frozenset[Tool]:
        """Return the tools that the service at `remote.url` offers.

        Raises:
            SearxMcpError: the service cannot be reached.
        """
        client: Any = await self.get()
        tools: frozenset[Tool] = await client.offered()
        return tools

    async def _client(self, *, background: bool) -> "ServiceClient":
        if self._settings.remote.url:
            elsewhere: Any = await asyncio.to_thread(import_module, "searx_mcp.remote.client")
            remote: ServiceClient = elsewhere.RemoteClient(self._settings)
            return remote
        module: Any = await asyncio.to_thread(import_module, "searx_mcp.client.facade")
        stores: Any = await asyncio.to_thread(import_module, "searx_mcp.client.stores")
        if not background and self._seen is None:
            # Shared by all reports, so that an unavailable server is tried and logged once.
            self._seen = stores.open_state(self._settings)
        client: ServiceClient = module.persistent_client(
            self._settings, background=background, state=None if background else self._seen
        )
        return client

    async def _host(self, service: "asyncio.Future[Service]") -> None:
        try:
            client = await self._client(background=True)
            await client.__aenter__()
        except Exception as exc:  # noqa: BLE001 - handed to the caller of get()
            note_unopened(exc)
            service.set_exception(exc)
            service.exception()  # marks it as retrieved; the caller may have gone
            return
        try:
            service.set_result(client)
            await self._stop.wait()
        finally:
            await client.aclose()


def _failed(future: "asyncio.Future[Service]") -> bool:
    return future.done() and (future.cancelled() or future.exception() is not None)


class Backend:
    """Performs the calls of a server for all fronts.

    Attributes:
        settings: settings of the calls.
        log: log of the calls.
        namespace: namespace of the corpus; empty for that of the settings.
    """

    def __init__(self, settings: Settings, service: "Service | None") -> None:
        self.settings = settings
        self.log = CallLog()
        self._given = service
        self._lazy: LazyService | None = None
        self.namespace = ""

    def within(self, namespace: str) -> "Backend":
        """Return a backend with another corpus and everything else shared.

        Args:
            namespace: namespace of the corpus; empty for that of the settings.
        """
        other = copy.copy(self)
        other.namespace = namespace
        return other

    @asynccontextmanager
    async def lifespan(self, _: "MCPServer[None]") -> AsyncIterator[None]:
        """Keep the service open while the server runs."""
        async with AsyncExitStack() as stack:
            url = self.settings.server.traces
            if url or not isinstance(get_tracer_provider(), ProxyTracerProvider):
                from searx_mcp.server.spans import tracing  # noqa: PLC0415 - few starts need it

                self.log.add_listener(await stack.enter_async_context(tracing(url)))
            self._lazy = await stack.enter_async_context(LazyService(self.settings))
            yield

    def begin(self) -> None:
        """Start the slow preparations for calls, which must not delay the first response.

        Called once the server listens, or has sent its first response.
        """
        if self._given is None:
            self._running().begin()

    async def get(self) -> "Service":
        """Return the service, opening it on the first call.

        Raises:
            SettingsError: a setting cannot be used.
        """
        return self._divided(self._given or await self._running().get())

    @asynccontextmanager
    async def for_reports(self) -> AsyncIterator["Service"]:
        """Yield the service for reports, as `LazyService.for_reports` does.

        Raises:
            SettingsError: a setting cannot be used.
        """
        if self._given is not None:
            yield self._divided(self._given)
            return
        async with self._running().for_reports() as service:
            yield self._divided(service)

    def _divided(self, service: "Service") -> "Service":
        if not self.namespace:
            return service
        from searx_mcp.service import Divisible  # noqa: PLC0415 - no start needs it

        if not isinstance(service, Divisible):
            raise SettingsError(
                "http.tokens_file", "the corpus of another service has no namespaces"
            )
        return service.within(self.namespace)

    async def instances(self) -> "PoolReport":
        """Report the pool, without sending a request."""
        async with self.for_reports() as service:
            return await service.instances()

    async def corpus_status(self) -> "CorpusStatus | None":
        """Return the size of the configured corpus; `None` before the first call opens it.

        Raises:
            SearxMcpError: the corpus cannot be read.
        """
        if self._given is None and not self._running().is_open:
            return None
        from searx_mcp.evidence.requests import StatusRequest  # noqa: PLC0415 - no start needs it

        service = await self.get()
        return await service.corpus_status(StatusRequest(include_urls=False))

    async def offered(self) -> frozenset[Tool] | None:
        """Return the tools of the remote service; `None` if there is none, or it does not respond in time."""
        if not self.settings.remote.url or self._lazy is None:
            return None
        try:
            async with asyncio.timeout(_LISTING):
                return await self._lazy.offered()
        except (SearxMcpError, TimeoutError):
            return None  # a call reports what is wrong

    def _running(self) -> LazyService:
        if self._lazy is None:
            raise RuntimeError("the server is not running")
        return self._lazy
