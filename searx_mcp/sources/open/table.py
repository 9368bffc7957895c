"""The table of open sources: the rows of all engines, and which of them the settings switch on.

A row stands at the end of its engine's module. Its limits are below the published ones; where none is
published, they are what a person could ask for by hand. `docs/sources.md` gives every engine's terms in words,
and which others are left out and why.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from searx_mcp.sources.open.config import OpenSourcesConfig
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
"""All engines there are; by default asked in no order."""


def engines_of(config: OpenSourcesConfig) -> Mapping[str, Engine]:
    """The engines that the settings switch on, by name, with their endpoints and keys."""
    endpoints = {npm.NAME: config.npm_url, photon.NAME: config.photon_url}
    switches = {keenable.NAME: config.keenable, gdelt.NAME: config.gdelt}
    keys = {stackexchange.NAME: config.stackexchange_key, github.NAME: config.github_token}
    chosen = {}
    for engine in ENGINES:
        endpoint = endpoints.get(engine.name, engine.endpoint)
        if engine.name in config.disabled or not switches.get(engine.name, engine.on):
            continue
        if endpoint:
            row = replace(engine, endpoint=endpoint.rstrip("/"))
            key = keys.get(engine.name)
            chosen[engine.name] = row.keyed(key) if key else row
    return MappingProxyType(chosen)
