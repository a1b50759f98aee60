-- Part 8, the calls: a command returns the answer for the client. Where the arguments have a token, the
-- lease is held under it, and `order` is that of its URL; otherwise the answer is false.

local commands = {}
local order

-- The stream of a worker exists from its first call on, so that its loss is noticed.
local function join()
  if redis_call('SADD', P .. 'workers', worker) == 1 then
    local stream = P .. 'records:' .. worker
    redis_call('XDEL', stream, redis_call('XADD', stream, '*', 'row', ''))
  end
end

function commands.open()
  local rules = P .. 'rules'
  if redis_call('SET', rules, arguments.rules, 'NX') == false
    and redis_call('GET', rules) ~= arguments.rules then
    return redis_call('GET', rules)
  end
  redis_call('SET', P .. 'config', arguments.config)
  read_config()
  join()
  take_back_expired()
  return 'ok'
end

function commands.seed()
  return admit_links(arguments.links, { inlinks = {} })
end

function commands.admit()
  local host, fp = arguments.host, arguments.fingerprint
  local record, directory = arguments.record, arguments.directory
  local is_by_directory = config.is_by_directory == 1
  for _, unit in ipairs(arguments.units) do
    redis_call('HINCRBY', P .. 'tallies', unit, arguments.tally)
  end
  unqueue(host, fp, order)
  if record.is_download == 1 and record.is_relevant == 1 then
    earn()
  end
  if arguments.canonical ~= '' then
    make_known(host, arguments.canonical)
  end
  local tally = tally_with(is_by_directory and directory or host, record)
  local is_server_closed = config.closes_servers == 1 and drops(tally_with(host, record))
  local letters = admit_links(arguments.links, origin_of(record, tally))
  if record.is_download == 1 and (is_server_closed or drops(tally)) then
    local part = is_by_directory and not is_server_closed and directory or nil
    drop_unit(host, part, 'dropped_irrelevant')
  end
  if record.is_page == 1 then
    count_page(host, record)
  end
  for name, number in pairs(arguments.counts) do
    count(name, number)
  end
  count_for_all('settled', 1)
  if arguments.row ~= '' then
    local stream = P .. 'records:' .. worker
    if not redis_call('XADD', stream, 'NOMKSTREAM', '*',
      'number', totals.settled, 'queued', totals.queued, 'row', arguments.row) then
      error('records:' .. worker, 0)
    end
  end
  end_lease(host)
  rest(host, arguments.was_contacted == 1 and now + delay_of(host) or now)
  return letters
end

-- Gives a leased URL back with another tier; its host was not contacted.
local function give_back(back)
  local order = order_of_held(back.host, back.fingerprint, back.token)
  if not order then
    return
  end
  local kept = redis_call('HGET', P .. 'urls', back.fingerprint)
  local row, languages = unpacked(kept)
  row[TIER] = back.tier
  redis_call('HSET', P .. 'urls', back.fingerprint, packed(row, languages, order))
  redis_call('ZADD', P .. 'queue:' .. back.host, back.tier, order .. back.fingerprint)
  count('lowered', back.lowered)
  end_lease(back.host)
  rest(back.host, now)
end

-- Returns what has no slot left for another URL, nil if all have one.
local function full_of(host, domain, holder)
  local sent = tonumber(redis_call('HGET', P .. 'sent', host) or 0)
  if config.host_cap > 0 and sent >= config.host_cap then
    return 'host_full'
  end
  local taken, earned = slots_taken({ domain, holder }, 1)
  if taken[domain] >= most_slots(config.domain_cap, earned[domain]) then
    return 'domain_full'
  elseif holder ~= '' and taken[holder] >= most_slots(config.address_cap, earned[holder]) then
    return 'address_full'
  end
  return nil, holder == '' and 0 or penalties_at(config.address_cap, taken[holder], earned[holder])
end

-- Counts a URL that gets a request; drops the others of a host that is full now.
local function take_slots(host)
  for _, holder in ipairs({ arguments.domain, arguments.address }) do
    if holder ~= '' then
      redis_call('HINCRBY', P .. 'taken', holder, 1)
    end
  end
  if config.host_cap > 0 and redis_call('HINCRBY', P .. 'sent', host, 1) == config.host_cap then
    drop_unit(host, nil, 'dropped_host_full')
  end
end

function commands.send()
  local host, fp = arguments.host, arguments.fingerprint
  local row, languages = unpacked(redis_call('HGET', P .. 'urls', fp))
  local is_first = row[SENT] == 0
  if is_first then
    local full, level = full_of(host, arguments.domain, arguments.address)
    if full then
      return full
    elseif level > arguments.penalties then
      return tostring(level)
    end
  end
  if arguments.is_page == 1 then
    row[SENT], row[TRIES] = math.max(1, row[SENT]), row[TRIES] + 1
    redis_call('HSET', P .. 'urls', fp, packed(row, languages, order))
    if is_first then
      take_slots(host)
    end
  end
  return 'now'
end

function commands.lower()
  give_back(arguments.back)
  return 'ok'
end

-- Makes another spelling of a leased URL that URL; false if it is known as a URL of its own. The
-- spelling before stays known.
local function respell(host, fp, order)
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
  local row, languages = unpacked(redis_call('HGET', P .. 'urls', fp))
  if arguments.url ~= '' then
    if not respell(host, fp, order) then
      return 'known'
    end
    fp, row[DIRECTORY] = arguments.new, arguments.directory
  end
  if arguments.url == '' then
    row[TRIES] = row[TRIES] + 1 - arguments.is_sent
    count('retried', 1)
  else
    row[URL], row[REDIRECTS] = arguments.url, row[REDIRECTS] + 1
    row[SENT], row[TRIES] = 2, math.max(0, row[TRIES] - 1)
    count('respelled', 1)
  end
  redis_call('HSET', P .. 'urls', fp, packed(row, languages, order))
  end_lease(host)
  rest(host, math.max(arguments.not_before, now + delay_of(host)))
  return 'ok'
end

function commands.release()
  local host = arguments.host
  end_lease(host)
  rest(host, arguments.not_before or now + delay_of(host))
  return 'ok'
end

-- Drops some queued URLs of a host that are blocked, unless they are leased or got a request.
function commands.drop()
  local host, fps, members, is_blocked = arguments.host, {}, {}, {}
  local lease = redis_call('HGET', P .. 'leased', host)
  for _, fp in ipairs(arguments.fingerprints) do
    is_blocked[fp] = true
  end
  is_blocked[lease and unpack_one(lease)[1] or ''] = nil
  local unsent, places = unsent_of(host)
  for i, fp in ipairs(unsent) do
    if is_blocked[fp] then
      fps[#fps + 1], members[#members + 1] = fp, places[i]
    end
  end
  drop(host, fps, members, 'dropped_blocked')
  refresh({ host })
  return #fps
end

function commands.note()
  for name, number in pairs(arguments.counts) do
    count(name, number)
  end
  if arguments.belief then
    redis_call('HSET', P .. 'belief', worker, arguments.belief)
  end
  return 'ok'
end

function commands.delay()
  redis_call('HSET', P .. 'delay', arguments.host, arguments.delay_s)
  return 'ok'
end

function commands.renew()
  for _, lease in ipairs(arguments.leases) do
    local host, fp, token = unpack(lease)
    if order_of_held(host, fp, token) then
      redis_call('ZADD', P .. 'leases', now + config.lease_s, host)
    end
  end
  return 'ok'
end

local ENTRY_BYTES = 100

local function robots_bytes(origin)
  local bytes = redis_call('HSTRLEN', P .. 'robots', origin)
  return bytes == 0 and 0 or bytes + #origin + ENTRY_BYTES
end

function commands.keep_robots()
  local origin = arguments.origin
  local expected = arguments.before
  if expected and (redis_call('HGET', P .. 'robots', origin) or '') ~= expected then
    return 'changed'
  end
  local before = robots_bytes(origin)
  redis_call('HSET', P .. 'robots', origin, arguments.kept)
  redis_call('ZADD', P .. 'robots_at', now, origin)
  local total = redis_call('INCRBY', P .. 'robots_bytes', robots_bytes(origin) - before)
  for _ = 1, BATCH do
    local oldest = redis_call('ZRANGE', P .. 'robots_at', 0, 1)
    if total <= arguments.most_bytes or #oldest == 1 then
      return 'ok'
    end
    local dropped = oldest[1] == origin and oldest[2] or oldest[1]
    total = redis_call('DECRBY', P .. 'robots_bytes', robots_bytes(dropped))
    redis_call('HDEL', P .. 'robots', dropped)
    redis_call('ZREM', P .. 'robots_at', dropped)
  end
  return 'again'
end

-- Returns how many penalties a URL must have with its domain, and true if that is full. One that got a
-- request has its slot.
local function due_to_domain(row, host)
  if config.domain_cap == 0 or row[SENT] > 0 then
    return 0, false
  end
  local domain = string.sub(host, -row[DOMAIN])
  local taken, earned = slots_taken({ domain }, config.domain_cap)
  local is_full = taken[domain] >= most_slots(config.domain_cap, earned[domain])
  return penalties_at(config.domain_cap, taken[domain], earned[domain]), is_full
end

-- Returns the best tier of the other URLs, '' if there is none. The URL is taken, so its host is no
-- more in the selection.
local function next_best(host, place)
  local others = selection.best()
  local head = redis_call('ZRANGE', P .. 'queue:' .. host, 0, 1, 'WITHSCORES')
  local at = head[1] == place and 4 or 2
  if head[at] and (not others or tonumber(head[at]) < tonumber(others)) then
    return head[at]
  end
  return others or ''
end

function commands.next()
  if arguments.back then
    give_back(arguments.back)
  end
  if take_back_expired() == BATCH or wake_rested() == BATCH then
    return 'again'
  end
  local host, place
  if not is_budget_leased() and not is_waiting() then
    host, place = selection.take()
  end
  if not host then
    return 'none'
  end
  local fp = string.sub(place, ORDER_DIGITS + 1)
  local row, languages, order = unpacked(redis_call('HGET', P .. 'urls', fp))
  local penalties, is_full = due_to_domain(row, host)
  if config.is_uniform == 1 and order > (redis_call('HGET', P .. 'drawn', row[TIER]) or '') then
    redis_call('HSET', P .. 'drawn', row[TIER], order)
  end
  redis_call('HSET', P .. 'leased', host, pack({ fp, client .. ':' .. call, order }))
  redis_call('ZADD', P .. 'leases', now + config.lease_s, host)
  if is_promising(row[TIER]) then
    redis_call('SADD', P .. 'hopes', host)
  end
  return {
    fp, row[URL], host, row[TIER], tostring(row[DEPTH]), tostring(row[REDIRECTS]),
    tostring(row[TRIES]), table.concat(languages, ' '), row[PARENT], is_full and '1' or '',
    row[SENT] == 2 and '1' or '', tostring(penalties), next_best(host, place),
  }
end

-- A call is done once: a client that lost the answer asks again and gets the same answer.

local kept = redis_call('GET', P .. 'reply:' .. client)
if kept then
  local last = unpack_one(kept)
  if last[1] == call then
    return last[2]
  end
end
local seal = redis_call('GET', P .. 'seal')
local fault = fault_of_seal(seal, ARGV[8])
if fault then
  return redis.error_reply(fault)
end
read_config()
local is_done, answer = pcall(function()
  order = arguments.token
    and order_of_held(arguments.host, arguments.fingerprint, arguments.token)
  return (order or not arguments.token) and commands[command]()
end)
if not is_done then
  local told = type(answer) == 'table' and answer.err or answer
  redis_call('SET', P .. 'seal', told)
  return redis.error_reply('LOST ' .. told)
end
store_counts()
if command == 'next' or command == 'open' or command == 'renew' then
  redis_call('SET', P .. 'clock', ARGV[4])
end
local begun = set_seal(seal, ARGV[8])
answer = command == 'open' and answer == 'ok' and 'ok ' .. begun or answer
redis_call('SET', P .. 'reply:' .. client, pack({ call, answer }), 'EX', REPLY_KEPT_S)
return answer
