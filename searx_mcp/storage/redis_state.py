"""A state store on a Redis or Valkey server, shared by all processes that use it."""

import json
import math
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import chain
from typing import TypeVar

from typing_extensions import override

from searx_mcp.errors import StorageError
from searx_mcp.models.attempt import Format
from searx_mcp.models.instance import InstanceChoice
from searx_mcp.pool.record import LONGEST, SKEW, InstanceRecord
from searx_mcp.storage.memory import MemoryStore
from searx_mcp.storage.redis import Command, RedisKeys, RedisLink, RedisSession, Script
from searx_mcp.storage.state import (
    Account,
    Budget,
    Charge,
    QuotaMirror,
    Reservation,
    SlidingWindow,
    StateStore,
    kept_for,
    lookback,
    read_record,
    wanted_since,
    written_record,
)

T = TypeVar("T")

RESERVE = Script(r"""
-- KEYS: the charges of accounts: sorted sets of "format:id" by time.
-- ARGV: now, skew, format, id, the accounts as JSON; "sources" are numbers of KEYS.
-- Returns nothing if granted; else when to try again, and the number of the refusing account.
local now, skew, format = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local member = format .. ':' .. ARGV[4]
local accounts = cjson.decode(ARGV[5])

local function text(number)
  return string.format('%.17g', number)
end

local charged = {}
for _, account in ipairs(accounts) do
  if not account.shared then
    charged[#charged + 1] = {key = KEYS[account.sources[1]], kept_for = account.kept_for}
  end
end

for _, entry in ipairs(charged) do
  if redis.call('ZSCORE', entry.key, member) then
    return {}  -- asked a second time because the first answer was lost
  end
  redis.call('ZREMRANGEBYSCORE', entry.key, '-inf', text(now - entry.kept_for))
  for _, ahead in ipairs(redis.call('ZRANGEBYSCORE', entry.key, '(' .. text(now + skew), '+inf')) do
    redis.call('ZADD', entry.key, ARGV[1], ahead)
  end
end

local function times_of(account)
  local times = {[''] = {}}
  local earliest = '(' .. text(now - account.lookback - 1)
  for _, source in ipairs(account.sources) do
    local found = redis.call('ZRANGEBYSCORE', KEYS[source], earliest, '+inf', 'WITHSCORES')
    for i = 1, #found, 2 do
      local at, of = tonumber(found[i + 1]), string.match(found[i], '^[^:]*')
      if at > now + skew then
        at = now
      end
      times[of] = times[of] or {}
      table.insert(times[''], at)
      table.insert(times[of], at)
    end
  end
  for _, list in pairs(times) do
    table.sort(list)
  end
  return times
end

local retry_at, refused_by = now, nil
for number, account in ipairs(accounts) do
  local times = times_of(account)
  for _, window in ipairs(account.windows) do
    local limit, seconds, of = window[1], window[2], window[3]
    local list = times[of] or {}
    if (of == '' or of == format) and #list >= limit then
      local free_at = list[#list - limit + 1] + seconds
      if free_at > retry_at then
        retry_at, refused_by = free_at, number
      end
    end
  end
end

if refused_by then
  return {text(retry_at), refused_by}
end
for _, entry in ipairs(charged) do
  redis.call('ZADD', entry.key, ARGV[1], member)
  redis.call('EXPIRE', entry.key, math.ceil(entry.kept_for))
end
return {}
""")

CHARGES = Script(r"""
-- KEYS: the charges of accounts; ARGV: for each, the earliest time of interest.
-- Returns a line for each charge: the number of its key, its time, "format:id". One text of many
-- lines is parsed faster than a list of lists.
local lines = {}
for number, key in ipairs(KEYS) do
  local found = redis.call('ZRANGEBYSCORE', key, '(' .. ARGV[number], '+inf', 'WITHSCORES')
  for i = 1, #found, 2 do
    lines[#lines + 1] = number .. ' ' .. found[i + 1] .. ' ' .. found[i]
  end
end
return table.concat(lines, '\n')
""")

SAVE = Script(r"""
-- KEYS: the hash of records, by URL: time of the last change, a space, the body.
-- ARGV: now, skew, seconds to keep; then for each record its URL, time of the last change, its text.
local now, skew = tonumber(ARGV[1]), tonumber(ARGV[2])
for i = 4, #ARGV, 3 do
  local kept = redis.call('HGET', KEYS[1], ARGV[i])
  local kept_at = kept and tonumber(string.match(kept, '^%S+'))
  if not kept_at or tonumber(ARGV[i + 1]) >= kept_at or kept_at > now + skew then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 2])
  end
end
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
""")

CLAIM = Script(r"""
-- KEYS: when the job was claimed; ARGV: now, skew, seconds of its period, seconds to keep.
-- Returns 1 if it was free, and claims it.
local now = tonumber(ARGV[1])
local kept = redis.call('GET', KEYS[1])
local claimed_at = kept and tonumber(kept)
if claimed_at and claimed_at > now + tonumber(ARGV[2]) then
  claimed_at = now
end
local is_free = not claimed_at or claimed_at + tonumber(ARGV[3]) <= now
local at = is_free and ARGV[1] or string.format('%.17g', claimed_at)
redis.call('SET', KEYS[1], at, 'EX', ARGV[4])
return is_free and 1 or 0
""")


class RedisStore(StateStore):
    """Charges, records, claims, choices and a seed on a server; never queries.

    A failure to store does not stop a search. While the server is down, which a call detects within
    `patience`, the store continues with what this process knows: the charges it has seen, its records,
    choices and seed. `problem` reports it until the server is up again, and there is one warning. Then it
    sends what the server lacks. Meanwhile, choices are refused.

    A server that lost its data gets what the processes know.

    Args:
        url: `redis://`, `rediss://` or `unix://`.
        prefix: of the names of all keys.
        patience: seconds one call may wait.

    Raises:
        ValueError: the address is invalid; the message may show parts of it.
    """

    def __init__(self, url: str, *, prefix: str, patience: float) -> None:
        self._keys = RedisKeys(prefix)
        self._link = RedisLink(url, patience=patience, greet=self._bring_along)
        # Records, claims, choices and the seed as this process knows them.
        self._memory = MemoryStore()
        self._charges = QuotaMirror()
        self._now: float | None = None

    @override
    def __repr__(self) -> str:
        state = "in memory" if self._link.error else "on its server"
        return f"<RedisStore {self._link.place} [{state}]>"

    @property
    @override
    def problem(self) -> str:
        error = self._link.error
        if error is None:
            return ""
        return (
            f"{error.message}, so this process carries on alone: budgets and instance states are "
            f"not shared, and end with it. {error.advice} It retries every few seconds."
        )

    @override
    async def reserve(self, accounts: Sequence[Account], format: Format, now: float) -> Reservation:
        limited = [account for account in accounts if account.windows]
        if not limited:
            return Reservation(granted=True)
        id_ = secrets.token_hex(8)
        names = list(dict.fromkeys(chain.from_iterable(account.sources for account in limited)))
        places = {name: place for place, name in enumerate(names, start=1)}
        keys = [self._keys.charges(name) for name in names]
        shapes = json.dumps([_shape(account, places) for account in limited])

        async def on_server(session: RedisSession) -> Reservation:
            refusal = await session.evaluate(
                RESERVE, keys, (repr(now), repr(SKEW), format, id_, shapes)
            )
            if refusal:
                retry_at, place = refusal
                refused_by = limited[place - 1].name
                return Reservation(granted=False, retry_at=float(retry_at), refused_by=refused_by)
            self._charges.charge(limited, id_, format, now)
            return Reservation(granted=True)

        async def in_memory() -> Reservation:
            return self._charges.reserve(limited, id_, format, now)

        return await self._try(on_server, in_memory)

    @override
    async def budgets(self, accounts: Sequence[Account], now: float) -> tuple[Budget, ...]:
        limited = [account for account in accounts if account.windows]
        oldest = wanted_since(limited, now)
        if not oldest:
            return (Budget(left=None, free_at=now),) * len(accounts)
        keys = [self._keys.charges(name) for name in oldest]
        earliest = [repr(at) for at in oldest.values()]

        async def on_server(session: RedisSession) -> tuple[Budget, ...]:
            found = _read(await session.evaluate(CHARGES, keys, earliest), [*oldest])
            for name, theirs in found.items():
                self._charges.learn(name, theirs, min(oldest[name], now - LONGEST))
            charges = {
                account.name: SlidingWindow(
                    chain.from_iterable(found[name].values() for name in account.sources), now
                )
                for account in {account.name: account for account in limited}.values()
            }
            nothing = SlidingWindow((), now)
            return tuple(
                charges.get(account.name, nothing).budget(account.windows) for account in accounts
            )

        async def in_memory() -> tuple[Budget, ...]:
            return self._charges.budgets(accounts, now)

        return await self._try(on_server, in_memory)

    @override
    async def load(self, now: float) -> Mapping[str, InstanceRecord]:
        self._now = now

        async def on_server(session: RedisSession) -> Mapping[str, InstanceRecord]:
            (fields,) = await session.ask(("HGETALL", self._keys.records))
            texts = zip(map(_text, fields[::2]), map(_body, fields[1::2]), strict=True)
            kept = {url: known for url, text in texts if (known := read_record(url, text))}
            records = {url: record.settled(now) for url, record in kept.items()}
            settled = {
                url: record
                for url, record in records.items()
                if record.last_at != kept[url].last_at
            }
            await self._save(session, settled, now)
            await self._memory.save(records, now)
            return records

        return await self._try(on_server, lambda: self._memory.load(now))

    @override
    async def save(self, records: Mapping[str, InstanceRecord], now: float) -> None:
        if records:
            self._now = now
            await self._memory.save(records, now)
            await self._try(lambda session: self._save(session, records, now), _nothing)

    @override
    async def claim(self, job: str, *, seconds: float, now: float) -> bool:
        keep = math.ceil(max(seconds, LONGEST))
        arguments = (repr(now), repr(SKEW), repr(seconds), keep)

        async def on_server(session: RedisSession) -> bool:
            if not await session.evaluate(CLAIM, [self._keys.claim(job)], arguments):
                return False
            _ = await self._memory.claim(job, seconds=0, now=now)
            return True

        return await self._try(on_server, lambda: self._memory.claim(job, seconds=seconds, now=now))

    @override
    async def installation_seed(self) -> int:
        ours = await self._memory.installation_seed()

        async def on_server(session: RedisSession) -> int:
            key = self._keys.seed
            _, seed = await session.ask(("SETNX", key, ours), ("GET", key))
            self._memory.keep_seed(int(seed))
            return int(seed)

        return await self._try(on_server, self._memory.installation_seed)

    @override
    async def choose(self, kind: InstanceChoice, value: str, *, chosen: bool) -> bool:
        command = ("SADD" if chosen else "SREM", self._keys.chosen(kind), value)
        (changed,) = await self._link.run(lambda session: session.ask(command))
        _ = await self._memory.choose(kind, value, chosen=chosen)
        return bool(changed)

    @override
    async def choices(self) -> Mapping[InstanceChoice, tuple[str, ...]]:
        commands = [("SMEMBERS", self._keys.chosen(kind)) for kind in InstanceChoice]

        async def on_server(session: RedisSession) -> Mapping[InstanceChoice, tuple[str, ...]]:
            replies = await session.ask(*commands)
            self._memory.keep_choices(
                {
                    kind: map(_text, reply)
                    for kind, reply in zip(InstanceChoice, replies, strict=True)
                }
            )
            return await self._memory.choices()

        return await self._try(on_server, self._memory.choices)

    @override
    async def purge(self) -> None:
        """Delete everything under the prefix, shared answers and pages included.

        Raises:
            StorageError: the server is down.
        """
        await self._memory.purge()
        self._charges.clear()
        await self._link.unlink_all(self._keys.root)

    @override
    async def aclose(self) -> None:
        await self._link.aclose()

    async def _try(
        self,
        on_server: Callable[[RedisSession], Awaitable[T]],
        in_memory: Callable[[], Awaitable[T]],
    ) -> T:
        try:
            return await self._link.run(on_server)
        except StorageError:
            return await in_memory()

    async def _bring_along(self, session: RedisSession) -> None:
        """Send a newly connected server what it may lack.

        It may have been down, or restarted without its data. Ids keep charges from counting twice, and newer
        records of others stay.
        """
        commands: list[Command] = []
        for name, charges in self._charges.items():
            key = self._keys.charges(name)
            pairs = ((repr(at), f"{format_}:{id_}") for id_, (at, format_) in charges.items())
            commands += [
                ("ZADD", key, "NX", *chain.from_iterable(pairs)),
                ("EXPIRE", key, math.ceil(LONGEST)),
            ]
        seed = await self._memory.installation_seed()
        has_lost_all, *_ = await session.ask(("SETNX", self._keys.seed, seed), *commands)
        chosen = await self._memory.choices()
        adding = [
            ("SADD", self._keys.chosen(kind), *chosen[kind])
            for kind in InstanceChoice
            if chosen[kind]
        ]
        if has_lost_all and adding:
            await session.ask(*adding)
        if self._now is not None:
            records = await self._memory.load(self._now)
            await self._save(session, records, self._now)

    async def _save(
        self, session: RedisSession, records: Mapping[str, InstanceRecord], now: float
    ) -> None:
        if not records:
            return
        key = self._keys.records
        (kept,) = await session.ask(("HMGET", key, *records))
        arguments: list[str | int] = [repr(now), repr(SKEW), math.ceil(LONGEST)]
        for (url, record), old in zip(records.items(), kept, strict=True):
            settled = record.settled(now)
            body = written_record(settled, over=_body(old or b""))
            arguments += [url, repr(record.last_at), f"{settled.last_at!r} {body}"]
        await session.evaluate(SAVE, [key], arguments)


def _shape(account: Account, places: Mapping[str, int]) -> dict[str, object]:
    """Return an account in the form that the script expects."""
    return {
        "shared": bool(account.members),
        "sources": [places[name] for name in account.sources],
        "kept_for": kept_for(account),
        "lookback": lookback(account),
        "windows": [[each.limit, each.seconds, each.format or ""] for each in account.windows],
    }


def _read(reply: bytes, names: Sequence[str]) -> dict[str, dict[str, Charge]]:
    """Parse charges by account and id, from lines such as `1 1700000000.5 html:0123456789abcdef`."""
    charges: dict[str, dict[str, Charge]] = {name: {} for name in names}
    for line in _text(reply).splitlines():
        place, at, member = line.split(" ")
        format_, _, id_ = member.partition(":")
        charges[names[int(place) - 1]][id_] = (float(at), format_)
    return charges


def _body(kept: bytes) -> bytes:
    """Return the text of a record, which follows the time of its last change."""
    return kept.partition(b" ")[2]


def _text(reply: bytes) -> str:
    return reply.decode("utf-8", "replace")


async def _nothing() -> None:
    return
