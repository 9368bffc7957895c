"""The service of a thin client: each call is a request to a remote service."""

import asyncio
import json
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final, Self, TypeVar
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, ValidationError
from typing_extensions import override

from searx_mcp.errors import ErrorCode, InvalidArgumentError, SearxMcpError
from searx_mcp.http.sessions import Sessions
from searx_mcp.models.argument import arguments_of
from searx_mcp.models.base import Frozen
from searx_mcp.models.corpus_request import (
    AnswerRequest,
    CorpusSearchRequest,
    IngestRequest,
    ReadRequest,
    StatusRequest,
)
from searx_mcp.models.credentials import Credentials
from searx_mcp.models.evidence import (
    CorpusStatus,
    EvidenceResponse,
    IngestResponse,
    ReadResponse,
)
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.instance import PoolReport
from searx_mcp.models.page import Page
from searx_mcp.models.request import SearchRequest
from searx_mcp.models.response import RawBatch, SearchBatch, SearchResponse
from searx_mcp.models.service import Progress
from searx_mcp.models.wire import loaded
from searx_mcp.remote import errors, specified
from searx_mcp.remote.exchange import Exchange
from searx_mcp.settings.tools import Tool
from searx_mcp.settings.values import Settings

ResponseT = TypeVar("ResponseT", bound=Frozen)

_SEARCH: Final = "v1/search"
_RAW: Final = "v1/raw_search"
_FETCH: Final = "v1/fetch"
_READ: Final = "v1/read"
_ANSWER: Final = "v1/answer"
_CORPUS: Final = "v1/corpus"
_CORPUS_SEARCH: Final = "v1/corpus/search"
_INGEST: Final = "v1/corpus/ingest"
_INSTANCES: Final = "v1/instances"
_CAPABILITIES: Final = "v1/capabilities"
_WHOLE: Final = "whole=true"
_SPECIFIED: Final[Mapping[str, bool]] = dict.fromkeys(
    (specified.SEARCH_PATH, specified.FETCH_PATH), False
)
_NEEDS: Final[Mapping[Tool, frozenset[str]]] = {
    Tool.WEB_SEARCH: frozenset({_SEARCH, specified.SEARCH_PATH}),
    Tool.SEARCH: frozenset({_SEARCH, specified.SEARCH_PATH}),
    Tool.WEB_FETCH: frozenset({_FETCH, specified.FETCH_PATH}),
    Tool.FETCH: frozenset({_FETCH, specified.FETCH_PATH}),
    Tool.READ_PAGE: frozenset({_READ}),
    Tool.ANSWER: frozenset({_ANSWER}),
    Tool.SEARCH_CORPUS: frozenset({_CORPUS_SEARCH}),
    Tool.CORPUS_STATUS: frozenset({_CORPUS}),
    Tool.INGEST: frozenset({_INGEST}),
}
"""The routes that a tool can use; it needs one of them."""
_UNANNOUNCED: Final = frozenset(
    {ErrorCode.NOT_FOUND, ErrorCode.INVALID_ARGUMENT, ErrorCode.MALFORMED_RESPONSE}
)
"""The answers of a service without the capabilities route, or with something else there."""


class _Route(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    path: str
    streams: bool = False


class _Capabilities(BaseModel):
    """What a service announces; fields of newer ones are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    routes: tuple[_Route, ...]


class RemoteClient:
    """A `Service` that sends each call to the remote service at `remote.url`.

    If that service announces our routes, they are used; otherwise only the two routes of the
    specification are, and there are no other tools.

    Args:
        settings: only `[remote]`, `[network]` and `web_fetch.default_max_chars` matter.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._sessions: Sessions | None = None
        self._exchange: Exchange | None = None
        self._routes: Mapping[str, bool] | None = None
        self._turn = asyncio.Lock()
        self._cursors = specified.Cursors()

    @override
    def __repr__(self) -> str:
        return f"<RemoteClient {'open' if self._exchange else 'closed'}>"

    async def __aenter__(self) -> Self:
        if self._exchange is not None:
            raise RuntimeError("this RemoteClient is already open")
        config = self.settings.remote
        key = config.key if config.key.get_secret_value() else None
        self._sessions = Sessions(
            self.settings.network,
            own_origins=(config.url,),
            credentials=(Credentials(url=config.url, token=key),) if key else (),
        )
        self._exchange = Exchange(self._sessions.own, config)
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close every connection; calling it twice does no harm."""
        sessions, self._sessions, self._exchange = self._sessions, None, None
        if sessions is not None:
            await sessions.aclose()

    async def offered(self) -> frozenset[Tool]:
        """The tools that the service can perform.

        Raises:
            SearxMcpError: it cannot be asked.
        """
        routes = await self._known()
        return frozenset(tool for tool, needed in _NEEDS.items() if needed & routes.keys())

    async def search(
        self, request: SearchRequest, /, *, progress: Progress | None = None
    ) -> SearchResponse:
        """Search the web; without our routes, results have only addresses and snippets."""
        if request.queries:
            raise InvalidArgumentError("queries", "are for search_all; search has one answer")
        if await self._has(_SEARCH, progress):
            return await self._performed(SearchResponse, _SEARCH, request, progress)
        began = asyncio.get_running_loop().time()
        body = specified.search_body(request)
        data = await self._opened().ask(specified.SEARCH_PATH, body, seconds=request.timeout)
        return specified.search_response(
            data, request, service=self.settings.remote.url, elapsed_ms=_since(began)
        )

    async def search_all(
        self, request: SearchRequest, /, *, progress: Progress | None = None
    ) -> SearchBatch:
        """Run all searches of a request at the same time."""
        if await self._has(_SEARCH, progress) and request.queries:
            return await self._performed(SearchBatch, _SEARCH, request, progress)
        from searx_mcp.search.batch import search_all  # noqa: PLC0415 - what our routes do without

        return await search_all(request.searches, self.search)

    async def raw_search(
        self, provider: str, request: SearchRequest, /, *, progress: Progress | None = None
    ) -> RawBatch:
        """Return the JSON of a keyed provider's answers, unchanged."""
        if not await self._has(_RAW, progress):
            raise errors.missing("the JSON of search APIs")
        arguments = {"provider": provider, **_arguments(request)}
        data = await self._asked(_RAW, arguments, progress)
        try:
            return RawBatch.model_validate(data, extra="ignore")
        except ValidationError:
            raise errors.unreadable("does not fit this call") from None

    async def fetch(self, request: FetchRequest, /, *, progress: Progress | None = None) -> Page:
        """Read one page."""
        if await self._has(_FETCH, progress):
            return await self._performed(Page, _FETCH, request, progress)
        began = asyncio.get_running_loop().time()
        place = (
            self._cursors.place(request.cursor)
            if request.cursor
            else specified.Place(request.url, request.prompt, "")
        )
        usual = self.settings.web_fetch.default_max_chars
        most = request.limit or request.max_chars or usual
        body, skipped = specified.fetch_body(request, place, most, usual=usual)
        data = await self._opened().ask(specified.FETCH_PATH, body, seconds=request.timeout)
        return specified.page(
            data,
            request,
            place,
            skipped=skipped,
            most=most,
            cursors=self._cursors,
            elapsed_ms=_since(began),
        )

    async def read_page(
        self, request: ReadRequest, /, *, progress: Progress | None = None
    ) -> ReadResponse:
        """Find the passages of one page that answer questions."""
        await self._need(Tool.READ_PAGE, _READ, progress)
        return await self._performed(ReadResponse, _READ, request, progress)

    async def answer(
        self, request: AnswerRequest, /, *, progress: Progress | None = None
    ) -> EvidenceResponse:
        """Find evidence for a question."""
        await self._need(Tool.ANSWER, _ANSWER, progress)
        return await self._performed(EvidenceResponse, _ANSWER, request, progress)

    async def search_corpus(
        self, request: CorpusSearchRequest, /, *, progress: Progress | None = None
    ) -> EvidenceResponse:
        """Find evidence in pages that the service keeps."""
        await self._need(Tool.SEARCH_CORPUS, _CORPUS_SEARCH, progress)
        return await self._performed(EvidenceResponse, _CORPUS_SEARCH, request, progress)

    async def corpus_status(self, request: StatusRequest, /) -> CorpusStatus:
        """Report which pages the service keeps."""
        await self._need(Tool.CORPUS_STATUS, _CORPUS, None)
        told = {name: json.dumps(value).strip('"') for name, value in _arguments(request).items()}
        query = "&".join(filter(None, (urlencode(told), _WHOLE)))
        return _read(CorpusStatus, await self._opened().ask(_CORPUS, None, query=query))

    async def ingest(
        self, request: IngestRequest, /, *, progress: Progress | None = None
    ) -> IngestResponse:
        """Make the service read pages and keep them."""
        await self._need(Tool.INGEST, _INGEST, progress)
        return await self._performed(IngestResponse, _INGEST, request, progress)

    async def instances(self) -> PoolReport:
        """Report the pool of the service."""
        if not await self._has(_INSTANCES, None):
            raise errors.missing("a report of its instances")
        return _read(PoolReport, await self._opened().ask(_INSTANCES, None, query=_WHOLE))

    async def _performed(
        self, kind: type[ResponseT], path: str, request: Frozen, progress: Progress | None
    ) -> ResponseT:
        data = await self._asked(path, _arguments(request), progress, query=_WHOLE)
        return await asyncio.to_thread(_read, kind, data)

    async def _asked(
        self, path: str, arguments: dict[str, Any], progress: Progress | None, *, query: str = ""
    ) -> dict[str, Any]:
        told = progress if (await self._known())[path] else None
        return await self._opened().ask(path, arguments, query=query, progress=told)

    async def _need(self, tool: Tool, path: str, progress: Progress | None) -> None:
        if not await self._has(path, progress):
            raise errors.missing(f"the tool {tool}")

    async def _has(self, path: str, progress: Progress | None) -> bool:
        if progress is not None:
            progress("asking the remote service")
        return path in await self._known()

    async def _known(self) -> Mapping[str, bool]:
        """The paths of the service's routes, and which of them report progress; requested once."""
        async with self._turn:
            if self._routes is None:
                self._routes = await self._announced()
            return self._routes

    async def _announced(self) -> Mapping[str, bool]:
        try:
            data = await self._opened().ask(_CAPABILITIES, None)
        except SearxMcpError as error:
            if error.code in _UNANNOUNCED:
                return _SPECIFIED
            raise
        try:
            told = _Capabilities.model_validate(data)
        except ValidationError:
            return _SPECIFIED
        return {route.path.removeprefix("/"): route.streams for route in told.routes[:1_000]}

    def _opened(self) -> Exchange:
        if self._exchange is None:
            raise RuntimeError("open the RemoteClient first: async with RemoteClient(settings)")
        return self._exchange


def _arguments(request: Frozen) -> dict[str, Any]:
    """The arguments of a request as another process reads them, without empty ones."""
    declared = arguments_of(type(request))
    values = request.model_dump(mode="json", include=set(declared))
    return {
        name: value
        for name, value in values.items()
        if value not in (None, "", [])
        and not (declared[name].argument.by_person and value == declared[name].field.default)
    }


def _read(kind: type[ResponseT], data: Mapping[str, Any]) -> ResponseT:
    try:
        return loaded(kind, data)
    except (ValueError, TypeError, AttributeError):
        raise errors.unreadable("does not fit this call") from None


def _since(began: float) -> int:
    return round(1_000 * (asyncio.get_running_loop().time() - began))
