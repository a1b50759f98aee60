-- Part 5, the calls: a command returns the answer for the client, 'ok' if it returns nothing. If the
-- arguments have a token, the lease is held under the token and `order` belongs to the leased URL;
-- otherwise the answer is false.

local commands = {}
local order

function commands.open()
  local rules = P .. 'rules'
  if not redis_call('SET', rules, arguments.rules, 'NX')
    and redis_call('GET', rules) ~= arguments.rules then
    return redis_call('GET', rules)
  end
  redis_call('SET', P .. 'config', arguments.config)
  read_config()
  redis_call('SADD', P .. 'workers', worker)
  take_back_expired()
end

function commands.seed()
  return admit_links(links_of_call())
end

function commands.admit()
  local host, record, directory = arguments.host, arguments.record, arguments.directory
  for _, unit in ipairs(arguments.units) do
    redis_call('HINCRBY', P .. 'tallies', unit, arguments.tally)
  end
  unqueue(host, arguments.fingerprint, (row_of(arguments.fingerprint)), order)
  if record.is_download == 1 then
    repay(host)
    if record.earns_slots == 1 then
      add_to_holders('earned')
    end
  end
  if arguments.canonical ~= '' then
    make_known(host, arguments.canonical, 0, 'dropped_same_page')
  end
  for fp, of in pairs(arguments.versions or {}) do
    make_known(of, fp, 1, 'dropped_version')
  end
  if record.is_wanted == 1 then
    note_seen(arguments.mark)
  end
  count_bytes(host, record.bytes)
  local part = config.unit == 'directory' and directory or nil
  local downloaded, relevant = tally_with(part or host, record)
  if config.closes_servers and drops(tally_with(host, record)) then
    part, downloaded, relevant = nil, tally_of(host)
  end
  local origin = origin_of(record, relevant)
  local answers = admit_links(links_of_call(), origin)
  store_outgoing(origin)
  if record.is_download == 1 and drops(downloaded, relevant) then
    drop_unit(host, part, 'dropped_irrelevant')
  end
  if record.is_page == 1 then
    count_page(host, record)
  end
  for name, number in pairs(arguments.counts) do
    count(name, number)
  end
  redis_call('XADD', P .. 'records:' .. worker, '*', 'number', count_for_all('settled', 1),
    'queued', number_in('counts', 'queued') + (arguments.queued_elsewhere or 0), 'row', arguments.row)
  end_lease(host, arguments.was_contacted == 1 and now + delay_of(host) or now)
  return answers
end

-- Returns '1' if one of a page's URLs is known. The arguments have a mark for each fingerprint, in
-- the order of the fields of `langfocus.crawler.strategies.versions.Twins`.
function commands.knows_version()
  local least = { -math.huge, config.doubts_up_to or math.huge, math.huge }
  for kind, marks in ipairs(arguments.twins) do
    for fp, mark in pairs(marks) do
      local row = row_of(fp)
      if is_seen(mark) or row and -tonumber(row[TIER]) > least[kind] then
        return '1'
      end
    end
  end
  return ''
end

-- Queues a leased URL again with another tier; its host was not contacted.
local function queue_again(back)
  local order = order_of_held(back)
  if order then
    local row = row_of(back.fingerprint)
    row[TIER] = back.tier
    keep_row(back.fingerprint, row, order)
    redis_call('ZADD', P .. 'queue:' .. back.host, back.tier, order .. back.fingerprint)
    count('lowered', back.lowered)
    end_lease(back.host, now)
  end
end

-- Counts a URL that gets its first request; drops the other URLs of a host that is full now.
local function take_host_slot(host)
  if config.host_cap > 0 and redis_call('HINCRBY', P .. 'sent', host, 1) == config.host_cap then
    count_for_all('full_hosts', 1)
    drop_unit(host, nil, 'dropped_host_full')
  end
end

function commands.send()
  local host, fp = arguments.host, arguments.fingerprint
  local row = row_of(fp)
  local is_first = row[SENT] == 0
  local full, level = full_of(host, arguments.domain, arguments.address)
  if full and (is_first or full == 'host_bytes') then
    return full
  elseif is_first and level > arguments.penalties then
    return tostring(level)
  end
  local is_counted = add_to_holders('taken')
  if arguments.is_page == 1 then
    row[SENT], row[TRIES] = math.max(1, row[SENT]), row[TRIES] + 1
    keep_row(fp, row, order)
    if is_first then
      take_host_slot(host)
    end
  elseif is_counted then
    redis_call('HINCRBY', P .. 'files', host, 1)
  end
  return 'now'
end

function commands.ask()
  local full = full_holder_of(arguments.domain, arguments.address)
  if not full then
    add_to_holders('taken')
  end
  return full or 'now'
end

function commands.lower()
  queue_again(arguments.back)
end

-- Replaces a leased URL by another spelling of it; false if the spelling is already known as a URL.
-- The previous spelling stays known.
local function respell(host, fp)
  local new = arguments.new
  if new == fp then
    return true
  elseif is_seen(new) then
    return false
  end
  note_seen(new)
  redis_call('HDEL', P .. 'urls', fp)
  local queue = P .. 'queue:' .. host
  redis_call('ZADD', queue, redis_call('ZSCORE', queue, order .. fp), order .. new)
  redis_call('ZREM', queue, order .. fp)
  return true
end

function commands.retry()
  local host, fp = arguments.host, arguments.fingerprint
  local row = row_of(fp)
  if arguments.url == '' then
    row[TRIES], row[TIER] = row[TRIES] + 1 - arguments.is_sent, arguments.tier
    redis_call('ZADD', P .. 'queue:' .. host, arguments.tier, order .. fp)
    count('retried', 1)
  elseif respell(host, fp) then
    fp, row[DIRECTORY] = arguments.new, arguments.directory
    row[URL], row[REDIRECTS] = arguments.url, row[REDIRECTS] + 1
    row[SENT], row[TRIES] = 2, math.max(0, row[TRIES] - 1)
    count('respelled', 1)
  else
    return 'known'
  end
  keep_row(fp, row, order)
  end_lease(host, math.max(arguments.not_before, now + delay_of(host)))
end

function commands.release()
  local host = arguments.host
  end_lease(host, arguments.not_before or now + delay_of(host))
end

-- Drops some queued URLs of a host that are blocked, unless they are leased or got a request.
function commands.drop()
  local is_blocked = {}
  for _, fp in ipairs(arguments.fingerprints) do
    is_blocked[fp] = true
  end
  local number = drop(arguments.host, 'dropped_blocked', function(fp)
    return is_blocked[fp]
  end)
  offer(arguments.host)
  return number
end

function commands.note()
  for name, number in pairs(arguments.counts) do
    count(name, number)
  end
  if arguments.belief then
    redis_call('HSET', P .. 'belief', worker, arguments.belief)
  end
end

function commands.delay()
  redis_call('HSET', P .. 'delay', arguments.host, arguments.delay_s)
end

function commands.renew()
  for _, lease in ipairs(arguments.leases) do
    if order_of_held(lease) then
      redis_call('ZADD', P .. 'leases', now + config.lease_s, lease.host)
    end
  end
end

local function robots_bytes(origin)
  local bytes = redis_call('HSTRLEN', P .. 'robots', origin)
  return bytes == 0 and 0 or bytes + #origin + config.robots_entry_bytes
end

function commands.keep_robots()
  local origin, expected = arguments.origin, arguments.before
  if expected and (redis_call('HGET', P .. 'robots', origin) or '') ~= expected then
    return 'changed'
  end
  local before = robots_bytes(origin)
  redis_call('HSET', P .. 'robots', origin, arguments.kept)
  redis_call('ZADD', P .. 'robots_at', now, origin)
  local total = redis_call('INCRBY', P .. 'robots_bytes', robots_bytes(origin) - before)
  while total > arguments.most_bytes and redis_call('ZCARD', P .. 'robots_at') > 1 do
    local oldest = redis_call('ZRANGE', P .. 'robots_at', 0, 1)
    local dropped = oldest[1] == origin and oldest[2] or oldest[1]
    total = redis_call('DECRBY', P .. 'robots_bytes', robots_bytes(dropped))
    redis_call('HDEL', P .. 'robots', dropped)
    redis_call('ZREM', P .. 'robots_at', dropped)
  end
end

-- Returns the best tier of URLs without a lease: ready URLs, URLs of a leased host, and the best
-- URL of another shard. '' if there is none.
local function best_other(host, place)
  local found, _, _, others = '', best()
  local head = redis_call('ZRANGE', P .. 'queue:' .. host, 0, 1, 'WITHSCORES')
  local own = head[head[1] == place and 4 or 2]
  for _, tier in ipairs({ own or '', others or '', arguments.rival or '' }) do
    if found == '' or tier ~= '' and tonumber(tier) < tonumber(found) then
      found = tier
    end
  end
  return found
end

-- Returns for each budget { total granted to the shard, total returned by the shard, rest };
-- `fixed_left` replaces the rest. Use of a shard before there was a budget counts as granted.
local function quotas(fixed_left)
  local leased, found = redis_call('ZCARD', P .. 'leases'), {}
  for i, name in ipairs(BUDGETS) do
    local budget, granted = budget_of(name), name .. ' granted'
    local left = budget and budget - number_in('counts', name) - leased or 0
    if left < 0 then
      redis_call('HINCRBY', P .. 'quota', granted, -left)
    end
    left = fixed_left or math.max(0, left)
    found[i] = { number_in('quota', granted), number_in('quota', name .. ' returned'), left }
  end
  return found
end

-- Stores the total grant of each budget.
local function store_grants(granted)
  for i, number in ipairs(granted) do
    local name = BUDGETS[i] .. ' granted'
    redis_call('HSET', P .. 'quota', name, math.max(number, number_in('quota', name)))
  end
end

-- Returns the state of a shard that leases nothing, as JSON, and whether a URL that is not doubtful
-- may come soon.
local function refusal(state)
  state.hopes = config.waits_up_to ~= nil and may_wait()
  return cjson.encode(state)
end

function commands.next()
  store_grants(arguments.granted or {})
  if arguments.back then
    queue_again(arguments.back)
  end
  if take_back_expired() == BATCH or wake_rested() == BATCH then
    return 'again'
  end
  local host, place, tier, entry = best()
  local is_shard = arguments.rival ~= nil
  if not host or not is_shard and is_budget_leased() or is_waiting(tier) then
    return is_shard and refusal({ ready_at = commands.ready_at() }) or 'none'
  elseif is_shard and arguments.rival ~= '' and tonumber(tier) > tonumber(arguments.rival) then
    return refusal({ best = tier })
  elseif is_shard and is_budget_leased() then
    return cjson.encode({ spent = quotas() })
  end
  local fp = string.sub(place, ORDER_DIGITS + 1)
  local row, order = row_of(fp)
  if config.draw == 'uniform' and order > (redis_call('HGET', P .. 'drawn', row[TIER]) or '') then
    redis_call('HSET', P .. 'drawn', row[TIER], order)
  end
  redis_call('ZREM', P .. 'ready', entry)
  redis_call('HSET', P .. 'leased', host, pack({ fp, client .. ':' .. call, order, tier, now }))
  redis_call('ZADD', P .. 'leases', now + config.lease_s, host)
  if is_promising(tier) then
    redis_call('SADD', P .. 'hopes', host)
  end
  local is_full, penalties = false, 0
  if row[SENT] == 0 then
    is_full, penalties = slots_of(string.sub(host, -row[DOMAIN]), config.domain_cap)
  end
  return {
    fp, row[URL], host, row[TIER], tostring(row[DEPTH]), tostring(row[REDIRECTS]),
    tostring(row[TRIES]), row[PARENT], is_full and '1' or '', row[SENT] > 0 and tostring(row[SENT]) or '',
    tostring(penalties), best_other(host, place),
  }
end

-- Returns the time of the next URL, '' until a lease of the client ends; the client has `held`
-- leases. While other clients have leases, the time is at most `poll_s` seconds away, because
-- clients do not announce their links.
function commands.ready_at()
  local times = {}
  if redis_call('ZCARD', P .. 'leases') > arguments.held then
    times[1] = now + arguments.poll_s
  end
  if not is_budget_leased() then
    local _, _, tier = best()
    if tier then
      times[#times + 1] = is_waiting(tier) and waits_until() or now
    end
    times[#times + 1] = redis_call('ZRANGE', P .. 'resting', 0, 0, 'WITHSCORES')[2]
    local is_idle = not times[1] and redis_call('ZCARD', P .. 'leases') == 0
    if is_idle and number_in('counts', 'queued') > 0 then
      error('queue', 0)
    end
  end
  return times[1] and string.format('%.17g', math.min(unpack(times))) or ''
end

-- Commands of crawls with several shards (`langfocus.crawler.shared.sharded`).

-- Admits links from other shards: { shard and reign, entry id, origin }. A repeated entry is
-- skipped by its id, because the entries of a shard and a reign arrive in order. Returns the number
-- of replicas that should have the links.
function commands.deliver()
  for i, groups in ipairs(links_of_call()) do
    local source, id, origin = unpack(arguments.entries[i])
    if is_later(id, redis_call('HGET', P .. 'received', source)) then
      admit_links(groups, origin)
      redis_call('HSET', P .. 'received', source, id)
    end
  end
  local _, replicas = replication()
  return replicas
end

-- Removes delivered entries from the outbox: { shard, id, number of links }.
function commands.delivered()
  for _, entry in ipairs(arguments.entries) do
    local target, id, number = unpack(entry)
    if redis_call('XDEL', P .. 'outbox:' .. target, id) == 1 then
      count_for_all('outbox', -number)
    end
    if redis_call('XLEN', P .. 'outbox:' .. target) == 0 then
      redis_call('SREM', P .. 'outboxes', target)
    end
  end
end

-- The slots of an address are in one shard. Takes a slot for a URL of any shard, or returns the
-- reason for a refusal.
function commands.address()
  local is_full, level = slots_of(arguments.address, config.address_cap)
  if is_full then
    return 'address_full'
  elseif level > arguments.penalties then
    return tostring(level)
  end
  redis_call('HINCRBY', P .. 'taken', arguments.address, arguments.is_page)
  return 'now'
end

function commands.address_gets()
  redis_call('HINCRBY', P .. arguments.hash, arguments.address, arguments.number)
end

-- Returns the rest of each budget to the whole crawl; answers like `quotas` with a rest of -1.
function commands.return_quota()
  for i, quota in ipairs(quotas()) do
    redis_call('HINCRBY', P .. 'quota', BUDGETS[i] .. ' returned', quota[3])
  end
  return quotas(-1)
end

-- For the whole crawl: adds the returned budgets of shards, { shard, quotas }, to the rest, and
-- grants a part of the rest to a shard with nothing left. All totals only grow, so a late or
-- repeated answer changes nothing. The first grant has the quotas of all shards. Returns the total
-- grants to the last shard.
function commands.grant()
  local grants = {}
  local function add(name, number)
    redis_call('HINCRBY', P .. 'quota', name, number)
  end
  for _, name in ipairs(arguments.is_first_grant and BUDGETS or {}) do
    redis_call('HSET', P .. 'quota', name .. ' most', config['budget_' .. name] or 0)
  end
  for _, one in ipairs(arguments.quotas) do
    for i, name in ipairs(BUDGETS) do
      local granted, returned = name .. ' granted ' .. one[1], name .. ' returned ' .. one[1]
      local has, gave, left = unpack(one[2][i])
      local back = gave - number_in('quota', returned)
      if back > 0 then
        add(returned, back)
        add(name, -back)
      end
      local more = math.max(0, has - number_in('quota', granted))
      local free = number_in('quota', name .. ' most') - number_in('quota', name) - more
      if left == 0 and free > 0 and has >= number_in('quota', granted) then
        more = more + math.max(1, math.floor(free / (4 * config.shards)))
      end
      add(granted, more)
      add(name, more)
      grants[i] = number_in('quota', granted)
    end
  end
  return grants
end

-- A call runs once: a client that lost the answer repeats the call and gets the same answer.

local kept = redis_call('GET', P .. 'reply:' .. client)
if kept then
  local last = unpack_one(kept)
  if last[1] == call then
    return last[2]
  end
end
-- The seal is the name of this beginning of the crawl, or the error after a fault.
local seal = redis_call('GET', P .. 'seal')
if not seal and command == 'open' then
  seal = redis_call('EXISTS', P .. 'rules') == 0 and ARGV[8] or 'LOST seal'
  redis_call('SET', P .. 'seal', seal)
end
if not seal or command ~= 'open' and seal ~= ARGV[8] or string.find(seal, '%W') then
  return redis.error_reply(seal and string.find(seal, '^LOST') and seal or 'GONE')
end
read_config()
local is_done, answer = pcall(function()
  order = arguments.token and order_of_held(arguments)
  return (order or not arguments.token) and (commands[command]() or 'ok')
end)
if not is_done then
  local fault = 'LOST ' .. (type(answer) == 'table' and answer.err or answer)
  redis_call('SET', P .. 'seal', fault)
  return redis.error_reply(fault)
end
if command == 'next' or command == 'open' or command == 'renew' then
  redis_call('SET', P .. 'clock', ARGV[4])
end
answer = command == 'open' and answer == 'ok' and 'ok ' .. seal or answer
redis_call('SET', P .. 'reply:' .. client, pack({ call, answer }), 'EX', REPLY_KEPT_S)
return answer
