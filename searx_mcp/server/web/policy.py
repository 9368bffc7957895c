"""Which HTTP requests are served, and how the others are refused.

No part of a request is quoted, neither in a response nor in a log.
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
"""Where clients of SearXNG search, with a form where they like."""
SEARXNG_PATHS: Final = frozenset({SEARXNG_PATH, "/config", "/autocompleter", "/stats/errors"})
"""What its clients ask; many support no bearer token, but Basic authentication or a key."""
HEALTH_PATH: Final = "/healthz"
READY_PATH: Final = "/readyz"
METRICS_PATH: Final = "/metrics"
OPEN_PATHS: Final = frozenset({HEALTH_PATH, READY_PATH})
"""Served to everyone; all others need a token, if the server has one."""
DASHBOARD_PATH: Final = "/"
LOGIN_PATH: Final = "/login"
LOGOUT_PATH: Final = "/logout"
STYLE_PATH: Final = "/dashboard.css"
SCRIPT_PATH: Final = "/dashboard.js"
LOGIN_PATHS: Final = frozenset({LOGIN_PATH, STYLE_PATH, SCRIPT_PATH})
"""What a browser needs to log in; served without a token."""
COOKIE_PATHS: Final = frozenset({DASHBOARD_PATH, LOGOUT_PATH})
"""Where the login cookie counts as a token; nowhere else, so that no web page can use it for calls."""

_KEY: Final = b"key"
_ASKS: Final = re.compile(rb"(?:\A|&)q=[^&]")

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_AUTHORITY: Final = re.compile(
    rb"([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::([0-9]{1,5}))?"
)
_OUR_SITES: Final = frozenset({b"none", b"same-origin"})
"""Values of Sec-Fetch-Site: the user, or a page of this server; https://www.w3.org/TR/fetch-metadata/."""
_JSON: Final = re.compile(rb"(?i:application/json)[ \t]*(;.*)?")
_FORM: Final = re.compile(rb"(?i:application/x-www-form-urlencoded)[ \t]*(;.*)?")
_FORM_PATHS: Final = frozenset({SEARXNG_PATH, DASHBOARD_PATH, LOGIN_PATH, LOGOUT_PATH})
_MAX_VALUES: Final = 10_000
"""In a body: a megabyte of brackets would block all requests for .37 s, this many values for 15 ms; calls have a few dozen."""
_MESSAGE: Final = "searx_mcp.message"
"""Key of a scope."""
_ENDING: Final = frozenset({401, 403, 421})
"""Statuses after which the connection ends: a stranger who tries again has to open another."""
_INVALID_REQUEST: Final = -32_600
"""JSON-RPC 2.0, 5.1."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not served.

    Attributes:
        status: HTTP status of the response.
        code: the error code.
        message: the reason, in one sentence.
        headers: headers of the response, besides those of its body.
        retry_after: seconds after which it may be served; 0 if unknown.
    """

    status: int
    code: ErrorCode
    message: str
    headers: tuple[tuple[bytes, bytes], ...] = ()
    retry_after: int = 0

    def content(self, scope: Scope, request_id: str | int | None = None) -> Mapping[str, Any]:
        """The refusal as JSON; for MCP as a JSON-RPC error.

        Args:
            scope: of the request.
            request_id: the JSON-RPC id in its body, if known.
        """
        error: dict[str, Any] = {"code": self.code.value, "message": self.message}
        if self.retry_after:
            error["retry_after"] = self.retry_after
        if scope["path"] != MCP_PATH:
            return {"error": error}
        told = {"code": _INVALID_REQUEST, "message": self.message, "data": error}
        return {"jsonrpc": "2.0", "id": request_id, "error": told}

    async def send(
        self,
        scope: Scope,
        send: Send,
        more: Iterable[tuple[bytes, bytes]],
        request_id: str | int | None = None,
    ) -> None:
        """Answer a request with this refusal.

        Args:
            scope: of the request.
            send: takes the answer.
            more: headers of the answer.
            request_id: as of `content`.
        """
        body = json.dumps(self.content(scope, request_id)).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            *self.headers,
            *more,
        ]
        if self.retry_after:
            headers.append((b"retry-after", b"%d" % self.retry_after))
        if self.status in _ENDING:
            headers.append((b"connection", b"close"))
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


WRONG_HOST: Final = Refusal(
    421,
    ErrorCode.UNAUTHORIZED,
    "This host name is not allowed: http.allowed_hosts lists the names that are.",
)
WRONG_ORIGIN: Final = Refusal(
    403,
    ErrorCode.UNAUTHORIZED,
    "This origin is not allowed: http.allowed_origins lists those that are.",
)
_NO_JSON: Final = Refusal(
    415,
    ErrorCode.UNSUPPORTED_CONTENT_TYPE,
    "The body must be JSON, with Content-Type: application/json and no Content-Encoding.",
)
_NO_FORM: Final = Refusal(
    415,
    ErrorCode.UNSUPPORTED_CONTENT_TYPE,
    "The body, if any, must be a form, with Content-Type: application/x-www-form-urlencoded and no"
    " Content-Encoding.",
)
_NO_EVENTS: Final = Refusal(
    406,
    ErrorCode.INVALID_ARGUMENT,
    "The answer may be an event stream: send Accept: application/json, text/event-stream.",
)
TOO_LARGE: Final = Refusal(
    413,
    ErrorCode.CONTENT_TOO_LARGE,
    "The body is too large: http.max_body_size sets the limit.",
)
_NO_SESSION: Final = Refusal(
    405,
    ErrorCode.INVALID_ARGUMENT,
    "This URL is for MCP clients, which send POST first: enter it in a client's configuration.",
    ((b"allow", b"POST"),),
)
_NO_MESSAGE: Final = Refusal(
    400,
    ErrorCode.INVALID_ARGUMENT,
    "The body is not a JSON-RPC 2.0 message: an object with jsonrpc and method, and an id if it"
    " expects a response.",
)
_TOO_MANY: Final = Refusal(
    413, ErrorCode.CONTENT_TOO_LARGE, f"The body has more than {_MAX_VALUES:,} values."
)
TOO_SLOW: Final = Refusal(
    408, ErrorCode.TIMEOUT, "The body did not arrive in time.", ((b"connection", b"close"),)
)
BUSY: Final = Refusal(
    503,
    ErrorCode.RATE_LIMITED,
    "Too many requests at once from this client: try again in a few seconds.",
    retry_after=5,
)
SESSION_ENDED: Final = Refusal(
    404, ErrorCode.NOT_FOUND, "The session has ended: start a new one with initialize."
)
STOPPING: Final = Refusal(
    503,
    ErrorCode.CONNECTION_ERROR,
    "The server is stopping: try again in a few seconds.",
    ((b"connection", b"close"),),
    retry_after=5,
)


@dataclass(frozen=True, slots=True)
class Policy:
    """Which requests are served.

    Attributes:
        hosts: names, with a port or for all ports, that a request may be sent to; `None` allows all.
        addresses: whether it may also be sent to any IP address.
        origins: web origins that may send one; those without a port stand for all ports.
        max_body: largest body, in bytes.
    """

    hosts: frozenset[str] | None
    addresses: bool
    origins: frozenset[str]
    max_body: int

    @classmethod
    def of(cls, config: HttpConfig) -> Self:
        """The policy of a server with these settings.

        A web page that rebinds its name to this server (DNS rebinding) neither knows the token nor can
        send a request to an address instead of its name: https://fetch.spec.whatwg.org/#forbidden-request-header.
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

    def wrong_place(self, headers: Mapping[bytes, bytes]) -> Refusal | None:
        """Why a request is refused for its host name, or for the web page that sent it; `None` if it is not."""
        if not self.allows_host(headers.get(b"host", b"")):
            return WRONG_HOST
        if (origin := headers.get(b"origin")) is not None:
            is_allowed = is_same_origin(headers) or self.allows_origin(origin)
            return None if is_allowed else WRONG_ORIGIN
        # Images, forms and links of a page send no Origin with GET, but browsers send Sec-Fetch-Site.
        return None if headers.get(b"sec-fetch-site", b"none") in _OUR_SITES else WRONG_ORIGIN

    def wrong_kind(self, scope: Scope, headers: Mapping[bytes, bytes]) -> Refusal | None:
        """Why a request is refused for what its headers say about its body; `None` if it is not."""
        if scope["method"] == "POST":
            if scope["path"] in _FORM_PATHS:
                if not _is_form(headers):
                    return _NO_FORM
            elif not _is_json(headers) and (scope["path"] == MCP_PATH or not _is_absent(headers)):
                return _NO_JSON
        elif scope["path"] == MCP_PATH and b"mcp-session-id" not in headers:
            return _NO_SESSION
        if scope["path"] == MCP_PATH and not _takes_answer(scope):
            return _NO_EVENTS
        return TOO_LARGE if self._is_too_long(headers.get(b"content-length", b"")) else None

    def _is_too_long(self, length: bytes) -> bool:
        # Invalid numbers are caught when the bytes are counted; a long one may be too long for `int`.
        is_long = len(length) > len(str(self.max_body))
        return is_long or (length.isdigit() and int(length) > self.max_body)

    @staticmethod
    def with_message(scope: Scope, body: bytes) -> Scope | Refusal:
        """Parse a body that is posted to MCP, once for all who ask `message_of`.

        Args:
            scope: of the request.
            body: whole.

        Returns:
            The scope with the message, or why the request is refused for its body.
        """
        if sum(map(body.count, b"[{,")) > _MAX_VALUES:
            return _TOO_MANY
        if scope["path"] != MCP_PATH or scope["method"] != "POST":
            return scope
        try:
            message: Any = pydantic_core.from_json(body)
        except ValueError:
            return scope  # the SDK's parser says where it is wrong
        is_message = (
            isinstance(message, dict)
            and message.get("jsonrpc") == "2.0"
            and (isinstance(message.get("method"), str) or "id" in message)
        )
        return {**scope, _MESSAGE: message} if is_message else _NO_MESSAGE

    def allows_host(self, host: bytes) -> bool:
        """Tell whether a request may be sent to this host, with or without a port."""
        found = _AUTHORITY.fullmatch(host)
        if found is None:
            return False
        name, whole = found[1].decode().lower(), host.decode().lower()
        if self.hosts is None or name in self.hosts or whole in self.hosts:
            return True
        return self.addresses and is_address(name)

    def allows_origin(self, origin: bytes) -> bool:
        """Tell whether a page of this origin may send a request."""
        whole = origin.decode("latin-1").lower()
        without_port = re.sub(r":[0-9]{1,5}\Z", "", whole)
        return whole in self.origins or without_port in self.origins


def asks_searxng(scope: Scope) -> bool:
    """Tell whether a client of SearXNG searches at the front page, which leads to the search."""
    is_front = scope["path"] == DASHBOARD_PATH and scope["method"] == "GET"
    return is_front and _ASKS.search(scope.get("query_string", b"")) is not None


def key_of(scope: Scope) -> bytes:
    """The key in the query of a request; empty without one."""
    return next((value for name, value in _parameters(scope) if name == _KEY), b"")


def without_key(scope: Scope) -> Scope:
    """The scope of a request of a client of SearXNG without the key in its query, which nothing else may see."""
    if scope["path"] not in SEARXNG_PATHS or not key_of(scope):
        return scope
    rest = b"&".join(
        part
        for part in scope.get("query_string", b"").split(b"&")
        if part.partition(b"=")[0] != _KEY
    )
    return {**scope, "query_string": rest}


def _parameters(scope: Scope) -> Iterator[tuple[bytes, bytes]]:
    """The parameters in the query of a request."""
    for part in scope.get("query_string", b"").split(b"&"):
        name, _, value = part.partition(b"=")
        yield name, unquote_to_bytes(value)


def message_of(scope: Scope) -> Mapping[str, Any]:
    """The JSON-RPC message of a request to MCP; empty if it carries none."""
    found: Mapping[str, Any] = scope.get(_MESSAGE, {})
    return found


def is_same_origin(headers: Mapping[bytes, bytes]) -> bool:
    """Tell whether a request comes from a page of the same host and port that it is sent to.

    Browsers write both alike, without the default port. A rebound name is refused as a host.
    """
    scheme, _, authority = headers.get(b"origin", b"").partition(b"://")
    is_web = scheme in {b"http", b"https"}
    return is_web and authority.lower() == headers.get(b"host", b"").lower()


def is_address(host: str) -> bool:
    """Tell whether a host is an IP address, with or without brackets, and not a name."""
    try:
        ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach what listens on a host; of names, only `localhost`."""
    host = host.lower()
    return host == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_json(headers: Mapping[bytes, bytes]) -> bool:
    encoding = headers.get(b"content-encoding", b"identity").lower()
    return bool(_JSON.fullmatch(headers.get(b"content-type", b""))) and encoding == b"identity"


def _takes_answer(scope: Scope) -> bool:
    """Tell whether a client reads what MCP answers: JSON or events to POST, events to GET."""
    takes_json, takes_events = check_accept_headers(Request(scope))
    match scope["method"]:
        case "POST":
            return takes_json and takes_events
        case "GET":
            return takes_events
        case _:
            return True


def _is_form(headers: Mapping[bytes, bytes]) -> bool:
    """Tell whether a body is a form or absent; without one, POST does no more than GET, which other sites cannot send either."""
    encoding = headers.get(b"content-encoding", b"identity").lower()
    kind = headers.get(b"content-type", b"")
    return encoding == b"identity" and (not kind or bool(_FORM.fullmatch(kind)))


def _is_absent(headers: Mapping[bytes, bytes]) -> bool:
    """Tell whether there is no body (RFC 9112, 6.3): the route says whether it needs one, and whether it takes POST."""
    has_length = headers.get(b"content-length", b"0").strip(b"0") != b""
    return not (b"content-type" in headers or b"transfer-encoding" in headers or has_length)
