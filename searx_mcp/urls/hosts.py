"""Names of hosts and domains in any spelling, without lookups.

The policy on IP addresses is not here: `searx_mcp.http` checks what names resolve to.
"""

import ipaddress
import re
from collections.abc import Set as AbstractSet
from typing import Final
from unicodedata import normalize

WEB_PORTS: Final = frozenset({80, 443, 8080, 8443})
"""Ports of web servers. Others belong to mail, databases and consoles that answer a stray GET."""

_MAX_NAME: Final = 253
"""Maximum characters of a name, RFC 1035 2.3.4 without the length bytes."""

_NAME: Final = re.compile(
    r"(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*"
    r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
)
# The usual spelling needs no parsing. The last label starts with a letter, so that no spelling of an
# IPv4 address matches (WHATWG URL, "ends in a number").
_CANONICAL: Final = re.compile(
    r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){0,30}[a-z][a-z0-9-]{0,61}[a-z0-9]"
)
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_END_OF_AUTHORITY: Final = re.compile(r"[/?#]")
_USERINFO: Final = re.compile(r"(?i)\A((?:[a-z][a-z0-9+.-]*+:)?//)[^/?#]*@")
"""User information: useless to a reader, and a way to imitate another site."""
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")

_INNER_SUFFIXES: Final = (
    ".arpa",  # RFC 3172; includes home.arpa, RFC 8375, and ipv4only.arpa, RFC 7050
    ".internal",  # reserved by ICANN, 2024
    ".local",  # RFC 6762; includes cluster.local of Kubernetes
    ".localhost",  # RFC 6761
    ".test",  # RFC 6761
    ".corp",  # RFC 6762, appendix G, as the next five
    ".home",
    ".intranet",
    ".lan",
    ".localdomain",
    ".private",
    ".svc",  # Kubernetes
)
_NOBODYS_SUFFIXES: Final = (
    ".alt",  # RFC 9476
    ".example",  # RFC 6761
    ".invalid",  # RFC 6761
    ".onion",  # RFC 7686
    ".i2p",
)


def host_in(address: str) -> str:
    """Return the text between `//` and the path, as written, without user information."""
    authority = _END_OF_AUTHORITY.split(address.partition("//")[2], maxsplit=1)[0]
    return authority.rpartition("@")[2]


def is_short_enough(host: str) -> bool:
    """Return whether a host is short enough to be a name, in any alphabet.

    Converting one of 4,000 characters takes a library 12 ms, or 125 if NFKC makes 18 of each, so longer ones
    are refused first.
    """
    return len(host) <= _MAX_NAME and (host.isascii() or len(normalize("NFKC", host)) <= _MAX_NAME)


def is_host_name(host: str) -> bool:
    """Return whether something is a host name: RFC 1123 2.1, and underscores, which real sites use."""
    return _NAME.fullmatch(_plain(host)) is not None


def ends_in_number(name: str) -> bool:
    """Return whether a host name is a spelling of an IPv4 address, valid or not.

    The "ends in a number checker" of the WHATWG URL standard, 3.5: resolvers take 0x7f.1 and
    2130706433 for 127.0.0.1.
    """
    return _NUMBER.fullmatch(name.rpartition(".")[2]) is not None


def is_inner_name(host: str) -> bool:
    """Return whether only this machine or a private network could resolve this name.

    Numeric names count as such, whatever their value.
    """
    name = _plain(host)
    return "." not in name or ends_in_number(name) or name.endswith(_INNER_SUFFIXES)


def is_public_name(host: str) -> bool:
    """Return whether a host name is possible on the public web, without a lookup."""
    return not is_inner_name(host) and not _plain(host).endswith(_NOBODYS_SUFFIXES)


def is_onion(host: str) -> bool:
    """Return whether a host name is that of a Tor service, RFC 7686."""
    return _plain(host).endswith(".onion")


def without_userinfo(address: str) -> str:
    """Return an address without the part before `@` of its authority (RFC 3986 3.2.1)."""
    return _USERINFO.sub(r"\1", address) if "@" in address else address


def normalise_domain(text: str) -> str:
    """Return the normal form of a domain: lower case, punycode, no wildcard, no trailing dot.

    Args:
        text: a domain such as `Example.ORG.`, `*.example.org` or `bücher.example`, an IP address, or a whole
            URL, whose host is used.

    Returns:
        ASCII text such as `xn--bcher-kva.example`; an IP address in its shortest form.

    Raises:
        ValueError: with a sentence, if the text contains no domain.
    """
    text = text.strip()
    if len(text) <= _MAX_NAME and _CANONICAL.fullmatch(text):
        return text
    host = _host(text).rstrip(".").lower()
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        pass
    if (
        len(host) > _MAX_NAME
        or not all(map(_LABEL.fullmatch, host.split(".")))
        or ends_in_number(host)
    ):
        raise _rubbish(text)
    return host


def is_within(host: str, names: AbstractSet[str]) -> bool:
    """Return whether a host is one of the domains or a subdomain of one, in a few lookups.

    Args:
        host: in any spelling; false for a text that is not a host.
        names: domains from `normalise_domain`.
    """
    try:
        name = normalise_domain(host)
    except ValueError:
        return False
    # An IP address has no parent domains: no domain ends in a number.
    while name not in names:
        _, dot, name = name.partition(".")
        if not dot:
            return False
    return True


def _plain(host: str) -> str:
    return host.lower().removesuffix(".")


def _host(text: str) -> str:
    """Return the host of a domain, a `host/path` or a URL, as yarl encodes it."""
    from yarl import URL  # noqa: PLC0415 - 9 ms that the import of the settings need not pay

    try:
        if ipaddress.ip_address(text).version == 6:  # noqa: PLR2004 - the only one without brackets
            return text
    except ValueError:
        pass
    address = text if "://" in text else "//" + text.removeprefix("*").removeprefix(".")
    try:
        return URL(address).raw_host or ""
    except (ValueError, IndexError) as exc:  # IndexError: yarl 1.25 on "//[]@"
        raise _rubbish(text) from exc


def _rubbish(text: str) -> ValueError:
    return ValueError(f"{text[:100]!r} is not a domain such as example.org")
