"""A store that lives as long as the process."""

from collections import defaultdict
from collections.abc import Sequence

from typing_extensions import override

from searx_mcp.models.attempt import Format
from searx_mcp.search.state.interface import Budget, Reservation, StateStore, Window


class MemoryStore(StateStore):
    """Charges in memory; shared by nobody, gone with the process.

    A charge is kept as long as the longest window that was ever asked about its instance, so the
    memory is bounded by what the windows allow.
    """

    def __init__(self) -> None:
        self._charges: defaultdict[str, list[tuple[float, Format]]] = defaultdict(list)

    @override
    def __repr__(self) -> str:
        return f"<MemoryStore [{sum(map(len, self._charges.values()))} charges]>"

    @override
    async def reserve(
        self,
        instance: str,
        format: Format,
        windows: Sequence[Window],
        now: float,
    ) -> Reservation:
        charges = self._recent(instance, windows, now)
        applying = [window for window in windows if window.format in (None, format)]
        retry_at = [at for window in applying if (at := _free_at(charges, window, now)) > now]
        if retry_at:
            return Reservation(granted=False, retry_at=max(retry_at))
        if windows:
            charges.append((now, format))
        return Reservation(granted=True)

    @override
    async def budget(self, instance: str, windows: Sequence[Window], now: float) -> Budget:
        charges = self._recent(instance, windows, now)
        left = [window.limit - len(_inside(charges, window, now)) for window in windows]
        return Budget(
            left=min(left, default=None),
            free_at=max((_free_at(charges, window, now) for window in windows), default=now),
        )

    @override
    async def aclose(self) -> None:
        self._charges.clear()

    def _recent(
        self, instance: str, windows: Sequence[Window], now: float
    ) -> list[tuple[float, Format]]:
        longest = max((window.seconds for window in windows), default=0.0)
        charges = self._charges[instance]
        charges[:] = [charge for charge in charges if charge[0] > now - longest]
        return charges


def _inside(
    charges: Sequence[tuple[float, Format]], window: Window, now: float
) -> list[tuple[float, Format]]:
    return [
        charge
        for charge in charges
        if charge[0] > now - window.seconds and window.format in (None, charge[1])
    ]


def _free_at(charges: Sequence[tuple[float, Format]], window: Window, now: float) -> float:
    """When the window has room again: the moment its limit-newest charge leaves it."""
    inside = _inside(charges, window, now)
    if len(inside) < window.limit:
        return now
    return inside[-window.limit][0] + window.seconds
