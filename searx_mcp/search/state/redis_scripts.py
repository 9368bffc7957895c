"""What a Redis server does as one step for a store, in Lua.

Lua computes with the same doubles as Python does. They go in as the shortest text that means them
and come out with 17 digits, so that nothing is lost. `searx_mcp.search.state.charges` says what the
sums mean.
"""

from searx_mcp.storage.redis import Script

RESERVE = Script(r"""
-- KEYS: the charges of accounts: sorted sets of "format:id" by time.
-- ARGV: now, skew, format, id, the accounts as JSON; "sources" are numbers of KEYS.
-- Gives nothing when granted; else when to try again, and the number of the refusing account.
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
-- KEYS: the charges of accounts; ARGV: for each, from when on they are wanted.
-- Gives a line for each charge: the number of its key, its time, "format:id". One text of many
-- lines is read faster than a list of lists.
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
-- KEYS: the hash of records, by URL: when it changed last, a space, the body.
-- ARGV: now, skew, seconds to keep; then for each record its URL, when it changed last, its text.
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
-- Gives 1 if it is free, and is claimed thereby.
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
