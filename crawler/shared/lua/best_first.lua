-- Part 2, the choice of the next URL: `ready` has each ready host once, by its best URL; `heads` has
-- that entry.

local selection = {}

-- Takes in the best new URL of each host: an order and a tier, as text.
function selection.improve(hosts, orders, tiers)
  local heads, ready = {}, {}
  for i, before in ipairs(fields_of('heads', hosts)) do
    local host, order, tier = hosts[i], orders[i], tonumber(tiers[i])
    local known_order = before and string.sub(before, 1, 15)
    local known_tier = before and tonumber(string.sub(before, 16))
    if not before or tier < known_tier or (tier == known_tier and order < known_order) then
      if before then
        redis_call('ZREM', P .. 'ready', known_order .. host)
      end
      add(ready, tiers[i], order .. host)
      add(heads, host, order .. tiers[i])
    end
  end
  write('ZADD', P .. 'ready', ready)
  write('HSET', P .. 'heads', heads)
end

function selection.remove(host)
  local before = redis_call('HGET', P .. 'heads', host)
  if before then
    redis_call('ZREM', P .. 'ready', string.sub(before, 1, 15) .. host)
    redis_call('HDEL', P .. 'heads', host)
  end
end

function selection.refresh(hosts)
  local known, orders, tiers = {}, {}, {}
  for _, host in ipairs(hosts) do
    local head = redis_call('ZRANGE', P .. 'queue:' .. host, 0, 0, 'WITHSCORES')
    selection.remove(host)
    if head[1] then
      known[#known + 1] = host
      orders[#known], tiers[#known] = string.sub(head[1], 1, 15), head[2]
    end
  end
  selection.improve(known, orders, tiers)
end

function selection.best()
  return redis_call('ZRANGE', P .. 'ready', 0, 0, 'WITHSCORES')[2]
end

function selection.take()
  local best = redis_call('ZRANGE', P .. 'ready', 0, 0)[1]
  if best then
    local host = string.sub(best, 16)
    local place = redis_call('ZRANGE', P .. 'queue:' .. host, 0, 0)[1] or error('queue:' .. host, 0)
    redis_call('ZREM', P .. 'ready', best)
    redis_call('HDEL', P .. 'heads', host)
    return host, place
  end
end
