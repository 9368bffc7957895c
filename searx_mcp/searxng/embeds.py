"""Addresses of players, given as such or inside the markup that older engines send for them."""

import re
from html import unescape
from typing import Final

from searx_mcp.searxng.fields import web_address

_MAX_MARKUP: Final = 4_000
"""Characters searched; the markup of a player has under 1,000."""

_SOURCE: Final = r"\b[^>]{0,500}?\bsrc=[\"']([^\"'>]{1,2000})"
_FRAME = re.compile(r"<iframe" + _SOURCE, re.IGNORECASE)
_SOUND = re.compile(r"<audio\b[^>]{0,500}>\s{0,20}<source" + _SOURCE, re.IGNORECASE)
_MEDIA = re.compile(r"<source" + _SOURCE, re.IGNORECASE)


def frame_address(value: object, markup: object) -> str | None:
    """The page to show in a frame: the address, or that of the first frame in the markup."""
    return web_address(value) or _address_in(markup, _FRAME)


def sound_address(value: object, markup: object) -> str | None:
    """The sound to play: the address, or that of the first sound in the markup."""
    return web_address(value) or _address_in(markup, _SOUND)


def media_address(value: object) -> str | None:
    """The file to play or load: an address, or, until 2025-10, markup that holds it."""
    return web_address(value) or _address_in(value, _MEDIA)


def _address_in(markup: object, source: re.Pattern[str]) -> str | None:
    if not isinstance(markup, str):
        return None
    found = source.search(markup[:_MAX_MARKUP])
    return web_address(unescape(found[1])) if found else None
