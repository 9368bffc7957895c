"""A SearXNG site we can query, as a catalog lists it and as the pool reports it."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from searx_mcp.models.attempt import Format, PastOutcome, Verdict
from searx_mcp.models.base import Frozen


class NetworkType(StrEnum):
    """Networks by which an instance is reached."""

    NORMAL = "normal"
    TOR = "tor"


class Tier(StrEnum):
    """Whose an instance is and how well it is graded; earlier tiers are asked first."""

    OWN = "own"
    A_PLUS = "A+"
    A = "A"
    B = "B"
    C = "C"
    OPEN = "open"
    """No instance: a documented API of an open collection."""
    KEYED = "keyed"
    """No instance: a search API of a company, asked with a key of the user's own."""

    @property
    def is_instance(self) -> bool:
        """Tell whether it is a tier of instances."""
        return self not in {Tier.OPEN, Tier.KEYED}


class InstanceState(StrEnum):
    """Where an instance stands in its life."""

    NEW = "new"
    HEALTHY = "healthy"
    DEGRADED = "degraded"
    RATE_LIMITED = "rate_limited"
    FAILING = "failing"
    HALF_OPEN = "half_open"
    QUARANTINED = "quarantined"
    BLACKLISTED = "blacklisted"
    """Left alone until somebody lifts it by hand."""


class Choice(StrEnum):
    """Choices of the user about instances, by command, beside the settings."""

    OWN = "own"
    """The base URL of an own instance that was added."""
    BLOCKED = "blocked"
    """A host that is never asked as a public instance."""


class SortKey(StrEnum):
    """Keys that a list of instances is put in order by; without one, as they are asked."""

    HOST = "host"
    SCORE = "score"
    STATE = "state"
    SUCCESS = "success"
    P50 = "p50"
    P95 = "p95"
    LEFT = "left"
    NEXT = "next"


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
        html_grade: grade of the scripts and styles of its pages, `V` (as upstream) to `E`.
        uptime: measured by the catalog.
        search_success: percent of the catalog's own searches that had results.
        search_latency: median seconds of those searches.
        engines_working: share of the three general engines it takes that the catalog saw working,
            0 to 1.
    """

    url: str
    network_type: NetworkType = NetworkType.NORMAL
    tls_grade: str | None = None
    http_grade: str | None = None
    html_grade: str | None = None
    uptime: Uptime = Field(default_factory=Uptime)
    search_success: Percent | None = None
    search_latency: Annotated[float | None, Field(ge=0)] = None
    engines_working: Annotated[float | None, Field(ge=0, le=1)] = None


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


class EngineState(StrEnum):
    """Last answers of an engine inside an instance."""

    WELL = "well"
    REFUSED = "refused"
    """The site behind it keeps the instance out, or did so lately."""
    FAILING = "failing"
    """It did not answer for another reason, such as a timeout."""


class EngineReport(Frozen):
    """One engine of an own instance, as answers to searches tell of it.

    Attributes:
        reason: why it did not answer last, in the words of the instance; empty if it did.
        retry_after: seconds for which it is left alone; 0 if it may be asked now.
        spared: whether searches are spread on its account.
        answered, refused, failed: how often it did.
        results: rows it found, alone or with others.
    """

    name: str
    state: EngineState
    reason: str = ""
    retry_after: float = 0.0
    spared: bool = False
    answered: int = 0
    refused: int = 0
    failed: int = 0
    results: int = 0


class InstanceReport(Frozen):
    """One instance as the pool knows it now.

    Attributes:
        score: 0 to 1, the weight among its tier.
        retry_after: seconds until it may be asked again; 0 when it may now.
        drift: how often it answered with rows none of which could be read.
        budget_left: requests the instance's own budget still allows; `None` for no limit.
        latency: moving average of its answers in seconds, or `None`.
        p50: median of its latest answers in seconds, or `None`.
        p95: 95th percentile of them.
        success: share of all requests to it that ended a search, or `None` before the first.
        uptime: percent of the last month in which the catalog found it up, or of the window nearest to
            that; `None` if the catalog does not tell.
        last_checked: when a request or a health check told something of it last, or `None`.
        rate_limited_until: when the limit it has set for us ends, or `None` if there is none now.
        format: what it would be asked for now; `None` while unknown.
        reason: why it is in a waiting state, a sentence for a person; empty if it is not.
        score_parts: what the score is made of, each 0 to 1; see `searx_mcp.pool.member`.
        version: of SearXNG, as its `/config` told.
        limiter: whether its `/config` says that the limiter runs; `None` while unknown.
        link_token: whether it wants the limiter's token, which programs do not have; `None` while
            unknown.
        source: of an open source its name, as it stands in settings; empty for an instance.
        engines: of an own instance how its engines answered, those that bring most first.
        outcomes: of the latest requests, the newest last; left out where a report is written as JSON.
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
    p50: float | None = None
    p95: float | None = None
    success: float | None = None
    uptime: Percent | None = None
    last_checked: datetime | None = None
    rate_limited_until: datetime | None = None
    format: Format | None = None
    json_enabled: bool | None = None
    last_verdict: Verdict | None = None
    last_detail: str = ""
    reason: str = ""
    score_parts: Mapping[str, float] = {}
    version: str | None = None
    limiter: bool | None = None
    link_token: bool | None = None
    drift: int = 0
    retry_after: float = 0.0
    budget_left: int | None = None
    source: str = ""
    engines: tuple[EngineReport, ...] = ()
    outcomes: SkipJsonSchema[tuple[PastOutcome, ...]] = Field(default=(), exclude=True, repr=False)


class MonthReport(Frozen):
    """Allowance of all public instances that count requests over thirty days.

    The days are the last thirty, not a month of the calendar, and all figures but the last are
    searches. See `docs/decisions/budgets.md`.

    Attributes:
        capacity: what all of them allow in thirty days.
        spent: of the capacity, used in the last thirty days by all processes of the user; where
            the capacity has shrunk below that, all of it.
        left_now: allowed at this moment.
        left_month: still to be had above the reserve.
        kept_back: the reserve, which is never used.
        retry_after: seconds until the next one is allowed; 0 when it is now.
    """

    capacity: int
    spent: int
    left_now: int
    left_month: int
    kept_back: int
    retry_after: float = 0.0


class PoolReport(Frozen):
    """The whole pool, for `instances list`.

    Attributes:
        catalog_source: where the public instances come from; empty when they are not used.
        catalog_age_days: days since the list of hosts was made, or `None`.
        month: what is left of the budget that public instances share; `None` when none of the pool
            counts requests over thirty days.
        notes: sentences an operator should know, such as an old catalog.
    """

    instances: tuple[InstanceReport, ...]
    catalog_source: str = ""
    catalog_age_days: int | None = None
    month: MonthReport | None = None
    notes: tuple[str, ...] = ()
