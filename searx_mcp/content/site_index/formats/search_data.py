"""Files of JSON with the sections of every page: MkDocs and Just the Docs."""

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


def _of_mkdocs(text: str) -> Iterator[IndexEntry]:
    """Read `search/search_index.json`, `{"docs": [{"location": ..., "title": ..., "text": ...}, ...]}`.

    Addresses are relative to the parent folder.
    """
    for row in rows(required(value_at(text, 0), "MkDocs").get("docs")):
        page = mapping(row)
        if isinstance(page.get("location"), str):
            yield IndexEntry(
                f"../{page['location']}", string(page.get("title")), string(page.get("text"))
            )


def _of_just_the_docs(text: str) -> Iterator[IndexEntry]:
    """Read `assets/js/search-data.json`, sections by number.

    `url` begins at the root of the host, and `doc` is the page of a section.
    """
    for row in rows(required(value_at(text, 0), "Just the Docs")):
        section = mapping(row)
        if address := string(section.get("url")):
            page, title = string(section.get("doc")), string(section.get("title"))
            yield IndexEntry(address, title or page, f"{page} {string(section.get('content'))}")


MKDOCS: Final = IndexFormat("mkdocs", _of_mkdocs)
JUST_THE_DOCS: Final = IndexFormat("just-the-docs", _of_just_the_docs)
