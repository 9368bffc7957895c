"""The client: what fronts and other asyncio programs talk to."""

import asyncio
import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Self, Unpack

from typing_extensions import override

from searx_mcp.arguments import parse_fetch, parse_search
from searx_mcp.client.corpus_calls import CorpusCalls
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.models.attempt import Format
from searx_mcp.models.fetch_request import FetchArguments, FetchRequest
from searx_mcp.models.instance import Catalog, PoolReport
from searx_mcp.models.page import Page
from searx_mcp.models.request import SearchArguments, SearchRequest
from searx_mcp.models.response import RawBatch, SearchBatch, SearchResponse
from searx_mcp.models.service import Progress
from searx_mcp.settings.values import Settings
from searx_mcp.storage.memory import MEMORY_BYTES, MemoryPageStore, MemoryStore
from searx_mcp.storage.pages import PageStore
from searx_mcp.storage.state import StateStore
from searx_mcp.urls.hosts import host_in, is_short_enough

if TYPE_CHECKING:
    from searx_mcp.answer.answerer import Answerer
    from searx_mcp.client.asking import Asking
    from searx_mcp.client.namespaces import Namespaced
    from searx_mcp.client.wiring import Components
    from searx_mcp.http.dialling import Dialling
    from searx_mcp.ops.instance_admin import InstanceAdmin
    from searx_mcp.search.capture import Capture


class SearxClient(CorpusCalls):
    """Search the web and read pages, from inside an asyncio program.

    ```python
    async with SearxClient() as client:
        response = await client.search("rust async runtime", results_count=5)
        page = await client.fetch(response.results[0].url)
    ```

    Hermetic: it reads no environment and no configuration, starts no process, touches no signal
    handler and no logging set-up. Leaving the block cancels what is under way, closes every
    connection and returns within seconds; the client may then be entered again.

    Args:
        settings: all defaults unless given; `searx_mcp.settings.sources.load` reads files and environment.
        catalog: the public instances; the configured or bundled list unless given.
        state: where budgets are kept; in memory unless given.
        background: whether health checks of own instances run and the list of public ones is
            renewed while the client lives.
        folder: where a fetched list of public instances and the corpus are kept; in memory unless given.
        clock: Unix seconds.
        rng: the dice for jitter, round-robin and personas.
        origins: where the settings come from, by dotted name, for errors that name one.
        pages: where captured pages are kept; in memory unless given.
        processes: whether child processes may be started, which survive what a PDF may do to them.
        dialling: how names are looked up and guarded connections opened; as the system does unless
            given.

    Raises:
        SettingsError: when entered, if a setting cannot be used.
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
        self._wired: Asking | None = None
        self._answers: dict[str, Answerer] = {}

    @override
    def __repr__(self) -> str:
        components = self._components
        return f"<SearxClient {components.pool!r}>" if components else "<SearxClient closed>"

    async def __aenter__(self) -> Self:
        if self._components is not None:
            raise RuntimeError("this SearxClient is already open")
        wiring = await asyncio.to_thread(import_module, "searx_mcp.client.wiring")
        components: Components = await wiring.open_components(
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
        async with AsyncExitStack() as stack:
            self._components = components
            stack.push_async_callback(self._close)
            fetch = self.settings.fetch
            if self._background or fetch.browser or fetch.github_token.get_secret_value():
                await self._asking()  # a server begins its rounds; a wrong setting is told now
            stack.pop_all()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Cancel what is under way and close every connection; harmless when called twice."""
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
    ) -> SearchResponse:
        """Search the web and, unless told otherwise, read the result pages.

        Args:
            request: a request, or the query with the rest as keyword arguments.
            progress: told each step.
            **arguments: the fields of `SearchRequest`.

        Raises:
            InvalidArgumentError: an argument is wrong.
            NoInstancesError: no instance could serve.
            DeadlineError: the call ran out of time.
        """
        components = self._opened()
        if isinstance(request, str):
            request = parse_search(
                {"query": request, **arguments}, defaults=self.settings.search_defaults()
            )
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
    ) -> SearchBatch:
        """Search for several things at the same time, each with an answer of its own.

        A result that an earlier search has is named, and not repeated. One that fails takes no other with it.

        Args:
            request: a request with `queries`, or the queries with the rest as keyword arguments.
            progress: told each step.
            **arguments: the fields of `SearchRequest`.

        Raises:
            InvalidArgumentError: an argument is wrong.
            SearxMcpError: every search failed; the error of the first one.
        """
        from searx_mcp.search.batch import search_all  # noqa: PLC0415 - what no single search needs

        if not isinstance(request, SearchRequest):
            request = parse_search(
                {"queries": request, **arguments}, defaults=self.settings.search_defaults()
            )
        return await search_all(request.searches, partial(self.search, progress=progress))

    async def raw_search(
        self,
        provider: str,
        request: SearchRequest | Sequence[str],
        /,
        *,
        progress: Progress | None = None,
        **arguments: Unpack[SearchArguments],
    ) -> RawBatch:
        """Give the JSON that a keyed provider answers queries with, untouched; nothing is cached.

        Args:
            provider: its name, such as `google`.
            request: a request, or the queries with the rest as keyword arguments. Of these the language,
                the safe search, the time range, the page and the number of results are sent.
            progress: told each step.
            **arguments: the fields of `SearchRequest`.

        Raises:
            InvalidArgumentError: an argument is wrong, or the provider has no key.
            SearxMcpError: every query failed; the error of the first one.
        """
        from searx_mcp.search.batch import raw_all  # noqa: PLC0415 - what no single search needs

        components = self._opened()
        if not isinstance(request, SearchRequest):
            request = parse_search(
                {"queries": request, **arguments}, defaults=self.settings.search_defaults()
            )
        keyed = (await self._asking()).keyed
        timeout = request.timeout or self.settings.web_search.default_timeout
        await components.sync.pull()
        try:
            return await raw_all(request.searches, keyed, provider, timeout, progress)
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
    ) -> Page:
        """Read one page as Markdown.

        Args:
            request: a request, or the address with the rest as keyword arguments; not needed with
                `cursor`.
            progress: told each step.
            **arguments: the fields of `FetchRequest`; with `ignore_robots`, the call is taken for
                one that a person makes.

        Raises:
            InvalidArgumentError: an argument is wrong.
            FetchError: the page could not be read; see `searx_mcp.errors`.
        """
        self._opened()
        if isinstance(request, str):
            by_person = bool(arguments.pop("by_person", "ignore_robots" in arguments))
            request = parse_fetch({"url": request, **arguments}, by_person=by_person)
        host = host_in(request.url)
        if progress is not None and (not request.url or (host and is_short_enough(host))):
            progress(f"reading {host or 'on'}")
        return await (await self._asking()).fetcher.fetch(request)

    @override
    async def instances(self) -> PoolReport:
        """Report the pool with what is left of each budget; makes no request."""
        from searx_mcp.ops.instance_reports import pool_report  # noqa: PLC0415 - what no search needs

        components = self._opened()
        await components.sync.pull()
        return await pool_report(components, self._state, self._clock())

    @property
    def admin(self) -> "InstanceAdmin":
        """What looks after the pool: shows it, checks it and changes who is in it."""
        from searx_mcp.ops.instance_admin import InstanceAdmin  # noqa: PLC0415 - what no search needs

        return InstanceAdmin(
            self._opened(),
            asking=self._asking,
            settings=self.settings,
            state=self._state,
            clock=self._clock,
            origins=self._origins,
        )

    async def suggest(self, query: str) -> tuple[str, ...]:
        """What an own instance proposes for the beginning of a query, at most 20 of them.

        Public instances are never asked, because each call costs them a request to a search
        engine: without an own instance that answers, the suggestions are empty.
        """
        components = self._opened()
        await components.sync.pull()
        for url in components.pool.own_urls():
            timeout = self.settings.search.attempt_timeout
            upstream = (await self._asking()).upstream
            if found := await upstream.suggest(url, query, own=True, timeout=timeout):
                return found
        return ()

    async def capture(
        self,
        host: str,
        query: str,
        *,
        format: Format | None = None,  # noqa: A002 - the field's word for JSON or HTML
        **arguments: Unpack[SearchArguments],
    ) -> "Capture":
        """Search once at one instance of the pool, at the cost of its budget; keep a fixture.

        Args:
            host: the instance's host or address.
            query: what to search for; nothing of it is in the fixture.
            format: `json` or `html`; the one a search would ask for unless given.
            **arguments: the fields of `SearchRequest`.

        Raises:
            InvalidArgumentError: an argument is wrong, or the instance is not in the pool.
            NoInstancesError: the instance may not be asked now.
        """
        from searx_mcp.search.searcher import instance_query  # noqa: PLC0415 - what no search needs

        components = self._opened()
        request = parse_search(
            {"query": query, **arguments}, defaults=self.settings.search_defaults()
        )
        await components.sync.pull()
        recorder = (await self._asking()).recorder
        return await recorder.capture(host, instance_query(request), format)

    def _opened(self) -> "Components":
        if self._components is None:
            raise RuntimeError("open the SearxClient first: async with SearxClient() as client")
        return self._components

    async def _asking(self) -> "Asking":
        """What searches and reads, wired at its first use: loading it takes half a second of a thread."""
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
        """What reads by question for one namespace, wired at its first use."""
        asking = await self._asking()
        if namespace not in self._answers:
            module = await asyncio.to_thread(import_module, "searx_mcp.client.answering")
            components = self._opened()
            if namespace not in self._answers:  # no other call has wired it meanwhile
                self._answers[namespace] = module.wire_answering(components, asking, namespace)
        return self._answers[namespace]

    def within(self, namespace: str) -> "Namespaced":
        """This client with another corpus: pages that are kept in one namespace are not found in others.

        Everything else is shared, captured pages too: an address is not fetched once for each namespace.

        Args:
            namespace: letters, digits, dots, - and _, up to 64 of them.
        """
        from searx_mcp.client.namespaces import Namespaced  # noqa: PLC0415 - for servers with tokens

        return Namespaced(self, self.settings, partial(self._answering_in, namespace))


def persistent_client(
    settings: Settings,
    *,
    background: bool = False,
    origins: Mapping[str, str] | None = None,
    state: StateStore | None = None,
) -> SearxClient:
    """A client that remembers across processes, as `[storage]`, `[redis]` and `[postgres]` say.

    Args:
        settings: of the client.
        background: whether health checks of own instances run while it lives.
        origins: where the settings come from, by dotted name.
        state: where budgets are kept, in place of where the settings say.

    Raises:
        SettingsError: `redis.url` is given, but cannot be used.
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
