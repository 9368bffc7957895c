"""The examination of one instance, from its name to its engines; whether it answers programs."""

from functools import partial
from http import HTTPStatus
from typing import Final

from yarl import URL

from searx_mcp.errors import SearxMcpError
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.diagnosis import CheckName, Examination
from searx_mcp.models.instance import InstanceReport
from searx_mcp.ops.doctor.asking import Asked, Patient
from searx_mcp.ops.doctor.belief import check_belief, check_searches
from searx_mcp.ops.doctor.connection import Means, Way, go
from searx_mcp.ops.doctor.course import Course, Finding, broken, doubtful, fine, skipped
from searx_mcp.ops.doctor.engines import Engines
from searx_mcp.ops.doctor.health import (
    READ_THE_LOG,
    challenged,
    check_health,
    health_late,
    no_answer,
)
from searx_mcp.ops.doctor.native import Native
from searx_mcp.pool.config_facts import ConfigFacts, month_limited, parse_config
from searx_mcp.sources.searxng.classify import Received, judge

_JSON_ON: Final = (
    "Switch JSON on in the settings.yml of the instance, and restart it.\n"
    "search:\n  formats:\n    - html\n    - json"
)
_LIMITER_OFF: Final = (
    "Switch the limiter off in the settings.yml of the instance, and restart it.\n"
    "server:\n  limiter: false\n  public_instance: false"
)


async def check_json(patient: Patient) -> Finding:
    """Ask for JSON without a query: a refusal of the format comes before the missing query."""
    if not patient.is_own:
        return skipped("It counts as a search at a stranger's instance; --own asks nevertheless.")
    try:
        received = await patient.get("search?format=json")
    except SearxMcpError as exc:
        return await no_answer(patient, exc)
    if received.status == HTTPStatus.BAD_REQUEST:
        return fine("JSON is switched on.")
    return _refusal(patient, received)


async def check_limiter(patient: Patient) -> Finding:
    """Read `/config`: the limiter, its link token, the version."""
    try:
        received = await patient.get("config")
    except SearxMcpError as exc:
        return skipped(f"Its /config cannot be read: {exc.message}")
    if received.status == HTTPStatus.OK:
        patient.config = received.body.decode("utf-8-sig", "replace")
    facts = parse_config(patient.config)
    if facts is None:
        return skipped(f"Its /config does not tell (status {received.status}).")
    version = f"SearXNG {facts.version}: " if facts.version else ""
    limits = _limits(facts)
    if patient.is_own and limits is not None:
        return doubtful(f"{version}{limits}", _LIMITER_OFF)
    if limits is None:
        known = facts.limiter_enabled is not None
        limits = "the limiter is off." if known else "it does not tell of a limiter."
    return fine(f"{version}{limits}")


def _refusal(patient: Patient, received: Received) -> Finding:
    judgement = judge(received, base_url=patient.url, format=Format.JSON)
    match judgement.verdict, received.status:
        case Verdict.CHALLENGE, _:
            return challenged()
        case Verdict.JSON_OFF, _:
            said, fix = "JSON is switched off (status 403).", _JSON_ON
        case Verdict.RATE_LIMITED, _:
            said = "The limiter refuses us (status 429)."
            fix = _pass_us(patient)
        case Verdict.BLOCKED, HTTPStatus.TOO_MANY_REQUESTS:
            said = "The address of this machine is on the instance's block list."
            fix = "Take it out of block_ip in the limiter.toml of the instance, and restart it."
        case Verdict.BLOCKED, _:
            said = "The limiter sends us to the home page: we lack its link token."
            fix = _LIMITER_OFF
        case Verdict.SERVER_ERROR, _:
            said, fix = judgement.detail, READ_THE_LOG
        case _:
            said = (
                f"A search is answered with status {received.status}. {judgement.detail}".rstrip()
            )
            fix = f"Let {patient.url}search reach SearXNG as it is."
    return broken(said, fix)


def _limits(facts: ConfigFacts) -> str | None:
    """What the limiter allows a program, or `None` if it does not run."""
    if month_limited(facts):
        return "the limiter wants a link token, and allows programs 3 searches in 30 days."
    if facts.limiter_enabled:
        return "the limiter is on, and allows 4 requests for JSON an hour."
    return None


def _pass_us(patient: Patient) -> str:
    reached = patient.way.reached
    address = reached.source if reached else "127.0.0.1"
    if patient.way.is_loopback:
        # A container sees the gateway of its network, out of Docker's 172.16.0.0/12.
        addresses = f'"{address}", "172.16.0.0/12"'
    elif patient.way.is_private:
        addresses = f'"{address}"'
    else:
        addresses = '"THE PUBLIC ADDRESS OF THIS MACHINE"'
    return (
        "Let this machine pass, in the limiter.toml beside the settings.yml, and restart it.\n"
        f"[botdetection.ip_lists]\npass_ip = [{addresses}]"
    )


_THERE: Final = frozenset({CheckName.HEALTHZ})


async def examine_instance(
    course: Course,
    url: str,
    asked: Asked,
    means: Means,
    *,
    own: bool,
    has_login: bool,
    time_limit: float,
    believed: InstanceReport | None = None,
    native: Native | None = None,
) -> Examination:
    """Examine an instance.

    Args:
        course: takes down the checks.
        url: its base URL.
        asked: asks it.
        means: what the way to it is gone with.
        own: whether it is the user's; one on a private network always is.
        has_login: whether the user gave a name and a password for it.
        time_limit: seconds a search gives it.
        believed: what searches know of it, if they do.
        native: what its folder tells, where `instances own up` made it.
    """
    if native is not None:
        course.note(CheckName.PROCESS, native.check_process())
        if not native.is_running:
            return Examination(subject=url, url=url, checks=tuple(course.checks))
    way = Way(URL(url), means, has_login)
    await go(course, way)
    patient = Patient(way, asked, is_own=own or way.is_private)
    engines = Engines(patient, time_limit)
    await course.take(
        CheckName.HEALTHZ,
        partial(check_health, patient),
        late=health_late(),
        needs={CheckName.TLS},
    )
    await course.take(
        CheckName.JSON, partial(check_json, patient), late=health_late(), needs=_THERE
    )
    await course.take(CheckName.LIMITER, partial(check_limiter, patient), needs=_THERE)
    await course.take(CheckName.ENGINE_ERRORS, engines.check_errors, needs=_THERE)
    await course.take(CheckName.ENGINES, engines.check_working, needs=_THERE)
    if native is not None:
        course.note(CheckName.VERSION, native.check_version(patient.config, asked.clock()))
    if believed is not None:
        course.note(CheckName.POOL, check_belief(believed, course.checks))
        if believed.engines:
            course.note(CheckName.SEARCHES, check_searches(believed.engines))
    return Examination(subject=url, url=url, checks=tuple(course.checks))
