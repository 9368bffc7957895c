"""The open sources with their state: who may be asked now, and what an answer teaches."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from typing_extensions import override

from searx_mcp.models.instance import InstanceReport, Tier
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.member import Member
from searx_mcp.pool.needs import Needs
from searx_mcp.pool.outcome import Outcome
from searx_mcp.pool.record import InstanceRecord
from searx_mcp.pool.score import OWN_PRIOR

if TYPE_CHECKING:
    import random

LIMIT_BASE = 60.0
"""Seconds after the first limit that names no time; doubled with each up to an hour. APIs count by the
second, the minute or the hour, and say how long to wait where it is more."""


class SourcePool:
    """Open sources by the addresses that stand for them; synchronous, told the time and the dice.

    Each is a member like an instance, with the same states and timers, but nobody chooses among them:
    the query does. A request goes `begin`, then exactly one of `report` and `release`.

    Args:
        sources: name and address of each.
        config: how failures are judged; limits are by `LIMIT_BASE`.
        rng: the dice.
    """

    def __init__(
        self, sources: Iterable[tuple[str, str]], *, config: PoolConfig, rng: "random.Random"
    ) -> None:
        update = {"limits_double": True, "rate_limit_backoff_base": LIMIT_BASE}
        self._config = config.model_copy(update=update)
        self._rng = rng
        self._names = {url: name for name, url in sources}
        self._members = {
            url: Member(url, tier=Tier.OPEN, grade=None, prior=OWN_PRIOR) for url in self._names
        }

    @override
    def __repr__(self) -> str:
        return f"<SourcePool {', '.join(self._names.values())}>"

    def may_ask(self, url: str, now: float) -> bool:
        """Whether a request may go to a source now; one that has rested takes one at a time."""
        return self._members[url].is_eligible(now)

    def retry_after(self, url: str, now: float) -> float:
        """Seconds until a source that rests may be asked again; 0 for any other."""
        return self._members[url].life.retry_after(now)

    def begin(self, url: str, now: float) -> None:
        """A request leaves for `url`."""
        self._members[url].begin(now)

    def release(self, url: str) -> None:
        """The request was given up by us, or says nothing about the source."""
        self._members[url].release()

    def report(self, url: str, outcome: Outcome, now: float, needs: Needs | None = None) -> None:
        """The request, made for `needs`, came to `outcome`."""
        self._members[url].report(outcome, now, needs, config=self._config, rng=self._rng)

    def rest(self, url: str, seconds: float, now: float) -> None:
        """A source that has answered asks to be left alone for so many seconds."""
        self._members[url].rest(seconds, now)

    def settle(self, now: float) -> None:
        """Move the times of all sources along with a clock that was put back."""
        for member in self._members.values():
            member.settle(now)

    def restore(self, records: Mapping[str, InstanceRecord]) -> None:
        """Take over what was learned before, or meanwhile by another process."""
        for url, record in records.items():
            if url in self._members:
                self._members[url].restore(record)

    def learned_since(self, when: float) -> dict[str, InstanceRecord]:
        """The records of the sources of which anything was learned after `when`, by address."""
        return {url: m.record() for url, m in self._members.items() if m.last_at > when}

    def urls(self) -> tuple[str, ...]:
        """The addresses that stand for the sources."""
        return tuple(self._members)

    def reset(self, url: str, last_at: float) -> InstanceRecord:
        """Forget what was learned about `url`; gives the record of one that is new since `last_at`."""
        record = self._members[url].fresh_record(last_at)
        self._members[url].restore(record)
        return record

    def record_of(self, url: str) -> InstanceRecord:
        """What was learned about `url`."""
        return self._members[url].record()

    def __contains__(self, url: object) -> bool:
        return url in self._members

    def snapshot(self, now: float) -> tuple[InstanceReport, ...]:
        """What is known of every source, in the order of their names."""
        named = sorted((name, url) for url, name in self._names.items())
        cards = [(name, self._members[url].report_card(now)) for name, url in named]
        # What is said of an instance's pages says nothing of an API.
        unknown = {"format": None, "json_enabled": None, "link_token": None}
        return tuple(card.model_copy(update={"source": name, **unknown}) for name, card in cards)
