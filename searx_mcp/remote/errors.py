"""Refusals and failures of a service, as our own errors.

The user has chosen the service. If it is one of ours, the code and the sentences of its errors are trusted, each
in one line of bounded length. The words of any other are quoted as a stranger's.
"""

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from searx_mcp.content.clean import clean_line
from searx_mcp.errors import (
    ContentError,
    CursorError,
    DeadlineError,
    ErrorCode,
    FetchError,
    InvalidArgumentError,
    NoInstancesError,
    PolicyError,
    RedirectError,
    SearxMcpError,
    SiteError,
    TransportError,
    UnavailableReason,
)
from searx_mcp.models.attempt import Attempt
from searx_mcp.urls.retry_after import within_limits

KEY_VARIABLE: Final = "SEARX_MCP_REMOTE_KEY"
URL_VARIABLE: Final = "SEARX_MCP_REMOTE_URL"

_SENTENCE_CHARS: Final = 400
_QUOTED_CHARS: Final = 400
_PAGE_FAILED: Final = 424
_UNPROCESSABLE: Final = 422
_PAGES: Final[Mapping[ErrorCode, type[FetchError]]] = MappingProxyType(
    {
        **dict.fromkeys(
            (
                ErrorCode.BLOCKED_SCHEME,
                ErrorCode.BLOCKED_PORT,
                ErrorCode.BLOCKED_ADDRESS,
                ErrorCode.BLOCKED_DOMAIN,
                ErrorCode.ROBOTS_DISALLOWED,
            ),
            PolicyError,
        ),
        **dict.fromkeys(
            (
                ErrorCode.DNS_ERROR,
                ErrorCode.TLS_ERROR,
                ErrorCode.CONNECTION_ERROR,
                ErrorCode.TIMEOUT,
                ErrorCode.MALFORMED_RESPONSE,
            ),
            TransportError,
        ),
        **dict.fromkeys((ErrorCode.TOO_MANY_REDIRECTS, ErrorCode.REDIRECT_LOOP), RedirectError),
        **dict.fromkeys(
            (
                ErrorCode.NOT_FOUND,
                ErrorCode.HTTP_ERROR,
                ErrorCode.RATE_LIMITED,
                ErrorCode.AUTHENTICATION_REQUIRED,
                ErrorCode.BLOCKED_BY_SITE,
            ),
            SiteError,
        ),
        ErrorCode.CURSOR_EXPIRED: CursorError,
        **dict.fromkeys(
            (
                ErrorCode.UNSUPPORTED_CONTENT_TYPE,
                ErrorCode.UNSUPPORTED_ENCODING,
                ErrorCode.CONTENT_TOO_LARGE,
                ErrorCode.EXTRACTION_FAILED,
            ),
            ContentError,
        ),
    }
)
"""Error classes for pages by code."""


class _Told(BaseModel):
    """An error as a service of ours reports it; newer ones may add fields."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, defer_build=True)

    code: ErrorCode
    message: str
    advice: str = ""
    retry_after: float | None = None
    field: str = ""
    reason: str = ""
    time_limit: float | None = None
    attempts: tuple[Attempt, ...] = ()
    url: str = ""
    status_code: int | None = None
    response_time_ms: int | None = None
    redirect_chain: tuple[str, ...] = ()
    quoted: str = ""


def refusal(status: int, body: object, *, path: str, wait: float | None) -> SearxMcpError:
    """Make our error from an unsuccessful answer.

    Args:
        status: of the answer, 300 or more.
        body: its JSON; `None` if it has none.
        path: of the route, which is ours to show.
        wait: seconds of its `Retry-After`.
    """
    told = _told(body)
    if status == HTTPStatus.UNAUTHORIZED or (status == HTTPStatus.FORBIDDEN and told is None):
        return unauthorized()
    if told is not None:
        error = _as_told(told, status)
        error.retry_after = wait if error.retry_after is None else within_limits(error.retry_after)
        return error
    return _by_status(status, path=path, wait=wait, said=words_of(body))


def status_of(body: Mapping[str, object]) -> int:
    """The status that an error in an event stream would have had."""
    error = body.get("error")
    status = error.get("status") if isinstance(error, Mapping) else None
    if isinstance(status, int) and status in range(400, 600):
        return status
    return HTTPStatus.INTERNAL_SERVER_ERROR


def unauthorized() -> SearxMcpError:
    """Make the error for a key that is missing or wrong."""
    return SearxMcpError(
        f"Remote authentication failed. Check {KEY_VARIABLE}",
        code=ErrorCode.UNAUTHORIZED,
        advice="The operator must correct it.",
    )


def too_late(seconds: float, *, longest: float) -> SearxMcpError:
    """Make the error for a timeout.

    Args:
        seconds: that the request had.
        longest: seconds that the settings allow; a caller who has asked for fewer can ask for more.
    """
    late = DeadlineError(
        f"The request to the remote service timed out after {1_000 * seconds:.0f} ms",
        advice="" if seconds < longest else "Ask for less, or raise remote.timeout.",
    )
    late.time_limit = seconds
    return late


def unreachable(cause: SearxMcpError) -> SearxMcpError:
    """Make the error for a service that does not answer, or not in HTTP."""
    is_garbled = cause.code in {ErrorCode.MALFORMED_RESPONSE, ErrorCode.UNSUPPORTED_ENCODING}
    return SearxMcpError(
        f"The remote service cannot be reached: {cause.message}",
        code=ErrorCode.CONNECTION_ERROR if is_garbled else cause.code,
        advice=cause.advice or f"Check {URL_VARIABLE} and that the service is running.",
    )


def unreadable(why: str) -> SearxMcpError:
    """Make the error for an answer that cannot be used; `why` is a clause of ours."""
    return SearxMcpError(
        f"The remote service's answer {why}",
        code=ErrorCode.MALFORMED_RESPONSE,
        advice=f"Check that {URL_VARIABLE} points to the service itself.",
    )


def missing(what: str) -> SearxMcpError:
    """Make the error for a missing feature of the service; `what` is a name of ours."""
    return SearxMcpError(
        f"The remote service does not offer {what}",
        code=ErrorCode.NOT_FOUND,
        advice="Use web_search and web_fetch, which every remote service has.",
    )


def words_of(body: object) -> str:
    """Find the reason that another kind of service gives for its failure, in one bounded line; may be empty."""
    parts: list[str] = []
    for _ in range(2):
        if not isinstance(body, Mapping):
            break
        for name in ("message", "detail", "reason", "reasons", "errors", "error"):
            found = body.get(name)
            rows = found if isinstance(found, list) else [found]
            parts += [row for row in rows[:10] if isinstance(row, str)]
        body = body.get("error")
    return clean_line("; ".join(part[:_QUOTED_CHARS] for part in parts[:10]), _QUOTED_CHARS)


def _told(body: object) -> _Told | None:
    try:
        return _Told.model_validate(body.get("error") if isinstance(body, dict) else None)
    except ValidationError:
        return None


def _as_told(told: _Told, status: int) -> SearxMcpError:
    message = clean_line(told.message, _SENTENCE_CHARS)
    advice = clean_line(told.advice, _SENTENCE_CHARS)
    kind = _PAGES.get(told.code)
    error: SearxMcpError
    match told.code:
        case ErrorCode.INVALID_ARGUMENT if told.field:
            field = clean_line(told.field, 60)
            error = InvalidArgumentError(
                field, message.removeprefix(f"{field}: "), advice=advice, quoted=_quoted(told)
            )
        case ErrorCode.NO_INSTANCES_AVAILABLE:
            error = NoInstancesError(
                message, reason=_reason(told), attempts=told.attempts, advice=advice
            )
        case ErrorCode.DEADLINE_EXCEEDED:
            error = DeadlineError(message, attempts=told.attempts, advice=advice)
        case _ if kind is not None and (status in {_PAGE_FAILED, _UNPROCESSABLE} or told.url):
            error = kind(
                message, code=told.code, url=told.url, status_code=told.status_code, advice=advice
            )
            error.response_time_ms = told.response_time_ms
            error.redirect_chain = told.redirect_chain
        case _:
            error = SearxMcpError(message, code=told.code, advice=advice)
    error.retry_after, error.time_limit = told.retry_after, told.time_limit
    error.quoted = _quoted(told)
    return error


def _quoted(told: _Told) -> str:
    return clean_line(told.quoted, _QUOTED_CHARS)


def _reason(told: _Told) -> UnavailableReason:
    known = {each.value: each for each in UnavailableReason}
    return known.get(told.reason, UnavailableReason.EXHAUSTED)


def _by_status(status: int, *, path: str, wait: float | None, said: str) -> SearxMcpError:
    def failed(message: str, code: ErrorCode, advice: str = "") -> SearxMcpError:
        return SearxMcpError(message, code=code, advice=advice, retry_after=wait, quoted=said)

    if status < HTTPStatus.BAD_REQUEST:
        return failed(
            f"The remote service redirects (HTTP {status}), which is not followed",
            ErrorCode.HTTP_ERROR,
            f"Set {URL_VARIABLE} to the target of the redirect.",
        )
    match status:
        case HTTPStatus.NOT_FOUND | HTTPStatus.METHOD_NOT_ALLOWED | HTTPStatus.NOT_IMPLEMENTED:
            return missing(path)
        case HTTPStatus.TOO_MANY_REQUESTS:
            return failed(
                "The remote service refuses further requests for now",
                ErrorCode.RATE_LIMITED,
                "Wait before you call it again.",
            )
        case HTTPStatus.REQUEST_TIMEOUT | HTTPStatus.GATEWAY_TIMEOUT:
            return failed(
                f"The remote service timed out (HTTP {status})",
                ErrorCode.TIMEOUT,
                "Ask for less.",
            )
        case _ if status < HTTPStatus.INTERNAL_SERVER_ERROR:
            return failed(
                f"The remote service refused the request (HTTP {status})",
                ErrorCode.INVALID_ARGUMENT,
                "Correct the arguments and call again.",
            )
        case _:
            return failed(
                f"The remote request failed (HTTP {status})",
                ErrorCode.INTERNAL,
                "See the log of the remote service.",
            )
