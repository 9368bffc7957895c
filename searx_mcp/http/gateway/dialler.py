"""Connections from the gateway to the hosts it was asked for."""

import asyncio
import socket
from typing import Final

import aiohappyeyeballs
from aiohttp import AddrInfoType
from aiohttp.abc import AbstractResolver

from searx_mcp.errors import ErrorCode, FetchError, TransportError
from searx_mcp.http.guard import AddressGuard, BlockedAddressError
from searx_mcp.urls.address import effective_address
from searx_mcp.urls.url import refused_address

_STAGGER: Final = 0.25
"""Seconds before the next address of a name is tried, RFC 8305 8; as the HTTP library does."""

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
"""Both directions of one connection."""


class Dialler:
    """Connects to hosts as the guarded session of pages does, without speaking to them."""

    def __init__(
        self, guard: AddressGuard, resolver: AbstractResolver, *, connect_timeout: float
    ) -> None:
        """Describe how connections are made.

        Args:
            guard: has the last look at each address, and opens the sockets.
            resolver: refuses names with forbidden addresses.
            connect_timeout: seconds for looking up and connecting.
        """
        self._guard = guard
        self._resolver = resolver
        self._connect_timeout = connect_timeout

    async def connect(self, host: str, port: int, *, limit: int) -> Streams:
        """Connect to a host.

        Args:
            host: a name or an address, without brackets.
            port: its port.
            limit: bytes that the reader keeps until they are asked for, or a little more.

        Raises:
            PolicyError: an address of the host may not be dialled.
            TransportError: `dns_error`, `connection_error` or `timeout`.
        """
        try:
            async with asyncio.timeout(self._connect_timeout):
                opened = await aiohappyeyeballs.start_connection(
                    await self._targets(host, port),
                    happy_eyeballs_delay=_STAGGER,
                    socket_factory=self._guard.open_socket,
                )
        except (OSError, UnicodeError) as exc:
            raise _translated(exc, host) from exc
        try:
            return await asyncio.open_connection(sock=opened, limit=limit)
        except BaseException:
            opened.close()
            raise

    async def _targets(self, host: str, port: int) -> list[AddrInfoType]:
        if effective_address(host) is not None:
            return [_target(host, port)]
        try:
            answers = await self._resolver.resolve(host, port)
        except (BlockedAddressError, TimeoutError):
            raise
        except OSError as exc:
            raise socket.gaierror(socket.EAI_NONAME, "the name does not resolve") from exc
        return [_target(answer["host"], port) for answer in answers]


def _target(address: str, port: int) -> AddrInfoType:
    if ":" in address:
        return socket.AF_INET6, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port, 0, 0)
    return socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port)


def _translated(failure: Exception, host: str) -> FetchError:
    match failure:
        case BlockedAddressError():
            return refused_address(host)
        case TimeoutError():
            code, message = ErrorCode.TIMEOUT, "There was no connection in time."
        case socket.gaierror() | UnicodeError():
            code, message = ErrorCode.DNS_ERROR, "The host name does not resolve."
        case _:
            code, message = ErrorCode.CONNECTION_ERROR, "The connection failed."
    return TransportError(message, code=code, url=host)
