"""Requests through a proxy, and what their failures mean.

A proxy's failure is on our side of the network: it says nothing about the requested host.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any, Final

import aiohttp
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from searx_mcp.errors import ErrorCode, ProxyError, SettingsError, TransportError
from searx_mcp.http.proxy import ProxyRules, ProxyUrl

CONNECT_SHARE: Final = 0.9
"""Share of a request's time in which the host must be reached. The caller's deadline is the same as the
request's, and would otherwise hide that the proxy hangs."""

_HEADER: Final = "Proxy-Authorization"
_NO_HEADERS: Final = CIMultiDictProxy(CIMultiDict[str]())
_ADVICE: Final = "Check that the proxy runs, and its address in the settings."


class ProxyRouteError(aiohttp.ClientError):
    """A failure on the way through a proxy.

    Attributes:
        is_ours: whether the proxy itself failed, not the connection from it to the host.
    """

    def __init__(self, message: str, *, is_ours: bool, code: ErrorCode) -> None:
        super().__init__(message)
        self.message = message
        self.is_ours = is_ours
        self.code = code

    def translated(self, url: str) -> TransportError:
        """Return the error for the caller that requested a URL."""
        if self.is_ours:
            return ProxyError(self.message, code=self.code, url=url, advice=_ADVICE)
        return TransportError(self.message, code=self.code, url=url)


@dataclass(slots=True)
class _ConnectTimer:
    """The connection time limit of one request.

    Attributes:
        limit: when it must be connected.
        has_arrived: whether it was connected.
    """

    limit: asyncio.Timeout
    has_arrived: bool = False

    def arrive(self) -> None:
        """Record that the host is reached: from now on, the host causes any delay."""
        self.has_arrived = True
        if not self.limit.expired():
            self.limit.reschedule(None)


class ProxyRoute:
    """The route of one kind of traffic through one proxy.

    Args:
        proxy: the proxy.
        setting: the setting that names the proxy, for errors.
    """

    def __init__(self, proxy: ProxyUrl, setting: str) -> None:
        self._proxy = proxy
        self._name = f"The proxy of {setting}"

    @asynccontextmanager
    async def request_options(
        self, url: URL, headers: Mapping[str, str], deadline: float | None
    ) -> AsyncIterator[dict[str, Any]]:
        """Return the HTTP library's options for one request, and translate its failures.

        No error raised here shows the proxy's user name and password.

        Args:
            url: target of the request.
            headers: of the request.
            deadline: loop time by which the request ends.

        Raises:
            ProxyRouteError: for failures of the proxy or behind it.
        """
        now = asyncio.get_running_loop().time()
        when = None if deadline is None else now + CONNECT_SHARE * (deadline - now)
        timer = _ConnectTimer(asyncio.timeout_at(when))
        options: dict[str, Any] = {"headers": headers, "trace_request_ctx": timer}
        if not self._proxy.is_socks:
            options["proxy"] = URL(self._proxy.address)
            options |= self._permission(url, headers)
        try:
            async with timer.limit:
                yield options
        except ProxyRouteError:
            raise
        except (aiohttp.ClientError, ssl.SSLError, TimeoutError) as exc:
            _forget_headers(exc)
            failure = self._explained(exc, has_arrived=timer.has_arrived)
            if failure is None:
                raise
            raise failure from exc

    def _permission(self, url: URL, headers: Mapping[str, str]) -> dict[str, Any]:
        value = self._proxy.authorization
        if value is None:
            return {}
        if url.scheme == "http":  # there is no CONNECT: the proxy reads the request itself
            return {"headers": {**headers, _HEADER: value}}
        return {"proxy_headers": {_HEADER: value}}

    def _explained(self, exc: Exception, *, has_arrived: bool) -> ProxyRouteError | None:
        failure: ProxyRouteError | None = None
        match exc:
            case aiohttp.ClientHttpProxyError(status=HTTPStatus.PROXY_AUTHENTICATION_REQUIRED):
                failure = self.refused()
            case aiohttp.ClientHttpProxyError(status=status):
                failure = self.barred(f"it answered with status {status}")
            case aiohttp.ClientProxyConnectionError() | aiohttp.ClientConnectorDNSError():
                failure = self.unreachable()
            case aiohttp.ClientSSLError() | ssl.SSLError():
                failure = self.untrusted(exc)
            case _ if has_arrived:
                pass
            case TimeoutError():
                failure = self.barred("the connection timed out")
            case aiohttp.ClientResponseError():
                failure = self._ours("does not answer like a proxy")
            case _:
                failure = self.barred("it closed the connection")
        return failure

    def unreachable(self) -> ProxyRouteError:
        """Make the error for a proxy that cannot be connected to."""
        return self._ours("cannot be reached")

    def refused(self) -> ProxyRouteError:
        """Make the error for a proxy that rejects our credentials."""
        return self._ours("rejected our user name and password, or requires them")

    def unfit(self) -> ProxyRouteError:
        """Make the error for a proxy that speaks another protocol or refuses us, which look the same."""
        return self._ours("rejected our user name and password, or is not a SOCKS 5 proxy")

    def barred(self, why: str) -> ProxyRouteError:
        """Make the error for a connection that failed at or behind the proxy; which of them is unknown."""
        message = f"{self._name} made no connection to the host: {why}."
        return ProxyRouteError(message, is_ours=False, code=ErrorCode.CONNECTION_ERROR)

    def untrusted(self, exc: Exception) -> ProxyRouteError:
        """Make the error for an untrusted certificate: the proxy's own, or that of the host behind it."""
        host, port = getattr(exc, "host", None), getattr(exc, "port", None)
        if (host, port) == (self._proxy.host, self._proxy.port):
            return self._ours("has no valid certificate; add its authority to network.ca_file")
        message = (
            f"The TLS handshake or the certificate failed. If {self._name[0].lower()}"
            f"{self._name[1:]} intercepts TLS, add its authority to network.ca_file."
        )
        return ProxyRouteError(message, is_ours=False, code=ErrorCode.TLS_ERROR)

    def _ours(self, what: str) -> ProxyRouteError:
        message = f"{self._name} {what}."
        return ProxyRouteError(message, is_ours=True, code=ErrorCode.CONNECTION_ERROR)

    async def reject_407(
        self, request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        """Middleware for plain http that distinguishes a proxy's refusal from a host's answer."""
        response = await handler(request)
        if (
            request.url.scheme == "http"
            and response.status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED
        ):
            response.close()
            raise self.refused()
        return response


def check_support(rules: ProxyRules) -> None:
    """Check that the packages for the proxies are installed.

    Raises:
        SettingsError: one is missing.
    """
    if rules.onion is not None and find_spec("aiohttp_socks") is None:
        raise SettingsError(
            "network.proxy",
            "a SOCKS proxy needs a library that is not installed",
            advice='Install the extra: pip install "searx-mcp[socks]".',
        )


def arrivals() -> aiohttp.TraceConfig:
    """Create the trace configuration that reports when a session's requests are connected."""

    async def arrive(_session: aiohttp.ClientSession, context: SimpleNamespace, _: object) -> None:
        if isinstance(timer := context.trace_request_ctx, _ConnectTimer):
            timer.arrive()

    config = aiohttp.TraceConfig()
    config.on_connection_create_end.append(arrive)
    config.on_connection_reuseconn.append(arrive)
    return config


def _forget_headers(exc: Exception) -> None:
    if isinstance(exc, aiohttp.ClientResponseError):
        exc.request_info = exc.request_info._replace(headers=_NO_HEADERS)
        exc.args = ()
