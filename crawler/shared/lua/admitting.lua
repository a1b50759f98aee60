-- Part 3, admitting links.

-- The slots of hosts, domains and addresses are described in `crawler/frontier/slots.py`. A holder
-- is a domain or an address.

-- Returns whether a holder has no slot left, and the number of penalties of its next URL.
local function slots_of(holder, cap)
  if cap == 0 or holder == '' then
    return false, 0
  end
  local taken, relevant = number_in('taken', holder), number_in('earned', holder)
  local free, paid = math.max(1, math.floor(cap / config.free_share)), math.floor(relevant / 2)
  local _, level = math.frexp(math.floor(math.max(0, taken - paid) / free))
  return taken >= cap + config.earned_slots * relevant, level
end

-- Returns the holder without a free slot, domain or address, nil if both have one; and the
-- penalties with the address.
local function full_holder_of(domain, address)
  if slots_of(domain, config.domain_cap) then
    return 'domain_full'
  end
  local is_full, level = slots_of(address, config.address_cap)
  return is_full and 'address_full' or nil, level
end

-- Returns whether a host has no budget of bytes left.
local function is_spent(host)
  return config.host_bytes > 0 and number_in('bytes', host) >= config.host_bytes
end

-- Returns the same for a host with its domain and its address.
local function full_of(host, domain, address)
  if is_spent(host) then
    return 'host_bytes'
  end
  if config.host_cap > 0 and number_in('sent', host) >= config.host_cap then
    return 'host_full'
  end
  return full_holder_of(domain, address)
end

-- Returns the bytes of URLs that a domain may still queue, on other hosts than itself.
local function bytes_left_of(host, domain)
  if domain == '' or domain == host then
    return math.huge
  end
  local slots = config.domain_cap + config.earned_slots * number_in('earned', domain)
  return config.queued_bytes * slots - number_in('found', domain)
end

-- Returns the counted bytes of a URL, by its row.
local function bytes_of(packed_row)
  return math.max(config.least_bytes, #unpack_one(packed_row)[URL])
end

-- Returns N_a and N_r of a server or a directory.
local function tally_of(unit)
  return number_in('downloaded', unit), number_in('relevant', unit)
end

local function drops(downloaded, relevant)
  return config.uses_relevance and relevant == 0 and downloaded > config.tolerance
end

-- Returns whether the filter rejects the links of a page to a unit.
local function refuses(origin, unit)
  if not origin.page_is_relevant and not config.follows_irrelevant_pages then
    return true
  end
  local downloaded, relevant = tally_of(unit)
  return config.is_conservative and origin.source_relevant == 0 and downloaded == 0
    or drops(downloaded, relevant)
end

-- Returns a function that takes the host and the directory of a link, and returns whether the
-- filter rejects the link; each unit is looked up once.
local function filter_of(origin)
  local is_refused, is_closed = {}, {}
  return function(host, directory)
    local unit = config.unit == 'directory' and directory or host
    if is_refused[unit] == nil then
      is_refused[unit] = refuses(origin, unit)
    end
    if is_closed[host] == nil then
      is_closed[host] = config.closes_servers and drops(tally_of(host))
    end
    return is_refused[unit] or is_closed[host]
  end
end

-- Adds the evidence of a link to the row of a queued URL; `packed_row` is the row of a new URL. A
-- list of seeds, with which each session begins, adds no links.
local function add_evidence(row, packed_row, is_list)
  local found = unpack_one(packed_row)
  for i = LINKS, is_list and 0 or LINKS + KINDS - 1 do
    row[i] = math.min(config.most_counted, row[i] + found[i])
  end
  if found[DECLARED] ~= 0 then
    row[DECLARED] = found[DECLARED]
  end
end

-- Updates the evidence and the score of a known URL after a link to the URL. Returns true if the
-- URL's place in the queue changed; a leased URL keeps its place.
local function update_known(host, fp, tier, packed_row, is_list)
  if not (config.learns or config.lifts) then
    return false
  end
  local row, order = row_of(fp)
  if not row then
    return false
  end
  if config.learns then
    add_evidence(row, packed_row, is_list)
  end
  local before, after = tonumber(row[TIER]), tonumber(tier)
  local is_moved = (after < before or config.learns and after ~= before)
    and lease_of(host) ~= fp
  if is_moved then
    row[TIER] = tier
    redis_call('ZADD', P .. 'queue:' .. host, tier, order .. fp)
  end
  keep_row(fp, row, order)
  return is_moved
end

-- Returns the order of a new URL. For uniform draws, the order is the tick until which the URL
-- waits (`langfocus.crawler.frontier.selection.UniformDraw`).
local function order_of(place, tier, waits)
  return string.format('%015d', waits and number_in('drawn', tier) + waits or place)
end

local function enqueue(host, fp, tier, order, packed_row)
  note_seen(fp)
  redis_call('HSET', P .. 'urls', fp, order .. packed_row)
  redis_call('ZADD', P .. 'queue:' .. host, tier, order .. fp)
end

-- Returns the places left in the queue of a host.
local function room_of(host)
  if config.host_queue == 0 then
    return math.huge
  end
  local queued = redis_call('ZCARD', P .. 'queue:' .. host)
  return config.host_queue - queued - number_in('settled', host)
end

-- Returns the links of the call.
local function links_of_call()
  return ARGV[7] ~= '' and unpack_one(ARGV[7]) or {}
end

-- Returns the replication id of the server, which changes when the server becomes a master, and the
-- number of replicas that answered in the last seconds; '' and 0 for a user without the right to
-- ask. Entry ids grow only under one replication id: a replica that becomes the master may have a
-- slower clock, and may lack the last ids.
local function replication()
  local info, near = redis.pcall('INFO', 'replication'), 0
  if type(info) ~= 'string' then
    return '', 0
  end
  for lag in string.gmatch(info, 'state=online,[^\r]*lag=(%d+)') do
    near = near + (tonumber(lag) <= MOST_LAG_S and 1 or 0)
  end
  return string.match(info, 'master_replid:(%x+)'), near
end

-- Stores the links of a page to other shards until delivery: { shard, number, links as JSON }.
local function store_outgoing(origin)
  for _, one in ipairs(arguments.outbox or {}) do
    local target, number, links = unpack(one)
    redis_call('XADD', P .. 'outbox:' .. target, '*', 'number', number, 'links', links,
      'origin', cjson.encode(origin), 'reign', (replication()))
    redis_call('SADD', P .. 'outboxes', target)
    count_for_all('outbox', number)
  end
end

-- Returns whether the id of a stream's entry comes after another; nil is before all.
local function is_later(id, other)
  local at, place = string.match(id, '(%d+)-(%d+)')
  local last, number = string.match(other or '', '(%d+)-(%d+)')
  at, last = tonumber(at), tonumber(last or -1)
  return at > last or at == last and tonumber(place) > tonumber(number)
end

-- Links are grouped by host: { host, registered domain ('': no rule needs it), links }. Each link
-- has the fields place among all links, fingerprint, tier, directory ('': no rule needs it), packed
-- row, number of occurrences in the page, and ticks until its draw. Fingerprints are unique.
-- Without an `origin` no filter applies. Returns the names of the admissions in one text.
local function admit_links(groups, origin)
  local answers, numbers, is_refused = {}, {}, origin and filter_of(origin)
  local discovered, stored = number_in('counts', 'order'), 0
  local function add(answer, times)
    numbers[answer] = (numbers[answer] or 0) + times
  end
  for _, group in ipairs(groups) do
    local host, domain, links = unpack(group)
    local is_changed, bytes, full, room, bytes_left = false, 0
    for _, link in ipairs(links) do
      local place, fp, tier, directory, row, times, waits = unpack(link)
      local answer = is_seen(fp) and 'seen'
      if not answer and not room then
        full, room, bytes_left = full_of(host, domain, ''), room_of(host), bytes_left_of(host, domain)
      end
      answer = answer or room <= 0 and 'host_full' or full or 'stored'
      if answer == 'seen' then
        is_changed = update_known(host, fp, tier, row, not origin) or is_changed
      elseif is_refused and directory ~= IN_SCOPE and is_refused(host, directory) then
        answer = 'rejected'
      elseif answer == 'stored' and bytes_left < math.huge and bytes + bytes_of(row) > bytes_left then
        answer = 'domain_full'
      elseif answer == 'stored' then
        bytes = bytes_left < math.huge and bytes + bytes_of(row) or 0
        is_changed, room, stored = true, room - 1, stored + 1
        enqueue(host, fp, tier, order_of(discovered + place, tier, waits), row)
      end
      answers[place] = answer
      add(answer, 1)
      add(answer == 'stored' and 'seen' or answer, times - 1)
    end
    if bytes > 0 then
      redis_call('HINCRBY', P .. 'found', domain, bytes)
    end
    if is_changed then
      offer(host)
    end
  end
  if stored > 0 then
    count_for_all('order', #answers)
    count_for_all('queued', stored)
  end
  for answer, times in pairs(numbers) do
    count(answer, times)
  end
  return table.concat(answers, ' ')
end
