"""Kept pages and evidence with our own models: arguments as for the MCP tools."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, TypeVar

from searx_mcp.arguments import parse_corpus
from searx_mcp.errors import DeadlineError
from searx_mcp.models.base import Frozen
from searx_mcp.models.corpus_request import (
    AnswerRequest,
    CorpusSearchRequest,
    IngestRequest,
    ReadRequest,
    StatusRequest,
)
from searx_mcp.models.evidence import CorpusStatus, EvidenceResponse, IngestResponse, ReadResponse
from searx_mcp.models.service import Progress, Service
from searx_mcp.models.wire import dumped
from searx_mcp.render.corpus import ingest_data, read_data, status_data
from searx_mcp.render.errors import EXPANDS_LESS
from searx_mcp.render.evidence_data import evidence_data
from searx_mcp.server.events import note_empty
from searx_mcp.server.rest.operation import Body, Call
from searx_mcp.server.supervision import opened, supervise

ResponseT = TypeVar("ResponseT", bound=Frozen)
Timed = TypeVar("Timed", ReadRequest, AnswerRequest, IngestRequest)

_OTHERWISE: Final = "Use another page."


async def read(call: Call) -> Body:
    """Find the passages of a page that answer questions."""
    request = parse_corpus(ReadRequest, call.arguments)
    budget = request.max_tokens
    found = await _timed(call, request, _read, otherwise=_OTHERWISE)
    if not any(question.results for question in found.queries):
        note_empty()
    return lambda: dumped(found) if call.is_whole else read_data(found, budget=budget)


async def answer(call: Call) -> Body:
    """Find evidence for a question."""
    request = parse_corpus(AnswerRequest, call.arguments)
    budget = request.max_tokens
    found = await _timed(call, request, _answer, otherwise=EXPANDS_LESS)
    if not found.evidence:
        note_empty()
    return lambda: dumped(found) if call.is_whole else evidence_data(found, budget=budget)


async def search(call: Call) -> Body:
    """Find evidence in kept pages."""
    request = parse_corpus(CorpusSearchRequest, call.arguments)
    budget = request.max_tokens

    async def work(progress: Progress) -> EvidenceResponse:
        return await (await call.backend.get()).search_corpus(request, progress=progress)

    found = await supervise(call.listener, call.limit, work, otherwise=EXPANDS_LESS)
    if not found.evidence:
        note_empty()
    return lambda: dumped(found) if call.is_whole else evidence_data(found, budget=budget)


async def status(call: Call) -> Body:
    """Report which pages are kept."""
    request = parse_corpus(StatusRequest, call.arguments)

    async def work(_: Progress) -> CorpusStatus:
        return await (await call.backend.get()).corpus_status(request)

    found = await supervise(call.listener, call.limit, work, otherwise="")
    return lambda: dumped(found) if call.is_whole else status_data(found)


async def ingest(call: Call) -> Body:
    """Read pages and keep them."""
    request = parse_corpus(IngestRequest, call.arguments)
    found = await _timed(call, request, _ingest, otherwise=_OTHERWISE)
    return lambda: dumped(found) if call.is_whole else ingest_data(found)


def _read(
    service: Service, request: ReadRequest, progress: Progress
) -> Coroutine[Any, Any, ReadResponse]:
    return service.read_page(request, progress=progress)


def _answer(
    service: Service, request: AnswerRequest, progress: Progress
) -> Coroutine[Any, Any, EvidenceResponse]:
    return service.answer(request, progress=progress)


def _ingest(
    service: Service, request: IngestRequest, progress: Progress
) -> Coroutine[Any, Any, IngestResponse]:
    return service.ingest(request, progress=progress)


async def _timed(
    call: Call,
    request: Timed,
    act: Callable[[Service, Timed, Progress], Awaitable[ResponseT]],
    *,
    otherwise: str,
) -> ResponseT:
    """Run work that uses all the time it gets; it ends before the call does, so that its results can be returned."""

    async def work(progress: Progress) -> ResponseT:
        service, left = await opened(call.backend.get, request.timeout, call.limit)
        try:
            return await act(service, request.model_copy(update={"timeout": left}), progress)
        except DeadlineError as late:
            late.ran_out(left, left)
            raise

    due = request.timeout
    return await supervise(call.listener, call.limit, work, otherwise=otherwise, due=due)
