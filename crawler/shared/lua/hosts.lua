-- Part 2, hosts: a host is leased, resting, ready or has nothing queued.

local function delay_of(host)
  return math.max(number_in('delay', host), config.delay_s)
end

local function is_promising(tier)
  return config.waits_up_to ~= nil and tonumber(tier) < -config.waits_up_to
end

-- Returns fingerprint, token, order, tier and start of the lease of a host, nil if it has none.
local function lease_of(host)
  local lease = redis_call('HGET', P .. 'leased', host)
  if lease then
    return unpack(unpack_one(lease))
  end
end

-- Returns the place in the queue and the tier of a host's best URL.
local function head_of(host)
  return unpack(redis_call('ZRANGE', P .. 'queue:' .. host, 0, 0, 'WITHSCORES'))
end

-- Offers the best URL of a host for the choice, unless the host is leased or rests. Called after
-- each change of the host or its queue, except where URLs only leave the queue.
local function offer(host)
  if redis_call('HEXISTS', P .. 'leased', host) == 1 then
    return
  end
  local place, tier = head_of(host)
  local ready_at = redis_call('ZSCORE', P .. 'resting', host)
  if not ready_at then
    if place then
      redis_call('ZADD', P .. 'ready', tier, string.sub(place, 1, ORDER_DIGITS) .. host)
    end
  elseif place and is_promising(tier) then
    redis_call('ZADD', P .. 'promising', ready_at, host)
  else
    redis_call('ZREM', P .. 'promising', host)
  end
end

local function is_free(host)
  return redis_call('HEXISTS', P .. 'leased', host) == 0
    and not redis_call('ZSCORE', P .. 'resting', host)
end

-- Returns the best URL that may be leased now: its host, place in the queue, tier, and entry in
-- `ready`; nil if there is none.
local function best()
  while true do
    local entry, tier = unpack(redis_call('ZRANGE', P .. 'ready', 0, 0, 'WITHSCORES'))
    if not entry then
      return
    end
    local order, host = string.sub(entry, 1, ORDER_DIGITS), string.sub(entry, ORDER_DIGITS + 1)
    local place, tier_now = head_of(host)
    if place and tier_now == tier and string.sub(place, 1, ORDER_DIGITS) == order
      and is_free(host) then
      return host, place, tier, entry
    end
    redis_call('ZREM', P .. 'ready', entry)
    offer(host)
  end
end

-- Returns the order of the leased URL of a host, nil if `lease` has another fingerprint or token.
local function order_of_held(lease)
  local leased, token, order = lease_of(lease.host)
  return leased == lease.fingerprint and token == lease.token and order or nil
end

-- Ends the lease of a host, which rests until a time.
local function end_lease(host, ready_at)
  redis_call('HDEL', P .. 'leased', host)
  redis_call('ZREM', P .. 'leases', host)
  redis_call('SREM', P .. 'hopes', host)
  if ready_at > now then
    redis_call('ZADD', P .. 'resting', ready_at, host)
  end
  offer(host)
end

local function take_back_expired()
  local expired = redis_call('ZRANGE', P .. 'leases', '-inf', now, 'BYSCORE', 'LIMIT', 0, BATCH)
  for _, host in ipairs(expired) do
    end_lease(host, now + delay_of(host))
  end
  count('expired', #expired)
  return #expired
end

local function wake_rested()
  local rested = redis_call('ZRANGE', P .. 'resting', '-inf', now, 'BYSCORE', 'LIMIT', 0, BATCH)
  for _, host in ipairs(rested) do
    redis_call('ZREM', P .. 'resting', host)
    redis_call('ZREM', P .. 'promising', host)
    offer(host)
  end
  return #rested
end

local BUDGETS = { 'pages', 'relevant' }

-- Returns a budget, for a shard the shard's part; nil if there is none.
local function budget_of(name)
  local most = config['budget_' .. name]
  if not most or config.shards == 1 then
    return most
  end
  return number_in('quota', name .. ' granted') - number_in('quota', name .. ' returned')
end

local function is_budget_leased()
  local leased = redis_call('ZCARD', P .. 'leases')
  local pages, relevant = budget_of('pages'), budget_of('relevant')
  return pages and number_in('counts', 'pages') + leased >= pages
    or relevant and number_in('counts', 'relevant') + leased >= relevant
end

-- Returns the time until which `config.expected` relevant pages are expected of leased URLs; 0 if
-- fewer are expected, or if the ordering does not learn.
local function expected_until()
  local since, expected = now + config.lease_s - config.patience_s, 0
  local hosts = config.learns and redis_call('ZRANGE', P .. 'leases', '+inf', since, 'BYSCORE', 'REV')
  for _, host in ipairs(hosts or {}) do
    local _, _, _, tier, leased_at = lease_of(host)
    expected = expected + 1 / (1 + math.exp(tonumber(tier)))
    if expected >= config.expected then
      return leased_at + config.patience_s
    end
  end
  return 0
end

-- Returns whether a promising URL may be ready soon.
local function may_wait()
  local soon = now + config.patience_s
  return not config.learns and redis_call('EXISTS', P .. 'hopes') == 1
    or redis_call('ZCOUNT', P .. 'promising', '-inf', soon) > 0
end

-- Patience: a free connection waits a little if the best URL, with this tier, is doubtful.
local function is_waiting(tier)
  if not config.waits_up_to then
    return false
  end
  if is_promising(tier) then
    redis_call('DEL', P .. 'doubt')
    return false
  end
  if now < expected_until() then
    return true
  end
  if arguments.hopes ~= 1 and not may_wait() then
    return false
  end
  redis_call('SET', P .. 'doubt', ARGV[4], 'NX')
  return now - tonumber(redis_call('GET', P .. 'doubt')) < config.patience_s
end

-- Returns the time until which a doubtful URL waits.
local function waits_until()
  local since = redis_call('GET', P .. 'doubt')
  return math.max(expected_until(), since and since + config.patience_s or 0)
end
