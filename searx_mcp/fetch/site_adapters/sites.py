"""All site adapters, and fetching what they plan."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from yarl import URL

from searx_mcp.errors import ErrorCode, FetchError, InvalidArgumentError, TransportError
from searx_mcp.fetch.config import TierName
from searx_mcp.fetch.hops.answers import HopRequest, ReceivedPage
from searx_mcp.fetch.hops.redirects import RedirectFollower, Trail
from searx_mcp.fetch.hops.robots import RobotsGate
from searx_mcp.fetch.site_adapters.adapter import Adapter, AdapterSource, Plan
from searx_mcp.fetch.site_adapters.github import GithubAdapter
from searx_mcp.fetch.site_adapters.huggingface import plan_huggingface
from searx_mcp.fetch.site_adapters.npm import plan_npm
from searx_mcp.fetch.site_adapters.raw_files import plan_forgejo, plan_gitlab
from searx_mcp.urls.address import AllowList
from searx_mcp.urls.url import check_url


def adapters(names: Iterable[TierName], *, github_token: str = "") -> tuple[Adapter, ...]:
    """Return the adapters; at most one of them knows any address.

    Args:
        names: which, in any order. Names of sites that no longer have an adapter are ignored.
        github_token: for GitHub's API; sent to its host only.
    """
    known = {
        TierName.NPM: Adapter(r"//(?:www\.)?npm", plan_npm),
        TierName.GITHUB: Adapter(
            r"github(?:usercontent)?\.com", GithubAdapter(token=github_token).plan
        ),
        TierName.GITLAB: Adapter("/-/", plan_gitlab),
        TierName.CODEBERG: Adapter("/(?:branch|tag|commit)/", plan_forgejo),
        TierName.HUGGINGFACE: Adapter(r"(?:huggingface|hf)\.co", plan_huggingface),
    }
    return tuple(known[name] for name in dict.fromkeys(names) if name in known)


@dataclass(frozen=True, slots=True)
class Gathered:
    """The answers of a plan's sources.

    Attributes:
        answers: in the order of the sources; `None` for a missing optional one.
        robots: the robots.txt result of the first.
        was_late: whether the deadline cut one of them.
        is_settled: whether another request would return the same: what is missing does not exist.
    """

    answers: tuple[ReceivedPage | None, ...]
    robots: str
    was_late: bool
    is_settled: bool


class SiteSources:
    """Plans with the adapter that knows an address, and fetches the plan's sources.

    A source is fetched like any page: the same policy, robots.txt, limits and guard apply.
    """

    def __init__(
        self,
        adapters: Iterable[Adapter],
        follower: RedirectFollower,
        *,
        robots: RobotsGate,
        allow: AllowList,
        max_redirects: int,
    ) -> None:
        self._adapters = tuple(adapters)
        self._follower = follower
        self._robots = robots
        self._allow = allow
        self._max_redirects = max_redirects

    def plan(self, url: URL) -> Plan | None:
        """Plan how to read an address, fragment included; `None` if no adapter knows it."""
        return next(filter(None, (adapter(url) for adapter in self._adapters)), None)

    async def gather(self, plan: Plan, request: Callable[[AdapterSource], HopRequest]) -> Gathered:
        """Fetch all sources of a plan concurrently.

        Args:
            plan: what to fetch.
            request: builds the request for a source.

        Raises:
            FetchError: a required source is missing, or all are.
        """
        found: list[tuple[ReceivedPage, str] | FetchError | None] = [None] * len(plan.sources)

        async def fetch(index: int, source: AdapterSource) -> None:
            # A value, not a raise: one source that fails must not cancel the others.
            try:
                found[index] = await self._fetch(source, request(source))
            except FetchError as error:
                found[index] = error
            except InvalidArgumentError as error:  # for example, an address that grew too long
                found[index] = TransportError(
                    f"The source has no usable address: {error.message}",
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
        was_late = any(answer.was_late for answer, _ in arrived)
        return Gathered(
            answers=tuple(result[0] if isinstance(result, tuple) else None for result in found),
            robots=arrived[0][1],
            was_late=was_late,
            is_settled=not was_late
            and all(failure.code is ErrorCode.NOT_FOUND for failure in failures),
        )

    async def _fetch(self, source: AdapterSource, request: HopRequest) -> tuple[ReceivedPage, str]:
        url = check_url(source.url, allow=self._allow)
        trail = Trail(url, max_redirects=self._max_redirects)
        result = await self._follower.follow(request, trail, self._robots)
        answer = result.answer
        if not isinstance(answer, ReceivedPage):
            raise TransportError(
                "The source did not contain the page.",
                code=ErrorCode.MALFORMED_RESPONSE,
                url=str(url),
            )
        return answer, result.robots
