"""Errors between two processes: the body that a server writes and a thin client parses."""

from typing import Any

from pydantic import ConfigDict

from searx_mcp.errors import (
    ErrorCode,
    FetchError,
    InvalidArgumentError,
    NoInstancesError,
    SearxMcpError,
)
from searx_mcp.models.attempt import Attempt
from searx_mcp.models.base import Frozen
from searx_mcp.render.errors import advice_on, attempts_of, cause_of, seconds_until_retry


class ErrorDetail(Frozen):
    """What went wrong. Fields that do not apply are left out.

    Attributes:
        code: stable name of the error; see `docs/reference/errors.md`.
        message: a sentence for a person.
        advice: what to do, if the message does not say so.
        retry_after: whole seconds after which the same call may succeed; also in the header `Retry-After`.
        field: the invalid argument.
        reason: the cause of `no_instances_available`.
        time_limit: the exceeded limit, in seconds.
        attempts: every request sent for a search, in order.
        url: the page that failed, or the address its redirects led to.
        status_code: the HTTP status of the page.
        response_time_ms: milliseconds until the page failed.
        redirect_chain: `url -> status`, one entry per hop.
        quoted: text of a third party, such as the rule that forbids an address.
        status: the HTTP status that the error would have had; only in an event stream.
    """

    model_config = ConfigDict(allow_inf_nan=False)

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
    """The body of every error."""

    error: ErrorDetail


def error_body(
    error: SearxMcpError, longest: float, *, status: int | None = None
) -> dict[str, Any]:
    """Build the body of an error response.

    Args:
        error: of the call.
        longest: the longest time that a call may take, in seconds; advice never exceeds it.
        status: to include, for an event of a stream.
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
