"""What every HTTP request passes before anything reads it: one ASGI middleware over the whole app.

In this order, the cheapest first: the name under which the client reached us, the web page that it
stands on, the token, the kind of its body, the size and the time of its body. Nothing of a request
is quoted, neither in an answer nor in a log.
"""

import asyncio
import hmac
import ipaddress
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from searx_mcp.errors import ErrorCode
from searx_mcp.settings.server import HttpConfig

MCP_PATH: Final = "/mcp"
HEALTH_PATH: Final = "/healthz"

_READ_SECONDS: Final = 20.0
"""In which a body must have arrived; what clients send is some hundred bytes."""
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_AUTHORITY: Final = re.compile(
    rb"([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::([0-9]{1,5}))?"
)
_BEARER: Final = re.compile(rb"(?i:bearer) +(\S{1,1000}) *")
_JSON: Final = re.compile(rb"(?i:application/json)[ \t]*(;.*)?")
_HEADER_NAMES: Final = re.compile(rb"[A-Za-z0-9-]{1,60}(?:[ \t]*,[ \t]*[A-Za-z0-9-]{1,60}){0,30}")
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
    """

    status: int
    code: ErrorCode
    message: str
    headers: tuple[tuple[bytes, bytes], ...] = ()

    async def send(self, scope: Scope, send: Send, more: Iterable[tuple[bytes, bytes]]) -> None:
        """Answer a request with it, in JSON; for MCP as an error without an id."""
        error: dict[str, Any] = {"code": self.code.value, "message": self.message}
        whole: dict[str, Any] = {"error": error}
        if scope["path"] == MCP_PATH:
            error = {"code": _INVALID_REQUEST, "message": self.message, "data": error}
            whole = {"jsonrpc": "2.0", "id": None, "error": error}
        body = json.dumps(whole).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            *self.headers,
            *more,
        ]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


_WRONG_HOST: Final = Refusal(
    421, ErrorCode.UNAUTHORIZED, "This name is not among http.allowed_hosts of the server."
)
_WRONG_ORIGIN: Final = Refusal(
    403, ErrorCode.UNAUTHORIZED, "This web page is not among http.allowed_origins of the server."
)
_NO_TOKEN: Final = Refusal(
    401,
    ErrorCode.UNAUTHORIZED,
    "The server wants its token: Authorization: Bearer ...",
    ((b"www-authenticate", b'Bearer realm="searx-mcp"'),),
)
_WRONG_TOKEN: Final = Refusal(
    401,
    ErrorCode.UNAUTHORIZED,
    "The token is not the server's.",
    ((b"www-authenticate", b'Bearer realm="searx-mcp", error="invalid_token"'),),
)
_NO_JSON: Final = Refusal(
    415, ErrorCode.UNSUPPORTED_CONTENT_TYPE, "The body must be application/json."
)
_TOO_LARGE: Final = Refusal(
    413, ErrorCode.CONTENT_TOO_LARGE, "The body is larger than http.max_body_size of the server."
)
_TOO_SLOW: Final = Refusal(
    408,
    ErrorCode.TIMEOUT,
    f"The body did not arrive within {_READ_SECONDS:g} seconds.",
    ((b"connection", b"close"),),
)


@dataclass(frozen=True, slots=True)
class Policy:
    """Which requests are served.

    Attributes:
        hosts: names, with a port or for all ports, that a request may be sent to; `None` allows all.
        addresses: whether it may be sent to any address that is no name, too.
        origins: web pages that may send one, with or without a port; those without stand for all ports.
        token: that it must have; empty for none.
        max_body: bytes.
    """

    hosts: frozenset[str] | None
    addresses: bool
    origins: frozenset[str]
    token: bytes = field(repr=False)
    max_body: int

    @classmethod
    def of(cls, config: HttpConfig) -> Self:
        """The policy of a server with these settings.

        A web page that makes a name lead here (DNS rebinding) can neither know the token nor send a
        request to an address instead of its name: https://fetch.spec.whatwg.org/#forbidden-request-header.
        """
        token = config.token.get_secret_value().encode()
        named = {host.lower() for host in config.allowed_hosts}
        local = is_loopback(config.host)
        hosts = None if token and not local and not named else frozenset(named | _LOOPBACK)
        origins = {origin.lower() for origin in config.allowed_origins}
        if local:
            origins |= {f"{scheme}://{host}" for scheme in ("http", "https") for host in _LOOPBACK}
        return cls(
            hosts=hosts,
            addresses=not named and not local,
            origins=frozenset(origins),
            token=token,
            max_body=config.max_body_size,
        )

    def refusal(self, scope: Scope, headers: Mapping[bytes, bytes]) -> Refusal | None:
        """Why a request is refused for what its head says, or `None`."""
        if not self.allows_host(headers.get(b"host", b"")):
            return _WRONG_HOST
        if (origin := headers.get(b"origin")) is not None and not self.allows_origin(origin):
            return _WRONG_ORIGIN
        if refusal := self._unproven(headers.get(b"authorization", b"")):
            return refusal
        if scope["method"] == "POST" and not _JSON.fullmatch(headers.get(b"content-type", b"")):
            return _NO_JSON
        length = headers.get(b"content-length", b"")
        is_long = len(length) > len(str(self.max_body))
        return _TOO_LARGE if is_long or int(length or b"0") > self.max_body else None

    def _unproven(self, authorization: bytes) -> Refusal | None:
        """Why a request is refused for its token, or for want of it."""
        if not self.token:
            return None
        found = _BEARER.fullmatch(authorization)
        if found is None:
            return _NO_TOKEN
        return None if hmac.compare_digest(found[1], self.token) else _WRONG_TOKEN

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


class Guard:
    """Serves the requests that a policy allows, and answers the others.

    Args:
        app: what serves them.
        policy: which requests are served.
    """

    def __init__(self, app: ASGIApp, policy: Policy) -> None:
        self._app = app
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or answer why not."""
        if scope["type"] != "http" or scope["path"] == HEALTH_PATH:
            await self._app(scope, receive, send)
            return
        headers: dict[bytes, bytes] = {}
        for name, value in scope["headers"]:
            # Of two tokens or two kinds neither counts.
            headers[name] = value if name not in headers else b""
        shared: list[tuple[bytes, bytes]] = []
        refusal = self._policy.refusal(scope, headers)
        if (origin := headers.get(b"origin")) and self._policy.allows_origin(origin):
            shared = _shared_with(origin)
            asked = headers.get(b"access-control-request-method")
            if scope["method"] == "OPTIONS" and asked and refusal is not _WRONG_HOST:
                await _preflight(send, headers, shared)
                return
        body = b""
        if refusal is None:
            try:
                body = await self._body(receive)
            except _Refused as exc:
                refusal = exc.refusal
            except _Gone:
                return
        if refusal is not None:
            await refusal.send(scope, send, shared)
            return
        await self._app(scope, _replayed(body, receive), _with_headers(send, shared))

    async def _body(self, receive: Receive) -> bytes:
        """Read the whole body, so that nothing else waits for it.

        Raises:
            _Refused: it is too large, or took too long.
            _Gone: nobody waits for an answer.
        """
        body = bytearray()
        try:
            async with asyncio.timeout(_READ_SECONDS):
                while (message := await receive())["type"] == "http.request":
                    body += message.get("body", b"")
                    if len(body) > self._policy.max_body:
                        raise _Refused(_TOO_LARGE)
                    if not message.get("more_body", False):
                        return bytes(body)
        except TimeoutError as exc:
            raise _Refused(_TOO_SLOW) from exc
        raise _Gone


class _Refused(Exception):  # noqa: N818 - an answer
    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


class _Gone(Exception):  # noqa: N818 - no answer
    pass


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Give the body as one message, and then what else is received."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


def _with_headers(send: Send, more: list[tuple[bytes, bytes]]) -> Send:
    async def wrapped(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *more]}
        await send(message)

    return wrapped if more else send


def _shared_with(origin: bytes) -> list[tuple[bytes, bytes]]:
    """The headers by which a browser lets a page read an answer."""
    return [
        (b"access-control-allow-origin", origin),
        (b"access-control-expose-headers", b"mcp-session-id, www-authenticate, retry-after"),
        (b"vary", b"origin"),
    ]


async def _preflight(
    send: Send, headers: Mapping[bytes, bytes], shared: list[tuple[bytes, bytes]]
) -> None:
    """Answer what a browser asks before the request of a page; it holds no token."""
    wanted = headers.get(b"access-control-request-headers", b"")
    allowed = wanted if _HEADER_NAMES.fullmatch(wanted) else b"authorization, content-type"
    answer = [
        (b"content-length", b"0"),
        (b"access-control-allow-methods", b"GET, POST, DELETE"),
        (b"access-control-allow-headers", allowed),
        (b"access-control-max-age", b"600"),
        *shared,
    ]
    await send({"type": "http.response.start", "status": 204, "headers": answer})
    await send({"type": "http.response.body", "body": b""})
