"""The examination of one instance, from its name to its engines."""

from functools import partial
from typing import Final

from yarl import URL

from searx_mcp.client.doctor.asking import Asked, Patient
from searx_mcp.client.doctor.belief import check_belief, check_searches
from searx_mcp.client.doctor.connection import Means, Way, go
from searx_mcp.client.doctor.course import Course
from searx_mcp.client.doctor.engines import Engines
from searx_mcp.client.doctor.health import check_health, health_late
from searx_mcp.client.doctor.limits import check_json, check_limiter
from searx_mcp.client.doctor.native import Native
from searx_mcp.models.diagnosis import CheckName, Examination
from searx_mcp.models.instance import InstanceReport

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
