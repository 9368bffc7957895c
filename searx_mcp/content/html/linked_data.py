"""A page's linked data: JSON-LD with the vocabulary of schema.org."""

import html
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

MAX_AUTHORS: Final = 5
FALSE: Final = frozenset({"false", "no", "0"})
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
class LinkedData:
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


def linked_data(blocks: Iterable[str], *, addresses: frozenset[str]) -> LinkedData:
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
    return LinkedData(
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
        return _first(_text(entry) for entry in value[:MAX_AUTHORS] if not isinstance(entry, list))
    return html.unescape(value[:_MAX_TEXT]).strip() if isinstance(value, str) else ""


def _names(value: object, graph: _Graph) -> str:
    """The authors: names of people or organisations, in order, without duplicates."""
    names: dict[str, None] = {}
    for entry in (value if isinstance(value, list) else [value])[:MAX_AUTHORS]:
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
            return value.rpartition("/")[2].strip().lower() not in FALSE
    return None


def _first(texts: Iterator[str]) -> str:
    return next(filter(None, texts), "")
