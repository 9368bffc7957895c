"""One instance in the pool and the state machine of its life."""

import math
from collections import deque
from typing import TYPE_CHECKING

from typing_extensions import override

from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.instance import InstanceState, Tier
from searx_mcp.pool import timers
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.outcome import Outcome
from searx_mcp.pool.record import InstanceRecord
from searx_mcp.pool.score import live_score

if TYPE_CHECKING:
    import random

HALF_LIFE = 6 * timers.HOUR
"""After this time an observation counts half: engines inside instances come and go within hours."""

_WORTH = {
    Verdict.FULL: 1.0,
    Verdict.THIN: 0.6,
    Verdict.EMPTY: 0.5,
    Verdict.ENGINES_FAILED: 0.2,
}
_LIMITS = frozenset({Verdict.RATE_LIMITED, Verdict.BLOCKED, Verdict.CHALLENGE})
_WRONG_PLACE = frozenset({Verdict.NOT_SEARXNG, Verdict.FOREIGN_REDIRECT})
_AT_ONCE = frozenset({Verdict.DNS, Verdict.TLS, Verdict.REFUSED})
_LATENCY_SHARE = 0.3
_QUARANTINE_AFTER_FAILING = 6
_QUARANTINE_AFTER_LIMITS = 3
_DEGRADED_AFTER = 3
_DEGRADED_SHARE = 0.2
_SLOW_START = (0.25, 0.5, 1.0)
_WAITING = frozenset({InstanceState.RATE_LIMITED, InstanceState.FAILING, InstanceState.QUARANTINED})


class Member:
    """One instance and what we learned about it.

    Life: `new` until its first answer, then `healthy`. Consecutive failures make it `failing`, a
    limit or a block `rate_limited`, answers without working engines `degraded`, and repeated
    trouble or a wrong program `quarantined`. When the time of a waiting state is over, one request
    may try it (`half_open`): a good answer makes it healthy with a slow start, a failure sends it
    back for longer.
    """

    def __init__(self, url: str, *, tier: Tier, grade: str | None, prior: float) -> None:
        self.url = url
        self.tier = tier
        self.grade = grade
        self.prior = prior
        self.state = InstanceState.NEW
        self.until = 0.0
        self.in_flight = 0
        self.current_weight = 0.0
        self.successes = 0
        self.failures = 0
        self.consecutive_failures = 0
        self.latency: float | None = None
        self.json_enabled: bool | None = None
        self.link_token: bool | None = None
        self.last: Outcome | None = None
        self.drift = 0
        self.last_at = 0.0
        self._remembered: tuple[Verdict | None, str] = (None, "")
        self._json_recheck = 0.0
        self._observed = 0.0
        self._count = 0.0
        self._observed_at = 0.0
        self._failing_episode = 0
        self._limit_episode = 0
        self._quarantine_episode = 0
        self._limits: deque[float] = deque(maxlen=_QUARANTINE_AFTER_LIMITS)
        self._recent: deque[bool] = deque(maxlen=5)
        self._without_engines = 0
        self._successes_in_a_row = len(_SLOW_START)

    @override
    def __repr__(self) -> str:
        return (
            f"<Member {self.url} {self.tier} {self.state} "
            f"{self.successes} ok, {self.failures} failed, {self.in_flight} in flight>"
        )

    @property
    def is_own(self) -> bool:
        """Whether the user configured it as an instance of their own."""
        return self.tier is Tier.OWN

    @property
    def last_verdict(self) -> tuple[Verdict | None, str]:
        """What the last request came to, with its detail."""
        return (self.last.verdict, self.last.detail) if self.last else self._remembered

    def is_eligible(self, now: float) -> bool:
        """Whether a request may go to it now."""
        if self.state is InstanceState.HALF_OPEN:
            return self.in_flight == 0
        if self.state in _WAITING:
            return now >= self.until and self.in_flight == 0
        return self.is_own or self.in_flight == 0

    def retry_after(self, now: float) -> float:
        """Seconds until it may be asked again; 0 when it may now."""
        return max(0.0, self.until - now) if self.state in _WAITING else 0.0

    def format(self, now: float) -> Format:
        """The format to ask for: own instances JSON first, public ones HTML.

        Public instances hardly ever serve JSON, and where they do it is limited to four an hour.
        """
        if self.is_own and (self.json_enabled is not False or now >= self._json_recheck):
            return Format.JSON
        return Format.HTML

    def score(self, now: float) -> float:
        """Its quality now, 0 to 1."""
        count = self._count * self._decay(now)
        observed = self._observed / self._count if self._count else None
        return live_score(prior=self.prior, observed=observed, count=count, latency=self.latency)

    def weight(self, now: float) -> float:
        """Its share of the round-robin: max(1, 20 score^2), less when degraded or coming back."""
        weight = max(1.0, 20 * self.score(now) ** 2)
        if self.state is InstanceState.DEGRADED:
            weight *= _DEGRADED_SHARE
        if self._successes_in_a_row < len(_SLOW_START):
            weight *= _SLOW_START[self._successes_in_a_row]
        return weight

    def regrade(self, *, tier: Tier, grade: str | None, prior: float) -> None:
        """A newer list says something else of it."""
        self.tier = tier
        self.grade = grade
        self.prior = prior

    def begin(self, now: float) -> None:
        """A request leaves for it."""
        self.in_flight += 1
        if self.state in _WAITING and now >= self.until:
            self.state = InstanceState.HALF_OPEN

    def release(self) -> None:
        """A request was given up by us: nothing was learned."""
        self.in_flight -= 1

    def report(
        self, outcome: Outcome, now: float, *, config: PoolConfig, rng: "random.Random"
    ) -> None:
        """A request came to `outcome`; the state follows from it."""
        self.in_flight -= 1
        self.last = outcome
        self.last_at = now
        self.drift += outcome.has_drifted
        self._learn_formats(outcome, now)
        if outcome.verdict is Verdict.JSON_OFF:
            if self.state is InstanceState.HALF_OPEN:
                self.state = InstanceState.NEW
            return
        self._observe(outcome, now)
        if outcome.verdict.ends_search:
            self._succeed(outcome)
        elif outcome.verdict is Verdict.ENGINES_FAILED:
            self._miss_engines(outcome)
        else:
            self._fail(outcome, now, config=config, rng=rng)

    def record(self) -> InstanceRecord:
        """What was learned, as it is kept."""
        verdict, detail = self.last_verdict
        return InstanceRecord(
            url=self.url,
            state=self.state,
            until=self.until,
            last_at=self.last_at,
            successes=self.successes,
            failures=self.failures,
            consecutive_failures=self.consecutive_failures,
            observed=self._observed,
            count=self._count,
            observed_at=self._observed_at,
            latency=self.latency,
            json_enabled=self.json_enabled,
            json_recheck=self._json_recheck,
            link_token=self.link_token,
            failing_episode=self._failing_episode,
            limit_episode=self._limit_episode,
            quarantine_episode=self._quarantine_episode,
            limits=tuple(self._limits),
            recent=tuple(self._recent),
            without_engines=self._without_engines,
            successes_in_a_row=self._successes_in_a_row,
            drift=self.drift,
            last_verdict=verdict,
            last_detail=detail,
        )

    def restore(self, record: InstanceRecord) -> None:
        """Take over what was learned before, or by another process; older news is ignored."""
        if record.last_at <= self.last_at:
            return
        self.state = record.state
        self.until = record.until
        self.last_at = record.last_at
        self.successes = record.successes
        self.failures = record.failures
        self.consecutive_failures = record.consecutive_failures
        self.latency = record.latency
        self.json_enabled = record.json_enabled
        self.link_token = record.link_token
        self.drift = record.drift
        self.last = None
        self._remembered = (record.last_verdict, record.last_detail)
        self._json_recheck = record.json_recheck
        self._observed = record.observed
        self._count = record.count
        self._observed_at = record.observed_at
        self._failing_episode = record.failing_episode
        self._limit_episode = record.limit_episode
        self._quarantine_episode = record.quarantine_episode
        self._limits = deque(record.limits, maxlen=self._limits.maxlen)
        self._recent = deque(record.recent, maxlen=self._recent.maxlen)
        self._without_engines = record.without_engines
        self._successes_in_a_row = record.successes_in_a_row

    def probed(self, *, alive: bool, now: float, config: PoolConfig, rng: "random.Random") -> None:
        """A health check came back: an answer ends a failing time, silence counts as a failure."""
        self.last_at = now
        if alive and self.state is InstanceState.FAILING:
            self.until = min(self.until, now)
        elif not alive:
            self.consecutive_failures += 1
            if self.consecutive_failures >= config.max_consecutive_failures:
                self._wait_failing(now, rng)

    def _learn_formats(self, outcome: Outcome, now: float) -> None:
        if outcome.verdict is Verdict.JSON_OFF:
            self.json_enabled = False
            self._json_recheck = now + timers.JSON_RECHECK
        elif outcome.format is Format.JSON and outcome.page is not None:
            self.json_enabled = True
        if outcome.page is not None and outcome.page.link_token is not None:
            self.link_token = outcome.page.link_token

    def _observe(self, outcome: Outcome, now: float) -> None:
        decay = self._decay(now)
        self._observed = self._observed * decay + _WORTH.get(outcome.verdict, 0.0)
        self._count = self._count * decay + 1
        self._observed_at = now
        if outcome.status_code is None and outcome.verdict is not Verdict.TIMEOUT:
            return
        if self.latency is None or outcome.elapsed > self.latency:
            self.latency = outcome.elapsed  # a peak is believed at once, its end only slowly
        else:
            self.latency += _LATENCY_SHARE * (outcome.elapsed - self.latency)

    def _decay(self, now: float) -> float:
        return math.exp2(-max(0.0, now - self._observed_at) / HALF_LIFE)

    def _succeed(self, outcome: Outcome) -> None:
        self.successes += 1
        self.consecutive_failures = 0
        self._without_engines = 0
        self._recent.append(True)
        if self.state is InstanceState.HALF_OPEN:
            self._successes_in_a_row = 0
        self._successes_in_a_row += 1
        if self._successes_in_a_row >= len(_SLOW_START):
            self._failing_episode = self._limit_episode = 0
        if self.state is not InstanceState.DEGRADED or outcome.verdict is Verdict.FULL:
            self.state = InstanceState.HEALTHY

    def _miss_engines(self, outcome: Outcome) -> None:
        self.failures += 1
        self._without_engines += 1
        engines = len(outcome.page.unresponsive_engines) if outcome.page else 0
        if self._without_engines >= _DEGRADED_AFTER and engines >= 2:  # noqa: PLR2004 - one engine may just be slow
            self.state = InstanceState.DEGRADED
        elif self.state in {InstanceState.NEW, InstanceState.HALF_OPEN}:
            self.state = InstanceState.HEALTHY

    def _fail(
        self, outcome: Outcome, now: float, *, config: PoolConfig, rng: "random.Random"
    ) -> None:
        # 1. limits and blocks: wait their window; three in a day mean that we are not wanted
        # 2. a wrong program or a redirect elsewhere: keep away for days
        # 3. failures: wait when they repeat, at once when a repetition is certain or when the
        #    host says for how long
        self.failures += 1
        self.consecutive_failures += 1
        self._successes_in_a_row = 0
        self._recent.append(False)
        if outcome.verdict in _LIMITS:
            self._wait_limited(outcome, now, config=config, rng=rng)
        elif outcome.verdict in _WRONG_PLACE and not self.is_own:
            self._quarantine(now, rng)
        elif (
            outcome.verdict in _AT_ONCE
            or outcome.retry_after is not None
            or self.state is InstanceState.HALF_OPEN
            or self.consecutive_failures >= config.max_consecutive_failures
            or self._recent.count(False) >= config.max_consecutive_failures
        ):
            self._wait_failing(now, rng, outcome.retry_after)
        elif self.state is InstanceState.NEW:
            self.state = InstanceState.HEALTHY

    def _wait_limited(
        self, outcome: Outcome, now: float, *, config: PoolConfig, rng: "random.Random"
    ) -> None:
        self._limit_episode += 1
        self._limits.append(now)
        if len(self._limits) == _QUARANTINE_AFTER_LIMITS and now - self._limits[0] <= timers.DAY:
            self._limits.clear()
            self._quarantine(now, rng)
            return
        self.state = InstanceState.RATE_LIMITED
        self.until = now + timers.limited_time(
            outcome.verdict,
            outcome.format,
            episode=self._limit_episode,
            retry_after=outcome.retry_after,
            base=config.rate_limit_backoff_base,
            rng=rng,
        )

    def _wait_failing(
        self, now: float, rng: "random.Random", retry_after: float | None = None
    ) -> None:
        self._failing_episode += 1
        self._recent.clear()
        if self._failing_episode >= _QUARANTINE_AFTER_FAILING and not self.is_own:
            self._quarantine(now, rng)
            return
        self.state = InstanceState.FAILING
        self.until = now + timers.failing_time(self._failing_episode, rng, retry_after=retry_after)

    def _quarantine(self, now: float, rng: "random.Random") -> None:
        self._quarantine_episode += 1
        self.state = InstanceState.QUARANTINED
        self.until = now + timers.quarantine_time(self._quarantine_episode, rng)
