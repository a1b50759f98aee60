--@ all

-- Part 7, the calls: a command returns the answer for the client; false means that the lease is not
-- held.

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
    if arguments.address ~= '' then
      redis_call('HINCRBY', P .. 'taken', arguments.address, -1)
    end
  end
  if record.is_download == 1 and record.is_relevant == 1 then
    earn()
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
  local level = level_at(config.address_cap, taken[holder])
  row[LOCATED] = 1
  row[TIER] = level == 0 and row[TIER] or fallen(row[TIER], level)
  redis_call('HSET', P .. 'urls', fp, packed(row, languages))
  redis_call('HINCRBY', P .. 'taken', holder, 1)
  if level == 0 then
    return 'fetch'
  end
  redis_call('ZADD', P .. 'queue:' .. host, row[TIER], order .. fp)
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

-- A call is done once: a client that lost the answer asks again and gets the same answer.

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
