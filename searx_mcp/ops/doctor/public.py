"""The way to the public instances: their list, and what they still allow; none of them is asked."""

from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import Final

from yarl import URL

from searx_mcp.errors import SearxMcpError
from searx_mcp.models.diagnosis import CheckName, Examination
from searx_mcp.models.instance import PoolReport, Tier
from searx_mcp.ops.doctor.asking import Asked
from searx_mcp.ops.doctor.connection import Means, Way, go
from searx_mcp.ops.doctor.course import Course, Finding, broken, doubtful, fine

SUBJECT: Final = "public instances"

_OWN_INSTANCE: Final = (
    "Run an instance of your own, which has no limits; it needs neither Docker nor root.\n"
    "searx-mcp instances own up"
)
_LIST_ANYWHERE: Final = (
    "Let this machine reach the list, or name another; without it the list of this release is"
    ' used.\n[instances]\nsource = "https://searx.space/data/instances.json"'
)


async def examine_public(
    course: Course, report: PoolReport, source: str, asked: Asked, means: Means
) -> Examination:
    """Examine the way to the list of public instances, and count what they allow.

    Args:
        course: takes down the checks.
        report: the pool, without an instance of the user's.
        source: where the list is; empty if it is never fetched.
        asked: asks for it.
        means: what the way to it is gone with.
    """
    if source and _listed(report):
        await go(course, Way(URL(source).origin(), means))
        await course.take(
            CheckName.LIST,
            partial(_check_list, source, asked),
            late=broken("The list does not arrive.", _LIST_ANYWHERE),
            needs={CheckName.TLS},
        )
    course.note(CheckName.BUDGET, _budget(report))
    return Examination(subject=SUBJECT, checks=tuple(course.checks))


async def _check_list(source: str, asked: Asked) -> Finding:
    """Ask whether there is a list at all; its body is left unread."""
    try:
        since = datetime.fromtimestamp(asked.clock(), UTC)
        received = await asked.get(source, unless_newer_than=since)
    except SearxMcpError as exc:
        return broken(exc.message, exc.advice or _LIST_ANYWHERE)
    if received.status in {HTTPStatus.OK, HTTPStatus.NOT_MODIFIED}:
        return fine("The list of public instances is there.")
    return broken(f"The list is answered with status {received.status}.", _LIST_ANYWHERE)


def _listed(report: PoolReport) -> int:
    """How many instances there are to ask."""
    return sum(row.tier is not Tier.OPEN for row in report.instances)


def _budget(report: PoolReport) -> Finding:
    count = _listed(report)
    if not count:
        return broken(
            "There is nobody to ask: no instance of your own, and no public one is allowed.",
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
