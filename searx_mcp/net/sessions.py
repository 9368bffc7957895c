"""The four kinds of traffic, kept apart.

A pooled connection is found again by host and port alone. So guarded and unguarded traffic never
share one: the operator's own instance at 127.0.0.1 must answer searches, and must be out of reach
for a page fetch. Plain http to own instances has connections of its own, too: they go to private
addresses only.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property, partial
from types import TracebackType
from typing import Final, Self

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from searx_mcp.errors import ErrorCode, InvalidArgumentError, PolicyError, SettingsError
from searx_mcp.models.credentials import Credentials
from searx_mcp.net.address import AllowList
from searx_mcp.net.authorization import Authorizer
from searx_mcp.net.body import ACCEPT_ENCODING
from searx_mcp.net.config import NetworkConfig
from searx_mcp.net.guard import AddressGuard, open_private_socket, own_address_probe
from searx_mcp.net.http import HttpSession
from searx_mcp.net.resolver import GuardedResolver
from searx_mcp.net.url import check_url

MAX_LINE: Final = 8_190
"""Bytes of a status line or one header field; what Apache and nginx accept too."""

MAX_HEADERS: Final = 128
"""Header fields of one answer."""


class Sessions:
    """One `HttpSession` for each kind of traffic, made on first use.

    No kind keeps cookies, reads proxies from the environment or follows redirects.
    """

    def __init__(
        self,
        config: NetworkConfig,
        *,
        own_origins: Iterable[str] = (),
        credentials: Iterable[Credentials] = (),
        operator_origins: Iterable[str] = (),
        allow: AllowList = AllowList(),  # noqa: B008 - frozen, and empty
        verify_pages: bool = True,
        resolver: AbstractResolver | None = None,
    ) -> None:
        """Describe the sessions; nothing is opened yet.

        Args:
            config: the `[network]` table.
            own_origins: base URLs of own instances. What may be asked is their origins; their paths
                tell which of them a request belongs to.
            credentials: for some of the own instances.
            operator_origins: URLs of the operator's other endpoints.
            allow: private places that pages may be fetched from nevertheless.
            verify_pages: whether pages need a valid certificate; everything else always does.
            resolver: asked for all names instead of the system's; the caller closes it.

        Raises:
            SettingsError: an origin is no http or https URL.
        """
        self._config = config
        instances = tuple(own_origins)
        self._own_origins = _origins(instances)
        self._authorizer = Authorizer(instances, credentials)
        self._operator_origins = _origins(operator_origins)
        self._allow = allow
        self._verify_pages = verify_pages
        self._resolver = resolver
        self._made: list[HttpSession] = []

    @cached_property
    def own(self) -> HttpSession:
        """The operator's own instances: configured origins only, plain http to private addresses.

        Credentials exist only here.
        """

        def connect(
            socket_factory: aiohttp.SocketFactoryType | None = None,
        ) -> aiohttp.ClientSession:
            connector = self._connector(resolver=self._resolver, socket_factory=socket_factory)
            return self._client(connector, (self._authorizer,))

        return self._keep(
            HttpSession(
                connect,
                connect_plainly=partial(connect, open_private_socket),
                admit=partial(_admit, origins=self._own_origins),
            )
        )

    @cached_property
    def operator(self) -> HttpSession:
        """The operator's other endpoints: configured origins only, no address guard."""

        def connect() -> aiohttp.ClientSession:
            return self._client(self._connector(resolver=self._resolver))

        return self._keep(
            HttpSession(connect, admit=partial(_admit, origins=self._operator_origins))
        )

    @cached_property
    def public(self) -> HttpSession:
        """Public instances, guarded; a request is never sent twice."""
        return self._guarded(verify=True, middlewares=(_send_once,))

    @cached_property
    def pages(self) -> HttpSession:
        """Pages, guarded."""
        return self._guarded(verify=self._verify_pages)

    async def aclose(self) -> None:
        """Close all connections, within a second for each kind and scheme. Harmless when repeated."""
        for session in self._made:
            await session.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    def _guarded(
        self, *, verify: bool, middlewares: Sequence[aiohttp.ClientMiddlewareType] = ()
    ) -> HttpSession:
        guard = AddressGuard(self._allow, is_own=own_address_probe())

        def resolver() -> GuardedResolver:
            return GuardedResolver(self._resolver or aiohttp.ThreadedResolver(), guard)

        def connect() -> aiohttp.ClientSession:
            connector = self._connector(
                resolver=resolver(),
                socket_factory=guard.open_socket,
                use_dns_cache=False,
                ssl=verify,
            )
            return self._client(connector, middlewares)

        return self._keep(
            HttpSession(
                connect,
                admit=partial(check_url, allow=self._allow),
                look_up=lambda host, port: resolver().resolve(host, port),
            )
        )

    def _keep(self, session: HttpSession) -> HttpSession:
        self._made.append(session)
        return session

    def _connector(
        self,
        *,
        resolver: AbstractResolver | None,
        socket_factory: aiohttp.SocketFactoryType | None = None,
        use_dns_cache: bool = True,
        ssl: bool = True,
    ) -> aiohttp.TCPConnector:
        return aiohttp.TCPConnector(
            limit=self._config.max_connections,
            limit_per_host=self._config.max_connections_per_host,
            resolver=resolver,
            socket_factory=socket_factory,
            use_dns_cache=use_dns_cache,
            ssl=ssl,
        )

    def _client(
        self,
        connector: aiohttp.TCPConnector,
        middlewares: Sequence[aiohttp.ClientMiddlewareType] = (),
    ) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=connector,
            middlewares=middlewares,
            # Deadlines are the caller's; only one connection's share is limited here.
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._config.connect_timeout),
            headers={"Accept-Encoding": ACCEPT_ENCODING},
            # Without a User-Agent of the caller, none: not the library's name and version.
            skip_auto_headers=("User-Agent",),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            max_line_size=MAX_LINE,
            max_field_size=MAX_LINE,
            max_headers=MAX_HEADERS,
        )


async def _send_once(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Keep the library from sending a GET again whose connection died before the answer.

    The instance would count two searches where one was charged; a limiter that drops the
    connection (nginx's status 444) provokes exactly that.
    """
    try:
        return await handler(request)
    except (aiohttp.ClientConnectorError, aiohttp.ServerTimeoutError):
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as exc:
        raise aiohttp.ClientConnectionError(str(exc)) from exc


def _origins(urls: Iterable[str]) -> frozenset[URL]:
    return frozenset(_origin(url) for url in urls)


def _origin(raw: str) -> URL:
    try:
        origin = URL(raw).origin()
    except ValueError as exc:
        raise _wrong_origin() from exc
    if origin.scheme not in {"http", "https"}:
        raise _wrong_origin()
    return origin


def _wrong_origin() -> SettingsError:
    # Without the value: it may carry a password.
    return SettingsError("network", "an endpoint is not of the form http(s)://host[:port]")


def _admit(raw: str, *, origins: frozenset[URL]) -> URL:
    try:
        url = URL(raw)
        origin = url.origin()
    except ValueError as exc:
        raise InvalidArgumentError("url", "is not a valid URL") from exc
    if origin not in origins:
        raise PolicyError(
            "The address is none of the configured ones.",
            code=ErrorCode.BLOCKED_ADDRESS,
            url=str(origin),
        )
    return url.with_user(None).with_fragment(None)
