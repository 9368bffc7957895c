"""`sitemap.xml`: only addresses, or addresses of further sitemaps (sitemaps.org). Titles are made from the addresses.

Only `<loc>` is searched for in the XML, so nothing is expanded and nothing is nested.
"""

import html
import re
from collections.abc import Iterator
from itertools import islice
from typing import Final
from urllib.parse import unquote, urlsplit

from searx_mcp.content.site_index.entry import MOST_ROWS, IndexEntry, IndexFile, IndexFormat, Row

_LOCATION = re.compile(r"<loc>\s*+(?:<!\[CDATA\[)?\s*+([^<\]\s]{1,2000}+)")
_ROOT = re.compile(r"<(?:\w{1,40}:)?(urlset|sitemapindex)[\s>]")
_HEAD: Final = 5_000
_WORDS = re.compile(r"[^\W_]+")
_ENDING = re.compile(r"\.(?:html?|php|aspx?|md)$", re.IGNORECASE)


def read(text: str) -> Iterator[Row]:
    """Read the addresses of pages, or of further sitemaps."""
    root = _ROOT.search(text[:_HEAD])
    if root is None:
        raise ValueError("no sitemap")
    for found in islice(_LOCATION.finditer(text), MOST_ROWS):
        address = html.unescape(found[1])
        if root[1] == "sitemapindex":
            yield IndexFile(address, _title(address), "sitemap")
        else:
            yield IndexEntry(address, _title(address), _folders(address))


def _title(address: str) -> str:
    """The last part of an address, as words."""
    *_, last = _parts(address) or [""]
    return " ".join(_WORDS.findall(_ENDING.sub("", last)))


def _folders(address: str) -> str:
    return " ".join(_WORDS.findall(" ".join(_parts(address)[:-1])))


def _parts(address: str) -> list[str]:
    try:
        path = urlsplit(address).path
    except ValueError:
        return []
    return [*filter(None, unquote(path, errors="replace").split("/"))]


FORMAT: Final = IndexFormat("sitemap", read)
