"""Just the Docs: `assets/js/search-data.json`, the sections of every page by number."""

from collections.abc import Iterator
from typing import Final

from searx_mcp.content.site_index.entry import (
    IndexEntry,
    IndexFormat,
    mapping,
    required,
    rows,
    string,
)
from searx_mcp.content.site_index.literals import value_at


def read(text: str) -> Iterator[IndexEntry]:
    """Read the index; `url` begins at the root of the host, and `doc` is the page of a section."""
    for row in rows(required(value_at(text, 0), "Just the Docs")):
        section = mapping(row)
        if address := string(section.get("url")):
            page, title = string(section.get("doc")), string(section.get("title"))
            yield IndexEntry(address, title or page, f"{page} {string(section.get('content'))}")


FORMAT: Final = IndexFormat("just-the-docs", read)
