"""Reports of looking after the pool: one value for each command."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import JsonValue

from searx_mcp.models.attempt import Format, PastOutcome, Verdict
from searx_mcp.models.base import Frozen
from searx_mcp.models.instance import CatalogEntry, Choice, InstanceReport


class Source(StrEnum):
    """Reasons why an instance is in the pool."""

    SETTINGS = "settings"
    COMMAND = "command"
    """Added by `instances add`."""
    LIST = "list"
    TABLE = "table"
    """No instance, but an open source of this program's table."""
    KEY = "key"
    """No instance, but a keyed provider whose key is set."""


class WindowReport(Frozen):
    """One limit of a budget.

    Attributes:
        limit: requests it allows.
        seconds: its length.
        format: which requests count; `None` counts all.
        spent: requests inside it now.
    """

    limit: int
    seconds: float
    format: Format | None = None
    spent: int = 0


class Timers(Frozen):
    """The times of an instance; `None` where there was or will be nothing.

    Attributes:
        learned_at: when anything was learned of it last.
        waits_until: when it may be asked again, as far as its state goes.
        budget_free_at: when its budget allows another request.
        healthy_since: since when it is healthy.
        robots_read_at: when its robots.txt was read.
        json_again_at: from when on JSON is tried again, after it was off.
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
    """An open source as the table has it.

    Attributes:
        title: its name for a person.
        operator: who runs it, and from which country.
        categories: what it is asked for.
        licence: what the licence of its data asks to be said; empty if it asks for nothing.
        terms_url: where limits and terms stand.
        terms_checked: the month in which they were read, `YYYY-MM`.
    """

    title: str
    operator: str
    categories: tuple[str, ...]
    licence: str
    terms_url: str
    terms_checked: str


class InstanceDetails(Frozen):
    """Everything that is known of one instance.

    Attributes:
        instance: as in the list.
        source: why it is in the pool.
        listed: what the list of public instances says of it, if it is there.
        outcomes: what the latest requests came to, the newest first.
        windows: the limits of its budget; none for an own instance.
        config: what its `/config` said, or `None` if it was not read.
        open_source: of an open source what the table says of it.
    """

    instance: InstanceReport
    source: Source
    listed: CatalogEntry | None = None
    outcomes: tuple[PastOutcome, ...] = ()
    timers: Timers = Timers()
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


class Check(Frozen):
    """Answers of an instance to probes that cost it no search.

    Attributes:
        alive: whether it answers `/healthz`.
        elapsed_ms: how long that took.
        detail: why its robots.txt cannot be read.
        config: what its `/config` says, or `None` if that cannot be read.
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
        checks: in the order asked for.
        offline: whether nobody at all answered, so that nothing is held against anybody.
    """

    checks: tuple[Check, ...]
    offline: bool = False


class Refresh(Frozen):
    """Outcome of fetching the list of public instances.

    Attributes:
        source: where it comes from.
        listed: rows of the list; 0 while unknown.
        kept: instances of it that may be asked.
        dropped: rows that may not, by reason.
        in_pool: public instances in the pool now, after `min_grade` and what is blocked.
        changed: whether the list differs from the one before.
        listed_at: the date of the list in use.
        problem: why there is no newer list, a sentence; empty if all went well.
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
    """Changes that a command made.

    Attributes:
        subject: the base URL or host.
        changed: whether it was not so before.
        message: what holds now, a sentence for a person.
        notes: what else they should know.
    """

    subject: str
    changed: bool
    message: str
    notes: tuple[str, ...] = ()


class Trial(Frozen):
    """One real search at one instance.

    Attributes:
        rows_seen: rows the answer had.
        rows_used: rows that could be read.
        cost: requests charged to its budget; 0 at an own instance.
        left: what its budget allows now; `None` for no limit.
        month_left: what the public instances allow together this month; `None` if it does not count.
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
    """Choices of the user and what was learned, to be taken elsewhere; no charges, no queries.

    Attributes:
        records: what was learned, one object for each instance.
    """

    schema_version: Literal[1] = 1
    exported_at: datetime
    searx_mcp: str
    choices: Mapping[Choice, tuple[str, ...]]
    records: tuple[Mapping[str, JsonValue], ...]


class Imported(Frozen):
    """Changes that an import made.

    Attributes:
        added: own instances that were not known.
        blocked: hosts that were not blocked.
        learned: instances of which it knew something newer.
        known: instances of which something newer was known here.
    """

    added: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    learned: int = 0
    known: int = 0


class BudgetLine(Frozen):
    """One account of the ledger.

    Attributes:
        name: the base URL, or `public` for what all public instances share.
        spent: requests of the last thirty days.
        left: allowed now; `None` for no limit.
        limit: the most in thirty days, or `None` if only shorter windows limit it.
        free_at: when one is allowed again; `None` if one is allowed now.
        pace: requests a day over the last week.
        dry_at: when nothing is left at this pace; `None` if it lasts.
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
        instances: the dearest first.
        month: what those that count requests over thirty days allow together.
        at: when this was so.
        notes: sentences an operator should know.
    """

    at: datetime
    instances: tuple[BudgetLine, ...] = ()
    month: BudgetLine | None = None
    notes: tuple[str, ...] = ()
