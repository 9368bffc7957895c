"""What was learned about an instance: the record that the pool changes and a store keeps."""

import math
from collections.abc import Mapping
from itertools import chain
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from searx_mcp.models.attempt import PastOutcome, Verdict
from searx_mcp.models.instance import InstanceState
from searx_mcp.pool.config_facts import ConfigFacts
from searx_mcp.pool.engine_care import EngineRecord
from searx_mcp.pool.proposal import Outcome
from searx_mcp.pool.timers import HOUR, OPT_OUT, SETTLED, overtaken_time

LONGEST: Final = 40 * 86_400.0
"""Seconds. No window and no wait is longer (30 days and a fifth), so charges are dropped after this time,
and a wait that would end later comes from a wrong clock."""
SKEW: Final = 60.0
"""Seconds a stored time may lie in the future, as clocks of processes differ slightly. A later time was written
before the clock was set back."""

WAITING: Final = frozenset(
    {InstanceState.RATE_LIMITED, InstanceState.FAILING, InstanceState.QUARANTINED}
)
"""States that end after a time."""
GIVEN_UP: Final = frozenset({InstanceState.QUARANTINED, InstanceState.BLACKLISTED})
FIRM: Final = GIVEN_UP | {InstanceState.RATE_LIMITED}
"""States in which no request is sent, so an answer belongs to an earlier request: it disproves neither a
limit met since nor an operator's opt-out."""
OPTED_OUT: Final = "Its robots.txt asks searx-mcp to stay away."
DISAGREES: Final = "Its results share nothing with those of your other instances."
DEGRADED_AFTER: Final = 3
"""Bad answers in a row after which it is degraded."""
RECENT: Final = 5
"""Number of past outcomes to keep."""
SLOW_START: Final = (0.25, 0.5, 1.0)
"""Share of its weight that a recovering instance has, by successes since."""
HALF_LIFE: Final = 6 * HOUR
"""Half-life of an observation in seconds: engines inside instances come and go within hours."""
PEAK_MEMORY: Final = 600.0
"""Seconds after which a latency peak has decayed to a third. Load balancers use some seconds; our requests
to one instance are minutes apart."""
OUTCOMES: Final = 10
"""Past requests that are stored individually."""
LATENCIES: Final = 50
"""Latest latencies that are stored: enough for a 95th percentile, and 300 bytes."""

_WORTH: Final = {
    Verdict.FULL: 1.0,
    Verdict.THIN: 0.6,
    Verdict.EMPTY: 0.5,
    Verdict.ENGINES_FAILED: 0.2,
}


class InstanceRecord(BaseModel):
    """What is learned about one instance, or one open source.

    The pool changes its own records in place; the pool and the stores hand out copies. All times are Unix
    seconds. Fields of newer versions are ignored, and stay in the store. An alias is the name of a field in
    the store.

    Attributes:
        url: base URL.
        last_at: time of the last change in this record; `joined` is the rule for two.
        reset_at: before this time, all was forgotten.
        state_at: time of the last change of what no other time stands for.
        state: its state in `searx_mcp.pool.circuit`.
        until: end of its wait.
        reason: why it waits or is degraded, a sentence for a person.
        consecutive_failures: failures since the last useful answer, health checks included.
        failing_episode, limit_episode, quarantine_episode: how many such waits it had in a row.
        limits: times of the latest limits.
        recent: whether its latest answers were useful.
        without_engines: consecutive answers whose engines failed.
        empty: consecutive answers without results although no engine failed.
        degraded_at: time of the last such answer in the state `degraded`.
        successes_in_a_row: since its recovery.
        overtaken: consecutive times that a hedge was faster.
        overtaken_at: time of the last one.
        trust_violations: consecutive answers that counted against it.
        disagreement_streak: consecutive times that its results shared nothing with those of several others.
        certificate_failures: TLS failures since the last good answer.
        bans: how often it was quarantined for trust violations.
        successes, failures: of all its answers, those that ended a search, and the others.
        observed: the decayed sum of the worth of our own requests.
        count: their decayed number.
        observed_at: time of the last one.
        latency: peak-sensitive moving average in seconds, or `None`.
        latency_at: time of its last change.
        latencies: the latest latencies in seconds, the newest last.
        outcomes: the latest requests, the newest last.
        last_detail: of the last request, one short sentence for a person; never the query.
        drift: answers without a usable row.
        json_enabled: whether it answers in JSON; `None` while unknown.
        json_listed: whether its pages list JSON among the formats.
        json_recheck: time from which JSON may be tried again.
        link_token: whether its pages contain the link token.
        facts, facts_at: from its `/config`, and when.
        robots_read_at: time of the last reading of its robots.txt, or of a failed try.
        engines: records of the engines inside it; of own instances only.
        version: of the fields; it only grows.
    """

    model_config = ConfigDict(
        extra="ignore",
        allow_inf_nan=False,
        validate_by_alias=True,
        validate_by_name=True,
        serialize_by_alias=True,
    )

    url: str
    last_at: float = 0.0
    reset_at: float = 0.0
    state_at: float = 0.0

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
    trust_violations: int = Field(default=0, alias="offences")
    disagreement_streak: int = Field(default=0, alias="alone")
    certificate_failures: int = 0
    bans: int = 0

    successes: int = 0
    failures: int = 0
    observed: float = 0.0
    count: float = 0.0
    observed_at: float = 0.0
    latency: float | None = None
    latency_at: float = 0.0
    latencies: tuple[float, ...] = ()
    outcomes: tuple[PastOutcome, ...] = ()
    last_verdict: Verdict | None = None
    last_detail: str = ""
    drift: int = 0

    json_enabled: bool | None = None
    json_listed: bool | None = None
    json_recheck: float = 0.0
    link_token: bool | None = None
    facts: ConfigFacts | None = None
    facts_at: float = 0.0
    robots_read_at: float = Field(default=0.0, alias="cleared_at")
    engines: tuple[EngineRecord, ...] = ()
    version: int = 1

    def is_open(self, now: float) -> bool:
        """Return whether its state allows requests; some states allow one at a time."""
        if self.state is InstanceState.BLACKLISTED:
            return False
        return self.state not in WAITING or now >= self.until

    def is_on_trial(self, now: float) -> bool:
        """Return whether the next request is a trial after a cooldown; there is one at a time."""
        return self.state is InstanceState.HALF_OPEN or (
            self.state in WAITING and now >= self.until
        )

    @property
    def is_opted_out(self) -> bool:
        """Whether it waits because its operator opted out."""
        return self.state is InstanceState.QUARANTINED and self.reason == OPTED_OUT

    def recover(self, now: float) -> None:
        """Make it healthy."""
        if self.state is not InstanceState.HEALTHY:
            self.healthy_since = now
        self.state = InstanceState.HEALTHY
        self.until = 0.0
        self.reason = ""

    def degrade(self, reason: str, now: float) -> None:
        """Make it degraded, unless its state is more severe."""
        if self.state not in FIRM:
            self.state = InstanceState.DEGRADED
            self.until = 0.0
            self.degraded_at = now
            self.reason = reason

    def is_disproved(self, verdict: Verdict, now: float) -> bool:
        """Return whether a good answer disproves the reason for which it is degraded."""
        is_over = self.reason != DISAGREES or now - self.degraded_at >= SETTLED
        return verdict is Verdict.FULL and is_over

    def miss_engines(self, outcome: Outcome, now: float) -> None:
        """Count an answer without results whose engines failed."""
        self.without_engines += 1
        engines = len(outcome.page.unresponsive_engines) if outcome.page else 0
        if self.without_engines >= DEGRADED_AFTER and engines >= 2:  # noqa: PLR2004 - one engine may just be slow
            self.degrade("Its search engines do not answer it.", now)
        elif self.state is InstanceState.HALF_OPEN and self.healthy_since:
            self.recover(now)
        elif self.state is InstanceState.HALF_OPEN:
            self.state = InstanceState.NEW

    def opt_out(self, now: float) -> None:
        """Leave it alone, as its robots.txt asks."""
        if self.state is not InstanceState.BLACKLISTED:
            self.state = InstanceState.QUARANTINED
            self.until = max(self.until, now + OPT_OUT)
            self.reason = OPTED_OUT

    def renew(self) -> None:
        """Reset its state, and keep the observations."""
        new = InstanceRecord(url=self.url)
        for name in _OF_STATE:
            setattr(self, name, getattr(new, name))

    def is_behind(self, now: float) -> bool:
        """Return whether it was overtaken so recently that all others come first."""
        return bool(self.overtaken) and now - self.overtaken_at < overtaken_time(self.overtaken)

    def retry_after(self, now: float) -> float:
        """Return the seconds until it may be asked again; 0 if it may now, or never may."""
        return max(0.0, self.until - now) if self.state in WAITING else 0.0

    def remember(self, outcome: Outcome, now: float) -> None:
        """Store a request, whatever it says about the instance."""
        past = PastOutcome(
            at=round(now, 3),
            verdict=outcome.verdict,
            format=outcome.format,
            status_code=outcome.status_code,
            elapsed_ms=round(outcome.elapsed * 1_000),
            detail=outcome.trust_violation or outcome.detail,
        )
        self.outcomes = (*self.outcomes, past)[-OUTCOMES:]
        self.last_verdict, self.last_detail = past.verdict, past.detail

    def observe(self, outcome: Outcome, now: float) -> None:
        """Add the worth of an answer, or of a missing one, to the observations."""
        decay = self.decay(now)
        self.observed = self.observed * decay + _WORTH.get(outcome.verdict, 0.0)
        self.count = self.count * decay + 1
        self.observed_at = now
        if outcome.status_code is not None or outcome.verdict is Verdict.TIMEOUT:
            self.observe_latency(outcome.elapsed, now)

    def observe_latency(self, seconds: float, now: float) -> None:
        """Add the time of an answer, or of waiting for none, to the latency.

        A peak counts at once, and decays with e^(-t / 600 s) of the time since the last answer.
        """
        if self.latency is None or seconds > self.latency:
            self.latency = seconds
        else:
            kept = math.exp(-max(0.0, now - self.latency_at) / PEAK_MEMORY)
            self.latency = kept * self.latency + (1 - kept) * seconds
        self.latency_at = now
        self.latencies = (*self.latencies, round(seconds, 3))[-LATENCIES:]

    def halve_trust(self) -> None:
        """Halve the weight of past observations: after a rest, an instance may have changed."""
        self.observed /= 2
        self.count /= 2

    def mean_worth(self) -> float | None:
        """Return the mean worth of our own requests, 0 to 1, or `None` before the first."""
        return self.observed / self.count if self.count else None

    def decay(self, now: float) -> float:
        """Return the remaining weight of the last observation, 0 to 1."""
        return math.exp2(-max(0.0, now - self.observed_at) / HALF_LIFE)

    def percentile(self, percent: int) -> float | None:
        """Return a percentile of the latest latencies in seconds, by nearest rank."""
        if not self.latencies:
            return None
        rank = math.ceil(len(self.latencies) * percent / 100)
        return sorted(self.latencies)[max(rank, 1) - 1]

    def joined(self, other: "InstanceRecord") -> "InstanceRecord":
        """Return the later of two records, with each part of which the earlier one has a later state.

        Sums are not added: both may include the same requests. What is from before a reset that only one of
        them knows is forgotten.
        """
        early, late = sorted((other, self), key=lambda each: each.last_at)
        # Of a reset and another change at the same time, the reset is the later one.
        later = [
            at
            for at in _PARTS
            if (max(getattr(early, at), early.reset_at), early.reset_at)
            > (max(getattr(late, at), late.reset_at), late.reset_at)
        ]
        if not later:
            return late
        names = chain.from_iterable((at, *_PARTS[at]) for at in later)
        changes = {name: getattr(early, name) for name in names}
        changes["reset_at"] = max(early.reset_at, late.reset_at)
        return late.model_copy(update=changes)

    def settled(self, now: float) -> "InstanceRecord":
        """Return a copy of this record, corrected at `now`.

        A record from the future was written before the clock was set back: it counts as written now, and
        all its times move with it, so that the rest of a wait stays the same. No wait ends later than
        `LONGEST` from now.
        """
        ahead = self.last_at - now if self.last_at > now + SKEW else 0.0
        # Rounding must not put a moved time after now: it would win over what is learned now.
        latest = now if ahead else now + SKEW
        changes: dict[str, Any] = {
            "last_at": min(self.last_at - ahead, latest),
            **{name: min(getattr(self, name) - ahead, latest) for name in _PAST},
            "until": min(self.until - ahead, now + LONGEST),
            "json_recheck": min(self.json_recheck - ahead, now + LONGEST),
            "engines": tuple(each.moved(ahead, latest) for each in self.engines),
            "limits": tuple(min(at - ahead, latest) for at in self.limits),
            "outcomes": tuple(
                past.model_copy(update={"at": min(past.at - ahead, latest)})
                if ahead or past.at > now + SKEW
                else past
                for past in self.outcomes
            ),
        }
        return self.model_copy(update=changes)


_OF_STATE: Final = (
    "state", "until", "reason", "healthy_since", "consecutive_failures", "failing_episode",
    "limit_episode", "quarantine_episode", "limits", "recent", "without_engines", "empty",
    "degraded_at", "successes_in_a_row", "overtaken", "overtaken_at", "trust_violations",
    "disagreement_streak", "certificate_failures", "bans",
)  # fmt: skip
"""Fields that hold the current state, not observations."""
_PAST: Final = (
    "observed_at", "latency_at", "healthy_since", "degraded_at", "overtaken_at", "robots_read_at",
    "reset_at", "state_at", "facts_at",
)  # fmt: skip
_PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "observed_at": (
        "successes", "failures", "observed", "count", "outcomes", "last_verdict", "last_detail",
        "drift",
    ),
    "latency_at": ("latency", "latencies"),
    "facts_at": ("facts",),
    "robots_read_at": (),
    "state_at": (
        *_OF_STATE, "json_enabled", "json_listed", "json_recheck", "link_token", "engines",
    ),
}  # fmt: skip
"""Fields that change together, by the time of their last change."""


def settled(at: float, now: float) -> float:
    """Return a stored past time, corrected at `now`: a future time counts as now."""
    return now if at > now + SKEW else at


def replaces(incoming: float, kept: float, now: float) -> bool:
    """Return whether a record of the time `incoming` replaces one of the time `kept`.

    A store keeps the later one, instance by instance; processes join what they know with it before they
    save. A stored record from the future never wins, or a clock that was once wrong would block all later ones.
    """
    return incoming >= kept or kept > now + SKEW
