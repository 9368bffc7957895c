"""Values as an instance sent them, made into fields of the models.

An instance relays what engines relay from strangers, in types that changed over the years. Nothing
is believed: a function here takes any object and gives a clean, bounded value or nothing.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final
from urllib.parse import parse_qs, quote, urljoin, urlsplit

from searx_mcp.content.clean import clean, clean_line
from searx_mcp.models.hits import Hit, Image
from searx_mcp.models.request import MAX_URL_LENGTH

MAX_ROWS: Final = 500
"""Rows read of one page; the largest page measured had 98."""
MAX_TITLE: Final = 500
MAX_DESCRIPTION: Final = 2_000
MAX_NAME: Final = 100
MAX_NAMES: Final = 100

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SPACE = re.compile(r"\s")
_NOT_A_HOST = re.compile(r"[\s%<>\"\\^`{|}]")
_YEAR = re.compile(r"[0-9]{4}")
_TEMPLATE = re.compile(r"[a-z][a-z_-]{0,39}")
_DATE_LENGTH = len("2026-02-01")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One result row, the same for both formats; every field is whatever the instance sent."""

    url: object = None
    title: object = None
    description: object = None
    engines: Iterable[object] = ()
    published: object = None
    thumbnail: object = None
    category: object = None
    template: object = None
    author: object = None
    image_url: object = None
    resolution: object = None
    image_format: object = None
    source: object = None

    def to_hit(self, *, position: int, base_url: str) -> Hit | None:
        """Make a hit of the row.

        Args:
            position: the row's 1-based place in the list.
            base_url: the instance, for addresses that point into it.

        Returns:
            `None` if the row has no usable address.
        """
        template = row_template(self.template)
        image = self._image(base_url) if template == "images" else None
        url = web_address(self.url) or (image.url if image else None)
        if url is None:
            return None
        return Hit(
            url=url,
            # Engines find images without any title; the address tells more than nothing.
            title=line(self.title, MAX_TITLE) or line(url.partition("://")[2], MAX_TITLE),
            description=line(self.description, MAX_DESCRIPTION),
            engines=tuple(sorted(lines(self.engines))),
            position=position,
            published_at=instant(self.published),
            thumbnail=image_address(self.thumbnail, base_url),
            category=line(self.category, MAX_NAME),
            template=template,
            author=line(self.author, MAX_NAME),
            image=image,
        )

    def _image(self, base_url: str) -> Image | None:
        url = image_address(self.image_url, base_url)
        if url is None:
            return None
        return Image(
            url=url,
            resolution=line(self.resolution, MAX_NAME),
            format=line(self.image_format, MAX_NAME),
            source=line(self.source, MAX_NAME),
        )


def line(value: object, max_chars: int) -> str:
    """One clean line of at most `max_chars`; empty for anything but a string."""
    return clean_line(value, max_chars) if isinstance(value, str) else ""


def lines(values: object, *, max_chars: int = MAX_NAME) -> tuple[str, ...]:
    """The distinct clean lines of a collection, in its order; empty for anything else."""
    if isinstance(values, str | bytes | dict) or not isinstance(values, Iterable):
        return ()
    cleaned = (line(value, max_chars) for value in values)
    return tuple(dict.fromkeys(text for text in cleaned if text))[:MAX_NAMES]


def web_address(value: object) -> str | None:
    """An absolute http or https address, or `None`.

    Spaces of any kind are percent-encoded as browsers do (WHATWG URL, path state). An address that holds
    controls or invisible characters is refused: without them it would lead somewhere else.
    """
    if not isinstance(value, str) or len(value) > MAX_URL_LENGTH:
        return None
    url = value.strip(" \t\r\n")
    if _CONTROLS.search(url) or clean(url) != url:
        return None
    url = _SPACE.sub(lambda space: quote(space[0]), url)
    if len(url) > MAX_URL_LENGTH:
        return None
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or not host or _NOT_A_HOST.search(host):
        return None
    return url


def image_address(value: object, base_url: str) -> str | None:
    """The absolute address of an image, behind the instance's own image proxy too.

    An instance that proxies images links `/image_proxy?url=<original>&h=<hmac>`; the proxy's
    address is of use to nobody but the instance's own pages, so the original is given.
    """
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_URL_LENGTH:
        return None
    try:
        url = urljoin(base_url, value.strip())
        parts = urlsplit(url)
        if parts.path.endswith("/image_proxy"):
            url = parse_qs(parts.query, max_num_fields=10).get("url", [url])[0]
    except ValueError:
        return None
    return web_address(url)


def instant(value: object) -> str | None:
    """An ISO 8601 date, date and time, or year; `None` for what is written in words.

    Engines give times with and without an offset; neither is guessed.
    """
    text = line(value, MAX_NAME)
    if _YEAR.fullmatch(text):
        return text
    try:
        if len(text) == _DATE_LENGTH:
            return date.fromisoformat(text).isoformat()
        return datetime.fromisoformat(text).isoformat()
    except ValueError:
        return None


def row_template(value: object) -> str:
    """SearXNG's row type without suffix, under its current name; `default` if unknown."""
    name = line(value, MAX_NAME).removesuffix(".html")
    if name == "key-value":
        return "keyvalue"
    return name if _TEMPLATE.fullmatch(name) else "default"
