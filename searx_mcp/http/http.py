"""Requests of one kind of traffic, with the HTTP library's errors translated."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

from searx_mcp.errors import ContentError, ErrorCode, FetchError, PolicyError, TransportError
from searx_mcp.http.body import NOTE_BROKEN, NOTE_DEADLINE, Body, BodyBuffer, Response
from searx_mcp.http.guard import BlockedAddressError, PublicAddressError
from searx_mcp.http.pacing import MAX_INTERIM, UnaskedAnswerError
from searx_mcp.http.proxy_route import ProxyRoute, ProxyRouteError
from searx_mcp.urls.hosts import ends_in_number
from searx_mcp.urls.url import refused_address

CLOSE_TIMEOUT: Final = 1.0
"""Seconds to wait for connections to close; a peer that reads nothing could hold them for ever."""


LookUp = Callable[[str, int], Awaitable[object]]
Connect = Callable[[], aiohttp.ClientSession]
Route = tuple[Connect, ProxyRoute]
"""Creates the library's session, and the route for a proxy."""

Watch = Callable[[bytearray], None]
"""Observes a body as it arrives, without changing it."""

_UNRESOLVED: Final = "The host name does not resolve."


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request whose answer is read whole.

    Attributes:
        url: an absolute URL.
        headers: sent as they are; `Accept-Encoding` is added.
        timeout: seconds for connecting and the headers; the caller limits the body.
        max_bytes: limit of decoded bytes of the answer; 0 leaves its body unread.
        body: posted, described by the headers; without one it is a GET.
        watch: called with the decoded body so far, whenever it has grown.
    """

    url: str
    headers: Mapping[str, str] = field(repr=False)  # one may be a key
    timeout: float
    max_bytes: int
    body: bytes | None = field(default=None, repr=False)
    watch: Watch | None = None


class Reply:
    """An answer whose headers have arrived; its body can be read once, inside the `async with`.

    Attributes:
        status: the HTTP status.
        headers: case-insensitive; the first value of a repeated one.
        url: the requested URL; redirects are never followed.
    """

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self.status: int = response.status
        self.headers: Mapping[str, str] = response.headers
        self.url = str(response.url)

    async def read(
        self, *, max_bytes: int, deadline: float | None = None, watch: Watch | None = None
    ) -> Body:
        """Read and decode the body within limits.

        Args:
            max_bytes: limit of decoded bytes; the bytes on the wire are limited, too.
            deadline: loop time by which reading ends, or `None`.
            watch: called with the decoded body after each part.

        Returns:
            The body; truncated, with a note, if a limit, the deadline, a broken connection or corrupt data
            ended it.

        Raises:
            ContentError: `unsupported_encoding`.
            TransportError: it ended that way before the first byte.
        """
        encodings = self._response.headers.getall("Content-Encoding", [])
        try:
            buffer = BodyBuffer(encodings, max_bytes=max_bytes)
        except ContentError as exc:
            exc.url, exc.status_code = self.url, self.status
            raise
        failure: Exception | None = None
        try:
            with _woken_when_lost(self._response):
                async with asyncio.timeout_at(deadline):
                    async for chunk in self._response.content.iter_any():
                        for _ in buffer.feed(chunk):
                            await asyncio.sleep(0)
                        if watch is not None:
                            watch(buffer.so_far)
                        if buffer.is_closed:
                            break
        except _FAILURES as exc:
            failure = exc
        body = buffer.finish(_note_on(failure) if failure else "")
        if body.truncated and not body.data:
            raise self._unreadable(failure, body)
        return body

    def _unreadable(self, failure: Exception | None, body: Body) -> FetchError:
        if failure is None:
            error: FetchError = TransportError(
                f"The body cannot be read: {body.notes[0]}.",
                code=ErrorCode.MALFORMED_RESPONSE,
                url=self.url,
            )
        else:
            error = _translated(failure, self.url)
        error.status_code = self.status
        error.__cause__ = failure
        return error


class HttpSession:
    """One kind of traffic, with its own connections and its own rule for which URLs are allowed.

    The connections are created by the first request, in the loop running then, and live until `aclose`.
    """

    def __init__(
        self,
        connect: Connect,
        *,
        admit: Callable[[str], URL],
        look_up: LookUp | None = None,
        connect_plainly: Connect | None = None,
        route_for: Callable[[URL], Route | None] = lambda _url: None,
    ) -> None:
        """Configure a session.

        Args:
            connect: creates the library's session; called once, inside a running loop.
            admit: parses a URL, or raises if it is not allowed here.
            look_up: resolves a host and port as connecting would, or raises.
            connect_plainly: creates a second library session for http URLs, in the same way: the code that
                opens a session's sockets does not know the scheme.
            route_for: returns the proxy route of a request, if it has one.
        """
        self._look_up = look_up
        self._connect = connect
        self._connect_plainly = connect_plainly or connect
        self._admit = admit
        self._route_for = route_for
        self._clients: dict[Connect, aiohttp.ClientSession] = {}
        self._is_closed = False

    @asynccontextmanager
    async def open(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        timeout: float,  # noqa: ASYNC109 - of the headers alone, and a proxy's part is cut from it
        body: bytes | None = None,
    ) -> AsyncIterator[Reply]:
        """Send a GET request, or a POST if there is a body; entering waits for the headers of the answer.

        Redirects are not followed. Leaving the block before the end of the body closes the connection;
        otherwise it is kept for the next request.

        Args:
            url: an absolute URL.
            headers: sent as they are; `Accept-Encoding` is added.
            timeout: seconds for connecting and the headers; `Reply.read` limits the body.
            body: posted, described by the headers.

        Raises:
            InvalidArgumentError: the URL is malformed.
            PolicyError: the URL, or an address it resolves to, is not allowed here.
            TransportError: `dns_error`, `tls_error`, `connection_error`, `timeout` or
                `malformed_response`.
            ProxyError: a proxy is configured, and it failed.
        """
        time_limit = asyncio.timeout(timeout)
        target = self._admit(url)
        if self._is_closed:
            raise RuntimeError("the session is closed")
        straight = self._connect_plainly if target.scheme == "http" else self._connect
        connect, route = self._route_for(target) or (straight, None)
        if connect not in self._clients:
            self._clients[connect] = connect()
        unrouted = nullcontext({"headers": headers})
        passage = route.request_options(target, headers, time_limit.when()) if route else unrouted
        try:
            async with time_limit, passage as options:
                response = await self._clients[connect].request(
                    "GET" if body is None else "POST",
                    target,
                    data=body,
                    allow_redirects=False,
                    **options,
                )
        except _FAILURES as exc:
            raise _translated(exc, url) from exc
        try:
            yield Reply(response)
        finally:
            response.close()

    async def send(self, request: Request) -> Response:
        """Send a request and read the answer as far as its status makes it useful.

        The body of a redirect is not read, and that of a failure only adds detail to its status. Callers
        that decide by the headers how much to read, for pages and robots.txt, use `open`, which leaves the
        body unread.

        Raises:
            SearxMcpError: as for `open` and `Reply.read`.
        """
        async with self.open(
            request.url, headers=request.headers, timeout=request.timeout, body=request.body
        ) as reply:
            status, read = reply.status, Body(b"")
            is_redirect = HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST
            if request.max_bytes and not is_redirect:
                try:
                    read = await reply.read(max_bytes=request.max_bytes, watch=request.watch)
                except FetchError:
                    if status < HTTPStatus.BAD_REQUEST:
                        raise
            return Response(status, reply.headers, read.data, request.url, read.notes)

    async def resolve(self, url: str, *, timeout: float) -> None:  # noqa: ASYNC109 - as `open`
        """Resolve the host of a URL without sending anything to it.

        Literal addresses need no lookup, and pass; so do requests through a proxy, which resolves names itself.

        Raises:
            InvalidArgumentError: the URL is malformed.
            PolicyError: the URL, or an address it resolves to, is not allowed here.
            TransportError: `dns_error` or `timeout`.
        """
        target = self._admit(url)
        host, port = target.raw_host, target.port
        if self._look_up is None or not host or port is None or self._route_for(target):
            return
        if ":" in host or ends_in_number(host):  # a literal address
            return
        try:
            async with asyncio.timeout(timeout):
                await self._look_up(host, port)
        except BlockedAddressError as exc:
            raise refused_address(url) from exc
        except TimeoutError as exc:
            raise _translated(exc, url) from exc
        except (OSError, UnicodeError) as exc:
            raise TransportError(_UNRESOLVED, code=ErrorCode.DNS_ERROR, url=url) from exc

    async def aclose(self) -> None:
        """Close all connections; requests in flight fail. May be called more than once."""
        self._is_closed = True
        while self._clients:
            _, client = self._clients.popitem()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_TIMEOUT):
                    await client.close()


@contextmanager
def _woken_when_lost(response: aiohttp.ClientResponse) -> Iterator[None]:
    """Wake the reader of a body when its connection is lost.

    On bad chunk framing, aiohttp 3.14 closes the connection and leaves the reader waiting for ever (its C
    parser forgets the body before it can pass on the error).
    """

    def tell(_closed: object = None) -> None:
        content = response.content
        if not content.is_eof() and content.exception() is None:
            content.set_exception(aiohttp.ClientPayloadError("the connection was lost"))

    connection = response.connection  # None once the whole body has arrived
    if connection is None or connection.protocol is None:
        yield
    elif (closed := connection.protocol.closed) is None:
        tell()
        yield
    else:
        # The connection may outlive this answer by thousands of others: they leave one callback.
        closed.remove_done_callback(_ignore_failure)
        closed.add_done_callback(_ignore_failure)
        closed.add_done_callback(tell)
        try:
            yield
        finally:
            closed.remove_done_callback(tell)


def _ignore_failure(closed: asyncio.Future[None]) -> None:
    # Retrieving it is enough: asyncio logs a future's error that was never retrieved.
    if not closed.cancelled():
        closed.exception()


# HttpProcessingError: raised for a body by the Python parser, which is used if there is no C parser.
# UnicodeError: the resolver's IDNA codec refuses a label. OSError includes TimeoutError.
_FAILURES: Final = (aiohttp.ClientError, HttpProcessingError, OSError, UnicodeError)


def _note_on(failure: Exception) -> str:
    return NOTE_DEADLINE if isinstance(failure, TimeoutError) else NOTE_BROKEN


def _translated(failure: Exception, url: str) -> FetchError:
    """Translate an error of the library; the order is from specific to general."""
    match failure:
        case ProxyRouteError():
            return failure.translated(url)
        case aiohttp.ClientConnectorError(os_error=BlockedAddressError()):
            return refused_address(url)
        case aiohttp.ClientConnectorError(os_error=PublicAddressError()):
            return refused_plain_http(url)
        case TimeoutError():
            code, message = ErrorCode.TIMEOUT, "No answer in time."
        case aiohttp.ClientConnectorDNSError() | UnicodeError():
            code, message = ErrorCode.DNS_ERROR, _UNRESOLVED
        case aiohttp.ClientSSLError() | ssl.SSLError():
            code, message = ErrorCode.TLS_ERROR, "The TLS handshake or the certificate failed."
        case aiohttp.ClientResponseError(__cause__=UnaskedAnswerError()):
            code = ErrorCode.MALFORMED_RESPONSE
            message = (
                f"The host sent more than {MAX_INTERIM} interim answers, or switched protocols."
            )
        case aiohttp.ClientResponseError() | aiohttp.InvalidURL():
            code, message = ErrorCode.MALFORMED_RESPONSE, "The answer is not valid HTTP."
        case _:
            code, message = ErrorCode.CONNECTION_ERROR, "The connection failed or broke."
    return TransportError(message, code=code, url=url)


def refused_plain_http(url: str) -> PolicyError:
    """Make the error for plain http to a public address."""
    return PolicyError(
        "The host has a public address, and plain http would show queries and credentials on the"
        " way there: use https.",
        code=ErrorCode.BLOCKED_ADDRESS,
        url=url,
        advice="Use https, or an address on this machine or a private network.",
    )
