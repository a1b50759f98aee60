-- Part 3, hosts: a host is leased, resting, ready or has nothing queued.

local function delay_of(host)
  return math.max(tonumber(redis_call('HGET', P .. 'delay', host) or 0), config.delay_s)
end

local function is_promising(tier)
  return config.waits_up_to ~= nil and tonumber(tier) < -config.waits_up_to
end

local function best_tier_of(host)
  return redis_call('ZRANGE', P .. 'queue:' .. host, 0, 0, 'WITHSCORES')[2]
end

-- A host rests until `ready_at`; `tier` is that of its best URL or of a new one.
local function note_promise(host, ready_at, tier)
  if tier and is_promising(tier) then
    redis_call('ZADD', P .. 'promising', ready_at, host)
  end
end

-- The places in a list of the hosts that are neither leased nor resting; `tiers` are those of new URLs.
local function free_among(hosts, tiers)
  local leased, free = fields_of('leased', hosts), {}
  for i, ready_at in ipairs(asked('ZMSCORE', P .. 'resting', hosts)) do
    if not leased[i] and not ready_at then
      free[#free + 1] = i
    elseif ready_at and config.waits_up_to then
      if not tiers then
        redis_call('ZREM', P .. 'promising', hosts[i])
      end
      note_promise(hosts[i], ready_at, tiers and tiers[i] or best_tier_of(hosts[i]))
    end
  end
  return free
end

-- Takes in new URLs of hosts: the order and tier of the best.
local function improve(hosts, orders, tiers)
  local free_hosts, free_orders, free_tiers = {}, {}, {}
  for j, i in ipairs(free_among(hosts, tiers)) do
    free_hosts[j], free_orders[j], free_tiers[j] = hosts[i], orders[i], tiers[i]
  end
  selection.improve(free_hosts, free_orders, free_tiers)
end

local function refresh(hosts)
  local free_hosts = {}
  for j, i in ipairs(free_among(hosts)) do
    free_hosts[j] = hosts[i]
  end
  selection.refresh(free_hosts)
end

local function rest(host, ready_at)
  if ready_at > now then
    redis_call('ZADD', P .. 'resting', ready_at, host)
    if config.waits_up_to then
      note_promise(host, ready_at, best_tier_of(host))
    end
  else
    selection.refresh({ host })
  end
end

-- Returns the order of a URL that is leased under a token, or nil.
local function order_of_held(host, fp, token)
  local packed = redis_call('HGET', P .. 'leased', host)
  local lease = packed and unpack_one(packed)
  if lease and lease[1] == fp and lease[2] == token then
    return lease[3]
  end
end

local function end_lease(host)
  redis_call('HDEL', P .. 'leased', host)
  redis_call('ZREM', P .. 'leases', host)
  if config.waits_up_to then
    redis_call('SREM', P .. 'hopes', host)
  end
end

local function take_back_expired()
  local expired = redis_call('ZRANGE', P .. 'leases', '-inf', now, 'BYSCORE', 'LIMIT', 0, BATCH)
  for _, host in ipairs(expired) do
    end_lease(host)
    rest(host, now + delay_of(host))
  end
  count('expired', #expired)
  return #expired
end

local function wake_rested()
  local rested = redis_call('ZRANGE', P .. 'resting', '-inf', now, 'BYSCORE', 'LIMIT', 0, BATCH)
  write('ZREM', P .. 'resting', rested)
  if config.waits_up_to then
    redis_call('ZREMRANGEBYSCORE', P .. 'promising', '-inf', now)
  end
  selection.refresh(rested)
  return #rested
end

local function is_budget_leased()
  local leased = redis_call('ZCARD', P .. 'leases')
  return config.budget_pages and totals.pages + leased >= config.budget_pages
    or config.budget_relevant and totals.relevant + leased >= config.budget_relevant
end

-- Patience: a free connection waits a little for something better than a doubtful URL.

local function promises_soon()
  local soon = now + config.patience_s
  return redis_call('ZRANGE', P .. 'promising', '-inf', soon, 'BYSCORE', 'LIMIT', 0, 1)[1] ~= nil
end

local function is_waiting()
  local tier = config.waits_up_to and selection.best()
  if not tier then
    return false
  end
  if is_promising(tier) then
    redis_call('DEL', P .. 'doubt')
    return false
  end
  if redis_call('EXISTS', P .. 'hopes') == 0 and not promises_soon() then
    return false
  end
  local since = redis_call('GET', P .. 'doubt')
  if not since then
    redis_call('SET', P .. 'doubt', ARGV[4])
  end
  return now - tonumber(since or now) < config.patience_s
end
