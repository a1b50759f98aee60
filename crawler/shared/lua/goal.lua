--@ admit+servers next+servers seed+servers

-- What an ordering that learns seeks, as `crawler/strategies/focus/goal.py` describes it: servers
-- with a relevant page, words, or a coverage. Relevant pages need none of this.

-- Returns the tier in the queue of a URL; `tier` is minus its log-odds, `place` that of `place_of`.
function goal.tier_of(tier, place)
  if tier < 0 then
    return place.relevant > 0 and tier or tier - config.apart
  end
  return place.relevant > 0 and tier + config.apart or tier
end

--@ admit+words next+words seed+words

local SUMS = { 'pages', 'words', 'squares', 'hosts', 'pages_squared', 'of_hosts' }
local sums

-- Reads the sums over relevant pages once in a call, and what follows from them.
local function read_sums()
  if not sums then
    sums = {}
    for i, value in ipairs(redis_call('HMGET', P .. 'word_sums', unpack(SUMS))) do
      sums[SUMS[i]] = tonumber(value or 0)
    end
  end
  return sums
end

local function share_between_hosts()
  local pages, words, hosts = sums.pages, sums.words, sums.hosts
  if hosts < 2 or pages == hosts then
    return config.prior_share
  end
  local within = (sums.squares - sums.of_hosts) / (pages - hosts)
  local between = (sums.of_hosts - words * words / pages) / (hosts - 1)
  local size = (pages - sums.pages_squared / pages) / (hosts - 1)
  local variance = math.max(0, (between - within) / size)
  local found = variance > 0 and variance / (variance + within) or 0
  local weight = config.prior_hosts + hosts - 1
  return (config.prior_hosts * config.prior_share + (hosts - 1) * found) / weight
end

-- Returns the logarithm of the words to be expected on a relevant page of the deepest unit,
-- relative to the mean of the crawl.
function goal.worth_of(units, tallies)
  read_sums()
  if sums.words == 0 then
    return 0
  end
  local share, mean = share_between_hosts(), sums.words / sums.pages
  local strength, expected = (1 - share) / share, mean
  for i, words in ipairs(fields_of('words', units)) do
    expected = (tonumber(words or 0) + strength * expected) / (tallies[units[i]][2] + strength)
  end
  return math.max(-config.most_worth, math.min(config.most_worth, log(expected / mean)))
end

function goal.tier_of(tier, place)
  local odds, rank = 0 - tier, nil
  if odds > 0 then
    rank = config.base - log(1 + math.exp(-odds)) + place.worth
  else
    rank = math.min(0, odds - log(1 + math.exp(odds)) + place.worth - config.base)
  end
  return 0 - floor(rank * GRAIN + 0.5) / GRAIN
end

--@ admit+words

-- Counts a relevant page for its units; `tallies` are those before it.
function goal.learn(units, tallies, record)
  if record.is_relevant == 0 then
    return
  end
  read_sums()
  local words, host = record.words, units[2]
  local before = tonumber(redis_call('HGET', P .. 'words', host) or 0)
  local pages, total = tallies[host][2] + 1, before + words
  sums.pages, sums.words = sums.pages + 1, sums.words + words
  sums.squares = sums.squares + words * words
  sums.hosts = sums.hosts + (pages == 1 and 1 or 0)
  sums.pages_squared = sums.pages_squared + 2 * pages - 1
  sums.of_hosts = sums.of_hosts + floor(total * total / pages)
  if pages > 1 then
    sums.of_hosts = sums.of_hosts - floor(before * before / (pages - 1))
  end
  local fields = {}
  for _, name in ipairs(SUMS) do
    add(fields, name, sums[name])
  end
  redis_call('HSET', P .. 'word_sums', unpack(fields))
  for _, unit in ipairs(units) do
    redis_call('HINCRBY', P .. 'words', unit, words)
  end
end

--@ admit+coverage drop+coverage next+coverage seed+coverage send+coverage

-- The relevant pages to be expected from the queue, as in `crawler/frontier/remaining.py`: sums of
-- probabilities, and of their variances, in units of 2^-32. Under a host cap each host has its own.

local ONE = 4294967296
local changed_hosts, more = {}, { 0, 0 }

-- Adds the probability of a tier, and its variance, to a pair of sums.
local function add_units(pair, tier, by)
  local doubtful = config.doubts_up_to or 0
  local odds = -tonumber(tier) - doubtful
  if odds <= 0 then
    odds = odds - config.fall * math.floor(odds / config.fall + 0.5)
  else
    while odds < 1 / config.fall do
      odds = math.ldexp(odds, config.shrinking)
    end
  end
  odds = odds + doubtful
  local share = odds >= 0 and 1 / (1 + math.exp(-odds)) or math.exp(odds) / (1 + math.exp(odds))
  pair[1] = pair[1] + by * math.floor(share * ONE + 0.5)
  pair[2] = pair[2] + by * math.floor(share * (1 - share) * ONE + 0.5)
end

local function is_by_host()
  return config.host_cap > 0 and config.host_cap <= config.most_looked_up
end

-- Notes that a queue has another URL: tiers before and after, nil where it is not in the queue.
function goal.note(host, before, after)
  if is_by_host() then
    changed_hosts[host] = true
    return
  end
  if before then
    add_units(more, before, -1)
  end
  if after then
    add_units(more, after, 1)
  end
end

-- Notes that URLs at some places leave a queue.
function goal.note_leaving(host, places)
  if is_by_host() then
    changed_hosts[host] = true
    return
  end
  for _, tier in ipairs(asked('ZMSCORE', P .. 'queue:' .. host, places)) do
    goal.note(host, tier)
  end
end

local function sum_of_host(host)
  local slots = config.host_cap - tonumber(redis_call('HGET', P .. 'settled', host) or 0)
  local now_sum = { 0, 0 }
  if slots > 0 then
    local best = redis_call('ZRANGE', P .. 'queue:' .. host, 0, slots - 1, 'WITHSCORES')
    for i = 2, #best, 2 do
      add_units(now_sum, best[i], 1)
    end
  end
  return now_sum
end

function goal.store()
  for host in pairs(changed_hosts) do
    local now_sum, kept = sum_of_host(host), redis_call('HGET', P .. 'expected', host)
    local before = kept and { unpack_one(kept) } or { 0, 0 }
    more[1], more[2] = more[1] + now_sum[1] - before[1], more[2] + now_sum[2] - before[2]
    if now_sum[1] + now_sum[2] > 0 then
      redis_call('HSET', P .. 'expected', host, pack(unpack(now_sum)))
    elseif kept then
      redis_call('HDEL', P .. 'expected', host)
    end
  end
  if more[1] ~= 0 or more[2] ~= 0 then
    redis_call('HINCRBY', P .. 'remaining', 'sum', more[1])
    redis_call('HINCRBY', P .. 'remaining', 'variance', more[2])
  end
end
