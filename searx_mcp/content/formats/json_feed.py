"""JSON Feed 1.0 and 1.1 as entries."""

import json
from collections.abc import Mapping
from typing import Any, Final

from searx_mcp.content.formats.feed import MAX_ENTRIES, Entry, Feed

_VERSION: Final = "jsonfeed.org/version/"
_MAX_AUTHORS: Final = 5


def json_feed(text: str) -> Feed | None:
    """Read a feed, or return `None` for JSON that is none.

    Args:
        text: a decoded body.
    """
    if _VERSION not in text:
        return None
    try:
        feed = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(feed, dict) or _VERSION not in _text(feed, "version"):
        return None
    items = feed.get("items")
    entries = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    return Feed(
        title=_text(feed, "title"),
        description=_text(feed, "description"),
        link=_text(feed, "home_page_url"),
        author=_authors(feed),
        language=_text(feed, "language"),
        updated="",
        entries=tuple(_entry(item) for item in entries[:MAX_ENTRIES]),
        count=len(entries),
    )


def _entry(item: Mapping[str, Any]) -> Entry:
    plain = _text(item, "summary", "content_text")
    return Entry(
        title=_text(item, "title"),
        link=_text(item, "url", "external_url"),
        date=_text(item, "date_published", "date_modified"),
        author=_authors(item),
        html=plain.replace("&", "&amp;").replace("<", "&lt;") or _text(item, "content_html"),
    )


def _authors(item: Mapping[str, Any]) -> str:
    authors = item.get("authors") or item.get("author")
    people = authors if isinstance(authors, list) else [authors]
    names = (_text(person, "name") for person in people[:_MAX_AUTHORS] if isinstance(person, dict))
    return ", ".join(filter(None, names))


def _text(item: Mapping[str, Any], *names: str) -> str:
    return next((value for name in names if isinstance(value := item.get(name), str) and value), "")
