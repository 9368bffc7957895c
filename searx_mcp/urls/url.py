"""Which URLs may be fetched: the first layer of the guard, before a name is resolved."""

import re
from typing import Final

import idna
from yarl import URL

from searx_mcp.errors import ErrorCode, InvalidArgumentError, PolicyError
from searx_mcp.models.coercion import MAX_URL_LENGTH
from searx_mcp.urls.address import AllowList, effective_address, why_blocked
from searx_mcp.urls.hosts import (
    WEB_PORTS,
    host_in,
    is_host_name,
    is_onion,
    is_public_name,
    is_short_enough,
    without_userinfo,
)

# Characters on which parsers disagree (Orange Tsai, "A New Era of SSRF", 2017).
_AMBIGUOUS: Final = re.compile("[\x00-\x20\x7f\\\\\ud800-\udfff]")
# The authority of RFC 3986 3.2 without userinfo. yarl alone would accept ":+80" and ":8_0" as ports,
# drop an empty user name, and convert the IPvFuture "[v1.fe80]" to a host name.
_AUTHORITY: Final = re.compile(
    r"[a-z]+://(\[[0-9a-f.]*:[^\[\]/?#@]*\]|[^\[\]:/?#@]+)(?::[0-9]*)?(?=[/?#]|$)", re.IGNORECASE
)


def check_url(raw: str, *, allow: AllowList, onion: bool = False) -> URL:
    """Parse a URL and refuse one that must not be fetched, without resolving its name.

    Idempotent: checking the result again returns the same.

    Args:
        raw: an absolute URL of at most 4,096 characters.
        allow: hosts and ports for which the operator has lifted the guard; for these, only scheme and form
            are checked, not port, name or address.
        onion: whether Tor services are allowed, because a proxy can reach them.

    Returns:
        The URL to request, host in IDNA form, without its fragment.

    Raises:
        InvalidArgumentError: it is malformed, too long, or carries credentials.
        PolicyError: `blocked_scheme`, `blocked_port` or `blocked_address`.
    """
    url = parse_url(raw)
    # Neither is None here; an empty host and port 0 are refused below.
    host, port = url.raw_host or "", url.port or 0
    if allow.permits(host, port):
        return url
    if port not in WEB_PORTS:
        raise PolicyError(
            f"Port {port} is not allowed.",
            code=ErrorCode.BLOCKED_PORT,
            url=raw,
            advice="Use port 80, 443, 8080 or 8443.",
        )
    if effective_address(host) is None and "%" not in host and ":" not in host:
        if not is_host_name(host):
            raise InvalidArgumentError("url", "has an invalid host name")
        is_public = is_public_name(host) or (onion and is_onion(host))
    else:
        is_public = why_blocked(host, port, allow) is None
    if not is_public:
        raise refused_address(raw)
    return url


def parse_url(raw: str) -> URL:
    """Parse the URL of a page, wherever it leads.

    Args:
        raw: an absolute URL of at most 4,096 characters.

    Raises:
        InvalidArgumentError: it is malformed, too long, or carries credentials.
        PolicyError: `blocked_scheme`.
    """
    if len(raw) > MAX_URL_LENGTH:
        raise InvalidArgumentError("url", f"is longer than {MAX_URL_LENGTH} characters")
    if _AMBIGUOUS.search(raw):
        raise InvalidArgumentError(
            "url", "contains a space, a control character, a backslash or a lone surrogate"
        )
    try:
        url = _read(raw)
        # yarl parses parts of the authority lazily.
        length = len(str(url))
    except (ValueError, IndexError) as exc:  # IndexError: yarl 1.25 on "http://[]@"
        raise InvalidArgumentError("url", "is not a valid URL") from exc
    if not url.scheme:
        raise InvalidArgumentError("url", "must start with http:// or https://")
    if url.scheme not in {"http", "https"}:
        raise PolicyError(
            "Only http and https addresses can be fetched.",
            code=ErrorCode.BLOCKED_SCHEME,
            url=without_userinfo(raw),
        )
    if "@" in url.raw_authority:
        raise InvalidArgumentError("url", "must not carry a user name or password")
    authority = _AUTHORITY.match(raw)
    if authority is None:
        raise InvalidArgumentError("url", "is not a valid URL")
    if not _means_one_name(authority[1]):
        raise InvalidArgumentError("url", "has an invalid host name")
    if length > MAX_URL_LENGTH:
        raise InvalidArgumentError("url", f"is longer than {MAX_URL_LENGTH} characters")
    return url


def _read(raw: str) -> URL:
    if not is_short_enough(host_in(raw)):
        raise ValueError("the host is too long to be converted")
    return URL(raw).with_fragment(None)


def _means_one_name(host: str) -> bool:
    """Return whether a host is a name of IDNA 2008 (RFC 5891) after the mapping of UTS 46.

    For others yarl falls back to IDNA 2003, which differs from browsers: in `☃.straße.example` it replaces ß
    by ss, and in `☃.EXAMPLE.org` it keeps the capitals.
    """
    if host.isascii():
        return True
    try:
        idna.encode(host, uts46=True)
    except UnicodeError:
        return False
    return True


def refused_address(url: str) -> PolicyError:
    """Make the one error for every forbidden address, whatever it is and however it was found.

    It must not distinguish addresses, or fetching would map the internal network.
    """
    return PolicyError(
        "The address is not on the public web and may not be fetched.",
        code=ErrorCode.BLOCKED_ADDRESS,
        url=url,
        advice="Fetch a public page; the operator may list a private one in fetch.allow_private.",
    )
