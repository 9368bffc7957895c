"""Where the main content leads to: links, and images that are never fetched."""

import re
from typing import Final

from selectolax.lexbor import LexborNode

from searx_mcp.content.addresses import absolute, absolute_web, listed
from searx_mcp.content.clean import clean_line
from searx_mcp.models.page import PageImage

_MAX_IMAGES: Final = 50
_ALT_CHARS: Final = 300
_LAZY: Final = ("data-src", "data-original", "data-lazy-src", "data-lazy", "data-url")
_LAZY_SETS: Final = ("data-srcset", "data-lazy-srcset")
_MAX_SET: Final = 10_000
_DESCRIPTOR = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)[wx]")
_TINY: Final = frozenset({"0", "1", "0px", "1px"})


def resolve_links(root: LexborNode, base: str) -> tuple[str, ...]:
    """Make links absolute; one that leads nowhere safe loses its address and stays as text.

    Args:
        root: the content; it is changed.
        base: against which addresses are resolved.

    Returns:
        The web addresses, in order, each once; without those of the page itself.
    """
    here = base.partition("#")[0]
    found = []
    for link in root.css("a,area"):
        href = link.attributes.get("href")
        if href is None:
            continue
        address = absolute(base, href)
        if not address:
            del link.attrs["href"]
            continue
        link.attrs["href"] = address
        if address.partition("#")[0] != here and (web := absolute_web(base, address)):
            found.append(web)
    return listed(found)


def images_of(root: LexborNode, base: str) -> tuple[PageImage, ...]:
    """The images of the content, in order, each address once; without those that count visitors.

    An image that is loaded when a reader scrolls to it is listed by the address it will have.
    """
    found: dict[str, str] = {}
    for image in root.css("img"):
        attributes = image.attributes
        if attributes.get("width") in _TINY or attributes.get("height") in _TINY:
            continue
        address = _address(image, attributes, base)
        if address:
            alt = clean_line(attributes.get("alt") or "", _ALT_CHARS)
            found[address] = found.get(address) or alt
        if len(found) == _MAX_IMAGES:
            break
    return tuple(PageImage(url=url, alt=alt) for url, alt in found.items())


def describe_images(root: LexborNode) -> None:
    """Put words in the place of images, or nothing where there are none."""
    for image in root.css("img"):
        alt = " ".join((image.attributes.get("alt") or "").split())
        alt = alt.translate({0x5B: "(", 0x5D: ")"})
        if alt:
            image.replace_with(f"[image: {alt[:_ALT_CHARS]}]")
        else:
            image.decompose()


def _address(image: LexborNode, attributes: dict[str, str | None], base: str) -> str:
    stated = [attributes.get(name) for name in _LAZY]
    stated += [_largest(attributes.get(name)) for name in _LAZY_SETS]
    stated += [attributes.get("src"), _largest(attributes.get("srcset"))]
    parent = image.parent
    if parent is not None and parent.tag == "picture":
        for source in parent.css("source"):
            sets = source.attributes
            stated.append(_largest(sets.get("srcset")) or _largest(sets.get("data-srcset")))
    return next(filter(None, (absolute_web(base, text) for text in stated if text)), "")


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
