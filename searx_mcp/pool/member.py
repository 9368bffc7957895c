"""One instance in the pool."""

import math
from dataclasses import fields
from typing import TYPE_CHECKING

from typing_extensions import override

from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.instance import InstanceReport, InstanceState, Tier
from searx_mcp.pool import timers
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.config_facts import ConfigFacts, access_factor, month_limited
from searx_mcp.pool.engine_care import EngineCare, engine_reports
from searx_mcp.pool.life import SLOW_START, Life
from searx_mcp.pool.needs import Needs
from searx_mcp.pool.observed import Observed
from searx_mcp.pool.outcome import Outcome
from searx_mcp.pool.record import SKEW, InstanceRecord
from searx_mcp.pool.score import Prior, Score, confidence, latency_quality

if TYPE_CHECKING:
    import random

CLEARANCE = timers.DAY
"""Seconds for which a robots.txt that was read holds: what RFC 9309 §2.4 allows a cache."""

SLOW = 3.0
"""Seconds; of the instances on the list nineteen of twenty answer faster."""
SIDELINED = timers.HOUR
"""Seconds for which a bad last impression holds; then it takes turns again."""

_FORMAT_FACTOR = {True: 1.0, None: 0.8, False: 0.7}
"""JSON known to work, not known, known to be off."""
_DEGRADED_SHARE = 0.2
_GIVEN_UP = frozenset({InstanceState.QUARANTINED, InstanceState.BLACKLISTED})
_LIFE = tuple(field.name for field in fields(Life) if field.name not in {"trusted", "own"})
_TRUSTED = frozenset({Tier.OWN, Tier.OPEN})
_SEEN = tuple(field.name for field in fields(Observed))
_OWN = ("last_at", "successes", "failures", "json_enabled", "json_listed", "drift", "facts")


class Member:
    """One instance and what we learned about it.

    A request to it goes `begin`, then exactly one of `report` (it came to an outcome),
    `be_overtaken` (a hedge was faster), `opt_out` and `release` (nothing was learned).
    """

    def __init__(self, url: str, *, tier: Tier, grade: str | None, prior: Prior) -> None:
        self.url = url
        self.tier = tier
        self.grade = grade
        self.prior = prior
        self.life = Life(trusted=tier in _TRUSTED, own=tier is Tier.OWN)
        self.seen = Observed()
        self.care = EngineCare()
        self.in_flight = 0
        self.current_weight: float | None = None
        self.successes = 0
        self.failures = 0
        self.json_enabled: bool | None = None
        self.json_listed: bool | None = None
        self.facts: ConfigFacts | None = None
        self.last_at = 0.0
        self.drift = 0
        self._last: tuple[Verdict | None, str] = (None, "")
        self._json_recheck = 0.0
        self._page_token: bool | None = None
        self._cleared_at = 0.0

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
    def is_trusted(self) -> bool:
        """Whether nothing it answers counts against it: an own instance, an open source."""
        return self.tier in _TRUSTED

    @property
    def is_untried(self) -> bool:
        """Whether no request to it has come to anything yet."""
        return self.state is InstanceState.NEW and not self.successes and not self.failures

    @property
    def state(self) -> InstanceState:
        """Where it stands in its life."""
        return self.life.state

    @property
    def link_token(self) -> bool | None:
        """Whether its limiter wants the token of its style sheet; `None` while unknown.

        Its pages show it; before the first page its `/config` tells.
        """
        return month_limited(self.facts) if self._page_token is None else self._page_token

    @property
    def is_unlimited(self) -> bool:
        """Whether it is known to count no requests: own, or without a limiter."""
        has_no_limiter = self.facts is not None and self.facts.limiter_enabled is False
        return self.is_own or (has_no_limiter and not self._page_token)

    def is_eligible(self, now: float) -> bool:
        """Whether a request may go to it now; public instances take one at a time."""
        takes_more = self.is_trusted and not self.life.is_on_trial
        return self.life.is_open(now) and (self.in_flight == 0 or takes_more)

    def is_on_trial(self, now: float) -> bool:
        """Whether the next request tries it after a rest."""
        return self.life.is_on_trial and self.life.is_open(now)

    def is_doubted(self, now: float) -> bool:
        """Whether it is the user's own and its last request came to nothing, or it has rested."""
        verdict, _ = self._last
        has_failed = verdict is not None and not verdict.ends_search
        return self.is_own and (has_failed or self.is_on_trial(now))

    def is_sidelined(self, now: float) -> bool:
        """Whether it was overtaken, answered without engines, or so slowly that others come first.

        Only the first holds for an own instance.
        """
        if self.is_own or self.life.is_behind(now):
            return self.life.is_behind(now)
        without_engines = (
            self.state is InstanceState.DEGRADED and now - self.life.degraded_at < SIDELINED
        )
        is_slow = (self.seen.latency or 0.0) > SLOW and now - self.seen.latency_at < SIDELINED
        return without_engines or is_slow

    def serves(self, needs: Needs) -> bool:
        """Whether its engines can take such a search, as far as is known."""
        serves = self.facts and self.facts.serves(
            needs.category, needs.time_range, page=needs.page, engines=needs.engines
        )
        return serves is not False

    def is_clear(self, now: float) -> bool:
        """Whether its robots.txt was looked at lately; an own instance needs none."""
        return self.is_own or now - self._cleared_at < CLEARANCE

    def format(self, now: float) -> Format:
        """The format to ask for: own instances JSON first, public ones HTML.

        Public instances hardly ever serve JSON, and where they do it is limited to four an hour;
        unless they list it on their pages and run no limiter.
        """
        wants_json = self.is_own or (self.json_listed is True and self.is_unlimited)
        if wants_json and now >= self._json_recheck:
            return Format.JSON
        return Format.HTML

    def score(self, now: float) -> Score:
        """Its quality now, part by part."""
        prior, mean = self.prior.total, self.seen.mean()
        latency = self.seen.latency
        return Score(
            prior=prior,
            observed=prior if mean is None else mean,
            confidence=confidence(self.seen.count_at(now)),
            latency=self.prior.latency if latency is None else latency_quality(latency),
            access=(1.0 if self.is_own else access_factor(self.facts, page_token=self._page_token)),
            format=_FORMAT_FACTOR[True if self.is_own else self.json_enabled],
        )

    def weight(self, now: float) -> float:
        """Its share of the round-robin: score^2, less when degraded or coming back."""
        weight = self.score(now).total ** 2
        if self.state is InstanceState.DEGRADED:
            weight *= _DEGRADED_SHARE
        if self.life.successes_in_a_row < len(SLOW_START):
            weight *= SLOW_START[self.life.successes_in_a_row]
        return weight

    def regrade(self, *, tier: Tier, grade: str | None, prior: Prior) -> None:
        """A newer list says something else of it, or it became the user's own, or no longer is."""
        self.tier = tier
        self.grade = grade
        self.prior = prior
        self._set_own()

    def begin(self, now: float) -> None:
        """A request leaves for it."""
        self.in_flight += 1
        self.life.begin(now)

    def release(self) -> None:
        """A request was given up by us: nothing was learned."""
        self.in_flight -= 1

    def report(
        self,
        outcome: Outcome,
        now: float,
        needs: Needs | None = None,
        *,
        config: PoolConfig,
        rng: "random.Random",
    ) -> None:
        """A request for `needs` came to `outcome`; the state follows from it."""
        self.in_flight -= 1
        self.last_at = now
        self.drift += outcome.has_drifted
        self._last = (outcome.verdict, outcome.offence or outcome.detail)
        self._learn_formats(outcome, now)
        if self.is_own and needs is not None and outcome.page is not None:
            self.care.learn(needs, outcome.page, now)
        self.seen.note(outcome, now)
        if outcome.is_about_format(own=self.is_own):
            self.life.refuse_format()
            return
        self.seen.add(outcome, now)
        self.successes += outcome.verdict.ends_search
        self.failures += not outcome.verdict.ends_search
        if self.life.learn(outcome, now, config=config, rng=rng):
            self.seen.halve()

    def be_overtaken(
        self, elapsed: float, now: float, *, config: PoolConfig, rng: "random.Random"
    ) -> None:
        """A request was given up after `elapsed` seconds because its hedge had answered."""
        self.in_flight -= 1
        self.last_at = now
        detail = "Another instance answered first."
        self._last = (Verdict.OVERTAKEN, detail)
        self.seen.add_latency(elapsed, now)
        self.seen.note(Outcome(Verdict.OVERTAKEN, self.format(now), elapsed, detail=detail), now)
        self.life.be_overtaken(now, config=config, rng=rng)

    def revive(self, now: float) -> None:
        """It was seen to work otherwise than by a search: it may be asked now, for JSON too."""
        self.last_at = now
        self._json_recheck = 0.0
        self.life.revive(now)

    def compared(self, *, agrees: bool, now: float) -> None:
        """Its results were held against those of several others for the same search."""
        self.last_at = now
        self.life.compared(agrees=agrees, now=now)

    def rest(self, seconds: float, now: float) -> None:
        """It asks to be left alone for a time, although it has answered."""
        self.last_at = now
        self.life.rest(seconds, now)

    def opt_out(self, now: float) -> None:
        """Its operator asks us to stay away; nothing was sent but the question."""
        self.in_flight -= 1
        self.last_at = self._cleared_at = now
        self.life.opt_out(now)

    def clear(self, now: float) -> None:
        """Its robots.txt lets us ask it."""
        self.last_at = self._cleared_at = now

    def read_robots(self, *, opted_out: bool, now: float) -> None:
        """Its robots.txt was read without a search; one that lets us in ends the time it asked for."""
        self.last_at = self._cleared_at = now
        if opted_out:
            self.life.opt_out(now)
        else:
            self.life.opt_in(now)

    def probed(self, *, alive: bool, now: float, config: PoolConfig, rng: "random.Random") -> None:
        """A health check came back."""
        self.last_at = now
        self.life.probed(alive=alive, now=now, config=config, rng=rng)

    def learn_facts(self, facts: ConfigFacts, now: float) -> None:
        """Its `/config` was read."""
        self.last_at = now
        self.facts = facts

    def record(self) -> InstanceRecord:
        """What was learned, as it is kept."""
        verdict, detail = self._last
        return InstanceRecord(
            url=self.url,
            json_recheck=self._json_recheck,
            link_token=self._page_token,
            last_verdict=verdict,
            last_detail=detail,
            cleared_at=self._cleared_at,
            engines=self.care.engines,
            **{name: getattr(self, name) for name in _OWN},
            **{name: getattr(self.life, name) for name in _LIFE},
            **{name: getattr(self.seen, name) for name in _SEEN},
        )

    def restore(self, record: InstanceRecord) -> None:
        """Take over what was learned before, or by another process; older news is ignored.

        But who read robots.txt last knows best whether its operator wants us to stay away: somebody
        whose answer came later may not have looked at it since.
        """
        kept = {name: getattr(record, name) for name in _LIFE}
        life = Life(trusted=self.is_trusted, own=self.is_own, **kept)
        if record.last_at <= self.last_at:
            if life.is_opted_out and record.cleared_at > self._cleared_at and not self.is_own:
                self._cleared_at = record.cleared_at
                self.life.opt_out(record.cleared_at)
            return
        opted_out_at = self._cleared_at if self.life.is_opted_out else 0.0
        for name in _OWN:
            setattr(self, name, getattr(record, name))
        self._last = (record.last_verdict, record.last_detail)
        self._json_recheck = record.json_recheck
        self._page_token = record.link_token
        self._cleared_at = record.cleared_at
        self.life = life
        self._set_own()
        self.seen = Observed(**{name: getattr(record, name) for name in _SEEN})
        self.care = EngineCare(record.engines)
        if opted_out_at >= record.cleared_at > 0:  # 0: it was reset by a person
            self._cleared_at = opted_out_at
            self.life.opt_out(opted_out_at)

    def settle(self, now: float) -> None:
        """Move its times along with a clock that was put back: no wait becomes longer than it was."""
        if self.last_at > now + SKEW:
            record = self.record().settled(now)
            self.last_at = -math.inf
            self.restore(record)

    def fresh_record(self, last_at: float) -> InstanceRecord:
        """The record of an instance of which nothing was ever learned."""
        new = Member(self.url, tier=self.tier, grade=self.grade, prior=self.prior)
        new.last_at = last_at
        return new.record()

    def report_card(self, now: float) -> InstanceReport:
        """What is known of it, for a person."""
        score = self.score(now)
        parts = {
            **{f"prior_{name}": value for name, value in self.prior._asdict().items()},
            **score._asdict(),
        }
        verdict, detail = self._last
        latency = self.seen.latency
        requests = self.successes + self.failures
        return InstanceReport(
            url=self.url,
            tier=self.tier,
            grade=self.grade,
            state=self.state,
            score=round(score.total, 3),
            score_parts={name: round(value, 3) for name, value in parts.items()},
            successes=self.successes,
            failures=self.failures,
            consecutive_failures=self.life.consecutive_failures,
            latency=None if latency is None else round(latency, 3),
            p50=self.seen.percentile(50),
            p95=self.seen.percentile(95),
            success=round(self.successes / requests, 3) if requests else None,
            format=self.format(now),
            json_enabled=self.json_enabled,
            last_verdict=verdict,
            last_detail=detail,
            reason=self.life.reason,
            version=self.facts.version if self.facts else None,
            limiter=self.facts.limiter_enabled if self.facts else None,
            link_token=self.link_token,
            drift=self.drift,
            retry_after=round(self.life.retry_after(now), 1),
            engines=engine_reports(self.care.engines, now),
        )

    def _set_own(self) -> None:
        self.life.trusted, self.life.own = self.is_trusted, self.is_own
        if self.is_own and self.state in _GIVEN_UP:  # while it was public; an own one never is
            self.life = Life(trusted=True, own=True)

    def _learn_formats(self, outcome: Outcome, now: float) -> None:
        page = outcome.page
        if outcome.verdict is Verdict.JSON_OFF:
            self.json_enabled = False
            self._json_recheck = now + timers.JSON_RECHECK
        elif outcome.is_about_format(own=self.is_own):
            self._json_recheck = now + (outcome.retry_after or timers.JSON_WINDOW)
        elif outcome.format is Format.JSON and page is not None:
            if self.json_enabled is False:
                self._json_recheck = 0.0
            self.json_enabled = True
        elif page is not None and page.formats is not None and not self.is_own:
            self.json_listed = "json" in page.formats
            if not self.json_listed:
                self.json_enabled = False
        if page is not None and page.link_token is not None:
            self._page_token = page.link_token
