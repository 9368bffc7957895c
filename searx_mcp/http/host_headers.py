"""Request headers that the operator adds for single sites, such as an intranet wiki's key.

They are bound to an origin, not a name, so that a redirect from https to http does not send them in the clear.
Error messages never show a value.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, SecretStr

from searx_mcp.models.base import refusal

KEY: Final = "fetch.headers"

_MAX_HEADERS: Final = 20
_MAX_VALUE: Final = 4_096
"""Characters; servers usually accept 8 kB of headers in total."""
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}")
"""A token of RFC 9110, section 5.6.2."""
_VALUE: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?")
_OURS: Final = frozenset(
    {
        "accept-encoding", "connection", "content-encoding", "content-length", "content-type",
        "expect", "host", "if-match", "if-modified-since", "if-none-match", "if-range",
        "if-unmodified-since", "keep-alive", "proxy-authenticate", "proxy-authorization",
        "proxy-connection", "range", "te", "trailer", "transfer-encoding", "upgrade",
    }
)  # fmt: skip
"""Hop-by-hop headers (RFC 9110, section 7.6.1), and those that control how the answer is encoded."""
_HOST: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]{0,252}[a-z0-9_])?|[0-9a-f:.]+:[0-9a-f:.]*")
_PRINTABLE: Final = re.compile(r"[\x21-\x7e]+")
_PORTS: Final = {"http": 80, "https": 443}

Given = dict[str, dict[str, SecretStr]]


def _checked(given: Given) -> Given:
    found: Given = {}
    for written, headers in given.items():
        origin = _origin(written)
        if origin in found:
            raise refusal(KEY, f"there are two tables for {origin}: keep one")
        if len(headers) > _MAX_HEADERS:
            raise refusal(KEY, f"{origin} has {len(headers)} headers; at most {_MAX_HEADERS}")
        names = [name.lower() for name in headers]
        if len(set(names)) < len(names):
            raise refusal(KEY, f"a header of {origin} appears twice: keep one")
        for name, value in headers.items():
            _check(origin, name, value)
        found[origin] = headers
    return found


def _origin(written: str) -> str:
    """Parse a host, perhaps with a port, as its https origin; http must be written out."""
    text = written if "://" in written else f"https://{written}"
    try:
        parts = urlsplit(text)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError as error:
        raise refusal(KEY, _NO_HOST) from error
    is_bare = text.count("/") == 2 + (parts.path == "/") and not (parts.query or parts.fragment)
    is_clean = _PRINTABLE.fullmatch(text) and "@" not in text  # urlsplit drops line breaks
    if not (is_clean and is_bare and parts.scheme in _PORTS and _HOST.fullmatch(host)):
        raise refusal(KEY, _NO_HOST)
    authority = f"[{host}]" if ":" in host else host
    if port is not None and port != _PORTS[parts.scheme]:
        authority = f"{authority}:{port}"
    return f"{parts.scheme}://{authority}"


_NO_HOST: Final = (
    "its tables are named after a host, such as wiki.example.org or wiki.example.org:8443, or"
    " http://wiki.internal for one without https; international names in ASCII"
)


def _check(origin: str, name: str, value: SecretStr) -> None:
    if not _NAME.fullmatch(name):
        raise refusal(KEY, f"{origin} has a name that no header can have")
    if name.lower() in _OURS:
        raise refusal(KEY, f"{name} of {origin} belongs to the connection and cannot be set")
    text = value.get_secret_value()
    if len(text) > _MAX_VALUE or not _VALUE.fullmatch(text):
        raise refusal(
            KEY, f"{name} of {origin} is not one line of 1 to {_MAX_VALUE:,} ASCII characters"
        )


HostHeaders = Annotated[Given, AfterValidator(_checked)]
"""Headers by origin, as `https://host:port` without a default port."""


def with_own(
    headers: Mapping[str, str], origin: str, own: Mapping[str, Mapping[str, SecretStr]]
) -> dict[str, str]:
    """Return the headers for a request to an origin; the operator's replace those of the same name."""
    added = own.get(origin, {})
    names = {name.lower() for name in added}
    kept = {name: value for name, value in headers.items() if name.lower() not in names}
    return kept | {name: value.get_secret_value() for name, value in added.items()}
