"""What is wrong with a fake instance at the moment."""

from dataclasses import dataclass, field
from enum import Enum, auto

from searx_mcp.models.hits import UnresponsiveEngine
from searx_mcp.testing.instance.replies import Reply
from searx_mcp.testing.limiter import Refusal


class Silence(Enum):
    """Ways not to answer at all."""

    HANG = auto()
    DROP = auto()


@dataclass(slots=True)
class Faults:
    """All faults; a new value is a healthy instance.

    Attributes:
        host: what happens to every request, in front of everything else.
        prepared: answers by path, in place of the instance's own.
        refusal: how every search is turned away, whatever the windows say.
        failed: engines that do not answer.
        all_failed: whether no engine answers, listed or not.
        latency: seconds before anything is answered.
        rewriter: put in front of the addresses of all rows; a relative one leads home.
    """

    host: Reply | Silence | None = None
    prepared: dict[str, Reply] = field(default_factory=dict)
    refusal: Refusal | None = None
    failed: tuple[UnresponsiveEngine, ...] = ()
    all_failed: bool = False
    latency: float = 0.0
    rewriter: str | None = None
