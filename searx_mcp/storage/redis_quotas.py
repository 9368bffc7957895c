"""Counts calls on a Redis or Valkey server, so that all processes together keep a limit."""

import logging
import time
from collections.abc import Callable, Sequence
from typing import Final

from typing_extensions import override

from searx_mcp.storage.redis import RedisKeys, RedisLink, RedisSession, Script

PARTS: Final = 60
"""Parts of a window; a call counts for up to one part longer than the window."""

CHARGE = Script(r"""
-- KEYS: hashes of calls by part of a window. ARGV: now, parts of a window; for each key its limit and seconds.
-- Returns the seconds until there is room, 0 if the call was counted, and whether it used up the last room.
-- The clock of a key never goes back, so a process whose clock is slow neither drops nor hides a call.
local function number_in(text)
  return #text <= 12 and string.match(text, '^%d+$') and tonumber(text)
end

local now, parts = tonumber(ARGV[1]), tonumber(ARGV[2])
local wait, is_last, counted = 0, 0, {}
for number, key in ipairs(KEYS) do
  local limit, seconds = tonumber(ARGV[2 * number + 1]), tonumber(ARGV[2 * number + 2])
  local part = seconds / parts
  local current, rows, total = math.floor(now / part), {}, 0
  local kept = redis.call('HGETALL', key)
  for i = 1, #kept, 2 do
    local at, count = number_in(kept[i]), number_in(kept[i + 1])
    if at and count then
      rows[#rows + 1] = {at, count}
      current = math.max(current, at)
    end
  end
  table.sort(rows, function(a, b) return a[1] < b[1] end)
  local oldest, gone, left = current - parts, {}, {}
  for _, row in ipairs(rows) do
    if row[1] < oldest then
      gone[#gone + 1] = string.format('%d', row[1])
    else
      left[#left + 1] = row
      total = total + row[2]
    end
  end
  local surplus = total - limit + 1
  if surplus > 0 then
    for _, row in ipairs(left) do
      if surplus <= 0 then
        break
      end
      surplus, oldest = surplus - row[2], row[1]
    end
    wait = math.max(wait, (oldest + parts + 1) * part - math.max(now, current * part))
  elseif surplus == 0 then
    is_last = 1
  end
  counted[number] = {string.format('%d', current), gone, math.ceil(seconds + part)}
end
if wait > 0 then
  return {string.format('%.17g', wait), 0}
end
for number, key in ipairs(KEYS) do
  local current, gone, seconds = unpack(counted[number])
  if #gone > 0 then
    redis.call('HDEL', key, unpack(gone))
  end
  redis.call('HINCRBY', key, current, 1)
  redis.call('EXPIRE', key, seconds)
end
return {'0', is_last}
""")


class RedisQuotas:
    """Counts calls in sliding windows of `PARTS` parts each, in constant space however many calls there are.

    A call whose reply was lost may count twice.

    Args:
        url: `redis://`, `rediss://` or `unix://`.
        prefix: of the names of all keys.
        patience: seconds one call may wait.
        clock: Unix seconds; all processes should agree on them.

    Raises:
        ValueError: the address is invalid; the message may show parts of it.
    """

    def __init__(
        self,
        url: str,
        *,
        prefix: str,
        patience: float,
        clock: Callable[[], float] = time.time,  # noqa: TID251 - several machines share the counts
    ) -> None:
        # The store on the same server warns if it is down; once is enough.
        self._link = RedisLink(url, patience=patience, level=logging.DEBUG)
        self._keys = RedisKeys(prefix)
        self._clock = clock

    @override
    def __repr__(self) -> str:
        return f"<RedisQuotas {self._link.place}>"

    async def charge(self, name: str, windows: Sequence[tuple[int, float]]) -> tuple[float, bool]:
        """Count a call if all windows have room for it.

        Args:
            name: of the caller.
            windows: the limits: calls, and in how many seconds.

        Returns:
            0, or the seconds after which there is room, and nothing is counted; and whether this call used up
            the last room.

        Raises:
            StorageUnavailableError: the server is down.
        """
        keys = [self._keys.quota(name, seconds) for _, seconds in windows]
        arguments: list[str | int] = [repr(self._clock()), PARTS]
        for limit, seconds in windows:
            arguments += [limit, repr(seconds)]

        async def work(session: RedisSession) -> tuple[float, bool]:
            wait, is_last = await session.evaluate(CHARGE, keys, arguments)
            return float(wait), bool(is_last)

        return await self._link.run(work)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._link.aclose()
