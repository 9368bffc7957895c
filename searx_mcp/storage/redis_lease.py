"""A lease on a Redis or Valkey server: which process works on something."""

import secrets
from typing import Any, Final

from typing_extensions import override

from searx_mcp.errors import StorageError
from searx_mcp.storage.redis import RedisLink, Script
from searx_mcp.tasks import LEASE, Lease

_MILLISECONDS: Final = round(LEASE * 1_000)

_TAKE = Script(r"""
-- KEYS: the lease; its value is its holder. ARGV: the applicant, milliseconds. Returns the holder.
local holder = redis.call('GET', KEYS[1])
if holder then
  return string.sub(holder, 1, 64)
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ARGV[1]
""")

_EXTEND = Script(r"""
-- KEYS: the lease; ARGV: the holder, milliseconds from now, or 0 to end it. Returns 0 for another holder.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
""")


class RedisLease(Lease):
    """A key that exists while a process is working.

    Args:
        link: to the server.
        name: of the key; it must not reveal the work.
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
        holder = await self._evaluate(_TAKE, self.id, _MILLISECONDS)
        return holder.decode(errors="replace") if isinstance(holder, bytes) else ""

    @override
    async def renew(self) -> bool:
        reply = await self._evaluate(_EXTEND, self.id, _MILLISECONDS)
        is_lost: bool = reply == 0  # not while the server is down: it may be up again in time
        return not is_lost

    @override
    async def leave(self) -> None:
        await self._evaluate(_EXTEND, self.id, 0)

    async def _evaluate(self, script: Script, *arguments: str | int) -> Any:  # noqa: ANN401 - whatever the script returns
        """Return the reply of a script, or `None` while the server is down."""
        try:
            return await self._link.run(
                lambda session: session.evaluate(script, [self._name], arguments)
            )
        except StorageError:
            return None
