"""Docusaurus: the indexes of its plugins for local search; without a plugin, its search needs an external service.

Three plugins are common. `search-index.json` of one is a list of indexes with `documents` of `t` (title), `u`
(address), `b` (headings above); that of another is one index with `documents` of `pageTitle`, `sectionTitle` and
`sectionRoute`; `search-doc.json` of the third has `searchDocs` of `title`, `url` and `content`.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from searx_mcp.content.site_index.entry import IndexEntry, IndexFormat, mapping, rows, string
from searx_mcp.content.site_index.literals import value_at


def read(text: str) -> Iterator[IndexEntry]:
    """Read the index of any of the three; addresses begin at the root of the host."""
    value = value_at(text.lstrip(), 0)
    lists = rows(value) if isinstance(value, list) else iter((value,))
    is_one = False
    for each in lists:
        index = mapping(each)
        documents = index.get("documents", index.get("searchDocs"))
        is_one = is_one or isinstance(documents, list)
        for row in rows(documents):
            entry = _entry(row)
            if entry.address:
                yield entry
    if not is_one:
        raise ValueError("no index of Docusaurus")


def _entry(row: object) -> IndexEntry:
    page = mapping(row)
    above = " ".join(map(string, rows(page.get("b"))))
    address = _first(page, "u", "sectionRoute", "url")
    anchor = string(page.get("h"))
    if anchor.startswith("#"):
        address += anchor
    words = (above, _first(page, "pageTitle", "content"), _first(page, "s", "keywords"))
    return IndexEntry(
        address, _first(page, "t", "sectionTitle", "title"), " ".join(filter(None, words))
    )


def _first(page: Mapping[str, object], *names: str) -> str:
    return next((text for name in names if (text := string(page.get(name)))), "")


FORMAT: Final = IndexFormat("docusaurus", read)
