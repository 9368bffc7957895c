"""One real search at one instance."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import urlsplit

from searx_mcp.errors import (
    DeadlineError,
    InvalidArgumentError,
    NoInstancesError,
    UnavailableReason,
)
from searx_mcp.http.body import Response
from searx_mcp.models.attempt import Format
from searx_mcp.models.instance import InstanceState, Tier
from searx_mcp.models.spelling import did_you_mean, shown
from searx_mcp.pool.pool import InstancePool
from searx_mcp.pool.proposal import InstanceQuery, Outcome
from searx_mcp.search.budget import MONTH
from searx_mcp.sources.attempt_runner import AttemptRunner
from searx_mcp.sources.attempts import InstanceLog
from searx_mcp.sources.searxng.upstream import Upstream

_BEFORE = 30.0
"""Seconds for everything before the search itself: robots.txt, `/config`, and the requests of others."""
_ELSEWHERE = "Ask another instance, or lift it with `searx-mcp instances reset`."
_INSTANCE = "The instance may not be asked again"
_MONTH = "The budget for public instances is used up"


@dataclass(frozen=True, slots=True)
class TrialSearch:
    """One real search at one instance.

    Attributes:
        instance: its base URL.
        own: whether it is an own instance.
        outcome: of the search.
        received: the answer; `None` if no complete one arrived.
        cost: requests charged to its budget; none if it was down before a search was sent.
    """

    instance: str
    own: bool
    outcome: Outcome
    received: Response | None
    cost: int


class TrialRunner:
    """Asks one instance under the rules of a search: guarded sessions, budgets, spacing, the pool.

    Args:
        runner: makes the requests of searches.
        pool: knows which instances may be asked.
        upstream: sends requests, classifies answers, and keeps the raw answer.
        timeout: seconds for the one request.
        clock: Unix seconds.
    """

    def __init__(
        self,
        runner: AttemptRunner,
        *,
        pool: InstancePool,
        upstream: Upstream,
        timeout: float,
        clock: Callable[[], float],
    ) -> None:
        self._runner = runner
        self._pool = pool
        self._upstream = upstream
        self._timeout = timeout
        self._clock = clock

    async def ask(
        self,
        host: str,
        query: InstanceQuery,
        format: Format | None = None,  # noqa: A002 - the field's word for JSON or HTML
    ) -> TrialSearch:
        """Search once.

        Args:
            host: the host, with its port if it has one, or the address of an instance of the pool.
            query: the query, already neutralised.
            format: the format to ask for; by default, the one a search would use.

        Raises:
            InvalidArgumentError: the instance is not in the pool.
            NoInstancesError: it may not be asked now.
            DeadlineError: it was busy with other searches the whole time.
        """
        now = self._clock()
        instances = {instance.url: instance for instance in self._pool.snapshot(now)}
        instance = instances[find_instance(host, instances)]
        url, own = instance.url, instance.tier is Tier.OWN
        if instance.state is InstanceState.BLACKLISTED:
            raise NoInstancesError(
                f"The instance is in cooldown: {instance.reason}",
                reason=UnavailableReason.EXHAUSTED,
                advice=_ELSEWHERE,
            )
        if instance.retry_after > 0 and not own:
            raise _refusal(_INSTANCE, instance.retry_after)
        received: list[Response] = []
        send = partial(self._upstream.search, keep=received.append)
        proposal = self._pool.proposal_of(url, now)
        log = InstanceLog(asyncio.get_running_loop().time() + self._timeout + _BEFORE)
        try:
            outcome = await self._runner.attempt(
                replace(proposal, format=format or proposal.format), query, log, send=send
            )
        finally:
            log.settle(self._pool, self._clock())
        if outcome is None:
            raise self._forbidden(log)
        return TrialSearch(
            url,
            own,
            outcome,
            received[0] if received else None,
            cost=int(not own and url in log.asked),
        )

    def _forbidden(self, log: InstanceLog) -> NoInstancesError | DeadlineError:
        """Return why no request was sent: the operator, the budget or the clock."""
        if log.unsearched:
            return NoInstancesError(
                "The instance's robots.txt asks searx-mcp to stay away",
                reason=UnavailableReason.EXHAUSTED,
                advice="Ask another instance.",
            )
        if log.passed_over:
            now = self._clock()
            what = _MONTH if log.refused_by == MONTH else _INSTANCE
            return _refusal(what, max(1.0, (log.budget_retry_at or now) - now))
        return DeadlineError("The instance is busy with other searches")


def find_instance(host: str, urls: Iterable[str]) -> str:
    """Return the matching base URL.

    Args:
        host: a host, with its port if it has one, or a whole address.
        urls: base URLs to choose from.

    Raises:
        InvalidArgumentError: none of them matches, or several do.
    """
    wanted = host.strip().rstrip("/").casefold()
    names = {url: urlsplit(url).netloc.casefold() for url in urls}
    found = [url for url in names if url.rstrip("/").casefold() == wanted]
    found = found or [url for url, name in names.items() if name == wanted]
    if not found:
        raise InvalidArgumentError(
            "host",
            f"{shown(host)} is not in the pool{did_you_mean(wanted, names.values())}",
            advice="`searx-mcp instances list` shows the pool; `instances add` adds your own.",
        )
    if len(found) > 1:
        raise InvalidArgumentError(
            "host", f"{shown(host)} has several instances", advice=f"Use one of: {', '.join(found)}"
        )
    return found[0]


def _refusal(what: str, seconds: float) -> NoInstancesError:
    return NoInstancesError(
        f"{what} for {seconds:,.0f} seconds",
        reason=UnavailableReason.BUDGET_SPENT,
        advice="Ask another instance, or wait.",
        retry_after=seconds,
    )
