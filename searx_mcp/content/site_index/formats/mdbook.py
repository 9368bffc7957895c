"""mdBook: `searchindex.js` or `searchindex.json`, the text of every section in an elasticlunr store.

The script passes it to `Object.assign(window.search, {...})`, as a literal or through `JSON.parse('...')`.
"""

import re
from collections.abc import Iterator
from typing import Final

from searx_mcp.content.site_index.entry import (
    IndexEntry,
    IndexFormat,
    mapping,
    place,
    required,
    rows,
    string,
)
from searx_mcp.content.site_index.literals import value_after

_START = re.compile(
    r"\A\s*(?:(?:window\.search\s*=\s*)?(?:Object\.assign\(window\.search,\s*)?(?:JSON\.parse\()?)"
)

_NUMBER = re.compile(r"[0-9]{1,9}")


def read(text: str) -> Iterator[IndexEntry]:
    """Read the index: `doc_urls` by number, and `index.documentStore.docs` with the texts."""
    book = required(value_after(text, _START), "mdBook")
    urls = [*map(string, rows(book.get("doc_urls")))]
    store = mapping(mapping(book.get("index")).get("documentStore"))
    for row in rows(store.get("docs")):
        section = mapping(row)
        number = string(section.get("id"))
        at = place(int(number) if _NUMBER.fullmatch(number) else None, len(urls))
        if at is not None and urls[at]:
            above = string(section.get("breadcrumbs"))
            yield IndexEntry(
                urls[at], string(section.get("title")), f"{above} {string(section.get('body'))}"
            )


FORMAT: Final = IndexFormat("mdbook", read)
