"""A worker job for indexes: turns bytes into a document whose links are the pages that the index lists."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from searx_mcp.content.addresses import absolute_web
from searx_mcp.content.clean import clean_line
from searx_mcp.content.decode import decode
from searx_mcp.content.document import Document, to_frame
from searx_mcp.content.listed_feed import plain_text
from searx_mcp.content.site_index.discovery import FORMATS
from searx_mcp.content.site_index.entry import (
    MOST_ENTRIES,
    MOST_ROWS,
    IndexEntry,
    IndexFile,
    Row,
    is_same_site,
)
from searx_mcp.errors import ContentError, ErrorCode
from searx_mcp.models.page import PageLink, SiteIndex

_MOST_PARTS: Final = 500
_TITLE_CHARS: Final = 200
_WORDS_CHARS: Final = 7_000
_ALL_CHARS: Final = 4_000_000
"""Characters of all words together, which are stored for an index and read again for each question."""


def index_job(body: bytes, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Read an index.

    Args:
        body: of the file.
        options: `format`, a name of `FORMATS`; `url` of the file.

    Returns:
        A document without text, as `document.to_frame` writes it.

    Raises:
        ContentError: `extraction_failed`; it is not an index of this format, or lists no page of its own site.
    """
    url = options["url"]
    form = FORMATS[options["format"]]
    text = body.decode("latin-1") if form.is_packed else decode(body, charset="utf-8")[0]
    try:
        links, parts = _listed(form.read(text), url)
    except (ValueError, RecursionError) as exc:
        raise _unreadable(url) from exc
    if not links and not parts:
        raise _unreadable(url)
    return to_frame(Document(markdown="", word_count=0, links=tuple(links), indexes=tuple(parts)))


def _listed(rows: Iterable[Row], url: str) -> tuple[list[PageLink], list[SiteIndex]]:
    links: list[PageLink] = []
    parts: list[SiteIndex] = []
    left = _ALL_CHARS
    for at, row in enumerate(rows):
        if at == MOST_ROWS or len(links) == MOST_ENTRIES or len(parts) == _MOST_PARTS:
            break
        address = absolute_web(url, row.address)
        if not address or not is_same_site(address, url):
            continue
        match row:
            case IndexFile(label=label, format=form):
                parts.append(SiteIndex(format=form, url=address, label=_line(label, _TITLE_CHARS)))
            case IndexEntry(title=title, words=words):
                said = _line(words, max(1, min(left, _WORDS_CHARS)))
                left -= len(said)
                links.append(PageLink(url=address, text=_line(title, _TITLE_CHARS), context=said))
    return links, parts


def _line(text: str, most: int) -> str:
    """Untrusted text on one clean line, without its markup."""
    text = text[: 4 * most]
    return plain_text(text, most) if "<" in text or "&" in text else clean_line(text, most)


def _unreadable(url: str) -> ContentError:
    return ContentError(
        "The index of the site cannot be read", code=ErrorCode.EXTRACTION_FAILED, url=url
    )
