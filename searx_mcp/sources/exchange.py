"""One request to a source and its answer; every failure is a value."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from searx_mcp.errors import ErrorCode, FetchError, ProxyError, SearxMcpError
from searx_mcp.http.body import Response
from searx_mcp.http.http import HttpSession, Request
from searx_mcp.models.attempt import Verdict
from searx_mcp.pool.proposal import Outcome
from searx_mcp.workers.failures import DefeatError
from searx_mcp.workers.jobs import Reader, Workers

_log = logging.getLogger("searx_mcp.sources")

_VERDICTS: Final = {
    ErrorCode.DNS_ERROR: Verdict.DNS,
    ErrorCode.TLS_ERROR: Verdict.TLS,
    ErrorCode.TIMEOUT: Verdict.TIMEOUT,
    ErrorCode.MALFORMED_RESPONSE: Verdict.MALFORMED,
    ErrorCode.UNSUPPORTED_ENCODING: Verdict.MALFORMED,
}
"""Of failed requests; all others, and a refused address, count as connection errors."""

A = TypeVar("A")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Exchange(Generic[T]):
    """A request and its answer.

    Attributes:
        result: the parsed answer; the outcome if there is none, or none that can be parsed.
        elapsed: seconds from the request to the last byte or the failure.
        status_code: the HTTP status, or `None` if there was no answer.
        response: the answer, if there was a complete one in time.
    """

    result: T | Outcome
    elapsed: float
    status_code: int | None = None
    response: Response | None = None


async def exchange(
    session: Callable[[], HttpSession],
    request: Request,
    reader: Reader[A, T],
    asked: A,
    *,
    name: str,
    workers: Workers | None,
) -> Exchange[T]:
    """Ask once and parse the answer.

    Args:
        session: returns the session for the request.
        request: the request; its answer must be received and parsed within its timeout.
        reader: parses the answer.
        asked: additional input of the reader.
        name: of the source, for the log.
        workers: parse a long answer; by default, threads do.
    """
    loop = asyncio.get_running_loop()
    start = loop.time()
    last_byte: float | None = None
    response: Response | None = None
    status: int | None = None
    deadline = start + request.timeout
    try:
        async with asyncio.timeout_at(deadline):
            response = await session().send(request)
            last_byte, status = loop.time(), response.status
            result: T | Outcome = await reader.read_safely(
                response, asked, workers=workers, deadline=deadline
            )
    except DefeatError:
        result = Outcome(Verdict.MALFORMED, detail="The answer is too complex to parse.")
    except TimeoutError:
        result = Outcome(Verdict.TIMEOUT, detail="No complete answer arrived in time.")
    except SearxMcpError as exc:
        status = exc.status_code if isinstance(exc, FetchError) else None
        result = Outcome(
            _VERDICTS.get(exc.code, Verdict.CONNECTION),
            detail=exc.message,
            ours=isinstance(exc, ProxyError),
        )
    except Exception:  # noqa: BLE001 - the one supervisor of a request
        # A bug of ours costs one request, never the search: the next source is asked.
        _log.exception("sources.request_crashed source=%s", name)
        result = Outcome(Verdict.MALFORMED, detail="The answer could not be processed.")
    return Exchange(result, (last_byte or loop.time()) - start, status, response)
