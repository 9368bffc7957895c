"""Settings of the pool and of the instances in it."""

from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field

from searx_mcp.models.base import OF_SERVER, Frozen, matching
from searx_mcp.models.credentials import Credentials
from searx_mcp.models.request import CATEGORY_PATTERN

NATIVE_FOLDER: Final = "own-native"
"""Folder in the state folder for the own instance that runs as a process of this machine."""


class PublicInstances(StrEnum):
    """When public instances are asked."""

    AUTO = "auto"
    """Unless an own instance is configured: a self-hoster's queries do not leak."""
    ON = "on"
    OFF = "off"


class InstancesConfig(Frozen):
    """The `[instances]` table: which instances there are."""

    # An address may contain a password, so pydantic's errors must not show their input.
    model_config = ConfigDict(hide_input_in_errors=True)

    own: tuple[str, ...] = Field(
        default=(), description="Base URLs of your own SearXNG instances; asked first, JSON first."
    )
    credentials: tuple[Credentials, ...] = Field(
        default=(),
        description="User name and password, or token, for own instances that require them.",
    )
    categories: tuple[
        Annotated[str, matching(CATEGORY_PATTERN, "1 to 60 characters without commas")], ...
    ] = Field(
        default=(),
        description="Categories of your own instances that SearXNG lacks by default.",
    )
    public: PublicInstances = Field(
        default=PublicInstances.AUTO,
        description="Ask public instances: auto (only if you have none of your own), on, off.",
    )
    catalog: str = Field(
        default="",
        description="Path of an instances.json to use instead of the bundled one.",
    )
    source: Annotated[
        str,
        matching(r"^(https?://[^\s/?#@]+(/\S*)?)?$", "an http or https address, or empty"),
        OF_SERVER,
    ] = Field(
        default="https://searx.space/data/instances.json",
        description="Where servers fetch a newer list of public instances; empty for never.",
    )
    min_grade: Literal["A+", "A", "B", "C", "F"] = Field(
        default="B", description="The worst grade of a public instance that is still asked."
    )
    blocked: tuple[
        Annotated[str, matching(r"^[^\s/?#@]{1,253}$", "a host such as search.example.org")], ...
    ] = Field(
        default=(),
        description="Hosts of public instances and open sources to skip.",
    )


class EngineCareMode(StrEnum):
    """Whether searches are spread over the engines of own instances."""

    AUTO = "auto"
    """While engines refuse an instance."""
    OFF = "off"


class OwnConfig(Frozen):
    """The `[own]` table: the instance that `instances own up` makes."""

    engine_care: EngineCareMode = Field(
        default=EngineCareMode.AUTO,
        description="Spread searches over the engines of own instances while some are refused: auto, off.",
    )
    idle: Annotated[float, Field(ge=0, le=2_592_000)] = Field(
        default=0.0,
        description="Seconds without a search after which it stops until the next one; 0 for never.",
    )
    source: Annotated[
        str,
        matching(r"^(https?://[^\s?#]+)?$", "an http or https address without ? and #, or empty"),
        OF_SERVER,
    ] = Field(
        default="https://github.com/searxng/searxng",
        description="Repository that its source archives are fetched from; empty fetches none.",
    )


class PoolConfig(Frozen):
    """How the pool judges and chooses; the client composes it from the tables above.

    Attributes:
        limits_double: whether to wait `rate_limit_backoff_base` after a limit that names no time, doubled each
            time up to an hour, instead of the windows of SearXNG's limiter.
        engine_care: whether to spread searches over the engines of own instances.
    """

    max_consecutive_failures: Annotated[int, Field(ge=1)] = 3
    rate_limit_backoff_base: Annotated[float, Field(ge=1)] = 60.0
    limits_double: bool = False
    random_start: bool = True
    aperture: Annotated[int, Field(ge=1)] = 12
    engine_care: bool = True
