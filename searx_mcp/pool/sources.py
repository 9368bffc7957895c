"""The open sources with their state: who may be asked now, and what an answer teaches."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from typing_extensions import override

from searx_mcp.models.instance import InstanceReport, Tier
from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.member import OWN_PRIOR, Member, Standing
from searx_mcp.pool.pool import Members

if TYPE_CHECKING:
    import random

LIMIT_BASE = 60.0
"""Seconds after the first limit that names no time; doubled with each up to an hour. APIs count by the
second, the minute or the hour, and say how long to wait where it is more."""


class SourcePool(Members):
    """Open sources by the addresses that stand for them.

    Each is a member like an instance, with the same states and timers, but nobody chooses among
    them: the query does.

    Args:
        sources: name and address of each.
        config: how failures are judged; limits are by `LIMIT_BASE`.
        rng: the dice.
    """

    def __init__(
        self, sources: Iterable[tuple[str, str]], *, config: PoolConfig, rng: "random.Random"
    ) -> None:
        update = {"limits_double": True, "rate_limit_backoff_base": LIMIT_BASE}
        super().__init__(config.model_copy(update=update), rng)
        standing = Standing(Tier.OPEN, None, OWN_PRIOR)
        self._names = {url: name for name, url in sources}
        self._members = {url: Member(url, standing) for url in self._names}

    @override
    def __repr__(self) -> str:
        return f"<SourcePool {', '.join(self._names.values())}>"

    def __contains__(self, url: object) -> bool:
        return url in self._members

    def may_ask(self, url: str, now: float) -> bool:
        """Whether a request may go to a source now; one that has rested takes one at a time."""
        return self._members[url].is_eligible(now)

    def urls(self) -> tuple[str, ...]:
        """The addresses that stand for the sources."""
        return tuple(self._members)

    def snapshot(self, now: float) -> tuple[InstanceReport, ...]:
        """What is known of every source, in the order of their names."""
        named = sorted((name, url) for url, name in self._names.items())
        cards = [(name, self._members[url].report_card(now)) for name, url in named]
        # What is said of an instance's pages says nothing of an API.
        unknown = {"format": None, "json_enabled": None, "link_token": None}
        return tuple(card.model_copy(update={"source": name, **unknown}) for name, card in cards)
