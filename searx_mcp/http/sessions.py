"""The four kinds of traffic, with separate connections.

A connection pool identifies connections by host and port alone, so guarded and unguarded traffic must not share
one: the operator's own instance at 127.0.0.1 must answer searches, and must be unreachable for a page fetch.
Plain http to own instances has its own connections, too: they reach private addresses only. Credentials of own
instances are added only to the requests they belong to.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final, Self

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from searx_mcp.errors import ErrorCode, InvalidArgumentError, PolicyError, SettingsError
from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.connections import SessionFactory
from searx_mcp.http.guard import (
    AddressGuard,
    BlockedAddressError,
    Dial,
    Dialler,
    GuardedResolver,
    open_private_socket,
    open_socket,
    own_address_probe,
)
from searx_mcp.http.http import HttpSession, refused_plain_http
from searx_mcp.models.credentials import Credentials
from searx_mcp.urls.address import AllowList, effective_address, is_private
from searx_mcp.urls.hosts import is_public_name
from searx_mcp.urls.url import check_url, refused_address

if TYPE_CHECKING:
    from searx_mcp.http.gateway import Gateway, GatewayLimits

_HEADER: Final = "Authorization"


class Authorizer:
    """Middleware for the connections of own instances only.

    Each request belongs to the own instance with its origin and the longest prefix of its path: an instance
    below another's path never gets that one's credentials.
    """

    def __init__(self, instances: Iterable[str], credentials: Iterable[Credentials]) -> None:
        """Take the base URLs of all own instances, and the credentials of some."""
        known = {_place(URL(entry.url)): entry.authorization for entry in credentials}
        places = {_place(URL(url)) for url in instances}
        longest_first = sorted(places, key=lambda place: len(place[1]), reverse=True)
        self._values = [(origin, path, known.get((origin, path))) for origin, path in longest_first]

    def value_for(self, url: URL) -> str | None:
        """Return the header value for a request to this URL, or `None` to send none."""
        origin = url.origin()
        for known, path, value in self._values:
            if origin == known and url.raw_path.startswith(path):
                return value
        return None


def _place(url: URL) -> tuple[URL, str]:
    return url.origin(), f"{url.raw_path.rstrip('/')}/"


class Sessions:
    """One `HttpSession` for each kind of traffic, created on first use.

    None of them keeps cookies, reads proxies from the environment or follows redirects.
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
        dial: Dial = open_socket,
    ) -> None:
        """Configure the sessions; nothing is opened yet.

        Args:
            config: the `[network]` table.
            own_origins: base URLs of own instances. Requests are allowed to their origins; the paths determine
                which instance a request belongs to.
            credentials: of some own instances.
            operator_origins: URLs of the operator's other endpoints.
            allow: private places that pages may be fetched from.
            verify_pages: whether pages need a valid certificate; everything else always does.
            resolver: resolves all names instead of the system's resolver; the caller closes it.
            dial: opens the sockets of guarded connections after the guard has allowed them.

        Raises:
            SettingsError: an origin is not an http or https URL, `network.ca_file` cannot be read, or the
                proxy needs a package that is not installed.
        """
        self._connections = SessionFactory(config, resolver)
        self._connect_timeout = config.connect_timeout
        self._credentials = tuple(credentials)
        self.admit_own(own_origins)
        self._operator_origins = _origins(operator_origins)
        self._allow = allow
        self._verify_pages = verify_pages
        self._resolver = resolver
        self._dial = dial
        self._made: list[HttpSession] = []

    def admit_own(self, urls: Iterable[str]) -> None:
        """Set the own instances; requests in flight are not interrupted.

        Args:
            urls: base URLs, as for the constructor.

        Raises:
            SettingsError: an origin is not an http or https URL.
        """
        instances = tuple(urls)
        self._own_origins = _origins(instances)
        self._authorizer = Authorizer(instances, self._credentials)

    @cached_property
    def own(self) -> HttpSession:
        """The operator's own instances: configured origins only, plain http to private addresses.

        Only this kind has credentials. The search limits its requests: waiting here would use up an
        attempt's time, and queue a health check behind searches.
        """

        def connect(
            socket_factory: aiohttp.SocketFactoryType | None = None,
        ) -> aiohttp.ClientSession:
            return self._connections.straight(
                resolver=self._resolver,
                middlewares=(self._authorize,),
                socket_factory=socket_factory,
                limited=False,
            )

        route_for = self._connections.routes(middlewares=(self._authorize,), limited=False)

        def admit(raw: str) -> URL:
            url = _admit(raw, origins=self._own_origins)
            if url.scheme == "http" and route_for(url) and _may_be_public(url):
                raise refused_plain_http(raw)
            return url

        return self._keep(
            HttpSession(
                connect,
                connect_plainly=partial(connect, open_private_socket),
                admit=admit,
                route_for=route_for,
            )
        )

    @cached_property
    def operator(self) -> HttpSession:
        """The operator's other endpoints: configured origins only, no address guard."""
        return self._keep(
            HttpSession(
                partial(self._connections.straight, resolver=self._resolver),
                admit=partial(_admit, origins=self._operator_origins),
                route_for=self._connections.routes(),
            )
        )

    @cached_property
    def public(self) -> HttpSession:
        """Public instances, guarded; a request is never sent twice."""
        return self._guarded(
            verify=True,
            middlewares=(_send_once,),
            onion=self._connections.proxies.onion is not None,
        )

    @cached_property
    def pages(self) -> HttpSession:
        """Pages, guarded."""
        return self._guarded(verify=self._verify_pages)

    def gateway(
        self,
        admit: Callable[[URL], None],
        *,
        limits: "GatewayLimits | None" = None,
    ) -> "Gateway":
        """Create a proxy through which a browser reaches pages, guarded like `pages`.

        It does not chain to a configured proxy: that would resolve the names itself, so the addresses that
        a page's scripts request could not be checked.

        Args:
            admit: gets each URL, and raises a `FetchError` to refuse it.
            limits: of the traffic; the defaults unless given.

        Raises:
            SettingsError: a proxy is configured.
        """
        from searx_mcp.http.gateway import Gateway, GatewayLimits  # noqa: PLC0415 - for the browser

        proxies = self._connections.proxies
        if proxies.https is not None or proxies.http is not None:
            raise SettingsError(
                "fetch.browser",
                "the browser cannot go through network.proxy",
                advice="Turn off fetch.browser, or do without the proxy.",
            )
        guard = self._guard()
        dialler = Dialler(
            guard, self._guarded_resolver(guard), connect_timeout=self._connect_timeout
        )
        return Gateway(dialler, allow=self._allow, admit=admit, limits=limits or GatewayLimits())

    async def aclose(self) -> None:
        """Close all connections, within a second for each kind and scheme. May be called more than once."""
        for session in self._made:
            await session.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def _authorize(
        self, request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        """Send a request with its credentials, if it has any."""
        value = self._authorizer.value_for(request.url)
        if value is None:
            return await handler(request)
        request.headers[_HEADER] = value
        try:
            return await handler(request)
        finally:
            # Remove the credentials: the library's errors show the request's headers.
            del request.headers[_HEADER]

    def _guarded(
        self,
        *,
        verify: bool,
        middlewares: Sequence[aiohttp.ClientMiddlewareType] = (),
        onion: bool = False,
    ) -> HttpSession:
        guard = self._guard()
        resolver = partial(self._guarded_resolver, guard)

        def connect() -> aiohttp.ClientSession:
            return self._connections.straight(
                resolver=resolver(),
                middlewares=middlewares,
                socket_factory=guard.open_socket,
                use_dns_cache=False,
                verify=verify,
            )

        route_for = self._connections.routes(middlewares=middlewares, verify=verify, guarded=True)

        def admit(raw: str) -> URL:
            url = check_url(raw, allow=self._allow, onion=onion)
            if route_for(url):
                _judge_literal(url, guard, raw)
            return url

        return self._keep(
            HttpSession(
                connect,
                admit=admit,
                look_up=lambda host, port: resolver().resolve(host, port),
                route_for=route_for,
            )
        )

    def _guard(self) -> AddressGuard:
        return AddressGuard(self._allow, is_own=own_address_probe(), dial=self._dial)

    def _guarded_resolver(self, guard: AddressGuard) -> GuardedResolver:
        return GuardedResolver(self._resolver or aiohttp.ThreadedResolver(), guard)

    def _keep(self, session: HttpSession) -> HttpSession:
        self._made.append(session)
        return session


async def _send_once(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Keep the library from resending a GET whose connection closed before the answer.

    The instance would count two searches where we charged one; a limiter that drops the connection (nginx's
    status 444) causes exactly that.
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
    # Does not show the value, which may contain a password.
    return SettingsError("network", "an endpoint is not of the form http(s)://host[:port]")


def _admit(raw: str, *, origins: frozenset[URL]) -> URL:
    try:
        url = URL(raw)
        origin = url.origin()
    except ValueError as exc:
        raise InvalidArgumentError("url", "is not a valid URL") from exc
    if origin not in origins:
        raise PolicyError(
            "The address is not one of the configured ones.",
            code=ErrorCode.BLOCKED_ADDRESS,
            url=str(origin),
        )
    return url.with_user(None).with_fragment(None)


def _may_be_public(url: URL) -> bool:
    """Return whether plain http to an own instance may leave private networks, judging by its URL."""
    host = url.raw_host or ""
    private = is_private(host)
    return is_public_name(host) if private is None else not private


def _judge_literal(url: URL, guard: AddressGuard, raw: str) -> None:
    """Apply the rules for addresses dialled here to a literal address that a proxy dials."""
    host, port = url.raw_host or "", url.port or 0
    if effective_address(host) is None:
        return
    try:
        guard.check_answers(host, port, [host])
    except BlockedAddressError as exc:
        raise refused_address(raw) from exc
