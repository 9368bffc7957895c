"""Settings of the open sources."""

import re
from enum import StrEnum
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, Field, SecretStr, ValidationInfo

from searx_mcp.models.base import Address, Frozen, matching, refusal

Name = Literal[
    "wikipedia", "keenable", "stackexchange", "github", "hackernews", "npm", "crates", "huggingface",
    "crossref", "arxiv", "europepmc", "openverse", "commons", "internetarchive", "sepiasearch",
    "gdelt", "photon", "musicbrainz",
]  # fmt: skip
"""The engines of the table, for checking settings before any of them is imported."""


_KEY = re.compile(r"[\x21-\x7e]{0,500}")
_WANTED: Final = "it must be visible ASCII characters without spaces"


class OpenSourcesMode(StrEnum):
    """When the open sources are asked."""

    AUTO = "auto"
    """As `fallback`, unless an own instance is configured: a self-hoster's queries do not leak."""
    FALLBACK = "fallback"
    """Only when no instance can serve."""
    BLEND = "blend"
    """Beside the instances for `it` and `science`, and as `fallback` for the rest."""
    OFF = "off"


def _check_key(key: SecretStr, info: ValidationInfo) -> SecretStr:
    if not _KEY.fullmatch(key.get_secret_value()):
        raise refusal(f"open_sources.{info.field_name}", _WANTED)
    return key


Key = Annotated[SecretStr, AfterValidator(_check_key)]
"""A key or token that is valid in headers and addresses, or empty."""


class OpenSourcesConfig(Frozen):
    """The `[open_sources]` table: documented search APIs of open collections."""

    # A key may be in the wrong field, so pydantic's errors must not show their input.
    model_config = ConfigDict(hide_input_in_errors=True)

    mode: OpenSourcesMode = Field(
        default=OpenSourcesMode.AUTO,
        description="When to ask: fallback (no instance can serve), blend (also for it and science), off, auto.",
    )
    contact: Annotated[
        str,
        # Used in the comment of a User-Agent.
        matching(
            r"^([!-'*-~]{1,100}(@|://)[!-'*-~]{1,100})?$",
            "an email address or URL without spaces and parentheses, or empty",
        ),
    ] = Field(
        default="",
        description="Your email address or URL, for operators who want one; without it, some are slower.",
    )
    disabled: tuple[Name, ...] = Field(
        default=(), description="Names of engines that are never asked, such as hackernews."
    )
    keenable: bool = Field(
        default=False,
        description="Ask Keenable, a commercial web index: it sees your queries and address.",
    )
    gdelt: bool = Field(
        default=False,
        description="Ask GDELT for news from many countries; since July 2026 it rarely answers in time.",
    )
    stackexchange_key: Key = Field(
        default=SecretStr(""),
        description="Your key from stackapps.com: Stack Exchange then allows 10,000 requests a day, not 300.",
    )
    github_token: Key = Field(
        default=SecretStr(""),
        description="GitHub token for its search, without any scope: 30 searches a minute, not 10.",
    )
    npm_url: Address = Field(
        default="",
        description="Base URL of an npm registry to search for packages; empty asks none.",
    )
    photon_url: Address = Field(
        default="https://photon.komoot.io",
        description="Base URL of the Photon server that finds places; your own may be private.",
    )

    def own_endpoints(self) -> tuple[str, ...]:
        """The endpoints set by the operator: they may be private, and nothing else is requested there."""
        usual = origin_of(type(self).model_fields["photon_url"].default)
        given = (self.npm_url, self.photon_url)
        return tuple(url for url in given if url and origin_of(url) != usual)


def origin_of(url: str) -> str:
    """Scheme, host and port of an address."""
    return f"{urlsplit(url).scheme}://{urlsplit(url).netloc}"
