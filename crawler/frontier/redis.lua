#!lua
-- The frontier that many workers share: one call is one script, so nothing comes between.
--
-- KEYS[1] is the prefix of all keys of a crawl, "{name}:", and their one hash tag. ARGV: the
-- command, the client, the number of its call, the time (unix seconds), the client's worker, the
-- command's arguments as JSON. Keys, after the prefix:
--
--   rules, config          what all workers agree on; what the last to open asked for
--   seen:NNNNN             set of the fingerprints that end in these digits (a set of integers)
--   urls:HOST              hash: fingerprint -> row of a URL that is queued or leased
--   queue:HOST             sorted set of the same: (minus score, order of discovery + fingerprint)
--   admitted, delay, pages hashes: HOST -> slots of its cap taken, own delay, pages it gave
--   downloaded, relevant   hashes: UNIT -> N_a, N_r
--   ready                  sorted set of hosts by their best URL (order of discovery + HOST)
--   heads                  hash: HOST that is ready -> how it stands in `ready` or `draw:`
--   resting                sorted set: HOST by the time it may be contacted again
--   leased, lease, leases  hashes HOST -> fingerprint, fingerprint -> {host, token}; sorted set of
--                          fingerprints by the end of their lease
--   counts                 hash of what stands for the whole crawl: see TOTALS
--   counts:WORKER          hash of what else a worker counted
--   order                  the number of the last URL discovered
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
local URL, UNIT, PARENT, DEPTH, REDIRECTS, RETRIES, SCORE, INLINKS, ORDER = 1, 2, 3, 4, 5, 6, 7, 8, 9

local config = {}

local function read_config()
  local names = {
    'host_cap', 'delay_s', 'budget_pages', 'lease_s', 'is_uniform', 'lifts', 'follows_irrelevant',
    'uses_relevance', 'is_conservative', 'tolerance', 'max_inlinks',
  }
  local values = redis_call('HMGET', P .. 'config', unpack(names))
  if not values[1] then
    return false
  end
  for i, name in ipairs(names) do
    config[name] = tonumber(values[i])
  end
  return true
end

-- Many at once: a call costs more than what it does. Lua's stack holds some thousand arguments.

local ARGUMENTS = 2000

local function fields_of(hash, names)
  local values = {}
  for first = 1, #names, ARGUMENTS do
    local last = math.min(first + ARGUMENTS - 1, #names)
    for i, value in ipairs(redis_call('HMGET', P .. hash, unpack(names, first, last))) do
      values[first + i - 1] = value
    end
  end
  return values
end

local function write(redis_command, key, pairs_of)
  for first = 1, #pairs_of, ARGUMENTS do
    redis_call(redis_command, key, unpack(pairs_of, first, math.min(first + ARGUMENTS - 1, #pairs_of)))
  end
end

local function add(pairs_of, first, second)
  pairs_of[#pairs_of + 1] = first
  pairs_of[#pairs_of + 1] = second
end

-- Counters are read once and written once in a call, all together.

local TOTALS = { 'queued', 'pages', 'labelled', 'relevant', 'hosts', 'settled' }
local totals, are_totals_changed
local counted, counted_names = {}, {}

local function read_totals()
  totals = {}
  for i, value in ipairs(redis_call('HMGET', P .. 'counts', unpack(TOTALS))) do
    totals[TOTALS[i]] = tonumber(value or 0)
  end
end

local function count(name, number)
  if totals[name] then
    totals[name] = totals[name] + number
    are_totals_changed = are_totals_changed or number ~= 0
  elseif number ~= 0 then
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

local function row_of(host, fp)
  local packed = redis_call('HGET', P .. 'urls:' .. host, fp)
  return packed and unpack_one(packed)
end

local function store_row(host, fp, row)
  redis_call('HSET', P .. 'urls:' .. host, fp, pack(row))
end

local function place_of(row, fp)
  return string.format('%015.0f', row[ORDER]) .. fp
end

local function tier_of(score)
  return 0 - tonumber(score) -- never the negative zero
end

local function seen_key(fp)
  return P .. 'seen:' .. string.sub(fp, -5)
end

-- Best first: `ready` holds each host once, by its best URL. `heads` remembers as what.

local best_first = {}

function best_first.refresh(hosts)
  local befores = fields_of('heads', hosts)
  local heads, ready = {}, {}
  for i, host in ipairs(hosts) do
    local before = befores[i]
    local head = redis_call('ZRANGE', P .. 'queue:' .. host, 0, 0, 'WITHSCORES')
    local member = head[1] and string.sub(head[1], 1, 15) .. host
    if before and before ~= member then
      redis_call('ZREM', P .. 'ready', before)
    end
    if member then
      add(ready, head[2], member)
      add(heads, host, member)
    elseif before then
      redis_call('HDEL', P .. 'heads', host)
    end
  end
  write('ZADD', P .. 'ready', ready)
  write('HSET', P .. 'heads', heads)
end

function best_first.remove(host)
  redis_call('ZREM', P .. 'ready', redis_call('HGET', P .. 'heads', host))
  redis_call('HDEL', P .. 'heads', host)
end

function best_first.is_ready()
  return redis_call('EXISTS', P .. 'ready') == 1
end

function best_first.take()
  local best = redis_call('ZRANGE', P .. 'ready', 0, 0)[1]
  if best then
    local host = string.sub(best, 16)
    return host, string.sub(redis_call('ZRANGE', P .. 'queue:' .. host, 0, 0)[1], 16)
  end
end

-- Drawn uniformly: in each tier of equal scores a ready host weighs as much as it has URLs.
-- Hosts that weigh from 2^n to below 2^(n+1) are a class, and a draw inside a class rejects at
-- most every second host, so a URL costs O(log hosts) however unequal hosts are. A URL that was
-- drawn and put back goes before the draw of its tier.

local uniform = {}

local function class_of(weight)
  local _, exponent = math.frexp(weight)
  return exponent - 1
end

local function weigh(tier, host, before, after)
  if before == after then
    return
  end
  local weights = P .. 'weights:' .. tier
  local draw = P .. 'draw:' .. tier .. ':'
  if before > 0 then
    redis_call('HINCRBY', weights, class_of(before), -before)
    redis_call('ZREM', draw .. class_of(before), host)
  end
  if after > 0 then
    redis_call('HINCRBY', weights, class_of(after), after)
    redis_call('ZADD', draw .. class_of(after), after, host)
  end
  if redis_call('HINCRBY', weights, 'all', after - before) == 0 then
    redis_call('DEL', weights)
    redis_call('ZREM', P .. 'tiers', tier)
  else
    redis_call('ZADD', P .. 'tiers', tier, tier)
  end
end

local function weights_of(host)
  local queue, weights, above = P .. 'queue:' .. host, {}, '-inf'
  while true do
    local first = redis_call('ZRANGE', queue, above, '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
    if not first[1] then
      return weights
    end
    weights[first[2]] = redis_call('ZCOUNT', queue, first[2], first[2])
    above = '(' .. first[2]
  end
end

local function weights_before(host)
  local packed = redis_call('HGET', P .. 'heads', host)
  return packed and unpack_one(packed)
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

local function refresh_weights(host)
  local before, after = weights_before(host), weights_of(host)
  reweigh(host, before or {}, after)
  if not next(after) then
    redis_call('HDEL', P .. 'heads', host)
    return
  end
  redis_call('HSET', P .. 'heads', host, pack(after))
  local drawn = not before and redis_call('HGET', P .. 'drawn', host)
  if drawn then
    local tier = unpack_one(drawn)[2]
    redis_call('ZADD', P .. 'drawn:' .. tier, redis_call('INCR', P .. 'order'), host)
  end
end

function uniform.refresh(hosts)
  for _, host in ipairs(hosts) do
    refresh_weights(host)
  end
end

function uniform.remove(host)
  reweigh(host, weights_before(host), {})
  redis_call('HDEL', P .. 'heads', host)
  local drawn = redis_call('HGET', P .. 'drawn', host)
  if drawn then
    redis_call('ZREM', P .. 'drawn:' .. unpack_one(drawn)[2], host)
    redis_call('HDEL', P .. 'drawn', host)
  end
end

function uniform.is_ready()
  return redis_call('EXISTS', P .. 'tiers') == 1
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

function uniform.take()
  local tier = redis_call('ZRANGE', P .. 'tiers', 0, 0)[1]
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
  return host, string.sub(redis_call('ZRANGE', queue, place, place)[1], 16)
end

-- A host is leased, resting, ready or has nothing queued.

local selection

local function choose_selection()
  selection = config.is_uniform == 1 and uniform or best_first
end

local function delay_of(host)
  return math.max(tonumber(redis_call('HGET', P .. 'delay', host) or 0), config.delay_s)
end

local function let_take_part(hosts)
  local leased, here = fields_of('leased', hosts), {}
  for i, host in ipairs(hosts) do
    if not leased[i] and not redis_call('ZSCORE', P .. 'resting', host) then
      here[#here + 1] = host
    end
  end
  selection.refresh(here)
end

local function rest(host, ready_at)
  if ready_at > now then
    redis_call('ZADD', P .. 'resting', ready_at, host)
  else
    selection.refresh({ host })
  end
end

local function host_leased_under(fp, token)
  local packed = redis_call('HGET', P .. 'lease', fp)
  local lease = packed and unpack_one(packed)
  if lease and (token == nil or lease[2] == token) then
    return lease[1]
  end
end

local function end_lease(fp, host)
  redis_call('HDEL', P .. 'lease', fp)
  redis_call('HDEL', P .. 'leased', host)
  redis_call('ZREM', P .. 'leases', fp)
end

local function take_back_expired()
  local expired = redis_call('ZRANGE', P .. 'leases', '-inf', now, 'BYSCORE', 'LIMIT', 0, BATCH)
  for _, fp in ipairs(expired) do
    local host = host_leased_under(fp)
    end_lease(fp, host)
    rest(host, now + delay_of(host))
  end
  count('expired', #expired)
  return #expired
end

local function wake_rested()
  local rested = redis_call('ZRANGE', P .. 'resting', '-inf', now, 'BYSCORE', 'LIMIT', 0, BATCH)
  for _, host in ipairs(rested) do
    redis_call('ZREM', P .. 'resting', host)
  end
  selection.refresh(rested)
  return #rested
end

local function is_budget_leased()
  return config.budget_pages
    and totals.pages + redis_call('ZCARD', P .. 'leases') >= config.budget_pages
end

-- Admitting links.

local function tally_of(unit)
  return {
    tonumber(redis_call('HGET', P .. 'downloaded', unit) or 0),
    tonumber(redis_call('HGET', P .. 'relevant', unit) or 0),
  }
end

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

local function note_inlinks(row, languages)
  if #languages == 0 or #row[INLINKS] >= config.max_inlinks then
    return false
  end
  for _, language in ipairs(languages) do
    table.insert(row[INLINKS], language)
  end
  return true
end

local function is_better(score, row)
  return config.lifts == 1 and tonumber(score) > tonumber(row[SCORE])
end

-- What a page says of a URL that is known; true if its place in the queue changed.
local function meet_again(host, fp, score, languages)
  local row = row_of(host, fp)
  if not row then
    return false
  end
  local is_lifted = is_better(score, row)
  if is_lifted then
    row[SCORE] = score
    redis_call('ZADD', P .. 'queue:' .. host, tier_of(score), place_of(row, fp))
  end
  if note_inlinks(row, languages) or is_lifted then
    store_row(host, fp, row)
  end
  return is_lifted
end

local function by_host(fresh)
  local rows, places = {}, {}
  for fp, entry in pairs(fresh) do
    local host, row = entry[1], entry[2]
    rows[host], places[host] = rows[host] or {}, places[host] or {}
    add(rows[host], fp, pack(row))
    add(places[host], tier_of(row[SCORE]), place_of(row, fp))
  end
  return rows, places
end

local function store_fresh(fresh, touched)
  local rows, places = by_host(fresh)
  for host in pairs(rows) do
    write('HSET', P .. 'urls:' .. host, rows[host])
    write('ZADD', P .. 'queue:' .. host, places[host])
    touched[host] = true
  end
end

local function slots_of(links)
  local hosts, taken, is_known = {}, {}, {}
  for _, link in ipairs(links) do
    if not is_known[link[3]] then
      is_known[link[3]] = true
      hosts[#hosts + 1] = link[3]
    end
  end
  for i, value in ipairs(fields_of('admitted', hosts)) do
    taken[hosts[i]] = tonumber(value or 0)
  end
  return taken
end

local function target_tallies(origin)
  return setmetatable({}, {
    __index = function(tallies, unit)
      local is_asked = config.uses_relevance == 1 and origin.source
      tallies[unit] = is_asked and tally_of(unit) or { 0, 0 }
      return tallies[unit]
    end,
  })
end

local function count_answers(letters)
  for letter, name in pairs({ s = 'stored', e = 'seen', r = 'rejected', f = 'host_full' }) do
    local _, number = string.gsub(letters, letter, '')
    count(name, number)
    if letter == 's' then
      count('queued', number)
    end
  end
end

-- A link is {fingerprint, url, host, unit or '', score}. Returns one letter for each.
local function admit_links(links, origin)
  if #links == 0 then
    return ''
  end
  local answers, fresh, met, touched, added = {}, {}, {}, {}, {}
  local taken, tallies = slots_of(links), target_tallies(origin)
  local order = redis_call('INCRBY', P .. 'order', #links) - #links
  local changes_rows = config.lifts == 1 or #origin.inlinks > 0
  local function answer(fp, host, unit)
    if fresh[fp] then
      return 'e'
    end
    local refusal
    if origin.source and not accepts(origin, tallies[unit == '' and host or unit]) then
      refusal = 'r'
    elseif config.host_cap > 0 and taken[host] >= config.host_cap then
      refusal = 'f'
    end
    if refusal then
      return redis_call('SISMEMBER', seen_key(fp), fp) == 1 and 'e' or refusal
    end
    return redis_call('SADD', seen_key(fp), fp) == 1 and 's' or 'e'
  end
  for i, link in ipairs(links) do
    local fp, url, host, unit, score = unpack(link)
    answers[i] = answer(fp, host, unit)
    if answers[i] == 's' then
      taken[host] = taken[host] + 1
      added[host] = taken[host]
      fresh[fp] = { host, {
        url, unit, origin.parent, origin.depth, origin.redirects, 0, score, origin.inlinks,
        order + i,
      } }
    elseif answers[i] == 'e' and fresh[fp] then
      local row = fresh[fp][2]
      row[SCORE] = is_better(score, row) and score or row[SCORE]
    elseif answers[i] == 'e' and changes_rows then
      touched[host] = meet_again(host, fp, score, met[fp] and {} or origin.inlinks) or touched[host]
      met[fp] = true
    end
  end
  store_fresh(fresh, touched)
  local slots, hosts = {}, {}
  for host, number in pairs(added) do
    add(slots, host, number)
  end
  for host, is_touched in pairs(touched) do
    hosts[#hosts + 1] = is_touched and host or nil
  end
  write('HSET', P .. 'admitted', slots)
  let_take_part(hosts)
  local letters = table.concat(answers)
  count_answers(letters)
  return letters
end

-- Settling.

local function unqueue(host, fp, row)
  redis_call('HDEL', P .. 'urls:' .. host, fp)
  redis_call('ZREM', P .. 'queue:' .. host, place_of(row, fp))
  count('queued', -1)
end

local function drop_unit(host, unit)
  local rows = redis_call('HGETALL', P .. 'urls:' .. host)
  local dropped = 0
  for i = 1, #rows, 2 do
    local fp, row = rows[i], unpack_one(rows[i + 1])
    if unit == '' or row[UNIT] == unit then
      unqueue(host, fp, row)
      redis_call('SREM', seen_key(fp), fp)
      dropped = dropped + 1
    end
  end
  if dropped > 0 then
    redis_call('HINCRBY', P .. 'admitted', host, -dropped)
  end
  count('dropped_irrelevant', dropped)
end

local function count_page(host, record)
  count('pages', 1)
  count('labelled', record.is_labelled)
  count('relevant', record.is_relevant)
  if redis_call('HINCRBY', P .. 'pages', host, 1) == 1 then
    count('hosts', 1)
  end
end

local function tally_with(unit, record)
  if record.is_download == 1 then
    redis_call('HINCRBY', P .. 'downloaded', unit, 1)
    if record.is_relevant == 1 then
      redis_call('HINCRBY', P .. 'relevant', unit, 1)
    end
  end
  return tally_of(unit)
end

-- A redirect is as good as the link that led to it, and for a seed the person vouches who named it.
local function origin_of(row, record, tally)
  local origin = {
    parent = row[URL], depth = row[DEPTH] + 1, redirects = 0, inlinks = record.inlinks,
    page_is_relevant = true, source = { 1, 1 },
  }
  if record.is_redirect == 1 then
    origin.depth, origin.redirects = row[DEPTH], row[REDIRECTS] + 1
  elseif row[DEPTH] > 0 then
    origin.page_is_relevant, origin.source = record.is_relevant == 1, tally
  end
  return origin
end

local function add_record(host, fp, row)
  redis_call('XADD', P .. 'records:' .. worker, '*', 'number', totals.settled,
    'fingerprint', fp, 'url', row[URL], 'host', host, 'parent', row[PARENT], 'depth', row[DEPTH],
    'score', row[SCORE], 'queued', totals.queued, 'record', arguments.row)
end

local commands = {}

-- Answers are what the client gets; false says that the lease is not held (any more).

function commands.open()
  local rules = P .. 'rules'
  if redis_call('SET', rules, arguments.rules, 'NX') == false
    and redis_call('GET', rules) ~= arguments.rules then
    return redis_call('GET', rules)
  end
  for name, value in pairs(arguments.config) do
    redis_call('HSET', P .. 'config', name, value)
  end
  redis_call('SADD', P .. 'workers', worker)
  read_config()
  choose_selection()
  take_back_expired()
  return 'ok'
end

function commands.seed()
  local origin = { parent = '', depth = 0, redirects = 0, inlinks = {}, page_is_relevant = true }
  return admit_links(arguments.links, origin)
end

function commands.admit()
  local fp, record = arguments.fingerprint, arguments.record
  local host = host_leased_under(fp, arguments.token)
  if not host then
    return false
  end
  local row = row_of(host, fp)
  unqueue(host, fp, row)
  if record.is_redirect == 1 then
    redis_call('HINCRBY', P .. 'admitted', host, -1)
  end
  local tally = tally_with(row[UNIT] == '' and host or row[UNIT], record)
  local letters = admit_links(arguments.links, origin_of(row, record, tally))
  if record.is_download == 1 and drops(tally) then
    drop_unit(host, row[UNIT])
  end
  if record.is_page == 1 then
    count_page(host, record)
  end
  for name, number in pairs(arguments.counts) do
    count(name, number)
  end
  count('settled', 1)
  if arguments.row ~= '' then
    add_record(host, fp, row)
  end
  end_lease(fp, host)
  rest(host, arguments.was_contacted == 1 and now + delay_of(host) or now)
  return letters
end

function commands.retry()
  local fp = arguments.fingerprint
  local host = host_leased_under(fp, arguments.token)
  if not host then
    return false
  end
  local row = row_of(host, fp)
  row[RETRIES] = row[RETRIES] + 1
  store_row(host, fp, row)
  count('retried', 1)
  end_lease(fp, host)
  rest(host, math.max(arguments.not_before, now + delay_of(host)))
  return 'ok'
end

function commands.release()
  local fp = arguments.fingerprint
  local host = host_leased_under(fp, arguments.token)
  if not host then
    return false
  end
  if config.is_uniform == 1 and arguments.counts_as_drawn == 1 then
    local tier = redis_call('ZSCORE', P .. 'queue:' .. host, place_of(row_of(host, fp), fp))
    redis_call('HSET', P .. 'drawn', host, pack({ fp, tier }))
  end
  end_lease(fp, host)
  rest(host, arguments.not_before or now + delay_of(host))
  return 'ok'
end

function commands.renew()
  for fp, token in pairs(arguments.tokens) do
    if host_leased_under(fp, token) then
      redis_call('ZADD', P .. 'leases', now + config.lease_s, fp)
    end
  end
  return 'ok'
end

function commands.next()
  if take_back_expired() == BATCH or wake_rested() == BATCH then
    return 'again'
  end
  if is_budget_leased() then
    return 'none'
  end
  local host, fp = selection.take()
  if not host then
    return 'none'
  end
  local row = row_of(host, fp)
  selection.remove(host)
  redis_call('HSET', P .. 'leased', host, fp)
  redis_call('HSET', P .. 'lease', fp, pack({ host, client .. ':' .. call }))
  redis_call('ZADD', P .. 'leases', now + config.lease_s, fp)
  return {
    fp, row[URL], host, row[SCORE], tostring(row[DEPTH]), tostring(row[REDIRECTS]),
    tostring(row[RETRIES]), table.concat(row[INLINKS], ' '),
  }
end

-- Every call is done once: a client that lost the answer asks again and gets the same.

if command ~= 'open' and not read_config() then
  return redis.error_reply('GONE nothing is kept of this crawl')
end
choose_selection()
read_totals()
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
