"""One real search at one instance, kept as a fixture without query and address."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from searx_mcp import __version__
from searx_mcp.errors import NoInstancesError, UnavailableReason
from searx_mcp.models.attempt import Format
from searx_mcp.models.instance import InstanceReport, InstanceState, Tier
from searx_mcp.pool.outcome import Outcome
from searx_mcp.pool.pool import InstancePool
from searx_mcp.search.budget import MONTH, account_of, month_account
from searx_mcp.search.execution.spacing import Spacing
from searx_mcp.search.finding import find_instance
from searx_mcp.sources.searxng.classify import Received, generator
from searx_mcp.sources.searxng.request import InstanceQuery
from searx_mcp.sources.searxng.scrub.answer import Fixture, scrub
from searx_mcp.sources.searxng.scrub.mask import Mask
from searx_mcp.sources.searxng.upstream import Upstream
from searx_mcp.storage.state import Reservation, StateStore


@dataclass(frozen=True, slots=True)
class Capture:
    """What a capture came to; nothing in it tells the query or the instance.

    Attributes:
        fixture: the answer; `None` if no complete one came.
        report: what was asked for and what was read, as JSON values.
    """

    fixture: Fixture | None
    report: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Asked:
    """One real search at one instance.

    Attributes:
        instance: its base URL.
        own: whether it is the user's own.
        outcome: what the search came to.
        received: the answer; `None` if no complete one came.
        cost: requests charged to its budget; none if it was down before a search was sent.
    """

    instance: str
    own: bool
    outcome: Outcome
    received: Received | None
    cost: int


class Capturer:
    """Captures answers under the rules of a search: guarded sessions, budgets, spacing, the pool.

    Args:
        pool: knows which instances may be asked, and learns.
        upstream: sends and judges.
        state: keeps the budgets.
        spacing: keeps requests to public instances apart.
        timeout: seconds the one request may take.
        clock: Unix seconds.
    """

    def __init__(
        self,
        *,
        pool: InstancePool,
        upstream: Upstream,
        state: StateStore,
        spacing: Spacing,
        timeout: float,
        clock: Callable[[], float],
    ) -> None:
        self._pool = pool
        self._upstream = upstream
        self._state = state
        self._spacing = spacing
        self._timeout = timeout
        self._clock = clock

    async def capture(
        self,
        host: str,
        query: InstanceQuery,
        format: Format | None = None,  # noqa: A002 - the field's word for JSON or HTML
    ) -> Capture:
        """Search once and scrub the answer.

        Args:
            host: the host, with its port if it has one, or the address of an instance of the pool.
            query: what to ask, already neutralised.
            format: what to ask for; the one a search would ask for unless given.

        Raises:
            InvalidArgumentError: the instance is not in the pool.
            NoInstancesError: it may not be asked now.
        """
        asked = await self.ask(host, query, format)
        mask = Mask(query=query.text, base_url=asked.instance)
        return Capture(
            fixture=scrub(asked.received, mask=mask) if asked.received else None,
            report=_report(asked.outcome, asked.received, query, mask),
        )

    async def ask(
        self,
        host: str,
        query: InstanceQuery,
        format: Format | None = None,  # noqa: A002 - the field's word for JSON or HTML
    ) -> Asked:
        """Search once.

        Args:
            host: as for `capture`.
            query: what to ask, already neutralised.
            format: what to ask for; the one a search would ask for unless given.

        Raises:
            InvalidArgumentError: the instance is not in the pool.
            NoInstancesError: it may not be asked now.
        """
        instance = self._find(host)
        url, own, now = instance.url, instance.tier is Tier.OWN, self._clock()
        form = format or self._pool.format_of(url, now)
        if instance.state is InstanceState.BLACKLISTED:
            raise NoInstancesError(
                f"The instance is left alone: {instance.reason}",
                reason=UnavailableReason.EXHAUSTED,
                advice=_ELSEWHERE,
            )
        if instance.retry_after > 0 and not own:
            raise _refusal(_INSTANCE, instance.retry_after)
        failure = None if own else await self._check_robots(url, form)
        if failure is not None:
            return Asked(url, own, failure, None, cost=0)
        reservation = await self._charge(self._find(url), form, now)
        if not reservation.granted:
            what = _MONTH if reservation.refused_by == MONTH else _INSTANCE
            raise _refusal(what, max(1.0, (reservation.retry_at or now) - now))
        self._pool.begin(url, now)
        learned = False
        try:
            if not own:
                await self._spacing.wait()
            outcome, received = await self._upstream.capture(
                url, query, own=own, format=form, timeout=self._timeout
            )
            self._pool.report(url, outcome, self._clock())
            learned = True
        finally:
            if not learned:
                self._pool.release(url)
        return Asked(url, own, outcome, received, cost=0 if own else 1)

    async def _check_robots(self, url: str, form: Format) -> Outcome | None:
        """Look at the robots.txt of a public instance, as every search does; gives why it is down.

        Raises:
            NoInstancesError: its operator asks us to stay away.
        """
        if self._pool.is_clear(url, self._clock()):
            return None
        clearance = await self._upstream.clearance(url, format=form, timeout=self._timeout)
        if clearance.failure is not None:
            return clearance.failure
        self._pool.read_robots(url, opted_out=clearance.opted_out, now=self._clock())
        if clearance.opted_out:
            raise NoInstancesError(
                "The instance's robots.txt asks searx-mcp to stay away",
                reason=UnavailableReason.EXHAUSTED,
                advice="Ask another instance.",
            )
        facts = await self._upstream.config(url, own=False, timeout=self._timeout)
        if facts is not None:
            self._pool.learn_facts(url, facts, self._clock())
        return None

    async def _charge(self, instance: InstanceReport, form: Format, now: float) -> Reservation:
        limited = self._pool.month_limited()
        accounts = [account_of(instance)]
        if instance.url in limited:
            accounts.append(month_account(limited))
        return await self._state.reserve(accounts, form, now)

    def _find(self, host: str) -> InstanceReport:
        instances = {instance.url: instance for instance in self._pool.snapshot(self._clock())}
        return instances[find_instance(host, instances)]


_ELSEWHERE = "Ask another instance, or lift it with `searx-mcp instances reset`."
_INSTANCE = "The instance may not be asked again"
_MONTH = "What public instances allow together is spent"


def _refusal(what: str, seconds: float) -> NoInstancesError:
    return NoInstancesError(
        f"{what} for {seconds:,.0f} seconds",
        reason=UnavailableReason.BUDGET_SPENT,
        advice="Ask another instance, or wait.",
        retry_after=seconds,
    )


def _report(
    outcome: Outcome, received: Received | None, query: InstanceQuery, mask: Mask
) -> dict[str, object]:
    page = outcome.page
    rows = Counter(hit.template for hit in page.hits) if page else Counter[str]()
    counts = {
        name: len(getattr(page, name, ()))
        for name in ("answers", "infoboxes", "suggestions", "corrections", "unresponsive_engines")
    }
    return {
        "searx_mcp": __version__,
        "instance_version": generator(received.body) if received else "",
        "format": outcome.format,
        "category": mask.name(query.category),
        "page": query.page,
        "verdict": outcome.verdict,
        "status": outcome.status_code,
        "elapsed_ms": round(outcome.elapsed * 1_000),
        "truncated": bool(received and received.truncated),
        "rows_seen": outcome.rows_seen,
        "rows_used": outcome.rows_used,
        "rows_by_template": {mask.name(name): count for name, count in sorted(rows.items())},
        **counts,
    }
