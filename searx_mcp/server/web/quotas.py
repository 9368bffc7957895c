"""How many calls a token has left, and how many wrong tokens an address may send."""

import ipaddress
import math
from collections import OrderedDict, deque
from typing import Final

from searx_mcp.server.events import note_guesses, note_quota

_SLOTS: Final = 60
"""Parts of a window; a call counts for up to a part longer than the window."""
_WRONG: Final = 10
"""Wrong tokens of an address in a minute, enough for a person who mistypes or a client not yet told the new one."""
_MINUTE: Final = 60.0
_DAY: Final = 86_400.0
_MOST_ADDRESSES: Final = 4_096
_IPV6_CUSTOMER: Final = 64
"""Bits of an address of which one customer has all (RFC 6177)."""


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
        """Count one."""
        slot = math.floor(now / self._slot)
        if self._counts and self._counts[-1][0] == slot:
            slot, count = self._counts.pop()
            self._counts.append((slot, count + 1))
        else:
            self._counts.append((slot, 1))


class Quotas:
    """The calls of each name, in this process."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, float], SlidingCount] = {}

    def charge(
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
        counts = []
        for limit, seconds in ((per_minute, _MINUTE), (per_day, _DAY)):
            if limit is not None:
                count = self._counts.setdefault((name, seconds), SlidingCount(limit, seconds))
                count.limit = limit  # the file may have changed
                counts.append(count)
        wait = max((count.wait(now) for count in counts), default=0.0)
        if not wait:
            for count in counts:
                count.add(now)
            if any(count.wait(now) for count in counts):
                note_quota(name)
        return wait


class WrongTokens:
    """The wrong tokens that each address has sent in the last minute.

    A right token is served whatever came before it from its address, which may be that of a proxy.
    """

    def __init__(self) -> None:
        self._counts: OrderedDict[str, SlidingCount] = OrderedDict()

    def charge(self, address: str, now: float) -> float:
        """Count a wrong token; 0, or the seconds for which the address may send no more of them."""
        who = _customer(address)
        count = self._counts.setdefault(who, SlidingCount(_WRONG, _MINUTE))
        self._counts.move_to_end(who)
        if len(self._counts) > _MOST_ADDRESSES:
            self._counts.popitem(last=False)
        wait = count.wait(now)
        if not wait:
            count.add(now)
            if count.wait(now):
                note_guesses(who)
        return wait


def _customer(address: str) -> str:
    """The address, or of an IPv6 one the network that its customer has."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return ""
    if isinstance(parsed, ipaddress.IPv4Address) or parsed.ipv4_mapped:
        return str(parsed)
    return str(ipaddress.ip_network((parsed, _IPV6_CUSTOMER), strict=False))
