"""Lists of the pages of a site: what generators write for their own search, `llms.txt` and `sitemap.xml`."""

import html
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final
from urllib.parse import unquote, urlsplit

from searx_mcp.content.site_index.entry import (
    MOST_ROWS,
    Collected,
    IndexEntry,
    IndexFile,
    Row,
    items,
    mapping,
    pair,
    place,
    required,
    rows,
    string,
)
from searx_mcp.content.site_index.literals import value_after, value_at


def mkdocs(text: str) -> Iterator[IndexEntry]:
    """Read `search/search_index.json`, `{"docs": [{"location": ..., "title": ..., "text": ...}, ...]}`.

    Addresses are relative to the parent folder.
    """
    for row in rows(required(value_at(text, 0), "MkDocs").get("docs")):
        page = mapping(row)
        if isinstance(page.get("location"), str):
            yield IndexEntry(
                f"../{page['location']}", string(page.get("title")), string(page.get("text"))
            )


def just_the_docs(text: str) -> Iterator[IndexEntry]:
    """Read `assets/js/search-data.json`, sections by number.

    `url` begins at the root of the host, and `doc` is the page of a section.
    """
    for row in rows(required(value_at(text, 0), "Just the Docs")):
        section = mapping(row)
        if address := string(section.get("url")):
            page, title = string(section.get("doc")), string(section.get("title"))
            yield IndexEntry(address, title or page, f"{page} {string(section.get('content'))}")


def docusaurus(text: str) -> Iterator[IndexEntry]:
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


_MDBOOK = re.compile(
    r"\A\s*(?:(?:window\.search\s*=\s*)?(?:Object\.assign\(window\.search,\s*)?(?:JSON\.parse\()?)"
)

_NUMBER = re.compile(r"[0-9]{1,9}")


def mdbook(text: str) -> Iterator[IndexEntry]:
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


_VITEPRESS = re.compile(r"\A\s*(?:(?:const|var|let)\s+[\w$]{1,40}\s*=\s*|export\s+default\s+)?")
_WORD_CHARS: Final = 4_000


def vitepress(text: str) -> Iterator[IndexEntry]:
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
                address, string(fields.get("title")), f"{above} {' '.join(words.of(number))}"
            )


def _minisearch_words(index: object) -> Collected:
    found = Collected(_WORD_CHARS)
    for row in rows(index):
        word, used = pair(row) or ("", None)
        if not isinstance(word, str):
            continue
        for numbers in rows(used):
            for number, _ in items(numbers):
                found.add(number, word)
    return found


_LINE = re.compile(
    r"^(?:#{1,6}[ \t]+(?P<heading>[^\n]{1,300}+)"
    r"|[ \t]*[-*+][ \t]+\[(?P<title>[^\]\n]{1,300}+)\]\((?P<address>[^)\s]{1,2000}+)\)(?P<words>[^\n]{0,1000}+))",
    re.MULTILINE,
)


def llms_txt(text: str) -> Iterator[IndexEntry]:
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


_LOCATION = re.compile(r"<loc>\s*+(?:<!\[CDATA\[)?\s*+([^<\]\s]{1,2000}+)")
_ROOT = re.compile(r"<(?:\w{1,40}:)?(urlset|sitemapindex)[\s>]")
_HEAD: Final = 5_000
_WORDS = re.compile(r"[^\W_]+")
_ENDING = re.compile(r"\.(?:html?|php|aspx?|md)$", re.IGNORECASE)


def sitemap(text: str) -> Iterator[Row]:
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
