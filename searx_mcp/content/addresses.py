"""Addresses of links and images on a page: absolute, of a kind that a reader can follow, not too long."""

import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urljoin, urlsplit

from searx_mcp.content.clean import clean
from searx_mcp.urls.hosts import is_short_enough, without_userinfo

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_LINKS: Final = 1_000
"""Most links of a page that are listed; an index with more is on another page."""

_MAX_CANDIDATES: Final = 5 * MAX_LINKS

_SCHEMES: Final = frozenset({"http", "https", "mailto", "tel", "ftp"})
_WEB: Final = frozenset({"http", "https"})
MAX_CHARS: Final = 2_000
"""Longer addresses are payloads (`data:` and the like), not locations."""

_JUNK = re.compile("[\t\n\r]")
_C0_AND_SPACE: Final = "".join(map(chr, range(0x21)))

_TARGET = re.compile(
    r"\]\([ \t]*<?([^\s<>()]{1,2000}+)|^[ ]{0,3}\[[^\]\n]{1,200}\]:[ \t]*<?([^\s<>]{1,2000}+)",
    re.MULTILINE,
)
_BARE = re.compile(r"https?://[^\s<>\"'`\\^{}|\[\]()]{1,2000}+", re.IGNORECASE)
_WORDS = re.compile(r"[^\W_]+")
_SLUG: Final = 8
_TRAILING: Final = ".,;:!?*_~"

_LAZY: Final = ("data-src", "data-original", "data-lazy-src", "data-lazy", "data-url")
_LAZY_SETS: Final = ("data-srcset", "data-lazy-srcset")
_MAX_SET: Final = 10_000
_DESCRIPTOR = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)[wx]")
TINY: Final = frozenset({"0", "1", "0px", "1px"})
"""Widths and heights of what nobody is meant to see."""

MAX_RANGES: Final = 100
"""Ranges of pages that a fragment may request."""
RANGES = re.compile(r"[0-9]{1,7}(?:-[0-9]{0,7})?(?:,[0-9]{1,7}(?:-[0-9]{0,7})?)*+")
"""Pages of a PDF, as `pages_of` returns them."""
_FRAGMENT = re.compile(rf"(?:^|[#&])pages?=({RANGES.pattern})(?:&|$)")


def absolute(base: str, href: str) -> str:
    """The absolute address of a link, or empty if a reader could not follow it.

    Only http, https, mailto, tel and ftp are accepted: `javascript:`, `vbscript:`, `data:`, `blob:` and `file:` act
    on those who follow them, or name something that only the page's author has. A user name and a password are
    removed.

    Args:
        base: against which a relative address is resolved.
        href: as the page wrote it.
    """
    return _absolute(base, href, _SCHEMES)


def absolute_web(base: str, href: str) -> str:
    """Like `absolute`, for addresses that can be fetched: http and https only, with a host."""
    return _absolute(base, href, _WEB)


def slug_words(url: str) -> str:
    """The words of an address, of which the last ones are the most specific."""
    path = unquote(urlsplit(url).path, errors="replace")
    return " ".join(_WORDS.findall(path)[-_SLUG:])


def listed(addresses: Iterable[str]) -> tuple[str, ...]:
    """The first of some addresses, in order, without duplicates and empty ones."""
    found: dict[str, None] = {}
    for address in addresses:
        if address:
            found[address] = None
            if len(found) == MAX_LINKS:
                break
    return tuple(found)


def addresses_in(text: str, *, base: str, is_markdown: bool = False) -> tuple[str, ...]:
    """The web addresses that are spelled out in a text, without the targets of links that are not web pages.

    Args:
        text: plain text, data or Markdown.
        base: against which the targets of Markdown links are resolved.
        is_markdown: whether link targets count; otherwise only text that begins with http.

    Returns:
        At most `MAX_LINKS`, in order.
    """
    places = [
        (found.start(), found[0].rstrip(_TRAILING))
        for found in islice(_BARE.finditer(text), _MAX_CANDIDATES)
    ]
    if is_markdown:
        targets = islice(_TARGET.finditer(text), _MAX_CANDIDATES)
        places = sorted([*places, *((found.start(), found[1] or found[2]) for found in targets)])
    return listed(absolute_web(base, address) for _, address in places)


def image_address(image: "LexborNode", attributes: Mapping[str, str | None], base: str) -> str:
    """The address of an image, or empty if it has none or is a tracking pixel.

    For a lazy image, the address that is loaded when a reader scrolls to it.
    """
    if attributes.get("width") in TINY or attributes.get("height") in TINY:
        return ""
    stated = [attributes.get(name) for name in _LAZY]
    stated += [_largest(attributes.get(name)) for name in _LAZY_SETS]
    stated += [attributes.get("src"), _largest(attributes.get("srcset"))]
    parent = image.parent
    if parent is not None and parent.tag == "picture":
        for source in parent.css("source"):
            sets = source.attributes
            stated.append(_largest(sets.get("srcset")) or _largest(sets.get("data-srcset")))
    return next(filter(None, (absolute_web(base, text) for text in stated if text)), "")


def _absolute(base: str, href: str, schemes: frozenset[str]) -> str:
    # Browsers drop these before they read the scheme (URL Standard §4.4), so they accept `java\nscript:`.
    href = clean(_JUNK.sub("", href.strip(_C0_AND_SPACE)))
    if len(href) > MAX_CHARS:
        return ""
    try:
        address = urljoin(base, href)
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        # An invalid IPv6 address.
        return ""
    if parts.scheme not in schemes or (parts.scheme in _WEB and not parts.netloc):
        return ""
    if len(address) > MAX_CHARS or not is_short_enough(host):
        return ""
    return without_userinfo(address)


def _largest(candidates: str | None) -> str:
    """The largest image of a `srcset` (HTML §4.8.4.2); the first of equal ones."""
    best, most = "", 0.0
    url = ""
    for part in (candidates or "")[:_MAX_SET].split():
        word = part.strip(",")
        if not url:
            url = word
            size = 1.0
        elif found := _DESCRIPTOR.fullmatch(word):
            size = float(found[1])
        else:
            continue
        if size > most:
            best, most = url, size
        if part.endswith(","):
            url = ""
    return best


def pages_of(fragment: str) -> str:
    """The pages that the fragment of an address requests.

    `page` is a parameter of RFC 8118; there it names one page, and ranges are our extension.

    Args:
        fragment: as in `page=3-7,9`, with or without `#`; any string.

    Returns:
        Text such as `3-7,9`, or `3-` for all from the third; empty if no pages are requested.
    """
    found = _FRAGMENT.search(fragment.lower())
    return found[1] if found and found[1].count(",") < MAX_RANGES else ""
