"""One instance in the pool: the catalog's data, our observations, and the resulting score.

The score orders the instances of one tier, and each of its parts can be shown. It starts with a catalog's
figures, and later uses our own requests. Formulas and weights: `docs/decisions/pool.md`.
"""

from typing import NamedTuple

from typing_extensions import override

from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.instance import InstanceReport, InstanceState, Tier
from searx_mcp.pool.catalog import Standing, latency_quality
from searx_mcp.pool.config_facts import access_factor, month_limited
from searx_mcp.pool.engine_care import engine_reports
from searx_mcp.pool.proposal import InstanceQuery, Outcome
from searx_mcp.pool.record import DEGRADED_AFTER, RECENT, SLOW_START, InstanceRecord
from searx_mcp.pool.timers import DAY, HOUR, JSON_RECHECK, JSON_WINDOW

ROBOTS_HOLD = DAY
"""Seconds for which a robots.txt stays valid: the maximum of RFC 9309 §2.4 for a cache."""
SLOW = 3.0
"""Seconds; nineteen of twenty instances on the list answer faster."""
SIDELINED = HOUR
"""Seconds for which a bad last answer moves it back; after that it takes its turn again."""

CONFIDENCE = 4.0
"""After this many own requests, observation and prior have equal weight."""

_FORMAT_FACTOR = {True: 1.0, None: 0.8, False: 0.7}
"""Factor if JSON works, is unknown, is off."""
_DEGRADED_SHARE = 0.2
_TRUSTED = frozenset({Tier.OWN, Tier.OPEN, Tier.KEYED})


class Score(NamedTuple):
    """The quality of an instance now, by parts, each 0 to 1.

    Attributes:
        prior: the expectation before we asked it.
        observed: the mean worth of our own requests; the prior before the first.
        confidence: the weight of the observation against the prior.
        latency: quality of its latency.
        access: how likely a program is admitted, from its `/config`.
        format: quality of its answers' format.
    """

    prior: float
    observed: float
    confidence: float
    latency: float
    access: float
    format: float

    @property
    def reliability(self) -> float:
        """(1 - confidence) prior + confidence observed."""
        return (1 - self.confidence) * self.prior + self.confidence * self.observed

    @property
    def total(self) -> float:
        """Access · format · (.75 reliability + .25 latency)."""
        return self.access * self.format * (0.75 * self.reliability + 0.25 * self.latency)


class Member:
    """One instance of a pool; only the pool and its circuit change it.

    Args:
        url: base URL.
        standing: what is known of it from others.

    Attributes:
        record: what was learned.
        in_flight: requests in flight.
        current_weight: its weight in the round-robin; `None` before the first round.
    """

    def __init__(self, url: str, standing: Standing) -> None:
        self.url = url
        self.standing = standing
        self.record = InstanceRecord(url=url)
        self.in_flight = 0
        self.current_weight: float | None = None

    @override
    def __repr__(self) -> str:
        record = self.record
        return (
            f"<Member {self.url} {self.standing.tier} {record.state} "
            f"{record.successes} ok, {record.failures} failed, {self.in_flight} in flight>"
        )

    @property
    def is_own(self) -> bool:
        """Whether the user configured it as an own instance."""
        return self.standing.tier is Tier.OWN

    @property
    def is_trusted(self) -> bool:
        """Whether its answers are never held against it, as with own instances and open sources."""
        return self.standing.tier in _TRUSTED

    @property
    def is_untried(self) -> bool:
        """Whether no request to it has had an outcome yet."""
        record = self.record
        return record.state is InstanceState.NEW and not record.successes and not record.failures

    @property
    def link_token(self) -> bool | None:
        """Whether its limiter requires the link token; `None` while unknown.

        Its pages show it; before the first page, its `/config` does.
        """
        record = self.record
        return month_limited(record.facts) if record.link_token is None else record.link_token

    @property
    def is_unlimited(self) -> bool:
        """Whether it is known to count no requests: own, or without a limiter."""
        facts = self.record.facts
        has_no_limiter = facts is not None and facts.limiter_enabled is False
        return self.is_own or (has_no_limiter and not self.record.link_token)

    def is_eligible(self, now: float) -> bool:
        """Return whether a request may go to it now; public instances take one at a time."""
        record = self.record
        is_free = self.in_flight == 0 or (self.is_trusted and not record.is_on_trial(now))
        return record.is_open(now) and is_free

    def is_doubted(self, now: float) -> bool:
        """Return whether it is own, and its last request failed or it has been on a cooldown."""
        verdict = self.record.last_verdict
        has_failed = verdict is not None and not verdict.ends_search
        return self.is_own and (has_failed or self.record.is_on_trial(now))

    def is_sidelined(self, now: float) -> bool:
        """Return whether it was overtaken, answered without engines, or so slowly that others come first.

        Only the first applies to an own instance.
        """
        record = self.record
        if self.is_own:
            return record.is_behind(now)
        is_degraded = record.state is InstanceState.DEGRADED
        without_engines = is_degraded and now - record.degraded_at < SIDELINED
        is_slow = (record.latency or 0.0) > SLOW and now - record.latency_at < SIDELINED
        return record.is_behind(now) or without_engines or is_slow

    def serves(self, query: InstanceQuery) -> bool:
        """Return whether its engines can serve such a search, as far as is known."""
        facts = self.record.facts
        serves = facts and facts.serves(
            query.category, query.time_range, page=query.page, engines=query.engines
        )
        return serves is not False

    def robots_known(self, now: float) -> bool:
        """Return whether its robots.txt was read recently; an own instance needs none."""
        return self.is_own or now - self.record.robots_read_at < ROBOTS_HOLD

    def format(self, now: float) -> Format:
        """Return the format to ask for: own instances JSON first, public ones HTML.

        Public instances rarely serve JSON, and then limit it to four requests an hour, unless they list
        JSON on their pages and run no limiter.
        """
        wants_json = self.is_own or (self.record.json_listed is True and self.is_unlimited)
        if wants_json and now >= self.record.json_recheck:
            return Format.JSON
        return Format.HTML

    def learn_formats(self, outcome: Outcome, now: float) -> None:
        """Record which formats it serves, as far as an answer shows."""
        record, page = self.record, outcome.page
        if outcome.verdict is Verdict.JSON_OFF:
            record.json_enabled = False
            record.json_recheck = now + JSON_RECHECK
        elif outcome.is_about_format(own=self.is_own):
            record.json_recheck = now + (outcome.retry_after or JSON_WINDOW)
        elif outcome.format is Format.JSON and page is not None:
            if record.json_enabled is False:
                record.json_recheck = 0.0
            record.json_enabled = True
        elif page is not None and page.formats is not None and not self.is_own:
            record.json_listed = "json" in page.formats
            if not record.json_listed:
                record.json_enabled = False
        if page is not None and page.link_token is not None:
            record.link_token = page.link_token

    def succeed(self, verdict: Verdict, now: float) -> None:
        """Record a success; the state becomes healthy unless another reason keeps it."""
        record = self.record
        if record.state is InstanceState.HALF_OPEN:
            record.successes_in_a_row = 0
        record.consecutive_failures = record.without_engines = record.overtaken = 0
        record.certificate_failures = 0
        record.recent = (*record.recent, True)[-RECENT:]
        record.successes_in_a_row += 1
        if record.successes_in_a_row >= len(SLOW_START):
            record.failing_episode = record.limit_episode = 0
        record.empty = record.empty + 1 if verdict is Verdict.EMPTY else 0
        if record.empty >= DEGRADED_AFTER and not self.is_trusted:
            record.degrade("It finds nothing, although it reports no failed engine.", now)
        elif record.state is not InstanceState.DEGRADED or record.is_disproved(verdict, now):
            record.recover(now)

    def score(self, now: float) -> Score:
        """Return its current quality, by parts."""
        record = self.record
        promised, mean, latency = self.standing.prior, record.mean_worth(), record.latency
        count = record.count * record.decay(now)
        access = 1.0 if self.is_own else access_factor(record.facts, page_token=record.link_token)
        return Score(
            prior=promised.total,
            observed=promised.total if mean is None else mean,
            confidence=count / (count + CONFIDENCE),
            latency=promised.latency if latency is None else latency_quality(latency),
            access=access,
            format=_FORMAT_FACTOR[True if self.is_own else record.json_enabled],
        )

    def weight(self, now: float) -> float:
        """Return its weight in the round-robin: score^2, less when degraded or recovering."""
        weight = self.score(now).total ** 2
        if self.record.state is InstanceState.DEGRADED:
            weight *= _DEGRADED_SHARE
        if self.record.successes_in_a_row < len(SLOW_START):
            weight *= SLOW_START[self.record.successes_in_a_row]
        return weight

    def report_card(self, now: float) -> InstanceReport:
        """Return its report."""
        record, score = self.record, self.score(now)
        parts = {
            **{f"prior_{name}": value for name, value in self.standing.prior._asdict().items()},
            **score._asdict(),
        }
        requests = record.successes + record.failures
        return InstanceReport(
            url=self.url,
            tier=self.standing.tier,
            grade=self.standing.grade,
            state=record.state,
            score=round(score.total, 3),
            score_parts={name: round(value, 3) for name, value in parts.items()},
            successes=record.successes,
            failures=record.failures,
            consecutive_failures=record.consecutive_failures,
            latency=None if record.latency is None else round(record.latency, 3),
            p50=record.percentile(50),
            p95=record.percentile(95),
            success=round(record.successes / requests, 3) if requests else None,
            format=self.format(now),
            json_enabled=record.json_enabled,
            last_verdict=record.last_verdict,
            last_detail=record.last_detail,
            reason=record.reason,
            version=record.facts.version if record.facts else None,
            limiter=record.facts.limiter_enabled if record.facts else None,
            link_token=self.link_token,
            drift=record.drift,
            retry_after=round(record.retry_after(now), 1),
            engines=engine_reports(record.engines, now),
        )
