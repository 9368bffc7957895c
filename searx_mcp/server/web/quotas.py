"""How many calls a token has left, and how many wrong tokens an address may send.

Where several processes share a server they count there, and so keep to a limit together; while it is away each goes by what
it has let in itself.
"""

import asyncio
import math
from collections import OrderedDict, deque
from collections.abc import Sequence
from hashlib import blake2b
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from searx_mcp.errors import SettingsError, StorageError
from searx_mcp.server.events import note_guesses, note_quota
from searx_mcp.server.web.shares import customer_of
from searx_mcp.settings.values import Settings

if TYPE_CHECKING:
    from searx_mcp.storage.redis_quotas import RedisQuotas

_SLOTS: Final = 60
"""Parts of a window; a call counts for up to a part longer than the window."""
_WRONG: Final = 10
"""Wrong tokens of an address in a minute; enough for a typo, or for a client with an outdated token."""
_MINUTE: Final = 60.0
_DAY: Final = 86_400.0
_MOST_ADDRESSES: Final = 4_096
_GROUP: Final = 2
"""Bytes of an address's hash in the shared counts: at most 65,536 counts, and no address is stored."""

Windows = Sequence[tuple[int, float]]
"""How many calls in how many seconds."""


class SlidingCount:
    """Counts events of the last seconds, in bounded space.

    Args:
        limit: events in any window.
        seconds: the window's length.
    """

    def __init__(self, limit: int, seconds: float) -> None:
        self.limit = limit
        self._slot = seconds / _SLOTS
        self._counts: deque[tuple[int, int]] = deque()

    def wait(self, now: float) -> float:
        """Seconds until there is room for one more; 0 if there is."""
        oldest = math.floor(now / self._slot) - _SLOTS
        while self._counts and self._counts[0][0] < oldest:
            self._counts.popleft()
        surplus = sum(count for _, count in self._counts) - self.limit + 1
        if surplus <= 0:
            return 0.0
        for slot, count in self._counts:
            if surplus <= 0:
                break
            surplus, oldest = surplus - count, slot
        return (oldest + _SLOTS + 1) * self._slot - now

    def add(self, now: float) -> None:
        """Count one event."""
        slot = math.floor(now / self._slot)
        if self._counts and self._counts[-1][0] == slot:
            slot, count = self._counts.pop()
            self._counts.append((slot, count + 1))
        else:
            self._counts.append((slot, 1))


class SharedCounts:
    """Counts shared by several processes; opened with the first counted call.

    Args:
        settings: name the server, if there is one.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings
        self._counts: RedisQuotas | None = None

    async def charge(self, name: str, windows: Windows) -> tuple[float, bool] | None:
        """Count a call if there is room for it in all windows.

        Args:
            name: whose call it is.
            windows: that count it.

        Returns:
            As `Counts.charge`; `None` where there is no server, or it is away.
        """
        if self._settings is None or not self._settings.redis.url.get_secret_value():
            return None
        try:
            return await (self._counts or await self._open(self._settings)).charge(name, windows)
        except (SettingsError, StorageError):
            return None  # the client that serves calls reports what is wrong

    async def _open(self, settings: Settings) -> "RedisQuotas":
        stores: Any = await asyncio.to_thread(import_module, "searx_mcp.client.stores")
        if self._counts is None:  # another call may have opened it
            self._counts = stores.open_quotas(settings)
        return self._counts

    async def aclose(self) -> None:
        """Close the connection."""
        if self._counts is not None:
            await self._counts.aclose()


class Counts:
    """The calls of each name.

    Args:
        shared: also counts them.
        most: names that this process remembers, those that called last.
    """

    def __init__(self, shared: SharedCounts, most: float = math.inf) -> None:
        self._shared = shared
        self._most = most
        self._counts: OrderedDict[str, dict[float, SlidingCount]] = OrderedDict()

    async def charge(
        self, name: str, shared_name: str, windows: Windows, now: float
    ) -> tuple[float, bool]:
        """Count a call if there is room for it in all windows.

        Args:
            name: whose call it is.
            shared_name: the same, for the shared counts.
            windows: that count it.
            now: seconds of a clock that never goes back.

        Returns:
            0, or the seconds after which there is room and nothing is counted; and whether it was the last call that
            had room.
        """
        found = await self._shared.charge(shared_name, windows) if windows else None
        counts = self._of(name, windows)
        wait, is_last = found or (_wait(counts, now), False)
        if not wait:
            for count in counts:  # also if the server counts: it may go away
                count.add(now)
        return wait, is_last if found else not wait and bool(_wait(counts, now))

    def _of(self, name: str, windows: Windows) -> list[SlidingCount]:
        """The counts of a name, with their limits: the file of tokens may have changed."""
        kept = self._counts.setdefault(name, {})
        self._counts.move_to_end(name)
        if len(self._counts) > self._most:
            self._counts.popitem(last=False)
        counts = []
        for limit, seconds in windows:
            count = kept.setdefault(seconds, SlidingCount(limit, seconds))
            count.limit = limit
            counts.append(count)
        return counts


def _wait(counts: Sequence[SlidingCount], now: float) -> float:
    return max((count.wait(now) for count in counts), default=0.0)


class Quotas:
    """The calls of each name of a token.

    Args:
        shared: also counts them.
    """

    def __init__(self, shared: SharedCounts) -> None:
        self._counts = Counts(shared)

    async def charge(
        self, name: str, *, per_minute: int | None, per_day: int | None, now: float
    ) -> float:
        """Count a call if there is room for it.

        Args:
            name: whose call it is.
            per_minute: calls that they have in 60 seconds; `None` for no limit.
            per_day: likewise in 24 hours.
            now: seconds of a clock that never goes back.

        Returns:
            0, or the seconds after which there is room; nothing is counted then.
        """
        limits = ((per_minute, _MINUTE), (per_day, _DAY))
        windows = [(limit, seconds) for limit, seconds in limits if limit is not None]
        wait, is_last = await self._counts.charge(name, f"token:{name}", windows, now)
        if is_last:
            note_quota(name)
        return wait


class WrongTokens:
    """The wrong tokens that each address has sent in the last minute.

    A right token is served whatever came before it from its address, which may be that of a proxy.

    Args:
        shared: also counts them.
    """

    def __init__(self, shared: SharedCounts) -> None:
        self._counts = Counts(shared, most=_MOST_ADDRESSES)

    async def charge(self, address: str, now: float) -> float:
        """Count a wrong token; 0, or the seconds for which the address may send no more of them."""
        who = customer_of(address)
        group = blake2b(who.encode(), digest_size=_GROUP).hexdigest()
        windows = [(_WRONG, _MINUTE)]
        wait, is_last = await self._counts.charge(who, f"wrong:{group}", windows, now)
        if is_last:
            note_guesses(who)
        return wait
