"""Settings of the open sources and keyed providers, separate from their rows so that reading them loads no parser."""

from datetime import date
from enum import StrEnum
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, SecretStr

from searx_mcp.models.base import Address, Frozen, Key, matching

Name = Literal[
    "wikipedia", "keenable", "stackexchange", "github", "hackernews", "npm", "crates", "huggingface",
    "crossref", "arxiv", "europepmc", "openverse", "commons", "internetarchive", "sepiasearch",
    "gdelt", "photon", "musicbrainz",
]  # fmt: skip
"""The engines of the table, for checking settings before any of them is imported."""


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


GOOGLE_ENDS: Final = date(2027, 1, 1)
"""End of Google's API (developers.google.com/custom-search/v1/overview)."""


PerDay = Annotated[int, Field(ge=1, le=10_000)]
"""Google's maximum per day, on any plan."""
PerMonth = Annotated[int, Field(ge=1, le=20_000)]
"""Each request reads all charges of the window: 4,000 of them take 5 to 6 ms."""


class ProvidersMode(StrEnum):
    """When keyed providers are asked."""

    FALLBACK = "fallback"
    """When no instance could serve, and before open sources."""
    ONLY = "only"
    """Instead of instances."""
    OFF = "off"
    """Never, even if their keys are set."""


class SafeLevel(StrEnum):
    """Levels at which explicit results are filtered."""

    OFF = "off"
    MODERATE = "moderate"
    STRICT = "strict"


class ProviderConfig(Frozen):
    """The part of its table that every keyed provider has."""

    # A key may be in the wrong field, so pydantic's errors must not show their input.
    model_config = ConfigDict(hide_input_in_errors=True)

    key: Key = Field(
        default=SecretStr(""),
        description="Your API key; without it, the provider is not asked.",
    )


class GoogleConfig(ProviderConfig):
    """The `[providers.google]` table: Google Programmable Search, whose API ends on 2027-01-01."""

    search_engine_id: Annotated[
        str,
        matching(r"^[A-Za-z0-9:_-]{0,100}$", "at most 100 ASCII letters, digits, -, _ and :"),
    ] = Field(
        default="",
        description="ID (cx) of your Programmable Search Engine; required.",
    )
    safe_search: SafeLevel = Field(
        default=SafeLevel.OFF,
        description="Minimum filter for explicit results; a call can ask for more. Google has only on and off.",
    )
    per_day: PerDay = Field(
        default=100, description="Requests in 24 hours; 100 are free of charge."
    )
    per_month: PerMonth = Field(default=3_000, description="Requests in 30 days.")


class BraveConfig(ProviderConfig):
    """The `[providers.brave]` table: Brave's Search API."""

    per_month: PerMonth = Field(
        default=1_000, description="Requests in 30 days, as your plan or budget allows."
    )


class ProvidersConfig(Frozen):
    """The `[providers]` table: search APIs of companies that want a key."""

    model_config = ConfigDict(hide_input_in_errors=True)

    mode: ProvidersMode = Field(
        default=ProvidersMode.FALLBACK,
        description="When to ask: fallback (no instance could serve), only (never an instance), off.",
    )
    google: GoogleConfig = Field(default_factory=GoogleConfig)
    brave: BraveConfig = Field(default_factory=BraveConfig)
