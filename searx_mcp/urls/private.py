"""Which addresses lie on this machine or on a private network.

Not the opposite of what pages may not be fetched from: documentation networks, multicast and the
like are neither.
"""

from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
)
from typing import Final

_PRIVATE: Final = (
    IPv4Network("0.0.0.0/32"),  # this host, RFC 1122 3.2.1.3; dialled, it is loopback
    IPv4Network("10.0.0.0/8"),  # private use, RFC 1918
    IPv4Network("100.64.0.0/10"),  # shared address space, RFC 6598; overlay networks use it
    IPv4Network("127.0.0.0/8"),  # loopback, RFC 1122 3.2.1.3
    IPv4Network("169.254.0.0/16"),  # link local, RFC 3927
    IPv4Network("172.16.0.0/12"),  # private use, RFC 1918
    IPv4Network("192.168.0.0/16"),  # private use, RFC 1918
    IPv6Network("::/128"),  # unspecified, RFC 4291 2.5.2; dialled, it is loopback
    IPv6Network("::1/128"),  # loopback, RFC 4291 2.5.3
    IPv6Network("fc00::/7"),  # unique local, RFC 4193
    IPv6Network("fe80::/10"),  # link local, RFC 4291 2.5.6
)


def is_private(address: str) -> bool | None:
    """Tell whether what is sent to an address stays on this machine or a private network.

    An IPv4 address mapped into IPv6 counts as itself. NAT64 addresses are public: RFC 6052 3.1
    keeps private ones out of them.

    Returns:
        `None` for anything but a literal address, such as a host name.
    """
    try:
        ip = ip_address(address)
    except ValueError:
        return None
    reached: IPv4Address | IPv6Address = getattr(ip, "ipv4_mapped", None) or ip
    # An address of the other family is never inside a network, so no check of versions.
    return any(reached in network for network in _PRIVATE)
