"""Domain names as people write them, and whether a host lies in one.

Policy on addresses is not here: a name that resolves to a private address is the business of
`searx_mcp.http`.
"""

import ipaddress
import re
from collections.abc import Set as AbstractSet

from yarl import URL

# The usual spelling needs no parsing. The last label starts with a letter, so that no spelling of
# an IPv4 address passes here (WHATWG URL, "ends in a number").
_CANONICAL = re.compile(
    r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){0,30}[a-z][a-z0-9-]{0,61}[a-z0-9]"
)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_MAX_NAME = 253  # RFC 1035, section 2.3.4, without the root's dot


def normalise_domain(text: str) -> str:
    """Return the one spelling of a domain: lower case, punycode, no wildcard, no final dot.

    Args:
        text: a domain such as `Example.ORG.`, `*.example.org` or `bücher.example`, an IP address,
            or a whole URL, of which the host is taken.

    Returns:
        ASCII text such as `xn--bcher-kva.example`; an IP address in its shortest form.

    Raises:
        ValueError: with a sentence, if there is no domain in the text.
    """
    text = text.strip()
    if len(text) <= _MAX_NAME and _CANONICAL.fullmatch(text):
        return text
    host = _host(text).rstrip(".").lower()
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        pass
    labels = host.split(".")
    if (
        len(host) > _MAX_NAME
        or not all(map(_LABEL.fullmatch, labels))
        or _NUMBER.fullmatch(labels[-1])
    ):
        raise _rubbish(text)
    return host


def is_within(host: str, names: AbstractSet[str]) -> bool:
    """Tell whether a host is one of the domains or lies under one of them, in a few look-ups.

    Args:
        host: in any spelling; a text that is no host lies in nothing.
        names: domains as `normalise_domain` gives them.
    """
    try:
        name = normalise_domain(host)
    except ValueError:
        return False
    # An IP address has no parents that a domain could equal: no domain ends in a number.
    while name not in names:
        _, dot, name = name.partition(".")
        if not dot:
            return False
    return True


def _host(text: str) -> str:
    """Return the host in a domain, a `host/path` or a URL, as yarl encodes it."""
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
