"""Rules that decide which HTTP requests are served, and the refusals of all others.

Neither a refusal nor a log ever quotes a part of the request.
"""

import ipaddress
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self
from urllib.parse import unquote_to_bytes

import pydantic_core
from mcp.server.streamable_http import check_accept_headers
from starlette.requests import Request
from starlette.types import Scope, Send

from searx_mcp.errors import ErrorCode
from searx_mcp.settings.server import HttpConfig

MCP_PATH: Final = "/mcp"
SEARXNG_PATH: Final = "/search"
"""Search route of SearXNG; clients may post a form to it."""
SEARXNG_PATHS: Final = frozenset({SEARXNG_PATH, "/config", "/autocompleter", "/stats/errors"})
"""Routes of SearXNG's clients; many of them support Basic authentication or a key, but no bearer token."""
HEALTH_PATH: Final = "/healthz"
READY_PATH: Final = "/readyz"
METRICS_PATH: Final = "/metrics"
OPEN_PATHS: Final = frozenset({HEALTH_PATH, READY_PATH})
"""Served without a token, even if the server has one."""
DASHBOARD_PATH: Final = "/"
LOGIN_PATH: Final = "/login"
LOGOUT_PATH: Final = "/logout"
STYLE_PATH: Final = "/dashboard.css"
SCRIPT_PATH: Final = "/dashboard.js"
LOGIN_PATHS: Final = frozenset({LOGIN_PATH, STYLE_PATH, SCRIPT_PATH})
"""What a browser loads to log in; served without a token."""
COOKIE_PATHS: Final = frozenset({DASHBOARD_PATH, LOGOUT_PATH})
"""Routes that accept the login cookie; no others do, so that a web page cannot make calls with it."""

_KEY_PARAMETER: Final = b"key"
_HAS_QUERY: Final = re.compile(rb"(?:\A|&)q=[^&]")

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_HOST_AND_PORT: Final = re.compile(
    rb"([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::([0-9]{1,5}))?"
)
_OUR_SITES: Final = frozenset({b"none", b"same-origin"})
"""Sec-Fetch-Site of requests by the user or by pages of this server; https://www.w3.org/TR/fetch-metadata/."""
_JSON: Final = re.compile(rb"(?i:application/json)[ \t]*(;.*)?")
_FORM: Final = re.compile(rb"(?i:application/x-www-form-urlencoded)[ \t]*(;.*)?")
_FORM_PATHS: Final = frozenset({SEARXNG_PATH, DASHBOARD_PATH, LOGIN_PATH, LOGOUT_PATH})
_MAX_VALUES: Final = 10_000
"""Most JSON values in a body: parsing them blocks the server for 15 ms, a megabyte of brackets for .37 s. Calls have a few dozen."""
_MESSAGE_KEY: Final = "searx_mcp.message"
"""Scope key of the parsed JSON-RPC message."""
_CLOSING: Final = frozenset({401, 403, 421})
"""Statuses that close the connection, so that each attempt of a stranger costs a new one."""
_INVALID_REQUEST: Final = -32_600
"""JSON-RPC 2.0, 5.1."""


@dataclass(frozen=True, slots=True)
class HttpRefusal:
    """The response to a request that is not served.

    Attributes:
        status: HTTP status.
        code: error code.
        message: reason, in one sentence.
        headers: response headers besides those that describe the body.
        retry_after: seconds after which a retry may succeed; 0 if unknown.
    """

    status: int
    code: ErrorCode
    message: str
    headers: tuple[tuple[bytes, bytes], ...] = ()
    retry_after: int = 0

    def content(self, scope: Scope, request_id: str | int | None = None) -> Mapping[str, Any]:
        """Return the refusal as a JSON value; for MCP, as a JSON-RPC error.

        Args:
            scope: ASGI scope of the request.
            request_id: JSON-RPC id of the request, if known.
        """
        error: dict[str, Any] = {"code": self.code.value, "message": self.message}
        if self.retry_after:
            error["retry_after"] = self.retry_after
        if scope["path"] != MCP_PATH:
            return {"error": error}
        rpc_error = {"code": _INVALID_REQUEST, "message": self.message, "data": error}
        return {"jsonrpc": "2.0", "id": request_id, "error": rpc_error}

    async def send(
        self,
        scope: Scope,
        send: Send,
        extra_headers: Iterable[tuple[bytes, bytes]],
        request_id: str | int | None = None,
    ) -> None:
        """Send this refusal as the response.

        Args:
            scope: ASGI scope of the request.
            send: ASGI send channel.
            extra_headers: additional response headers.
            request_id: JSON-RPC id of the request, if known.
        """
        body = json.dumps(self.content(scope, request_id)).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            *self.headers,
            *extra_headers,
        ]
        if self.retry_after:
            headers.append((b"retry-after", b"%d" % self.retry_after))
        if self.status in _CLOSING:
            headers.append((b"connection", b"close"))
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


WRONG_HOST: Final = HttpRefusal(
    421,
    ErrorCode.UNAUTHORIZED,
    "This host name is not allowed: http.allowed_hosts lists the names that are.",
)
WRONG_ORIGIN: Final = HttpRefusal(
    403,
    ErrorCode.UNAUTHORIZED,
    "This origin is not allowed: http.allowed_origins lists those that are.",
)
_NOT_JSON: Final = HttpRefusal(
    415,
    ErrorCode.UNSUPPORTED_CONTENT_TYPE,
    "The body must be JSON, with Content-Type: application/json and no Content-Encoding.",
)
_NOT_A_FORM: Final = HttpRefusal(
    415,
    ErrorCode.UNSUPPORTED_CONTENT_TYPE,
    "The body, if any, must be a form, with Content-Type: application/x-www-form-urlencoded and no"
    " Content-Encoding.",
)
_NO_EVENTS: Final = HttpRefusal(
    406,
    ErrorCode.INVALID_ARGUMENT,
    "The answer may be an event stream: send Accept: application/json, text/event-stream.",
)
TOO_LARGE: Final = HttpRefusal(
    413,
    ErrorCode.CONTENT_TOO_LARGE,
    "The body is too large: http.max_body_size sets the limit.",
)
_NO_SESSION: Final = HttpRefusal(
    405,
    ErrorCode.INVALID_ARGUMENT,
    "This URL is for MCP clients, which send POST first: enter it in a client's configuration.",
    ((b"allow", b"POST"),),
)
_NOT_A_MESSAGE: Final = HttpRefusal(
    400,
    ErrorCode.INVALID_ARGUMENT,
    "The body is not a JSON-RPC 2.0 message: an object with jsonrpc and method, and an id if it"
    " expects a response.",
)
_TOO_MANY: Final = HttpRefusal(
    413, ErrorCode.CONTENT_TOO_LARGE, f"The body has more than {_MAX_VALUES:,} values."
)
TOO_SLOW: Final = HttpRefusal(
    408, ErrorCode.TIMEOUT, "The body did not arrive in time.", ((b"connection", b"close"),)
)
BUSY: Final = HttpRefusal(
    503,
    ErrorCode.RATE_LIMITED,
    "Too many requests at once from this client: try again in a few seconds.",
    retry_after=5,
)
SESSION_ENDED: Final = HttpRefusal(
    404, ErrorCode.NOT_FOUND, "The session has ended: start a new one with initialize."
)
STOPPING: Final = HttpRefusal(
    503,
    ErrorCode.CONNECTION_ERROR,
    "The server is stopping: try again in a few seconds.",
    ((b"connection", b"close"),),
    retry_after=5,
)


@dataclass(frozen=True, slots=True)
class Policy:
    """Decides which requests are served, by host, origin and body.

    Attributes:
        hosts: accepted host names, each for one port or, without a port, for all; `None` accepts any.
        addresses: whether any IP address is accepted as a host, too.
        origins: accepted web origins; one without a port stands for all ports.
        max_body: largest body, in bytes.
    """

    hosts: frozenset[str] | None
    addresses: bool
    origins: frozenset[str]
    max_body: int

    @classmethod
    def of(cls, config: HttpConfig) -> Self:
        """Return the policy of a server with these settings.

        A web page that rebinds its name to this server (DNS rebinding) neither knows the token nor can it
        put an address into the Host header: https://fetch.spec.whatwg.org/#forbidden-request-header.
        """
        named = {host.lower() for host in config.allowed_hosts}
        local = is_loopback(config.host)
        hosts = (
            None if config.wants_token and not local and not named else frozenset(named | _LOOPBACK)
        )
        origins = {origin.lower() for origin in config.allowed_origins}
        if local:
            origins |= {f"{scheme}://{host}" for scheme in ("http", "https") for host in _LOOPBACK}
        return cls(
            hosts=hosts,
            addresses=not named and not local,
            origins=frozenset(origins),
            max_body=config.max_body_size,
        )

    def check_host_and_origin(self, headers: Mapping[bytes, bytes]) -> HttpRefusal | None:
        """Return the refusal of a request for its host name or its origin, if any."""
        if not self.allows_host(headers.get(b"host", b"")):
            return WRONG_HOST
        if (origin := headers.get(b"origin")) is not None:
            is_allowed = is_same_origin(headers) or self.allows_origin(origin)
            return None if is_allowed else WRONG_ORIGIN
        # A GET from an image, a form or a link has no Origin, but browsers add Sec-Fetch-Site.
        return None if headers.get(b"sec-fetch-site", b"none") in _OUR_SITES else WRONG_ORIGIN

    def check_media_types(self, scope: Scope, headers: Mapping[bytes, bytes]) -> HttpRefusal | None:
        """Return the refusal of a request for its method, media types or declared length, if any."""
        if scope["method"] == "POST":
            if scope["path"] in _FORM_PATHS:
                if not _is_form(headers):
                    return _NOT_A_FORM
            elif not _is_json(headers) and (scope["path"] == MCP_PATH or not _has_no_body(headers)):
                return _NOT_JSON
        elif scope["path"] == MCP_PATH and b"mcp-session-id" not in headers:
            return _NO_SESSION
        if scope["path"] == MCP_PATH and not _accepts_answer(scope):
            return _NO_EVENTS
        return TOO_LARGE if self._is_too_long(headers.get(b"content-length", b"")) else None

    def _is_too_long(self, length: bytes) -> bool:
        # An invalid number is caught when the bytes are counted; a huge one must not reach `int`.
        is_long = len(length) > len(str(self.max_body))
        return is_long or (length.isdigit() and int(length) > self.max_body)

    @staticmethod
    def with_message(scope: Scope, body: bytes) -> Scope | HttpRefusal:
        """Parse the body of a POST to MCP once, for all callers of `message_of`.

        Args:
            scope: ASGI scope of the request.
            body: complete body.

        Returns:
            The scope with the message, or the refusal.
        """
        if sum(map(body.count, b"[{,")) > _MAX_VALUES:
            return _TOO_MANY
        if scope["path"] != MCP_PATH or scope["method"] != "POST":
            return scope
        try:
            message: Any = pydantic_core.from_json(body)
        except ValueError:
            return scope  # the SDK's parser tells where the error is
        is_message = (
            isinstance(message, dict)
            and message.get("jsonrpc") == "2.0"
            and (isinstance(message.get("method"), str) or "id" in message)
        )
        return {**scope, _MESSAGE_KEY: message} if is_message else _NOT_A_MESSAGE

    def allows_host(self, host: bytes) -> bool:
        """Tell whether a Host header, with or without a port, is accepted."""
        found = _HOST_AND_PORT.fullmatch(host)
        if found is None:
            return False
        name, whole = found[1].decode().lower(), host.decode().lower()
        if self.hosts is None or name in self.hosts or whole in self.hosts:
            return True
        return self.addresses and is_address(name)

    def allows_origin(self, origin: bytes) -> bool:
        """Tell whether a page of this origin may send requests."""
        whole = origin.decode("latin-1").lower()
        without_port = re.sub(r":[0-9]{1,5}\Z", "", whole)
        return whole in self.origins or without_port in self.origins


def is_searxng_search(scope: Scope) -> bool:
    """Tell whether a client of SearXNG searches at the front page, which redirects to the search."""
    is_front = scope["path"] == DASHBOARD_PATH and scope["method"] == "GET"
    return is_front and _HAS_QUERY.search(scope.get("query_string", b"")) is not None


def key_of(scope: Scope) -> bytes:
    """Return the key in the query string; empty if there is none."""
    return next((value for name, value in _parameters(scope) if name == _KEY_PARAMETER), b"")


def without_key(scope: Scope) -> Scope:
    """Return the scope of a SearXNG route without the key in its query string, so that nothing logs or forwards it."""
    if scope["path"] not in SEARXNG_PATHS or not key_of(scope):
        return scope
    rest = b"&".join(
        part
        for part in scope.get("query_string", b"").split(b"&")
        if part.partition(b"=")[0] != _KEY_PARAMETER
    )
    return {**scope, "query_string": rest}


def _parameters(scope: Scope) -> Iterator[tuple[bytes, bytes]]:
    for part in scope.get("query_string", b"").split(b"&"):
        name, _, value = part.partition(b"=")
        yield name, unquote_to_bytes(value)


def message_of(scope: Scope) -> Mapping[str, Any]:
    """Return the JSON-RPC message of a request to MCP; empty if it has none."""
    found: Mapping[str, Any] = scope.get(_MESSAGE_KEY, {})
    return found


def is_same_origin(headers: Mapping[bytes, bytes]) -> bool:
    """Tell whether the page that sent a request has the host and port it was sent to.

    Browsers leave out the default port in both headers. The check of the host refuses a rebound name.
    """
    scheme, _, authority = headers.get(b"origin", b"").partition(b"://")
    is_web = scheme in {b"http", b"https"}
    return is_web and authority.lower() == headers.get(b"host", b"").lower()


def is_address(host: str) -> bool:
    """Tell whether a host is an IP address, with or without brackets, rather than a name."""
    try:
        ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach a listener on this host; of all names, only `localhost` counts."""
    host = host.lower()
    return host == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_json(headers: Mapping[bytes, bytes]) -> bool:
    encoding = headers.get(b"content-encoding", b"identity").lower()
    return bool(_JSON.fullmatch(headers.get(b"content-type", b""))) and encoding == b"identity"


def _accepts_answer(scope: Scope) -> bool:
    """Tell whether a client accepts MCP's media types: JSON and events for POST, events for GET."""
    takes_json, takes_events = check_accept_headers(Request(scope))
    match scope["method"]:
        case "POST":
            return takes_json and takes_events
        case "GET":
            return takes_events
        case _:
            return True


def _is_form(headers: Mapping[bytes, bytes]) -> bool:
    """Tell whether a body is a form or absent; a POST without one does no more than a GET; other sites can send neither."""
    encoding = headers.get(b"content-encoding", b"identity").lower()
    kind = headers.get(b"content-type", b"")
    return encoding == b"identity" and (not kind or bool(_FORM.fullmatch(kind)))


def _has_no_body(headers: Mapping[bytes, bytes]) -> bool:
    """Tell whether there is no body (RFC 9112, 6.3); then the route decides whether that is an error."""
    has_length = headers.get(b"content-length", b"0").strip(b"0") != b""
    return not (b"content-type" in headers or b"transfer-encoding" in headers or has_length)
