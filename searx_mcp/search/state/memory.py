"""A store that lives as long as the process."""

from bisect import insort
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from typing_extensions import override

from searx_mcp.models.attempt import Format
from searx_mcp.pool.record import LONGEST, InstanceRecord, replaces, settled
from searx_mcp.search.state.interface import Budget, Reservation, StateStore, Window

Charge = tuple[float, Format]
"""When a request was charged, and what it asked for."""


class MemoryStore(StateStore):
    """Everything in memory; shared by nobody, gone with the process.

    A charge is kept for as long as any window may ask for it, so the memory is bounded by what
    the windows allow.
    """

    def __init__(self) -> None:
        self._charges: defaultdict[str, list[Charge]] = defaultdict(list)
        self._records: dict[str, InstanceRecord] = {}
        self._claims: dict[str, float] = {}

    @override
    def __repr__(self) -> str:
        return f"<MemoryStore [{sum(map(len, self._charges.values()))} charges]>"

    @property
    @override
    def problem(self) -> str:
        return ""

    @override
    async def reserve(
        self,
        instance: str,
        format: Format,
        windows: Sequence[Window],
        now: float,
    ) -> Reservation:
        charges = self._settle(instance, windows, now)
        applying = [window for window in windows if window.format in (None, format)]
        retry_at = [at for window in applying if (at := _free_at(charges, window, now)) > now]
        if retry_at:
            return Reservation(granted=False, retry_at=max(retry_at))
        if windows:
            insort(charges, (now, format))
        return Reservation(granted=True)

    @override
    async def budget(self, instance: str, windows: Sequence[Window], now: float) -> Budget:
        charges = self._settle(instance, windows, now)
        left = [max(0, window.limit - len(_inside(charges, window, now))) for window in windows]
        return Budget(
            left=min(left, default=None),
            free_at=max((_free_at(charges, window, now) for window in windows), default=now),
        )

    @override
    async def load(self, now: float) -> Mapping[str, InstanceRecord]:
        self._records = {url: record.settled(now) for url, record in self._records.items()}
        return dict(self._records)

    @override
    async def save(self, records: Mapping[str, InstanceRecord], now: float) -> None:
        for url, record in records.items():
            kept = self._records.get(url)
            if kept is None or replaces(record.last_at, kept.last_at, now):
                self._records[url] = record.settled(now)

    @override
    async def claim(self, job: str, *, seconds: float, now: float) -> bool:
        claimed_at = self._claims.get(job)
        if claimed_at is None or settled(claimed_at, now) + seconds <= now:
            self._claims[job] = now
            return True
        self._claims[job] = settled(claimed_at, now)
        return False

    @override
    async def purge(self) -> None:
        self._charges.clear()
        self._records.clear()
        self._claims.clear()

    @override
    async def aclose(self) -> None:
        return

    def charge(
        self,
        instance: str,
        format: Format,  # noqa: A002 - the field's word for JSON or HTML
        windows: Sequence[Window],
        now: float,
    ) -> None:
        """Charge a request that was granted elsewhere."""
        insort(self._settle(instance, windows, now), (now, format))

    def restore(self, charges: Iterable[tuple[str, float, Format]]) -> None:
        """Take over the charges of all instances from another store."""
        self._charges.clear()
        for instance, at, format_ in sorted(charges):
            self._charges[instance].append((at, format_))

    def _settle(self, instance: str, windows: Sequence[Window], now: float) -> list[Charge]:
        kept_for = max((LONGEST, *(window.seconds for window in windows)))
        charges = self._charges[instance]
        charges[:] = [(settled(at, now), format_) for at, format_ in charges if at > now - kept_for]
        return charges


def _inside(charges: Sequence[Charge], window: Window, now: float) -> list[float]:
    return [
        at
        for at, format_ in charges
        if at + window.seconds > now and window.format in (None, format_)
    ]


def _free_at(charges: Sequence[Charge], window: Window, now: float) -> float:
    """When the window has room again: the moment its limit-newest charge leaves it."""
    inside = _inside(charges, window, now)
    if len(inside) < window.limit:
        return now
    return inside[-window.limit] + window.seconds
