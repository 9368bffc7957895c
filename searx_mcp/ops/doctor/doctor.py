"""The doctor: this machine first (configuration, data folder, clock), then each instance, or the way to the public ones."""

import asyncio
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Final

from pydantic import ValidationError
from yarl import URL

from searx_mcp.errors import InvalidArgumentError, SettingsError
from searx_mcp.files import network_filesystem
from searx_mcp.http.diagnosis import LookUp, look_up
from searx_mcp.http.http import HttpSession
from searx_mcp.http.sessions import Sessions
from searx_mcp.http.trust import tls_context
from searx_mcp.models.credentials import Credentials
from searx_mcp.models.diagnosis import Check, CheckName, CheckStatus, Diagnosis, Examination
from searx_mcp.models.instance import InstanceReport, PoolReport, Tier, base_url
from searx_mcp.models.service import Progress
from searx_mcp.ops.doctor.asking import Asked
from searx_mcp.ops.doctor.belief import is_well
from searx_mcp.ops.doctor.connection import Means, check_proxy, proxy_silent
from searx_mcp.ops.doctor.course import (
    STEP_TIMEOUT,
    Course,
    Finding,
    broken,
    doubtful,
    fine,
    skipped,
    title,
)
from searx_mcp.ops.doctor.instance import examine_instance
from searx_mcp.ops.doctor.native import Native, native_instance
from searx_mcp.ops.doctor.public import SUBJECT, examine_public
from searx_mcp.ops.instance_admin import InstanceAdmin
from searx_mcp.settings.instances import without_credentials
from searx_mcp.settings.sources import DEFAULT, Loaded
from searx_mcp.sources.open.config import OpenSourcesMode
from searx_mcp.urls.address import AllowList

CLOCK_TOLERANCE: Final = 300.0
"""Seconds by which clocks may differ: budgets of minutes and hours do not notice that."""

LITTLE_SPACE: Final = 50 * 1_048_576
"""Bytes; the state of a year is far smaller, and SQLite wants room for its log."""

_CONTAINER_SIGNS: Final = (".dockerenv", "run/.containerenv")
"""Files that Docker and podman put into every container."""


def in_container(root: Path = Path("/")) -> bool:
    """Whether this process runs in a container of Docker or podman."""
    return any((root / sign).exists() for sign in _CONTAINER_SIGNS)


def check_configuration(origins: Mapping[str, str]) -> Finding:
    """Say where the settings come from; that they could be read is known by now."""
    sources = Counter(origin for origin in origins.values() if origin != DEFAULT)
    if not sources:
        return fine("No setting differs from its default.")
    count = sources.total()
    return fine(f"{count} {'settings' if count > 1 else 'setting'} from {_listed(sources)}.")


def misconfigured(error: SettingsError) -> Finding:
    """Say which setting cannot be used, and where it stands."""
    place = error.origin.removeprefix("file ") or "the configuration"
    fix = error.advice or f"Correct or remove {error.field} in {place}."
    return broken(_sentence(error.message), fix)


def check_contact(contact: str) -> Finding:
    """Say whether operators of open sources can reach whoever runs this program; they judge by it."""
    if contact:
        return fine(f"Operators of open sources who ask for one are told {contact}.")
    return doubtful(
        "Open sources are asked without a contact: Wikipedia, Commons and Crossref allow less,"
        " crates.io may refuse.",
        "Name a mail address or page of yours, by which their operators reach you.\n"
        '[open_sources]\ncontact = "you@example.org"',
    )


def check_data_folder(folder: Path | None, problem: str) -> Finding:
    """Look at the folder of the state, which the store has opened by now.

    Args:
        folder: where the state is kept; `None` in memory.
        problem: what the store says about it; empty if all is well.
    """
    if problem:
        reason, _, advice = problem.removesuffix(".").rpartition(". ")
        return broken(_sentence(reason or problem), _sentence(advice))
    if folder is None:
        return fine("The state is kept in memory, as configured.")
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        return broken(
            f"{folder} is not a folder that can be written.",
            f"Make it one for this user.\nmkdir -p {folder} && chmod u+rwx {folder}",
        )
    if kind := network_filesystem(folder):
        return broken(
            f"{folder} is on a network file system ({kind}).",
            'Name a folder on a local disk in the configuration.\n[storage]\nfolder = "/var/lib/searx-mcp"',
        )
    free = shutil.disk_usage(folder).free
    if free < LITTLE_SPACE:
        return doubtful(
            f"The disk of {folder} has {free / 1e6:.0f} MB left.", "Make room on that disk."
        )
    return fine(f"{folder} can be written; {free / 1e9:.1f} GB are free.")


def check_clock(offsets: Mapping[str, float]) -> Finding:
    """Compare the clock with those of the hosts that answered.

    Args:
        offsets: seconds by which a host's clock is ahead of ours, by host.
    """
    if not offsets:
        return skipped("Nobody answered with a date.")
    host, offset = min(offsets.items(), key=lambda item: abs(item[1]))
    if abs(offset) <= CLOCK_TOLERANCE:
        return fine(f"It agrees with that of {host}.")
    return doubtful(
        f"It is {abs(offset) / 60:.0f} minutes {'behind' if offset > 0 else 'ahead of'} that of"
        f" {host}.",
        "Set the clock that is wrong; on Linux, for good:\ntimedatectl set-ntp true",
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


OpenPool = Callable[[], AbstractAsyncContextManager[InstanceAdmin]]
"""Opens the pool that searches use; may raise `SettingsError`."""

TIMEOUT: Final = 55.0
"""Seconds a whole examination may take."""

_MACHINE: Final = "this machine"


class Doctor:
    """Finds what keeps searches from working, and costs no instance a search.

    Nothing is searched for, and no budget is charged. An own instance that is seen to work is asked again
    by searches at once, whatever they thought of it. At an instance that is not the user's it asks
    only for what the limiter does not count.

    Args:
        loaded: the settings, and where they come from.
        open_pool: opens the pool that searches use.
        look_up: gives the addresses of a host.
        clock: Unix seconds.
        contained: whether this process runs in a container; looked up unless given.
        progress: told each step.
    """

    def __init__(
        self,
        loaded: Loaded,
        open_pool: OpenPool,
        *,
        look_up: LookUp = look_up,
        clock: Callable[[], float] = time.time,  # noqa: TID251 - compared with the clocks of others
        contained: bool | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._settings = loaded.settings
        self._origins = loaded.origins
        self._open_pool = open_pool
        self._clock = clock
        self._look_up = look_up
        self._contained = in_container() if contained is None else contained
        self._progress = progress

    async def examine(self, address: str | None = None, *, own: bool = False) -> Diagnosis:
        """Examine this machine, and an instance or all of the user's own.

        Args:
            address: of an instance, with user name and password if it wants them; without one,
                all own instances, or the way to the public ones where there is none.
            own: whether the instance is the user's although it has a public address: it is asked
                whether JSON is on, which its limiter counts.

        Raises:
            InvalidArgumentError: the address is none.
        """
        named, credentials = ((), ()) if address is None else _parsed(address)
        deadline = asyncio.get_running_loop().time() + TIMEOUT
        machine = Course(_MACHINE, deadline=deadline, progress=self._progress)
        settings = self._settings
        try:
            report, problem = await self._report()
            logins = (*credentials, *settings.instances.credentials)
            in_pool = (row.url for row in report.instances if row.tier is Tier.OWN)
            of_pool = tuple(dict.fromkeys((*settings.instances.own, *in_pool)))
            sessions = Sessions(
                settings.network,
                own_origins=(*of_pool, *named),
                credentials=logins,
                allow=AllowList.parse(settings.fetch.allow_private),
            )
            means = self._means()
        except SettingsError as exc:
            return misconfiguration(exc)
        machine.note(CheckName.CONFIGURATION, check_configuration(self._origins))
        if _asks_open_sources(settings.open_sources.mode, has_own=bool(named or of_pool)):
            machine.note(CheckName.CONTACT, check_contact(settings.open_sources.contact))
        folder = settings.state_folder()
        look = partial(asyncio.to_thread, check_data_folder, folder, problem)
        await machine.take(CheckName.DATA_FOLDER, look)
        await machine.take(CheckName.PROXY, partial(check_proxy, means), late=proxy_silent())
        round_ = _Round(
            means,
            self._clock,
            deadline,
            self._progress,
            time_limit=settings.search.attempt_timeout,
            believed={row.url: row for row in report.instances},
            logins={entry.url for entry in logins if entry.username is not None},
        )
        async with sessions:
            if urls := named or of_pool:
                known = {*of_pool, *(named if own else ())}
                native = await asyncio.to_thread(native_instance, folder)
                rest = await round_.instances(urls, sessions.own, known, native)
            else:
                source = "" if settings.instances.catalog else settings.instances.source
                rest = [await round_.public(report, source, sessions.public)]
        await self._revive(
            [each.url for each in rest if each.url in of_pool and is_well(each.checks)]
        )
        # What the answers tell of the clock is known only now; it is shown where it belongs.
        machine.note(CheckName.CLOCK, check_clock(round_.offsets))
        *first, proxy, clock = machine.checks
        checks = (*first, clock, proxy)
        return _diagnosis(Examination(subject=_MACHINE, checks=checks), *rest)

    async def _revive(self, urls: Sequence[str]) -> None:
        """Let searches ask the own instances at once that were seen to work."""
        if not urls:
            return
        async with self._open_pool() as admin:
            await admin.revive(urls)

    def _means(self) -> Means:
        network = self._settings.network
        return Means(
            look_up=self._look_up,
            proxies=network.proxies(),
            trust=tls_context(network.ca_file),
            in_container=self._contained,
        )

    async def _report(self) -> tuple[PoolReport, str]:
        """The pool, and what is wrong with the store; raises what opening it raises."""
        async with self._open_pool() as admin:
            return await admin.list(), admin.problem


class _Round:
    """Goes to hosts, and learns their clocks on the way: seconds ahead of ours, by host.

    `time_limit` is what a search gives an instance, in seconds, `believed` what searches know of
    instances, by base URL, and `logins` are those for which there is a user name.
    """

    def __init__(
        self,
        means: Means,
        clock: Callable[[], float],
        deadline: float,
        progress: Progress | None,
        *,
        time_limit: float,
        believed: Mapping[str, InstanceReport],
        logins: Collection[str],
    ) -> None:
        self.offsets: dict[str, float] = {}
        self._means = means
        self._clock = clock
        self._deadline = deadline
        self._progress = progress
        self._time_limit = time_limit
        self._believed = believed
        self._logins = logins

    async def instances(
        self,
        urls: Iterable[str],
        session: HttpSession,
        known: Collection[str],
        native: Native | None,
    ) -> list[Examination]:
        """Examine instances beside each other; `known` are the user's, wherever they are."""

        async def examine(url: str) -> Examination:
            made = native if native is not None and native.installed.url == url else None
            return await examine_instance(
                self._course(url),
                url,
                self._asked(session),
                self._means,
                own=url in known,
                has_login=url in self._logins,
                time_limit=self._time_limit,
                believed=self._believed.get(url),
                native=made,
            )

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(examine(url)) for url in urls]
        return [task.result() for task in tasks]

    async def public(self, report: PoolReport, source: str, session: HttpSession) -> Examination:
        """Examine the way to the public instances."""
        course, asked = self._course(SUBJECT), self._asked(session)
        return await examine_public(course, report, source, asked, self._means)

    def _course(self, subject: str) -> Course:
        return Course(subject, deadline=self._deadline, progress=self._progress)

    def _asked(self, session: HttpSession) -> Asked:
        return Asked(session, self._clock, timeout=STEP_TIMEOUT, offsets=self.offsets)


def _asks_open_sources(mode: OpenSourcesMode, *, has_own: bool) -> bool:
    """Whether a search may go to open sources without a word of the caller's."""
    return mode is not OpenSourcesMode.OFF and not (mode is OpenSourcesMode.AUTO and has_own)


def misconfiguration(error: SettingsError) -> Diagnosis:
    """The diagnosis when the settings cannot be used: nothing else can be looked at."""
    course = Course(_MACHINE, deadline=0.0, progress=None)
    course.note(CheckName.CONFIGURATION, misconfigured(error))
    for name in (CheckName.DATA_FOLDER, CheckName.CLOCK, CheckName.PROXY):
        course.note(name, skipped(f"It needs {title(CheckName.CONFIGURATION)}."))
    return _diagnosis(Examination(subject=_MACHINE, checks=tuple(course.checks)))


def _parsed(address: str) -> tuple[tuple[str], tuple[Credentials, ...]]:
    try:
        urls, entries = without_credentials([address])
        url = base_url(urls[0])
        URL(url).origin()
        return (url,), tuple(map(Credentials.model_validate, entries))
    except ValidationError as exc:
        raise InvalidArgumentError("url", "its user name or password cannot be used") from exc
    except ValueError as exc:
        raise InvalidArgumentError("url", str(exc)) from exc


def _diagnosis(*examinations: Examination) -> Diagnosis:
    checks = [(each.subject, check) for each in examinations for check in each.checks]
    failed = [pair for pair in checks if pair[1].status is CheckStatus.FAILED]
    warned = [pair for pair in checks if pair[1].status is CheckStatus.WARNING]
    return Diagnosis(
        healthy=not failed,
        summary=_summary(failed, warned, len(checks)),
        examinations=examinations,
    )


def _summary(
    failed: Sequence[tuple[str, Check]], warned: Sequence[tuple[str, Check]], total: int
) -> str:
    if failed:
        subject, check = failed[0]
        rest = f", {_counted(len(warned), 'warning')}" if warned else ""
        begin = f"begin with {title(check.name)} of {subject}."
        return f"{len(failed)} of {total} checks failed{rest}; {begin}"
    if warned:
        return f"Nothing failed; {_counted(len(warned), 'warning')}."
    return "Nothing is wrong."


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"
