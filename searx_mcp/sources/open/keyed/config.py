"""Settings of the keyed providers, separate from their rows so that reading them loads no parser."""

import re
from datetime import date
from enum import StrEnum
from typing import Annotated, ClassVar, Final

from pydantic import ConfigDict, Field, SecretStr, field_validator

from searx_mcp.models.base import Frozen, matching, refusal

GOOGLE_ENDS: Final = date(2027, 1, 1)
"""End of Google's API (developers.google.com/custom-search/v1/overview)."""

_KEY = re.compile(r"[\x21-\x7e]{0,500}")
_WANTED: Final = "it must be visible ASCII characters without spaces"

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

    TABLE: ClassVar[str]

    key: SecretStr = Field(
        default=SecretStr(""),
        description="Your API key; without it, the provider is not asked.",
    )

    @field_validator("key")
    @classmethod
    def _check_key(cls, key: SecretStr) -> SecretStr:
        if not _KEY.fullmatch(key.get_secret_value()):
            raise refusal(f"{cls.TABLE}.key", _WANTED)
        return key


class GoogleConfig(ProviderConfig):
    """The `[providers.google]` table: Google Programmable Search, whose API ends on 2027-01-01."""

    TABLE: ClassVar[str] = "providers.google"

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

    TABLE: ClassVar[str] = "providers.brave"

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
