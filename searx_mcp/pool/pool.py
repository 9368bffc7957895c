"""The pool: which instance is asked next, and what an answer teaches."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from typing_extensions import override

from searx_mcp.models.attempt import Format
from searx_mcp.models.instance import CatalogEntry, InstanceReport, InstanceState, Tier
from searx_mcp.pool.catalog import overall_grade, tier_of
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.member import Member
from searx_mcp.pool.outcome import Outcome
from searx_mcp.pool.record import InstanceRecord
from searx_mcp.pool.score import prior

if TYPE_CHECKING:
    import random

_TIERS = tuple(Tier)


@dataclass(frozen=True, slots=True)
class Proposal:
    """The instance to ask next, and how.

    Attributes:
        url: its base URL.
        own: whether it is an instance of the user's own.
        format: the format to ask for.
        link_token: whether its pages carry the limiter's token; `None` while unknown.
    """

    url: str
    own: bool
    format: Format
    link_token: bool | None


class InstancePool:
    """All instances with their state; synchronous, told the time and the dice.

    An attempt goes `propose`, `begin`, then exactly one of `report` (it came to an outcome) and
    `release` (we gave it up). Tiers are asked in order, and a tier is left when nothing in it is
    eligible. Inside a tier a smooth weighted round-robin chooses among an aperture: a random
    subset, so that not every user of this program lands on the same hosts.

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
    ) -> None:
        self._config = config or PoolConfig()
        self._rng = rng
        self._members: dict[str, Member] = {}
        for url in own:
            self._add(Member(url, tier=Tier.OWN, grade=None, prior=1.0))
        for entry in public:
            self._add(_public_member(entry))
        order = list(self._members)
        rng.shuffle(order)
        self._place = {url: float(place) for place, url in enumerate(order)}
        if self._config.random_start:
            for member in self._members.values():
                member.current_weight = rng.uniform(0, member.weight(0.0))

    @override
    def __repr__(self) -> str:
        counts = dict.fromkeys(InstanceState, 0)
        for member in self._members.values():
            counts[member.state] += 1
        shown = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
        return f"<InstancePool [{len(self)} instances: {shown}]>"

    def __len__(self) -> int:
        return len(self._members)

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

    def propose(self, now: float, *, exclude: Collection[str] = ()) -> Proposal | None:
        """The instance to ask next, or `None` when none is eligible.

        Args:
            now: Unix seconds.
            exclude: base URLs not wanted, such as those already asked for this search.
        """
        for tier in _TIERS:
            eligible = [
                member
                for member in self._members.values()
                if member.tier is tier and member.url not in exclude and member.is_eligible(now)
            ]
            if eligible:
                return self._proposal(self._turn(eligible, now), now)
            if tier is Tier.OWN and (member := self._panic(exclude)) is not None:
                return self._proposal(member, now)
        return None

    def begin(self, url: str, now: float) -> None:
        """A request leaves for `url`."""
        self._members[url].begin(now)

    def release(self, url: str) -> None:
        """The request was given up by us: nothing was learned."""
        self._members[url].release()

    def report(self, url: str, outcome: Outcome, now: float) -> None:
        """The request came to `outcome`."""
        self._members[url].report(outcome, now, config=self._config, rng=self._rng)

    def probed(self, url: str, *, alive: bool, now: float) -> None:
        """A health check of `url` came back."""
        self._members[url].probed(alive=alive, now=now, config=self._config, rng=self._rng)

    def format_of(self, url: str, now: float) -> Format:
        """The format to ask `url` for now."""
        return self._members[url].format(now)

    def relist(self, public: Iterable[CatalogEntry]) -> None:
        """Take over a new list of public instances.

        Newcomers join, those no longer listed leave as soon as no request to them is under way, and
        what was learned of the others stays.
        """
        listed = {entry.url: entry for entry in public}
        for url, member in list(self._members.items()):
            if not member.is_own and url not in listed and not member.in_flight:
                del self._members[url]
        for url, entry in listed.items():
            known = self._members.get(url)
            if known is None:
                self._add(_public_member(entry))
                self._place[url] = self._rng.uniform(0, len(self._place))
            elif not known.is_own:
                known.regrade(tier=tier_of(entry), grade=overall_grade(entry), prior=prior(entry))

    def restore(self, records: Mapping[str, InstanceRecord]) -> None:
        """Take over what was learned before, or meanwhile by another process.

        Args:
            records: by base URL; those of instances that are not in the pool are passed over.
        """
        for url, record in records.items():
            if url in self._members:
                self._members[url].restore(record)

    def learned_since(self, when: float) -> dict[str, InstanceRecord]:
        """The records of the instances of which anything was learned after `when`, by base URL."""
        return {
            url: member.record() for url, member in self._members.items() if member.last_at > when
        }

    def earliest_retry(self, now: float) -> float | None:
        """Seconds until the first waiting instance may be asked again, or `None` if none waits."""
        waits = [wait for m in self._members.values() if (wait := m.retry_after(now)) > 0]
        return min(waits, default=None)

    def snapshot(self, now: float) -> tuple[InstanceReport, ...]:
        """What is known of every instance, best first within each tier."""
        members = sorted(
            self._members.values(), key=lambda m: (_TIERS.index(m.tier), -m.score(now), m.url)
        )
        return tuple(_report(member, now) for member in members)

    def link_token(self, url: str) -> bool | None:
        """Whether the pages of `url` carry the limiter's token; `None` while unknown."""
        return self._members[url].link_token

    def _add(self, member: Member) -> None:
        self._members.setdefault(member.url, member)

    def _turn(self, eligible: list[Member], now: float) -> Member:
        # Smooth weighted round-robin as nginx has it: everybody gains their weight, the richest is
        # chosen and pays the sum.
        if self._config.random_start:
            eligible.sort(key=lambda m: self._place[m.url])
        else:
            eligible.sort(key=lambda m: -m.weight(now))
        aperture = eligible[: self._config.aperture]
        total = 0.0
        for member in aperture:
            weight = member.weight(now)
            member.current_weight += weight
            total += weight
        chosen = max(aperture, key=lambda m: m.current_weight)
        chosen.current_weight -= total
        return chosen

    def _panic(self, exclude: Collection[str]) -> Member | None:
        own = [member for member in self._members.values() if member.is_own]
        if not own or any(
            member.url in exclude or member.in_flight or member.state is not InstanceState.FAILING
            for member in own
        ):
            return None
        return min(own, key=lambda m: m.until)

    def _proposal(self, member: Member, now: float) -> Proposal:
        return Proposal(
            url=member.url,
            own=member.is_own,
            format=member.format(now),
            link_token=member.link_token,
        )


def _public_member(entry: CatalogEntry) -> Member:
    return Member(entry.url, tier=tier_of(entry), grade=overall_grade(entry), prior=prior(entry))


def _report(member: Member, now: float) -> InstanceReport:
    verdict, detail = member.last_verdict
    return InstanceReport(
        url=member.url,
        tier=member.tier,
        grade=member.grade,
        state=member.state,
        score=round(member.score(now), 3),
        successes=member.successes,
        failures=member.failures,
        consecutive_failures=member.consecutive_failures,
        latency=None if member.latency is None else round(member.latency, 3),
        json_enabled=member.json_enabled,
        last_verdict=verdict,
        last_detail=detail,
        drift=member.drift,
        retry_after=round(member.retry_after(now), 1),
    )
