"""Which IP addresses may be dialled.

The tables are our own because `ipaddress.is_global` is unsuitable: its result differs between patch releases
of Python, and in all of them multicast, 64:ff9b::/96, ::127.0.0.1 and Azure's 168.63.129.16 count as global.
"""

import contextlib
import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
)
from typing import Final, Self

from searx_mcp.errors import SettingsError
from searx_mcp.urls.hosts import ends_in_number, is_host_name

_FORBIDDEN_IPV4: Final = (
    (IPv4Network("0.0.0.0/8"), "this network, RFC 791 3.2"),
    (IPv4Network("10.0.0.0/8"), "private use, RFC 1918"),
    (IPv4Network("100.64.0.0/10"), "shared address space, RFC 6598"),
    (IPv4Network("127.0.0.0/8"), "loopback, RFC 1122 3.2.1.3"),
    (IPv4Network("169.254.0.0/16"), "link local and cloud metadata, RFC 3927"),
    (IPv4Network("172.16.0.0/12"), "private use, RFC 1918"),
    (IPv4Network("192.0.0.0/24"), "protocol assignments, RFC 6890 2.1"),
    (IPv4Network("192.0.2.0/24"), "documentation, RFC 5737"),
    (IPv4Network("192.31.196.0/24"), "AS112, RFC 7535"),
    (IPv4Network("192.52.193.0/24"), "AMT, RFC 7450"),
    (IPv4Network("192.88.99.0/24"), "6to4 relays, deprecated, RFC 7526"),
    (IPv4Network("192.168.0.0/16"), "private use, RFC 1918"),
    (IPv4Network("192.175.48.0/24"), "AS112, RFC 7534"),
    (IPv4Network("198.18.0.0/15"), "benchmarking, RFC 2544"),
    (IPv4Network("198.51.100.0/24"), "documentation, RFC 5737"),
    (IPv4Network("203.0.113.0/24"), "documentation, RFC 5737"),
    (IPv4Network("224.0.0.0/4"), "multicast, RFC 5771"),
    (IPv4Network("240.0.0.0/4"), "reserved and broadcast, RFC 1112 4, RFC 919"),
    (IPv4Network("168.63.129.16/32"), "Azure WireServer, a public address by number only"),
)
_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")  # RFC 4291 2.4; everything else is refused
_FORBIDDEN_IPV6: Final = (
    (IPv6Network("2001::/23"), "protocol assignments: Teredo, ORCHID, AMT, RFC 2928"),
    (IPv6Network("2001:db8::/32"), "documentation, RFC 3849"),
    (IPv6Network("2002::/16"), "6to4, RFC 3056"),
    (IPv6Network("2620:4f:8000::/48"), "AS112, RFC 7534"),
    (IPv6Network("3fff::/20"), "documentation, RFC 9637"),
)
_NAT64: Final = IPv6Network("64:ff9b::/96")  # RFC 6052 2.1
_ISATAP: Final = frozenset({0x0000_5EFE, 0x0200_5EFE})  # RFC 5214 6.1, bits 64 to 95

_PRIVATE: Final = (
    IPv4Network("0.0.0.0/32"),  # this host, RFC 1122 3.2.1.3; dialling it reaches loopback
    IPv4Network("10.0.0.0/8"),  # private use, RFC 1918
    IPv4Network("100.64.0.0/10"),  # shared address space, RFC 6598; overlay networks use it
    IPv4Network("127.0.0.0/8"),  # loopback, RFC 1122 3.2.1.3
    IPv4Network("169.254.0.0/16"),  # link local, RFC 3927
    IPv4Network("172.16.0.0/12"),  # private use, RFC 1918
    IPv4Network("192.168.0.0/16"),  # private use, RFC 1918
    IPv6Network("::/128"),  # unspecified, RFC 4291 2.5.2; dialling it reaches loopback
    IPv6Network("::1/128"),  # loopback, RFC 4291 2.5.3
    IPv6Network("fc00::/7"),  # unique local, RFC 4193
    IPv6Network("fe80::/10"),  # link local, RFC 4291 2.5.6
)
"""This machine and private networks. Not the complement of fetchable addresses: documentation networks,
multicast and others are in neither set."""
_ENTRY: Final = re.compile(
    r"(?:\[(?P<ipv6>[0-9a-fA-F:./]+)\]|(?P<host>[^\[\]:\s]+)):(?P<port>\d{1,5})"
)


@dataclass(frozen=True, slots=True)
class AllowList:
    """Addresses for which the operator lifts the guard, each for one exact port.

    An entry only covers what it names: a name only when requested by that name, a network only addresses
    inside it.

    Attributes:
        names: host names in lower case without a trailing dot, with their port.
        networks: networks (a single address is a full-length one) with their port.
    """

    names: frozenset[tuple[str, int]] = frozenset()
    networks: tuple[tuple[IPv4Network | IPv6Network, int], ...] = ()

    @classmethod
    def parse(cls, entries: Iterable[str]) -> Self:
        """Parse entries of the forms `host:port`, `ip:port`, `[ipv6]:port` and `cidr:port`.

        An IPv6 network is written `[fd00::/8]:port`.

        Raises:
            SettingsError: for the first invalid entry; the message names it.
        """
        names: set[tuple[str, int]] = set()
        networks: list[tuple[IPv4Network | IPv6Network, int]] = []
        for entry in entries:
            place, port = _parse_entry(entry)
            if isinstance(place, str):
                names.add((place, port))
            else:
                networks.append((place, port))
        return cls(frozenset(names), tuple(networks))

    def permits(self, host: str, port: int) -> bool:
        """Return whether the guard is lifted for this host name or address at this port."""
        ip = effective_address(host)
        if ip is None:
            return (host.lower().removesuffix("."), port) in self.names
        # An address of the other family is never inside a network, so versions need no check.
        return any(port == allowed and ip in network for network, allowed in self.networks)


def _parse_entry(entry: str) -> tuple[str | IPv4Network | IPv6Network, int]:
    match = _ENTRY.fullmatch(entry)
    if match is None or not 0 < int(match["port"]) <= 65_535:  # noqa: PLR2004 - the last TCP port
        raise _wrong_entry(entry)
    port = int(match["port"])
    if match["ipv6"]:
        with contextlib.suppress(ValueError):
            return IPv6Network(match["ipv6"]), port
        raise _wrong_entry(entry)
    with contextlib.suppress(ValueError):
        return ipaddress.ip_network(match["host"]), port
    from yarl import URL  # noqa: PLC0415 - 9 ms of start-up that only an allowed name has to pay

    with contextlib.suppress(ValueError):
        # The same spelling as in a parsed URL: lower case, IDNA.
        name = (URL.build(scheme="http", host=match["host"]).raw_host or "").removesuffix(".")
        if is_host_name(name) and not ends_in_number(name):
            return name, port
    raise _wrong_entry(entry)


def _wrong_entry(entry: str) -> SettingsError:
    return SettingsError(
        "fetch.allow_private",
        f"{entry!r} is not host:port, ip:port, [ipv6]:port or cidr:port",
        advice="Write one exact port, such as wiki.lan:8080, 10.0.0.0/8:443 or [fd00::/8]:443.",
    )


def effective_address(address: str) -> IPv4Address | IPv6Address | None:
    """Return the address that packets would reach, or `None` for a name or a scoped address.

    On a dual-stack socket, a mapped IPv6 address (RFC 4291 2.5.5.2) reaches the IPv4 host, and a NAT64
    address (RFC 6052) reaches it through the translator: both return the embedded IPv4 address. Blocking all
    of NAT64 would cut off networks that have IPv6 and DNS64 only.
    """
    if "%" in address:
        return None
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return None
    if isinstance(ip, IPv6Address):
        if ip.ipv4_mapped is not None:
            return ip.ipv4_mapped
        if ip in _NAT64:
            return IPv4Address(int(ip) & 0xFFFF_FFFF)
    return ip


def why_blocked(address: str, port: int, allow: AllowList) -> str | None:
    """Return why this address may not be dialled, or `None` if it may.

    IPv4 is refused by table; IPv6 is allowed only inside 2000::/3, with exceptions. So loopback, unique
    local, link local, site local, multicast, IPv4-compatible, SIIT (::ffff:0:0:0/96) and 64:ff9b:1::/48 need
    no row.

    Not covered: an operator's own translation prefixes, which look like any public prefix.

    Args:
        address: a literal address; anything else, including scoped addresses, is blocked.
        port: the port to dial.
        allow: the places for which the operator has lifted the guard.

    Returns:
        The reason, for a debug log only: shown to a caller it would reveal the internal network.
    """
    ip = effective_address(address)
    if ip is None:
        return "not an address, or one with a scope"
    if allow.permits(address, port):
        return None
    if isinstance(ip, IPv4Address):
        return next((why for network, why in _FORBIDDEN_IPV4 if ip in network), None)
    if ip not in _GLOBAL_UNICAST:
        return "not global unicast, RFC 4291 2.4"
    if int(ip) >> 32 & 0xFFFF_FFFF in _ISATAP:
        return "ISATAP, RFC 5214 6.1"
    return next((why for network, why in _FORBIDDEN_IPV6 if ip in network), None)


def is_private(address: str) -> bool | None:
    """Return whether traffic to an address stays on this machine or a private network.

    An IPv4 address mapped into IPv6 counts as itself. NAT64 addresses are public: RFC 6052 3.1 excludes
    private ones.

    Returns:
        `None` for anything but a literal address, such as a host name.
    """
    try:
        ip = ip_address(address)
    except ValueError:
        return None
    reached: IPv4Address | IPv6Address = getattr(ip, "ipv4_mapped", None) or ip
    # An address of the other family is never inside a network, so versions need no check.
    return any(reached in network for network in _PRIVATE)
