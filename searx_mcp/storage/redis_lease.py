"""A lease on a Redis or Valkey server: who of all processes is at work on something."""

import secrets
from typing import Any, Final

from typing_extensions import override

from searx_mcp.errors import StorageError
from searx_mcp.storage.redis import RedisLink, Script
from searx_mcp.tasks import LEASE, Lease

_DONE: Final = 1_000
"""Milliseconds for which finished work is remembered: whoever looked for its result a moment too early
looks again, instead of making it again."""

_TAKE = Script(r"""
-- KEYS: the lease; its value is who has it, or nothing if the work was done a moment ago.
-- ARGV: who wants it, milliseconds. Gives who has it then.
local holder = redis.call('GET', KEYS[1])
if holder then
  return string.sub(holder, 1, 64)
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ARGV[1]
""")

_REPLACE = Script(r"""
-- KEYS: the lease; ARGV: who has it, the new value, milliseconds for that, or 0 to delete it.
-- Gives 1, or 0 if somebody else has it.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
if ARGV[3] == '0' then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
end
return 1
""")


class RedisLease(Lease):
    """A key that exists while somebody is at work.

    Args:
        link: to the server.
        name: of the key; it must not tell what the work is.
    """

    def __init__(self, link: RedisLink, name: str) -> None:
        self._link = link
        self._name = name
        self.id = secrets.token_hex(8)

    @override
    def __repr__(self) -> str:
        return f"<RedisLease {self._name}>"

    @override
    async def take(self) -> str:
        holder = await self._evaluate(_TAKE, self.id, _milliseconds(LEASE))
        return holder.decode(errors="replace") if isinstance(holder, bytes) else ""

    @override
    async def renew(self) -> bool:
        reply = await self._evaluate(_REPLACE, self.id, self.id, _milliseconds(LEASE))
        is_lost: bool = reply == 0  # not while the server is away: it may be back in time
        return not is_lost

    @override
    async def leave(self, *, is_done: bool) -> None:
        await self._evaluate(_REPLACE, self.id, "", _DONE if is_done else 0)

    async def _evaluate(self, script: Script, *arguments: str | int) -> Any:  # noqa: ANN401 - whatever the script returns
        """The reply of a script, or `None` while the server is away."""
        try:
            return await self._link.run(
                lambda session: session.evaluate(script, [self._name], arguments)
            )
        except StorageError:
            return None


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1_000)
