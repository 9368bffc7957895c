"""Checks of one subject, in sequence, and their results in the doctor's report.

The report lists them in the order in which they were made.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from searx_mcp.models.base import Frozen
from searx_mcp.models.progress import Progress


class CheckName(StrEnum):
    """Names of the checks; `docs/guides/troubleshooting.md` has a row for each."""

    CONFIGURATION = "configuration"
    CONTACT = "contact"
    """Whether operators of open sources can reach the user."""
    PROVIDERS = "providers"
    """Keyed providers that have a key, and the rest of their budgets."""
    DATA_FOLDER = "data_folder"
    CLOCK = "clock"
    PROXY = "proxy"
    PROCESS = "process"
    """Whether the instance that `instances own up` made is running."""
    DNS = "dns"
    TCP = "tcp"
    TLS = "tls"
    HEALTHZ = "healthz"
    JSON = "json"
    LIMITER = "limiter"
    ENGINE_ERRORS = "engine_errors"
    ENGINES = "engines"
    POOL = "pool"
    """What the pool believes about the instance, compared with the measurements."""
    SEARCHES = "searches"
    """Results of earlier searches with the engines of an own instance."""
    VERSION = "version"
    """Whether the instance that `instances own up` made is up to date and complete."""
    LIST = "list"
    """Whether the list of public instances can be fetched."""
    BUDGET = "budget"
    """Searches that public instances still allow this month."""


class CheckStatus(StrEnum):
    """Outcomes of a check."""

    OK = "ok"
    WARNING = "warning"
    """Searches work, but not as well as they could."""
    FAILED = "failed"
    SKIPPED = "skipped"
    """Not made: something it needs has failed, or it would cost others something."""


class Check(Frozen):
    """One check and its result.

    Attributes:
        name: of the check.
        status: its result.
        detail: one sentence for a person; never a user name, a password or a token.
        fix: what to do, for a warning or a failure; else empty. The first line is a sentence, the others are
            to be copied unchanged.
        elapsed_ms: its duration in milliseconds.
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
        url: the base URL of the examined instance; empty for anything else.
        checks: of the subject.
    """

    subject: str
    url: str = ""
    checks: tuple[Check, ...]


class Diagnosis(Frozen):
    """All results of the doctor.

    Attributes:
        healthy: whether no check failed; warnings are not failures.
        summary: one sentence for a person.
        examinations: this machine first, then each instance.
    """

    healthy: bool
    summary: str
    examinations: tuple[Examination, ...]


STEP_TIMEOUT: Final = 5.0
"""Seconds for one check."""

TITLES: Final = {CheckName.HEALTHZ: "/healthz", CheckName.ENGINE_ERRORS: "/stats/errors"}
"""Names for a person, where they differ."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check; the fields are those of `Check`."""

    status: CheckStatus
    detail: str
    fix: str = ""


def fine(detail: str) -> Finding:
    """Make the result that all is well."""
    return Finding(CheckStatus.OK, detail)


def doubtful(detail: str, fix: str) -> Finding:
    """Make the result that searches work, but not as well as they could."""
    return Finding(CheckStatus.WARNING, detail, fix)


def broken(detail: str, fix: str) -> Finding:
    """Make the result that this keeps searches from working."""
    return Finding(CheckStatus.FAILED, detail, fix)


def skipped(detail: str) -> Finding:
    """Make the result of a skipped check, with the reason."""
    return Finding(CheckStatus.SKIPPED, detail)


class CheckRunner:
    """Makes the checks of one subject in sequence; a failed one skips those that need it.

    Args:
        subject: of the checks, for progress.
        deadline: loop time by which all must be done.
        progress: called with each step.
    """

    def __init__(self, subject: str, *, deadline: float, progress: Progress | None) -> None:
        self.checks: list[Check] = []
        self._subject = subject
        self._deadline = deadline
        self._progress = progress

    async def take(
        self,
        name: CheckName,
        examine: Callable[[], Awaitable[Finding]],
        *,
        late: Finding | None = None,
        needs: Collection[CheckName] = (),
    ) -> None:
        """Make a check, unless one that it needs has failed or was skipped.

        Args:
            name: of the check.
            examine: makes it.
            late: the result if that takes longer than `STEP_TIMEOUT`.
            needs: checks without which this one makes no sense.
        """
        loop = asyncio.get_running_loop()
        started = loop.time()
        missing = next((check for check in self.checks if _stands_in_the_way(check, needs)), None)
        if missing is not None:
            finding = skipped(f"Needs {title(missing.name)}.")
        elif started >= self._deadline:
            finding = skipped("Skipped: out of time.")
        else:
            self._say(name)
            finding = late or skipped("Timed out.")
            try:
                async with asyncio.timeout_at(min(started + STEP_TIMEOUT, self._deadline)):
                    finding = await examine()
            except TimeoutError:
                pass  # `finding` says so
        self.note(name, finding, elapsed=loop.time() - started)

    def note(self, name: CheckName, finding: Finding, *, elapsed: float = 0.0) -> None:
        """Record the result of a check after `elapsed` seconds."""
        check = Check(
            name=name,
            status=finding.status,
            detail=finding.detail,
            fix=finding.fix,
            elapsed_ms=round(elapsed * 1_000),
        )
        self.checks.append(check)

    def _say(self, name: CheckName) -> None:
        if self._progress is not None:
            self._progress(f"{self._subject}: {title(name)}")


def title(name: CheckName) -> str:
    """Return the name of a check for a person."""
    return TITLES.get(name, name.replace("_", " "))


def _stands_in_the_way(check: Check, needs: Collection[CheckName]) -> bool:
    return check.name in needs and check.status in {CheckStatus.FAILED, CheckStatus.SKIPPED}
