"""Players and embedded posts, as links to what they show; images that wait behind `noscript`."""

import re
from typing import Final
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.clean import clean_line
from searx_mcp.content.normalize.elements import (
    ancestors,
    carry,
    few,
    has_text,
    is_attached,
    is_hidden,
    neighbour,
    new,
    put_in_place,
)
from searx_mcp.content.normalize.player_addresses import page_of

PLAYERS: Final = "iframe,embed,object,video,audio,lite-youtube,amp-youtube,lite-vimeo"
"""Elements that play or show something from elsewhere."""

SNIPPETS: Final = 'script[src*="//gist.github.com/"]'
"""Scripts that write what they are named after into the page."""

_SOURCES: Final = ("src", "data-src", "data-lazy-src", "data-litespeed-src", "data-cmp-src", "data")
_TINY: Final = frozenset({"0", "1", "0px", "1px"})
_TITLE_CHARS: Final = 200
_GENERIC = re.compile(
    r"(?:youtube|vimeo)? ?(?:video )?(?:player|embed|iframe|video|audio)|embedded (?:content|video|post)",
    re.IGNORECASE,
)
"""Titles that players have before anyone gives them one."""

_PLACEHOLDER = re.compile(
    r"\Adata:|/(?:blank|spacer|pixel|placeholder|loading|lazy|1x1|transparent)\b"
)
_LAZY: Final = ("data-src", "data-lazy-src", "data-original", "data-srcset", "data-lazy-srcset")
_COPIED: Final = ("src", "srcset", "alt", "sizes")
_MAX_PLAYERS: Final = 2_000


def standardise_players(tree: LexborHTMLParser) -> None:
    """Put a link in the place of every player whose page is known, and of videos and sounds."""
    for player in tree.css(PLAYERS)[:_MAX_PLAYERS]:
        if is_attached(player) and not _is_unseen(player):
            if player.tag in {"video", "audio"}:
                _media(tree, player)
            else:
                _embedded(tree, player)
    for script in tree.css(SNIPPETS)[:_MAX_PLAYERS]:
        if found := page_of(script.attributes.get("src") or ""):
            put_in_place(script, new(tree, "a", found[1], href=found[0]))


def show_lazy_images(tree: LexborHTMLParser) -> None:
    """Give an image that waits for a script the address that stands behind it for readers without."""
    for fallback in tree.css("noscript")[:_MAX_PLAYERS]:
        image = fallback.css_first("img[src]")
        if image is None or len(few(fallback, 8)) != 1 or has_text(fallback):
            continue
        for forward in (False, True):
            beside = neighbour(fallback, forward=forward)
            waiting = _waiting(beside)
            if waiting is not None:
                _show(waiting, image)
                break


def _waiting(beside: LexborNode | None) -> LexborNode | None:
    """The image of an element that has no address of its own yet."""
    if beside is None or not beside.is_element_node:
        return None
    images = [beside] if beside.tag == "img" else beside.css("img")
    if len(images) != 1:
        return None
    attributes = images[0].attributes
    address = attributes.get("src") or ""
    if any(attributes.get(name) for name in _LAZY) or (
        address and not _PLACEHOLDER.search(address)
    ):
        return None
    return images[0]


def _show(waiting: LexborNode, image: LexborNode) -> None:
    attributes = image.attributes
    for name in _COPIED:
        value = attributes.get(name)
        if value and (name != "alt" or not waiting.attributes.get("alt")):
            waiting.attrs[name] = value


def _is_unseen(player: LexborNode) -> bool:
    """Whether a player is there to count visitors or to talk to a script."""
    attributes = player.attributes
    return (
        attributes.get("width") in _TINY or attributes.get("height") in _TINY or is_hidden(player)
    )


def _embedded(tree: LexborHTMLParser, player: LexborNode) -> None:
    attributes = player.attributes
    known = attributes.get("videoid") or attributes.get("data-videoid")
    addresses = [attributes.get(name) or "" for name in _SOURCES]
    if known:
        host = "player.vimeo.com/video" if player.tag == "lite-vimeo" else "www.youtube.com/embed"
        addresses.insert(0, f"https://{host}/{known}")
    if player.tag == "object":
        addresses += [child.attributes.get("src") or "" for child in player.css("embed,iframe")[:1]]
    for address in addresses:
        if address and (found := page_of(address.strip())):
            _link(tree, player, found[0], found[1])
            return
    if player.tag in {"object", "embed"} and attributes.get("type") == "application/pdf":
        address = addresses[-1] or addresses[0] or attributes.get("data") or ""
        if address := next(filter(None, addresses), ""):
            _link(tree, player, address, _file_name(address))


def _media(tree: LexborHTMLParser, media: LexborNode) -> None:
    """A video or sound that the page itself plays."""
    sources = [media, *media.css("source")]
    addresses = [
        source.attributes.get("src") or source.attributes.get("data-src") for source in sources
    ]
    address = next((text.strip() for text in addresses if text and _is_file(text)), "")
    if address:
        kind = "Video" if media.tag == "video" else "Audio"
        name = _file_name(address)
        _link(tree, media, address, f"{kind}: {name}" if name else kind)


def _is_file(address: str) -> bool:
    return not address.strip().lower().startswith(("blob:", "data:", "javascript:", "about:"))


def _file_name(address: str) -> str:
    path = address.partition("?")[0].partition("#")[0]
    return clean_line(unquote(path.rstrip("/").rpartition("/")[2]), _TITLE_CHARS)


def _link(tree: LexborHTMLParser, player: LexborNode, address: str, label: str) -> None:
    """Put a link in the place of a player, with its title if it has one."""
    attributes = player.attributes
    titles = (attributes.get(name) for name in ("title", "aria-label", "playlabel", "data-title"))
    title = next((text for text in titles if text and text.strip()), "")
    title = clean_line(title, _TITLE_CHARS)
    if not title or _GENERIC.fullmatch(title):
        title = label
    link = new(tree, "a", title, href=address)
    carry(player, link)
    put_in_place(player, link)
    for around in ancestors(link, 1):
        if around.tag == "a":
            around.unwrap()
