"""The states of an instance: available, on a cooldown, or given up."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.instance import InstanceState
from searx_mcp.pool import engine_care, timers
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.member import Member
from searx_mcp.pool.proposal import InstanceQuery, Outcome
from searx_mcp.pool.record import (
    DISAGREES,
    FIRM,
    GIVEN_UP,
    RECENT,
    SKEW,
    WAITING,
    InstanceRecord,
)

if TYPE_CHECKING:
    import random

RESTS = "It says that its quota is used up for now."

_LIMITS = frozenset({Verdict.RATE_LIMITED, Verdict.BLOCKED, Verdict.CHALLENGE})
_AT_ONCE = frozenset({Verdict.DNS, Verdict.TLS, Verdict.REFUSED})
_QUARANTINE_AFTER_FAILING = 6
_QUARANTINE_AFTER_LIMITS = 3
_QUARANTINE_AFTER_VIOLATIONS = 3
_BLACKLIST_AFTER = 3
_DISAGREES_AFTER = 5


class Members:
    """The members of a pool by URL, and their state transitions.

    An instance is `new` until its first useful answer, then `healthy`. Consecutive failures make it
    `failing`; a limit or a block, `rate_limited`; answers without working engines, or several in a row
    without results, `degraded`; repeated trouble, a wrong program or trust violations, `quarantined`. After
    the cooldown, one request may try it (`half_open`): a good answer makes it healthy with a slow start, a
    failure sends it back for longer. An instance quarantined three times for trust violations is
    `blacklisted`, which only a person can undo. A trusted instance is never quarantined. A good answer
    clears what it disproves: failures, but not a limit, pause, opt-out or violation that became known while
    it was in flight. For an own instance it ends every cooldown: these are short, and its owner changes its
    settings.

    Each request calls `begin`, then exactly one of `report` (it has an outcome), `lost_to_hedge` (its hedge
    was faster) and `release` (we gave it up, or it says nothing about the instance). A member that left the
    pool during a request still learns the outcome. Nothing here waits: callers pass the time and the random
    numbers.

    Args:
        config: rules for judging.
        rng: randomness of the cooldowns.
    """

    def __init__(self, config: PoolConfig, rng: "random.Random") -> None:
        self._config = config
        self._rng = rng
        self._members: dict[str, Member] = {}
        self._leaving: dict[str, Member] = {}

    def __len__(self) -> int:
        return len(self._members)

    def begin(self, url: str, now: float) -> None:
        """Record that a request to `url` is sent."""
        member = self._member(url)
        member.in_flight += 1
        record = member.record
        if record.state in WAITING and now >= record.until:
            record.state = InstanceState.HALF_OPEN

    def release(self, url: str) -> None:
        """Record that we gave up the request, or that it says nothing about `url`."""
        self._member(url).in_flight -= 1

    def report(
        self, url: str, outcome: Outcome, now: float, query: InstanceQuery | None = None
    ) -> None:
        """Record the outcome of a request and change the state accordingly.

        Args:
            url: the instance.
            outcome: of the request.
            now: Unix seconds.
            query: what was asked, with the named engines; updates their records.
        """
        member = self._member(url)
        member.in_flight -= 1
        record, page = self._changing(member, now), outcome.page
        record.drift += outcome.has_drifted
        member.learn_formats(outcome, now)
        if member.is_own and query is not None and page is not None:
            record.engines = engine_care.learned(record.engines, query, page, now)
        record.remember(outcome, now)
        if outcome.is_about_format(own=member.is_own):
            # It only refused a format: the trial ends, and the next request is not one.
            if record.state is InstanceState.HALF_OPEN:
                record.state = InstanceState.NEW
            return
        record.observe(outcome, now)
        record.successes += outcome.verdict.ends_search
        record.failures += not outcome.verdict.ends_search
        if record.state in FIRM and not (member.is_own and outcome.verdict.ends_search):
            return
        was_trial = record.state is InstanceState.HALF_OPEN
        if outcome.verdict.ends_search:
            member.succeed(outcome.verdict, now)
        elif outcome.verdict is Verdict.ENGINES_FAILED:
            record.miss_engines(outcome, now)
        else:
            self._fail(member, outcome, now)
        if not member.is_trusted:
            self._judge_trust(member.record, outcome, now)
        if was_trial and outcome.verdict.ends_search:
            record.halve_trust()

    def lost_to_hedge(self, url: str, elapsed: float, now: float) -> None:
        """Record that the request was given up after `elapsed` seconds because its hedge had answered.

        The instance comes after all others for a time; on trial, this counts as a timeout.
        """
        member = self._member(url)
        member.in_flight -= 1
        record = self._changing(member, now)
        detail = "Another instance answered first."
        record.observe_latency(elapsed, now)
        record.remember(Outcome(Verdict.OVERTAKEN, member.format(now), elapsed, detail=detail), now)
        if record.state in FIRM:
            return
        if not record.is_behind(now):  # concurrent requests count as one overtaking
            record.overtaken += 1
            record.overtaken_at = now
        if record.state is InstanceState.HALF_OPEN:
            detail = "It was too slow: other instances answered first."
            self._fail(member, Outcome(Verdict.TIMEOUT, Format.HTML, 0.0, detail=detail), now)

    def probed(self, url: str, *, alive: bool, now: float) -> None:
        """Record a health check: an answer ends a failing time, silence counts as a failure.

        A member that has left the pool is ignored.
        """
        if url not in self._members:
            return
        member = self._members[url]
        record = member.record
        record.last_at = now
        if alive and record.state is not InstanceState.FAILING:
            return
        record.state_at = now
        if alive:
            record.until = min(record.until, now)
            return
        record.consecutive_failures += 1
        if record.consecutive_failures >= self._config.max_consecutive_failures:
            self._wait_failing(member, "It does not answer health checks.", now)

    def revive(self, url: str, now: float) -> None:
        """Record that an own instance works, other than by a search: it may be tried now, and JSON too.

        If all its engines refused, their records are dropped: its owner may have enabled others.
        """
        if url not in self._members or not self._members[url].is_own:
            return
        record = self._changing(self._members[url], now)
        record.json_recheck = 0.0
        record.engines = engine_care.revived(record.engines)
        if record.state in WAITING:
            record.until = min(record.until, now)

    def restarted(self, url: str, now: float) -> None:
        """Record that an own instance has a new process, so that its old reason to wait no longer holds.

        A member that has left the pool is ignored.
        """
        if url in self._members:
            self._changing(self._members[url], now).renew()

    def record_agreement(self, url: str, *, agrees: bool, now: float) -> None:
        """Record whether the results of `url` overlap with those of other instances."""
        record = self._changing(self._member(url), now)
        record.disagreement_streak = 0 if agrees else record.disagreement_streak + 1
        if record.disagreement_streak >= _DISAGREES_AFTER:
            record.disagreement_streak = 0
            record.degrade(DISAGREES, now)
        elif agrees and record.state is InstanceState.DEGRADED and record.reason == DISAGREES:
            record.recover(now)

    def rest(self, url: str, seconds: float, now: float) -> None:
        """Pause an instance for the seconds that its answer asks for."""
        record = self._changing(self._member(url), now)
        if record.state not in GIVEN_UP:
            record.state = InstanceState.RATE_LIMITED
            record.until = max(record.until, now + seconds)
            record.reason = RESTS

    def read_robots(self, url: str, *, opted_out: bool, now: float) -> None:
        """Record that the robots.txt of `url` was read, or could not be; ignored if it left the pool.

        Args:
            url: its instance.
            opted_out: whether its operator asks us to stay away; if not, an earlier opt-out ends.
            now: Unix seconds.
        """
        if (member := self._known().get(url)) is None:
            return
        record = self._changing(member, now)
        record.robots_read_at = now
        if opted_out:
            record.opt_out(now)
        elif record.is_opted_out:
            record.until = min(record.until, now)

    def retry_after(self, url: str, now: float) -> float:
        """Return the seconds until a waiting instance may be asked again; 0 if it does not wait."""
        return self._member(url).record.retry_after(now)

    def record_of(self, url: str) -> InstanceRecord:
        """Return what was learned about `url`."""
        return self._member(url).record.model_copy()

    def learned_since(self, when: float) -> dict[str, InstanceRecord]:
        """Return the records that changed after `when`, by URL."""
        return {
            url: member.record.model_copy()
            for url, member in self._known().items()
            if member.record.last_at > when
        }

    def settle(self, now: float) -> None:
        """Correct all times after the clock was set back, so that no wait becomes longer."""
        for member in self._known().values():
            if member.record.last_at > now + SKEW:
                member.record = member.record.settled(now)

    def restore(self, records: Mapping[str, InstanceRecord]) -> None:
        """Take over records from an earlier run or another process.

        Args:
            records: by URL; those of instances outside the pool are ignored.
        """
        for url, record in records.items():
            if url in self._members:
                self._restore(self._members[url], record)

    def reset(self, url: str, now: float) -> InstanceRecord:
        """Forget what was learned about `url`; return the record to store."""
        member = self._member(url)
        # The stored one may be from a process whose clock is ahead.
        at = max(now, member.record.last_at)
        member.record = InstanceRecord(url=url, last_at=at, reset_at=at)
        return member.record.model_copy()

    def _known(self) -> dict[str, Member]:
        return self._leaving | self._members

    def _member(self, url: str) -> Member:
        """Return the member, even if it has left the pool."""
        return self._members.get(url) or self._leaving[url]

    @staticmethod
    def _changing(member: Member, now: float) -> InstanceRecord:
        """Return a member's record, dated: its state changes now."""
        record = member.record
        record.last_at = record.state_at = now
        return record

    def _restore(self, member: Member, record: InstanceRecord) -> None:
        """Take over what is later in a record.

        About an opt-out, the most recent reading of robots.txt decides: a process with a later record may
        have read it earlier.
        """
        ours, joined = member.record, member.record.joined(record)
        member.record = ours if joined is ours else joined.model_copy()
        self._pardon_own(member)
        wish = max(ours, record, key=lambda each: (each.robots_read_at, each.is_opted_out))
        is_current = (
            wish.robots_read_at > member.record.reset_at and wish.until > wish.robots_read_at
        )
        if wish.is_opted_out and is_current and not member.is_own:
            member.record.opt_out(wish.robots_read_at)

    def _pardon_own(self, member: Member) -> None:
        """Reset an instance that became the user's own: own instances are never given up."""
        if member.is_own and member.record.state in GIVEN_UP:
            member.record.renew()

    def _fail(self, member: Member, outcome: Outcome, now: float) -> None:
        # 1. limits and blocks: wait for their window; after three in a day, give up
        # 2. a wrong program or a redirect elsewhere: stay away for days
        # 3. failures: wait if they repeat; at once if a repetition is certain, or if the host says for
        #    how long
        record, verdict = member.record, outcome.verdict
        was_healthy = record.state is InstanceState.HEALTHY
        if was_healthy and now - record.healthy_since >= timers.SETTLED:
            record.failing_episode = 0
        record.consecutive_failures += 1
        record.successes_in_a_row = 0
        record.recent = (*record.recent, False)[-RECENT:]
        failures = max(record.consecutive_failures, record.recent.count(False))
        if verdict in _LIMITS:
            self._wait_limited(member, outcome, now)
        elif verdict is Verdict.NOT_SEARXNG and not member.is_trusted:
            self._quarantine(record, outcome.detail, now)
        elif verdict is Verdict.FOREIGN_REDIRECT and not member.is_trusted:
            self._ban(record, outcome.detail, now)
        elif (
            verdict in _AT_ONCE
            or outcome.retry_after is not None
            or record.state is InstanceState.HALF_OPEN
            or failures >= self._config.max_consecutive_failures
        ):
            self._wait_failing(member, outcome.detail, now, outcome.retry_after)

    def _judge_trust(self, record: InstanceRecord, outcome: Outcome, now: float) -> None:
        """Count evidence that the instance cannot be trusted."""
        if outcome.verdict is Verdict.TLS:
            record.certificate_failures += 1
            if record.certificate_failures >= _QUARANTINE_AFTER_VIOLATIONS:
                record.certificate_failures = 0
                self._ban(record, "Its certificate failed three times in a row.", now)
        if outcome.trust_violation:
            record.trust_violations += 1
            if record.trust_violations >= _QUARANTINE_AFTER_VIOLATIONS:
                record.trust_violations = 0
                self._ban(record, outcome.trust_violation, now)
        elif outcome.page is not None and outcome.page.hits:
            record.trust_violations = 0

    def _wait_limited(self, member: Member, outcome: Outcome, now: float) -> None:
        record = member.record
        if not record.is_open(now):  # concurrent requests fail together: one episode
            return
        record.limit_episode += 1
        record.limits = (*record.limits, now)[-_QUARANTINE_AFTER_LIMITS:]
        is_full = len(record.limits) == _QUARANTINE_AFTER_LIMITS
        if is_full and now - record.limits[0] <= timers.DAY:
            record.limits = ()
            if not member.is_trusted:
                self._quarantine(record, "It limited our requests three times within a day.", now)
                return
        record.state = InstanceState.RATE_LIMITED
        record.reason = outcome.detail
        if member.is_own:
            wait = timers.own_limited_time(
                outcome.verdict,
                episode=record.limit_episode,
                retry_after=outcome.retry_after,
                rng=self._rng,
            )
        else:
            wait = timers.limited_time(
                outcome.verdict,
                outcome.format,
                episode=record.limit_episode,
                retry_after=outcome.retry_after,
                base=self._config.rate_limit_backoff_base,
                doubling=self._config.limits_double,
                rng=self._rng,
            )
        record.until = now + wait

    def _wait_failing(
        self, member: Member, reason: str, now: float, retry_after: float | None = None
    ) -> None:
        record = member.record
        if not record.is_open(now):  # as above
            return
        record.failing_episode += 1
        record.recent = ()
        if record.failing_episode >= _QUARANTINE_AFTER_FAILING and not member.is_trusted:
            self._quarantine(record, f"It keeps failing. {reason}".strip(), now)
            return
        record.state = InstanceState.FAILING
        record.reason = reason
        wait = timers.failing_time(record.failing_episode, self._rng, retry_after=retry_after)
        record.until = now + wait

    def _ban(self, record: InstanceRecord, reason: str, now: float) -> None:
        record.bans += 1
        if record.bans >= _BLACKLIST_AFTER:
            record.state = InstanceState.BLACKLISTED
            record.reason = reason
        else:
            self._quarantine(record, reason, now)

    def _quarantine(self, record: InstanceRecord, reason: str, now: float) -> None:
        record.quarantine_episode += 1
        record.state = InstanceState.QUARANTINED
        record.reason = reason
        record.until = now + timers.quarantine_time(record.quarantine_episode, self._rng)
