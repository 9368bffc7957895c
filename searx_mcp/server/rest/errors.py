"""HTTP statuses of error codes in REST."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from searx_mcp.errors import (
    CursorError,
    ErrorCode,
    FetchError,
    PolicyError,
    SearxMcpError,
    SettingsError,
)

PAGE_FAILED: Final = 424
"""Status for the failure of a page or another server (RFC 4918, 11.4). A 404 would mean that the route does not exist; a
5xx would blame this server, and a load balancer would eject it for its clients' requests."""
STATUSES: Final[Mapping[ErrorCode, int]] = MappingProxyType(
    {
        **dict.fromkeys(ErrorCode, PAGE_FAILED),
        **dict.fromkeys((ErrorCode.INVALID_ARGUMENT, *PolicyError.codes, *CursorError.codes), 422),
        ErrorCode.UNAUTHORIZED: 401,
        ErrorCode.RATE_LIMITED: 429,
        ErrorCode.INTERNAL: 500,
        **dict.fromkeys(
            (
                ErrorCode.NO_INSTANCES_AVAILABLE,
                ErrorCode.NATIVE_FAILED,
                ErrorCode.SETUP_FAILED,
            ),
            503,
        ),
        ErrorCode.DEADLINE_EXCEEDED: 504,
    }
)
"""Status for each error code of a failed call; `status_of` handles the two exceptions."""


def status_of(error: SearxMcpError) -> int:
    """Return the HTTP status of an error, which tells whether the caller, a page or this server is at fault."""
    if isinstance(error, SettingsError):
        return 500
    is_page = isinstance(error, FetchError) and not isinstance(error, PolicyError | CursorError)
    return PAGE_FAILED if is_page else STATUSES[error.code]
