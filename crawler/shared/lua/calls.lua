--@ all

-- Part 9, the calls: a command returns the answer for the client; false means that the lease is not
-- held.

local commands = {}

--@ open renew

local function check_worker()
  for _, name in ipairs({ 'records:', 'counts:' }) do
    if redis_call('EXISTS', P .. name .. worker) == 0 then
      error(name .. worker, 0)
    end
  end
end

--@ open

-- The stream and the counters of a worker exist from its first call on, so their loss is noticed.
local function join()
  if redis_call('SADD', P .. 'workers', worker) == 0 then
    return check_worker()
  end
  local stream = P .. 'records:' .. worker
  redis_call('XDEL', stream, redis_call('XADD', stream, '*', 'row', ''))
  redis_call('HSET', P .. 'counts:' .. worker, 'joined', 0)
end

function commands.open()
  local rules = P .. 'rules'
  if redis_call('SET', rules, arguments.rules, 'NX') == false
    and redis_call('GET', rules) ~= arguments.rules then
    return redis_call('GET', rules)
  end
  if arguments.prior and redis_call('EXISTS', P .. 'seal') == 0 then
    store_prior(arguments.prior)
  end
  redis_call('SET', P .. 'config', arguments.config)
  read_config()
  join()
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
  if learning then
    learning.learn(host, fp, record)
  end
  unqueue(host, fp, order)
  local is_full = learning and record.was_fetched == 1
    and learning.take_slot(host, record.is_visited)
  if record.is_redirect == 1 then
    free_slots(host, 1, config.directory_cap > 0 and { directory } or {})
    -- Another address may have given the slot of its last address.
    local address = arguments.address
    if address ~= '' and redis_call('HINCRBY', P .. 'taken', address, -1) < 0 then
      redis_call('HSET', P .. 'taken', address, 0)
    end
  end
  if record.is_download == 1 and record.is_relevant == 1 then
    earn()
  end
  if arguments.canonical ~= '' then
    make_known(host, arguments.bucket, arguments.canonical)
  end
  local tally = tally_with(is_by_directory and directory or host, record)
  local letters = admit_links(arguments.links, origin_of(record, tally))
  if record.is_download == 1 and drops(tally) then
    drop_unit(host, arguments.bucket, is_by_directory and directory or nil,
      'dropped_irrelevant')
  end
  if is_full then
    drop_unit(host, arguments.bucket, nil, 'dropped_host_full')
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
  if learning then
    learning.finish(host)
  end
  end_lease(host)
  rest(host, arguments.was_contacted == 1 and now + delay_of(host) or now)
  return letters
end

--@ locate

function commands.locate()
  local host, fp, holder = arguments.host, arguments.fingerprint, arguments.address
  local order = order_of_held(host, fp, arguments.token)
  if not order then
    return false
  end
  local row, languages = unpacked(redis_call('HGET', P .. 'urls', fp))
  if row[LOCATED] == 1 then
    return 'fetch'
  end
  local taken, earned = slots_taken({ holder }, config.address_cap)
  if taken[holder] >= most_slots(config.address_cap, earned[holder]) then
    return 'full'
  end
  local level = level_at(config.address_cap, taken[holder], earned[holder])
  row[LOCATED] = 1
  local before = row[TIER]
  row[TIER] = level == 0 and row[TIER] or fallen(row[TIER], level)
  if config.learns == 1 then
    row[TIER], row[FALLS] = tonumber(row[TIER]), row[FALLS] + level
  end
  redis_call('HSET', P .. 'urls', fp, packed(row, languages))
  redis_call('HINCRBY', P .. 'taken', holder, 1)
  if level == 0 then
    return 'fetch'
  end
  redis_call('ZADD', P .. 'queue:' .. host, row[TIER], order .. fp)
  if goal.note then
    goal.note(host, before, row[TIER])
  end
  count('lowered', 1)
  end_lease(host)
  rest(host, now)
  return 'later'
end

--@ retry

function commands.retry()
  local host, fp = arguments.host, arguments.fingerprint
  if not order_of_held(host, fp, arguments.token) then
    return false
  end
  local row, languages = unpacked(redis_call('HGET', P .. 'urls', fp))
  if arguments.url == '' then
    row[RETRIES] = row[RETRIES] + 1
    count('retried', 1)
  else
    row[URL], row[REDIRECTS] = arguments.url, row[REDIRECTS] + 1
    if config.learns == 1 then
      row[DOMAIN], row[FIRST], row[LAST] = unpack(arguments.units)
    end
    count('respelled', 1)
  end
  redis_call('HSET', P .. 'urls', fp, packed(row, languages))
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

--@ drop

-- Drops some queued URLs of a host that are blocked, unless they are leased.
function commands.drop()
  local host, fps, members, is_blocked = arguments.host, {}, {}, {}
  local lease = redis_call('HGET', P .. 'leased', host)
  for _, fp in ipairs(arguments.fingerprints) do
    is_blocked[fp] = true
  end
  is_blocked[lease and unpack_one(lease)[1] or ''] = nil
  local drawn = redis_call('HGET', P .. 'drawn', host)
  local drawn_place, drawn_tier = unpack(drawn and unpack_one(drawn) or {})
  for _, place in ipairs(redis_call('ZRANGE', P .. 'queue:' .. host, 0, -1)) do
    local fp = string.sub(place, 16)
    if is_blocked[fp] then
      fps[#fps + 1], members[#members + 1] = fp, place
      if place == drawn_place then
        redis_call('ZREM', P .. 'drawn:' .. drawn_tier, host)
        redis_call('HDEL', P .. 'drawn', host)
      end
    end
  end
  drop(host, arguments.bucket, fps, members, 'dropped_blocked')
  refresh({ host })
  return #fps
end

--@ note

function commands.note()
  for name, number in pairs(arguments.counts) do
    count(name, number)
  end
  return 'ok'
end

--@ delay

function commands.delay()
  redis_call('HSET', P .. 'delay', arguments.host, arguments.delay_s)
  return 'ok'
end

--@ renew

function commands.renew()
  check_worker()
  if redis_call('HLEN', P .. 'urls') ~= totals.queued
    or redis_call('HLEN', P .. 'leased') ~= redis_call('ZCARD', P .. 'leases') then
    error('urls or leases', 0)
  end
  for _, lease in ipairs(arguments.leases) do
    local host, fp, token = unpack(lease)
    if order_of_held(host, fp, token) then
      redis_call('ZADD', P .. 'leases', now + config.lease_s, host)
    end
  end
  return 'ok'
end

--@ keep_robots

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

--@ next

-- Takes the best URL. Where the ordering learns, its score may have fallen meanwhile; then the next
-- best is tried.
local function take()
  if is_budget_leased() then
    return
  end
  local tries, falls = learning and config.most_tried - 1 or 0, config.most_falls
  while tries > 0 and falls > 0 do
    if hopes_for_better() then
      return
    end
    local host, place = selection.take()
    if not host then
      return
    end
    local has_moved, is_lower = learning.fell(host, place)
    if not has_moved then
      return host, place
    end
    tries, falls = tries - (is_lower and 0 or 1), falls - (is_lower and 1 or 0)
  end
  if not hopes_for_better() then
    return selection.take()
  end
end

-- Without a host that is ready, one is leased or rests.
local function check_hosts()
  if totals.queued > 0 and not selection.best()
    and redis_call('EXISTS', P .. 'leases', P .. 'resting') == 0 then
    error('queues of hosts', 0)
  end
end

function commands.next()
  if take_back_expired() == BATCH or wake_rested() == BATCH then
    return 'again'
  end
  local host, place = take()
  if not host then
    check_hosts()
    return 'none'
  end
  local order, fp = string.sub(place, 1, 15), string.sub(place, 16)
  local row, languages = unpacked(redis_call('HGET', P .. 'urls', fp))
  redis_call('HSET', P .. 'leased', host, pack({ fp, client .. ':' .. call, order }))
  redis_call('ZADD', P .. 'leases', now + config.lease_s, host)
  if is_promising(row[TIER]) then
    redis_call('SADD', P .. 'hopes', host)
  end
  local tier, reasons, is_beyond_cap = row[TIER], nil, nil
  if learning then
    tier, reasons, is_beyond_cap = learning.explained(row, host)
  end
  return {
    fp, row[URL], host, tier, tostring(row[DEPTH]), tostring(row[REDIRECTS]),
    tostring(row[RETRIES]), table.concat(languages, ' '), row[PARENT], reasons,
    is_beyond_cap,
  }
end

--@ all

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
local is_done, answer = pcall(commands[command])
if not is_done then
  local told = type(answer) == 'table' and answer.err or answer
  redis_call('SET', P .. 'seal', told)
  return redis.error_reply('LOST ' .. told)
end
store_counts()
if goal.store then
  goal.store()
end
if command == 'next' or command == 'open' or command == 'renew' then
  redis_call('SET', P .. 'clock', ARGV[4])
end
local begun = set_seal(seal, ARGV[8])
answer = command == 'open' and answer == 'ok' and 'ok ' .. begun or answer
redis_call('SET', P .. 'reply:' .. client, pack({ call, answer }), 'EX', REPLY_KEPT_S)
return answer
