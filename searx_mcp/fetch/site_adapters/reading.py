"""The sources of a tier, fetched side by side."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from searx_mcp.errors import ErrorCode, FetchError, InvalidArgumentError, TransportError
from searx_mcp.fetch.hops.answer import Answer
from searx_mcp.fetch.hops.redirects import Trail
from searx_mcp.fetch.hops.walk import Errand, Walker
from searx_mcp.fetch.policy.robots import RobotsGate
from searx_mcp.fetch.site_adapters.interface import Material, Plan, Source
from searx_mcp.http.http import NOTE_DEADLINE
from searx_mcp.urls.address import AllowList
from searx_mcp.urls.url import check_url


@dataclass(frozen=True, slots=True)
class Gathered:
    """What the sources of a plan gave.

    Attributes:
        materials: in the order of the sources; `None` for one that could be done without.
        robots: what robots.txt said of the first.
        was_late: whether the deadline cut one of them.
        is_settled: whether asking again would bring the same: what is missing does not exist.
    """

    materials: tuple[Material | None, ...]
    robots: str
    was_late: bool
    is_settled: bool

    @property
    def first(self) -> Material:
        """The one that is always there."""
        return next(material for material in self.materials if material is not None)


class SourceReader:
    """Fetches sources like any page: policy, robots.txt, limits and guard hold for each."""

    def __init__(
        self, walker: Walker, *, robots: RobotsGate, allow: AllowList, max_redirects: int
    ) -> None:
        self._walker = walker
        self._robots = robots
        self._allow = allow
        self._max_redirects = max_redirects

    async def gather(self, plan: Plan, errand: Callable[[Source], Errand]) -> Gathered:
        """Fetch all sources of a plan at once.

        Args:
            plan: what to fetch.
            errand: makes the errand for a source.

        Raises:
            FetchError: a required source cannot be had, or none can.
        """
        found: list[tuple[Material, str] | FetchError | None] = [None] * len(plan.sources)

        async def fetch(index: int, source: Source) -> None:
            # A value and not a raise: one source that fails must not cancel the others.
            try:
                found[index] = await self._fetch(source, errand(source))
            except FetchError as error:
                found[index] = error
            except InvalidArgumentError as error:  # an address that grew too long, for example
                found[index] = TransportError(
                    f"Its source has no usable address: {error.message}",
                    code=ErrorCode.MALFORMED_RESPONSE,
                )

        async with asyncio.TaskGroup() as group:
            for index, source in enumerate(plan.sources):
                group.create_task(fetch(index, source))
        failures = [result for result in found if isinstance(result, FetchError)]
        for source, result in zip(plan.sources, found, strict=True):
            if isinstance(result, FetchError) and source.is_required:
                raise result
        arrived = [result for result in found if isinstance(result, tuple)]
        if not arrived:
            raise failures[0]
        was_late = any(material.was_late for material, _ in arrived)
        return Gathered(
            materials=tuple(result[0] if isinstance(result, tuple) else None for result in found),
            robots=arrived[0][1],
            was_late=was_late,
            is_settled=not was_late
            and all(failure.code is ErrorCode.NOT_FOUND for failure in failures),
        )

    async def _fetch(self, source: Source, errand: Errand) -> tuple[Material, str]:
        url = check_url(source.url, allow=self._allow)
        trail = Trail(url, max_redirects=self._max_redirects)
        arrival = await self._walker.go(errand, trail, self._robots)
        answer = arrival.answer
        if not isinstance(answer, Answer):
            raise TransportError(
                "The source of the page answered without it.",
                code=ErrorCode.MALFORMED_RESPONSE,
                url=str(url),
            )
        body = answer.body
        material = Material(
            url=str(trail.current),
            status=answer.status,
            media=answer.media,
            data=body.data,
            is_truncated=body.truncated,
            headers=answer.headers,
            was_late=NOTE_DEADLINE in body.notes,
        )
        return material, arrival.robots
