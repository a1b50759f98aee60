--@ admit drop

-- Part 7, settling.

local function forget_rows(fps)
  write('HDEL', P .. 'urls', fps)
  if config.lifts == 1 then
    write('HDEL', P .. 'orders', fps)
  end
end

local function unqueue(host, fp, order)
  forget_rows({ fp })
  if goal.note then
    goal.note_leaving(host, { order .. fp })
  end
  redis_call('ZREM', P .. 'queue:' .. host, order .. fp)
  count_for_all('queued', -1)
  if learning then
    learning.unqueued = learning.unqueued + 1
  end
end

local function directories_of(fps)
  local directories = {}
  for i, kept in ipairs(fields_of('urls', fps)) do
    directories[i] = unpack_one(kept)[DIRECTORY]
  end
  return directories
end

-- Returns the fingerprints and places of the URLs of a queue that are in a directory, nil: in any.
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

-- Gives back the slots of some URLs of a host and its domain, and those of their directories if
-- these have a cap. Where the ordering learns, queued URLs hold no slots of host and domain.
local function free_slots(host, number, directories)
  if config.host_cap > 0 and config.learns ~= 1 then
    redis_call('HINCRBY', P .. 'admitted', host, -number)
  end
  if config.domain_cap > 0 and config.learns ~= 1 then
    redis_call('HINCRBY', P .. 'taken', arguments.domain, -number)
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

-- Drops URLs of a queue with their places in it; `name` is that of their counter.
local function drop(host, bucket, fps, members, name)
  if #fps == 0 then
    return
  end
  free_slots(host, #fps, config.directory_cap > 0 and directories_of(fps) or {})
  if goal.note then
    goal.note_leaving(host, members)
  end
  write('ZREM', P .. 'queue:' .. host, members)
  forget_rows(fps)
  forget_seen(bucket, fps)
  count_for_all('queued', -#fps)
  count(name, #fps)
end

--@ admit

-- Makes the URL that a page gives as its own a known one; it leaves the queue of the page's host.
local function make_known(host, bucket, fp)
  check_seen(bucket, are_seen(bucket, { fp }), 1)
  note_seen(bucket, { fp })
  if redis_call('HEXISTS', P .. 'urls', fp) == 0 then
    return
  end
  for _, place in ipairs(redis_call('ZRANGE', P .. 'queue:' .. host, 0, -1)) do
    if string.sub(place, 16) == fp then
      free_slots(host, 1, config.directory_cap > 0 and directories_of({ fp }) or {})
      unqueue(host, fp, string.sub(place, 1, 15))
      count('dropped_same_page', 1)
    end
  end
end

local function drop_unit(host, bucket, directory, name)
  local fps, members = of_unit(redis_call('ZRANGE', P .. 'queue:' .. host, 0, -1), directory)
  drop(host, bucket, fps, members, name)
end

local function count_page(host, record)
  count_for_all('pages', 1)
  count_for_all('labelled', record.is_labelled)
  count_for_all('relevant', record.is_relevant)
  if redis_call('HINCRBY', P .. 'pages', host, 1) == 1 then
    count_for_all('hosts', 1)
  end
end

-- A relevant page earns its domain and its address more slots.
local function earn()
  if config.domain_cap > 0 then
    redis_call('HINCRBY', P .. 'earned', arguments.domain, 1)
  end
  if arguments.address ~= '' then
    redis_call('HINCRBY', P .. 'earned', arguments.address, 1)
  end
end

local function tally_with(unit, record)
  if record.is_download == 1 then
    count_for_all('downloads', 1)
    local downloaded = redis_call('HINCRBY', P .. 'downloaded', unit, 1)
    if record.is_relevant == 1 then
      return { downloaded, redis_call('HINCRBY', P .. 'relevant', unit, 1) }
    end
    return { downloaded, tonumber(redis_call('HGET', P .. 'relevant', unit) or 0) }
  end
  return tallies_of({ unit })[unit]
end

-- The link that led to a redirect was accepted, so its target is too; links on a seed are always
-- followed.
local function origin_of(record, tally)
  local is_vouched_for = record.is_vouched_for == 1
  return {
    inlinks = record.inlinks, is_checked = true,
    page_is_relevant = is_vouched_for or record.is_relevant == 1,
    source = is_vouched_for and { 1, 1 } or tally,
  }
end
