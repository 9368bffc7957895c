"""MkDocs: `search/search_index.json`, the text of every page and of every section.

Addresses are relative to the parent folder.
"""

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
    """Read the index: `{"docs": [{"location": ..., "title": ..., "text": ...}, ...]}`."""
    for row in rows(required(value_at(text, 0), "MkDocs").get("docs")):
        page = mapping(row)
        if isinstance(page.get("location"), str):
            yield IndexEntry(
                f"../{page['location']}", string(page.get("title")), string(page.get("text"))
            )


FORMAT: Final = IndexFormat("mkdocs", read)
