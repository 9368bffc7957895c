"""Everything this package raises on purpose.

    SearxMcpError                     base: `code`, `message`, `retry_after`
    ├── InvalidArgumentError          a caller's arguments: `field`, `problems`; correct them and call again
    ├── SettingsError                 a setting: `field`, `origin`; correct the configuration
    ├── NoInstancesError              no instance could serve: `attempts`, `reason`, `retry_after`
    ├── DeadlineError                 the whole call ran out of time: `attempts`
    └── FetchError                    one page could not be read: `url`, `status_code`
        ├── PolicyError               the address may not be fetched; do not try again
        ├── TransportError            DNS, TLS, connection, time or protocol; another time may work
        │   └── ProxyError            the proxy on our side failed; says nothing about the host
        ├── RedirectError             too many hops, or a loop
        ├── SiteError                 the site refused or failed
        ├── CursorError               the page of a cursor is not, or no longer, kept
        └── ContentError              the body cannot be read as text
            └── SkeletonError         the page is empty unless its scripts run

Every error has a `code` from `ErrorCode`, the same on every front; never match on the text.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final

from typing_extensions import override

if TYPE_CHECKING:
    from searx_mcp.models.attempt import Attempt


class ErrorCode(StrEnum):
    """The stable names of everything that can go wrong, as fronts, metrics and docs use them.

    `docs/reference/errors.md` shows what stands below each name.
    """

    INVALID_ARGUMENT = "invalid_argument"
    """Arguments are wrong, or a setting is; the message names all of them."""
    NO_INSTANCES_AVAILABLE = "no_instances_available"
    """No instance could serve the search; `reason` says why."""
    DEADLINE_EXCEEDED = "deadline_exceeded"
    """The whole call ran out of time."""
    RATE_LIMITED = "rate_limited"
    """The site asked us to wait, or its host was asked, or failed, too often."""
    BLOCKED_SCHEME = "blocked_scheme"
    """Not an http or https address."""
    BLOCKED_PORT = "blocked_port"
    """Not a port of the web."""
    BLOCKED_ADDRESS = "blocked_address"
    """Not a public address; an operator can allow hosts with `fetch.allow_private`."""
    BLOCKED_DOMAIN = "blocked_domain"
    """The operator blocked the domain, or allows only addresses seen in results."""
    ROBOTS_DISALLOWED = "robots_disallowed"
    """The site's robots.txt forbids it or could not be read."""
    BLOCKED_BY_SITE = "blocked_by_site"
    """The site refuses automated clients."""
    AUTHENTICATION_REQUIRED = "authentication_required"
    """The page needs a login."""
    NOT_FOUND = "not_found"
    """Status 404 or 410."""
    HTTP_ERROR = "http_error"
    """Another status of 400 or above."""
    TOO_MANY_REDIRECTS = "too_many_redirects"
    """The page redirects too often."""
    REDIRECT_LOOP = "redirect_loop"
    """The page redirects to itself."""
    TLS_ERROR = "tls_error"
    """The certificate is not valid, or the handshake failed."""
    DNS_ERROR = "dns_error"
    """The host name did not resolve."""
    CONNECTION_ERROR = "connection_error"
    """The host or the proxy could not be reached, or the server is stopping."""
    TIMEOUT = "timeout"
    """No complete answer in time."""
    UNSUPPORTED_CONTENT_TYPE = "unsupported_content_type"
    """The content is not text."""
    UNSUPPORTED_ENCODING = "unsupported_encoding"
    """The compression or character encoding is not supported."""
    CONTENT_TOO_LARGE = "content_too_large"
    """A PDF is larger than the limit."""
    MALFORMED_RESPONSE = "malformed_response"
    """The answer is not valid HTTP."""
    EXTRACTION_FAILED = "extraction_failed"
    """The page has no readable text."""
    CURSOR_EXPIRED = "cursor_expired"
    """The page that the cursor names is no longer kept."""
    UNAUTHORIZED = "unauthorized"
    """The HTTP server refused the token, the host name or the origin."""
    NATIVE_FAILED = "native_failed"
    """`instances own` could not run SearXNG as a process; `reason` says why."""
    SETUP_FAILED = "setup_failed"
    """`searx-mcp setup` could not start the server or edit the client's configuration."""
    INTERNAL = "internal"
    """searx-mcp failed: a bug, or its machine is short of memory or processes; the log has the details."""


class UnavailableReason(StrEnum):
    """Reasons why no instance could serve; each needs a different remedy."""

    OFFLINE = "offline"
    """No host could be reached: the network of this machine is down."""
    NOTHING_CONFIGURED = "nothing_configured"
    """The pool is empty."""
    OWN_DOWN = "own_down"
    """Your own instance does not answer, and no other instance could serve."""
    OWN_FAILED = "own_failed"
    """Your own instance answers but could not serve the search, and no other instance could."""
    BUDGET_SPENT = "budget_spent"
    """The request budget for public instances is used up for now."""
    EXHAUSTED = "exhausted"
    """Instances or open sources were asked, and none could serve."""


class SearxMcpError(Exception):
    """Base of everything raised on purpose.

    Attributes:
        code: what went wrong, stable.
        message: one sentence for a person; never the query, never a private address.
        advice: what to do now, one sentence; may be empty.
        retry_after: seconds after which the same call may succeed, or `None` if waiting does not help.
        time_limit: the time limit in seconds that was exceeded, or `None` if none was.
        passed: seconds until then, or `None` if unknown.
        quoted: text from a stranger, such as the robots.txt rule that forbids an address; kept out of
            `message` and `advice` so that it can be shown separately. Usually empty.
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
        self.passed: float | None = None

    @override
    def __reduce__(self) -> tuple[object, ...]:
        # That of `Exception` calls `__init__` with the message alone: no pool of processes could return an error.
        return type(self).__new__, (type(self), *self.args), vars(self)

    def ran_out(self, allowed: float, passed: float) -> None:
        """Note the time limit that was exceeded, and add the time until then to the message, once.

        Args:
            allowed: seconds that the call had.
            passed: seconds until it failed; near the end, the rest was reserved for the answer.
        """
        if self.time_limit is not None:
            return
        limit = allowed if passed >= _NEARLY_ALL * allowed else passed
        self.time_limit, self.passed = _rounded(limit), _rounded(passed)
        reason = f"{self.message[:1].lower()}{self.message[1:]}"
        seconds = f"{self.passed:.3g}"
        self.message = f"Timed out after {seconds} second{'s' * (seconds != '1')}: {reason}"
        self.args = (self.message,)


def _rounded(seconds: float) -> float:
    return round(seconds, 1) if seconds >= _TENTH else seconds


_TENTH = 0.1
"""Of a second: the precision of longer times in a message."""
_NEARLY_ALL = 0.85
"""The share of a call's time after which all of it counts as used up: a tenth is reserved for composing an
answer from what has arrived."""


MOST_PROBLEMS: Final = 8
"""Maximum wrong arguments in one error; more are counted. Chosen: a call rarely names more on purpose."""


class InvalidArgumentError(SearxMcpError):
    """One or several of a caller's arguments are wrong.

    Attributes:
        field: the caller's name of the first.
        problems: each name with what is wrong, up to the maximum.
        untold: number of further ones.
    """

    def __init__(
        self,
        field: str,
        message: str,
        *,
        advice: str = "",
        quoted: str = "",
        further: "Sequence[InvalidArgumentError]" = (),
    ) -> None:
        found = ((field, message), *(one for each in further for one in each.problems))
        self.field = field
        self.problems: tuple[tuple[str, str], ...] = found[:MOST_PROBLEMS]
        self.untold = len(found) - len(self.problems)
        super().__init__(
            self.told(": ".join(one) for one in self.problems),
            code=ErrorCode.INVALID_ARGUMENT,
            advice=advice,
            quoted=quoted,
        )

    @classmethod
    def of(cls, errors: "Sequence[InvalidArgumentError]") -> "InvalidArgumentError":
        """Combine several errors into one, or return the only one."""
        first, *further = errors
        if not further:
            return first
        return cls(first.field, first.problems[0][1], advice=first.advice, further=further)

    def told(self, problems: Iterable[str]) -> str:
        """Join the problems into one sentence, with the number of further ones."""
        rest = [f"and {self.untold} more"] if self.untold else []
        return "; ".join((*problems, *rest))


class SettingsError(SearxMcpError):
    """A setting is wrong.

    Attributes:
        field: the setting's dotted name.
        origin: where the value came from: a file, an environment variable or an argument.
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
        reason: why none could serve; each reason needs a different remedy.
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
    """The whole call ran out of time before anything useful was found."""

    def __init__(
        self, message: str, *, attempts: "tuple[Attempt, ...]" = (), advice: str = ""
    ) -> None:
        super().__init__(message, code=ErrorCode.DEADLINE_EXCEEDED, advice=advice)
        self.attempts = attempts


class FetchError(SearxMcpError):
    """One page could not be read.

    Attributes:
        codes: that errors of the class have.
        url: the address that failed: the requested one, or a hop.
        status_code: the HTTP status, or `None` if there was no answer.
        response_time_ms: from the call to the failure, or `None` if not measured yet.
        redirect_chain: `url -> status` of the hops so far, if the site redirected; the last hop, `url`,
            may be without an answer.
    """

    codes: ClassVar[frozenset[ErrorCode]] = frozenset()

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

    codes = frozenset(
        {
            ErrorCode.BLOCKED_SCHEME,
            ErrorCode.BLOCKED_PORT,
            ErrorCode.BLOCKED_ADDRESS,
            ErrorCode.BLOCKED_DOMAIN,
            ErrorCode.ROBOTS_DISALLOWED,
        }
    )


class TransportError(FetchError):
    """No usable answer came back."""

    codes = frozenset(
        {
            ErrorCode.DNS_ERROR,
            ErrorCode.TLS_ERROR,
            ErrorCode.CONNECTION_ERROR,
            ErrorCode.TIMEOUT,
            ErrorCode.MALFORMED_RESPONSE,
        }
    )


class ProxyError(TransportError):
    """The proxy on our side of the network failed; `connection_error`.

    It says nothing about the requested host; no other host can be reached either.
    """


class RedirectError(FetchError):
    """The redirects of a page lead nowhere."""

    codes = frozenset(
        {
            ErrorCode.TOO_MANY_REDIRECTS,
            ErrorCode.REDIRECT_LOOP,
        }
    )


class SiteError(FetchError):
    """The site answered and refused or failed."""

    codes = frozenset(
        {
            ErrorCode.NOT_FOUND,
            ErrorCode.HTTP_ERROR,
            ErrorCode.RATE_LIMITED,
            ErrorCode.AUTHENTICATION_REQUIRED,
            ErrorCode.BLOCKED_BY_SITE,
        }
    )


class CursorError(FetchError):
    """The page of the cursor is not, or no longer, kept."""

    codes = frozenset({ErrorCode.CURSOR_EXPIRED})


class ContentError(FetchError):
    """The body cannot be read as text."""

    codes = frozenset(
        {
            ErrorCode.UNSUPPORTED_CONTENT_TYPE,
            ErrorCode.UNSUPPORTED_ENCODING,
            ErrorCode.CONTENT_TOO_LARGE,
            ErrorCode.EXTRACTION_FAILED,
        }
    )


class SkeletonError(ContentError):
    """`extraction_failed`: the page has no text unless its scripts run; a browser may read it."""


PAGE_ERRORS: Final[Mapping[ErrorCode, type[FetchError]]] = MappingProxyType(
    {
        code: kind
        for code in ErrorCode
        for kind in (
            PolicyError,
            TransportError,
            RedirectError,
            SiteError,
            CursorError,
            ContentError,
        )
        if code in kind.codes
    }
)
"""The class of each code that a page can fail with."""


class StorageError(SearxMcpError):
    """A store cannot be read or written now; searches never raise this."""


class StorageBusyError(StorageError):
    """Other processes kept a store busy for too long; trying again may work."""


class StorageUnavailableError(StorageError):
    """The file or server of a store cannot be used; the message names it."""
