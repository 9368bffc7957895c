"""The state machine of one instance's life."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.instance import InstanceState
from searx_mcp.pool import timers
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.outcome import Outcome

if TYPE_CHECKING:
    import random

WAITING = frozenset({InstanceState.RATE_LIMITED, InstanceState.FAILING, InstanceState.QUARANTINED})
"""States that end with their time."""

_GIVEN_UP = frozenset({InstanceState.QUARANTINED, InstanceState.BLACKLISTED})
_FIRM = _GIVEN_UP | {InstanceState.RATE_LIMITED}
"""States in which no request leaves, so that an answer is one to a request from before: it disproves
neither a limit met since nor an operator's wish."""
_LIMITS = frozenset({Verdict.RATE_LIMITED, Verdict.BLOCKED, Verdict.CHALLENGE})
_AT_ONCE = frozenset({Verdict.DNS, Verdict.TLS, Verdict.REFUSED})
_RECENT = 5
_DEGRADED_AFTER = 3
_QUARANTINE_AFTER_FAILING = 6
_QUARANTINE_AFTER_LIMITS = 3
_QUARANTINE_AFTER_OFFENCES = 3
_BLACKLIST_AFTER = 3
_ALONE_AFTER = 5
SLOW_START = (0.25, 0.5, 1.0)
"""Shares of its weight for an instance that comes back, by successes since."""
RESTS = "Its quota is used up for now, as it says itself."
OPTED_OUT = "Its robots.txt asks searx-mcp to stay away."
ALONE = "Its results share nothing with those of your other instances."


@dataclass(slots=True)
class Life:
    """Where an instance stands, and what its next answer will make of it.

    `new` until the first answer of use, then `healthy`. Consecutive failures make it `failing`, a limit
    or a block `rate_limited`, answers without working engines or one after the other without
    results `degraded`, and repeated trouble, a wrong program or offences `quarantined`. When the time of a waiting state is over, one request
    may try it (`half_open`): a good answer makes it healthy with a slow start, a failure sends it
    back for longer. Whoever is quarantined for offences three times is `blacklisted`, which only a
    person lifts. Who is trusted is never quarantined. A good answer forgives what it disproves:
    failures, but no limit, rest, wish or offence that came to light while it was under way. Of an own
    instance it ends every wait: these are short, and its owner changes its settings.

    Attributes:
        trusted: whether it is the user's own, or an open source.
        own: whether it is the user's own.
        until: Unix seconds at which a waiting state ends.
        reason: why it waits, a sentence for a person.
        healthy_since: Unix seconds.
        limits: when it limited us, the latest few.
        recent: whether its latest answers were of use.
        without_engines: answers in a row whose engines failed.
        empty: answers in a row that found nothing, though no engine failed.
        degraded_at: Unix seconds of the last such answer in the state `degraded`.
        overtaken: times in a row that a hedge was faster.
        overtaken_at: Unix seconds of the last.
        offences: answers in a row that counted against it.
        alone: times in a row that its results shared nothing with those of several others.
        certificate_failures: TLS failures since the last good answer.
        bans: how often offences had it quarantined.
    """

    trusted: bool
    own: bool = False
    state: InstanceState = InstanceState.NEW
    until: float = 0.0
    reason: str = ""
    healthy_since: float = 0.0
    consecutive_failures: int = 0
    failing_episode: int = 0
    limit_episode: int = 0
    quarantine_episode: int = 0
    limits: tuple[float, ...] = ()
    recent: tuple[bool, ...] = ()
    without_engines: int = 0
    empty: int = 0
    degraded_at: float = 0.0
    successes_in_a_row: int = len(SLOW_START)
    overtaken: int = 0
    overtaken_at: float = 0.0
    offences: int = 0
    alone: int = 0
    certificate_failures: int = 0
    bans: int = 0

    def is_open(self, now: float) -> bool:
        """Whether its state lets requests go to it; in some states only one at a time."""
        if self.state is InstanceState.BLACKLISTED:
            return False
        return self.state not in WAITING or now >= self.until

    @property
    def is_opted_out(self) -> bool:
        """Whether its operator's wish is what it waits for."""
        return self.state is InstanceState.QUARANTINED and self.reason == OPTED_OUT

    @property
    def is_on_trial(self) -> bool:
        """Whether it may be asked by one request at a time only."""
        return self.state is InstanceState.HALF_OPEN or self.state in WAITING

    def retry_after(self, now: float) -> float:
        """Seconds until it may be asked again; 0 when it may now, or never may."""
        return max(0.0, self.until - now) if self.state in WAITING else 0.0

    def is_behind(self, now: float) -> bool:
        """Whether it was overtaken so lately that all others come first."""
        behind = timers.overtaken_time(self.overtaken) if self.overtaken else 0.0
        return now - self.overtaken_at < behind

    def begin(self, now: float) -> None:
        """A request leaves for it."""
        if self.state in WAITING and now >= self.until:
            self.state = InstanceState.HALF_OPEN

    def learn(
        self, outcome: Outcome, now: float, *, config: PoolConfig, rng: "random.Random"
    ) -> bool:
        """Let the state follow from an outcome; tells whether it was a trial that succeeded."""
        verdict = outcome.verdict
        if self.state in _FIRM and not (self.own and verdict.ends_search):
            return False
        was_trial = self.state is InstanceState.HALF_OPEN
        if verdict.ends_search:
            self._succeed(verdict, now)
        elif verdict is Verdict.ENGINES_FAILED:
            self._miss_engines(outcome, now)
        else:
            self._fail(outcome, now, config=config, rng=rng)
        self._judge(outcome, now, rng)
        return was_trial and verdict.ends_search

    def refuse_format(self) -> None:
        """It refused a format and nothing else: a trial ends, and what is asked next is none."""
        if self.state is InstanceState.HALF_OPEN:
            self.state = InstanceState.NEW

    def be_overtaken(self, now: float, *, config: PoolConfig, rng: "random.Random") -> None:
        """A hedge was faster: all others come first for a time; on trial it counts as a timeout."""
        if self.state in _FIRM:
            return
        if not self.is_behind(now):  # requests that were under way together are overtaken once
            self.overtaken += 1
            self.overtaken_at = now
        if self.state is InstanceState.HALF_OPEN:
            detail = "It was too slow: other instances answered first."
            slow = Outcome(Verdict.TIMEOUT, Format.HTML, 0.0, detail=detail)
            self._fail(slow, now, config=config, rng=rng)

    def probed(self, *, alive: bool, now: float, config: PoolConfig, rng: "random.Random") -> None:
        """A health check came back: an answer ends a failing time, silence counts as a failure."""
        if alive:
            if self.state is InstanceState.FAILING:
                self.until = min(self.until, now)
            return
        self.consecutive_failures += 1
        if self.consecutive_failures >= config.max_consecutive_failures:
            self._wait_failing("It does not answer health checks.", now, rng)

    def revive(self, now: float) -> None:
        """It was seen to work otherwise than by a search: whatever it waits for, it may be tried now."""
        if self.state in WAITING:
            self.until = min(self.until, now)

    def compared(self, *, agrees: bool, now: float) -> None:
        """Its results were held against those of several others for the same search."""
        self.alone = 0 if agrees else self.alone + 1
        if self.alone >= _ALONE_AFTER:
            self.alone = 0
            self._degrade(ALONE, now)
        elif agrees and self.state is InstanceState.DEGRADED and self.reason == ALONE:
            self._recover(now)

    def rest(self, seconds: float, now: float) -> None:
        """It asks to be left alone for a time, although it has answered."""
        if self.state not in _GIVEN_UP:
            self.state = InstanceState.RATE_LIMITED
            self.until = max(self.until, now + seconds)
            self.reason = RESTS

    def opt_out(self, now: float) -> None:
        """Its operator asks us to stay away."""
        if self.state is not InstanceState.BLACKLISTED:
            self.state = InstanceState.QUARANTINED
            self.until = max(self.until, now + timers.OPT_OUT)
            self.reason = OPTED_OUT

    def opt_in(self, now: float) -> None:
        """Its operator lets us in: if that was all it waited for, it may be tried now."""
        if self.is_opted_out:
            self.until = min(self.until, now)

    def _succeed(self, verdict: Verdict, now: float) -> None:
        if self.state is InstanceState.HALF_OPEN:
            self.successes_in_a_row = 0
        self.consecutive_failures = self.without_engines = self.overtaken = 0
        self.certificate_failures = 0
        self._remember(useful=True)
        self.successes_in_a_row += 1
        if self.successes_in_a_row >= len(SLOW_START):
            self.failing_episode = self.limit_episode = 0
        self.empty = self.empty + 1 if verdict is Verdict.EMPTY else 0
        if self.empty >= _DEGRADED_AFTER and not self.trusted:
            self._degrade("It finds nothing, although it reports no failed engine.", now)
        elif self.state is not InstanceState.DEGRADED or self._is_disproved(verdict, now):
            self._recover(now)

    def _is_disproved(self, verdict: Verdict, now: float) -> bool:
        """Whether a good answer shows that why it is degraded holds no longer."""
        is_over = self.reason != ALONE or now - self.degraded_at >= timers.SETTLED
        return verdict is Verdict.FULL and is_over

    def _recover(self, now: float) -> None:
        if self.state is not InstanceState.HEALTHY:
            self.healthy_since = now
        self.state = InstanceState.HEALTHY
        self.until = 0.0
        self.reason = ""

    def _degrade(self, reason: str, now: float) -> None:
        if self.state in _FIRM:
            return
        self.state = InstanceState.DEGRADED
        self.until = 0.0
        self.degraded_at = now
        self.reason = reason

    def _miss_engines(self, outcome: Outcome, now: float) -> None:
        self.without_engines += 1
        engines = len(outcome.page.unresponsive_engines) if outcome.page else 0
        if self.without_engines >= _DEGRADED_AFTER and engines >= 2:  # noqa: PLR2004 - one engine may just be slow
            self._degrade("Its search engines do not answer it.", now)
        elif self.state is InstanceState.HALF_OPEN and self.healthy_since:
            self._recover(now)
        elif self.state is InstanceState.HALF_OPEN:
            self.state = InstanceState.NEW

    def _fail(
        self, outcome: Outcome, now: float, *, config: PoolConfig, rng: "random.Random"
    ) -> None:
        # 1. limits and blocks: wait their window; three in a day mean that we are not wanted
        # 2. a wrong program or a redirect elsewhere: keep away for days
        # 3. failures: wait when they repeat, at once when a repetition is certain or when the
        #    host says for how long
        if self.state is InstanceState.HEALTHY and now - self.healthy_since >= timers.SETTLED:
            self.failing_episode = 0
        self.consecutive_failures += 1
        self.successes_in_a_row = 0
        self._remember(useful=False)
        failures = max(self.consecutive_failures, self.recent.count(False))
        if outcome.verdict in _LIMITS:
            self._wait_limited(outcome, now, config=config, rng=rng)
        elif outcome.verdict is Verdict.NOT_SEARXNG and not self.trusted:
            self._quarantine(outcome.detail, now, rng)
        elif outcome.verdict is Verdict.FOREIGN_REDIRECT and not self.trusted:
            self._ban(outcome.detail, now, rng)
        elif (
            outcome.verdict in _AT_ONCE
            or outcome.retry_after is not None
            or self.state is InstanceState.HALF_OPEN
            or failures >= config.max_consecutive_failures
        ):
            self._wait_failing(outcome.detail, now, rng, outcome.retry_after)

    def _judge(self, outcome: Outcome, now: float, rng: "random.Random") -> None:
        """Count what speaks against trusting it."""
        if self.trusted:
            return
        if outcome.verdict is Verdict.TLS:
            self.certificate_failures += 1
            if self.certificate_failures >= _QUARANTINE_AFTER_OFFENCES:
                self.certificate_failures = 0
                self._ban("Its certificate failed three times in a row.", now, rng)
        if outcome.offence:
            self.offences += 1
            if self.offences >= _QUARANTINE_AFTER_OFFENCES:
                self.offences = 0
                self._ban(outcome.offence, now, rng)
        elif outcome.page is not None and outcome.page.hits:
            self.offences = 0

    def _rests(self, now: float) -> bool:
        # Several requests that were under way fail together: that is one episode, not several.
        return not self.is_open(now)

    def _remember(self, *, useful: bool) -> None:
        self.recent = (*self.recent, useful)[-_RECENT:]

    def _wait_limited(
        self, outcome: Outcome, now: float, *, config: PoolConfig, rng: "random.Random"
    ) -> None:
        if self._rests(now):
            return
        self.limit_episode += 1
        self.limits = (*self.limits, now)[-_QUARANTINE_AFTER_LIMITS:]
        if len(self.limits) == _QUARANTINE_AFTER_LIMITS and now - self.limits[0] <= timers.DAY:
            self.limits = ()
            if not self.trusted:
                self._quarantine("It limited us three times within a day.", now, rng)
                return
        self.state = InstanceState.RATE_LIMITED
        self.reason = outcome.detail
        episode, retry_after = self.limit_episode, outcome.retry_after
        if self.own:
            self.until = now + timers.own_limited_time(
                outcome.verdict, episode=episode, retry_after=retry_after, rng=rng
            )
            return
        self.until = now + timers.limited_time(
            outcome.verdict,
            outcome.format,
            episode=episode,
            retry_after=retry_after,
            base=config.rate_limit_backoff_base,
            doubling=config.limits_double,
            rng=rng,
        )

    def _wait_failing(
        self, reason: str, now: float, rng: "random.Random", retry_after: float | None = None
    ) -> None:
        if self._rests(now):
            return
        self.failing_episode += 1
        self.recent = ()
        if self.failing_episode >= _QUARANTINE_AFTER_FAILING and not self.trusted:
            self._quarantine(f"It keeps failing. {reason}".strip(), now, rng)
            return
        self.state = InstanceState.FAILING
        self.reason = reason
        self.until = now + timers.failing_time(self.failing_episode, rng, retry_after=retry_after)

    def _ban(self, reason: str, now: float, rng: "random.Random") -> None:
        self.bans += 1
        if self.bans >= _BLACKLIST_AFTER:
            self.state = InstanceState.BLACKLISTED
            self.reason = reason
        else:
            self._quarantine(reason, now, rng)

    def _quarantine(self, reason: str, now: float, rng: "random.Random") -> None:
        self.quarantine_episode += 1
        self.state = InstanceState.QUARANTINED
        self.reason = reason
        self.until = now + timers.quarantine_time(self.quarantine_episode, rng)
