"""Settings of the open sources."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from searx_mcp.models.base import Frozen

CONTACT_PATTERN = r"^([!-'*-~]{1,100}(@|://)[!-'*-~]{1,100})?$"
"""A mail address or URL that can stand in the comment of a User-Agent, so without parentheses."""

Name = Literal[
    "wikipedia", "keenable", "stackexchange", "github", "hackernews", "npm", "crates", "huggingface",
    "crossref", "arxiv", "europepmc", "openverse", "commons", "internetarchive", "sepiasearch",
    "gdelt", "photon", "musicbrainz",
]  # fmt: skip
"""The engines of the table, so that a setting can be checked before any of them is imported."""


Address = Annotated[str, Field(pattern=r"^(https?://[^\s/?#@]+(/[^\s?#]*)?)?$")]
"""An http or https address without a query, or nothing."""


class OpenSourcesMode(StrEnum):
    """When the open sources are asked."""

    AUTO = "auto"
    """As `fallback`, unless an own instance is configured: a self-hoster's queries do not leak."""
    FALLBACK = "fallback"
    """Only when no instance can serve."""
    BLEND = "blend"
    """Beside the instances for `it` and `science`, and as `fallback` for the rest."""
    OFF = "off"


class OpenSourcesConfig(Frozen):
    """The `[open_sources]` table: documented search APIs of open collections."""

    mode: OpenSourcesMode = Field(
        default=OpenSourcesMode.AUTO,
        description="Ask them: fallback (when no instance can serve), blend (with it and science), off, auto.",
    )
    contact: Annotated[str, Field(pattern=CONTACT_PATTERN)] = Field(
        default="",
        description="Your mail address or URL for operators who ask; without it some are asked slower.",
    )
    disabled: tuple[Name, ...] = Field(
        default=(), description="Names of engines that are never asked, such as gdelt."
    )
    keenable: bool = Field(
        default=False,
        description="Ask Keenable, a commercial web index: it sees your queries and address.",
    )
    npm_url: Address = Field(
        default="",
        description="Base URL of an npm registry to search for packages; empty asks none.",
    )
    photon_url: Address = Field(
        default="https://photon.komoot.io",
        description="Base URL of the Photon server that finds places; your own may be private.",
    )
