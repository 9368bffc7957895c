"""What is wrong with a fake instance at the moment."""

import asyncio
from dataclasses import dataclass, field
from enum import Enum, auto

from searx_mcp.models.hits import UnresponsiveEngine
from searx_mcp.testing.instance.replies import Reply
from searx_mcp.testing.limiter import Refusal


class Silence(Enum):
    """Ways not to answer at all."""

    HANG = auto()
    DROP = auto()


@dataclass(frozen=True, slots=True)
class SlowEngine:
    """An engine that takes `seconds`, where the instance waits for it for `timeout`."""

    name: str
    seconds: float
    timeout: float


@dataclass(slots=True)
class Faults:
    """All faults; a new value is a healthy instance.

    Attributes:
        host: what happens to every request, in front of everything else.
        prepared: answers by path, in place of the instance's own.
        refusal: how every search is turned away, whatever the windows say.
        failed: engines that do not answer.
        all_failed: whether no engine answers, listed or not.
        slow_engines: engines that are late, or too late.
        latency: seconds before anything is answered.
        held: set when requests that are kept waiting may go on, or `None`.
        rewriter: put in front of the addresses of all rows; a relative one leads home.
    """

    host: Reply | Silence | None = None
    prepared: dict[str, Reply] = field(default_factory=dict)
    refusal: Refusal | None = None
    failed: tuple[UnresponsiveEngine, ...] = ()
    all_failed: bool = False
    slow_engines: tuple[SlowEngine, ...] = ()
    latency: float = 0.0
    held: asyncio.Event | None = None
    rewriter: str | None = None

    def engines_time(self, limit: float | None) -> float:
        """Seconds the instance waits for slow engines, as upstream without a maximum of its own.

        Args:
            limit: seconds the caller gives the engines, or `None`.
        """
        longest = max((engine.timeout for engine in self.slow_engines), default=0.0)
        most = longest if limit is None else min(limit, longest)
        return min(most, max((engine.seconds for engine in self.slow_engines), default=0.0))

    def late(self, limit: float | None) -> tuple[UnresponsiveEngine, ...]:
        """The engines for which the instance does not wait."""
        waited = self.engines_time(limit)
        return tuple(
            UnresponsiveEngine(engine=engine.name, reason="timeout")
            for engine in self.slow_engines
            if engine.seconds > waited
        )
