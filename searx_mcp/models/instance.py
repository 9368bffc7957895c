"""A SearXNG site, as a catalog lists it and as the pool reports it."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from searx_mcp.models.attempt import Format, PastOutcome, Verdict
from searx_mcp.models.base import Frozen


class NetworkType(StrEnum):
    """Networks through which an instance is reached."""

    NORMAL = "normal"
    TOR = "tor"


class Tier(StrEnum):
    """An instance's owner and grade; earlier tiers are asked first."""

    OWN = "own"
    A_PLUS = "A+"
    A = "A"
    B = "B"
    C = "C"
    OPEN = "open"
    """No instance: a documented API of an open collection."""
    KEYED = "keyed"
    """No instance: a company's search API, used with the user's own key."""

    @property
    def is_instance(self) -> bool:
        """Whether it is a tier of instances."""
        return self not in {Tier.OPEN, Tier.KEYED}


class InstanceState(StrEnum):
    """States of an instance."""

    NEW = "new"
    HEALTHY = "healthy"
    DEGRADED = "degraded"
    RATE_LIMITED = "rate_limited"
    FAILING = "failing"
    HALF_OPEN = "half_open"
    QUARANTINED = "quarantined"
    BLACKLISTED = "blacklisted"
    """Not asked until the user resets it."""


class InstanceChoice(StrEnum):
    """Choices about instances that the user made by command, besides the settings."""

    OWN = "own"
    """The base URL of an own instance that was added."""
    BLOCKED = "blocked"
    """A host that is never asked as a public instance."""


class SortKey(StrEnum):
    """Keys to sort a list of instances by; without one, it is in the order in which they are asked."""

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
    """One instance as a catalog lists it; anything but the URL may be unknown.

    Attributes:
        url: base URL ending in `/`.
        tls_grade: grade of the TLS set-up, `A+` to `F`.
        http_grade: grade of the HTTP headers, `A+` to `F`.
        html_grade: grade of the scripts and styles of its pages, `V` (as upstream) to `E`.
        uptime: measured by the catalog.
        search_success: percent of the catalog's own searches that returned results.
        search_latency: median seconds of those searches.
        engines_working: share of its three general engines that the catalog found working, 0 to 1.
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
        source: where the list comes from, in words.
        listed_at: the date of the list of hosts.
        measured_at: the date of the figures.
    """

    schema_version: Annotated[int, Field(ge=1, le=1)] = 1
    source: str = ""
    listed_at: datetime
    measured_at: datetime | None = None
    instances: tuple[CatalogEntry, ...] = ()


class EngineState(StrEnum):
    """States of an engine inside an instance."""

    WELL = "well"
    REFUSED = "refused"
    """The site behind it blocks the instance, or did so recently."""
    FAILING = "failing"
    """It failed for another reason, such as a timeout."""


class EngineReport(Frozen):
    """One engine of an own instance, as seen in answers to searches.

    Attributes:
        reason: why it failed last, in the instance's words; empty if it answered.
        retry_after: seconds until it is asked again; 0 if it may be asked now.
        spared: whether searches are spread over other engines to spare it.
        answered, refused, failed: how often it did.
        results: rows that it found, alone or with other engines.
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
        score: 0 to 1, its weight within its tier.
        retry_after: seconds until it may be asked again; 0 if it may now.
        drift: how often it answered with rows that could not be read.
        budget_left: requests that the instance's own budget still allows; `None` for no limit.
        latency: moving average of its answers in seconds, or `None`.
        p50: median of its latest answers in seconds, or `None`.
        p95: 95th percentile of them.
        success: share of all requests to it that ended a search, or `None` before the first.
        uptime: percent of the last month that the catalog found it up, or of the nearest known window;
            `None` if unknown.
        last_checked: when a request or health check last reached it, or `None`.
        rate_limited_until: when its rate limit for us ends, or `None` if there is none now.
        format: the format that would be requested now; `None` while unknown.
        reason: why it is waiting, one sentence; empty if it is not.
        score_parts: the parts of the score, each 0 to 1; see `searx_mcp.pool.member`.
        version: its SearXNG version, from `/config`.
        limiter: whether its limiter is on, from `/config`; `None` while unknown.
        link_token: whether it requires the limiter's token, which programs do not have; `None` while
            unknown.
        source: name of an open source, as in the settings; empty for an instance.
        engines: how the engines of an own instance answered, those with the most results first.
        outcomes: its latest requests, newest last; left out when serialized.
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

    These are the last thirty days, not a calendar month. All figures but the last are searches. See
    `docs/decisions/budgets.md`.

    Attributes:
        capacity: what they allow together in thirty days.
        spent: how much of it all processes of the user used in the last thirty days, at most the
            capacity.
        left_now: allowed at this moment.
        left_month: what remains above the reserve.
        kept_back: the reserve, which is never used.
        retry_after: seconds until the next one is allowed; 0 if it is now.
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
        catalog_source: where the public instances come from; empty if they are not used.
        catalog_age_days: days since the list of hosts was made, or `None`.
        month: the rest of the budget that public instances share; `None` if none of them counts
            requests over thirty days.
        notes: sentences an operator should know, such as that the catalog is old.
    """

    instances: tuple[InstanceReport, ...]
    catalog_source: str = ""
    catalog_age_days: int | None = None
    month: MonthReport | None = None
    notes: tuple[str, ...] = ()
