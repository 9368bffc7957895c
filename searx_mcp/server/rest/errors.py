"""Errors of REST: one table from codes to statuses, and the body."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from searx_mcp.errors import (
    CursorError,
    ErrorCode,
    FetchError,
    InvalidArgumentError,
    NoInstancesError,
    PolicyError,
    SearxMcpError,
    SettingsError,
)
from searx_mcp.models.attempt import Attempt
from searx_mcp.models.base import Frozen
from searx_mcp.render.errors import advice_on, attempts_of, cause_of, seconds_until_retry

PAGE_FAILED: Final = 424
"""The status where a page or another server fails, RFC 4918 11.4. A 404 would say that the route is not there, and a
5xx that this server is ill: a balancer would take it out for what its clients ask for."""
STATUSES: Final[Mapping[ErrorCode, int]] = MappingProxyType(
    {
        **dict.fromkeys(ErrorCode, PAGE_FAILED),
        **dict.fromkeys(
            (
                ErrorCode.INVALID_ARGUMENT,
                ErrorCode.BLOCKED_SCHEME,
                ErrorCode.BLOCKED_PORT,
                ErrorCode.BLOCKED_ADDRESS,
                ErrorCode.BLOCKED_DOMAIN,
                ErrorCode.ROBOTS_DISALLOWED,
                ErrorCode.CURSOR_EXPIRED,
            ),
            422,
        ),
        ErrorCode.UNAUTHORIZED: 401,
        ErrorCode.RATE_LIMITED: 429,
        ErrorCode.INTERNAL: 500,
        **dict.fromkeys(
            (
                ErrorCode.NO_INSTANCES_AVAILABLE,
                ErrorCode.CONTAINER_FAILED,
                ErrorCode.NATIVE_FAILED,
                ErrorCode.SETUP_FAILED,
            ),
            503,
        ),
        ErrorCode.DEADLINE_EXCEEDED: 504,
    }
)
"""The status of each code where it is an error of the call; `status_of` knows the two exceptions."""


class ErrorDetail(Frozen):
    """What went wrong. What does not apply is left out.

    Attributes:
        code: what is wrong, stable; see `docs/reference/errors.md`.
        message: a sentence for a person.
        advice: what to do now, where the message does not say it.
        retry_after: whole seconds after which the same call may succeed; also in the header `Retry-After`.
        field: the argument that is wrong.
        reason: of `no_instances_available`, which of its kinds it is.
        time_limit: the seconds that ran out.
        attempts: every request that was made for a search, in order.
        url: the page that failed, or the address that its redirects led to.
        status_code: the HTTP status of the page.
        response_time_ms: until the page failed.
        redirect_chain: `url -> status`, one entry per hop.
        quoted: what a stranger wrote that belongs to it, such as the rule that forbids an address.
        status: the HTTP status that the answer would have, where it is an event of a stream.
    """

    code: ErrorCode
    message: str
    advice: str | None = None
    retry_after: int | None = None
    field: str | None = None
    reason: str | None = None
    time_limit: float | None = None
    attempts: tuple[Attempt, ...] | None = None
    url: str | None = None
    status_code: int | None = None
    response_time_ms: int | None = None
    redirect_chain: tuple[str, ...] | None = None
    quoted: str | None = None
    status: int | None = None


class ErrorBody(Frozen):
    """The body of every answer that is no success."""

    error: ErrorDetail


def status_of(error: SearxMcpError) -> int:
    """The HTTP status that says whose turn it is: the caller's, a page's, or this server's."""
    if isinstance(error, SettingsError):
        return 500
    is_page = isinstance(error, FetchError) and not isinstance(error, PolicyError | CursorError)
    return PAGE_FAILED if is_page else STATUSES[error.code]


def error_body(
    error: SearxMcpError, longest: float, *, status: int | None = None
) -> dict[str, Any]:
    """The body that tells of an error.

    Args:
        error: of the call.
        longest: seconds that a call may have; more are never advised.
        status: to be told with it, where it is an event of a stream.
    """
    page = error if isinstance(error, FetchError) else None
    is_argument = isinstance(error, InvalidArgumentError)
    told = ErrorDetail(
        code=error.code,
        message=cause_of(error),
        advice=(error.advice if is_argument else advice_on(error, longest)) or None,
        retry_after=seconds_until_retry(error),
        field=error.field if isinstance(error, InvalidArgumentError) else None,
        reason=error.reason.value if isinstance(error, NoInstancesError) else None,
        time_limit=error.time_limit,
        attempts=attempts_of(error) or None,
        url=(page.url or None) if page else None,
        status_code=page.status_code if page else None,
        response_time_ms=page.response_time_ms if page else None,
        redirect_chain=(page.redirect_chain or None) if page else None,
        quoted=error.quoted or None,
        status=status,
    )
    return {"error": told.model_dump(mode="json", exclude_none=True)}
