"""The client: the interface for the fronts and for other asyncio programs."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Self, Unpack

from typing_extensions import override

from searx_mcp.arguments import parse_fetch, parse_search
from searx_mcp.client.corpus_calls import CorpusCalls
from searx_mcp.client.usable import check_libraries
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.models.fetch_request import FetchArguments, FetchRequest
from searx_mcp.models.instance import Catalog, PoolReport
from searx_mcp.models.progress import Progress
from searx_mcp.models.request import SearchArguments, SearchRequest
from searx_mcp.service import Service
from searx_mcp.settings.values import Settings
from searx_mcp.storage.memory import MEMORY_BYTES, MemoryPageStore, MemoryStore
from searx_mcp.storage.pages import PageStore
from searx_mcp.storage.state import StateStore
from searx_mcp.urls.hosts import host_in, is_short_enough

if TYPE_CHECKING:
    from searx_mcp.client.asking import Asking
    from searx_mcp.client.wiring import Components
    from searx_mcp.evidence.answer.answerer import Answerer
    from searx_mcp.http.dialling import Dialling
    from searx_mcp.models.page import Page
    from searx_mcp.models.response import RawBatch, SearchBatch, SearchResponse
    from searx_mcp.ops.instance_admin import InstanceAdmin


class SearxClient(CorpusCalls):
    """Search the web and read pages, from inside an asyncio program.

    ```python
    async with SearxClient() as client:
        response = await client.search("rust async runtime", results_count=5)
        page = await client.fetch(response.results[0].url)
    ```

    Hermetic: unless told to, it reads no environment variable or file, starts no process and touches
    neither signal handlers nor logging. Leaving the block cancels what is running, closes every
    connection and returns within seconds; the client can then be opened again. Timeouts are in
    seconds.

    Args:
        settings: the defaults unless given; `searx_mcp.settings.sources.load` reads files and environment.
        catalog: the public instances; the configured or bundled list unless given.
        state: where budgets are kept; in memory unless given.
        background: whether to check own instances and refresh the list of public ones while the
            client is open.
        folder: where to keep a fetched list of public instances and the corpus; in memory unless given.
        clock: returns Unix seconds.
        rng: random numbers for jitter, round-robin and personas.
        origins: where each setting came from, by dotted name, for error messages.
        pages: where captured pages are kept; in memory unless given.
        processes: whether to read documents in child processes; PDFs are read only there, since one
            can crash its process.
        dialling: how to resolve names and open guarded connections; as the system does unless given.

    Raises:
        SettingsError: when opened, if a setting cannot be used.
        RuntimeError: when opened twice, or used before it is opened or in another event loop.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        catalog: Catalog | None = None,
        state: StateStore | None = None,
        background: bool = False,
        folder: Path | None = None,
        clock: Callable[[], float] = time.time,  # noqa: TID251 - the one place where the clock is named
        rng: random.Random | None = None,
        origins: Mapping[str, str] | None = None,
        pages: PageStore | None = None,
        processes: bool = False,
        dialling: "Dialling | None" = None,
    ) -> None:
        super().__init__(settings or Settings())
        self._defaults = self.settings.search_defaults()
        self._origins = origins or {}
        self._given_catalog = catalog
        self._rng = rng or random.Random()  # noqa: S311 - jitter and load spreading, no secret
        self._state: StateStore = state or MemoryStore(self._rng)
        self._background = background
        self._folder = folder
        self._clock = clock
        fetch = self.settings.fetch
        self._pages: PageStore = pages or MemoryPageStore(
            max_bytes=min(fetch.cache_size, MEMORY_BYTES), max_age=fetch.cache_max_age
        )
        self._processes = processes
        self._dialling = dialling
        self._components: Components | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wired: Asking | None = None
        self._answers: dict[str, Answerer] = {}

    @override
    def __repr__(self) -> str:
        components = self._components
        return f"<SearxClient {components.pool!r}>" if components else "<SearxClient closed>"

    async def __aenter__(self) -> Self:
        if self._components is not None:
            raise RuntimeError("this SearxClient is already open")
        self._loop = asyncio.get_running_loop()
        await asyncio.to_thread(check_libraries, self.settings)
        wiring = await asyncio.to_thread(import_module, "searx_mcp.client.wiring")
        async with AsyncExitStack() as stack:
            # A caller that could not open it will not close it either.
            stack.push_async_callback(self._pages.aclose)
            stack.push_async_callback(self._state.aclose)
            self._components = await wiring.open_components(
                self.settings,
                catalog=self._given_catalog,
                state=self._state,
                folder=self._folder,
                clock=self._clock,
                rng=self._rng,
                pages=self._pages,
                processes=self._processes,
                dialling=self._dialling,
            )
            stack.push_async_callback(self._close)
            fetch = self.settings.fetch
            if self._background or fetch.browser or fetch.github_token.get_secret_value():
                # A server starts its rounds; an invalid setting is reported now.
                await self._asking()
            stack.pop_all()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Cancel what is running and close every connection; calling it twice does no harm."""
        if self._components is not None:
            await self._close()
            await self._pages.aclose()
            await self._state.aclose()

    async def _close(self) -> None:
        components, self._components, self._wired = self._components, None, None
        self._answers = {}
        if components is not None:
            await components.aclose()

    @override
    async def search(
        self,
        request: SearchRequest | str,
        /,
        *,
        progress: Progress | None = None,
        **arguments: Unpack[SearchArguments],
    ) -> "SearchResponse":
        """Search the web and, unless told otherwise, read the result pages.

        Args:
            request: a request, or the query with the rest as keyword arguments.
            progress: called with each step.
            **arguments: the fields of `SearchRequest`.

        Raises:
            InvalidArgumentError: an argument is wrong.
            NoInstancesError: no instance could serve.
            DeadlineError: the call ran out of time.
        """
        components = self._opened()
        if not isinstance(request, SearchRequest):
            request = parse_search({"query": request, **arguments}, defaults=self._defaults)
        if request.queries:
            raise InvalidArgumentError("queries", "are for search_all; search has one answer")
        asking = await self._asking()
        components.activity.searched()
        response = await asking.searcher.search(request, progress=progress)
        asking.fetcher.remember((result.url for result in response.results), "search")
        return response

    @override
    async def search_all(
        self,
        request: SearchRequest | Sequence[str],
        /,
        *,
        progress: Progress | None = None,
        **arguments: Unpack[SearchArguments],
    ) -> "SearchBatch":
        """Run several searches at the same time, each with an answer of its own.

        A result of an earlier search is only named, not repeated. A search that fails leaves the others alone.

        Args:
            request: a request with `queries`, or the queries with the rest as keyword arguments.
            progress: called with each step.
            **arguments: the fields of `SearchRequest`.

        Raises:
            InvalidArgumentError: an argument is wrong.
            SearxMcpError: every search failed; this is the first one's error.
        """
        from searx_mcp.search.searcher import search_all  # noqa: PLC0415 - no single search needs it

        if not isinstance(request, SearchRequest):
            request = parse_search({"queries": request, **arguments}, defaults=self._defaults)
        return await search_all(request.searches, partial(self.search, progress=progress))

    async def raw_search(
        self,
        provider: str,
        request: SearchRequest | Sequence[str],
        /,
        *,
        progress: Progress | None = None,
        **arguments: Unpack[SearchArguments],
    ) -> "RawBatch":
        """Return the JSON of a keyed provider's answers, unchanged; nothing is cached.

        Args:
            provider: its name, such as `google`.
            request: a request, or the queries with the rest as keyword arguments. Only language, safe
                search, time range, page and number of results are sent with them.
            progress: called with each step.
            **arguments: the fields of `SearchRequest`.

        Raises:
            InvalidArgumentError: an argument is wrong, or the provider has no key.
            SearxMcpError: every query failed; this is the first one's error.
        """
        from searx_mcp.search.searcher import raw_all  # noqa: PLC0415 - no single search needs it

        components = self._opened()
        if not isinstance(request, SearchRequest):
            request = parse_search({"queries": request, **arguments}, defaults=self._defaults)
        keyed = (await self._asking()).keyed
        timeout = request.timeout or self.settings.web_search.default_timeout
        await components.sync.pull()
        try:
            ask = None if keyed is None else keyed.raw
            return await raw_all(request.searches, ask, provider, timeout, progress)
        finally:
            await components.sync.push()

    @override
    async def fetch(
        self,
        request: FetchRequest | str = "",
        /,
        *,
        progress: Progress | None = None,
        **arguments: Unpack[FetchArguments],
    ) -> "Page":
        """Read one page as Markdown.

        Args:
            request: a request, or the address with the rest as keyword arguments; not needed with
                `cursor`.
            progress: called with each step.
            **arguments: the fields of `FetchRequest`; with `ignore_robots`, the call counts as made by
                a person.

        Raises:
            InvalidArgumentError: an argument is wrong.
            FetchError: the page could not be read; see `searx_mcp.errors`.
        """
        self._opened()
        if not isinstance(request, FetchRequest):
            by_person = bool(arguments.pop("by_person", "ignore_robots" in arguments))
            request = parse_fetch({"url": request, **arguments}, by_person=by_person)
        if progress is not None:
            host = host_in(request.url)
            if not request.url or (host and is_short_enough(host)):
                progress(f"reading {host or 'on'}")
        return await (await self._asking()).fetcher.fetch(request)

    @override
    async def instances(self) -> PoolReport:
        """Report the pool with the rest of each budget; sends no request."""
        from searx_mcp.ops.instance_reports import pool_report  # noqa: PLC0415 - no search needs it

        components = self._opened()
        await components.sync.pull()
        return await pool_report(components, self._state, self._clock())

    @property
    def admin(self) -> "InstanceAdmin":
        """Shows, checks and changes the pool."""
        from searx_mcp.ops.instance_admin import InstanceAdmin  # noqa: PLC0415 - no search needs it

        return InstanceAdmin(
            self._opened(),
            asking=self._asking,
            settings=self.settings,
            state=self._state,
            clock=self._clock,
            origins=self._origins,
        )

    async def suggest(self, query: str) -> tuple[str, ...]:
        """Return an own instance's completions of a query, at most 20.

        Public instances are never asked, because each call costs them a request to a search
        engine: if no own instance answers, there are no completions.
        """
        components = self._opened()
        await components.sync.pull()
        for url in components.pool.own_urls():
            timeout = self.settings.search.attempt_timeout
            upstream = (await self._asking()).upstream
            if found := await upstream.suggest(url, query, own=True, timeout=timeout):
                return found
        return ()

    def _opened(self) -> "Components":
        if self._components is None:
            raise RuntimeError("open the SearxClient first: async with SearxClient() as client")
        return self._components

    async def _asking(self) -> "Asking":
        """Return what searches and reads, wired on first use: loading it takes a thread half a second."""
        self._opened()
        if asyncio.get_running_loop() is not self._loop:
            raise RuntimeError("this SearxClient is open in another event loop; open one in each")
        if self._wired is None:
            module = await asyncio.to_thread(import_module, "searx_mcp.client.asking")
            components = self._opened()
            if self._wired is None:  # no other call has wired it meanwhile
                self._wired = module.wire_asking(components, background=self._background)
        return self._wired

    @override
    async def _answering(self) -> "Answerer":
        return await self._answering_in(self.settings.storage.namespace)

    async def _answering_in(self, namespace: str) -> "Answerer":
        """Return what answers questions in one namespace, wired on first use."""
        asking = await self._asking()
        if namespace not in self._answers:
            module = await asyncio.to_thread(import_module, "searx_mcp.client.answering")
            components = self._opened()
            if namespace not in self._answers:  # no other call has wired it meanwhile
                self._answers[namespace] = module.wire_answering(components, asking, namespace)
        return self._answers[namespace]

    def within(self, namespace: str) -> "Namespaced":
        """Return this client with another corpus: pages kept in one namespace are not found in others.

        Everything else is shared, including captured pages: no address is fetched once per namespace.

        Args:
            namespace: 1 to 64 ASCII letters, digits, ., - and _.
        """
        return Namespaced(self, self.settings, partial(self._answering_in, namespace))


def persistent_client(
    settings: Settings,
    *,
    background: bool = False,
    origins: Mapping[str, str] | None = None,
    state: StateStore | None = None,
) -> SearxClient:
    """Make a client that remembers across processes, as `[storage]`, `[redis]` and `[postgres]` say.

    Args:
        settings: the settings of the client.
        background: whether to check own instances while it is open.
        origins: where each setting came from, by dotted name.
        state: where budgets are kept, instead of where the settings say.

    Raises:
        SettingsError: `redis.url` cannot be used.
    """
    from searx_mcp.client.stores import open_pages, open_state  # noqa: PLC0415 - databases

    return SearxClient(
        settings,
        state=state or open_state(settings),
        background=background,
        folder=settings.state_folder(),
        origins=origins,
        pages=open_pages(settings),
        processes=True,
    )


class Namespaced(CorpusCalls):
    """Searches and reads like a client, and keeps pages separate from those of other namespaces.

    Args:
        client: open while this is used.
        settings: of the client.
        answering: returns the answerer of the namespace.
    """

    def __init__(
        self, client: Service, settings: Settings, answering: "Callable[[], Awaitable[Answerer]]"
    ) -> None:
        super().__init__(settings)
        self._client = client
        self._answers = answering

    @override
    async def _answering(self) -> "Answerer":
        return await self._answers()

    @override
    async def search(
        self, request: SearchRequest, /, *, progress: Progress | None = None
    ) -> "SearchResponse":
        return await self._client.search(request, progress=progress)

    @override
    async def search_all(
        self, request: SearchRequest, /, *, progress: Progress | None = None
    ) -> "SearchBatch":
        return await self._client.search_all(request, progress=progress)

    @override
    async def fetch(self, request: FetchRequest, /, *, progress: Progress | None = None) -> "Page":
        return await self._client.fetch(request, progress=progress)

    @override
    async def instances(self) -> PoolReport:
        return await self._client.instances()
