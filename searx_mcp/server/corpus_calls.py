"""The calls of the tools of the corpus: arguments in, text and structured content out.

What writes results is loaded with the first call: a server answers `initialize` without it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult

from searx_mcp.arguments import CorpusRequest, parse_corpus
from searx_mcp.errors import DeadlineError, InvalidArgumentError, SearxMcpError
from searx_mcp.models.corpus_request import (
    AnswerRequest,
    CorpusSearchRequest,
    IngestRequest,
    ReadRequest,
    StatusRequest,
)
from searx_mcp.models.evidence import (
    CorpusStatus,
    EvidenceResponse,
    IngestResponse,
    ReadResponse,
)
from searx_mcp.models.service import Progress, Service
from searx_mcp.render.corpus import (
    ingest_data,
    ingest_text,
    read_data,
    read_text,
    status_data,
    status_text,
)
from searx_mcp.render.errors import (
    EXPANDS_LESS,
    evidence_error_data,
    evidence_error_text,
    fetch_error_data,
    fetch_error_text,
)
from searx_mcp.render.evidence import evidence_text
from searx_mcp.render.evidence_data import evidence_data
from searx_mcp.server.calls import GetService
from searx_mcp.server.channels import Channels
from searx_mcp.server.events import note_budget, note_empty
from searx_mcp.server.supervision import opened, supervise
from searx_mcp.settings.tools import Tool
from searx_mcp.settings.values import Settings

T = TypeVar("T")

_OTHERWISE: Final = "Use another page."


class Calls:
    """Performs the corpus tools with their raw arguments.

    Args:
        settings: budgets and the time a call may take.
        service: opens the service on the first call.
        boundary: of the fences around what strangers wrote, as for `server.calls.Calls`.
    """

    def __init__(self, settings: Settings, service: GetService, boundary: str) -> None:
        self._service = service
        self._boundary = boundary
        self._channels = Channels(settings)
        self._budget = settings.server.response_token_budget
        asks = settings.server.published().get(Tool.SEARCH_CORPUS)
        self._more = f"max_tokens shows more{f', {asks} asks these pages again' if asks else ''}"

    async def read_page(
        self, arguments: dict[str, Any], context: Context[Any, Any]
    ) -> CallToolResult:
        """Find the passages of a page that answer, or give the reason for the failure."""
        boundary = self._boundary

        async def work(request: ReadRequest, progress: Progress) -> ReadResponse:
            service, left = await self._opened(request.timeout, context)
            request = request.model_copy(update={"timeout": left})
            return await service.read_page(request, progress=progress)

        try:
            request = parse_corpus(ReadRequest, arguments)
            budget = self._tokens(request.max_tokens, context)
            note_budget(budget)
            response = await self._supervise(context, work, request, otherwise=_OTHERWISE)
        except SearxMcpError as error:
            return self._unread(error, arguments, context)
        if not any(question.results for question in response.queries):
            note_empty()
        return await self._written(
            lambda: read_text(response, budget=budget, boundary=boundary),
            lambda: read_data(response, budget=budget, boundary=boundary),
            context,
        )

    async def answer(self, arguments: dict[str, Any], context: Context[Any, Any]) -> CallToolResult:
        """Find evidence, or give the reason for the failure."""

        async def work(request: AnswerRequest, progress: Progress) -> EvidenceResponse:
            service, left = await self._opened(request.timeout, context)
            update = {"timeout": left, "max_tokens": self._tokens(request.max_tokens, context)}
            try:
                return await service.answer(request.model_copy(update=update), progress=progress)
            except DeadlineError as late:
                late.ran_out(left, left)
                raise

        return await self._evidence(AnswerRequest, arguments, context, work)

    async def search_corpus(
        self, arguments: dict[str, Any], context: Context[Any, Any]
    ) -> CallToolResult:
        """Find evidence in kept pages."""

        async def work(request: CorpusSearchRequest, progress: Progress) -> EvidenceResponse:
            service = await self._service()
            return await service.search_corpus(request, progress=progress)

        return await self._evidence(CorpusSearchRequest, arguments, context, work)

    async def corpus_status(
        self, arguments: dict[str, Any], context: Context[Any, Any]
    ) -> CallToolResult:
        """Report which pages are kept."""

        async def work(request: StatusRequest, _: Progress) -> CorpusStatus:
            return await (await self._service()).corpus_status(request)

        try:
            request = parse_corpus(StatusRequest, arguments)
            budget = self._tokens(None, context)
            status = await self._supervise(context, work, request, otherwise="")
        except SearxMcpError as error:
            return self._unread(error, arguments, context)
        return await self._written(
            lambda: status_text(status, budget=budget, boundary=self._boundary),
            lambda: status_data(status, budget=budget, boundary=self._boundary),
            context,
        )

    async def ingest(self, arguments: dict[str, Any], context: Context[Any, Any]) -> CallToolResult:
        """Read pages and keep them."""

        async def work(request: IngestRequest, progress: Progress) -> IngestResponse:
            service, left = await self._opened(request.timeout, context)
            request = request.model_copy(update={"timeout": left})
            return await service.ingest(request, progress=progress)

        try:
            request = parse_corpus(IngestRequest, arguments)
            budget = self._tokens(None, context)
            response = await self._supervise(context, work, request, otherwise=_OTHERWISE)
        except SearxMcpError as error:
            return self._unread(error, arguments, context)
        return await self._written(
            lambda: ingest_text(response, budget=budget, boundary=self._boundary),
            lambda: ingest_data(response, budget=budget, boundary=self._boundary),
            context,
        )

    async def _evidence(
        self,
        kind: type[CorpusRequest],
        arguments: dict[str, Any],
        context: Context[Any, Any],
        work: Callable[[CorpusRequest, Progress], Awaitable[EvidenceResponse]],
    ) -> CallToolResult:
        boundary = self._boundary
        try:
            request = parse_corpus(kind, arguments)
            budget = self._tokens(getattr(request, "max_tokens", None), context)
            note_budget(budget)
            response = await self._supervise(context, work, request, otherwise=EXPANDS_LESS)
        except SearxMcpError as error:
            query = arguments.get("query")
            data = evidence_error_data(error, query if isinstance(query, str) else "", boundary)
            return self._channels.failed(evidence_error_text(error, boundary), data, context)
        if not response.evidence:
            note_empty()
        return await self._written(
            lambda: evidence_text(response, budget=budget, boundary=boundary, more=self._more),
            lambda: evidence_data(response, budget=budget, boundary=boundary),
            context,
        )

    async def _written(
        self,
        text: Callable[[], str],
        data: Callable[[], Mapping[str, Any]],
        context: Context[Any, Any],
    ) -> CallToolResult:
        """Make a result outside the event loop: a thousand long passages take most of a second."""
        return await asyncio.to_thread(lambda: self._channels.succeeded(text(), data, context))

    def _unread(
        self, error: SearxMcpError, arguments: Mapping[str, Any], context: Context[Any, Any]
    ) -> CallToolResult:
        url = arguments.get("url")
        limit = self._channels.seconds(context)
        data = fetch_error_data(
            error, url if isinstance(url, str) else "", self._boundary, longest=limit
        )
        if isinstance(error, InvalidArgumentError):
            text = evidence_error_text(error, self._boundary)
        else:
            text = fetch_error_text(error, self._boundary, longest=limit)
        return self._channels.failed(text, data, context)

    async def _supervise(
        self,
        context: Context[Any, Any],
        work: Callable[[CorpusRequest, Progress], Awaitable[T]],
        request: CorpusRequest,
        *,
        otherwise: str,
    ) -> T:
        limit = self._channels.seconds(context)
        return await supervise(
            *(context, limit, lambda progress: work(request, progress)),
            otherwise=otherwise,
            due=getattr(request, "timeout", None),
        )

    def _tokens(self, named: int | None, context: Context[Any, Any]) -> int:
        """The token budget of a result: from the call or the setting, bounded by the client."""
        return self._channels.tokens(named or self._budget, context)

    async def _opened(
        self, named: float | None, context: Context[Any, Any]
    ) -> tuple[Service, float]:
        """The service, and the seconds it has: what the call names, or what opening it has left."""
        return await opened(self._service, named, self._channels.seconds(context))
