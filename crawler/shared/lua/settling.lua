-- Part 6, settling.

-- Takes a URL out of the queue for good.
local function unqueue(host, fp, order)
  if unpacked(redis_call('HGET', P .. 'urls', fp))[SENT] > 0 then
    redis_call('HINCRBY', P .. 'settled', host, 1)
  end
  redis_call('HDEL', P .. 'urls', fp)
  redis_call('ZREM', P .. 'queue:' .. host, order .. fp)
  count_for_all('queued', -1)
end

-- Returns fingerprints and places of the URLs of a host that are queued and got no request: those in
-- a directory, nil: all.
local function unsent_of(host, directory)
  local places, all, fps, members = redis_call('ZRANGE', P .. 'queue:' .. host, 0, -1), {}, {}, {}
  for i, place in ipairs(places) do
    all[i] = string.sub(place, 16)
  end
  for i, kept in ipairs(fields_of('urls', all)) do
    local row = unpacked(kept)
    if row[SENT] == 0 and (not directory or row[DIRECTORY] == directory) then
      fps[#fps + 1], members[#members + 1] = all[i], places[i]
    end
  end
  return fps, members
end

-- Drops URLs of a queue with their places in it; `name` is that of their counter.
local function drop(host, fps, members, name)
  if #fps == 0 then
    return
  end
  write('ZREM', P .. 'queue:' .. host, members)
  write('HDEL', P .. 'urls', fps)
  for _, fp in ipairs(fps) do
    redis_call('SREM', seen_key(fp), fp)
  end
  count_for_all('queued', -#fps)
  count(name, #fps)
end

local function drop_unit(host, directory, name)
  local fps, members = unsent_of(host, directory)
  drop(host, fps, members, name)
end

-- Makes the URL that a page gives as its own a known one; it leaves the queue of the page's host.
local function make_known(host, fp)
  note_seen(fp)
  if redis_call('HEXISTS', P .. 'urls', fp) == 0 then
    return
  end
  for _, place in ipairs(redis_call('ZRANGE', P .. 'queue:' .. host, 0, -1)) do
    if string.sub(place, 16) == fp then
      unqueue(host, fp, string.sub(place, 1, 15))
      count('dropped_same_page', 1)
    end
  end
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
  local is_followed = record.always_followed == 1
  return {
    inlinks = record.inlinks, is_checked = true,
    page_is_relevant = is_followed or record.is_relevant == 1,
    source = is_followed and { 1, 1 } or tally,
  }
end
