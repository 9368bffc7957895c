"""The doctor: examines this machine, then each instance, or the access to the public ones."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import Final

from pydantic import ValidationError
from yarl import URL

from searx_mcp.errors import InvalidArgumentError, SearxMcpError, SettingsError
from searx_mcp.http.connections import tls_context
from searx_mcp.http.diagnosis import LookUp, look_up
from searx_mcp.http.sessions import Sessions
from searx_mcp.models.credentials import Credentials, base_url
from searx_mcp.models.instance import PoolReport, Tier
from searx_mcp.models.progress import Progress
from searx_mcp.models.spelling import counted
from searx_mcp.ops.doctor.checks import (
    STEP_TIMEOUT,
    Check,
    CheckName,
    CheckRunner,
    CheckStatus,
    Diagnosis,
    Examination,
    Finding,
    broken,
    doubtful,
    fine,
    skipped,
    title,
)
from searx_mcp.ops.doctor.connection import (
    PROXY_LATE,
    ConnectionOptions,
    ConnectionPath,
    check_path,
    check_proxy,
)
from searx_mcp.ops.doctor.engines import Engines, check_belief, check_searches, is_well
from searx_mcp.ops.doctor.instance import (
    HEALTH_LATE,
    DiagnosticClient,
    ExaminedInstance,
    check_health,
    check_json,
    check_limiter,
)
from searx_mcp.ops.doctor.machine import (
    Native,
    check_clock,
    check_configuration,
    check_contact,
    check_data_folder,
    check_providers,
    in_container,
    misconfigured,
    native_instance,
)
from searx_mcp.ops.instance_admin import InstanceAdmin
from searx_mcp.settings.instances import without_credentials
from searx_mcp.settings.sources import Loaded
from searx_mcp.sources.open.config import OpenSourcesMode
from searx_mcp.urls.address import AllowList

OpenPool = Callable[[], AbstractAsyncContextManager[InstanceAdmin]]
"""Opens the pool that searches use; may raise `SettingsError`."""
TIMEOUT: Final = 55.0
"""Seconds for a whole examination."""
_MACHINE: Final = "this machine"
SUBJECT: Final = "public instances"
_OWN_INSTANCE: Final = (
    "Run your own instance, which has no limits; this needs neither Docker nor root.\n"
    "searx-mcp instances own up"
)
_LIST_ANYWHERE: Final = (
    "Allow access to the list, or set another; until then, the bundled list is used."
    '\n[instances]\nsource = "https://searx.space/data/instances.json"'
)


class Doctor:
    """Finds out why searches fail, without costing any instance a search.

    Nothing is searched, and no budget is charged. An own instance that is seen to work becomes available to
    searches at once, whatever its state. Public instances are only asked for what their limiter does not
    count.

    Args:
        loaded: the settings and their origins.
        open_pool: opens the pool that searches use.
        look_up: returns the addresses of a host.
        clock: Unix seconds.
        contained: whether this process runs in a container; detected by default.
        progress: called with each step.
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
        """Examine this machine, and one instance or all own ones.

        Args:
            address: of an instance, with user name and password if it needs them; by default, all own
                instances, or the access to the public ones if there is none.
            own: whether the instance is the user's although it has a public address: it is asked whether JSON
                is enabled, which its limiter counts.

        Raises:
            InvalidArgumentError: the address is not valid.
        """
        named, credentials = ((), ()) if address is None else _parsed(address)
        deadline = asyncio.get_running_loop().time() + TIMEOUT
        runner_of = partial(CheckRunner, deadline=deadline, progress=self._progress)
        machine, settings = runner_of(_MACHINE), self._settings
        try:
            async with self._open_pool() as admin:
                report, problem = await admin.list(), admin.problem
            logins = (*credentials, *settings.instances.credentials)
            in_pool = (row.url for row in report.instances if row.tier is Tier.OWN)
            of_pool = tuple(dict.fromkeys((*settings.instances.own, *in_pool)))
            sessions = Sessions(
                settings.network,
                own_origins=(*of_pool, *named),
                credentials=logins,
                allow=AllowList.parse(settings.fetch.allow_private),
            )
            options = self._options()
        except SettingsError as exc:
            return misconfiguration(exc)
        machine.note(CheckName.CONFIGURATION, check_configuration(self._origins))
        if _asks_open_sources(settings.open_sources.mode, has_own=bool(named or of_pool)):
            machine.note(CheckName.CONTACT, check_contact(settings.open_sources.contact))
        keyed = [row for row in report.instances if row.tier is Tier.KEYED]
        if finding := check_providers(settings.providers, keyed, self._clock()):
            machine.note(CheckName.PROVIDERS, finding)
        folder = settings.state_folder()
        look = partial(asyncio.to_thread, check_data_folder, folder, problem)
        await machine.take(CheckName.DATA_FOLDER, look)
        await machine.take(CheckName.PROXY, partial(check_proxy, options), late=PROXY_LATE)
        offsets: dict[str, float] = {}
        client_of = partial(
            DiagnosticClient, clock=self._clock, timeout=STEP_TIMEOUT, offsets=offsets
        )
        async with sessions:
            if urls := named or of_pool:
                client = client_of(sessions.own)
                theirs = {*of_pool, *(named if own else ())}
                believed = {row.url: row for row in report.instances}
                has_login = {entry.url for entry in logins if entry.username is not None}
                instances = [
                    ExaminedInstance(
                        ConnectionPath(URL(url), options, url in has_login),
                        client,
                        is_known=url in theirs,
                        time_limit=settings.search.attempt_timeout,
                        believed=believed.get(url),
                    )
                    for url in urls
                ]
                native = await asyncio.to_thread(native_instance, folder)
                rest = await _beside_each_other(instances, native, runner_of)
            else:
                source = "" if settings.instances.catalog else settings.instances.source
                client = client_of(sessions.public)
                rest = [await examine_public(runner_of(SUBJECT), report, source, client, options)]
        if well := [each.url for each in rest if each.url in of_pool and is_well(each.checks)]:
            async with self._open_pool() as admin:
                await admin.revive(well)
        # The answers' clock offsets are known only now; they are shown with this machine.
        machine.note(CheckName.CLOCK, check_clock(offsets))
        *first, proxy, clock = machine.checks
        checks = (*first, clock, proxy)
        return _diagnosis(Examination(subject=_MACHINE, checks=checks), *rest)

    def _options(self) -> ConnectionOptions:
        network = self._settings.network
        return ConnectionOptions(
            look_up=self._look_up,
            proxies=network.proxies(),
            trust=tls_context(network.ca_file),
            in_container=self._contained,
        )


def misconfiguration(error: SettingsError) -> Diagnosis:
    """Return the diagnosis if the settings are invalid: nothing else can be examined."""
    runner = CheckRunner(_MACHINE, deadline=0.0, progress=None)
    runner.note(CheckName.CONFIGURATION, misconfigured(error))
    for name in (CheckName.DATA_FOLDER, CheckName.CLOCK, CheckName.PROXY):
        runner.note(name, skipped(f"Needs {title(CheckName.CONFIGURATION)}."))
    return _diagnosis(Examination(subject=_MACHINE, checks=tuple(runner.checks)))


async def _beside_each_other(
    instances: Sequence[ExaminedInstance],
    native: Native | None,
    runner_of: Callable[[str], CheckRunner],
) -> list[Examination]:
    async def examine(instance: ExaminedInstance) -> Examination:
        made = native if native is not None and native.installed.url == instance.url else None
        return await examine_instance(runner_of(instance.url), instance, made)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(examine(instance)) for instance in instances]
    return [task.result() for task in tasks]


async def examine_instance(
    runner: CheckRunner, instance: ExaminedInstance, native: Native | None
) -> Examination:
    """Examine an instance.

    Args:
        runner: makes the checks.
        instance: the instance.
        native: facts from its folder, if `instances own up` made it.
    """
    url = instance.url
    if native is not None:
        runner.note(CheckName.PROCESS, native.check_process())
        if not native.is_running:
            return Examination(subject=url, url=url, checks=tuple(runner.checks))
    await check_path(runner, instance.path)
    engines = Engines(instance)
    for name, check, late, needs in (
        (CheckName.HEALTHZ, partial(check_health, instance), HEALTH_LATE, CheckName.TLS),
        (CheckName.JSON, partial(check_json, instance), HEALTH_LATE, CheckName.HEALTHZ),
        (CheckName.LIMITER, partial(check_limiter, instance), None, CheckName.HEALTHZ),
        (CheckName.ENGINE_ERRORS, engines.check_errors, None, CheckName.HEALTHZ),
        (CheckName.ENGINES, engines.check_working, None, CheckName.HEALTHZ),
    ):
        await runner.take(name, check, late=late, needs={needs})
    if native is not None:
        version = native.check_version(instance.config, instance.client.clock())
        runner.note(CheckName.VERSION, version)
    if (believed := instance.believed) is not None:
        runner.note(CheckName.POOL, check_belief(believed, runner.checks))
        if believed.engines:
            runner.note(CheckName.SEARCHES, check_searches(believed.engines))
    return Examination(subject=url, url=url, checks=tuple(runner.checks))


async def examine_public(
    runner: CheckRunner,
    report: PoolReport,
    source: str,
    client: DiagnosticClient,
    options: ConnectionOptions,
) -> Examination:
    """Examine the access to the list of public instances, and count what they allow.

    Args:
        runner: makes the checks.
        report: on the pool, which has no own instance.
        source: URL of the list; empty if it is never fetched.
        client: requests it.
        options: of connections.
    """
    if source and _listed(report):
        await check_path(runner, ConnectionPath(URL(source).origin(), options))
        await runner.take(
            CheckName.LIST,
            partial(_check_list, source, client),
            late=broken("The list cannot be fetched.", _LIST_ANYWHERE),
            needs={CheckName.TLS},
        )
    runner.note(CheckName.BUDGET, _budget(report))
    return Examination(subject=SUBJECT, checks=tuple(runner.checks))


async def _check_list(source: str, client: DiagnosticClient) -> Finding:
    """Check whether there is a list at all; its body is not read."""
    try:
        since = datetime.fromtimestamp(client.clock(), UTC)
        received = await client.get(source, unless_newer_than=since)
    except SearxMcpError as exc:
        return broken(exc.message, exc.advice or _LIST_ANYWHERE)
    if received.status in {HTTPStatus.OK, HTTPStatus.NOT_MODIFIED}:
        return fine("The list of public instances can be fetched.")
    return broken(f"The list's server answered with status {received.status}.", _LIST_ANYWHERE)


def _listed(report: PoolReport) -> int:
    """Return the number of instances that can be asked."""
    return sum(row.tier.is_instance for row in report.instances)


def _budget(report: PoolReport) -> Finding:
    count = _listed(report)
    if not count and any(row.tier is Tier.KEYED for row in report.instances):
        return fine("No instances may be asked; keyed providers are used instead.")
    if not count:
        return broken(
            "Nothing to search with: you have no instance of your own, and public ones are off.",
            _OWN_INSTANCE,
        )
    month = report.month
    if month is None:
        return fine(f"{count} listed.")
    said = (
        f"{count} listed; {month.left_month} searches left this month, "
        f"{month.left_now or 'none'} of them now."
    )
    return fine(said) if month.left_now else doubtful(said, _OWN_INSTANCE)


def _asks_open_sources(mode: OpenSourcesMode, *, has_own: bool) -> bool:
    """Return whether a search may use open sources without the caller asking for them."""
    return mode is not OpenSourcesMode.OFF and not (mode is OpenSourcesMode.AUTO and has_own)


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
        rest = f", {counted(len(warned), 'warning')}" if warned else ""
        begin = f"start with the {title(check.name)} check of {subject}."
        return f"{len(failed)} of {total} checks failed{rest}; {begin}"
    if warned:
        return f"Nothing failed; {counted(len(warned), 'warning')}."
    return "Everything works."
