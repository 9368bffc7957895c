"""The pools: choose the next instance, and which open sources may be asked."""

import hashlib
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from typing_extensions import override

from searx_mcp.models.attempt import Format, PastOutcome, Verdict
from searx_mcp.models.instance import CatalogEntry, InstanceReport, InstanceState, Tier
from searx_mcp.pool import engine_care
from searx_mcp.pool.catalog import OWN_PRIOR, Standing, standing_of
from searx_mcp.pool.circuit import Members
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.config_facts import ConfigFacts
from searx_mcp.pool.member import Member
from searx_mcp.pool.proposal import InstanceQuery, Proposal
from searx_mcp.pool.record import GIVEN_UP

if TYPE_CHECKING:
    import random

EXPLORATION = 0.05
"""Share of a tier's turns that go to an instance never asked before."""

LEAST_SHARE = 1 / 20
"""The worst instance's share of the best one's turns: the score orders first contacts and excludes none."""

_TIERS = tuple(Tier)


class InstancePool(Members):
    """All instances with their state.

    Tiers are asked in order; the next tier is used when nothing in the last is eligible. Inside a tier a
    smooth weighted round-robin chooses among an aperture: a random subset, the same for all processes of an
    installation, so that the users of this program do not all land on the same hosts. One turn in twenty
    goes to an instance never asked before, if it is known to require no link token.

    Instances that cannot serve a search, according to their `/config`, are skipped while any other is
    eligible in any tier; so are those that recently answered without engines or very slowly. Overtaken own
    instances come after the other own ones.

    If every own instance is failing, the one whose failure is oldest may still be asked (panic mode): a
    user who has just started it must not wait for a timer.
    """

    def __init__(
        self,
        *,
        own: Iterable[str] = (),
        public: Iterable[CatalogEntry] = (),
        config: PoolConfig | None = None,
        rng: "random.Random",
        seed: int = 0,
    ) -> None:
        """Fill the pool.

        Args:
            own: base URLs of own instances.
            public: admitted public instances.
            config: rules for judging and choosing.
            rng: source of randomness.
            seed: determines the aperture; one number for an installation.
        """
        super().__init__(config or PoolConfig(), rng)
        self._seed = seed
        self.enlist(own, public)

    @override
    def __repr__(self) -> str:
        counts = dict.fromkeys(InstanceState, 0)
        for member in self._members.values():
            counts[member.record.state] += 1
        shown = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
        return f"<InstancePool [{len(self)} instances: {shown}]>"

    @property
    def has_own(self) -> bool:
        """Whether the pool has an own instance."""
        return any(member.is_own for member in self._members.values())

    @property
    def has_public(self) -> bool:
        """Whether the pool has a public instance."""
        return any(not member.is_own for member in self._members.values())

    def own_urls(self) -> tuple[str, ...]:
        """The base URLs of own instances."""
        return tuple(member.url for member in self._members.values() if member.is_own)

    def behind(self, now: float) -> set[str]:
        """Return base URLs of instances that were overtaken so recently that all others come first."""
        return {member.url for member in self._members.values() if member.record.is_behind(now)}

    def public_urls(self) -> tuple[str, ...]:
        """The base URLs of public instances."""
        return tuple(member.url for member in self._members.values() if not member.is_own)

    def propose(
        self,
        now: float,
        *,
        exclude: Collection[str] = (),
        query: InstanceQuery | None = None,
        unlimited: bool = False,
    ) -> Proposal | None:
        """Return the instance to ask next, or `None` if none is eligible.

        Args:
            now: Unix seconds.
            exclude: base URLs to leave out, such as those already asked for this search.
            query: the search, which its engines should be able to serve.
            unlimited: whether to use only instances that count no requests, as for a hedge.
        """
        open_to_us = [
            member
            for member in self._eligible(now, exclude, query)
            if member.is_unlimited or not unlimited
        ]
        able = [m for m in open_to_us if query is None or m.serves(query)] or open_to_us
        wanted = [member for member in able if not member.is_sidelined(now)] or able
        for tier in _TIERS:
            eligible = [member for member in wanted if member.standing.tier is tier]
            if tier is Tier.OWN and not eligible:
                eligible = [member for member in able if member.is_own]
            if eligible:
                return self._proposal(self._turn(eligible, now), query, now)
            if tier is Tier.OWN and not unlimited and (member := self._panic(exclude)) is not None:
                return self._proposal(member, query, now)
        return None

    def has_eligible(
        self, now: float, *, exclude: Collection[str] = (), query: InstanceQuery | None = None
    ) -> bool:
        """Return whether any instance that is not excluded may be asked; uses up no turn."""
        return bool(self._eligible(now, exclude, query))

    def proposal_of(self, url: str, now: float) -> Proposal:
        """Return how to ask `url`, which the caller chose, whether or not it is its turn."""
        return self._proposal(self._member(url), None, now)

    def other_engines(
        self, url: str, query: InstanceQuery, named: Collection[str], now: float
    ) -> tuple[str, ...]:
        """Return the engines of `url` to name after a search that asked only those `named`."""
        member = self._member(url)
        others = engine_care.others(member.record.engines, query, named, now)
        member.record.engines = engine_care.asked(member.record.engines, others, now)
        return others

    def learn_facts(self, url: str, facts: ConfigFacts, now: float) -> None:
        """Record the `/config` of `url`; a member that has left the pool is ignored."""
        if url in self._members:
            record = self._members[url].record
            record.facts, record.facts_at = facts, now
            record.last_at = now

    def format_of(self, url: str, now: float) -> Format:
        """Return the format to ask `url` for now."""
        return self._member(url).format(now)

    def enlist(self, own: Iterable[str], public: Iterable[CatalogEntry]) -> None:
        """Replace the members of the pool.

        Newcomers join, missing ones are no longer asked, and the rest keep what was learned. A request in
        flight to a leaving instance still updates its record.

        Args:
            own: base URLs of own instances, even if they are listed as public, too.
            public: admitted public instances.
        """
        standings = dict.fromkeys(own, Standing(Tier.OWN, None, OWN_PRIOR))
        for entry in public:
            standings.setdefault(entry.url, standing_of(entry))
        known = self._known()
        self._members = {}
        for url, standing in standings.items():
            member = known.pop(url, None)
            if member is None:
                member = Member(url, standing)
            member.standing = standing
            self._pardon_own(member)
            self._members[url] = member
        # An instance that just left may be between two requests of one search.
        self._leaving = {
            url: member
            for url, member in known.items()
            if url not in self._leaving or member.in_flight
        }

    def earliest_retry(self, now: float, query: InstanceQuery | None = None) -> float | None:
        """Return the seconds until the first waiting instance may be asked again, or `None` if none waits."""
        waits = [self._wait(member, query, now) for member in self._members.values()]
        return min(filter(None, waits), default=None)

    def why_own_rests(self, now: float, query: InstanceQuery) -> PastOutcome | None:
        """Return why the next own instance to become available is waiting; `None` if none waits."""
        resting = [m for m in self._members.values() if m.is_own and self._wait(m, query, now)]
        if not resting:
            return None
        first = min(resting, key=lambda member: self._wait(member, query, now))
        record = first.record
        if not record.retry_after(now):
            detail = (
                f"All its search engines refuse it ({engine_care.reasons(record.engines, query)})."
            )
            return PastOutcome(
                at=now, verdict=Verdict.ENGINES_FAILED, format=first.format(now), detail=detail
            )
        told = [past for past in record.outcomes if past.detail == record.reason]
        verdict = told[-1].verdict if told else record.last_verdict
        return PastOutcome(
            at=record.last_at,
            verdict=verdict or Verdict.CONNECTION,
            format=first.format(now),
            status_code=told[-1].status_code if told else None,
            detail=record.reason,
        )

    def snapshot(self, now: float) -> tuple[InstanceReport, ...]:
        """Return reports on every instance, best first within each tier."""
        members = sorted(
            self._members.values(),
            key=lambda m: (_TIERS.index(m.standing.tier), -m.score(now).total, m.url),
        )
        return tuple(member.report_card(now) for member in members)

    def link_token(self, url: str) -> bool | None:
        """Return whether `url` requires the link token; `None` while unknown."""
        return self._member(url).link_token

    def is_unlimited(self, url: str) -> bool:
        """Return whether `url` is known to count no requests."""
        return self._member(url).is_unlimited

    def month_limited(self) -> tuple[str, ...]:
        """Return the public instances, not given up, that count requests over thirty days."""
        return tuple(
            member.url
            for member in self._members.values()
            if not member.is_own
            and member.link_token is not False
            and member.record.state not in GIVEN_UP
        )

    def aperture(self, now: float) -> tuple[str, ...]:
        """Return the public instances likely to be asked next: the first of the best tier.

        Failing ones are included, since a health check may bring them back.
        """
        tiers = []
        for tier in _TIERS:
            members = [
                member
                for member in self._members.values()
                if member.standing.tier is tier
                and not member.is_own
                and (member.record.is_open(now) or member.record.state is InstanceState.FAILING)
            ]
            if any(member.record.is_open(now) for member in members):
                return tuple(member.url for member in self._first(members, now))
            tiers.append(members)
        failing = next(filter(None, tiers), [])
        return tuple(member.url for member in self._first(failing, now))

    def _eligible(
        self, now: float, exclude: Collection[str], query: InstanceQuery | None
    ) -> list[Member]:
        return [
            member
            for member in self._members.values()
            if member.url not in exclude
            and member.is_eligible(now)
            and not self._wait(member, query, now)
        ]

    def _wait(self, member: Member, query: InstanceQuery | None, now: float) -> float:
        """Return the seconds until it may be asked for such a search; 0 if it may now."""
        if wait := member.record.retry_after(now):
            return wait
        engines = member.record.engines
        if query is None or not self._is_cared_for(member, query):
            return 0.0
        rests = engine_care.choose(engines, query, now) is None
        return max(0.0, engine_care.next_try(engines, query) - now) if rests else 0.0

    def _is_cared_for(self, member: Member, query: InstanceQuery) -> bool:
        """Return whether we choose the engines of a search."""
        return not query.engines and member.is_own and self._config.engine_care

    def _first(self, members: list[Member], now: float) -> list[Member]:
        if self._config.random_start:
            members = sorted(members, key=lambda m: self._place(m.url))
        else:
            members = sorted(members, key=lambda m: -m.weight(now))
        return members[: self._config.aperture]

    def _place(self, url: str) -> bytes:
        """Return its place in this installation's order; newcomers do not move the others."""
        return hashlib.blake2b(f"{self._seed} {url}".encode(), digest_size=8).digest()

    def _turn(self, eligible: list[Member], now: float) -> Member:
        if len(eligible) == 1:  # usually an own instance, which has no rivals
            return eligible[0]
        untried = [
            member for member in eligible if member.is_untried and member.link_token is False
        ]
        if untried and self._rng.random() < EXPLORATION:
            return max(untried, key=lambda m: m.score(now).total)
        # Smooth weighted round-robin as in nginx: each gains its weight, the highest is
        # chosen and pays the sum.
        aperture = self._first(eligible, now)
        weights = [member.weight(now) for member in aperture]
        least = max(weights) * LEAST_SHARE
        gains = [max(weight, least) for weight in weights]
        for member, gain in zip(aperture, gains, strict=True):
            if (
                member.current_weight is None
            ):  # a random start, so that processes do not all begin alike
                most = sum(gains) if self._config.random_start else 0.0
                member.current_weight = self._rng.uniform(0, most)
            member.current_weight += gain
        chosen = max(aperture, key=lambda m: m.current_weight or 0.0)
        chosen.current_weight = (chosen.current_weight or 0.0) - sum(gains)
        return chosen

    def _proposal(self, member: Member, query: InstanceQuery | None, now: float) -> Proposal:
        engines: tuple[str, ...] = ()
        if query is not None and self._is_cared_for(member, query):
            engines = engine_care.choose(member.record.engines, query, now) or ()
        if engines:
            member.record.engines = engine_care.asked(member.record.engines, engines, now)
        return Proposal(
            url=member.url,
            own=member.is_own,
            format=member.format(now),
            is_unlimited=member.is_unlimited,
            is_trial=member.record.is_on_trial(now),
            is_doubted=member.is_doubted(now),
            is_proven=member.record.successes > 0,
            robots_known=member.robots_known(now),
            engines=engines,
        )

    def _panic(self, exclude: Collection[str]) -> Member | None:
        own = [member for member in self._members.values() if member.is_own]
        if not own or any(
            member.url in exclude
            or member.in_flight
            or member.record.state is not InstanceState.FAILING
            for member in own
        ):
            return None
        return min(own, key=lambda m: m.record.until)


LIMIT_BASE = 60.0
"""Seconds after the first limit that names no time; doubled with each up to an hour. APIs count by the
second, the minute or the hour, and say how long to wait if it is more."""


class SourcePool(Members):
    """Open sources by the addresses that stand for them.

    Each is a member like an instance, with the same states and timers, but the query chooses among them,
    not the pool.

    Args:
        sources: name and address of each.
        config: rules for judging failures; limits are by `LIMIT_BASE`.
        rng: source of randomness.
        keyed: names of the keyed providers among them.
    """

    def __init__(
        self,
        sources: Iterable[tuple[str, str]],
        *,
        config: PoolConfig,
        rng: "random.Random",
        keyed: Collection[str] = (),
    ) -> None:
        update = {"limits_double": True, "rate_limit_backoff_base": LIMIT_BASE}
        super().__init__(config.model_copy(update=update), rng)
        self._names = {url: name for name, url in sources}
        self._members = {
            url: Member(url, Standing(Tier.KEYED if name in keyed else Tier.OPEN, None, OWN_PRIOR))
            for url, name in self._names.items()
        }

    @override
    def __repr__(self) -> str:
        return f"<SourcePool {', '.join(self._names.values())}>"

    def __contains__(self, url: object) -> bool:
        return url in self._members

    def may_ask(self, url: str, now: float) -> bool:
        """Return whether a request may go to a source now; after a cooldown it takes one at a time."""
        return self._members[url].is_eligible(now)

    def urls(self) -> tuple[str, ...]:
        """The addresses that stand for the sources."""
        return tuple(self._members)

    def snapshot(self, now: float) -> tuple[InstanceReport, ...]:
        """Return reports on every source, by name."""
        named = sorted((name, url) for url, name in self._names.items())
        cards = [(name, self._members[url].report_card(now)) for name, url in named]
        # Grades of an instance's pages say nothing about an API.
        unknown = {"format": None, "json_enabled": None}
        return tuple(card.model_copy(update={"source": name, **unknown}) for name, card in cards)
