"""A page's metadata: from JSON-LD, Open Graph, Dublin Core, and the places where a reader would look.

The page may claim anything: this is untrusted text. JSON-LD is read without its context, as all readers of
schema.org do: types and properties by their short names.
"""

import html
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.addresses import absolute_web

_MAX_AUTHORS: Final = 5
_FALSE: Final = frozenset({"false", "no", "0"})
_MAX_BLOCKS: Final = 20
_MAX_BLOCK: Final = 200_000
"""Characters; a longer block is a catalogue of something else."""
_MAX_NODES: Final = 300
_MAX_TEXT: Final = 2_000
_MAX_TYPES: Final = 50
_NESTING: Final = ("@graph", "mainEntity", "mainEntityOfPage", "hasPart")
_WORKS: Final = ("Article", "Posting", "Review", "Recipe", "HowTo")
"""Ends of type names that describe the content of a page."""
_THINGS: Final = frozenset({"Product", "VideoObject"})
_PAGES: Final = ("Page",)
_WORK, _THING, _PAGE = 3, 2, 1


@dataclass(frozen=True, slots=True)
class _LinkedData:
    """The values of a page's JSON-LD; nothing is cleaned, and missing values are empty.

    Attributes:
        site: the name of the site or of its publisher.
        is_free: the value of `isAccessibleForFree`, or `None`.
        types: of everything described, such as `NewsArticle` or `BreadcrumbList`.
    """

    title: str = ""
    description: str = ""
    author: str = ""
    published: str = ""
    modified: str = ""
    language: str = ""
    site: str = ""
    is_free: bool | None = None
    types: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Graph:
    """Nodes in order, and nodes by id."""

    nodes: list[Mapping[str, Any]] = field(default_factory=list)
    by_id: dict[str, Mapping[str, Any]] = field(default_factory=dict)


def _linked_data(blocks: Iterable[str], *, addresses: frozenset[str]) -> _LinkedData:
    """Read the JSON-LD blocks of a page.

    Args:
        blocks: the texts of `<script type="application/ld+json">`; broken ones are skipped.
        addresses: the page's own. A page that describes several works but does not say which of them it is, is
            a list of them, and does not describe itself.
    """
    graph = _Graph()
    for count, block in enumerate(blocks):
        if count == _MAX_BLOCKS:
            break
        _collect(_load(block), graph)
    nodes = _of_the_page(graph.nodes, addresses)
    return _LinkedData(
        title=_first(_text(node.get(key)) for node in nodes for key in ("headline", "name")),
        description=_first(_text(node.get("description")) for node in nodes),
        author=_first(
            _names(node.get(key), graph) for node in nodes for key in ("author", "creator")
        ),
        published=_first(
            _text(node.get(key))
            for node in nodes
            for key in ("datePublished", "dateCreated", "uploadDate")
        ),
        modified=_first(_text(node.get("dateModified")) for node in nodes),
        language=_first(_text(node.get("inLanguage")) for node in nodes),
        site=_site(nodes, graph),
        is_free=_is_free(nodes, graph.nodes),
        types=frozenset(kind for node in graph.nodes for kind in _kinds(node)[:_MAX_TYPES]),
    )


def _load(block: str) -> object:
    if len(block) > _MAX_BLOCK:
        return None
    text = block.strip().removesuffix(";")
    try:
        # Line breaks in strings are the most common mistake.
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _collect(value: object, graph: _Graph) -> None:
    waiting = [value]
    while waiting and len(graph.nodes) < _MAX_NODES:
        value = waiting.pop(0)
        if isinstance(value, list):
            waiting += value[:_MAX_NODES]
        elif isinstance(value, dict):
            graph.nodes.append(value)
            if isinstance(identifier := value.get("@id"), str) and len(value) > 1:
                graph.by_id.setdefault(identifier, value)
            waiting += [value[key] for key in _NESTING if key in value]


def _of_the_page(
    nodes: list[Mapping[str, Any]], addresses: frozenset[str]
) -> list[Mapping[str, Any]]:
    """The nodes that describe the page, best first."""
    ranked = [(rank, node) for node in nodes if (rank := _rank(node))]
    named = [(rank, node) for rank, node in ranked if _places(node) & addresses]
    chosen = list(named)
    for rank in (_WORK, _THING, _PAGE):
        others = [entry for entry in ranked if entry[0] == rank]
        if len(others) == 1 and others[0] not in named:
            chosen += others
    return [node for _, node in sorted(chosen, key=lambda entry: -entry[0])]


def _rank(node: Mapping[str, Any]) -> int:
    kinds = _kinds(node)
    if any(kind.endswith(_WORKS) for kind in kinds):
        return _WORK
    if any(kind in _THINGS for kind in kinds):
        return _THING
    return _PAGE if any(kind.endswith(_PAGES) for kind in kinds) else 0


def _kinds(node: Mapping[str, Any]) -> list[str]:
    return [name.rpartition("/")[2] for name in _strings(node.get("@type"))]


def _places(node: Mapping[str, Any]) -> set[str]:
    places = _strings(node.get("url")) + _strings(node.get("@id"))
    entity = node.get("mainEntityOfPage")
    places += _strings(entity.get("@id") if isinstance(entity, dict) else entity)
    return {place.partition("#")[0].rstrip("/") for place in places}


def _strings(value: object) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [entry for entry in values[:_MAX_NODES] if isinstance(entry, str)]


def _text(value: object) -> str:
    if isinstance(value, list):
        return _first(_text(entry) for entry in value[:_MAX_AUTHORS] if not isinstance(entry, list))
    return html.unescape(value[:_MAX_TEXT]).strip() if isinstance(value, str) else ""


def _names(value: object, graph: _Graph) -> str:
    """The authors: names of people or organisations, in order, without duplicates."""
    names: dict[str, None] = {}
    for entry in (value if isinstance(value, list) else [value])[:_MAX_AUTHORS]:
        person = entry
        if isinstance(person, dict):
            if not person.get("name"):
                person = graph.by_id.get(str(person.get("@id")), person)
            person = person.get("name")
        if (name := _text(person)) and not name.startswith(("http://", "https://")):
            names[name] = None
    return ", ".join(names)


def _site(nodes: list[Mapping[str, Any]], graph: _Graph) -> str:
    """The name of a node that describes the site, else the publisher's."""
    sites = (_text(node.get("name")) for node in graph.nodes if "WebSite" in _kinds(node))
    return _first(sites) or _first(
        _names(node.get(key), graph) for node in nodes for key in ("isPartOf", "publisher")
    )


def _is_free(nodes: list[Mapping[str, Any]], parts: list[Mapping[str, Any]]) -> bool | None:
    """The value in the page's own nodes, else in its parts."""
    for node in (*nodes, *(part for part in parts if "cssSelector" in part)):
        value = node.get("isAccessibleForFree")
        if isinstance(value, bool):
            return value
        if isinstance(value, str):
            return value.rpartition("/")[2].strip().lower() not in _FALSE
    return None


def _first(texts: Iterator[str]) -> str:
    return next(filter(None, texts), "")


_MAX_METAS: Final = 300
_MAX_CONTENT: Final = 2_000
_FEW_AUTHORS: Final = 3
_MAX_NAME: Final = 100
_MAX_NAMES: Final = 5

_DESCRIPTION: Final = ("description", "og:description", "twitter:description")
_AUTHOR: Final = (
    "author", "article:author", "citation_author", "dc.creator", "byl", "dcterms.creator",
    "parsely-author", "sailthru.author",
)  # fmt: skip
_PUBLISHED: Final = (
    "article:published_time", "article:published", "og:published_time", "citation_publication_date",
    "dc.date.issued", "dc.date", "dcterms.date", "dcterms.created", "datepublished", "parsely-pub-date",
    "sailthru.date", "publishdate", "date",
)  # fmt: skip
_MODIFIED: Final = (
    "article:modified_time", "article:modified", "og:updated_time", "dc.date.modified", "datemodified",
    "last-modified",
)  # fmt: skip
_SITE: Final = ("application-name", "dc.publisher", "apple-mobile-web-app-title")

_PUBLISHED_PLACES: Final = (
    '[itemprop="datePublished"]', "time[pubdate]", "time.entry-date", "time.published",
    "article header time[datetime]", "main header time[datetime]",
)  # fmt: skip
_MODIFIED_PLACES: Final = ('[itemprop="dateModified"]', "time.updated")
_AUTHOR_PLACES: Final = (
    '[itemprop="author"] [itemprop="name"]', '[itemprop="author"]', '[rel="author"]',
    ".p-author", ".byline .author", ".author .fn",
)  # fmt: skip
_DUBLIN_CORE = re.compile(r"\A(dc|dcterms):")
_YEAR = re.compile(r"[0-9]{4}")
LANGUAGE = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8})*")


class _Said(NamedTuple):
    """A text and its source: `json-ld`, a `<meta>` by its name, or the element that shows it."""

    text: str
    source: str

    def __bool__(self) -> bool:
        """Whether there is a text."""
        return bool(self.text)


_NOTHING: Final = _Said("", "")


@dataclass(frozen=True, slots=True)
class Metadata:
    """A page's metadata; nothing is cleaned, and missing values are empty.

    Attributes:
        title: without the site's name if the page has it in that form.
        description: the page's own.
        author: names, separated by commas.
        published: as the page writes the date.
        modified: likewise.
        language: BCP 47 tag.
        site: name of the site.
        canonical_url: absolute, http or https.
        sources: the source of each of these, by its name here.
        is_protected: whether it declares that it is not free to read.
        types: its declared types: those of schema.org in JSON-LD and microdata, and `og:type`.
    """

    title: str = ""
    description: str = ""
    author: str = ""
    published: str = ""
    modified: str = ""
    language: str = ""
    site: str = ""
    canonical_url: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)
    is_protected: bool = False
    types: frozenset[str] = frozenset()


def metadata(tree: LexborHTMLParser, *, url: str) -> Metadata:
    """Read a page's metadata.

    Args:
        tree: the whole page; not changed.
        url: its address.
    """
    metas = _metas(tree)
    canonical = _canonical(tree, metas, url)
    linked = _LinkedData()
    if blocks := tree.css('script[type="application/ld+json" i]'):
        linked = _linked_data(
            (node.text() for node in blocks),
            addresses=frozenset(
                place.partition("#")[0].rstrip("/")
                for place in (url, canonical.text, _said(metas, "og:url").text)
                if place
            ),
        )
    said = {
        "title": _title(tree, metas, linked),
        "description": _said(metas, *_DESCRIPTION) or _linked(linked.description),
        "author": _linked(linked.author) or _author(tree, metas),
        "published": _linked(linked.published)
        or _said(metas, *_PUBLISHED)
        or _placed(tree, _PUBLISHED_PLACES)
        or _only_time(tree),
        "modified": _linked(linked.modified)
        or _said(metas, *_MODIFIED)
        or _placed(tree, _MODIFIED_PLACES),
        "language": _language(tree, metas, linked),
        "site": _said(metas, "og:site_name") or _linked(linked.site) or _said(metas, *_SITE),
        "canonical_url": canonical,
    }
    return Metadata(
        **{name: found.text for name, found in said.items()},
        sources={name: found.source for name, found in said.items() if found},
        is_protected=_is_protected(metas, linked),
        types=linked.types | _types(tree, metas),
    )


def _linked(text: str) -> _Said:
    return _Said(text, "json-ld")


def _metas(tree: LexborHTMLParser) -> Mapping[str, list[str]]:
    """The contents of `<meta>` elements by name in lower case."""
    found: dict[str, list[str]] = defaultdict(list)
    for node in tree.css("meta[content]")[:_MAX_METAS]:
        attributes = node.attributes
        content = _one_line((attributes.get("content") or "")[:_MAX_CONTENT])
        if content:
            for key in ("property", "name", "itemprop", "http-equiv"):
                # RDFa allows several names in a property; Dublin Core has two spellings.
                for name in (attributes.get(key) or "").lower().split()[:_MAX_NAMES]:
                    found[_DUBLIN_CORE.sub(r"\1.", name)].append(content)
    return found


def _said(metas: Mapping[str, list[str]], *names: str) -> _Said:
    return next((_Said(metas[name][0], name) for name in names if name in metas), _NOTHING)


def _canonical(tree: LexborHTMLParser, metas: Mapping[str, list[str]], url: str) -> _Said:
    link = tree.css_first('link[rel="canonical" i]')
    href = (link.attributes.get("href") or "") if link is not None else ""
    stated = _said(metas, "og:url")
    found = _Said(absolute_web(url, href) if href else "", "link")
    return found or _Said(absolute_web(url, stated.text) if stated else "", stated.source)


def _types(tree: LexborHTMLParser, metas: Mapping[str, list[str]]) -> frozenset[str]:
    items = tree.css("[itemtype]")[:_MAX_METAS]
    stated = " ".join((item.attributes.get("itemtype") or "")[:_MAX_CONTENT] for item in items)
    found = {name.rstrip("/").rpartition("/")[2] for name in stated.split()}
    return frozenset(found | {_said(metas, "og:type").text.lower()} - {""})


def _title(tree: LexborHTMLParser, metas: Mapping[str, list[str]], linked: _LinkedData) -> _Said:
    if title := _said(metas, "og:title"):
        return title
    for selector in ("head title", "title"):
        node = tree.css_first(selector)
        if node is not None and (text := _one_line(node.text())):
            return _Said(text, "title")
    if linked.title:
        return _linked(linked.title)
    heading = tree.css_first("h1")
    return _Said(_one_line(heading.text()) if heading is not None else "", "h1")


def _author(tree: LexborHTMLParser, metas: Mapping[str, list[str]]) -> _Said:
    for name in _AUTHOR:
        # Open Graph requires the address of a profile here.
        names = [entry for entry in metas.get(name, ()) if not entry.lower().startswith("http")]
        if names:
            return _Said(_joined(names), name)
    for place in _AUTHOR_PLACES:
        names = [_one_line(node.text()) for node in tree.css(place)[: _FEW_AUTHORS + 1]]
        names = [entry for entry in names if 0 < len(entry) <= _MAX_NAME]
        # A page with more authors is a list of other pages.
        if names and len(set(names)) <= _FEW_AUTHORS:
            return _Said(_joined(names), place)
    return _NOTHING


def _joined(names: list[str]) -> str:
    return ", ".join(dict.fromkeys(names[:_MAX_AUTHORS]))


def _placed(tree: LexborHTMLParser, places: tuple[str, ...]) -> _Said:
    for place in places:
        for node in tree.css(place)[:1]:
            if date := _moment(node):
                return _Said(date, place)
    return _NOTHING


def _moment(node: LexborNode) -> str:
    attributes = node.attributes
    stated = attributes.get("datetime") or attributes.get("content") or node.text()
    date = _one_line(stated[:_MAX_CONTENT])
    return date if _YEAR.search(date) else ""  # "12:55 AM" is no date


def _only_time(tree: LexborHTMLParser) -> _Said:
    """The first time on a page with a single article; a list of articles has many."""
    times = tree.css("article time[datetime]")
    only = bool(times) and len(tree.css("article")) == 1
    return _Said(_moment(times[0]) if only else "", "time")


def _language(tree: LexborHTMLParser, metas: Mapping[str, list[str]], linked: _LinkedData) -> _Said:
    attributes = tree.root.attributes if tree.root is not None else {}
    stated = (
        _Said(attributes.get("lang") or "", "html lang"),
        _Said(attributes.get("xml:lang") or "", "html xml:lang"),
        _said(metas, "og:locale"),
        _said(metas, "content-language"),
        _said(metas, "dc.language"),
        _linked(linked.language),
    )
    for text, source in stated:
        tag = text.partition(",")[0].strip()
        if LANGUAGE.fullmatch(tag):
            return _Said(tag.replace("_", "-"), source)
    return _NOTHING


def _is_protected(metas: Mapping[str, list[str]], linked: _LinkedData) -> bool:
    if linked.is_free is not None:
        return not linked.is_free
    return (
        _said(metas, "article:content_tier").text.lower() == "locked"
        or _said(metas, "isaccessibleforfree").text.lower() in _FALSE
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())
