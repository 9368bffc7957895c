"""Requests through a proxy, and what its failures mean.

A failure of the proxy is on our side of the network: it says nothing about the host that was asked.
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
"""Of the time for a request, within which the host must be reached. The callers' own deadlines end at
the same instant as the request's, and would hide that it is the proxy that hangs."""

_HEADER: Final = "Proxy-Authorization"
_NO_HEADERS: Final = CIMultiDictProxy(CIMultiDict[str]())
_ADVICE: Final = "Check that the proxy runs, and its address in the settings."


class ProxyRouteError(aiohttp.ClientError):
    """What went wrong on the way through a proxy.

    Attributes:
        is_ours: whether the proxy itself failed, and not the way from it to the host.
    """

    def __init__(self, message: str, *, is_ours: bool, code: ErrorCode) -> None:
        super().__init__(message)
        self.message = message
        self.is_ours = is_ours
        self.code = code

    def translated(self, url: str) -> TransportError:
        """The error for the caller who asked for a URL."""
        if self.is_ours:
            return ProxyError(self.message, code=self.code, url=url, advice=_ADVICE)
        return TransportError(self.message, code=self.code, url=url)


@dataclass(slots=True)
class _ConnectTimer:
    """One request on its way.

    Attributes:
        limit: by when there must be a connection for it.
        has_arrived: whether there was one.
    """

    limit: asyncio.Timeout
    has_arrived: bool = False

    def arrive(self) -> None:
        """Note that the host is reached: from now on, delays are the host's."""
        self.has_arrived = True
        if not self.limit.expired():
            self.limit.reschedule(None)


class ProxyRoute:
    """The route of one kind of traffic through one proxy.

    Args:
        proxy: where it leads through.
        setting: the setting that names the proxy, for errors.
    """

    def __init__(self, proxy: ProxyUrl, setting: str) -> None:
        self._proxy = proxy
        self._name = f"The proxy of {setting}"

    @asynccontextmanager
    async def request_options(
        self, url: URL, headers: Mapping[str, str], deadline: float | None
    ) -> AsyncIterator[dict[str, Any]]:
        """Give the options of the HTTP library for one request, and translate its failures.

        No error that leaves shows the user name and password of the proxy.

        Args:
            url: where the request goes.
            headers: those of the request.
            deadline: instant on the running loop's clock by which the request ends.

        Raises:
            ProxyRouteError: for failures that have to do with the proxy.
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
        """The proxy cannot be connected to."""
        return self._ours("cannot be reached")

    def refused(self) -> ProxyRouteError:
        """The proxy does not let us in."""
        return self._ours("rejected our user name and password, or requires them")

    def unfit(self) -> ProxyRouteError:
        """The proxy speaks another protocol or refuses us: the two cannot be distinguished."""
        return self._ours("rejected our user name and password, or is not a SOCKS 5 proxy")

    def barred(self, why: str) -> ProxyRouteError:
        """The connection failed at or behind the proxy: which of them failed is unknown."""
        message = f"{self._name} made no connection to the host: {why}."
        return ProxyRouteError(message, is_ours=False, code=ErrorCode.CONNECTION_ERROR)

    def untrusted(self, exc: Exception) -> ProxyRouteError:
        """A certificate is not trusted: the proxy's own, or that of the host behind it."""
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
        """A middleware for plain http that distinguishes a proxy's refusal from a host's answer."""
        response = await handler(request)
        if (
            request.url.scheme == "http"
            and response.status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED
        ):
            response.close()
            raise self.refused()
        return response


def check_support(rules: ProxyRules) -> None:
    """Check that what the proxies need is installed.

    Raises:
        SettingsError: it is not.
    """
    if rules.onion is not None and find_spec("aiohttp_socks") is None:
        raise SettingsError(
            "network.proxy",
            "a SOCKS proxy needs a library that is not installed",
            advice='Install the extra: pip install "searx-mcp[socks]".',
        )


def arrivals() -> aiohttp.TraceConfig:
    """Make the trace configuration by which a session's requests report that they are connected."""

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
