"""The rules of following redirects; nothing here sends anything."""

import re
from collections.abc import Mapping

from yarl import URL

from searx_mcp.errors import (
    ErrorCode,
    InvalidArgumentError,
    PolicyError,
    RedirectError,
    TransportError,
)
from searx_mcp.urls.address import AllowList
from searx_mcp.urls.hosts import host_in, is_short_enough
from searx_mcp.urls.url import MAX_URL_LENGTH, check_url
from searx_mcp.urls.userinfo import without_userinfo

# RFC 9110, section 15.4, and RFC 7538; 300 and 304 name no target to follow.
_FOLLOWED = frozenset({301, 302, 303, 307, 308})
# What may go to another origin: nothing in it tells who the caller is or where it came from.
_CARRIED = frozenset(
    {"accept", "accept-encoding", "accept-language", "dnt", "sec-gpc", "user-agent"}
)
_RAW_BYTE = re.compile("[\udc80-\udcff]")
_DROPPED = re.compile("[\t\r\n]")  # WHATWG URL, section 4.4; yarl does likewise
_END_OF_AUTHORITY = re.compile("[/?#]")
_PATH_END = re.compile("[?#]")


def location_of(status: int, headers: Mapping[str, str]) -> str | None:
    """Return the Location of an answer that is a redirect, else `None`."""
    return (headers.get("Location") or None) if status in _FOLLOWED else None


def next_url(current: URL, location: str, *, allow: AllowList) -> URL:
    """Return the address of the next hop, judged like one that a caller gave.

    Raises:
        PolicyError: if the target may not be fetched.
        TransportError: `malformed_response`, if it is no address.
    """
    target = current
    try:
        target = join(current, location)
        if authority := _authority(location):
            # As written: yarl turns ":+80" into a port and "[v1.fe80]" into a name.
            check_url(f"{target.scheme}://{authority}", allow=allow)
        return check_url(str(target), allow=allow)
    except PolicyError as error:
        error.url = without_userinfo(str(target))  # whole, not the authority alone
        raise
    except (ValueError, InvalidArgumentError) as exc:
        raise TransportError(
            "The site redirects to something that is not a valid address.",
            code=ErrorCode.MALFORMED_RESPONSE,
            url=str(current),
            advice="Use another source.",
        ) from exc


def join(current: URL, location: str) -> URL:
    """Return the address a Location names, unjudged and without fragment.

    Raises:
        ValueError: if it is no address.
    """
    location = _text(location)
    if len(location) > MAX_URL_LENGTH or not is_short_enough(host_in(location)):
        raise ValueError("it is too long")
    if "\\" in _PATH_END.split(location, maxsplit=1)[0]:
        raise ValueError("browsers take a backslash for a slash, which may make a host of a path")
    try:
        return current.join(URL(location)).with_fragment(None)
    except IndexError as exc:  # yarl 1.25 on "//[]@"
        raise ValueError("no address") from exc


def _text(location: str) -> str:
    # Raw bytes of a header arrive as escaped surrogates (PEP 383); browsers send them as %XX.
    location = _RAW_BYTE.sub(lambda byte: f"%{ord(byte[0]) - 0xDC00:02X}", location.strip())
    location.encode()  # refuses other surrogates, which yarl would drop without a word
    return _DROPPED.sub("", location)


def _authority(location: str) -> str:
    """Return the part of a location that names a host, as written; empty if it names none."""
    text = _text(location)
    if not URL(text).raw_authority:
        return ""
    return _END_OF_AUTHORITY.split(text.partition("//")[2], maxsplit=1)[0]


def carried_headers(headers: Mapping[str, str], current: URL, target: URL) -> dict[str, str]:
    """Return the request headers for the next hop; another origin gets only harmless ones."""
    if _origin(current) == _origin(target):
        return dict(headers)
    return {name: value for name, value in headers.items() if name.lower() in _CARRIED}


def _origin(url: URL) -> tuple[str, str | None, int | None]:
    return url.scheme, url.raw_host, url.port


class Trail:
    """The hops of one fetch, in order.

    A fetch that comes to an address for the second time would go round for ever, as we keep no
    cookies that could change the answer: that is a loop.

    Attributes:
        current: the address of the hop under way.
        chain: `url -> status` of each hop that was answered.
        notes: sentences a caller should know.
        has_redirects: whether a hop has sent us on, be it to where nobody may go.
    """

    def __init__(self, start: URL, *, max_redirects: int) -> None:
        self.current = start
        self.chain: list[str] = []
        self.notes: list[str] = []
        self.has_redirects = False
        self._seen = {start}
        self._max_redirects = max_redirects

    @property
    def redirects(self) -> int:
        """How many redirects were followed."""
        return len(self._seen) - 1

    def answered(self, status: int) -> None:
        """Record the status of the hop under way."""
        self.chain.append(f"{self.current} -> {status}")

    def follow(self, target: URL) -> None:
        """Make the target the hop under way.

        Raises:
            RedirectError: `redirect_loop` or `too_many_redirects`.
        """
        if target in self._seen:
            raise RedirectError(
                "The site redirects in a circle.",
                code=ErrorCode.REDIRECT_LOOP,
                url=str(target),
                advice="The page may need cookies or a login; use another source.",
            )
        if self.redirects >= self._max_redirects:
            raise RedirectError(
                f"The site redirects more than {self._max_redirects} times.",
                code=ErrorCode.TOO_MANY_REDIRECTS,
                url=str(self.current),
                advice="Use another source.",
            )
        if self.current.scheme == "https" and target.scheme == "http":
            self.notes.append("A redirect left https for http.")
        self._seen.add(target)
        self.current = target
