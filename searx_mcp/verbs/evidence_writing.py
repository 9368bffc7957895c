"""Formats passages, evidence and lists of stored pages."""

from typing import Final, TypeVar

from searx_mcp.errors import InvalidArgumentError, SearxMcpError
from searx_mcp.evidence.render.corpus import (
    ingest_data,
    ingest_text,
    read_data,
    read_text,
    status_data,
    status_text,
)
from searx_mcp.evidence.render.data import evidence_data
from searx_mcp.evidence.render.text import evidence_text
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
from searx_mcp.render.errors import (
    EXPANDS_LESS,
    evidence_error_data,
    evidence_error_text,
    fetch_error_data,
    fetch_error_text,
)
from searx_mcp.verbs.verb import Asked, Failed, RequestT, Room, Writing

Question = TypeVar("Question", AnswerRequest, CorpusSearchRequest)

_OTHERWISE: Final = "Use another page."


def _unanswered(error: SearxMcpError, asked: Asked[RequestT], room: Room) -> Failed:
    data = evidence_error_data(error, asked.text("query"), room.boundary)
    return evidence_error_text(error, room.boundary), data


def _unread(error: SearxMcpError, asked: Asked[RequestT], room: Room) -> Failed:
    data = fetch_error_data(error, asked.text("url"), room.boundary, longest=room.longest)
    if isinstance(error, InvalidArgumentError):
        return evidence_error_text(error, room.boundary), data
    return fetch_error_text(error, room.boundary, longest=room.longest), data


def _more(room: Room) -> str:
    """Say how to get the evidence that does not fit."""
    ways = ["max_tokens shows more"]
    if room.finds:
        ways.append(f"{room.finds} asks these pages again")
    if room.fetch:
        ways.append(f"{room.fetch} reads a whole page by cursor")
    return ", ".join(ways)


def _evidence(_: type[Question]) -> Writing[Question, EvidenceResponse]:
    return Writing(
        responses=(EvidenceResponse,),
        text=lambda found, room: evidence_text(
            found, budget=room.budget, boundary=room.boundary, more=_more(room)
        ),
        data=lambda found, room: evidence_data(found, budget=room.budget, boundary=room.boundary),
        failed=_unanswered,
        otherwise=EXPANDS_LESS,
        is_empty=lambda found: not found.evidence,
    )


class EvidenceWriting:
    """How the results of each verb are formatted."""

    reads: Final[Writing[ReadRequest, ReadResponse]] = Writing(
        responses=(ReadResponse,),
        text=lambda found, room: read_text(found, budget=room.budget, boundary=room.boundary),
        data=lambda found, room: read_data(found, budget=room.budget, boundary=room.boundary),
        failed=_unread,
        otherwise=_OTHERWISE,
        is_empty=lambda found: not any(question.results for question in found.queries),
    )
    answers: Final = _evidence(AnswerRequest)
    finds: Final = _evidence(CorpusSearchRequest)
    statuses: Final[Writing[StatusRequest, CorpusStatus]] = Writing(
        responses=(CorpusStatus,),
        text=lambda status, room: status_text(status, budget=room.budget, boundary=room.boundary),
        data=lambda status, room: status_data(status, budget=room.budget, boundary=room.boundary),
        failed=_unread,
    )
    ingests: Final[Writing[IngestRequest, IngestResponse]] = Writing(
        responses=(IngestResponse,),
        text=lambda pages, room: ingest_text(pages, budget=room.budget, boundary=room.boundary),
        data=lambda pages, room: ingest_data(pages, budget=room.budget, boundary=room.boundary),
        failed=_unread,
        otherwise=_OTHERWISE,
    )
