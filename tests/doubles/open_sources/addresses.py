"""Where the results of the services lead: by these addresses a document is known again."""

import re
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import quote

from tests.doubles.open_sources.documents import Document

NPM_HOST: Final = "registry.example"
"""Where npm is: its address is a setting, and the double stands at a reserved name."""

FILE_ENDINGS: Final[Mapping[str, str]] = {
    "bitmap": "jpg",
    "drawing": "svg",
    "video": "webm",
    "audio": "ogg",
    "office": "pdf",
    "3d": "stl",
    "archive": "zip",
}
"""How the names of files of Commons end, by medium."""

_OWN_DOMAINS: Final = frozenset({"stackoverflow", "superuser", "serverfault", "askubuntu"})
_VERSION = re.compile(r"v\d+$")
_OSM_TYPES: Final = ("node", "way", "relation")
_HUB: Final[Mapping[str, str]] = {"model": "", "dataset": "datasets/", "space": "spaces/"}


def address_of(document: Document) -> str:
    """The address of a document's page.

    The service gives it, or it is made of what the service gives, as its documentation says.
    """
    return _ADDRESSES[document.engine](document)


def wiki_slug(title: str) -> str:
    """The title of a page of MediaWiki as it stands in an address."""
    return quote(title.replace(" ", "_"), safe="_(),:-'!*")


def uuid_of(number: int) -> str:
    """A number in the shape of a UUID."""
    return f"{number:08x}-0000-4000-8000-{number:012x}"


def osm_type_of(document: Document) -> str:
    """Whether a place is a node, a way or a relation."""
    return _OSM_TYPES[document.number % len(_OSM_TYPES)]


def _wikipedia(document: Document) -> str:
    return f"https://{document.language}.wikipedia.org/wiki/{wiki_slug(document.title)}"


def _stackexchange(document: Document) -> str:
    site = document.site or "stackoverflow"
    if "." in site or site in _OWN_DOMAINS:
        host = site if site.endswith(".net") else f"{site}.com"
    else:
        host = f"{site}.stackexchange.com"
    if document.kind == "answer":
        return f"https://{host}/a/{document.number + 1}"
    return f"https://{host}/q/{document.number}"


def _github(document: Document) -> str:
    if document.kind == "issue":
        return f"https://github.com/{document.container}/issues/{document.number % 10_000}"
    return f"https://github.com/{document.title}"


def _hackernews(document: Document) -> str:
    return document.url or f"https://news.ycombinator.com/item?id={document.number}"


def _commons(document: Document) -> str:
    name = f"{document.title}.{FILE_ENDINGS[document.kind]}"
    return f"https://commons.wikimedia.org/wiki/File:{wiki_slug(name)}"


def _sepiasearch(document: Document) -> str:
    return f"https://{document.container}/videos/watch/{uuid_of(document.number)}"


_ADDRESSES: Final[Mapping[str, Callable[[Document], str]]] = {
    "wikipedia": _wikipedia,
    "stackexchange": _stackexchange,
    "github": _github,
    "hackernews": _hackernews,
    "commons": _commons,
    "sepiasearch": _sepiasearch,
    "crossref": lambda each: f"https://doi.org/{each.doi}",
    "arxiv": lambda each: f"https://arxiv.org/abs/{_VERSION.sub('', each.identifier)}",
    "europepmc": lambda each: f"https://europepmc.org/article/MED/{each.identifier}",
    "openverse": lambda each: f"https://photos.example/{each.slug}",
    "internetarchive": lambda each: f"https://archive.org/details/{each.slug}",
    "photon": lambda each: f"https://www.openstreetmap.org/{osm_type_of(each)}/{each.number}",
    "musicbrainz": lambda each: f"https://musicbrainz.org/{each.kind}/{uuid_of(each.number)}",
    "npm": lambda each: f"https://{NPM_HOST}/package/{each.title}",
    "crates": lambda each: f"https://crates.io/crates/{each.title}",
    "huggingface": lambda each: f"https://huggingface.co/{_HUB[each.kind]}{each.title}",
    "gdelt": lambda each: each.url,
}
