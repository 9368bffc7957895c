"""The sections of every page, as generators of sites list them for their own search."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from searx_mcp.content.site_index.entry import (
    IndexEntry,
    IndexFormat,
    items,
    mapping,
    pair,
    place,
    required,
    rows,
    string,
)
from searx_mcp.content.site_index.literals import value_after, value_at


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


def _of_docusaurus(text: str) -> Iterator[IndexEntry]:
    """Read the index of any of three plugins for local search; addresses begin at the root of the host.

    `search-index.json` of one is a list of indexes with `documents` of `t` (title), `u` (address), `b` (headings
    above); that of another is one index with `documents` of `pageTitle`, `sectionTitle` and `sectionRoute`;
    `search-doc.json` of the third has `searchDocs` of `title`, `url` and `content`.
    """
    value = value_at(text.lstrip(), 0)
    lists = rows(value) if isinstance(value, list) else iter((value,))
    is_one = False
    for each in lists:
        index = mapping(each)
        documents = index.get("documents", index.get("searchDocs"))
        is_one = is_one or isinstance(documents, list)
        for row in rows(documents):
            entry = _docusaurus_entry(row)
            if entry.address:
                yield entry
    if not is_one:
        raise ValueError("no index of Docusaurus")


def _docusaurus_entry(row: object) -> IndexEntry:
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


DOCUSAURUS: Final = IndexFormat("docusaurus", _of_docusaurus)


_MDBOOK = re.compile(
    r"\A\s*(?:(?:window\.search\s*=\s*)?(?:Object\.assign\(window\.search,\s*)?(?:JSON\.parse\()?)"
)

_NUMBER = re.compile(r"[0-9]{1,9}")


def _of_mdbook(text: str) -> Iterator[IndexEntry]:
    """Read `searchindex.js` or `searchindex.json`, an elasticlunr store of `doc_urls` and `documentStore.docs`.

    The script passes it to `Object.assign(window.search, {...})`, as a literal or through `JSON.parse('...')`.
    """
    book = required(value_after(text, _MDBOOK), "mdBook")
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


MDBOOK: Final = IndexFormat("mdbook", _of_mdbook)


_VITEPRESS = re.compile(r"\A\s*(?:(?:const|var|let)\s+[\w$]{1,40}\s*=\s*|export\s+default\s+)?")
_WORD_CHARS: Final = 4_000


def _of_vitepress(text: str) -> Iterator[IndexEntry]:
    """Read a MiniSearch index in a string that a module exports: addresses, stored names, and words.

    The fields `title` and `titles` (the headings above) are stored; the words of the text are only in the inverted
    index, and are collected by document from there.
    """
    index = required(value_after(text, _VITEPRESS), "MiniSearch")
    stored = mapping(index.get("storedFields"))
    words = _minisearch_words(index.get("index"))
    for number, address in items(index.get("documentIds")):
        fields = mapping(stored.get(number))
        above = " ".join(map(string, rows(fields.get("titles"))))
        if isinstance(address, str):
            yield IndexEntry(
                address, string(fields.get("title")), f"{above} {' '.join(words[number])}"
            )


def _minisearch_words(index: object) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    sizes: dict[str, int] = defaultdict(int)
    for row in rows(index):
        word, used = pair(row) or ("", None)
        if not isinstance(word, str):
            continue
        for numbers in rows(used):
            for number, _ in items(numbers):
                if sizes[number] + len(word) < _WORD_CHARS:
                    sizes[number] += len(word) + 1
                    found[number].append(word)
    return found


VITEPRESS: Final = IndexFormat("vitepress", _of_vitepress)
