"""The second and third layer of the guard: resolved addresses, and the address about to be dialled.

HTTP library sessions use its resolver and its sockets; the gateway connects with `Dialler`.
"""

import asyncio
import errno
import logging
import socket
from collections.abc import Callable, Iterable
from typing import Final

import aiohappyeyeballs
from aiohttp import AddrInfoType
from aiohttp.abc import AbstractResolver, ResolveResult
from typing_extensions import override

from searx_mcp.errors import ErrorCode, FetchError, TransportError
from searx_mcp.urls.address import AllowList, effective_address, is_private, why_blocked
from searx_mcp.urls.url import refused_address

logger = logging.getLogger("searx_mcp.http")

_UNASSIGNED: Final = "192.0.2.1"  # RFC 5737: no interface ever has it


class BlockedAddressError(OSError):
    """An address that may not be dialled.

    An `OSError`, so that the HTTP library treats it as one failed connection attempt. Its text is the same for
    every address, so several failures are still reported as this error.
    """

    def __init__(self) -> None:
        super().__init__(errno.EACCES, "the address may not be dialled")


class PublicAddressError(OSError):
    """A public address for a connection without TLS; an `OSError` like `BlockedAddressError`."""

    def __init__(self) -> None:
        super().__init__(errno.EACCES, "plain http does not go to public addresses")


Dial = Callable[[AddrInfoType], socket.socket]
"""Opens the socket for one connection attempt, to an address that the guard has allowed."""


def open_socket(target: AddrInfoType) -> socket.socket:
    """Open the plain socket for one connection attempt."""
    family, kind, protocol, _, _ = target
    return socket.socket(family, kind, protocol)


class AddressGuard:
    """Checks the addresses of one session's connections; lives as long as the session.

    The third layer sees no host names. So when a name is resolved for which the operator has lifted the guard,
    its addresses are remembered, and only these pass later, at this port.

    Not covered: the public side of a NAT, which no interface here has.
    """

    def __init__(
        self, allow: AllowList, *, is_own: Callable[[str], bool], dial: Dial = open_socket
    ) -> None:
        """Start a guard.

        Args:
            allow: places for which the operator has lifted the guard.
            is_own: returns whether a literal address belongs to this machine.
            dial: opens the sockets for allowed addresses.
        """
        self._allow = allow
        self._dial = dial
        self._is_own = is_own
        self._lifted: set[tuple[str, int]] = set()

    def check_answers(self, host: str, port: int, addresses: Iterable[str]) -> None:
        """Refuse a name if any of its addresses is forbidden.

        DNS rebinding starts with a name that has a public and a private address, so a single forbidden one
        is enough.

        Raises:
            BlockedAddressError: at least one address may not be dialled.
        """
        if self._allow.permits(host, port):
            self._lifted.update((address, port) for address in addresses)
            return
        for address in addresses:
            self._check(address, port)

    def open_socket(self, target: AddrInfoType) -> socket.socket:
        """Open the socket for one connection attempt, after the last check of the address.

        Nothing is resolved after this, so no second answer can differ from the checked one.

        Raises:
            BlockedAddressError: the address may not be dialled.
        """
        family, _, _, _, address = target
        if family not in {socket.AF_INET, socket.AF_INET6}:
            raise BlockedAddressError
        host, port = address[:2]
        if (host, port) not in self._lifted:
            self._check(host, port)
        return self._dial(target)

    def _check(self, address: str, port: int) -> None:
        why = why_blocked(address, port, self._allow)
        if why is None and not self._allow.permits(address, port) and self._is_own(address):
            why = "an address of this machine"
        if why is not None:
            logger.debug("net.address_blocked address=%s why=%s", address, why)
            raise BlockedAddressError


def open_private_socket(target: AddrInfoType) -> socket.socket:
    """Open the socket for one connection attempt without TLS.

    If a name has private and public addresses, only the private ones are dialled.

    Raises:
        PublicAddressError: the address is neither on this machine nor in a private network.
    """
    family, kind, protocol, _, address = target
    if not is_private(str(address[0])):
        logger.debug("net.address_blocked address=%s why=%s", address[0], "plain http")
        raise PublicAddressError
    return socket.socket(family, kind, protocol)


def own_address_probe() -> Callable[[str], bool]:
    """Return a function that says whether a literal address belongs to this machine.

    It asks the kernel to bind an unused UDP port to the address, which works for the machine's own
    addresses only. That needs no list of interfaces, which the standard library cannot provide on all
    systems, and it stays correct when interfaces change. No packet is sent.

    Where the kernel lets any process bind to any address (`ip_nonlocal_bind` on Linux, set on some load
    balancers), this cannot be known, and the function always returns false.
    """
    return (lambda _address: False) if _can_bind(_UNASSIGNED) else _can_bind


def _can_bind(address: str) -> bool:
    ip = effective_address(address)
    family = socket.AF_INET if ip is not None and ip.version == 4 else socket.AF_INET6  # noqa: PLR2004 - IPv4
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(ip), 0))
    except OSError:
        return False
    return True


class GuardedResolver(AbstractResolver):
    """Checks every answer of another resolver with the guard.

    The HTTP library never resolves literal addresses; those are checked by URL, and again when the socket is
    opened.
    """

    def __init__(self, inner: AbstractResolver, guard: AddressGuard) -> None:
        self._inner = inner
        self._guard = guard

    @override
    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Resolve a name, if all its addresses may be dialled.

        Raises:
            BlockedAddressError: at least one address is forbidden.
            OSError: the name does not resolve, or has no addresses.
        """
        answers = await self._inner.resolve(host, port, family)
        if not answers:
            raise OSError(socket.EAI_NONAME, "the name has no address")
        self._guard.check_answers(host, port, [answer["host"] for answer in answers])
        return answers

    @override
    async def close(self) -> None:
        """Do not close the inner resolver: its creator does."""


_STAGGER: Final = 0.25
"""Seconds before a name's next address is tried (RFC 8305, section 8); the HTTP library's value."""

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
"""Both directions of one connection."""


class Dialler:
    """Connects to hosts like the guarded page session, without sending anything."""

    def __init__(
        self, guard: AddressGuard, resolver: AbstractResolver, *, connect_timeout: float
    ) -> None:
        """Configure the dialler.

        Args:
            guard: checks each address last, and opens the sockets.
            resolver: refuses names with forbidden addresses.
            connect_timeout: seconds for resolving and connecting.
        """
        self._guard = guard
        self._resolver = resolver
        self._connect_timeout = connect_timeout

    async def connect(self, host: str, port: int, *, limit: int) -> Streams:
        """Connect to a host.

        Args:
            host: a name or an address, without brackets.
            port: its port.
            limit: bytes that the reader buffers, or slightly more.

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
            code, message = ErrorCode.TIMEOUT, "The connection timed out."
        case socket.gaierror() | UnicodeError():
            code, message = ErrorCode.DNS_ERROR, "The host name does not resolve."
        case _:
            code, message = ErrorCode.CONNECTION_ERROR, "The connection failed."
    return TransportError(message, code=code, url=host)
