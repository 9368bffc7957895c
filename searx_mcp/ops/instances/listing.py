"""Which instances of a report are shown, and in which order."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from searx_mcp.models.instance import InstanceReport, InstanceState, SortKey, Tier

_STATES: Final = tuple(InstanceState)
_NEVER: Final = float("inf")


@dataclass(frozen=True, slots=True)
class Selection:
    """What to list.

    Attributes:
        sort: what to sort by, the best first; as they are asked unless given.
        reverse: whether the order is turned round.
        states: only instances in these states; all if there is none.
        tiers: only instances of these tiers; all if there is none.
        host: only addresses that contain this text.
        usable: only those that may be asked now.
    """

    sort: SortKey | None = None
    reverse: bool = False
    states: Collection[InstanceState] = ()
    tiers: Collection[Tier] = ()
    host: str = ""
    usable: bool = False

    def of(self, rows: Iterable[InstanceReport]) -> tuple[InstanceReport, ...]:
        """The rows that are wanted, in the wanted order; equal ones keep theirs."""
        wanted = [row for row in rows if self._takes(row)]
        if self.sort is not None:
            wanted.sort(key=_KEYS[self.sort])
        return tuple(reversed(wanted) if self.reverse else wanted)

    def _takes(self, row: InstanceReport) -> bool:
        return (
            (not self.states or row.state in self.states)
            and (not self.tiers or row.tier in self.tiers)
            and self.host.casefold() in row.url.casefold()
            and not (self.usable and next_try(row))
        )


def next_try(row: InstanceReport) -> float:
    """Seconds until it may be asked again; infinite for one that is blacklisted."""
    return _NEVER if row.state is InstanceState.BLACKLISTED else row.retry_after


def _low_first(value: float | None) -> float:
    return _NEVER if value is None else value


_KEYS: Final[dict[SortKey, Callable[[InstanceReport], tuple[float | str, ...]]]] = {
    SortKey.HOST: lambda row: (urlsplit(row.url).netloc, row.url),
    SortKey.SCORE: lambda row: (-row.score,),
    SortKey.STATE: lambda row: (_STATES.index(row.state),),
    SortKey.SUCCESS: lambda row: (1.0 if row.success is None else -row.success,),
    SortKey.P50: lambda row: (_low_first(row.p50),),
    SortKey.P95: lambda row: (_low_first(row.p95),),
    SortKey.LEFT: lambda row: (-_low_first(row.budget_left),),
    SortKey.NEXT: lambda row: (next_try(row),),
}
