"""A SearXNG site we can query, as a catalog lists it and as the pool reports it."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from searx_mcp.models.attempt import Verdict
from searx_mcp.models.base import Frozen


class NetworkType(StrEnum):
    """How an instance is reached."""

    NORMAL = "normal"
    TOR = "tor"


class Tier(StrEnum):
    """Whose an instance is and how well it is graded; earlier tiers are asked first."""

    OWN = "own"
    A_PLUS = "A+"
    A = "A"
    B = "B"
    C = "C"


class InstanceState(StrEnum):
    """Where an instance stands in its life."""

    NEW = "new"
    HEALTHY = "healthy"
    DEGRADED = "degraded"
    RATE_LIMITED = "rate_limited"
    FAILING = "failing"
    HALF_OPEN = "half_open"
    QUARANTINED = "quarantined"


Percent = Annotated[float, Field(ge=0, le=100)]


class Uptime(Frozen):
    """Percent of the time the instance answered, over four windows; `None` if unknown."""

    day: Percent | None = None
    week: Percent | None = None
    month: Percent | None = None
    year: Percent | None = None


class CatalogEntry(Frozen):
    """One instance as a catalog lists it; everything but the URL may be unknown.

    Attributes:
        url: base URL ending in `/`.
        tls_grade: grade of the TLS set-up, `A+` to `F`.
        http_grade: grade of the HTTP headers, `A+` to `F`.
        uptime: measured by the catalog.
        search_success: percent of the catalog's own searches that had results.
        search_latency: median seconds of those searches.
    """

    url: str
    network_type: NetworkType = NetworkType.NORMAL
    tls_grade: str | None = None
    http_grade: str | None = None
    uptime: Uptime = Uptime()
    search_success: Percent | None = None
    search_latency: Annotated[float | None, Field(ge=0)] = None


class Catalog(Frozen):
    """A dated list of public instances: the schema of `instances.json`.

    Attributes:
        schema_version: 1; a newer major is refused.
        source: where the list comes from, for a person.
        listed_at: the date of the list of hosts.
        measured_at: the date of the figures.
    """

    schema_version: Annotated[int, Field(ge=1, le=1)] = 1
    source: str = ""
    listed_at: datetime
    measured_at: datetime | None = None
    instances: tuple[CatalogEntry, ...] = ()


class InstanceReport(Frozen):
    """What the pool knows of one instance now.

    Attributes:
        score: 0 to 1, the weight among its tier.
        retry_after: seconds until it may be asked again; 0 when it may now.
        budget_left: requests the instance's own budget still allows; `None` for no limit.
        latency: moving average of its answers in seconds, or `None`.
    """

    url: str
    tier: Tier
    grade: str | None
    state: InstanceState
    score: float
    successes: int = 0
    failures: int = 0
    consecutive_failures: int = 0
    latency: float | None = None
    json_enabled: bool | None = None
    last_verdict: Verdict | None = None
    last_detail: str = ""
    retry_after: float = 0.0
    budget_left: int | None = None


class PoolReport(Frozen):
    """The whole pool, for `instances list`.

    Attributes:
        catalog_source: where the public instances come from; empty when they are not used.
        catalog_age_days: days since the list of hosts was made, or `None`.
        notes: sentences an operator should know, such as an old catalog.
    """

    instances: tuple[InstanceReport, ...]
    catalog_source: str = ""
    catalog_age_days: int | None = None
    notes: tuple[str, ...] = ()
