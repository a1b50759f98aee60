#!lua
-- The frontier that many workers share: one call is one script, so nothing comes between.
--
-- A line `--@ NAMES` begins a part that stands only in the scripts of these commands or draws, a part
-- of `all` in every script: to make a closure takes time at every call.
--
-- KEYS[1] is the prefix of all keys of a crawl, "{name}:", and their one hash tag. ARGV: the
-- command, the client, the number of its call, the time (unix seconds), the client's worker, the
-- command's arguments as JSON, and links as `admit_links` takes them. An order of discovery is
-- written with 15 digits; a tier is minus a score. Keys, after the prefix:
--
--   rules, config          what all workers agree on; what the last to open asked for: JSON
--   seen:NNNNN             set of the fingerprints of some hosts, or of those that end in these
--                          digits: small sets of integers take the least memory
--   urls                   hash: fingerprint -> a URL that is queued or leased: its row, the
--                          languages of pages that link to it and their number, packed
--   orders                 hash: fingerprint of these -> order of discovery, where scores are lifted
--   queue:HOST             sorted set of a host's: (tier, order of discovery + fingerprint)
--   admitted               hash: HOST or DIRECTORY -> slots of its cap taken; these have a "/", no
--                          host has
--   delay, pages           hashes: HOST -> own delay, pages it gave
--   downloaded, relevant   hashes: UNIT -> N_a, N_r
--   ready                  sorted set of hosts by their best URL (order of discovery + HOST)
--   heads                  hash: HOST that is ready -> how it stands in `ready` (order of discovery
--                          + tier) or `draw:`
--   resting                sorted set: HOST by the time it may be contacted again
--   promising, hopes       those of `resting` and of `leases` whose best URL is not doubted
--   doubt                  since when nothing better was ready, unix seconds
--   leased, leases         hash: HOST -> {fingerprint, token, order}; sorted set of these hosts by the
--                          end of their lease
--   counts                 hash of what stands for the whole crawl: see TOTALS
--   counts:WORKER          hash of what else a worker counted
--   tiers, weights:TIER, draw:TIER:CLASS, drawn, drawn:TIER    see "Drawn uniformly"
--   records:WORKER, robots:ORIGIN, reply:CLIENT

local P = KEYS[1]
local command, client, call, now = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local worker, arguments = ARGV[5], cjson.decode(ARGV[6])
local redis_call = redis.call
local pack, unpack_one = cmsgpack.pack, cmsgpack.unpack

-- At one call no more hosts wake than this, so that no call holds up the others for long.
local BATCH = 500
local REPLY_KEPT_S = 86400

-- Fields of a URL's row.
local URL, DIRECTORY, PARENT, DEPTH, REDIRECTS, RETRIES, TIER = 1, 2, 3, 4, 5, 6, 7

local config

local function read_config()
  local text = redis_call('GET', P .. 'config')
  config = text and cjson.decode(text)
  return config
end

-- Many at once: a call costs more than what it does. Lua's stack holds some thousand arguments.

local ARGUMENTS = 2000

local function in_parts(redis_command, key, values, do_with)
  for first = 1, #values, ARGUMENTS do
    local last = math.min(first + ARGUMENTS - 1, #values)
    do_with(redis_call(redis_command, key, unpack(values, first, last)), first)
  end
end

local function asked(redis_command, key, names)
  if #names <= ARGUMENTS then
    return #names == 0 and {} or redis_call(redis_command, key, unpack(names))
  end
  local answers = {}
  in_parts(redis_command, key, names, function(part, first)
    for i, value in ipairs(part) do
      answers[first + i - 1] = value
    end
  end)
  return answers
end

local function fields_of(hash, names)
  return asked('HMGET', P .. hash, names)
end

local function write(redis_command, key, values)
  in_parts(redis_command, key, values, function() end)
end

local function add(pairs_of, first, second)
  pairs_of[#pairs_of + 1] = first
  pairs_of[#pairs_of + 1] = second
end

-- Counters are read once and written once in a call, all together.

local TOTALS = { 'queued', 'pages', 'labelled', 'relevant', 'hosts', 'settled', 'order' }
local are_totals_changed = false
local counted, counted_names = {}, {}

-- Read when the first of them is asked for, which is not in every call.
local totals = setmetatable({}, { __index = function(read, name)
  for i, value in ipairs(redis_call('HMGET', P .. 'counts', unpack(TOTALS))) do
    rawset(read, TOTALS[i], tonumber(value or 0))
  end
  return rawget(read, name)
end })

local function count_for_all(name, number)
  if number ~= 0 then
    totals[name] = totals[name] + number
    are_totals_changed = true
  end
end

local function count(name, number)
  if number ~= 0 then
    if not counted[name] then
      counted_names[#counted_names + 1] = name
    end
    counted[name] = (counted[name] or 0) + number
  end
end

local function store_counts()
  if are_totals_changed then
    local fields = {}
    for _, name in ipairs(TOTALS) do
      add(fields, name, totals[name])
    end
    redis_call('HSET', P .. 'counts', unpack(fields))
  end
  if #counted_names > 0 then
    local fields = {}
    for i, before in ipairs(fields_of('counts:' .. worker, counted_names)) do
      add(fields, counted_names[i], tonumber(before or 0) + counted[counted_names[i]])
    end
    redis_call('HSET', P .. 'counts:' .. worker, unpack(fields))
  end
end

-- How the next URL is chosen: a table of functions, as URLs are drawn.
local selection = {}

--@ admit next retry seed

-- Returns row and languages of a URL as it is kept.
local function unpacked(kept)
  local values = { unpack_one(kept) }
  values[#values] = nil
  return table.remove(values, 1), values
end

--@ admit retry seed

local function packed(row, languages)
  return pack(row, unpack(languages)) .. string.char(#languages)
end

--@ admit seed

local function order_after(number)
  return string.format('%015d', totals.order + number)
end

local function seen_key(fp)
  return P .. 'seen:' .. string.sub(fp, -5)
end

--@ first

-- Best first: `ready` holds each host once, by its best URL. `heads` remembers as what.

-- Note the best new URL of each host: an order and a tier, as text.
function selection.improve(hosts, orders, tiers)
  local heads, ready = {}, {}
  for i, before in ipairs(fields_of('heads', hosts)) do
    local host = hosts[i]
    if not before or tonumber(tiers[i]) < tonumber(string.sub(before, 16)) then
      if before then
        redis_call('ZREM', P .. 'ready', string.sub(before, 1, 15) .. host)
      end
      add(ready, tiers[i], orders[i] .. host)
      add(heads, host, orders[i] .. tiers[i])
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
    redis_call('ZREM', P .. 'ready', best)
    redis_call('HDEL', P .. 'heads', host)
    return host, redis_call('ZRANGE', P .. 'queue:' .. host, 0, 0)[1]
  end
end

--@ uniform

-- Drawn uniformly: in each tier of equal scores a ready host weighs as much as it has URLs.
-- Hosts that weigh from 2^n to below 2^(n+1) are a class, and a draw inside a class rejects at
-- most every second host, so a URL costs O(log hosts) however unequal hosts are. A URL that was
-- drawn and put back goes before the draw of its tier.

local function class_of(weight)
  local _, exponent = math.frexp(weight)
  return exponent - 1
end

-- Servers and clients write one number in several ways; a key needs one.
local function name_of(tier)
  return string.format('%.17g', tonumber(tier))
end

-- What changes in each tier: weights by class, hosts to go and to put by class.
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

-- Let hosts weigh what `weights_after` says, by their place in the list and what they weighed.
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

local function draw()
  local tier = selection.best()
  if not tier then
    return
  end
  local host = redis_call('ZRANGE', P .. 'drawn:' .. tier, 0, 0)[1]
  if host then
    return host, unpack_one(redis_call('HGET', P .. 'drawn', host))[1]
  end
  math.randomseed(arguments.seed)
  local offset
  host, offset = draw_host(tier)
  local queue = P .. 'queue:' .. host
  local place = redis_call('ZCOUNT', queue, '-inf', '(' .. tier) + offset
  return host, redis_call('ZRANGE', queue, place, place)[1]
end

function selection.take()
  local host, place = draw()
  if host then
    remove_weights(host)
  end
  return host, place
end

--@ all

-- A host is leased, resting, ready or has nothing queued.

local function delay_of(host)
  return math.max(tonumber(redis_call('HGET', P .. 'delay', host) or 0), config.delay_s)
end

local function is_promising(tier)
  return config.doubts_up_to ~= nil and tonumber(tier) < -config.doubts_up_to
end

local function best_tier_of(host)
  return redis_call('ZRANGE', P .. 'queue:' .. host, 0, 0, 'WITHSCORES')[2]
end

-- A host rests until then; `tier` is that of its best URL or of one that is new.
local function note_promise(host, ready_at, tier)
  if tier and is_promising(tier) then
    redis_call('ZADD', P .. 'promising', ready_at, host)
  end
end

--@ admit seed

-- The places in a list of the hosts that are neither leased nor resting.
local function free_among(hosts, tiers)
  local leased, free = fields_of('leased', hosts), {}
  for i, ready_at in ipairs(asked('ZMSCORE', P .. 'resting', hosts)) do
    if not leased[i] and not ready_at then
      free[#free + 1] = i
    elseif ready_at and config.doubts_up_to then
      note_promise(hosts[i], ready_at, tiers and tiers[i] or best_tier_of(hosts[i]))
    end
  end
  return free
end

-- Note new URLs of hosts: the order and tier of the best, the places of all.
local function improve(hosts, orders, tiers, places)
  local free_hosts, free_orders, free_tiers, free_places = {}, {}, {}, {}
  for j, i in ipairs(free_among(hosts, tiers)) do
    free_hosts[j], free_orders[j], free_tiers[j] = hosts[i], orders[i], tiers[i]
    free_places[j] = places[i]
  end
  selection.improve(free_hosts, free_orders, free_tiers, free_places)
end

local function refresh(hosts)
  local free_hosts = {}
  for j, i in ipairs(free_among(hosts)) do
    free_hosts[j] = hosts[i]
  end
  selection.refresh(free_hosts)
end

--@ admit next open release retry

local function rest(host, ready_at)
  if ready_at > now then
    redis_call('ZADD', P .. 'resting', ready_at, host)
    if config.doubts_up_to then
      note_promise(host, ready_at, best_tier_of(host))
    end
  else
    selection.refresh({ host })
  end
end

--@ admit release renew retry

-- Returns the order of a URL that is leased under a token, or nil.
local function order_of_held(host, fp, token)
  local packed = redis_call('HGET', P .. 'leased', host)
  local lease = packed and unpack_one(packed)
  if lease and lease[1] == fp and lease[2] == token then
    return lease[3]
  end
end

--@ admit next open release retry

local function end_lease(host)
  redis_call('HDEL', P .. 'leased', host)
  redis_call('ZREM', P .. 'leases', host)
  if config.doubts_up_to then
    redis_call('SREM', P .. 'hopes', host)
  end
end

--@ next open

local function take_back_expired()
  local expired = redis_call('ZRANGE', P .. 'leases', '-inf', now, 'BYSCORE', 'LIMIT', 0, BATCH)
  for _, host in ipairs(expired) do
    end_lease(host)
    rest(host, now + delay_of(host))
  end
  count('expired', #expired)
  return #expired
end

--@ next

local function wake_rested()
  local rested = redis_call('ZRANGE', P .. 'resting', '-inf', now, 'BYSCORE', 'LIMIT', 0, BATCH)
  write('ZREM', P .. 'resting', rested)
  if config.doubts_up_to then
    redis_call('ZREMRANGEBYSCORE', P .. 'promising', '-inf', now)
  end
  selection.refresh(rested)
  return #rested
end

local function is_budget_leased()
  return config.budget_pages
    and totals.pages + redis_call('ZCARD', P .. 'leases') >= config.budget_pages
end

-- Doubt: free connections wait a little rather than fetch what is likely in vain.

local function promises_soon()
  local soon = now + config.patience_s
  return redis_call('ZRANGE', P .. 'promising', '-inf', soon, 'BYSCORE', 'LIMIT', 0, 1)[1] ~= nil
end

local function hopes_for_better()
  local tier = config.doubts_up_to and selection.best()
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

--@ admit seed

-- Admitting links.

local function drops(tally)
  return config.uses_relevance == 1 and tally[2] == 0 and tally[1] > config.tolerance
end

local function accepts(origin, target)
  if not origin.page_is_relevant and config.follows_irrelevant == 0 then
    return false
  end
  if config.is_conservative == 1 and origin.source[2] == 0 and target[1] == 0 then
    return false
  end
  return not drops(target)
end

-- What a page says of URLs that are known: lists of hosts, fingerprints and tiers. Returns the
-- hosts whose order changed.
local function meet_again(hosts, fps, tiers, languages)
  local rows, lifted = {}, {}
  local more = #languages > 0 and pack(unpack(languages))
  for i, kept in ipairs(fields_of('urls', fps)) do
    local now_kept = kept
    if kept and config.lifts == 1 then
      local row, known = unpacked(kept)
      if tonumber(tiers[i]) < tonumber(row[TIER]) then
        row[TIER] = tiers[i]
        local order = redis_call('HGET', P .. 'orders', fps[i])
        redis_call('ZADD', P .. 'queue:' .. hosts[i], tiers[i], order .. fps[i])
        lifted[#lifted + 1] = hosts[i]
        now_kept = packed(row, known)
      end
    end
    -- The last byte tells how many there are; nothing else of the row is looked at.
    local number = kept and more and string.byte(kept, -1)
    if number and number < config.max_inlinks then
      now_kept = string.sub(now_kept, 1, -2) .. more .. string.char(number + #languages)
    end
    if now_kept ~= kept then
      add(rows, fps[i], now_kept)
    end
  end
  write('HSET', P .. 'urls', rows)
  return lifted
end

-- Links come host by host in one flat list: host, bucket of its fingerprints ('': each has its
-- own), how many links there are, and for each of them its place among all, its fingerprint, tier,
-- directory ('': no rule asks for it) and row. No fingerprint comes twice.
local HOST_FIELDS, LINK_FIELDS = 3, 5

local function hosts_and_directories(links)
  local hosts, directories, is_known = {}, {}, { [''] = true }
  local at = 1
  while links[at] do
    local host, last = links[at], at + HOST_FIELDS + links[at + 2] * LINK_FIELDS
    hosts[#hosts + 1] = host
    for i = at + HOST_FIELDS, last - 1, LINK_FIELDS do
      local directory = links[i + 3]
      if not is_known[directory] then
        is_known[directory] = true
        directories[#directories + 1] = directory
      end
    end
    at = last
  end
  return hosts, directories
end

local function tallies_of(units)
  local downloaded, relevant = fields_of('downloaded', units), fields_of('relevant', units)
  local tallies = {}
  for i, unit in ipairs(units) do
    tallies[unit] = { tonumber(downloaded[i] or 0), tonumber(relevant[i] or 0) }
  end
  return tallies
end

local function refusals(units, origin)
  local is_refused = {}
  if origin.is_checked then
    local tallies = config.uses_relevance == 1 and tallies_of(units) or {}
    for _, unit in ipairs(units) do
      is_refused[unit] = not accepts(origin, tallies[unit] or { 0, 0 })
    end
  end
  return is_refused
end

local function are_seen(bucket, fps)
  if bucket ~= '' then
    return asked('SMISMEMBER', P .. 'seen:' .. bucket, fps)
  end
  local seen = {}
  for i, fp in ipairs(fps) do
    seen[i] = redis_call('SISMEMBER', seen_key(fp), fp)
  end
  return seen
end

local function note_seen(bucket, fps)
  if bucket ~= '' then
    write('SADD', P .. 'seen:' .. bucket, fps)
    return
  end
  for _, fp in ipairs(fps) do
    redis_call('SADD', seen_key(fp), fp)
  end
end

-- How many slots each of these hosts or directories has given, by its name.
local function slots_of(names, cap)
  local slots = {}
  if cap > 0 then
    for i, number in ipairs(fields_of('admitted', names)) do
      slots[names[i]] = tonumber(number or 0)
    end
  end
  return slots
end

local ANSWERS = {
  s = 'stored', e = 'seen', r = 'rejected', f = 'host_full', d = 'directory_full',
}

local function count_answers(answers)
  local numbers = {}
  for _, letter in ipairs(answers) do
    numbers[letter] = (numbers[letter] or 0) + 1
  end
  for letter, number in pairs(numbers) do
    count(ANSWERS[letter], number)
  end
end

local function cap_of(number)
  return number > 0 and number or math.huge
end

-- What happens for each link is spelled out: a call or the length of a list costs as much as all else.
-- Returns one letter for each of so many links, then one for each link that came again.
local function admit_links(number, origin)
  if number == 0 then
    return ''
  end
  local links = unpack_one(ARGV[7])
  local hosts, directories = hosts_and_directories(links)
  local is_by_directory = config.is_by_directory == 1
  local is_refused = refusals(is_by_directory and directories or hosts, origin)
  local host_slots = slots_of(hosts, config.host_cap)
  local directory_slots = slots_of(directories, config.directory_cap)
  local host_cap, directory_cap = cap_of(config.host_cap), cap_of(config.directory_cap)
  local answers, rows, rows_end, orders_of, new_slots = {}, {}, 0, {}, {}
  local better, orders, tiers, places_of = {}, {}, {}, {}
  local met_hosts, met_fps, met_tiers = {}, {}, {}
  local at = 1
  for _, host in ipairs(hosts) do
    local bucket, first = links[at + 1], at + HOST_FIELDS
    local fps, fresh, places, changed = {}, {}, {}, {}
    at = first + links[at + 2] * LINK_FIELDS
    for n = 1, links[first - 1] do
      fps[n] = links[first + (n - 1) * LINK_FIELDS + 1]
    end
    local seen = are_seen(bucket, fps)
    local taken, number_fresh, best = host_slots[host] or 0, 0, nil
    for n, fp in ipairs(fps) do
      local i = first + (n - 1) * LINK_FIELDS
      local place, tier, directory = links[i], links[i + 2], links[i + 3]
      if seen[n] == 1 then
        answers[place] = 'e'
        met_hosts[#met_hosts + 1], met_fps[#met_fps + 1] = host, fp
        met_tiers[#met_tiers + 1] = tier
      elseif is_refused[is_by_directory and directory or host] then
        answers[place] = 'r'
      elseif taken >= host_cap then
        answers[place] = 'f'
      elseif (directory_slots[directory] or 0) >= directory_cap then
        answers[place] = 'd'
      else
        local order = order_after(place)
        answers[place] = 's'
        taken = taken + 1
        if config.directory_cap > 0 then
          directory_slots[directory] = directory_slots[directory] + 1
          changed[directory] = directory_slots[directory]
        end
        number_fresh, rows_end = number_fresh + 1, rows_end + 2
        fresh[number_fresh] = fp
        places[2 * number_fresh - 1], places[2 * number_fresh] = tier, order .. fp
        rows[rows_end - 1], rows[rows_end] = fp, links[i + 4]
        if config.lifts == 1 then
          add(orders_of, fp, order)
        end
        if number_fresh == 1 or (tier ~= best and tonumber(tier) < tonumber(best)) then
          best = tier
          better[#better + (number_fresh == 1 and 1 or 0)] = host
          orders[#better], tiers[#better], places_of[#better] = order, tier, places
        end
      end
    end
    if number_fresh > 0 then
      note_seen(bucket, fresh)
      write('ZADD', P .. 'queue:' .. host, places)
      changed[host] = config.host_cap > 0 and taken or nil
      for name, number in pairs(changed) do
        add(new_slots, name, number)
      end
    end
  end
  if #rows > 0 then
    write('HSET', P .. 'urls', rows)
    write('HSET', P .. 'orders', orders_of)
    write('HSET', P .. 'admitted', new_slots)
    count_for_all('order', number)
    improve(better, orders, tiers, places_of)
  end
  if config.lifts == 1 or #origin.inlinks > 0 then
    refresh(meet_again(met_hosts, met_fps, met_tiers, origin.inlinks))
  end
  count_for_all('queued', #rows / 2)
  for _, place in ipairs(arguments.again) do
    answers[#answers + 1] = answers[place] == 's' and 'e' or answers[place]
  end
  count_answers(answers)
  return table.concat(answers)
end

--@ admit

-- Settling.

local function forget_rows(fps)
  write('HDEL', P .. 'urls', fps)
  if config.lifts == 1 then
    write('HDEL', P .. 'orders', fps)
  end
end

local function unqueue(host, fp, order)
  forget_rows({ fp })
  redis_call('ZREM', P .. 'queue:' .. host, order .. fp)
  count_for_all('queued', -1)
end

local function directories_of(fps)
  local directories = {}
  for i, kept in ipairs(fields_of('urls', fps)) do
    directories[i] = unpack_one(kept)[DIRECTORY]
  end
  return directories
end

-- Of the places in a queue those in a directory, nil: all of them, and their fingerprints.
local function of_unit(places, directory)
  local fps, members = {}, {}
  for i, place in ipairs(places) do
    fps[i] = string.sub(place, 16)
  end
  if not directory then
    return fps, places
  end
  local dropped = {}
  for i, other in ipairs(directories_of(fps)) do
    if other == directory then
      dropped[#dropped + 1] = fps[i]
      members[#members + 1] = places[i]
    end
  end
  return dropped, members
end

-- Give the slots of some URLs of a host back, by their directories where those have a cap.
local function free_slots(host, number, directories)
  if config.host_cap > 0 then
    redis_call('HINCRBY', P .. 'admitted', host, -number)
  end
  local freed = {}
  for _, directory in ipairs(directories) do
    freed[directory] = (freed[directory] or 0) + 1
  end
  for directory, slots in pairs(freed) do
    redis_call('HINCRBY', P .. 'admitted', directory, -slots)
  end
end

local function forget_seen(bucket, fps)
  if bucket ~= '' then
    write('SREM', P .. 'seen:' .. bucket, fps)
    return
  end
  for _, fp in ipairs(fps) do
    redis_call('SREM', seen_key(fp), fp)
  end
end

local function drop_unit(host, bucket, directory)
  local queue = P .. 'queue:' .. host
  local fps, members = of_unit(redis_call('ZRANGE', queue, 0, -1), directory)
  if #fps == 0 then
    return
  end
  free_slots(host, #fps, config.directory_cap > 0 and directories_of(fps) or {})
  write('ZREM', queue, members)
  forget_rows(fps)
  forget_seen(bucket, fps)
  count_for_all('queued', -#fps)
  count('dropped_irrelevant', #fps)
end

local function count_page(host, record)
  count_for_all('pages', 1)
  count_for_all('labelled', record.is_labelled)
  count_for_all('relevant', record.is_relevant)
  if redis_call('HINCRBY', P .. 'pages', host, 1) == 1 then
    count_for_all('hosts', 1)
  end
end

local function tally_with(unit, record)
  if record.is_download == 1 then
    local downloaded = redis_call('HINCRBY', P .. 'downloaded', unit, 1)
    if record.is_relevant == 1 then
      return { downloaded, redis_call('HINCRBY', P .. 'relevant', unit, 1) }
    end
    return { downloaded, tonumber(redis_call('HGET', P .. 'relevant', unit) or 0) }
  end
  return tallies_of({ unit })[unit]
end

-- A redirect is as good as the link that led to it, and for a seed the person vouches who named it.
local function origin_of(record, tally)
  local is_vouched_for = record.is_vouched_for == 1
  return {
    inlinks = record.inlinks, is_checked = true,
    page_is_relevant = is_vouched_for or record.is_relevant == 1,
    source = is_vouched_for and { 1, 1 } or tally,
  }
end

--@ all

-- Answers are what the client gets; false says that the lease is not held (any more).

local commands = {}

--@ open

function commands.open()
  local rules = P .. 'rules'
  if redis_call('SET', rules, arguments.rules, 'NX') == false
    and redis_call('GET', rules) ~= arguments.rules then
    return redis_call('GET', rules)
  end
  redis_call('SET', P .. 'config', arguments.config)
  redis_call('SADD', P .. 'workers', worker)
  read_config()
  take_back_expired()
  return 'ok'
end

--@ seed

function commands.seed()
  return admit_links(arguments.links, { inlinks = {} })
end

--@ admit

function commands.admit()
  local host, fp = arguments.host, arguments.fingerprint
  local record, directory = arguments.record, arguments.directory
  local is_by_directory = config.is_by_directory == 1
  local order = order_of_held(host, fp, arguments.token)
  if not order then
    return false
  end
  unqueue(host, fp, order)
  if record.is_redirect == 1 then
    free_slots(host, 1, config.directory_cap > 0 and { directory } or {})
  end
  local tally = tally_with(is_by_directory and directory or host, record)
  local letters = admit_links(arguments.links, origin_of(record, tally))
  if record.is_download == 1 and drops(tally) then
    drop_unit(host, arguments.bucket, is_by_directory and directory or nil)
  end
  if record.is_page == 1 then
    count_page(host, record)
  end
  for name, number in pairs(arguments.counts) do
    count(name, number)
  end
  count_for_all('settled', 1)
  if arguments.row ~= '' then
    redis_call('XADD', P .. 'records:' .. worker, '*',
      'number', totals.settled, 'queued', totals.queued, 'row', arguments.row)
  end
  end_lease(host)
  rest(host, arguments.was_contacted == 1 and now + delay_of(host) or now)
  return letters
end

--@ retry

function commands.retry()
  local host, fp = arguments.host, arguments.fingerprint
  if not order_of_held(host, fp, arguments.token) then
    return false
  end
  local row, languages = unpacked(redis_call('HGET', P .. 'urls', fp))
  row[RETRIES] = row[RETRIES] + 1
  redis_call('HSET', P .. 'urls', fp, packed(row, languages))
  count('retried', 1)
  end_lease(host)
  rest(host, math.max(arguments.not_before, now + delay_of(host)))
  return 'ok'
end

--@ release

function commands.release()
  local host, fp = arguments.host, arguments.fingerprint
  local order = order_of_held(host, fp, arguments.token)
  if not order then
    return false
  end
  if config.is_uniform == 1 and arguments.counts_as_drawn == 1 then
    local tier = redis_call('ZSCORE', P .. 'queue:' .. host, order .. fp)
    redis_call('HSET', P .. 'drawn', host, pack({ order .. fp, name_of(tier) }))
  end
  end_lease(host)
  rest(host, arguments.not_before or now + delay_of(host))
  return 'ok'
end

--@ renew

function commands.renew()
  for _, lease in ipairs(arguments.leases) do
    local host, fp, token = unpack(lease)
    if order_of_held(host, fp, token) then
      redis_call('ZADD', P .. 'leases', now + config.lease_s, host)
    end
  end
  return 'ok'
end

--@ next

function commands.next()
  if take_back_expired() == BATCH or wake_rested() == BATCH then
    return 'again'
  end
  if is_budget_leased() or hopes_for_better() then
    return 'none'
  end
  local host, place = selection.take()
  if not host then
    return 'none'
  end
  local order, fp = string.sub(place, 1, 15), string.sub(place, 16)
  local row, languages = unpacked(redis_call('HGET', P .. 'urls', fp))
  redis_call('HSET', P .. 'leased', host, pack({ fp, client .. ':' .. call, order }))
  redis_call('ZADD', P .. 'leases', now + config.lease_s, host)
  if is_promising(row[TIER]) then
    redis_call('SADD', P .. 'hopes', host)
  end
  return {
    fp, row[URL], host, row[TIER], tostring(row[DEPTH]), tostring(row[REDIRECTS]),
    tostring(row[RETRIES]), table.concat(languages, ' '), row[PARENT],
  }
end

--@ all

-- Every call is done once: a client that lost the answer asks again and gets the same.

if command ~= 'open' and not read_config() then
  return redis.error_reply('GONE nothing is kept of this crawl')
end
local kept = redis_call('GET', P .. 'reply:' .. client)
if kept then
  local last = unpack_one(kept)
  if last[1] == call then
    return last[2]
  end
end
local answer = commands[command]()
store_counts()
redis_call('SET', P .. 'reply:' .. client, pack({ call, answer }), 'EX', REPLY_KEPT_S)
return answer
