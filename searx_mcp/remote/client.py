"""The service of a thin client: each call is a request to a remote service."""

import asyncio
import json
import math
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, ValidationError
from typing_extensions import override

from searx_mcp.errors import DeadlineError, ErrorCode, InvalidArgumentError, SearxMcpError
from searx_mcp.evidence.requests import (
    AnswerRequest,
    CorpusSearchRequest,
    IngestRequest,
    ReadRequest,
    StatusRequest,
)
from searx_mcp.evidence.values import (
    CorpusStatus,
    EvidenceResponse,
    IngestResponse,
    ReadResponse,
)
from searx_mcp.http.sessions import Sessions
from searx_mcp.models.argument import arguments_of
from searx_mcp.models.base import Frozen
from searx_mcp.models.credentials import Credentials
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.instance import PoolReport
from searx_mcp.models.page import Page
from searx_mcp.models.progress import Progress
from searx_mcp.models.request import SearchRequest
from searx_mcp.models.response import RawBatch, SearchBatch, SearchResponse, loaded
from searx_mcp.remote import errors, specified
from searx_mcp.remote.exchange import Allowance, ServiceRoutes
from searx_mcp.remote.sanitizing import clean_texts, sanitize
from searx_mcp.settings.tools import Tool
from searx_mcp.settings.values import Settings
from searx_mcp.tasks import SingleFlight, Tasks
from searx_mcp.verbs.evidence import ANSWER, CORPUS_STATUS, INGEST, READ_PAGE, SEARCH_CORPUS
from searx_mcp.verbs.table import TOOLS
from searx_mcp.verbs.verb import RequestT, ResponseT, Verb
from searx_mcp.verbs.web import RAW_SEARCH, WEB_FETCH, WEB_SEARCH

_INSTANCES: Final = "v1/instances"
_CAPABILITIES: Final = "v1/capabilities"
_WHOLE: Final = "whole=true"


def _path(verb: Verb[Any, Any]) -> str:
    """Return the route of a verb, relative to the service's address; empty if it has none."""
    return verb.route.path.removeprefix("/") if verb.route else ""


_STANDARD_ROUTES: Final[Mapping[str, bool]] = dict.fromkeys(
    (specified.SEARCH_PATH, specified.FETCH_PATH), False
)
_NEEDS: Final[Mapping[Tool, frozenset[str]]] = {
    **{tool: frozenset({_path(verb)}) for tool, verb in TOOLS.items()},
    **dict.fromkeys(
        (Tool.WEB_SEARCH, Tool.SEARCH), frozenset({_path(WEB_SEARCH), specified.SEARCH_PATH})
    ),
    **dict.fromkeys(
        (Tool.WEB_FETCH, Tool.FETCH), frozenset({_path(WEB_FETCH), specified.FETCH_PATH})
    ),
}
"""Routes that each tool can use; it needs one of them."""
_UNANNOUNCED: Final = frozenset(
    {ErrorCode.NOT_FOUND, ErrorCode.INVALID_ARGUMENT, ErrorCode.MALFORMED_RESPONSE}
)
"""Errors from a service whose capabilities route is missing or something else."""
_STANDARD_SECONDS: Final = 60.0
"""Seconds for which a service counts as one without our routes: a proxy in front of it also answers 404 while
it is being deployed."""


class _Route(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    path: str
    streams: bool = False


class _Capabilities(BaseModel):
    """The capabilities of a service; fields of newer ones are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    routes: tuple[_Route, ...]


class RemoteClient:
    """A `Service` that sends each call to the remote service at `remote.url`.

    If that service announces our routes, they are used; otherwise only the two routes of the specification,
    and there are no other tools.

    Args:
        settings: only `[remote]`, `[network]` and `web_fetch.default_max_chars` are used.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._sessions: Sessions | None = None
        self._exchange: ServiceRoutes | None = None
        self._routes: Mapping[str, bool] = {}
        self._routes_until = -math.inf
        self._tasks: Tasks | None = None
        self._flights: SingleFlight[None] | None = None
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
        self._exchange = ServiceRoutes(self._sessions.own, config)
        self._tasks = await Tasks().__aenter__()
        self._flights = SingleFlight(self._tasks.spawn)
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close every connection; may be called more than once."""
        sessions, self._sessions, self._exchange = self._sessions, None, None
        tasks, self._tasks, self._flights = self._tasks, None, None
        if tasks is not None:
            await tasks.__aexit__()
        if sessions is not None:
            await sessions.aclose()

    async def offered(self) -> frozenset[Tool]:
        """Return the tools that the service supports.

        Raises:
            SearxMcpError: it cannot be asked.
        """
        routes = await self._find_routes(self._require_open().allow())
        return frozenset(tool for tool, needed in _NEEDS.items() if needed & routes.keys())

    async def search(
        self, request: SearchRequest, /, *, progress: Progress | None = None
    ) -> SearchResponse:
        """Search the web; without our routes, results have only addresses and snippets."""
        if request.queries:
            raise InvalidArgumentError("queries", "are for search_all; search has one answer")
        allowed = self._require_open().allow(request.timeout)
        if await self._supports(WEB_SEARCH, progress, allowed):
            return await self._perform(WEB_SEARCH, SearchResponse, request, progress, allowed)
        body = specified.search_body(request)
        data = await self._require_open().ask(specified.SEARCH_PATH, body, allowed)
        return specified.search_response(
            data, request, service=self.settings.remote.url, elapsed_ms=_since(allowed.began)
        )

    async def search_all(
        self, request: SearchRequest, /, *, progress: Progress | None = None
    ) -> SearchBatch:
        """Run all searches of a request concurrently."""
        allowed = self._require_open().allow(request.timeout)
        if await self._supports(WEB_SEARCH, progress, allowed) and request.queries:
            return await self._perform(WEB_SEARCH, SearchBatch, request, progress, allowed)
        from searx_mcp.search.searcher import search_all  # noqa: PLC0415 - what our routes do without

        return await search_all(request.searches, self.search)

    async def raw_search(
        self, provider: str, request: SearchRequest, /, *, progress: Progress | None = None
    ) -> RawBatch:
        """Return the JSON of a keyed provider's answers, unchanged."""
        allowed = self._require_open().allow(request.timeout)
        if not await self._supports(RAW_SEARCH, progress, allowed):
            raise errors.missing("the JSON of search APIs")
        arguments = {"provider": provider, **_arguments(request)}
        data = await self._request(RAW_SEARCH, arguments, progress, allowed)
        try:
            return RawBatch.model_validate(data, extra="ignore")
        except ValidationError:
            raise errors.unreadable("does not fit this call") from None

    async def fetch(self, request: FetchRequest, /, *, progress: Progress | None = None) -> Page:
        """Read one page."""
        allowed = self._require_open().allow(request.timeout)
        if await self._supports(WEB_FETCH, progress, allowed):
            return await self._perform(WEB_FETCH, Page, request, progress, allowed)
        place = (
            self._cursors.target_of(request.cursor)
            if request.cursor
            else specified.CursorTarget(request.url, request.prompt, "")
        )
        usual = self.settings.web_fetch.default_max_chars
        most = request.limit or request.max_chars or usual
        body, skipped = specified.fetch_body(request, place, most, usual=usual)
        data = await self._require_open().ask(specified.FETCH_PATH, body, allowed)
        return specified.page(
            data,
            request,
            place,
            skipped=skipped,
            most=most,
            cursors=self._cursors,
            elapsed_ms=_since(allowed.began),
        )

    async def read_page(
        self, request: ReadRequest, /, *, progress: Progress | None = None
    ) -> ReadResponse:
        """Find the passages of one page that answer questions."""
        return await self._call(READ_PAGE, request, progress)

    async def answer(
        self, request: AnswerRequest, /, *, progress: Progress | None = None
    ) -> EvidenceResponse:
        """Find evidence for a question."""
        return await self._call(ANSWER, request, progress)

    async def search_corpus(
        self, request: CorpusSearchRequest, /, *, progress: Progress | None = None
    ) -> EvidenceResponse:
        """Find evidence in pages that the service keeps."""
        return await self._call(SEARCH_CORPUS, request, progress)

    async def corpus_status(self, request: StatusRequest, /) -> CorpusStatus:
        """Report which pages the service keeps."""
        return await self._call(CORPUS_STATUS, request, None)

    async def ingest(
        self, request: IngestRequest, /, *, progress: Progress | None = None
    ) -> IngestResponse:
        """Make the service read pages and keep them."""
        return await self._call(INGEST, request, progress)

    async def instances(self) -> PoolReport:
        """Report the pool of the service."""
        allowed = self._require_open().allow()
        if _INSTANCES not in await self._find_routes(allowed):
            raise errors.missing("a report of its instances")
        return _parse(
            PoolReport, await self._require_open().ask(_INSTANCES, None, allowed, query=_WHOLE)
        )

    async def _call(
        self, verb: Verb[RequestT, ResponseT], request: RequestT, progress: Progress | None
    ) -> ResponseT:
        allowed = self._require_open().allow(verb.seconds(request))
        if not await self._supports(verb, progress, allowed):
            raise errors.missing(f"the tool {verb.tool}")
        kind = verb.writing().responses[0]
        return await self._perform(verb, kind, request, progress, allowed)

    async def _perform(
        self,
        verb: Verb[RequestT, Any],
        kind: type[ResponseT],
        request: RequestT,
        progress: Progress | None,
        allowed: Allowance,
    ) -> ResponseT:
        data = await self._request(verb, _arguments(request), progress, allowed, query=_WHOLE)
        return await asyncio.to_thread(_parse, kind, data, request)

    async def _request(
        self,
        verb: Verb[Any, Any],
        arguments: dict[str, Any],
        progress: Progress | None,
        allowed: Allowance,
        *,
        query: str = "",
    ) -> dict[str, Any]:
        """Send a request to the route of a verb, which the service is known to have."""
        exchange, path, posted = self._require_open(), _path(verb), True
        if verb.route is not None and verb.route.method == "GET":
            texts = {name: json.dumps(value).strip('"') for name, value in arguments.items()}
            query, posted = "&".join(filter(None, (urlencode(texts), query))), False
        return await exchange.ask(
            path,
            arguments if posted else None,
            exchange.extend(allowed),
            query=query,
            progress=progress if self._routes.get(path) else None,
        )

    async def _supports(
        self, verb: Verb[Any, Any], progress: Progress | None, allowed: Allowance
    ) -> bool:
        if progress is not None:
            progress("asking the remote service")
        return _path(verb) in await self._find_routes(allowed)

    async def _find_routes(self, allowed: Allowance) -> Mapping[str, bool]:
        """Return the paths of the service's routes, and which of them report progress.

        They are requested once for all waiting calls, each with its own deadline.
        """
        exchange, loop = self._require_open(), asyncio.get_running_loop()
        try:
            async with asyncio.timeout_at(allowed.until):
                while loop.time() >= self._routes_until:
                    if self._flights is None:
                        raise exchange.timeout_error(allowed)  # closed meanwhile
                    try:
                        await self._flights.run(_CAPABILITIES, self._load_routes)
                    except DeadlineError:
                        if loop.time() >= allowed.until:
                            raise
                        # From a request that began before this call: there is time for another.
        except TimeoutError as exc:
            raise exchange.timeout_error(allowed) from exc
        return self._routes

    async def _load_routes(self) -> None:
        self._routes = await self._request_routes()
        is_lasting = self._routes is not _STANDARD_ROUTES
        now = asyncio.get_running_loop().time()
        self._routes_until = math.inf if is_lasting else now + _STANDARD_SECONDS

    async def _request_routes(self) -> Mapping[str, bool]:
        try:
            exchange = self._require_open()
            data = await exchange.ask(_CAPABILITIES, None, exchange.allow())
        except SearxMcpError as error:
            if error.code in _UNANNOUNCED:
                return _STANDARD_ROUTES
            raise
        try:
            capabilities = _Capabilities.model_validate(data)
        except ValidationError:
            return _STANDARD_ROUTES
        return {
            route.path.removeprefix("/"): route.streams for route in capabilities.routes[:1_000]
        }

    def _require_open(self) -> ServiceRoutes:
        if self._exchange is None:
            raise RuntimeError("open the RemoteClient first: async with RemoteClient(settings)")
        return self._exchange


def _arguments(request: Frozen) -> dict[str, Any]:
    """Return the arguments of a request in the form for another process, without empty ones."""
    declared = arguments_of(type(request))
    values = request.model_dump(mode="json", include=set(declared))
    return {
        name: value
        for name, value in values.items()
        if value not in (None, "", [])
        and not (declared[name].argument.by_person and value == declared[name].field.default)
    }


def _parse(
    kind: type[ResponseT], data: Mapping[str, Any], request: Frozen | None = None
) -> ResponseT:
    try:
        return sanitize(loaded(kind, clean_texts(data)), request)
    except (ValueError, TypeError, AttributeError):
        raise errors.unreadable("does not fit this call") from None


def _since(began: float) -> int:
    return round(1_000 * (asyncio.get_running_loop().time() - began))
