"""Addresses of known sites, taken apart and put together.

A part is what stands between two slashes, decoded. What could mean another place to a server than it
does here, such as `..` or an encoded slash, is no part: whoever puts parts together again stays where
the parts say.
"""

import re
from collections.abc import Collection, Mapping
from typing import Final
from urllib.parse import quote, unquote

from yarl import URL

_UNCLEAR = re.compile(r"[\x00-\x1f\x7f\\]")
_PCHAR: Final = "!$&'()*+,;=:@"
"""What a part may hold unencoded besides letters, digits and `-._~` (RFC 3986, section 3.3)."""


def parts_of(url: URL, *, with_slashes: bool = False) -> tuple[str, ...] | None:
    """Take the path of an address apart.

    Args:
        url: absolute.
        with_slashes: whether a part may hold encoded slashes.

    Returns:
        The decoded parts, without the empty one behind a slash at the end; `None` if the path is not
        plain, or the address names a user.
    """
    if url.scheme not in {"http", "https"} or url.user is not None or url.password is not None:
        return None
    raw = url.raw_path.removeprefix("/").removesuffix("/")
    if not raw:
        return ()
    try:
        parts = tuple(unquote(part, errors="strict") for part in raw.split("/"))
    except UnicodeDecodeError:
        return None
    for part in parts:
        pieces = part.split("/") if with_slashes else [part]
        if any(piece in {"", ".", ".."} or "/" in piece for piece in pieces):
            return None
        if _UNCLEAR.search(part):
            return None
    return parts


def is_at(url: URL, hosts: Collection[str]) -> bool:
    """Whether an address is at one of some hosts, at the port of its scheme."""
    return url.host in hosts and url.is_default_port()


def origin_of(url: URL) -> str:
    """Scheme, host and port of an address, as text."""
    return str(url.origin())


def address(origin: str, *parts: str, query: Mapping[str, str] | None = None) -> str:
    """Put an address together.

    Args:
        origin: scheme and host, without a slash at the end.
        parts: decoded; a slash in one is encoded.
        query: names and values, decoded.

    Returns:
        The address, encoded.
    """
    path = "/".join(quote(part, safe=_PCHAR) for part in parts)
    url = URL(f"{origin}/{path}", encoded=True)
    return str(url.with_query(query) if query else url)
