--@ admit seed

-- Part 6, admitting links.

-- The tolerance in force; one with a half-life declines with the downloads of the whole crawl.
local function tolerance()
  if config.half_life == 0 then
    return config.tolerance
  end
  local halvings = math.floor(totals.downloads / config.half_life)
  return math.floor(config.tolerance / 2 ^ halvings)
end

local function drops(tally)
  return config.uses_relevance == 1 and tally[2] == 0 and tally[1] > tolerance()
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

-- Takes in links to known URLs: lists of hosts, fingerprints and tiers. Returns the hosts whose
-- order changed.
local function meet_again(hosts, fps, tiers, languages)
  local rows, lifted = {}, {}
  local more = #languages > 0 and pack(unpack(languages))
  for i, kept in ipairs(fields_of('urls', fps)) do
    local now_kept = kept
    if kept and config.lifts == 1 then
      local row, known = unpacked(kept)
      if tonumber(tiers[i]) < tonumber(row[TIER]) then
        row[TIER] = tiers[i]
        local order = redis_call('HGET', P .. 'orders', fps[i])
        redis_call('ZADD', P .. 'queue:' .. hosts[i], tiers[i], order .. fps[i])
        lifted[#lifted + 1] = hosts[i]
        now_kept = packed(row, known)
      end
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
  return lifted
end

-- Links come host by host in one flat list: host, bucket of its fingerprints ('': each has its
-- own), registered domain ('': no rule asks for it), how many links there are, and for each of them
-- its place among all, its fingerprint, tier, directory ('': no rule asks for it) and row. No
-- fingerprint comes twice.
local HOST_FIELDS, LINK_FIELDS = 4, 5

local function names_of(links)
  local hosts, domains, directories, is_known = {}, {}, {}, { [''] = true }
  local at = 1
  while links[at] do
    local host, domain = links[at], links[at + 2]
    local last = at + HOST_FIELDS + links[at + 3] * LINK_FIELDS
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

local function refusals(units, origin)
  local is_refused = {}
  if origin.is_checked then
    local tallies = config.uses_relevance == 1 and tallies_of(units) or {}
    for _, unit in ipairs(units) do
      is_refused[unit] = not accepts(origin, tallies[unit] or { 0, 0 })
    end
  end
  return is_refused
end

local function are_seen(bucket, fps)
  if bucket ~= '' then
    return asked('SMISMEMBER', P .. 'seen:' .. bucket, fps)
  end
  local seen = {}
  for i, fp in ipairs(fps) do
    seen[i] = redis_call('SISMEMBER', seen_key(fp), fp)
  end
  return seen
end

-- A host that has given slots has seen URLs.
local function check_seen(bucket, seen, slots)
  for i = 1, slots and slots > 0 and bucket ~= '' and #seen or 0 do
    if seen[i] == 1 then
      return
    elseif i == #seen and redis_call('EXISTS', P .. 'seen:' .. bucket) == 0 then
      error('seen:' .. bucket, 0)
    end
  end
end

local function note_seen(bucket, fps)
  if bucket ~= '' then
    write('SADD', P .. 'seen:' .. bucket, fps)
    return
  end
  for _, fp in ipairs(fps) do
    redis_call('SADD', seen_key(fp), fp)
  end
end

-- Returns the number of slots that each of these hosts or directories has given, by its name.
local function slots_of(names, cap)
  local slots = {}
  if cap > 0 then
    for i, number in ipairs(fields_of('admitted', names)) do
      slots[names[i]] = tonumber(number or 0)
    end
  end
  return slots
end

local ANSWERS = {
  s = 'stored', e = 'seen', r = 'rejected', f = 'host_full', m = 'domain_full',
  d = 'directory_full',
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

local function lowered(kept, tier)
  local row, languages = unpacked(kept)
  row[TIER] = tier
  return packed(row, languages)
end

local function cap_of(number)
  return number > 0 and number or math.huge
end

-- Returns one letter for each of `number` links, then one for each repeated link. The loop calls no
-- functions and measures no lists: one call for each link costs as much as all the rest. Links that
-- fall are few.
local function admit_links(number, origin)
  if number == 0 then
    return ''
  end
  local links = unpack_one(ARGV[7])
  local hosts, domains, directories = names_of(links)
  local is_by_directory = config.is_by_directory == 1
  local is_refused = refusals(is_by_directory and directories or hosts, origin)
  local host_slots = slots_of(hosts, config.host_cap)
  local domain_slots, domain_earned = slots_taken(domains, config.domain_cap)
  local directory_slots = slots_of(directories, config.directory_cap)
  local host_cap, directory_cap = cap_of(config.host_cap), cap_of(config.directory_cap)
  local answers, rows, rows_end, orders_of, new_slots = {}, {}, 0, {}, {}
  local better, orders, tiers, places_of = {}, {}, {}, {}
  local met_hosts, met_fps, met_tiers, met_rows, new_taken = {}, {}, {}, {}, {}
  -- Where the ordering learns, settled URLs hold the slots of host and domain.
  local slots_a_link = learning and 0 or 1
  local at = 1
  for _, host in ipairs(hosts) do
    local bucket, domain, first = links[at + 1], links[at + 2], at + HOST_FIELDS
    local fps, fresh, places, changed = {}, {}, {}, {}
    at = first + links[at + 3] * LINK_FIELDS
    for n = 1, links[first - 1] do
      fps[n] = links[first + (n - 1) * LINK_FIELDS + 1]
    end
    local seen = are_seen(bucket, fps)
    check_seen(bucket, seen, host_slots[host])
    local taken, number_fresh, best = host_slots[host] or 0, 0, nil
    local domain_taken = domain_slots[domain] or 0
    local domain_most = most_slots(config.domain_cap, domain_earned[domain] or 0)
    local domain_relevant = domain_earned[domain] or 0
    local level, next_level_at = level_at(config.domain_cap, domain_taken, domain_relevant)
    local queue_left = learning and learning.queue_left(host) or math.huge
    for n, fp in ipairs(fps) do
      local i = first + (n - 1) * LINK_FIELDS
      local place, tier, directory = links[i], links[i + 2], links[i + 3]
      tier = level == 0 and tier or fallen(tier, level)
      if seen[n] == 1 then
        answers[place] = 'e'
        met_hosts[#met_hosts + 1], met_fps[#met_fps + 1] = host, fp
        met_tiers[#met_tiers + 1], met_rows[#met_rows + 1] = tier, links[i + 4]
      elseif is_refused[is_by_directory and directory or host] then
        answers[place] = 'r'
      elseif taken >= host_cap or number_fresh >= queue_left then
        answers[place] = 'f'
      elseif domain_taken >= domain_most then
        answers[place] = 'm'
      elseif (directory_slots[directory] or 0) >= directory_cap then
        answers[place] = 'd'
      else
        local order = order_after(place)
        answers[place] = 's'
        taken, domain_taken = taken + slots_a_link, domain_taken + slots_a_link
        if config.directory_cap > 0 then
          directory_slots[directory] = directory_slots[directory] + 1
          changed[directory] = directory_slots[directory]
        end
        number_fresh, rows_end = number_fresh + 1, rows_end + 2
        fresh[number_fresh] = fp
        places[2 * number_fresh - 1], places[2 * number_fresh] = tier, order .. fp
        rows[rows_end - 1], rows[rows_end] = fp, links[i + 4]
        if learning then
          tier, rows[rows_end] = learning.first(links[i + 4], host, level, order)
          places[2 * number_fresh - 1] = tier
        elseif level > 0 then
          rows[rows_end] = lowered(links[i + 4], tier)
        end
        if level > 0 then
          count('lowered', 1)
        end
        if domain_taken >= next_level_at then
          level, next_level_at = level_at(config.domain_cap, domain_taken, domain_relevant)
        end
        if config.lifts == 1 then
          add(orders_of, fp, order)
        end
        if number_fresh == 1 or (tier ~= best and tonumber(tier) < tonumber(best)) then
          best = tier
          better[#better + (number_fresh == 1 and 1 or 0)] = host
          orders[#better], tiers[#better], places_of[#better] = order, tier, places
        end
      end
    end
    if number_fresh > 0 then
      note_seen(bucket, fresh)
      if learning then
        learning.begin_queue(host, string.sub(places[2], 1, 15))
      end
      write('ZADD', P .. 'queue:' .. host, places)
      for i = 1, goal.note and #places or 0, 2 do
        goal.note(host, nil, places[i])
      end
      changed[host] = config.host_cap * slots_a_link > 0 and taken or nil
      if config.domain_cap * slots_a_link > 0 then
        domain_slots[domain] = domain_taken
        add(new_taken, domain, domain_taken)
      end
      for name, number in pairs(changed) do
        add(new_slots, name, number)
      end
    end
  end
  if #rows > 0 then
    write('HSET', P .. 'urls', rows)
    write('HSET', P .. 'orders', orders_of)
    write('HSET', P .. 'admitted', new_slots)
    write('HSET', P .. 'taken', new_taken)
    count_for_all('order', number)
    improve(better, orders, tiers, places_of)
  end
  if config.lifts == 1 or #origin.inlinks > 0 then
    refresh(meet_again(met_hosts, met_fps, met_tiers, origin.inlinks))
  end
  if learning then
    learning.meet(met_hosts, met_fps, met_rows)
  end
  count_for_all('queued', #rows / 2)
  for _, place in ipairs(arguments.again) do
    answers[#answers + 1] = answers[place] == 's' and 'e' or answers[place]
  end
  count_answers(answers)
  return table.concat(answers)
end
