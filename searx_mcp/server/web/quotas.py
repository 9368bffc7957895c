"""Quotas of calls per token, and limits for wrong tokens per address.

Processes that share a Redis server count there and so keep one limit together. While it is down, each process goes
by its own counts.
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
"""Slots of a window; a call counts for up to one slot longer than the window."""
_MOST_WRONG_TOKENS: Final = 10
"""Wrong tokens that an address may send in a minute: enough for typos or a client with an outdated token."""
_MINUTE: Final = 60.0
_DAY: Final = 86_400.0
_MOST_ADDRESSES: Final = 4_096
_GROUP_BYTES: Final = 2
"""Bytes of the hash that stands for an address in the shared counts: at most 65,536 keys, and no address is stored."""

Windows = Sequence[tuple[int, float]]
"""Pairs of a number of calls and the seconds they may fall in."""


class SlidingCount:
    """Counts events in a sliding window, in bounded space.

    Args:
        limit: most events in a window.
        seconds: length of the window.
    """

    def __init__(self, limit: int, seconds: float) -> None:
        self.limit = limit
        self._slot = seconds / _SLOTS
        self._counts: deque[tuple[int, int]] = deque()

    def wait(self, now: float) -> float:
        """Return the seconds until another event fits; 0 if it fits now."""
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
    """Counts in Redis, shared by several processes; connects with the first counted call.

    Args:
        settings: settings of the Redis server, if there is one.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings
        self._counts: RedisQuotas | None = None

    async def charge(self, name: str, windows: Windows) -> tuple[float, bool] | None:
        """Count a call if it fits into all windows.

        Args:
            name: key of the caller.
            windows: limits of the caller.

        Returns:
            As `Counts.charge`; `None` if there is no server or it is down.
        """
        if self._settings is None or not self._settings.redis.url.get_secret_value():
            return None
        try:
            return await (self._counts or await self._open(self._settings)).charge(name, windows)
        except (SettingsError, StorageError):
            return None  # the search client uses the same server and reports the error

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
    """Counts calls by name.

    Args:
        shared: counts shared with other processes.
        most: names to remember; the one unused for longest is dropped first.
    """

    def __init__(self, shared: SharedCounts, most: float = math.inf) -> None:
        self._shared = shared
        self._most = most
        self._counts: OrderedDict[str, dict[float, SlidingCount]] = OrderedDict()

    async def charge(
        self, name: str, shared_name: str, windows: Windows, now: float
    ) -> tuple[float, bool]:
        """Count a call if it fits into all windows.

        Args:
            name: key of the caller.
            shared_name: key of the caller in the shared counts.
            windows: limits of the caller.
            now: monotonic time in seconds.

        Returns:
            The seconds until the call fits, or 0 if it was counted; and whether it used up the limit.
        """
        found = await self._shared.charge(shared_name, windows) if windows else None
        counts = self._counts_of(name, windows)
        wait, is_last = found or (_longest_wait(counts, now), False)
        if not wait:
            for count in counts:  # even if Redis counts: it may go down
                count.add(now)
        return wait, is_last if found else not wait and bool(_longest_wait(counts, now))

    def _counts_of(self, name: str, windows: Windows) -> list[SlidingCount]:
        """Return the counters of a name, with the current limits: the tokens file may have changed."""
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


def _longest_wait(counts: Sequence[SlidingCount], now: float) -> float:
    return max((count.wait(now) for count in counts), default=0.0)


class Quotas:
    """Enforces the limits of named tokens.

    Args:
        shared: counts shared with other processes.
    """

    def __init__(self, shared: SharedCounts) -> None:
        self._counts = Counts(shared)

    async def charge(
        self, name: str, *, per_minute: int | None, per_day: int | None, now: float
    ) -> float:
        """Count a call if the quota allows it.

        Args:
            name: name of the token.
            per_minute: calls allowed in 60 seconds; `None` for no limit.
            per_day: calls allowed in 24 hours; `None` for no limit.
            now: monotonic time in seconds.

        Returns:
            The seconds until a call is allowed; 0 if it was counted.
        """
        limits = ((per_minute, _MINUTE), (per_day, _DAY))
        windows = [(limit, seconds) for limit, seconds in limits if limit is not None]
        wait, is_last = await self._counts.charge(name, f"token:{name}", windows, now)
        if is_last:
            note_quota(name)
        return wait


class WrongTokens:
    """Limits the wrong tokens that an address may send in a minute.

    A valid token is always accepted: the address may be a proxy that other clients share.

    Args:
        shared: counts shared with other processes.
    """

    def __init__(self, shared: SharedCounts) -> None:
        self._counts = Counts(shared, most=_MOST_ADDRESSES)

    async def charge(self, address: str, now: float) -> float:
        """Count a wrong token; return the seconds until the address may send another, or 0."""
        client = customer_of(address)
        group = blake2b(client.encode(), digest_size=_GROUP_BYTES).hexdigest()
        windows = [(_MOST_WRONG_TOKENS, _MINUTE)]
        wait, is_last = await self._counts.charge(client, f"wrong:{group}", windows, now)
        if is_last:
            note_guesses(client)
        return wait
