"""Which HTTP requests are served, and what is answered to the others.

Nothing of a request is quoted, neither in an answer nor in a log.
"""

import ipaddress
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

import pydantic_core
from starlette.types import Scope, Send

from searx_mcp.errors import ErrorCode
from searx_mcp.settings.server import HttpConfig

MCP_PATH: Final = "/mcp"
SEARXNG_PATH: Final = "/search"
"""Where clients of SearXNG search, of which many know Basic authentication and forms alone."""
HEALTH_PATH: Final = "/healthz"
READY_PATH: Final = "/readyz"
METRICS_PATH: Final = "/metrics"
OPEN_PATHS: Final = frozenset({HEALTH_PATH, READY_PATH})
"""Served to everybody; all others are served to whoever has a token, where one is wanted."""
DASHBOARD_PATH: Final = "/"
LOGIN_PATH: Final = "/login"
LOGOUT_PATH: Final = "/logout"
STYLE_PATH: Final = "/dashboard.css"
SCRIPT_PATH: Final = "/dashboard.js"
LOGIN_PATHS: Final = frozenset({LOGIN_PATH, STYLE_PATH, SCRIPT_PATH})
"""What a browser needs to log in: served without a token, to the pages of this server."""
COOKIE_PATHS: Final = frozenset({DASHBOARD_PATH, LOGOUT_PATH})
"""Where the cookie of a login counts as a token; nowhere else, so that no page can use it for calls."""

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_AUTHORITY: Final = re.compile(
    rb"([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::([0-9]{1,5}))?"
)
_OUR_SITES: Final = frozenset({b"none", b"same-origin"})
"""Of Sec-Fetch-Site: a person, or a page of this server; https://www.w3.org/TR/fetch-metadata/."""
_JSON: Final = re.compile(rb"(?i:application/json)[ \t]*(;.*)?")
_FORM: Final = re.compile(rb"(?i:application/x-www-form-urlencoded)[ \t]*(;.*)?")
_FORM_PATHS: Final = frozenset({SEARXNG_PATH, DASHBOARD_PATH, LOGIN_PATH, LOGOUT_PATH})
_MAX_VALUES: Final = 10_000
"""Of a body: a megabyte of brackets would hold up everybody for .37 s, this many values for 15 ms; calls have some tens."""
_INVALID_REQUEST: Final = -32_600
"""JSON-RPC 2.0, 5.1."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not served.

    Attributes:
        status: of the HTTP response.
        code: what is wrong, as everywhere.
        message: a sentence for a person.
        headers: of the response, besides those of its body.
        retry_after: seconds after which it may be served; 0 if that is not known.
    """

    status: int
    code: ErrorCode
    message: str
    headers: tuple[tuple[bytes, bytes], ...] = ()
    retry_after: int = 0

    def content(self, scope: Scope, request_id: str | int | None = None) -> Mapping[str, Any]:
        """What it is in JSON; for MCP an error of JSON-RPC.

        Args:
            scope: of the request.
            request_id: of the request in its body, where that is known.
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
        """Answer a request with it.

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
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


WRONG_HOST: Final = Refusal(
    421,
    ErrorCode.UNAUTHORIZED,
    "The server does not accept this host name: http.allowed_hosts sets the names it accepts.",
)
WRONG_ORIGIN: Final = Refusal(
    403,
    ErrorCode.UNAUTHORIZED,
    "The server does not accept this origin: http.allowed_origins sets those it accepts.",
)
_NO_JSON: Final = Refusal(
    415,
    ErrorCode.UNSUPPORTED_CONTENT_TYPE,
    "The body must be JSON, with Content-Type: application/json and no Content-Encoding.",
)
_NO_FORM: Final = Refusal(
    415,
    ErrorCode.UNSUPPORTED_CONTENT_TYPE,
    "The body must be a form, with Content-Type: application/x-www-form-urlencoded and no"
    " Content-Encoding, or none.",
)
TOO_LARGE: Final = Refusal(
    413,
    ErrorCode.CONTENT_TOO_LARGE,
    "The body is too large: http.max_body_size sets the limit.",
)
_NO_SESSION: Final = Refusal(
    405,
    ErrorCode.INVALID_ARGUMENT,
    "This URL is for MCP clients, which start with POST: set it in a client's configuration.",
    ((b"allow", b"POST"),),
)
_NO_MESSAGE: Final = Refusal(
    400,
    ErrorCode.INVALID_ARGUMENT,
    "The body is not a JSON-RPC 2.0 message: an object with jsonrpc, method, params and, for an"
    " answer, id.",
)
_TOO_MANY: Final = Refusal(
    413, ErrorCode.CONTENT_TOO_LARGE, f"The body has more than {_MAX_VALUES:,} values."
)
TOO_SLOW: Final = Refusal(
    408, ErrorCode.TIMEOUT, "The body was not fetched in time.", ((b"connection", b"close"),)
)
SESSION_ENDED: Final = Refusal(
    404, ErrorCode.NOT_FOUND, "The session has ended: start another with initialize."
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
        addresses: whether it may be sent to any address that is no name, too.
        origins: web pages that may send one, with or without a port; those without stand for all ports.
        max_body: bytes.
    """

    hosts: frozenset[str] | None
    addresses: bool
    origins: frozenset[str]
    max_body: int

    @classmethod
    def of(cls, config: HttpConfig) -> Self:
        """The policy of a server with these settings.

        A web page that makes a name lead here (DNS rebinding) can neither know the token nor send a
        request to an address instead of its name: https://fetch.spec.whatwg.org/#forbidden-request-header.
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
        """Why a request is refused for the name under which it came, or for the page that sent it."""
        if not self.allows_host(headers.get(b"host", b"")):
            return WRONG_HOST
        if (origin := headers.get(b"origin")) is not None:
            is_allowed = is_same_origin(headers) or self.allows_origin(origin)
            return None if is_allowed else WRONG_ORIGIN
        # An image, a form and a link of a page send no origin with GET, but browsers say where from.
        return None if headers.get(b"sec-fetch-site", b"none") in _OUR_SITES else WRONG_ORIGIN

    def wrong_kind(self, scope: Scope, headers: Mapping[bytes, bytes]) -> Refusal | None:
        """Why a request is refused for what its head says of its body."""
        if scope["method"] == "POST":
            if scope["path"] in _FORM_PATHS:
                if not _is_form(headers):
                    return _NO_FORM
            elif not _is_json(headers):
                return _NO_JSON
        elif scope["path"] == MCP_PATH and b"mcp-session-id" not in headers:
            return _NO_SESSION
        return TOO_LARGE if self._is_too_long(headers.get(b"content-length", b"")) else None

    def _is_too_long(self, length: bytes) -> bool:
        # What is no number is left to who counts the bytes; a long one may be too long for `int`.
        is_long = len(length) > len(str(self.max_body))
        return is_long or (length.isdigit() and int(length) > self.max_body)

    @staticmethod
    def wrong_body(scope: Scope, body: bytes) -> Refusal | None:
        """Why a request is refused for its whole body, or `None`."""
        if sum(map(body.count, b"[{,")) > _MAX_VALUES:
            return _TOO_MANY
        is_message = scope["path"] != MCP_PATH or scope["method"] != "POST" or _is_message(body)
        return None if is_message else _NO_MESSAGE

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


def is_same_origin(headers: Mapping[bytes, bytes]) -> bool:
    """Tell whether a request comes from a page of the very host and port that it is sent to.

    Browsers write both alike, without the usual port. A name that was made to lead here is refused as a host.
    """
    scheme, _, authority = headers.get(b"origin", b"").partition(b"://")
    is_web = scheme in {b"http", b"https"}
    return is_web and authority.lower() == headers.get(b"host", b"").lower()


def is_address(host: str) -> bool:
    """Tell whether a host is an address, an IPv6 one in brackets or without, and no name."""
    try:
        ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Tell whether only this machine reaches what listens on a host; of a name, only if it says so."""
    host = host.lower()
    return host == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_json(headers: Mapping[bytes, bytes]) -> bool:
    encoding = headers.get(b"content-encoding", b"identity").lower()
    return bool(_JSON.fullmatch(headers.get(b"content-type", b""))) and encoding == b"identity"


def _is_form(headers: Mapping[bytes, bytes]) -> bool:
    """Tell whether a body is a form, or none: it asks for no more than GET, which a page of another site cannot send either."""
    encoding = headers.get(b"content-encoding", b"identity").lower()
    kind = headers.get(b"content-type", b"")
    return encoding == b"identity" and (not kind or bool(_FORM.fullmatch(kind)))


def _is_message(body: bytes) -> bool:
    try:
        message: Any = pydantic_core.from_json(body)
    except ValueError:
        return True  # whoever parses it next says where it is wrong
    return (
        isinstance(message, dict)
        and message.get("jsonrpc") == "2.0"
        and (isinstance(message.get("method"), str) or "id" in message)
    )
