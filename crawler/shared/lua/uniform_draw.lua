--@ uniform

-- Part 2, drawn uniformly: in each tier of equal scores a ready host weighs as much as it has URLs.
-- Hosts that weigh from 2^n to below 2^(n+1) are a class, and a draw inside a class rejects at
-- most every second host, so a URL costs O(log hosts) however unequal hosts are. A URL that was
-- drawn and put back goes before the draw of its tier.

local function class_of(weight)
  local _, exponent = math.frexp(weight)
  return exponent - 1
end

-- Servers and clients spell one number in several ways; a key needs one spelling.
local function name_of(tier)
  return string.format('%.17g', tonumber(tier))
end

-- The changes of each tier: weights by class, hosts to remove and to add by class.
local changes = {}

local function into(lists, class, ...)
  local list = lists[class] or {}
  lists[class] = list
  for _, value in ipairs({ ... }) do
    list[#list + 1] = value
  end
end

local function weigh(tier, host, before, after)
  if before == after then
    return
  end
  local change = changes[tier] or { all = 0, weights = {}, gone = {}, put = {} }
  changes[tier] = change
  change.all = change.all + after - before
  if before > 0 then
    local class = class_of(before)
    change.weights[class] = (change.weights[class] or 0) - before
    into(change.gone, class, host)
  end
  if after > 0 then
    local class = class_of(after)
    change.weights[class] = (change.weights[class] or 0) + after
    into(change.put, class, after, host)
  end
end

local function store_weights()
  for tier, change in pairs(changes) do
    local weights, draw = P .. 'weights:' .. tier, P .. 'draw:' .. tier .. ':'
    for class, weight in pairs(change.weights) do
      redis_call('HINCRBY', weights, class, weight)
    end
    for class, hosts in pairs(change.gone) do
      write('ZREM', draw .. class, hosts)
    end
    for class, hosts in pairs(change.put) do
      write('ZADD', draw .. class, hosts)
    end
    if redis_call('HINCRBY', weights, 'all', change.all) == 0 then
      redis_call('DEL', weights)
      redis_call('ZREM', P .. 'tiers', tier)
    else
      redis_call('ZADD', P .. 'tiers', tier, tier)
    end
  end
  changes = {}
end

local function weights_of(host)
  local queue, weights, above = P .. 'queue:' .. host, {}, '-inf'
  while true do
    local first = redis_call('ZRANGE', queue, above, '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
    if not first[1] then
      return weights
    end
    local tier = name_of(first[2])
    weights[tier] = redis_call('ZCOUNT', queue, tier, tier)
    above = '(' .. tier
  end
end

local function reweigh(host, before, after)
  for tier, weight in pairs(before) do
    weigh(tier, host, weight, after[tier] or 0)
  end
  for tier, weight in pairs(after) do
    if not before[tier] then
      weigh(tier, host, 0, weight)
    end
  end
end

-- Gives hosts the weights that `weights_after` returns for their place in the list and their
-- weights before.
local function reweigh_all(hosts, weights_after)
  local heads, gone, new = {}, {}, {}
  for i, packed in ipairs(fields_of('heads', hosts)) do
    local host, before = hosts[i], packed and unpack_one(packed) or {}
    local after = weights_after(i, before)
    reweigh(host, before, after)
    if not next(after) then
      gone[#gone + 1] = host
    else
      add(heads, host, pack(after))
      new[#new + 1] = not packed and host or nil
    end
  end
  store_weights()
  write('HDEL', P .. 'heads', gone)
  write('HSET', P .. 'heads', heads)
  for i, drawn in ipairs(fields_of('drawn', new)) do
    if drawn then
      count_for_all('order', 1)
      redis_call('ZADD', P .. 'drawn:' .. unpack_one(drawn)[2], totals.order, new[i])
    end
  end
end

function selection.refresh(hosts)
  reweigh_all(hosts, function(i)
    return weights_of(hosts[i])
  end)
end

function selection.improve(hosts, _, _, places)
  reweigh_all(hosts, function(i, before)
    local after = {}
    for tier, weight in pairs(before) do
      after[tier] = weight
    end
    for j = 1, #places[i], 2 do
      local tier = name_of(places[i][j])
      after[tier] = (after[tier] or 0) + 1
    end
    return after
  end)
end

local function remove_weights(host)
  reweigh(host, unpack_one(redis_call('HGET', P .. 'heads', host)), {})
  store_weights()
  redis_call('HDEL', P .. 'heads', host)
  local drawn = redis_call('HGET', P .. 'drawn', host)
  if drawn then
    redis_call('ZREM', P .. 'drawn:' .. unpack_one(drawn)[2], host)
    redis_call('HDEL', P .. 'drawn', host)
  end
end

local function draw_class(tier)
  local weights = P .. 'weights:' .. tier
  local position = math.random(tonumber(redis_call('HGET', weights, 'all'))) - 1
  for class = 0, 52 do
    local weight = tonumber(redis_call('HGET', weights, class) or 0)
    if position < weight then
      return class
    end
    position = position - weight
  end
end

local function draw_host(tier)
  local class = draw_class(tier)
  local key = P .. 'draw:' .. tier .. ':' .. class
  local size, bound = redis_call('ZCARD', key), 2 ^ (class + 1)
  while true do
    local place = math.random(size) - 1
    local entry = redis_call('ZRANGE', key, place, place, 'WITHSCORES')
    local offset = math.random(bound) - 1
    if offset < tonumber(entry[2]) then
      return entry[1], offset
    end
  end
end

function selection.best()
  return redis_call('ZRANGE', P .. 'tiers', 0, 0)[1]
end

local is_seeded = false

local function draw()
  local tier = selection.best()
  if not tier then
    return
  end
  local host = redis_call('ZRANGE', P .. 'drawn:' .. tier, 0, 0)[1]
  if host then
    return host, unpack_one(redis_call('HGET', P .. 'drawn', host))[1]
  end
  if not is_seeded then
    math.randomseed(arguments.seed)
    is_seeded = true
  end
  local offset
  host, offset = draw_host(tier)
  local queue = P .. 'queue:' .. host
  local place = redis_call('ZCOUNT', queue, '-inf', '(' .. tier) + offset
  return host, redis_call('ZRANGE', queue, place, place)[1] or error('queue:' .. host, 0)
end

function selection.take()
  local host, place = draw()
  if host then
    remove_weights(host)
  end
  return host, place
end
