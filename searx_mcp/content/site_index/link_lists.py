"""Lists of the addresses of a site: `llms.txt` and `sitemap.xml`."""

import html
import re
from collections.abc import Iterator
from itertools import islice
from typing import Final
from urllib.parse import unquote, urlsplit

from searx_mcp.content.site_index.entry import MOST_ROWS, IndexEntry, IndexFile, IndexFormat, Row

_LINE = re.compile(
    r"^(?:#{1,6}[ \t]+(?P<heading>[^\n]{1,300}+)"
    r"|[ \t]*[-*+][ \t]+\[(?P<title>[^\]\n]{1,300}+)\]\((?P<address>[^)\s]{1,2000}+)\)(?P<words>[^\n]{0,1000}+))",
    re.MULTILINE,
)


def _of_llms_txt(text: str) -> Iterator[IndexEntry]:
    """Read pages chosen for language models: Markdown lists of links with a sentence on each (llmstxt.org).

    Each link gets the heading above.
    """
    if not text.lstrip().startswith("#") or "](" not in text:
        raise ValueError("no list of links in Markdown")
    above = ""
    for found in islice(_LINE.finditer(text), MOST_ROWS):
        if found["heading"]:
            above = found["heading"]
        else:
            yield IndexEntry(
                found["address"], found["title"], f"{above} {found['words'].lstrip(': ')}"
            )


LLMS_TXT: Final = IndexFormat("llms.txt", _of_llms_txt)


_LOCATION = re.compile(r"<loc>\s*+(?:<!\[CDATA\[)?\s*+([^<\]\s]{1,2000}+)")
_ROOT = re.compile(r"<(?:\w{1,40}:)?(urlset|sitemapindex)[\s>]")
_HEAD: Final = 5_000
_WORDS = re.compile(r"[^\W_]+")
_ENDING = re.compile(r"\.(?:html?|php|aspx?|md)$", re.IGNORECASE)


def _of_sitemap(text: str) -> Iterator[Row]:
    """Read the addresses of pages, or of further sitemaps (sitemaps.org); titles are made from the addresses.

    Only `<loc>` is searched for in the XML, so nothing is expanded and nothing is nested.
    """
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


SITEMAP: Final = IndexFormat("sitemap", _of_sitemap)
