"""Converts a service's refusals and failures to our own errors.

The user trusts the service to answer, but not its texts: we take over codes, numbers and names that we know.
The sentences are ours, and the service's words are quoted as untrusted text.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from types import MappingProxyType
from typing import Final

from pydantic import ValidationError

from searx_mcp.content.clean import clean_line
from searx_mcp.errors import (
    PAGE_ERRORS,
    DeadlineError,
    ErrorCode,
    InvalidArgumentError,
    NoInstancesError,
    SearxMcpError,
    UnavailableReason,
)
from searx_mcp.models.attempt import Attempt
from searx_mcp.models.credentials import base_url
from searx_mcp.render.error_body import ErrorDetail
from searx_mcp.urls.retry_after import within_limits
from searx_mcp.verbs.table import VERBS

KEY_VARIABLE: Final = "SEARX_MCP_REMOTE_KEY"
URL_VARIABLE: Final = "SEARX_MCP_REMOTE_URL"

_QUOTED_CHARS: Final = 400
_MAX_ATTEMPTS: Final = 100
_PAGE_FAILED: Final = 424
_UNPROCESSABLE: Final = 422
_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        ErrorCode.INVALID_ARGUMENT: "the remote service refuses its value",
        ErrorCode.NO_INSTANCES_AVAILABLE: "The remote service has no instance that could serve the search",
        ErrorCode.DEADLINE_EXCEEDED: "The remote service ran out of time",
        ErrorCode.RATE_LIMITED: "The site or the remote service asks us to wait",
        ErrorCode.BLOCKED_SCHEME: "The remote service reads http and https addresses only",
        ErrorCode.BLOCKED_PORT: "The remote service does not read addresses with this port",
        ErrorCode.BLOCKED_ADDRESS: "The remote service reads public addresses only",
        ErrorCode.BLOCKED_DOMAIN: "The remote service does not read this address",
        ErrorCode.ROBOTS_DISALLOWED: "The site's robots.txt forbids it, or could not be read",
        ErrorCode.BLOCKED_BY_SITE: "The site refuses automated clients",
        ErrorCode.AUTHENTICATION_REQUIRED: "The page needs a login",
        ErrorCode.NOT_FOUND: "The page does not exist",
        ErrorCode.HTTP_ERROR: "The site answered with an error",
        ErrorCode.TOO_MANY_REDIRECTS: "The page redirects too often",
        ErrorCode.REDIRECT_LOOP: "The page redirects to itself",
        ErrorCode.TLS_ERROR: "The site's certificate is not valid, or the handshake failed",
        ErrorCode.DNS_ERROR: "The host name did not resolve",
        ErrorCode.CONNECTION_ERROR: "The site, or something between, could not be reached",
        ErrorCode.TIMEOUT: "There was no complete answer in time",
        ErrorCode.UNSUPPORTED_CONTENT_TYPE: "The content is not text",
        ErrorCode.UNSUPPORTED_ENCODING: "The compression or character encoding is not supported",
        ErrorCode.CONTENT_TOO_LARGE: "The document is larger than the limit",
        ErrorCode.MALFORMED_RESPONSE: "The answer is not valid HTTP",
        ErrorCode.EXTRACTION_FAILED: "The page has no readable text",
        ErrorCode.CURSOR_EXPIRED: "The page of the cursor is no longer kept",
    }
)
"""Our sentence for each code, whatever the service says."""
_OTHERWISE: Final = "The remote service failed"
_FIELDS: Final = frozenset(name for verb in VERBS for name in verb.request.model_fields)
_SOURCE: Final = re.compile(r"[a-z0-9_]{0,30}")


def refusal(status: int, body: object, *, path: str, wait: float | None) -> SearxMcpError:
    """Return our error for an unsuccessful response.

    Args:
        status: HTTP status, 300 or more.
        body: JSON of the response; `None` if it has none.
        path: path of the route, as we requested it.
        wait: seconds of `Retry-After`; `None` if it is missing.
    """
    detail = _parse_detail(body)
    if status == HTTPStatus.UNAUTHORIZED or (status == HTTPStatus.FORBIDDEN and detail is None):
        return unauthorized()
    if detail is not None:
        error = _from_detail(detail, status)
        error.retry_after = wait if error.retry_after is None else within_limits(error.retry_after)
        return error
    return _from_status(status, path=path, wait=wait, said=explanation_of(body))


def status_of(body: Mapping[str, object]) -> int:
    """Return the HTTP status that an error in an event stream would have had."""
    error = body.get("error")
    status = error.get("status") if isinstance(error, Mapping) else None
    if isinstance(status, int) and status in range(400, 600):
        return status
    return HTTPStatus.INTERNAL_SERVER_ERROR


def unauthorized() -> SearxMcpError:
    """Return the error for a key that is missing or wrong."""
    return SearxMcpError(
        f"Remote authentication failed. Check {KEY_VARIABLE}",
        code=ErrorCode.UNAUTHORIZED,
        advice="The operator must correct it.",
    )


def too_late(seconds: float, *, longest: float) -> SearxMcpError:
    """Return the error for a timeout.

    Args:
        seconds: time limit of the request, in seconds.
        longest: `remote.timeout`; a caller that set a shorter limit can set a longer one.
    """
    late = DeadlineError(
        f"The request to the remote service timed out after {1_000 * seconds:.0f} ms",
        advice="" if seconds < longest else "Ask for less, or raise remote.timeout.",
    )
    late.time_limit = seconds
    return late


def unreachable(cause: SearxMcpError) -> SearxMcpError:
    """Return the error for a service that does not respond, or not in HTTP."""
    is_garbled = cause.code in {ErrorCode.MALFORMED_RESPONSE, ErrorCode.UNSUPPORTED_ENCODING}
    return SearxMcpError(
        f"The remote service cannot be reached: {cause.message}",
        code=ErrorCode.CONNECTION_ERROR if is_garbled else cause.code,
        advice=cause.advice or f"Check {URL_VARIABLE} and that the service is running.",
    )


def unreadable(why: str) -> SearxMcpError:
    """Return the error for an unusable response; `why` is a clause of ours."""
    return SearxMcpError(
        f"The remote service's answer {why}",
        code=ErrorCode.MALFORMED_RESPONSE,
        advice=f"Check that {URL_VARIABLE} points to the service itself.",
    )


def missing(what: str) -> SearxMcpError:
    """Return the error for a missing feature of the service; `what` is a name of ours."""
    return SearxMcpError(
        f"The remote service does not offer {what}",
        code=ErrorCode.NOT_FOUND,
        advice="Use web_search and web_fetch, which every remote service has.",
    )


def sentence(code: str) -> str:
    """Return our sentence for an error of the service, by its code."""
    return _SENTENCES.get(code, _OTHERWISE)


def explanation_of(body: object) -> str:
    """Return another kind of service's reason for its failure, on one bounded line; may be empty."""
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


def _parse_detail(body: object) -> ErrorDetail | None:
    """Parse an error in our service's format; newer ones may add fields."""
    error = body.get("error") if isinstance(body, dict) else None
    try:
        return ErrorDetail.model_validate(error, extra="ignore")
    except ValidationError:
        return None


def _from_detail(detail: ErrorDetail, status: int) -> SearxMcpError:
    message = sentence(detail.code)
    kind = PAGE_ERRORS.get(detail.code)
    error: SearxMcpError
    match detail.code:
        case ErrorCode.INVALID_ARGUMENT if detail.field:
            error = InvalidArgumentError(
                detail.field if detail.field in _FIELDS else "an argument", message
            )
        case ErrorCode.NO_INSTANCES_AVAILABLE:
            error = NoInstancesError(message, reason=_reason(detail), attempts=_attempts(detail))
        case ErrorCode.DEADLINE_EXCEEDED:
            error = DeadlineError(message, attempts=_attempts(detail))
        case _ if kind is not None and (status in {_PAGE_FAILED, _UNPROCESSABLE} or detail.url):
            error = kind(
                message, code=detail.code, url=detail.url or "", status_code=detail.status_code
            )
            error.response_time_ms = detail.response_time_ms
            error.redirect_chain = detail.redirect_chain or ()
        case _:
            error = SearxMcpError(message, code=detail.code)
    error.retry_after, error.time_limit = detail.retry_after, detail.time_limit
    error.quoted = _quoted(detail)
    return error


def _quoted(detail: ErrorDetail) -> str:
    """Return what the site and the service say about the error."""
    said = (detail.quoted, detail.message, detail.advice)
    joined = "; ".join(each[:_QUOTED_CHARS] for each in said if each)
    return clean_line(joined.replace(".; ", ". "), _QUOTED_CHARS)


def _attempts(detail: ErrorDetail) -> tuple[Attempt, ...]:
    """Return the attempts that have an address, without their texts."""
    found = []
    for attempt in (detail.attempts or ())[:_MAX_ATTEMPTS]:
        with suppress(ValueError):
            update = {"instance": base_url(attempt.instance), "detail": ""}
            if _SOURCE.fullmatch(attempt.source):
                found.append(attempt.model_copy(update=update))
    return tuple(found)


def _reason(detail: ErrorDetail) -> UnavailableReason:
    known = {each.value: each for each in UnavailableReason}
    return known.get(detail.reason or "", UnavailableReason.EXHAUSTED)


def _from_status(status: int, *, path: str, wait: float | None, said: str) -> SearxMcpError:
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
