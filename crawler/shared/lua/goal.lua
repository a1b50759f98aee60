--@ admit+servers next+servers seed+servers

-- What an ordering that learns seeks, as `crawler/strategies/focus/goal.py` describes it: servers
-- with a relevant page, or a coverage. Relevant pages need none of this.

-- Returns the tier in the queue of a URL; `tier` is minus its log-odds, `place` that of `place_of`.
function goal.tier_of(tier, place)
  if tier < 0 then
    return place.relevant > 0 and tier or tier - config.apart
  end
  return place.relevant > 0 and tier + config.apart or tier
end

--@ admit+coverage drop+coverage next+coverage seed+coverage send+coverage

-- The relevant pages to be expected from the queue, as in `crawler/frontier/remaining.py`: sums of
-- probabilities, and of their variances, in units of 2^-32. Under a host cap each host has its own.

local ONE = 4294967296
local changed_hosts, more = {}, { 0, 0 }

-- Adds the probability of a tier, and its variance, to a pair of sums.
local function add_units(pair, tier, by)
  local doubtful = config.doubts_up_to or 0
  local odds = -tonumber(tier) - doubtful
  if odds <= 0 then
    odds = odds - config.fall * math.floor(odds / config.fall + 0.5)
  else
    while odds < 1 / config.fall do
      odds = math.ldexp(odds, config.shrinking)
    end
  end
  odds = odds + doubtful
  local share = odds >= 0 and 1 / (1 + math.exp(-odds)) or math.exp(odds) / (1 + math.exp(odds))
  pair[1] = pair[1] + by * math.floor(share * ONE + 0.5)
  pair[2] = pair[2] + by * math.floor(share * (1 - share) * ONE + 0.5)
end

local function is_by_host()
  return config.host_cap > 0 and config.host_cap <= config.most_looked_up
end

-- Notes that a queue has another URL: tiers before and after, nil where it is not in the queue.
function goal.note(host, before, after)
  if is_by_host() then
    changed_hosts[host] = true
    return
  end
  if before then
    add_units(more, before, -1)
  end
  if after then
    add_units(more, after, 1)
  end
end

-- Notes that URLs at some places leave a queue.
function goal.note_leaving(host, places)
  if is_by_host() then
    changed_hosts[host] = true
    return
  end
  for _, tier in ipairs(asked('ZMSCORE', P .. 'queue:' .. host, places)) do
    goal.note(host, tier)
  end
end

local function sum_of_host(host)
  local slots = config.host_cap - tonumber(redis_call('HGET', P .. 'settled', host) or 0)
  local now_sum = { 0, 0 }
  if slots > 0 then
    local best = redis_call('ZRANGE', P .. 'queue:' .. host, 0, slots - 1, 'WITHSCORES')
    for i = 2, #best, 2 do
      add_units(now_sum, best[i], 1)
    end
  end
  return now_sum
end

function goal.store()
  for host in pairs(changed_hosts) do
    local now_sum, kept = sum_of_host(host), redis_call('HGET', P .. 'expected', host)
    local before = kept and { unpack_one(kept) } or { 0, 0 }
    more[1], more[2] = more[1] + now_sum[1] - before[1], more[2] + now_sum[2] - before[2]
    if now_sum[1] + now_sum[2] > 0 then
      redis_call('HSET', P .. 'expected', host, pack(unpack(now_sum)))
    elseif kept then
      redis_call('HDEL', P .. 'expected', host)
    end
  end
  if more[1] ~= 0 or more[2] ~= 0 then
    redis_call('HINCRBY', P .. 'remaining', 'sum', more[1])
    redis_call('HINCRBY', P .. 'remaining', 'variance', more[2])
  end
end
