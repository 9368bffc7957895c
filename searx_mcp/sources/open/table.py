"""The tables of open sources and keyed providers: all rows, enabled ones, and what belongs to which.

An engine is one module of `engines`, which ends with its row. Its limits are below the published ones; if
none is published, they are what a person could do by hand. `docs/explanation/open-sources.md` describes every
engine's terms, and which other engines are left out and why.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

from searx_mcp.models.hits import Hit
from searx_mcp.sources.open.config import OpenSourcesConfig, ProvidersConfig, ProvidersMode
from searx_mcp.sources.open.engine import Engine
from searx_mcp.sources.open.engines import (
    arxiv,
    commons,
    crates,
    crossref,
    europepmc,
    gdelt,
    github,
    hackernews,
    huggingface,
    internetarchive,
    keenable,
    musicbrainz,
    npm,
    openverse,
    photon,
    sepiasearch,
    stackexchange,
    wikipedia,
)
from searx_mcp.sources.open.keyed import brave, google
from searx_mcp.sources.open.question import doi_in, identifier_at, work

ENGINES: Final = (
    wikipedia.ENGINE,
    keenable.ENGINE,
    stackexchange.ENGINE,
    github.ENGINE,
    hackernews.ENGINE,
    npm.ENGINE,
    crates.ENGINE,
    huggingface.ENGINE,
    crossref.ENGINE,
    arxiv.ENGINE,
    europepmc.ENGINE,
    openverse.ENGINE,
    commons.ENGINE,
    internetarchive.ENGINE,
    sepiasearch.ENGINE,
    gdelt.ENGINE,
    photon.ENGINE,
    musicbrainz.ENGINE,
)
"""All engines, in no particular order."""

_KEYED: Final = (google, brave)
KEYED: Final = tuple(provider.ENGINE for provider in _KEYED)
"""The keyed providers, in order of use; no query is routed to them."""

_PARTS: Final = frozenset(
    {"images", "videos", "audio", "files", "datasets", "spaces", "models", "issues", "repositories"}
)
"""What SearXNG appends to the name of a collection for a part of it. `github code` is not included: it
searches files, and knows other things than the search for repositories."""
_NOT_A_NAME = re.compile(r"[\W_]+")
_OSM_TYPES: Final = {"n": "node", "w": "way", "r": "relation"}


def engines_of(config: OpenSourcesConfig) -> Mapping[str, Engine]:
    """Return the enabled engines, by name, with their endpoints and keys."""
    chosen = {}
    for engine in ENGINES:
        is_off = engine.switch is not None and not engine.switch(config)
        read = engine.endpoint_setting
        endpoint = engine.endpoint if read is None else read(config)
        if engine.name in config.disabled or is_off or not endpoint:
            continue
        row = replace(engine, endpoint=endpoint.rstrip("/"))
        key = engine.key_setting(config) if engine.key_setting else None
        chosen[engine.name] = row.keyed(key) if key else row
    return MappingProxyType(chosen)


def keyed_of(config: ProvidersConfig) -> Mapping[str, Engine]:
    """Return the keyed providers that have a key, by name, with their keys and budgets."""
    if config.mode is ProvidersMode.OFF:
        return {}
    rows = (provider.configured(config) for provider in _KEYED)
    return MappingProxyType({row.name: row for row in rows if row is not None})


def voter(engine_name: str) -> str:
    """Return the name under which an engine votes: one collection has one vote, however it was asked.

    Args:
        engine_name: as SearXNG or the table spells it, in any case.

    Returns:
        The name of the table's row for the same collection; for others, the given name in lower case.
    """
    name = " ".join(engine_name.lower().split())
    head, _, part = name.replace(".", " ").rpartition(" ")
    known = _VOTERS.get(_key(name))
    if known is None and (part in _PARTS or "." in name):
        known = _VOTERS.get(_key(head))
    return known or name


def identity(hit: Hit) -> str:
    """Return the key of the thing that a row describes.

    Rows with the same key are the same thing, whichever engine found them at whichever address.

    Args:
        hit: of any engine.

    Returns:
        `doi:`, `arxiv:`, `pmid:`, `stackexchange:`, `github:`, `commons:`, `osm:`, `wikipedia:` or
        `hackernews:` and the thing's id; empty if there is none.
    """
    if hit.paper and (doi := doi_in(hit.paper.doi)):
        found = work(doi)
        return f"{found.kind}:{found.value}"
    if hit.place and hit.place.osm_id is not None and hit.place.osm_type:
        kind = hit.place.osm_type.lower()
        return f"osm:{_OSM_TYPES.get(kind, kind)}/{hit.place.osm_id}"
    return next(filter(None, map(_of_address, _addresses(hit))), "")


def _addresses(hit: Hit) -> Iterator[str]:
    """Yield the row's own address, then those of its file: Openverse links Commons by a number."""
    yield hit.url
    own = (
        hit.image and hit.image.url,
        hit.media and hit.media.audio_url,
        hit.file and hit.file.embed_url,
    )
    yield from (url for url in own if url and "://upload.wikimedia.org/" in url)


def _of_address(url: str) -> str:
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").removeprefix("www.").rstrip(".")
    except ValueError:
        return ""
    if found := identifier_at(url):
        return f"{found.kind}:{found.value}"
    keys = (engine.identify(host, parts) for engine in ENGINES if engine.identify)
    return next(filter(None, keys), "")


def _key(name: str) -> str:
    return _NOT_A_NAME.sub("", name.lower())


def _voters() -> dict[str, str]:
    voters = {}
    for engine in ENGINES:
        for name in (engine.name, engine.title, *engine.also):
            voters[_key(name)] = engine.name
    return voters


_VOTERS: Final = _voters()
