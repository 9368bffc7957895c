"""The pools: which instance is asked next, and what answers teach of instances and open sources."""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from typing_extensions import override

from searx_mcp.models.attempt import Format
from searx_mcp.models.instance import CatalogEntry, InstanceReport, InstanceState, Tier
from searx_mcp.pool import engine_care
from searx_mcp.pool.attempt import InstanceQuery, Outcome, Proposal
from searx_mcp.pool.catalog import standing_of
from searx_mcp.pool.circuit import GIVEN_UP, Circuit
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.config_facts import ConfigFacts
from searx_mcp.pool.member import OWN_PRIOR, Member, Standing
from searx_mcp.pool.record import SKEW, InstanceRecord

if TYPE_CHECKING:
    import random

EXPLORATION = 0.05
"""Share of the turns of a tier that go to an instance never asked before."""

LEAST_SHARE = 1 / 20
"""Of the best one's turns, what the worst gets: the score orders first contacts, it forbids none."""

_TIERS = tuple(Tier)


class Members:
    """Members of a pool by URL; synchronous, told the time and the dice.

    A request goes `begin`, then exactly one of `report` (it came to an outcome), `lost_to_hedge`
    (its hedge was faster) and `release` (we gave it up, or it says nothing about who was asked).
    One that has left while a request to it is under way still learns what it comes to.

    Args:
        config: how failures are judged.
        rng: the dice.
    """

    def __init__(self, config: PoolConfig, rng: "random.Random") -> None:
        self._circuit = Circuit(config, rng)
        self._members: dict[str, Member] = {}
        self._leaving: dict[str, Member] = {}

    def __len__(self) -> int:
        return len(self._members)

    def begin(self, url: str, now: float) -> None:
        """A request leaves for `url`."""
        self._circuit.begin(self._member(url), now)

    def release(self, url: str) -> None:
        """The request was given up by us, or says nothing about `url`."""
        self._circuit.release(self._member(url))

    def report(
        self, url: str, outcome: Outcome, now: float, query: InstanceQuery | None = None
    ) -> None:
        """The request, which named the engines of `query`, came to `outcome`."""
        self._circuit.report(self._member(url), outcome, now, query)

    def lost_to_hedge(self, url: str, elapsed: float, now: float) -> None:
        """The request was given up after `elapsed` seconds because its hedge had answered."""
        self._circuit.lost_to_hedge(self._member(url), elapsed, now)

    def rest(self, url: str, seconds: float, now: float) -> None:
        """One that has answered asks to be left alone for so many seconds."""
        self._circuit.rest(self._member(url), seconds, now)

    def retry_after(self, url: str, now: float) -> float:
        """Seconds until one that waits may be asked again; 0 for any other."""
        return self._member(url).record.retry_after(now)

    def settle(self, now: float) -> None:
        """Move all times along with a clock that was put back: no wait becomes longer than it was."""
        for member in self._known().values():
            if member.record.last_at > now + SKEW:
                member.record = member.record.settled(now)

    def restore(self, records: Mapping[str, InstanceRecord]) -> None:
        """Take over what was learned before, or meanwhile by another process.

        Args:
            records: by URL; those of who is not in the pool are passed over.
        """
        for url, record in records.items():
            if url in self._members:
                self._circuit.restore(self._members[url], record)

    def learned_since(self, when: float) -> dict[str, InstanceRecord]:
        """The records in which anything changed after `when`, by URL."""
        return {
            url: member.record.model_copy()
            for url, member in self._known().items()
            if member.record.last_at > when
        }

    def record_of(self, url: str) -> InstanceRecord:
        """What was learned about `url`."""
        return self._member(url).record.model_copy()

    def reset(self, url: str, last_at: float) -> InstanceRecord:
        """Forget what was learned about `url`; gives the record of one that is new since `last_at`."""
        record = InstanceRecord(url=url, last_at=last_at)
        self._circuit.restore(self._member(url), record)
        return record

    def _known(self) -> dict[str, Member]:
        return self._leaving | self._members

    def _member(self, url: str) -> Member:
        """The member, also one that has left meanwhile."""
        return self._members.get(url) or self._leaving[url]


class InstancePool(Members):
    """All instances with their state.

    Tiers are asked in order, and a tier is left when nothing in it is eligible. Inside a tier a
    smooth weighted round-robin chooses among an aperture: a random subset, the same for all
    processes of an installation, so that not every user of this program lands on the same hosts.
    One turn in twenty goes to an instance never asked before, if it is known to want no link token.

    Instances that cannot serve a search, as far as their `/config` tells, are passed over while
    any other is eligible in any tier; and so are, of those that can, the ones that lately answered
    without engines or very slowly. Own instances that were overtaken come after the other own ones.

    When every own instance is failing, the one that fails the longest ago may still be asked
    (panic mode): a user who has just started it must not wait for a timer.
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
            own: base URLs of the user's own instances.
            public: public instances, gated.
            config: how to judge and choose.
            rng: the dice.
            seed: chooses the aperture; one number for an installation.
        """
        self._config = config or PoolConfig()
        super().__init__(self._config, rng)
        self._rng = rng
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
        """Whether an instance of the user's own is in the pool."""
        return any(member.is_own for member in self._members.values())

    @property
    def has_public(self) -> bool:
        """Whether a public instance is in the pool."""
        return any(not member.is_own for member in self._members.values())

    def own_urls(self) -> tuple[str, ...]:
        """The base URLs of own instances."""
        return tuple(member.url for member in self._members.values() if member.is_own)

    def behind(self, now: float) -> set[str]:
        """The base URLs of those that were overtaken so lately that all others come first."""
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
        """The instance to ask next, or `None` when none is eligible.

        Args:
            now: Unix seconds.
            exclude: base URLs not wanted, such as those already asked for this search.
            query: what is asked; its engines should be able to take it.
            unlimited: whether only instances that count no requests are wanted, as for a hedge.
        """
        open_to_us = [
            member
            for member in self._members.values()
            if member.url not in exclude
            and member.is_eligible(now)
            and (member.is_unlimited or not unlimited)
        ]
        able = [m for m in open_to_us if query is None or m.serves(query)] or open_to_us
        wanted = [member for member in able if not member.is_sidelined(now)] or able
        for tier in _TIERS:
            eligible = [member for member in wanted if member.tier is tier]
            if tier is Tier.OWN and not eligible:
                eligible = [member for member in able if member.is_own]
            if eligible:
                return self._proposal(self._turn(eligible, now), query, now)
            if tier is Tier.OWN and not unlimited and (member := self._panic(exclude)) is not None:
                return self._proposal(member, query, now)
        return None

    def proposal_of(self, url: str, now: float) -> Proposal:
        """How to ask `url`, which somebody has named, whoever is next."""
        return self._proposal(self._member(url), None, now)

    def other_engines(
        self, url: str, query: InstanceQuery, named: Collection[str], now: float
    ) -> tuple[str, ...]:
        """The engines of `url` to name after a search for which only those `named` were asked."""
        member = self._member(url)
        others = engine_care.others(member.record.engines, query, named, now)
        member.record.engines = engine_care.asked(member.record.engines, others, now)
        return others

    def revive(self, url: str, now: float) -> None:
        """`url`, if it is an own instance, was seen to work otherwise than by a search."""
        if url in self._members and self._members[url].is_own:
            self._circuit.revive(self._members[url], now)

    def record_agreement(self, url: str, *, agrees: bool, now: float) -> None:
        """The results of `url` share something with those of others, or nothing with anybody's."""
        self._circuit.record_agreement(self._member(url), agrees=agrees, now=now)

    def read_robots(self, url: str, *, opted_out: bool, now: float) -> None:
        """The robots.txt of `url` was read, or could not be; who has left is passed over.

        Args:
            url: whose it is.
            opted_out: whether the operator asks us to stay away.
            now: Unix seconds.
        """
        if member := self._known().get(url):
            self._circuit.read_robots(member, opted_out=opted_out, now=now)

    def learn_facts(self, url: str, facts: ConfigFacts, now: float) -> None:
        """The `/config` of `url` was read; a member that has left the pool is passed over."""
        if url in self._members:
            record = self._members[url].record
            record.facts, record.last_at = facts, now

    def probed(self, url: str, *, alive: bool, now: float) -> None:
        """A health check of `url` came back; a member that has left the pool is passed over."""
        if url in self._members:
            self._circuit.probed(self._members[url], alive=alive, now=now)

    def format_of(self, url: str, now: float) -> Format:
        """The format to ask `url` for now."""
        return self._member(url).format(now)

    def enlist(self, own: Iterable[str], public: Iterable[CatalogEntry]) -> None:
        """Take over who belongs to the pool.

        Newcomers join, those no longer named are asked no more, and what was learned of the others
        stays. A request that is under way to one that leaves still teaches what it comes to.

        Args:
            own: base URLs of the user's own instances; these are own also where they are listed.
            public: public instances, gated.
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
            self._circuit.pardon_own(member)
            self._members[url] = member
        # Whoever left just now may be between two requests of one search.
        self._leaving = {
            url: member
            for url, member in known.items()
            if url not in self._leaving or member.in_flight
        }

    def earliest_retry(self, now: float) -> float | None:
        """Seconds until the first waiting instance may be asked again, or `None` if none waits."""
        waits = [wait for m in self._members.values() if (wait := m.record.retry_after(now)) > 0]
        return min(waits, default=None)

    def why_own_rests(self, now: float) -> str:
        """Why the own instance rests that may be asked again first; empty if none rests."""
        own = [member.record for member in self._members.values() if member.is_own]
        resting = [record for record in own if record.retry_after(now)]
        return min(resting, key=lambda record: record.until).reason if resting else ""

    def snapshot(self, now: float) -> tuple[InstanceReport, ...]:
        """What is known of every instance, best first within each tier."""
        members = sorted(
            self._members.values(),
            key=lambda m: (_TIERS.index(m.tier), -m.score(now).total, m.url),
        )
        return tuple(member.report_card(now) for member in members)

    def link_token(self, url: str) -> bool | None:
        """Whether `url` wants the limiter's token; `None` while unknown."""
        return self._member(url).link_token

    def is_unlimited(self, url: str) -> bool:
        """Whether `url` is known to count no requests."""
        return self._member(url).is_unlimited

    def month_limited(self) -> tuple[str, ...]:
        """The public instances, not given up, to which the window of thirty days applies."""
        return tuple(
            member.url
            for member in self._members.values()
            if not member.is_own
            and member.link_token is not False
            and member.record.state not in GIVEN_UP
        )

    def aperture(self, now: float) -> tuple[str, ...]:
        """The public instances that are likely to be asked next: the first of the best tier.

        Those that only fail are among them, since a health check may bring them back.
        """
        tiers = []
        for tier in _TIERS:
            members = [
                member
                for member in self._members.values()
                if member.tier is tier
                and not member.is_own
                and (member.record.is_open(now) or member.record.state is InstanceState.FAILING)
            ]
            if any(member.record.is_open(now) for member in members):
                return tuple(member.url for member in self._first(members, now))
            tiers.append(members)
        failing = next(filter(None, tiers), [])
        return tuple(member.url for member in self._first(failing, now))

    def _first(self, members: list[Member], now: float) -> list[Member]:
        if self._config.random_start:
            members = sorted(members, key=lambda m: self._place(m.url))
        else:
            members = sorted(members, key=lambda m: -m.weight(now))
        return members[: self._config.aperture]

    def _place(self, url: str) -> bytes:
        """Its place in this installation's order, which newcomers do not change for the others."""
        return hashlib.blake2b(f"{self._seed} {url}".encode(), digest_size=8).digest()

    def _turn(self, eligible: list[Member], now: float) -> Member:
        if len(eligible) == 1:  # as a rule an own instance, which has no rivals
            return eligible[0]
        untried = [
            member for member in eligible if member.is_untried and member.link_token is False
        ]
        if untried and self._rng.random() < EXPLORATION:
            return max(untried, key=lambda m: m.score(now).total)
        # Smooth weighted round-robin as nginx has it: everybody gains their weight, the richest is
        # chosen and pays the sum.
        aperture = self._first(eligible, now)
        weights = [member.weight(now) for member in aperture]
        least = max(weights) * LEAST_SHARE
        gains = [max(weight, least) for weight in weights]
        for member, gain in zip(aperture, gains, strict=True):
            if member.current_weight is None:
                member.current_weight = self._start(sum(gains))
            member.current_weight += gain
        chosen = max(aperture, key=lambda m: m.current_weight or 0.0)
        chosen.current_weight = (chosen.current_weight or 0.0) - sum(gains)
        return chosen

    def _start(self, most: float) -> float:
        """Where a newcomer enters the round: anywhere, so that processes do not begin alike."""
        return self._rng.uniform(0, most) if self._config.random_start else 0.0

    def _proposal(self, member: Member, query: InstanceQuery | None, now: float) -> Proposal:
        engines: tuple[str, ...] = ()
        if query and not query.engines and member.is_own and self._config.engine_care:
            engines = engine_care.choose(member.record.engines, query, now)
        if engines:
            member.record.engines = engine_care.asked(member.record.engines, engines, now)
        return Proposal(
            url=member.url,
            own=member.is_own,
            format=member.format(now),
            is_unlimited=member.is_unlimited,
            is_trial=member.is_on_trial(now),
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
