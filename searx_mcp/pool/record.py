"""What is learned about an instance, as it is kept, and the rules for times that were kept."""

from typing import Any

from pydantic import BaseModel, ConfigDict

from searx_mcp.models.attempt import PastOutcome, Verdict
from searx_mcp.models.instance import InstanceState
from searx_mcp.pool.config_facts import ConfigFacts
from searx_mcp.pool.engine_care import EngineRecord

LONGEST = 40 * 86_400.0
"""Seconds. No window and no wait is longer (30 days and a fifth), so a charge is forgotten after
this time, and a wait that would end later comes from a wrong clock."""
SKEW = 60.0
"""Seconds a kept time may lie in the future: another process read the clock a little later. What
lies further ahead was written before the clock was put back."""


class InstanceRecord(BaseModel):
    """What is learned about one instance.

    `searx_mcp.pool.life` and `searx_mcp.pool.observed` say what the fields mean.

    All times are Unix seconds. Fields of newer versions are ignored, and stay in the store.

    Attributes:
        url: base URL.
        until: when its waiting state ends.
        last_at: when anything in this record changed last; it decides whose record is kept.
        json_recheck: from when on JSON may be tried again.
        json_listed: whether its pages list JSON among the formats.
        link_token: whether its pages carry the limiter's token.
        last_detail: one short sentence for a person; never the query.
        facts: what its `/config` says.
        cleared_at: when its robots.txt was read last, or could not be.
        engines: how the engines inside it answered; kept of own instances alone.
        version: of the fields; it only grows.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    url: str
    state: InstanceState = InstanceState.NEW
    until: float = 0.0
    reason: str = ""
    healthy_since: float = 0.0
    last_at: float = 0.0
    successes: int = 0
    failures: int = 0
    consecutive_failures: int = 0
    observed: float = 0.0
    count: float = 0.0
    observed_at: float = 0.0
    latency: float | None = None
    latency_at: float = 0.0
    latencies: tuple[float, ...] = ()
    outcomes: tuple[PastOutcome, ...] = ()
    json_enabled: bool | None = None
    json_recheck: float = 0.0
    json_listed: bool | None = None
    link_token: bool | None = None
    failing_episode: int = 0
    limit_episode: int = 0
    quarantine_episode: int = 0
    limits: tuple[float, ...] = ()
    recent: tuple[bool, ...] = ()
    without_engines: int = 0
    empty: int = 0
    degraded_at: float = 0.0
    successes_in_a_row: int = 0
    overtaken: int = 0
    overtaken_at: float = 0.0
    offences: int = 0
    alone: int = 0
    certificate_failures: int = 0
    bans: int = 0
    drift: int = 0
    last_verdict: Verdict | None = None
    last_detail: str = ""
    facts: ConfigFacts | None = None
    cleared_at: float = 0.0
    engines: tuple[EngineRecord, ...] = ()
    version: int = 1

    def settled(self, now: float) -> "InstanceRecord":
        """This record as it can be believed at `now`.

        A record from the future was written before the clock was put back: it counts as written
        now, and all its times move with it, so that what is left of a wait stays. No wait ends
        later than `LONGEST` from now.
        """
        ahead = self.last_at - now if self.last_at > now + SKEW else 0.0
        changes: dict[str, Any] = {
            "last_at": self.last_at - ahead,
            **{name: min(getattr(self, name) - ahead, now + SKEW) for name in _PAST},
            "until": min(self.until - ahead, now + LONGEST),
            "json_recheck": min(self.json_recheck - ahead, now + LONGEST),
            "engines": tuple(each.moved(ahead, now + SKEW) for each in self.engines),
            "limits": tuple(min(at - ahead, now + SKEW) for at in self.limits),
            "outcomes": tuple(
                past.model_copy(update={"at": min(past.at - ahead, now + SKEW)})
                if ahead or past.at > now + SKEW
                else past
                for past in self.outcomes
            ),
        }
        return self.model_copy(update=changes)


_PAST = (
    "observed_at", "latency_at", "healthy_since", "degraded_at", "overtaken_at", "cleared_at",
)  # fmt: skip


def settled(at: float, now: float) -> float:
    """A kept time of something past as it can be believed at `now`: what lies ahead counts as now."""
    return now if at > now + SKEW else at


def replaces(incoming: float, kept: float, now: float) -> bool:
    """Whether a record of the time `incoming` takes the place of the one of the time `kept`.

    The last writer wins, instance by instance, and nothing is mixed: a record is one process's
    consistent view. A kept record from the future has no claim, or a clock once wrong would
    keep every later one out.
    """
    return incoming >= kept or kept > now + SKEW
