"""Reports of the commands that manage the pool, one value each."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import Field, JsonValue

from searx_mcp.models.attempt import Format, PastOutcome, Verdict
from searx_mcp.models.base import Frozen
from searx_mcp.models.instance import CatalogEntry, InstanceChoice, InstanceReport


class MemberReason(StrEnum):
    """Reasons why an instance is in the pool."""

    SETTINGS = "settings"
    COMMAND = "command"
    """Added by `instances add`."""
    LIST = "list"
    TABLE = "table"
    """No instance: an open source from this program's table."""
    KEY = "key"
    """No instance: a keyed provider whose key is set."""


class WindowReport(Frozen):
    """One limit of a budget.

    Attributes:
        limit: requests it allows.
        seconds: its length.
        format: which requests count; `None` for all.
        spent: requests in it now.
    """

    limit: int
    seconds: float
    format: Format | None = None
    spent: int = 0


class Timers(Frozen):
    """Points in the life of an instance; `None` where there is none.

    Attributes:
        learned_at: when anything was last learned about it.
        waits_until: when its state allows another request.
        budget_free_at: when its budget allows another request.
        healthy_since: when it became healthy.
        robots_read_at: when its robots.txt was read.
        json_again_at: when JSON is tried again after it was off.
    """

    learned_at: datetime | None = None
    waits_until: datetime | None = None
    budget_free_at: datetime | None = None
    healthy_since: datetime | None = None
    robots_read_at: datetime | None = None
    json_again_at: datetime | None = None


class ConfigReport(Frozen):
    """Contents of an instance's `/config`; `None` where it says nothing."""

    version: str | None = None
    limiter: bool | None = None
    link_token: bool | None = None
    public_instance: bool | None = None
    engines: tuple[str, ...] | None = None
    categories: tuple[str, ...] = ()


class OpenSource(Frozen):
    """An open source as listed in our table.

    Attributes:
        title: its display name.
        operator: who runs it, and in which country.
        categories: the categories it is asked for.
        licence: the credit that the licence of its data requires; empty if none.
        terms_url: page with its limits and terms.
        terms_checked: month in which we last read them, `YYYY-MM`.
    """

    title: str
    operator: str
    categories: tuple[str, ...]
    licence: str
    terms_url: str
    terms_checked: str


class InstanceDetails(Frozen):
    """Everything known about one instance.

    Attributes:
        instance: as in the list.
        source: why it is in the pool.
        listed: its entry in the list of public instances, if it has one.
        outcomes: outcomes of its latest requests, newest first.
        windows: the limits of its budget; none for an own instance.
        config: its `/config`, or `None` if it was not read.
        open_source: the table's entry, for an open source.
    """

    instance: InstanceReport
    source: MemberReason
    listed: CatalogEntry | None = None
    outcomes: tuple[PastOutcome, ...] = ()
    timers: Timers = Field(default_factory=Timers)
    windows: tuple[WindowReport, ...] = ()
    config: ConfigReport | None = None
    open_source: OpenSource | None = None


class Robots(StrEnum):
    """Answers of an instance's robots.txt to us."""

    ALLOWED = "allowed"
    OPTED_OUT = "opted_out"
    UNREADABLE = "unreadable"
    NOT_ASKED = "not_asked"
    """It was not needed: an own instance, or one that does not answer."""


class InstanceCheck(Frozen):
    """Answers of an instance to probes that do not search.

    Attributes:
        alive: whether it answers `/healthz`.
        elapsed_ms: how long that took.
        detail: why its robots.txt could not be read.
        config: its `/config`, or `None` if it could not be read.
    """

    url: str
    alive: bool
    elapsed_ms: int
    robots: Robots = Robots.NOT_ASKED
    detail: str = ""
    config: ConfigReport | None = None


class Checked(Frozen):
    """A round of probes.

    Attributes:
        checks: in the requested order.
        offline: whether no instance answered at all, so none is blamed.
    """

    checks: tuple[InstanceCheck, ...]
    offline: bool = False


class Refresh(Frozen):
    """Outcome of fetching the list of public instances.

    Attributes:
        source: where it comes from.
        listed: rows in the list; 0 while unknown.
        kept: usable instances among them.
        dropped: unusable rows, by reason.
        in_pool: public instances in the pool now, after `min_grade` and blocked hosts.
        changed: whether the list differs from the one before.
        listed_at: the date of the list in use.
        problem: why there is no newer list, one sentence; empty if it was fetched.
    """

    source: str
    listed: int = 0
    kept: int = 0
    dropped: Mapping[str, int] = {}
    in_pool: int = 0
    changed: bool = False
    listed_at: datetime | None = None
    problem: str = ""


class Change(Frozen):
    """The change that a command made.

    Attributes:
        subject: the base URL or host.
        changed: whether anything changed.
        message: the present state, one sentence.
        notes: what else the user should know.
    """

    subject: str
    changed: bool
    message: str
    notes: tuple[str, ...] = ()


class Trial(Frozen):
    """One real search at one instance.

    Attributes:
        rows_seen: rows in the answer.
        rows_used: rows that could be read.
        cost: requests charged to its budget; 0 for an own instance.
        left: requests that its budget allows now; `None` for no limit.
        month_left: requests that all public instances allow this month; `None` if not counted.
    """

    instance: str
    verdict: Verdict
    format: Format
    status_code: int | None
    elapsed_ms: int
    detail: str = ""
    rows_seen: int = 0
    rows_used: int = 0
    answers: int = 0
    infoboxes: int = 0
    suggestions: int = 0
    unresponsive_engines: int = 0
    cost: int = 0
    left: int | None = None
    month_left: int | None = None


class Exported(Frozen):
    """The user's choices and what was learned, to move elsewhere; no charges, no queries.

    Attributes:
        records: what was learned, one object per instance.
    """

    schema_version: Literal[1] = 1
    exported_at: datetime
    searx_mcp: str
    choices: Mapping[InstanceChoice, tuple[str, ...]]
    records: tuple[Mapping[str, JsonValue], ...]


class Imported(Frozen):
    """Changes that an import made.

    Attributes:
        added: own instances that are new here.
        blocked: hosts that were not blocked before.
        learned: instances for which the import was newer.
        known: instances for which our own records were newer.
    """

    added: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    learned: int = 0
    known: int = 0


class BudgetLine(Frozen):
    """One account of the ledger.

    Attributes:
        name: the base URL, or `public` for what all public instances share.
        spent: requests in the last thirty days.
        left: requests allowed now; `None` for no limit.
        limit: maximum in thirty days, or `None` if only shorter windows limit it.
        free_at: when the next one is allowed; `None` if one is allowed now.
        pace: requests per day over the last week.
        dry_at: when it runs out at this pace; `None` if it does not.
    """

    name: str
    spent: int
    left: int | None
    limit: int | None = None
    free_at: datetime | None = None
    pace: float = 0.0
    dry_at: datetime | None = None


class Ledger(Frozen):
    """The budgets of all public instances, with a forecast.

    Attributes:
        instances: those with the most requests first.
        month: the total of those that count requests over thirty days.
        at: when this was read.
        notes: sentences an operator should know.
    """

    at: datetime
    instances: tuple[BudgetLine, ...] = ()
    month: BudgetLine | None = None
    notes: tuple[str, ...] = ()
