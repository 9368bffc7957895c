"""Creates HTTP library sessions for all kinds of traffic: direct, or through a proxy.

Server certificates are verified with the system's trust store and one more file.
"""

import logging
import ssl
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from searx_mcp.errors import SettingsError
from searx_mcp.files import read_bytes
from searx_mcp.http.body import ACCEPT_ENCODING
from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.http import Route
from searx_mcp.http.pacing import READ_BUFFER, PacedConnector
from searx_mcp.http.proxy import BLIND, ProxyUrl
from searx_mcp.http.proxy_route import ProxyRoute, arrivals, check_support

MAX_LINE: Final = 8_190
"""Bytes of a status line or one header field; the same as Apache and nginx accept."""

MAX_HEADERS: Final = 128
"""Header fields of one answer."""

_CA_FILE: Final = "network.ca_file"
_ADVICE: Final = "Give the path of a PEM file with the certificate of the authority, or remove it."
_MAX_CA_FILE: Final = 16 << 20
"""Bytes of a CA file; Mozilla's collection has 0.2 MB."""
_NATIVE: Final = frozenset({"darwin", "win32"})
"""Systems whose trust store is not a file that OpenSSL can read."""

_log = logging.getLogger("searx_mcp.http")


class SessionFactory:
    """Creates HTTP library sessions; opens none here.

    Attributes:
        proxies: which requests use which proxy.
    """

    def __init__(self, config: NetworkConfig, resolver: AbstractResolver | None) -> None:
        """Read the certificates.

        Args:
            config: the `[network]` table.
            resolver: resolves the names of proxies instead of the system's resolver.

        Raises:
            SettingsError: `network.ca_file` cannot be read, or a proxy needs a package that is not installed.
        """
        self.proxies = config.proxies()
        check_support(self.proxies)
        self._config = config
        self._tls = tls_context(config.ca_file)
        self._resolver = resolver
        self._has_warned = False

    def straight(
        self,
        *,
        resolver: AbstractResolver | None,
        middlewares: Sequence[aiohttp.ClientMiddlewareType] = (),
        socket_factory: aiohttp.SocketFactoryType | None = None,
        use_dns_cache: bool = True,
        verify: bool = True,
        limited: bool = True,
    ) -> aiohttp.ClientSession:
        """Create a session that connects directly; `limited` caps its connections."""
        limit, limit_per_host = self._limits(limited=limited)
        connector = PacedConnector(
            limit=limit,
            limit_per_host=limit_per_host,
            resolver=resolver,
            socket_factory=socket_factory,
            use_dns_cache=use_dns_cache,
            ssl=self._tls if verify else False,
        )
        return self._session(connector, middlewares)

    def routes(
        self,
        *,
        middlewares: Sequence[aiohttp.ClientMiddlewareType] = (),
        verify: bool = True,
        guarded: bool = False,
        limited: bool = True,
    ) -> Callable[[URL], Route | None]:
        """Create a function that returns the proxy route of a URL, or `None`.

        Args:
            middlewares: of the sessions.
            verify: whether to verify certificates, including an https proxy's.
            guarded: whether resolved addresses would be checked without a proxy.
            limited: whether to cap the connections.
        """
        limits = self._limits(limited=limited)
        routes: dict[ProxyUrl, Route] = {}
        settings = {"network.http_proxy": self.proxies.http, "network.proxy": self.proxies.https}
        for setting, proxy in settings.items():
            if proxy is not None:
                route = ProxyRoute(proxy, setting)
                connect = partial(
                    self._routed, proxy, route, middlewares, verify, guarded, limits=limits
                )
                routes[proxy] = (connect, route)

        if not routes:
            return lambda _url: None

        def route_for(url: URL) -> Route | None:
            proxy = self.proxies.proxy_for(url.scheme, url.raw_host or "", url.port or 0)
            return routes[proxy] if proxy else None

        return route_for

    def _routed(
        self,
        proxy: ProxyUrl,
        route: ProxyRoute,
        middlewares: Sequence[aiohttp.ClientMiddlewareType],
        verify: bool,  # noqa: FBT001 - bound by name of its place alone
        guarded: bool,  # noqa: FBT001 - likewise
        *,
        limits: tuple[int, int],
    ) -> aiohttp.ClientSession:
        """Create a session for one proxy; it resolves no name but the proxy's."""
        if guarded and not self._has_warned:
            self._has_warned = True
            _log.warning("net.proxy_resolves_names proxy=%s note=%s", proxy, BLIND)
        connector: aiohttp.TCPConnector
        last: aiohttp.ClientMiddlewareType
        tls = self._tls if verify else False
        if proxy.is_socks:
            from searx_mcp.http.socks import SocksErrors, socks_connector  # noqa: PLC0415 - an extra

            connector = socks_connector(proxy, limits=limits, ssl=tls)
            last = SocksErrors(route)
        else:
            limit, limit_per_host = limits
            connector = PacedConnector(
                limit=limit, limit_per_host=limit_per_host, resolver=self._resolver, ssl=tls
            )
            last = route.reject_407
        return self._session(connector, (*middlewares, last), trace_configs=[arrivals()])

    def _limits(self, *, limited: bool) -> tuple[int, int]:
        """Return the limits of connections: in total, and to one host; 0 is unlimited."""
        if not limited:
            return 0, 0
        return self._config.max_connections, self._config.max_connections_per_host

    def _session(
        self,
        connector: aiohttp.TCPConnector,
        middlewares: Sequence[aiohttp.ClientMiddlewareType],
        *,
        trace_configs: list[aiohttp.TraceConfig] | None = None,
    ) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=connector,
            middlewares=middlewares,
            trace_configs=trace_configs,
            # Callers set the deadlines; only the time of one connection is limited here.
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._config.connect_timeout),
            headers={"Accept-Encoding": ACCEPT_ENCODING},
            # If the caller sets no User-Agent, send none instead of the library's name and version.
            skip_auto_headers=("User-Agent",),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            max_line_size=MAX_LINE,
            max_field_size=MAX_LINE,
            max_headers=MAX_HEADERS,
            read_bufsize=READ_BUFFER,
        )


def tls_context(ca_file: str, *, platform: str = sys.platform) -> ssl.SSLContext | bool:
    """Create the context that verifies server certificates.

    On macOS and Windows the system verifies, elsewhere OpenSSL with the system's CA file:
    `docs/decisions/trust-store.md`.

    Args:
        ca_file: path of a PEM file with more trusted authorities; empty for none.
        platform: as `sys.platform`.

    Returns:
        A context, or `True` if it would equal the HTTP library's default.

    Raises:
        SettingsError: the file cannot be read, or contains no certificate.
    """
    if platform in _NATIVE:
        from truststore import SSLContext  # noqa: PLC0415 - elsewhere it is not needed

        context: ssl.SSLContext = SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    elif not ca_file:
        return True
    else:
        context = ssl.create_default_context()
    context.set_alpn_protocols(("http/1.1",))
    if ca_file:
        _add(context, Path(ca_file))
    return context


def _add(context: ssl.SSLContext, path: Path) -> None:
    try:
        path = path.expanduser()
        read_bytes(
            path, _MAX_CA_FILE
        )  # OpenSSL does not distinguish a missing file from an invalid one, and blocks
        context.load_verify_locations(cafile=path)
    except ssl.SSLError as exc:
        raise SettingsError(
            _CA_FILE, f"{path} holds no certificates in PEM form", advice=_ADVICE
        ) from exc
    except (OSError, RuntimeError) as exc:  # RuntimeError: there is no home folder for `~`
        reason = getattr(exc, "strerror", None) or str(exc)
        raise SettingsError(_CA_FILE, f"{path} cannot be read: {reason}", advice=_ADVICE) from exc
