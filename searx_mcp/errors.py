"""Everything this package raises on purpose.

    SearxMcpError                     base: `code`, `message`, `retry_after`
    ├── InvalidArgumentError          a caller's argument: `field`; correct it and call again
    ├── SettingsError                 a setting: `field`, `origin`; correct the configuration
    ├── NoInstancesError              no instance could serve: `attempts`, `reason`, `retry_after`
    ├── DeadlineError                 the whole call ran out of time: `attempts`
    └── FetchError                    one page could not be read: `url`, `status_code`
        ├── PolicyError               the address may not be fetched; do not try again
        ├── TransportError            DNS, TLS, connection, time or protocol; another time may work
        │   └── ProxyError            the proxy on our side failed; says nothing about the host
        ├── RedirectError             too many hops, or a loop
        ├── SiteError                 the site refused or failed
        ├── CursorError               what a cursor names is not, or no longer, kept
        └── ContentError              there is a body, and it cannot be read as text
            └── SkeletonError         the page is empty unless its scripts run

Every error has a `code` out of `ErrorCode`, the same on every front. Nobody matches texts.
"""

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from searx_mcp.models.attempt import Attempt


class ErrorCode(StrEnum):
    """The stable names of everything that can go wrong; fronts, metrics and docs use these."""

    INVALID_ARGUMENT = "invalid_argument"
    NO_INSTANCES_AVAILABLE = "no_instances_available"
    DEADLINE_EXCEEDED = "deadline_exceeded"
    RATE_LIMITED = "rate_limited"
    BLOCKED_SCHEME = "blocked_scheme"
    BLOCKED_PORT = "blocked_port"
    BLOCKED_ADDRESS = "blocked_address"
    BLOCKED_DOMAIN = "blocked_domain"
    ROBOTS_DISALLOWED = "robots_disallowed"
    BLOCKED_BY_SITE = "blocked_by_site"
    AUTHENTICATION_REQUIRED = "authentication_required"
    NOT_FOUND = "not_found"
    HTTP_ERROR = "http_error"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    REDIRECT_LOOP = "redirect_loop"
    TLS_ERROR = "tls_error"
    DNS_ERROR = "dns_error"
    CONNECTION_ERROR = "connection_error"
    TIMEOUT = "timeout"
    UNSUPPORTED_CONTENT_TYPE = "unsupported_content_type"
    UNSUPPORTED_ENCODING = "unsupported_encoding"
    CONTENT_TOO_LARGE = "content_too_large"
    MALFORMED_RESPONSE = "malformed_response"
    EXTRACTION_FAILED = "extraction_failed"
    CURSOR_EXPIRED = "cursor_expired"
    UNAUTHORIZED = "unauthorized"
    CONTAINER_FAILED = "container_failed"
    NATIVE_FAILED = "native_failed"
    INTERNAL = "internal"


class UnavailableReason(StrEnum):
    """Reasons why no instance could serve; each calls for something else from the caller."""

    OFFLINE = "offline"
    """No host could be reached at all: the network here is down."""
    NOTHING_CONFIGURED = "nothing_configured"
    """The pool is empty."""
    OWN_DOWN = "own_down"
    """The caller's own instance does not answer, and nobody else could serve."""
    OWN_FAILED = "own_failed"
    """The caller's own instance is there and could not serve, and nobody else could."""
    BUDGET_SPENT = "budget_spent"
    """What the public instances allow is used up for now."""
    EXHAUSTED = "exhausted"
    """Instances were asked, and none could serve."""


class SearxMcpError(Exception):
    """Base of everything raised on purpose.

    Attributes:
        code: what went wrong, stable.
        message: one sentence for a person; never the query, never a private address.
        advice: what to do now, one sentence; may be empty.
        retry_after: seconds after which the same call may succeed, or `None` if waiting is no help.
        time_limit: the seconds that ran out, if that is what happened.
        quoted: what a stranger wrote that belongs to it, such as the rule that forbids an address;
            neither `message` nor `advice` holds any of it, so that it can be shown apart. Mostly empty.
    """

    def __init__(
        self,
        message: str,
        *,
        code: ErrorCode = ErrorCode.INTERNAL,
        advice: str = "",
        retry_after: float | None = None,
        quoted: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.advice = advice
        self.retry_after = retry_after
        self.quoted = quoted
        self.time_limit: float | None = None

    def ran_out(self, allowed: float, passed: float) -> None:
        """Name the time that ran out, once.

        Args:
            allowed: seconds the call had.
            passed: seconds until it failed; what is near the end was kept back for the answer.
        """
        if self.time_limit is not None:
            return
        limit = allowed if passed >= _NEARLY_ALL * allowed else passed
        self.time_limit = round(limit, 1) if limit >= _TENTH else limit
        reason = f"{self.message[:1].lower()}{self.message[1:]}"
        seconds = f"{self.time_limit:.3g}"
        self.message = f"Timed out after {seconds} second{'s' * (seconds != '1')}: {reason}"
        self.args = (self.message,)


_TENTH = 0.1
"""Of a second: what is shown of a longer time."""
_NEARLY_ALL = 0.85
"""The share of a call's time after which all of it counts as used up: a tenth is kept back for turning what
has arrived into an answer."""


class InvalidArgumentError(SearxMcpError):
    """A caller's argument is wrong.

    Attributes:
        field: the argument's name as the caller knows it.
    """

    def __init__(self, field: str, message: str, *, advice: str = "", quoted: str = "") -> None:
        super().__init__(
            f"{field}: {message}", code=ErrorCode.INVALID_ARGUMENT, advice=advice, quoted=quoted
        )
        self.field = field


class SettingsError(SearxMcpError):
    """A setting is wrong.

    Attributes:
        field: the setting's dotted name.
        origin: where the value came from: a file, an environment variable, an argument.
    """

    def __init__(self, field: str, message: str, *, origin: str = "", advice: str = "") -> None:
        where = f" (from {origin})" if origin else ""
        super().__init__(
            f"{field}{where}: {message}", code=ErrorCode.INVALID_ARGUMENT, advice=advice
        )
        self.field = field
        self.origin = origin


class NoInstancesError(SearxMcpError):
    """No instance could serve the search.

    Attributes:
        reason: which of the kinds of unavailability it is.
        attempts: every request made, in order.
    """

    def __init__(
        self,
        message: str,
        *,
        reason: UnavailableReason,
        attempts: "tuple[Attempt, ...]" = (),
        advice: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(
            message,
            code=ErrorCode.NO_INSTANCES_AVAILABLE,
            advice=advice,
            retry_after=retry_after,
        )
        self.reason = reason
        self.attempts = attempts


class DeadlineError(SearxMcpError):
    """The whole call ran out of time before anything useful was there."""

    def __init__(
        self, message: str, *, attempts: "tuple[Attempt, ...]" = (), advice: str = ""
    ) -> None:
        super().__init__(message, code=ErrorCode.DEADLINE_EXCEEDED, advice=advice)
        self.attempts = attempts


class FetchError(SearxMcpError):
    """One page could not be read.

    Attributes:
        url: the address that failed: the one asked for, or the hop.
        status_code: the HTTP status, or `None` if there was no answer.
        response_time_ms: from the call to the failure, or `None` if not measured yet.
        redirect_chain: `url -> status` of the hops so far, where the site redirected; the last hop, `url`,
            may have no answer.
    """

    def __init__(
        self,
        message: str,
        *,
        code: ErrorCode,
        url: str = "",
        status_code: int | None = None,
        advice: str = "",
        retry_after: float | None = None,
        quoted: str = "",
    ) -> None:
        super().__init__(message, code=code, advice=advice, retry_after=retry_after, quoted=quoted)
        self.url = url
        self.status_code = status_code
        self.response_time_ms: int | None = None
        self.redirect_chain: tuple[str, ...] = ()


class PolicyError(FetchError):
    """The address may not be fetched: scheme, port, address, domain or robots rule."""


class TransportError(FetchError):
    """No usable answer came back.

    Codes: `dns_error`, `tls_error`, `connection_error`, `timeout`, `malformed_response`.
    """


class ProxyError(TransportError):
    """The proxy on our side of the network failed; `connection_error`.

    It says nothing about the host that was asked, and no other host can be reached either.
    """


class RedirectError(FetchError):
    """`too_many_redirects` or `redirect_loop`."""


class SiteError(FetchError):
    """The site answered and refused or failed.

    Codes: `not_found`, `http_error`, `rate_limited`, `authentication_required`, `blocked_by_site`.
    """


class CursorError(FetchError):
    """`cursor_expired`: what the cursor names is not, or no longer, kept."""


class ContentError(FetchError):
    """The body cannot be read.

    Codes: `unsupported_content_type`, `unsupported_encoding`, `content_too_large`,
    `extraction_failed`.
    """


class SkeletonError(ContentError):
    """`extraction_failed`: the page has no text unless its scripts run; a browser may read it."""


class StorageError(SearxMcpError):
    """What is kept cannot be read or written now. It never reaches whoever searches."""


class StorageBusyError(StorageError):
    """Other processes kept the file of a store for too long; another time may work."""


class StorageUnavailableError(StorageError):
    """The file or the server of a store cannot be used as things are; the message names it."""
