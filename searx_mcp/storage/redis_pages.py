"""Captured pages on a Redis or Valkey server, so that any process can read on in a page."""

import asyncio
import logging
import math
import struct
from dataclasses import replace
from typing import Final

from typing_extensions import override

from searx_mcp.storage.memory import MOST_KEYS, ROW
from searx_mcp.storage.packing import Item
from searx_mcp.storage.pages import PageKey, is_from_future
from searx_mcp.storage.redis import RedisKeys, RedisLease, RedisLink, Script, Sealing
from searx_mcp.storage.shared_pages import SharedPageStore

MAX_SIZE: Final = 4 << 20
"""Bytes of a page; larger ones stay in the process. One of 50,000 characters has about 22,000."""
_MAX_CAPTURE: Final = 16 << 10
"""Bytes of a capture's fields; an address has 4,096 characters at most, and rarely more than 200."""
BODY: Final = 896
"""Bytes counted for each page in addition to its value, for its index entries; `ROW` for each capture of it.
With these, a page of 40 bytes to 200 KB was measured to take 0.9 to 1.15 times its count."""
_AT_ONCE: Final = 1_000
"""Pages evicted for one new page: the server is blocked meanwhile. The others follow with the next."""
_HEAD: Final = struct.Struct(">ddI")
"""Head of a value: when it was fetched, until when it is fresh, bytes of the capture's fields."""
_NAME: Final = 32

# A body is a page or a robots.txt. A capture says which page was captured under a key. `keys:` holds a
# page's captures by use. For all bodies, `used` orders them by use, with a growing number, `until` by
# expiry in milliseconds, and `size` has their bytes, captures included, and the `total`.
_NAMES: Final = r"""
local root = KEYS[1]
local used, expiring, sizes = root .. 'used', root .. 'until', root .. 'size'

local function body_of(name)
  return root .. 'body:' .. name
end

local function capture_of(name)
  return root .. 'capture:' .. name
end

local function keys_of(name)
  return root .. 'keys:' .. name
end

local function page_under(capture)
  return redis.call('GETRANGE', capture_of(capture), 0, 31)
end

local function next_use()
  local last = redis.call('ZREVRANGE', used, 0, 0, 'WITHSCORES')
  return (tonumber(last[2]) or 0) + 1
end
"""

READ: Final = Script(
    _NAMES
    + r"""
-- KEYS: the root of all names.
-- ARGV: the name of a body, or nothing and that of a capture; maximum bytes of both.
-- Returns the capture and the body, and records the use of the body.
local name, capture = ARGV[1], ''
if name == '' then
  capture = redis.call('GETRANGE', capture_of(ARGV[2]), 0, ARGV[3])
  name = string.sub(capture, 1, 32)
end
local body = redis.call('GETRANGE', body_of(name), 0, ARGV[4])
if body ~= '' and redis.call('ZREVRANGE', used, 0, 0)[1] ~= name then
  redis.pcall('ZADD', used, 'XX', next_use(), name)  -- refused by a full server, which is still read
end
return {capture, body}
"""
)

PUT: Final = Script(
    _NAMES
    + r"""
-- KEYS: the root of all names. Keys to evict are not known in advance, so they cannot be listed.
-- ARGV: the name of a body, its value, milliseconds to keep it; the name of the capture under its
-- key, or nothing, and its value, which begins with the name of the body; maximum bytes of all,
-- overhead bytes of a body, of a capture; maximum captures of a page, maximum evictions;
-- milliseconds now. Without a value, the capture is only deleted. Returns 1 if it was stored.
local name, value, life = ARGV[1], ARGV[2], tonumber(ARGV[3])
local capture, captured = ARGV[4], ARGV[5]
local most, beside_body, beside_capture = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local most_captures, at_once, now = tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])

local function captures_of(of)
  local ours = {}
  for _, each in ipairs(redis.call('ZRANGE', keys_of(of), 0, -1)) do
    if page_under(each) == of then
      ours[#ours + 1] = each
    else  -- it has expired, and may be of another page by now
      redis.call('ZREM', keys_of(of), each)
    end
  end
  return ours
end

local function total()
  return tonumber(redis.call('HGET', sizes, 'total')) or 0
end

local function recount(of)
  local before, size = tonumber(redis.call('HGET', sizes, of)) or 0, 0
  if redis.call('EXISTS', body_of(of)) == 1 then
    size = redis.call('STRLEN', body_of(of)) + beside_body
    for _, each in ipairs(captures_of(of)) do
      size = size + redis.call('STRLEN', capture_of(each)) + beside_capture
    end
    redis.call('HSET', sizes, of, size)
  else
    redis.call('HDEL', sizes, of)
  end
  redis.call('HINCRBY', sizes, 'total', size - before)
end

local function drop(of, each)
  redis.call('ZREM', keys_of(of), each)
  if page_under(each) == of then
    redis.call('UNLINK', capture_of(each))
  end
  recount(of)
end

local function drop_first(of)
  drop(of, redis.call('ZRANGE', keys_of(of), 0, 0)[1])
end

local function forget(each)
  local of = page_under(each)
  if of ~= '' then
    drop(of, each)
  end
end

local function remove(of)
  for _, each in ipairs(captures_of(of)) do
    redis.call('UNLINK', capture_of(each))
  end
  redis.call('UNLINK', body_of(of), keys_of(of))
  redis.call('ZREM', used, of)
  redis.call('ZREM', expiring, of)
  recount(of)
end

local function make_room(bytes)
  for _ = 1, at_once do
    local first = redis.call('ZRANGE', used, 0, 0)[1]
    if total() <= bytes or not first then
      return
    elseif first ~= name then
      remove(first)
    elseif redis.call('ZCARD', keys_of(name)) > 1 then
      drop_first(name)
    else
      return
    end
  end
end

if value == '' then
  forget(capture)
  return 0
end

-- A full server refuses the first write only; later ones in the script succeed.
local done = redis.pcall('SET', body_of(name), value, 'PX', life)
if done.err then
  if not string.find(done.err, 'OOM', 1, true) then
    return done
  end
  make_room(total() * 3 / 4)  -- state is worth more than pages
  return 0
end

local use = next_use()
redis.call('ZADD', used, use, name)
redis.call('ZADD', expiring, now + life, name)
if capture ~= '' then
  forget(capture)
  redis.call('SET', capture_of(capture), captured, 'PX', life)
  redis.call('ZADD', keys_of(name), use, capture)
  redis.call('PEXPIRE', keys_of(name), life)
  while redis.call('ZCARD', keys_of(name)) > most_captures do
    drop_first(name)
  end
end
recount(name)
for _, of in ipairs(redis.call('ZRANGEBYSCORE', expiring, '-inf', now, 'LIMIT', 0, at_once)) do
  local left = redis.call('PTTL', body_of(of))
  if left > 0 then  -- by another clock than that of who kept it
    redis.call('ZADD', expiring, now + left, of)
  else
    remove(of)
  end
end
make_room(most)
for _, index in ipairs({used, expiring, sizes}) do
  if redis.call('PTTL', index) < life then
    redis.call('PEXPIRE', index, life)
  end
end
return 1
"""
)


class RedisPageStore(SharedPageStore):
    """Captures under keyed hashes of their addresses, sealed and compressed.

    Without the secret it is impossible to find out which addresses were read, even by trying some, or to
    replace our pages. Anyone with access to the server can read the pages themselves.

    A server that is down costs `patience` from time to time; meanwhile, captures are kept in memory and no
    other process finds them.

    Args:
        url: `redis://`, `rediss://` or `unix://`.
        prefix: of the names of all keys.
        secret: the same for all processes that share pages; it is never sent to the server.
        scope: what else must be equal for sharing: what a process may read, and with which login.
        max_bytes: maximum compressed bytes of all processes, with overhead for each value. The limit of the
            process that stores a page applies.
        max_age: seconds after which a capture is deleted.
        patience: seconds a call waits before it asks the site, or reports a cursor as unknown.

    Raises:
        ValueError: the address is invalid; the message may show parts of it.
    """

    def __init__(
        self,
        url: str,
        *,
        prefix: str,
        secret: bytes,
        max_bytes: int,
        max_age: float,
        patience: float,
        scope: str = "",
    ) -> None:
        super().__init__(max_bytes=max_bytes, max_age=max_age)
        # The state store on the same server warns if it is down; once is enough.
        self._link = RedisLink(url, patience=patience, level=logging.DEBUG)
        self._keys = RedisKeys(prefix)
        self._root = self._keys.pages
        self._sealing = Sealing(secret)
        self._scope = scope

    @override
    def __repr__(self) -> str:
        return f"<RedisPageStore {self._link.place}>"

    @override
    def lease(self, key: PageKey, *more: object) -> RedisLease:
        name = self._name("lease", key.namespace, key.url, key.variant, *more)
        return RedisLease(self._link, self._keys.lease(name))

    @override
    async def purge(self) -> None:
        await self._memory.purge()
        await self._link.unlink_all(self._root)

    @override
    async def aclose(self) -> None:
        await self._link.aclose()

    @override
    async def _item_under(self, key: PageKey, now: float) -> Item | None:
        name = self._capture_name(key)
        captured, body = await self._ask("", name)
        capture = self._opened(f"capture:{name}", captured[_NAME:])
        if capture is None:
            return None
        cursor = capture.body.decode()
        page = await self._body(self._name("page", key.namespace, cursor), body)
        if page is None:
            return None
        item = replace(capture, name=cursor, body=page.body)
        return await self._settled(key.namespace, item, now, name)

    @override
    async def _item_named(self, namespace: str, cursor: str, now: float) -> Item | None:
        name = self._name("page", namespace, cursor)
        _, body = await self._ask(name, "")
        page = await self._body(name, body)
        if page is None:
            return None
        return await self._settled(namespace, replace(page, name=cursor), now, "")

    @override
    async def _item_of(self, origin: str) -> Item | None:
        name = self._name("robots", origin)
        _, body = await self._ask(name, "")
        return await self._body(name, body)

    @override
    async def _put(self, key: PageKey, item: Item, now: float) -> bool:
        name = self._name("page", key.namespace, item.name)
        return await self._write(name, item, now, self._capture_name(key))

    @override
    async def _put_robots(self, origin: str, item: Item, now: float) -> bool:
        return await self._write(self._name("robots", origin), item, now, "")

    def _name(self, kind: str, *parts: object) -> str:
        return self._sealing.name(self._scope, kind, *parts)

    def _capture_name(self, key: PageKey) -> str:
        return self._name("capture", key.namespace, key.url, key.variant)

    async def _ask(self, name: str, capture: str) -> tuple[bytes, bytes]:
        """Return the values of a capture and a body; empty if there are none."""
        # One byte more than we ever write: values of others may be huge.
        arguments = (name, capture, _MAX_CAPTURE, MAX_SIZE)
        reply = await self._link.run(
            lambda session: session.evaluate(READ, [self._root], arguments)
        )
        match reply:
            case [bytes() as captured, bytes() as body]:
                return captured, body
            case _:
                return b"", b""

    async def _body(self, name: str, value: bytes) -> Item | None:
        """Return the page or robots.txt in the value of a body, without its name."""
        return await asyncio.to_thread(self._opened, f"body:{name}", value)

    async def _settled(self, namespace: str, item: Item, now: float, capture: str) -> Item:
        """Return a page; one from the future counts as fetched now, from now on."""
        if not is_from_future(item.fetched_at, now):
            return item
        settled = replace(item, fetched_at=now, fresh_until=now)
        await self._write(self._name("page", namespace, item.name), settled, now, capture)
        return settled

    async def _write(self, name: str, item: Item, now: float, capture: str) -> bool:
        """Store an item, and that it was captured under a key; return whether it was stored."""
        body = await asyncio.to_thread(self._closed, f"body:{name}", item)
        captured = b""
        if capture:
            cursor = replace(item, body=item.name.encode())
            captured = name.encode() + self._closed(f"capture:{capture}", cursor)
        size = len(body) + BODY + (len(captured) + ROW if capture else 0)
        life = math.ceil((min(item.fetched_at, now) + self._max_age - now) * 1_000)
        if (
            len(body) > MAX_SIZE
            or len(captured) > _MAX_CAPTURE
            or size > self._max_bytes
            or life <= 0
        ):
            body = b""
        arguments = (
            *(name, body, life, capture, captured),
            *(self._max_bytes, BODY, ROW, MOST_KEYS, _AT_ONCE, int(now * 1_000)),
        )
        kept = await self._link.run(lambda session: session.evaluate(PUT, [self._root], arguments))
        return bool(kept == 1)

    def _closed(self, place: str, item: Item) -> bytes:
        """Return the value to store at a place."""
        head = _HEAD.pack(item.fetched_at, item.fresh_until, len(item.about))
        return self._sealing.seal(self._root + place, head + item.about + item.body)

    def _opened(self, place: str, value: bytes) -> Item | None:
        """Return the item in a value found at a place, without its name; `None` if it is not one of ours."""
        text = self._sealing.open(self._root + place, value)
        if text is None:
            return None
        fetched_at, fresh_until, length = _HEAD.unpack_from(text)
        end = _HEAD.size + length
        return Item("", fetched_at, fresh_until, text[_HEAD.size : end], text[end:])
