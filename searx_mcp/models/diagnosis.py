"""What `searx-mcp doctor` found: checks, in the order in which they were made."""

from enum import StrEnum

from searx_mcp.models.base import Frozen


class CheckName(StrEnum):
    """What is looked at; `docs/doctor.md` has a section for each."""

    CONFIGURATION = "configuration"
    CONTACT = "contact"
    """Whether operators of open sources can reach whoever runs this."""
    DATA_FOLDER = "data_folder"
    CLOCK = "clock"
    PROXY = "proxy"
    PROCESS = "process"
    """Whether the instance that `instances own up` made runs."""
    DNS = "dns"
    TCP = "tcp"
    TLS = "tls"
    HEALTHZ = "healthz"
    JSON = "json"
    LIMITER = "limiter"
    ENGINE_ERRORS = "engine_errors"
    ENGINES = "engines"
    POOL = "pool"
    """What searches believe of the instance, beside what was measured."""
    SEARCHES = "searches"
    """What earlier searches learned of the engines of an own instance."""
    VERSION = "version"
    """Whether the instance that `instances own up` made is up to date and whole."""
    LIST = "list"
    """Whether the list of public instances can be fetched."""
    BUDGET = "budget"
    """What public instances still allow this month."""


class CheckStatus(StrEnum):
    """How a check ended."""

    OK = "ok"
    WARNING = "warning"
    """Searches work, and less well than they could."""
    FAILED = "failed"
    SKIPPED = "skipped"
    """Not made: what it needs had failed, or it would cost a stranger something."""


class Check(Frozen):
    """One thing that was looked at.

    Attributes:
        name: what it was.
        status: how it ended.
        detail: one sentence for a person; never a user name, a password or a token.
        fix: what to do, for a warning or a failure; else empty. The first line is a sentence, the
            others are to be copied as they stand.
        elapsed_ms: how long it took, in milliseconds.
    """

    name: CheckName
    status: CheckStatus
    detail: str
    fix: str = ""
    elapsed_ms: int = 0


class Examination(Frozen):
    """The checks of one subject, in order.

    Attributes:
        subject: this machine, an instance or the public instances, for a person.
        url: the base URL of the instance that was asked; empty for anything else.
        checks: what was looked at.
    """

    subject: str
    url: str = ""
    checks: tuple[Check, ...]


class Diagnosis(Frozen):
    """Everything the doctor found.

    Attributes:
        healthy: whether no check failed; warnings are no failures.
        summary: one sentence for a person.
        examinations: this machine first, then each instance.
    """

    healthy: bool
    summary: str
    examinations: tuple[Examination, ...]
