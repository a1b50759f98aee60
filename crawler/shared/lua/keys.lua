#!lua
-- The script of the shared frontier, part 1: keys, rows and counters. A call is one run of it, which
-- Redis does not interrupt.
--
-- `crawler.shared.script` joins the files of this folder.
--
-- KEYS[1] is the prefix of all keys of a crawl, "{name}:"; it is also their hash tag. ARGV has the
-- command, the client, the number of its call, the time (unix seconds), the client's worker, the
-- command's arguments as JSON, links as `admit_links` takes them, and the name of the beginning of
-- the crawl that the client joined. An order, of discovery or of draws, has 15 digits; a tier is minus
-- a score. Keys, after the prefix:
--
--   rules, config          the rules that bind all workers; the values of the last to open: JSON
--   seen:NNNNN             set of the fingerprints that end in these digits; small sets of integers
--                          take the least memory
--   urls                   hash: fingerprint of a queued or leased URL -> order of discovery, then its
--                          row, the languages of pages that link to it and their number, packed
--   queue:HOST             sorted set of such URLs of a host: (tier, order of discovery + fingerprint)
--   sent, settled          hashes: HOST -> URLs that got a request; of these, URLs that left the queue
--   taken, earned          hashes: domain, or "ip " and an address -> URLs that got a request,
--                          relevant pages
--   belief                 hash, of an ordering that learns: WORKER -> what its pages add to the
--                          prior, as `crawler.shared.learner` packs it
--   tallies                hash: domain, host with "/", directories -> pages with a label and relevant
--                          ones, as one number that the workers read and tell how to change
--   delay, pages           hashes: HOST -> own delay, pages it gave
--   downloaded, relevant   hashes: UNIT -> N_a, N_r
--   ready                  sorted set of hosts by their best URL (order of discovery + HOST)
--   heads                  hash: HOST that is ready -> its entry in `ready` (order + tier)
--   resting                sorted set: HOST by the time it may be contacted again
--   promising, hopes       hosts of `resting` and of `leases` whose best URL is not doubtful
--   doubt                  the time from which on only doubtful URLs were ready, unix seconds
--   leased, leases         hash: HOST -> {fingerprint, token, order}; sorted set of these hosts by the
--                          end of their lease
--   counts                 hash of the counters of the whole crawl: see TOTALS
--   counts:WORKER          hash of the other counters of a worker
--   drawn                  hash, where URLs are drawn: TIER -> highest order of a leased URL of it
--   clock                  the time of the latest call that asked for a URL
--   seal                   see "the seal"
--   robots, robots_at      hash: ORIGIN -> time and rules of its robots.txt; sorted set of the origins
--                          by that time
--   robots_bytes           bytes of `robots`, about
--   records:WORKER, reply:CLIENT

local P = KEYS[1]
local command, client, call, now = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local worker, arguments = ARGV[5], cjson.decode(ARGV[6])
local redis_call = redis.call
local pack, unpack_one = cmsgpack.pack, cmsgpack.unpack

-- The most hosts that wake in one call, so that no call holds up the others for long.
local BATCH = 500
local REPLY_KEPT_S = 86400

-- Fields of a URL's row. TRIES are requests, and failures before one. SENT is 1 after the first
-- request, 2 after the server named another spelling. DOMAIN is the length of the host's registered
-- domain, 0 if no rule asks for it. The rows of an ordering that learns also have the evidence, packed
-- by the worker, what pages declared (1: the target language, -1: another), and the pages that link to
-- the URL, of four kinds.
local URL, DIRECTORY, PARENT, DEPTH, REDIRECTS, TRIES, TIER, SENT, DOMAIN = 1, 2, 3, 4, 5, 6, 7, 8, 9
local DECLARED, LINKS, KINDS = 11, 12, 4

local config

local function read_config()
  local text = redis_call('GET', P .. 'config')
  config = text and cjson.decode(text)
  return config
end

-- Many values in one command, because a command costs more than its work. Lua's stack holds some
-- thousand arguments.

local ARGUMENTS = 2000

local function in_parts(redis_command, key, values, do_with)
  for first = 1, #values, ARGUMENTS do
    local last = math.min(first + ARGUMENTS - 1, #values)
    do_with(redis_call(redis_command, key, unpack(values, first, last)), first)
  end
end

local function asked(redis_command, key, names)
  if #names <= ARGUMENTS then
    return #names == 0 and {} or redis_call(redis_command, key, unpack(names))
  end
  local answers = {}
  in_parts(redis_command, key, names, function(part, first)
    for i, value in ipairs(part) do
      answers[first + i - 1] = value
    end
  end)
  return answers
end

local function fields_of(hash, names)
  return asked('HMGET', P .. hash, names)
end

local function write(redis_command, key, values)
  in_parts(redis_command, key, values, function() end)
end

local function add(pairs_of, first, second)
  pairs_of[#pairs_of + 1] = first
  pairs_of[#pairs_of + 1] = second
end

-- All counters are read once and written once in a call.

local TOTALS = {
  'queued', 'pages', 'labelled', 'relevant', 'hosts', 'settled', 'order',
}
local are_totals_changed = false
local counted, counted_names = {}, {}

-- Read when a call asks for the first of them; some calls ask for none.
local totals = setmetatable({}, { __index = function(read, name)
  for i, value in ipairs(redis_call('HMGET', P .. 'counts', unpack(TOTALS))) do
    rawset(read, TOTALS[i], tonumber(value or 0))
  end
  return rawget(read, name)
end })

local function count_for_all(name, number)
  if number ~= 0 then
    totals[name] = totals[name] + number
    are_totals_changed = true
  end
end

local function count(name, number)
  if number ~= 0 then
    if not counted[name] then
      counted_names[#counted_names + 1] = name
    end
    counted[name] = (counted[name] or 0) + number
  end
end

local function store_counts()
  if are_totals_changed then
    local fields = {}
    for _, name in ipairs(TOTALS) do
      add(fields, name, totals[name])
    end
    redis_call('HSET', P .. 'counts', unpack(fields))
  end
  if #counted_names > 0 then
    local fields = {}
    for i, before in ipairs(fields_of('counts:' .. worker, counted_names)) do
      add(fields, counted_names[i], tonumber(before or 0) + counted[counted_names[i]])
    end
    redis_call('HSET', P .. 'counts:' .. worker, unpack(fields))
  end
end

local ORDER_DIGITS = 15

-- Returns the row, the languages and the order of a URL from their packed form.
local function unpacked(kept)
  local values = { unpack_one(string.sub(kept, ORDER_DIGITS + 1)) }
  values[#values] = nil
  return table.remove(values, 1), values, string.sub(kept, 1, ORDER_DIGITS)
end

local function packed(row, languages, order)
  return order .. pack(row, unpack(languages)) .. string.char(#languages)
end

-- Of a URL that is drawn uniformly the order is the tick until which it waits, a time with an
-- exponential distribution: `crawler.frontier.selection.UniformDraw` tells why.
local MEAN_TICKS = 1e9
local clocks

-- Returns the order of a new URL, with its tier and its place among the links of the page.
local function order_of(place, tier)
  if config.is_uniform == 0 then
    return string.format('%015d', totals.order + place)
  end
  if not clocks then
    math.randomseed(arguments.seed)
    clocks = {}
  end
  clocks[tier] = clocks[tier] or tonumber(redis_call('HGET', P .. 'drawn', tier) or 0)
  local waits = math.floor(-math.log(1 - math.random()) * MEAN_TICKS)
  return string.format('%015d', clocks[tier] + waits)
end

local function seen_key(fp)
  return P .. 'seen:' .. string.sub(fp, -5)
end
