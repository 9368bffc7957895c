"""Formulas that are images: the source stands in their words, or in the address that draws them."""

import re
from typing import Final
from urllib.parse import unquote_plus

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.normalize.elements import ancestors, classes, is_alone
from searx_mcp.content.normalize.math.formulas import carried
from searx_mcp.content.normalize.math.tex import MAX_TEX, cleaned, is_tex

IMAGES: Final = 'img:is([alt*="\\\\"],[alt*="_{"],[alt*="^{"],[src*="%5C"],[src*="%5c"],.latex,.tex,[class*="mwe-math"])'
"""Images that may be formulas. Written so that other elements fail by their tag, in a third of the time."""

_MARKED: Final = frozenset({"latex", "tex", "ql-img-inline-formula", "ql-img-displayed-equation"})
_PARAMETER = re.compile(r"[?&](?:latex|tex|chl|eq|equation|formula|math|f)=([^&#]*)", re.IGNORECASE)
_PREFIX = re.compile(
    r"\A(?:\\(?:dpi|bg_[a-z]+|fn_[a-z]+|inline|large|Large|small|huge)\b(?:\{\w*\})?\s*)+"
)
"""How a drawing service is told its size and colours."""

_BLOCKS: Final = frozenset({"p", "div", "dd", "figure", "center", "td"})
_MAX_IMAGES: Final = 20_000


def standardise_images(tree: LexborHTMLParser) -> None:
    """Put the source in the place of every image of a formula; one that stands alone is a block."""
    for image in tree.css(IMAGES)[:_MAX_IMAGES]:
        tex = _source(image)
        if tex:
            is_block = _is_block(image)
            carried(tree, image, cleaned(tex, is_block=is_block), is_block=is_block)


def _source(image: LexborNode) -> str:
    attributes = image.attributes
    alt = (attributes.get("alt") or "").strip()
    words = classes(image)
    is_marked = not _MARKED.isdisjoint(words) or any("mwe-math" in word for word in words)
    if alt and len(alt) <= MAX_TEX and (is_marked or is_tex(alt)):
        return alt
    return _of_address(attributes.get("src") or "")


def _of_address(address: str) -> str:
    """The source in an address: a parameter, the whole query, or the last part of the path."""
    if len(address) > 3 * MAX_TEX or address.startswith("data:"):
        return ""
    if match := _PARAMETER.search(address):
        candidate = match[1]
    else:
        path, _, query = address.partition("?")
        candidate = query or path.rpartition("/")[2]
    text = _PREFIX.sub("", unquote_plus(candidate)).strip()
    return text if is_tex(text) else ""


def _is_block(image: LexborNode) -> bool:
    if any("display" in word for word in classes(image)):
        return True
    node = image
    for around in ancestors(image, 3):
        if not is_alone(node):
            return False
        if around.tag in _BLOCKS:
            return around.tag != "td"
        node = around
    return False
