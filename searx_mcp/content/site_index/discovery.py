"""Finds the indexes that a page's site publishes, by their signs in what the page loads, and reads them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Final
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.addresses import absolute_web
from searx_mcp.content.clean import clean_line
from searx_mcp.content.decode import decode
from searx_mcp.content.document import Document, to_frame
from searx_mcp.content.feeds import plain_text
from searx_mcp.content.site_index import api_docs, page_lists, sphinx
from searx_mcp.content.site_index.entry import (
    MOST_ENTRIES,
    MOST_ROWS,
    IndexEntry,
    IndexFile,
    Reader,
    Row,
    is_same_site,
)
from searx_mcp.errors import ContentError, ErrorCode
from searx_mcp.models.page import PageLink, SiteIndex

FORMATS: Final[Mapping[str, Reader]] = {
    "sphinx": partial(sphinx.search_index, ending=".html"),
    "sphinx-folders": partial(sphinx.search_index, ending="/"),
    "sphinx-inventory": sphinx.inventory,
    "mkdocs": page_lists.mkdocs,
    "mdbook": page_lists.mdbook,
    "vitepress": page_lists.vitepress,
    "docusaurus": page_lists.docusaurus,
    "javadoc": api_docs.javadoc,
    "doxygen": api_docs.doxygen,
    "just-the-docs": page_lists.just_the_docs,
    "rustdoc": api_docs.rustdoc,
    "llms.txt": page_lists.llms_txt,
    "sitemap": page_lists.sitemap,
}
_PACKED: Final = frozenset({"sphinx-inventory"})
"""Formats of binary files, which are decoded to one character for each byte."""


@dataclass(frozen=True, slots=True)
class Sign:
    """A file that a page loads or names, which is the sign of an index.

    Attributes:
        mark: of the path of that file; the documentation's root is where it begins.
        files: the index with the name of its format, the best first, relative to the root; none if the file itself
            is the index.
        format: of the file itself.
        generator: start of the page's `<meta name=generator>`, in lower case; empty if that does not matter.
    """

    mark: re.Pattern[str]
    files: tuple[tuple[str, str], ...] = ()
    format: str = ""
    generator: str = ""


def _at(mark: str) -> re.Pattern[str]:
    return re.compile(rf"(?:(?<=/)|\A){mark}")


_SEARCH_INDEX: Final = (("search/search_index.json", "mkdocs"),)

SIGNS: Final = (
    Sign(_at(r"llms\.txt\Z"), format="llms.txt"),
    Sign(
        _at(r"_static/(?:documentation_options|doctools|searchtools)\.js\Z"),
        (("searchindex.js", "sphinx"), ("objects.inv", "sphinx-inventory")),
    ),
    Sign(_at(r"search/main\.js\Z"), _SEARCH_INDEX),
    Sign(_at(r"assets/(?:javascripts|stylesheets)/"), _SEARCH_INDEX, generator="mkdocs"),
    Sign(_at(r"searchindex(?:-[0-9a-f]{1,64})?\.js(?:on)?\Z"), format="mdbook"),
    Sign(_at(r"searcher(?:-[0-9a-f]{1,64})?\.js\Z"), (("searchindex.js", "mdbook"),)),
    Sign(_at(r"@localSearchIndex[\w.-]{1,100}\.js\Z"), format="vitepress"),
    Sign(
        _at(r"assets/js/(?:runtime~)?main\.[\w.]{1,40}\.js\Z"),
        (("search-index.json", "docusaurus"), ("search-doc.json", "docusaurus")),
        generator="docusaurus",
    ),
    Sign(
        _at(r"(?:script-dir/|script-files/|jquery/jszip)"), (("type-search-index.js", "javadoc"),)
    ),
    Sign(_at(r"search/searchdata\.js\Z"), (("search/searchdata.js", "doxygen"),)),
    Sign(_at(r"search/search\.js\Z"), (("search/searchdata.js", "doxygen"),), generator="doxygen"),
    Sign(_at(r"assets/js/just-the-docs\.js\Z"), (("assets/js/search-data.json", "just-the-docs"),)),
    Sign(_at(r"search-index[\w.-]{0,60}\.js\Z"), format="rustdoc"),
    Sign(_at(r"sitemap[\w.-]{0,60}\.xml\Z"), format="sitemap"),
)
"""In the order in which the indexes of a page are tried."""


_MOST: Final = 4
"""Most indexes of a page that are returned."""
_RESOURCES: Final = 300
_MAX_CHARS: Final = 500
_MAX_SCRIPT: Final = 20_000
_NAMED_IN_SCRIPT = re.compile(r"\bpath_to_searchindex_js\s*=\s*[\"']([^\"'\s]{1,200})[\"']")
"""mdBook 0.5 names its index only here."""
_FOLDER = re.compile(r"(?:\A|/)(?:genindex|search|py-modindex)/\Z")
_PAGE = re.compile(r"(?:\A|/)(?:genindex|search|py-modindex)\.html\Z")
_SPHINX: Final = "sphinx"


_LIKELY = re.compile(r"search|_static/|assets/|llms\.|script-|jszip|sitemap", re.IGNORECASE)
"""Every sign matches this, too; one search replaces one for each sign."""


def published(tree: LexborHTMLParser, *, url: str, base: str) -> tuple[SiteIndex, ...]:
    """Find the indexes that a page's files point to, on the page's own host, best first.

    Args:
        tree: the whole page; not changed.
        url: its address.
        base: against which its links are resolved.
    """
    resources = [*islice(_resources(tree), _RESOURCES)]
    likely = [resource for resource in resources if _LIKELY.search(resource)]
    if not likely:
        return ()
    generators = _generators(tree)
    found: dict[str, SiteIndex] = {}
    for sign in SIGNS:
        if sign.generator and not any(each.startswith(sign.generator) for each in generators):
            continue
        for resource in likely:
            for address, format_ in _told(sign, resource):
                index = absolute_web(base, address)
                if index and _host(index) == _host(url):
                    found.setdefault(index, SiteIndex(format=format_, url=index))
    is_modular = tree.css_first('a[href$="module-summary.html"]') is not None
    has_folders = _has_folders(resources, url)
    named = (
        _adapted(each, has_folders=has_folders, is_modular=is_modular) for each in found.values()
    )
    return tuple(islice(named, _MOST))


def _resources(tree: LexborHTMLParser) -> Iterator[str]:
    """The files that a page loads or names in its head, without query, as written."""
    for node in tree.css("script[src],link[href]"):
        attributes = node.attributes
        address = attributes.get("src") or attributes.get("href") or ""
        if len(address) <= _MAX_CHARS:
            yield re.split(r"[?#]", address, maxsplit=1)[0]
    for node in tree.css("#rustdoc-vars,meta[name=rustdoc-vars]")[:1]:
        attributes = node.attributes
        root, suffix = (
            attributes.get("data-root-path"),
            attributes.get("data-resource-suffix") or "",
        )
        stated = attributes.get("data-search-index-js")
        yield (stated or f"{root or ''}search-index{suffix}.js")[:_MAX_CHARS]
    for node in tree.css("script:not([src])")[:_RESOURCES]:
        text = node.text()[:_MAX_SCRIPT]
        if "path_to_searchindex_js" in text and (found := _NAMED_IN_SCRIPT.search(text)):
            yield found[1]


def _generators(tree: LexborHTMLParser) -> list[str]:
    nodes = tree.css('meta[name="generator" i]')[:_MOST]
    return [(node.attributes.get("content") or "")[:_MAX_CHARS].strip().lower() for node in nodes]


def _told(sign: Sign, resource: str) -> Iterator[tuple[str, str]]:
    """The indexes that a file is the sign of, by address and format."""
    found = sign.mark.search(resource)
    if found is None:
        return
    if sign.format:
        yield resource, sign.format
    root = resource[: found.start()]
    for name, format_ in sign.files:
        yield f"{root}{name}", format_


def _has_folders(resources: list[str], url: str) -> bool:
    """Whether Sphinx has written each document as a folder, by its links to its own pages, or else by this address."""
    if any(map(_FOLDER.search, resources)):
        return True
    if any(map(_PAGE.search, resources)):
        return False
    path = urlsplit(url).path
    return path.endswith("/") and path.count("/") > 1


def _adapted(index: SiteIndex, *, has_folders: bool, is_modular: bool) -> SiteIndex:
    """The index in the variant that fits the page: documents as folders, packages if there are modules."""
    if index.format == _SPHINX and has_folders:
        return index.model_copy(update={"format": "sphinx-folders"})
    if index.format == "javadoc" and is_modular:
        url = index.url.replace("type-search-index.js", "package-search-index.js")
        return index.model_copy(update={"url": url})
    return index


def _host(url: str) -> str:
    return urlsplit(url).netloc


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
    form = options["format"]
    text = body.decode("latin-1") if form in _PACKED else decode(body, charset="utf-8")[0]
    try:
        links, parts = _listed(FORMATS[form](text), url)
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
