-- Part 4, settling.

-- Removes a settled URL from the queue.
local function unqueue(host, fp, row, order)
  if row[SENT] > 0 then
    redis_call('HINCRBY', P .. 'settled', host, 1)
  end
  redis_call('HDEL', P .. 'urls', fp)
  redis_call('ZREM', P .. 'queue:' .. host, order .. fp)
  count_for_all('queued', -1)
end

-- Drops queued URLs of a host that got no request, if `is_meant` is true of their fingerprint and
-- row. Returns their number, which is counted under a name.
local function drop(host, name, is_meant)
  local leased, number = lease_of(host), 0
  for _, place in ipairs(redis_call('ZRANGE', P .. 'queue:' .. host, 0, -1)) do
    local fp = string.sub(place, ORDER_DIGITS + 1)
    local row = row_of(fp)
    if row[SENT] == 0 and fp ~= leased and is_meant(fp, row) then
      redis_call('ZREM', P .. 'queue:' .. host, place)
      redis_call('HDEL', P .. 'urls', fp)
      forget_seen(fp)
      number = number + 1
    end
  end
  if number > 0 then
    count_for_all('queued', -number)
    count(name, number)
  end
  return number
end

-- Drops the URLs of a host that are in a directory; nil: all. No filter drops URLs in scope.
local function drop_unit(host, directory, name)
  drop(host, name, function(_, row)
    local is_spared = name == 'dropped_irrelevant' and row[DIRECTORY] == IN_SCOPE
    return not is_spared and (not directory or row[DIRECTORY] == directory)
  end)
end

-- Marks a URL as known, and removes it from the queue of its host, unless it is leased or nearer to
-- the seeds than `depth`.
local function make_known(host, fp, depth, name)
  note_seen(fp)
  local row, order = row_of(fp)
  if row and row[DEPTH] >= depth and lease_of(host) ~= fp then
    unqueue(host, fp, row, order)
    count(name, 1)
  end
end

-- Counts the bytes of a settled URL for its host; a host without a budget left loses its queue.
local function count_bytes(host, bytes)
  if config.host_bytes > 0 and bytes > 0 then
    redis_call('HINCRBY', P .. 'bytes', host, bytes)
  end
  if is_spent(host) then
    drop_unit(host, nil, 'dropped_host_bytes')
  end
end

local function count_page(host, record)
  count_for_all('pages', 1)
  count_for_all('labelled', record.is_rated)
  count_for_all('relevant', record.is_wanted)
  if redis_call('HINCRBY', P .. 'pages', host, 1) == 1 then
    count_for_all('hosts', 1)
  end
end

-- Returns the slots of a host's files to its domain after a page, but not to its address: the files
-- may have been requested from another address.
local function repay(host)
  local files = number_in('files', host)
  if files == 0 then
    return
  end
  redis_call('HDEL', P .. 'files', host)
  if arguments.domain ~= '' then
    redis_call('HINCRBY', P .. 'taken', arguments.domain, -files)
  end
end

-- Adds 1 to the domain and the address of the call in a hash; returns whether there is any.
local function add_to_holders(hash)
  local is_counted = false
  for _, holder in ipairs({ arguments.domain, arguments.address }) do
    if holder ~= '' then
      redis_call('HINCRBY', P .. hash, holder, 1)
      is_counted = true
    end
  end
  return is_counted
end

-- Returns N_a and N_r of a page's unit, this page included.
local function tally_with(unit, record)
  if record.is_download == 1 then
    redis_call('HINCRBY', P .. 'downloaded', unit, 1)
    redis_call('HINCRBY', P .. 'relevant', unit, record.is_relevant)
  end
  return tally_of(unit)
end

-- The link that led to a redirect was accepted, so the redirect's target is accepted too; links on
-- a seed are always followed.
local function origin_of(record, relevant)
  local is_followed = record.always_followed == 1
  return {
    page_is_relevant = is_followed or record.is_relevant == 1,
    source_relevant = is_followed and 1 or relevant,
  }
end
