-- Part 5, admitting links.

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

-- Adds to the row of a queued URL what a page says of it; `found` is the row that it would have as a
-- new URL. Returns false if that changes nothing.
local function add_evidence(row, found)
  local is_changed = false
  for i = LINKS, LINKS + KINDS - 1 do
    local number = math.min(config.most_counted, row[i] + found[i])
    is_changed, row[i] = is_changed or number ~= row[i], number
  end
  if found[DECLARED] ~= 0 and found[DECLARED] ~= row[DECLARED] then
    is_changed, row[DECLARED] = true, found[DECLARED]
  end
  return is_changed
end

-- Takes in links to known URLs: lists of hosts, fingerprints, tiers, and rows that they would have as
-- new URLs. Returns the hosts whose order changed. The tier of a leased URL stays.
local function meet_again(hosts, fps, tiers, founds, languages)
  local rows, moved, leased = {}, {}, {}
  local more = #languages > 0 and pack(unpack(languages))
  if config.learns == 1 or config.lifts == 1 then
    for i, lease in ipairs(fields_of('leased', hosts)) do
      leased[i] = lease and unpack_one(lease)[1]
    end
  end
  for i, kept in ipairs(fields_of('urls', fps)) do
    local now_kept = kept
    if kept and (config.lifts == 1 or config.learns == 1) then
      local row, known, order = unpacked(kept)
      local tier, before = tonumber(tiers[i]), tonumber(row[TIER])
      local is_changed = config.learns == 1 and add_evidence(row, (unpack_one(founds[i])))
      if leased[i] ~= fps[i] and (tier < before or config.learns == 1 and tier ~= before) then
        row[TIER], is_changed = tiers[i], true
        redis_call('ZADD', P .. 'queue:' .. hosts[i], tiers[i], order .. fps[i])
        moved[#moved + 1] = hosts[i]
      end
      now_kept = is_changed and packed(row, known, order) or kept
    end
    -- The last byte is the number of languages; nothing else of the row is read.
    local number = kept and more and string.byte(kept, -1)
    if number and number < config.max_inlinks then
      now_kept = string.sub(now_kept, 1, -2) .. more .. string.char(number + #languages)
    end
    if now_kept ~= kept then
      add(rows, fps[i], now_kept)
    end
  end
  write('HSET', P .. 'urls', rows)
  return moved
end

-- Links come host by host in one flat list: host, registered domain ('': no rule asks for it), how
-- many links there are, and for each of them its place among all, its fingerprint, tier, directory
-- ('': no rule asks for it) and row. No fingerprint comes twice.
local HOST_FIELDS, LINK_FIELDS = 3, 5

local function names_of(links)
  local hosts, domains, directories, is_known = {}, {}, {}, { [''] = true }
  local at = 1
  while links[at] do
    local host, domain = links[at], links[at + 1]
    local last = at + HOST_FIELDS + links[at + 2] * LINK_FIELDS
    hosts[#hosts + 1] = host
    if not is_known[domain] then
      is_known[domain] = true
      domains[#domains + 1] = domain
    end
    for i = at + HOST_FIELDS, last - 1, LINK_FIELDS do
      local directory = links[i + 3]
      if not is_known[directory] then
        is_known[directory] = true
        directories[#directories + 1] = directory
      end
    end
    at = last
  end
  return hosts, domains, directories
end

local function tallies_of(units)
  local downloaded, relevant = fields_of('downloaded', units), fields_of('relevant', units)
  local tallies = {}
  for i, unit in ipairs(units) do
    tallies[unit] = { tonumber(downloaded[i] or 0), tonumber(relevant[i] or 0) }
  end
  return tallies
end

-- Returns whether the filter refuses each of the links' units, and where it closes them, servers.
local function refusals(hosts, directories, origin)
  local is_refused = {}
  if origin.is_checked then
    local units = config.is_by_directory == 1 and directories or hosts
    local tallies = config.uses_relevance == 1 and tallies_of(units) or {}
    for _, unit in ipairs(units) do
      is_refused[unit] = not accepts(origin, tallies[unit] or { 0, 0 })
    end
    for host, tally in pairs(config.closes_servers == 1 and tallies_of(hosts) or {}) do
      is_refused[host] = drops(tally)
    end
  end
  return is_refused
end

local function is_seen(fp)
  return redis_call('SISMEMBER', seen_key(fp), fp) == 1
end

local function note_seen(fp)
  redis_call('SADD', seen_key(fp), fp)
end

-- Returns the URLs of each of these hosts that got a request, and the places left in its queue, by its
-- name.
local function taken_of(hosts)
  local sent, left = {}, {}
  for i, number in ipairs(config.host_cap > 0 and fields_of('sent', hosts) or {}) do
    sent[hosts[i]] = tonumber(number or 0)
  end
  for i, number in ipairs(config.host_queue > 0 and fields_of('settled', hosts) or {}) do
    local queued = redis_call('ZCARD', P .. 'queue:' .. hosts[i])
    left[hosts[i]] = config.host_queue - queued - tonumber(number or 0)
  end
  return sent, left
end

local ANSWERS = {
  s = 'stored', e = 'seen', r = 'rejected', f = 'host_full', m = 'domain_full',
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

-- Returns one letter for each of `number` links, then one for each repeated link. The loop calls few
-- functions and measures no lists: that would cost as much as all the rest.
local function admit_links(number, origin)
  if number == 0 then
    return ''
  end
  local links = unpack_one(ARGV[7])
  local hosts, domains, directories = names_of(links)
  local is_refused = refusals(hosts, directories, origin)
  local sent, queue_left = taken_of(hosts)
  local domain_taken, domain_earned = slots_taken(domains, config.domain_cap)
  local host_cap = config.host_cap > 0 and config.host_cap or math.huge
  local answers, rows, rows_end = {}, {}, 0
  local better, orders, tiers = {}, {}, {}
  local met_hosts, met_fps, met_tiers, met_rows = {}, {}, {}, {}
  local at = 1
  for _, host in ipairs(hosts) do
    local domain, first, places = links[at + 1], at + HOST_FIELDS, {}
    at = first + links[at + 2] * LINK_FIELDS
    local number_fresh, best = 0, nil
    local most_fresh = (sent[host] or 0) >= host_cap and 0 or queue_left[host] or math.huge
    local most = most_slots(config.domain_cap, domain_earned[domain] or 0)
    local is_full = (domain_taken[domain] or 0) >= most
    for i = first, at - 1, LINK_FIELDS do
      local place, fp, tier, directory = links[i], links[i + 1], links[i + 2], links[i + 3]
      if is_seen(fp) then
        answers[place] = 'e'
        met_hosts[#met_hosts + 1], met_fps[#met_fps + 1] = host, fp
        met_tiers[#met_tiers + 1], met_rows[#met_rows + 1] = tier, links[i + 4]
      elseif is_refused[directory] or is_refused[host] then
        answers[place] = 'r'
      elseif number_fresh >= most_fresh then
        answers[place] = 'f'
      elseif is_full then
        answers[place] = 'm'
      else
        local order = order_of(place, tier)
        answers[place] = 's'
        number_fresh, rows_end = number_fresh + 1, rows_end + 2
        note_seen(fp)
        places[2 * number_fresh - 1], places[2 * number_fresh] = tier, order .. fp
        rows[rows_end - 1], rows[rows_end] = fp, order .. links[i + 4]
        if number_fresh == 1 or (tier ~= best and tonumber(tier) < tonumber(best))
          or (tier == best and order < orders[#better]) then
          best = tier
          better[#better + (number_fresh == 1 and 1 or 0)] = host
          orders[#better], tiers[#better] = order, tier
        end
      end
    end
    if number_fresh > 0 then
      write('ZADD', P .. 'queue:' .. host, places)
    end
  end
  if #rows > 0 then
    write('HSET', P .. 'urls', rows)
    count_for_all('order', number)
    improve(better, orders, tiers)
  end
  if config.lifts == 1 or config.learns == 1 or #origin.inlinks > 0 then
    refresh(meet_again(met_hosts, met_fps, met_tiers, met_rows, origin.inlinks))
  end
  count_for_all('queued', #rows / 2)
  for _, place in ipairs(arguments.again) do
    answers[#answers + 1] = answers[place] == 's' and 'e' or answers[place]
  end
  count_answers(answers)
  return table.concat(answers)
end
