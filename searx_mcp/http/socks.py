"""Connections through SOCKS 5; needs the extra `socks`."""

import asyncio
from ssl import SSLContext, SSLError
from typing import Any, Final

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp_socks import (
    ProxyConnectionError,
    ProxyConnector,
    ProxyError,
    ProxyTimeoutError,
    ProxyType,
)
from typing_extensions import override

from searx_mcp.http.pacing import PacedHandler
from searx_mcp.http.proxy import ProxyUrl
from searx_mcp.http.proxy_route import ProxyRoute

_TOLD_OF_THE_HOST: Final = frozenset(range(1, 7))
"""Replies about the host or the route to it, RFC 1928, section 6. Tor uses 1, a general failure, for hosts,
too."""


def socks_connector(
    proxy: ProxyUrl, *, limits: tuple[int, int], ssl: SSLContext | bool
) -> aiohttp.TCPConnector:
    """Create a connector whose host names the proxy resolves.

    Args:
        proxy: the proxy.
        limits: of connections, in total and to one host.
        ssl: verifies certificates, as in `aiohttp.TCPConnector`.
    """
    return _Connector(
        proxy.host,
        proxy.port,
        proxy_type=ProxyType.SOCKS5,
        username=proxy.username,
        password=proxy.password,
        rdns=True,
        limit=limits[0],
        limit_per_host=limits[1],
        ssl=ssl,
    )


class _Handler(PacedHandler):
    def __init__(self, loop: asyncio.AbstractEventLoop, opened: ResponseHandler) -> None:
        super().__init__(loop)
        self._opened = opened  # it keeps a stream alive that would close the connection


class _Connector(ProxyConnector):
    @override
    async def _connect_via_proxy(
        self, *args: Any, **kwargs: Any
    ) -> tuple[asyncio.Transport, ResponseHandler]:
        transport, opened = await super()._connect_via_proxy(*args, **kwargs)
        paced = _Handler(self._loop, opened)
        transport.set_protocol(paced)
        paced.connection_made(transport)
        return transport, paced


class SocksErrors:
    """Middleware that translates the library's errors.

    Args:
        route: the route that they belong to.
    """

    def __init__(self, route: ProxyRoute) -> None:
        self._route = route

    async def __call__(
        self, request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        """Send the request."""
        try:
            return await handler(request)
        except SSLError as exc:
            raise self._route.untrusted(exc) from exc
        except ProxyConnectionError as exc:
            raise self._route.unreachable() from exc
        except ProxyTimeoutError as exc:
            raise self._route.barred("the connection timed out") from exc
        except EOFError as exc:
            raise self._route.barred("it closed the connection") from exc
        except ProxyError as exc:
            if exc.error_code in _TOLD_OF_THE_HOST:
                raise self._route.barred(f"{exc}") from exc
            raise self._route.unfit() from exc
