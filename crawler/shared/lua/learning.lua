--@ all

-- Part 5, an ordering that learns: the steps of `crawler/frontier/learning.py` and of
-- `crawler/strategies/focus/kernel.py` in their order, so that the numbers are the same. A row has
-- more fields then, and its tier is a number. The fields are the numbers of `Evidence`, packed; the
-- first and the last place in the URL of the directories that are units; the pages that link to the
-- URL, of four kinds; its order of discovery.

local learning
local EVIDENCE, FIRST, LAST, LINKS, ORDER = 10, 11, 12, 13, 17

--@ admit+learns next+learns open+learns seed+learns

local FEATURES, FACTS, KINDS = 16, 5, 4
local WEIGHTS = '<' .. string.rep('d', FEATURES + FEATURES * FEATURES)

--@ open+learns

-- Stores the weights before the crawl: mean and covariance, row by row.
local function store_prior(weights)
  redis_call('HSET', P .. 'belief', 'labelled', 0, 'relevant', 0,
    'weights', struct.pack(WEIGHTS, unpack(weights)))
end

--@ admit+learns next+learns seed+learns

-- `met` are the queued URLs to which the page links, pairs of host and fingerprint. `page` is what the page tells of its links: `host`
-- and `kind` of a page with a label, or the links that each of them `inherits`.
learning = { met = {}, page = { inherits = { 0, 0, 0, 0 } } }

local GRAIN, LEVELS = 1048576, 6
local log, sqrt, floor, pi = math.log, math.sqrt, math.floor, math.pi
-- A tally is one number, which one command changes: this times the pages with a label, and the
-- relevant pages.
local A_LABEL = 67108864

local belief

-- Reads the weights once in a call.
local function read_belief()
  if belief then
    return belief
  end
  local kept = redis_call('HMGET', P .. 'belief', 'labelled', 'relevant', 'weights')
  local numbers = { struct.unpack(WEIGHTS, kept[3] or error('belief', 0)) }
  belief = {
    labelled = tonumber(kept[1]), relevant = tonumber(kept[2]), mean = {}, covariance = {},
    places = {}, tallies = {},
  }
  for i = 1, FEATURES do
    local row = {}
    for j = 1, FEATURES do
      row[j] = numbers[i * FEATURES + j]
    end
    belief.mean[i], belief.covariance[i] = numbers[i], row
  end
  return belief
end

-- Returns the deepest unit of a URL; all others but its domain begin it.
local function deepest_unit(row, host)
  return host .. '/' .. string.sub(row[URL], row[FIRST], row[LAST])
end

local function units_of(row, host)
  local units, deepest = { string.sub(host, -row[DOMAIN]) }, deepest_unit(row, host)
  local at = #host + 1
  while at do
    units[#units + 1] = string.sub(deepest, 1, at)
    at = string.find(deepest, '/', at + 1, true)
  end
  return units
end

-- Reads those tallies of units that this call has not read.
local function read_tallies(units)
  local tallies, missing = belief.tallies, {}
  for _, unit in ipairs(units) do
    if not tallies[unit] then
      missing[#missing + 1] = unit
    end
  end
  for i, kept in ipairs(fields_of('tallies', missing)) do
    local number = tonumber(kept or 0)
    local labelled = floor(number / A_LABEL)
    tallies[missing[i]] = { labelled, number - labelled * A_LABEL }
  end
end

local NO_PAGES = { 0, 0 }

-- Returns the features of domain, host and path, and 1 for a new host.
local function place_of(row, host)
  local deepest = deepest_unit(row, host)
  local place = belief.places[deepest]
  if place then
    return place
  end
  local units, tallies = units_of(row, host), belief.tallies
  read_tallies(units)
  place = {}
  local share = (belief.relevant + 0.5) / (belief.labelled + 1)
  local before = log(share / (1 - share))
  for level = 1, LEVELS do
    local tally = tallies[units[level] or ''] or NO_PAGES
    share = (tally[2] + config.strength * share) / (tally[1] + config.strength)
    if level <= 2 then
      local here = log(share / (1 - share))
      place[level], before = here - before, here
    end
  end
  place[3] = log(share / (1 - share)) - before
  place[4] = 1 / (1 + tallies[units[2]][1])
  belief.places[deepest] = place
  return place
end

local function features_of(row, host)
  local named, decision, top_level, code, declared = unpack_one(row[EVIDENCE])
  local place = place_of(row, host)
  local new = place[4]
  local known = 1 - new
  return {
    1, new, named * new, named * known, decision * new, decision * known, top_level, code,
    log(1 + row[LINKS]), log(1 + row[LINKS + 1]), log(1 + row[LINKS + 2]), log(1 + row[LINKS + 3]),
    declared, place[1], place[2], place[3],
  }
end

-- Returns the features that are not 0, and their places; the others add nothing to a sum.
local function present(features)
  local values, places, n = {}, {}, 0
  for i = 1, FEATURES do
    if features[i] ~= 0 then
      n = n + 1
      values[n], places[n] = features[i], i
    end
  end
  return values, places, n
end

-- Returns minus the log-odds of a URL, and its features.
local function odds_of(row, host)
  read_belief()
  local features = features_of(row, host)
  local values, places, n = present(features)
  local mean, covariance, total, spread = belief.mean, belief.covariance, 0, 0
  for i = 1, n do
    local weights, part = covariance[places[i]], 0
    for j = 1, n do
      part = part + weights[places[j]] * values[j]
    end
    total = total + mean[places[i]] * values[i]
    spread = spread + values[i] * part
  end
  total = total / sqrt(1 + pi * spread / 8)
  return 0 - floor(total * GRAIN + 0.5) / GRAIN, features
end

local function in_full(number)
  return string.format('%.17g', number)
end

-- Returns the tier of a URL in the queue after the falls of its score, at least so many, as text.
local function tier_of(row, host, least)
  local tier, falls = odds_of(row, host), math.max(falls_of(row[TIER]), least)
  return falls == 0 and in_full(tier) or fallen(in_full(tier), falls)
end
learning.tier_of = tier_of

--@ admit+learns seed+learns

-- Returns the numbers of links that a URL of a host has by this page alone.
local function links_of(host)
  local page = learning.page
  if not page.kind then
    return page.inherits
  end
  local links, kind = { 0, 0, 0, 0 }, page.kind + (host == page.host and 2 or 0)
  links[kind] = 1
  return links
end

-- Returns tier and row of a URL that enters the queue.
function learning.first(kept, host, order)
  local row, languages = unpacked(kept)
  for i, number in ipairs(links_of(host)) do
    row[LINKS + i - 1] = number
  end
  row[ORDER] = tonumber(order)
  local tier = tier_of(row, host, 0)
  row[TIER] = tonumber(tier)
  return tier, packed(row, languages)
end

-- Counts links to queued URLs; `found` are the rows that they would have as new URLs.
function learning.meet(hosts, fps, found)
  local rows = {}
  for i, kept in ipairs(fields_of('urls', fps)) do
    if kept then
      local row, languages = unpacked(kept)
      local is_changed = false
      for j, number in ipairs(links_of(hosts[i])) do
        local total = math.min(config.most_counted, row[LINKS + j - 1] + number)
        is_changed = is_changed or total ~= row[LINKS + j - 1]
        row[LINKS + j - 1] = total
      end
      local declared = select(FACTS, unpack_one(unpack_one(found[i])[EVIDENCE]))
      if declared ~= 0 then
        local facts = { unpack_one(row[EVIDENCE]) }
        is_changed = is_changed or facts[FACTS] ~= declared
        facts[FACTS] = declared
        row[EVIDENCE] = pack(unpack(facts))
      end
      if is_changed then
        add(rows, fps[i], packed(row, languages))
      end
      add(learning.met, hosts[i], fps[i])
    end
  end
  write('HSET', P .. 'urls', rows)
end

--@ admit+learns

-- Moves the weights by one page.
local function learn_weights(features, is_relevant)
  local values, places, n = present(features)
  local mean, covariance, gain, spread, total = belief.mean, belief.covariance, {}, 0, 0
  for i = 1, FEATURES do
    local weights, part = covariance[i], 0
    for j = 1, n do
      part = part + weights[places[j]] * values[j]
    end
    gain[i] = part
    spread = spread + part * features[i]
    total = total + mean[i] * features[i]
  end
  local share = 1 / (1 + math.exp(-total))
  local weight = share * (1 - share)
  local step = (is_relevant - share) / (1 + weight * spread)
  local shrinking = weight / (1 + weight * spread)
  for i = 1, FEATURES do
    local weights, part = covariance[i], shrinking * gain[i]
    mean[i] = mean[i] + gain[i] * step
    for j = 1, FEATURES do
      weights[j] = weights[j] - part * gain[j]
    end
  end
end

-- Learns from a settled URL; notes what its page tells of its links.
function learning.learn(host, fp, record)
  local row = unpacked(redis_call('HGET', P .. 'urls', fp))
  local is_labelled = record.is_download == 1 and record.is_labelled == 1
  if record.is_redirect == 1 then
    learning.page = { inherits = { unpack(row, LINKS, LINKS + KINDS - 1) } }
  elseif is_labelled then
    learning.page = { host = host, kind = record.is_relevant == 1 and 1 or 2 }
  end
  read_belief()
  if not is_labelled then
    return
  end
  learn_weights(features_of(row, host), record.is_relevant)
  local units = units_of(row, host)
  for _, unit in ipairs(units) do
    redis_call('HINCRBY', P .. 'tallies', unit, A_LABEL + record.is_relevant)
  end
  belief.labelled = belief.labelled + 1
  belief.relevant = belief.relevant + record.is_relevant
  belief.is_changed, belief.places, belief.tallies = true, {}, {}
end

local function store_belief()
  if belief.is_changed then
    local weights = belief.mean
    for _, row in ipairs(belief.covariance) do
      for _, value in ipairs(row) do
        weights[#weights + 1] = value
      end
    end
    redis_call('HSET', P .. 'belief', 'labelled', belief.labelled, 'relevant', belief.relevant,
      'weights', struct.pack(WEIGHTS, unpack(weights)))
  end
end

-- Returns the queued URLs to which the page links, by host.
local function to_rescore()
  local of_host, fps = {}, {}
  for i = 2, #learning.met, 2 do
    fps[#fps + 1] = learning.met[i]
  end
  for i, kept in ipairs(fields_of('urls', fps)) do
    if kept then
      local host = learning.met[2 * i - 1]
      of_host[host] = of_host[host] or {}
      add(of_host[host], fps[i], kept)
    end
  end
  return of_host
end

-- Takes in hosts with URLs that moved in their queue.
local function note_moved(hosts)
  local leased, free = fields_of('leased', hosts), {}
  for i, ready_at in ipairs(asked('ZMSCORE', P .. 'resting', hosts)) do
    if not ready_at and not leased[i] then
      free[#free + 1] = hosts[i]
    elseif ready_at and is_promising(best_tier_of(hosts[i])) then
      redis_call('ZADD', P .. 'promising', ready_at, hosts[i])
    elseif ready_at then
      redis_call('ZREM', P .. 'promising', hosts[i])
    end
  end
  selection.refresh(free)
end

local function rescore_host(host, urls, rows)
  local kept_lease = redis_call('HGET', P .. 'leased', host)
  local leased = kept_lease and unpack_one(kept_lease)[1]
  local moved = {}
  for i = 1, #urls, 2 do
    local row, languages = unpacked(urls[i + 1])
    local tier = urls[i] ~= leased and tier_of(row, host, 0)
    local now_tier, before = tonumber(tier or row[TIER]), row[TIER]
    if tier and (math.abs(now_tier - before) >= config.least_change
      or (now_tier < 0) ~= (before < 0)) then
      row[TIER] = now_tier
      add(rows, urls[i], packed(row, languages))
      add(moved, tier, string.format('%015d', row[ORDER]) .. urls[i])
    end
  end
  write('ZADD', P .. 'queue:' .. host, moved)
  return #moved > 0
end

-- Scores URLs anew after a page and stores the weights.
function learning.finish()
  local rows, moved = {}, {}
  for name, urls in pairs(to_rescore()) do
    if rescore_host(name, urls, rows) then
      moved[#moved + 1] = name
    end
  end
  write('HSET', P .. 'urls', rows)
  note_moved(moved)
  store_belief()
end

--@ next+learns

-- Returns minus the log-odds of a URL, as text, and their reasons.
function learning.explained(row, host)
  local tier, features = odds_of(row, host)
  local reasons = {}
  for i = 1, FEATURES do
    reasons[i] = string.format('%.3g', features[i] * belief.mean[i])
  end
  return in_full(tier), table.concat(reasons, ' ')
end
