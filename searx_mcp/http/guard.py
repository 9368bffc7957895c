"""The second and third layer of the guard: DNS answers, and the address about to be dialled."""

import errno
import logging
import socket
from collections.abc import Callable, Iterable
from typing import Final

from aiohttp import AddrInfoType

from searx_mcp.urls.address import AllowList, effective_address, why_blocked
from searx_mcp.urls.private import is_private

logger = logging.getLogger("searx_mcp.http")

_UNASSIGNED: Final = "192.0.2.1"  # RFC 5737: no interface ever has it


class BlockedAddressError(OSError):
    """An address that may not be dialled.

    An `OSError`, so that the HTTP library treats it as one failed attempt to connect. Its text is
    the same for every address, so that several of them are still reported as this one error.
    """

    def __init__(self) -> None:
        super().__init__(errno.EACCES, "the address may not be dialled")


class PublicAddressError(OSError):
    """A public address for a connection without TLS; an `OSError` as `BlockedAddressError` is."""

    def __init__(self) -> None:
        super().__init__(errno.EACCES, "plain http does not go to public addresses")


Dial = Callable[[AddrInfoType], socket.socket]
"""Opens the socket for one attempt to connect to an address that the guard has let pass."""


def open_socket(target: AddrInfoType) -> socket.socket:
    """Open the plain socket of one attempt to connect."""
    family, kind, protocol, _, _ = target
    return socket.socket(family, kind, protocol)


class AddressGuard:
    """Judges the addresses of one session's connections; lives as long as the session.

    The third layer sees no host name. So the addresses of a name the operator lifted the guard
    for are remembered when the name is resolved, and only these, at this port, pass later.

    Not covered: the public side of an address translation, which belongs to no interface here.
    """

    def __init__(
        self, allow: AllowList, *, is_own: Callable[[str], bool], dial: Dial = open_socket
    ) -> None:
        """Start a guard.

        Args:
            allow: what the operator has lifted the guard for.
            is_own: tells whether a literal address belongs to this machine.
            dial: opens the sockets for what has passed.
        """
        self._allow = allow
        self._dial = dial
        self._is_own = is_own
        self._lifted: set[tuple[str, int]] = set()

    def check_answers(self, host: str, port: int, addresses: Iterable[str]) -> None:
        """Refuse a name if any of its addresses is forbidden.

        A name with a public and a private address is how rebinding is prepared, so one good
        answer does not save it.

        Raises:
            BlockedAddressError: at least one address may not be dialled.
        """
        if self._allow.permits(host, port):
            self._lifted.update((address, port) for address in addresses)
            return
        for address in addresses:
            self._check(address, port)

    def open_socket(self, target: AddrInfoType) -> socket.socket:
        """Open the socket for one attempt to connect: the last look at the address.

        Nothing resolves again after this, so no second answer can differ from the checked one.

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
            logger.debug("net.address_blocked", extra={"address": address, "why": why})
            raise BlockedAddressError


def open_private_socket(target: AddrInfoType) -> socket.socket:
    """Open the socket for one attempt to connect without TLS.

    Of a name with private and public addresses only the private ones are dialled.

    Raises:
        PublicAddressError: the address is not on this machine or a private network.
    """
    family, kind, protocol, _, address = target
    if not is_private(str(address[0])):
        logger.debug("net.address_blocked", extra={"address": address[0], "why": "plain http"})
        raise PublicAddressError
    return socket.socket(family, kind, protocol)


def own_address_probe() -> Callable[[str], bool]:
    """Return a function that tells whether a literal address belongs to this machine.

    It asks the kernel to bind an unused UDP port to the address, which works for own addresses
    only. That needs no list of interfaces, which the standard library cannot give on all
    systems, and stays right when interfaces come and go. No packet is sent.

    Where the kernel lets anybody bind to any address (`ip_nonlocal_bind` on Linux, set on some
    load balancers) the question has no answer, and the function always says no.
    """
    return _never if _can_bind(_UNASSIGNED) else _can_bind


def _can_bind(address: str) -> bool:
    ip = effective_address(address)
    family = socket.AF_INET if ip is not None and ip.version == 4 else socket.AF_INET6  # noqa: PLR2004 - IPv4
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(ip), 0))
    except OSError:
        return False
    return True


def _never(_address: str) -> bool:
    return False
