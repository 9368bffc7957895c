"""The client: what fronts and other asyncio programs talk to."""

import asyncio
import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, Unpack

from typing_extensions import override
from yarl import URL

from searx_mcp.arguments import parse_corpus, parse_fetch, parse_search
from searx_mcp.models.attempt import Format
from searx_mcp.models.corpus_request import (
    AnswerArguments,
    AnswerRequest,
    CorpusSearchArguments,
    CorpusSearchRequest,
    IngestRequest,
    ReadArguments,
    ReadRequest,
    StatusRequest,
)
from searx_mcp.models.evidence import (
    CorpusStatus,
    EvidenceResponse,
    IngestResponse,
    ReadResponse,
    VerifyReport,
)
from searx_mcp.models.instance import Catalog, PoolReport
from searx_mcp.models.page import Page
from searx_mcp.models.request import (
    FetchArguments,
    FetchRequest,
    SearchArguments,
    SearchRequest,
)
from searx_mcp.models.response import SearchResponse
from searx_mcp.models.service import Progress, Service
from searx_mcp.settings.values import Settings
from searx_mcp.storage.memory import MEMORY_BYTES, MemoryPageStore, MemoryStore
from searx_mcp.storage.pages import PageStore
from searx_mcp.storage.state import StateStore

if TYPE_CHECKING:
    from searx_mcp.answer.answerer import Answerer
    from searx_mcp.client.asking import Asking
    from searx_mcp.client.wiring import Components
    from searx_mcp.corpus.corpus import Corpus
    from searx_mcp.http.dialling import Dialling
    from searx_mcp.ops.instance_admin import InstanceAdmin
    from searx_mcp.search.capture import Capture


class SearxClient(Service):
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
        folder: where a fetched list of public instances is kept; nowhere unless given.
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
        self.settings = settings or Settings()
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
        self._answers: Answerer | None = None

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

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Cancel what is under way and close every connection; harmless when called twice."""
        if self._components is not None:
            await self._close()
            await self._pages.aclose()
            await self._state.aclose()

    async def _close(self) -> None:
        components, self._components, self._wired = self._components, None, None
        self._answers = None
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
        asking = await self._asking()
        components.activity.searched()
        response = await asking.searcher.search(request, progress=progress)
        asking.fetcher.remember((result.url for result in response.results), "search")
        return response

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
        if progress is not None:
            progress(f"reading {URL(request.url).host}" if request.url else "reading on")
        return await (await self._asking()).fetcher.fetch(request)

    @override
    async def read_page(
        self,
        request: ReadRequest | str,
        /,
        *,
        progress: Progress | None = None,
        **arguments: Unpack[ReadArguments],
    ) -> ReadResponse:
        """Find in one page what answers questions; the page is kept, and asked again without a request.

        Args:
            request: a request, or the address with the rest as keyword arguments.
            progress: told each step.
            **arguments: the fields of `ReadRequest`.

        Raises:
            InvalidArgumentError: an argument is wrong.
            FetchError: the page could not be read, and is not kept; see `searx_mcp.errors`.
        """
        self._opened()
        if isinstance(request, str):
            request = parse_corpus(ReadRequest, {"url": request, **arguments})
        corpus = await self.corpus()
        return await corpus.read(request, deadline=_by(request.timeout), progress=progress)

    @override
    async def answer(
        self,
        request: AnswerRequest | str,
        /,
        *,
        progress: Progress | None = None,
        **arguments: Unpack[AnswerArguments],
    ) -> EvidenceResponse:
        """Give evidence for a question, from pages that are named or found, and from pages they link to.

        Args:
            request: a request, or the question with the rest as keyword arguments.
            progress: told each step.
            **arguments: the fields of `AnswerRequest`.

        Raises:
            InvalidArgumentError: an argument is wrong.
            NoInstancesError: no page was named, and no instance could serve.
            FetchError: not one page could be read; see `searx_mcp.errors`.
            DeadlineError: the call ran out of time before anything was found.
        """
        self._opened()
        if isinstance(request, str):
            request = parse_corpus(AnswerRequest, {"query": request, **arguments})
        answerer = await self._answering()
        deadline = _by(request.timeout or self.settings.server.tool_timeout)
        return await answerer.answer(request, deadline=deadline, progress=progress)

    @override
    async def search_corpus(
        self,
        request: CorpusSearchRequest | str,
        /,
        *,
        progress: Progress | None = None,
        **arguments: Unpack[CorpusSearchArguments],
    ) -> EvidenceResponse:
        """Give evidence for a question from pages that are kept; makes no request.

        Args:
            request: a request, or the question with the rest as keyword arguments.
            progress: told each step.
            **arguments: the fields of `CorpusSearchRequest`.

        Raises:
            InvalidArgumentError: an argument is wrong.
        """
        self._opened()
        if isinstance(request, str):
            request = parse_corpus(CorpusSearchRequest, {"query": request, **arguments})
        return await (await self._answering()).search(request, progress=progress)

    @override
    async def corpus_status(
        self, request: StatusRequest | str = "", /, *, include_urls: bool = True
    ) -> CorpusStatus:
        """Tell which pages are kept, of all or of one; makes no request.

        Args:
            request: a request, or the address of a page; all of them unless given.
            include_urls: whether the pages are listed.
        """
        self._opened()
        if isinstance(request, str):
            raw = {"source_url": request, "include_urls": include_urls}
            request = parse_corpus(StatusRequest, raw)
        return await (await self.corpus()).status(request)

    @override
    async def ingest(
        self,
        request: IngestRequest | str | Sequence[str],
        /,
        *,
        force_refresh: bool = False,
        progress: Progress | None = None,
    ) -> IngestResponse:
        """Read pages and keep them, to be asked later; what fails is said of each.

        Args:
            request: a request, or one or several addresses.
            force_refresh: fetch them even if they are kept and fresh.
            progress: told each step.
        """
        self._opened()
        if not isinstance(request, IngestRequest):
            raw = {"url": request, "force_refresh": force_refresh}
            request = parse_corpus(IngestRequest, raw)
        corpus = await self.corpus()
        return await corpus.ingest_all(request, deadline=_by(request.timeout), progress=progress)

    async def verify(self, text: str) -> VerifyReport:
        """Check the quotes and links of a report against the pages that are kept; makes no request.

        Args:
            text: of the report, in Markdown or plain.
        """
        return await (await self._answering()).verify(text)

    async def corpus(self) -> "Corpus":
        """The corpus itself: it exports, removes and clears what is kept."""
        return (await self._answering()).corpus

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

    async def _answering(self) -> "Answerer":
        """What reads by question, wired at its first use."""
        asking = await self._asking()
        if self._answers is None:
            module = await asyncio.to_thread(import_module, "searx_mcp.client.answering")
            components = self._opened()
            if self._answers is None:  # no other call has wired it meanwhile
                self._answers = module.wire_answering(components, asking)
        return self._answers


def _by(timeout: float | None) -> float | None:
    """The event loop's time after so many seconds."""
    return None if timeout is None else asyncio.get_running_loop().time() + timeout


def persistent_client(
    settings: Settings, *, background: bool = False, origins: Mapping[str, str] | None = None
) -> SearxClient:
    """A client that remembers across processes, as `[storage]` and `[redis]` say.

    Args:
        settings: of the client.
        background: whether health checks of own instances run while it lives.
        origins: where the settings come from, by dotted name.

    Raises:
        SettingsError: `redis.url` is given, but cannot be used.
    """
    from searx_mcp.client.stores import open_pages, open_state  # noqa: PLC0415 - databases

    return SearxClient(
        settings,
        state=open_state(settings),
        background=background,
        folder=settings.state_folder(),
        origins=origins,
        pages=open_pages(settings),
        processes=True,
    )
