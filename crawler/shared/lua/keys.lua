#!lua
-- The script of the shared frontier, part 1: keys, rows and counters. A call is one run of the
-- script, which Redis does not interrupt.
--
-- `langfocus.crawler.shared.redis` joins the files of this folder.
--
-- KEYS[1] is the prefix and the hash tag of all keys of a crawl, "{name}:". ARGV has the command,
-- the client, the number of its call, the time (unix seconds), the client's worker, the command's
-- arguments as JSON, links as `admit_links` takes them, and the name of the beginning of the crawl
-- that the client joined. An order, of discovery or of draws, has 15 digits; a tier is minus a
-- score. Keys, after the prefix:
--
--   rules, config          the rules that bind all workers; values of the last opener: JSON
--   seen:NNNNN             set of the fingerprints that end in these digits; small sets of integers
--                          take the least memory. The mark of a relevant page is another number
--   urls                   hash: fingerprint of a queued or leased URL -> order of discovery, then
--                          the packed row
--   queue:HOST             sorted set of such URLs: (tier, order of discovery + fingerprint)
--   sent, settled          hashes: HOST -> URLs with a request; of these, URLs outside the queue
--   taken, earned          hashes: domain, or "ip " and an address -> taken slots, relevant pages
--   files, found           hashes: HOST -> requests for files since its last page; domain -> bytes
--                          of URLs that its other hosts ever queued
--   bytes                  hash, if hosts have a budget: HOST -> bytes of its settled URLs' bodies
--   belief                 hash, for an ordering that learns: WORKER -> sums of its pages, added to
--                          the prior, packed by `langfocus.crawler.shared.learner`
--   tallies                hash: domain, host with "/", directories -> pages with a label and
--                          relevant pages, as one number (`langfocus.crawler.shared.learner`)
--   delay, pages           hashes: HOST -> crawl delay, downloaded pages
--   downloaded, relevant   hashes: UNIT -> N_a, N_r
--   ready                  sorted set of hosts by their best URL (order of discovery + HOST); an
--                          outdated entry is removed when it becomes the first
--   resting                sorted set: HOST by the time it may be contacted again
--   promising, hopes       hosts of `resting` and of `leases` whose best URL is not doubtful
--   doubt                  the time since which only doubtful URLs were ready, unix seconds
--   leased, leases         hash: HOST -> {fingerprint, token, order, tier, start}; sorted set of
--                          these hosts by the end of their lease
--   counts                 hash of the counters of the whole crawl
--   counts:WORKER          hash of the other counters of a worker
--   drawn                  hash, for draws: TIER -> highest order of a leased URL of the tier
--   clock                  the time of the latest call that asked for a URL
--   seal                   the name of this beginning of the crawl; after a fault the error
--   robots, robots_at      hash: ORIGIN -> time and rules of its robots.txt; sorted set of origins
--                          by time
--   robots_bytes           bytes of `robots`, about
--   records:WORKER, reply:CLIENT
--
-- A crawl with several shards has the prefix "{name/NN}:" for each shard, and these keys besides:
--
--   outbox:NN, outboxes    stream of links to a shard; set of the shards with such links
--   received               hash: shard and its server's reign -> the last entry received from its
--                          outbox
--   quota                  hash: total granted and returned budget; for the whole crawl (prefix
--                          "{name}:") per shard, with the sum granted now and the budget itself

local P = KEYS[1]
local command, client, call, now = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local worker, arguments = ARGV[5], cjson.decode(ARGV[6])
local redis_call = redis.call
local pack, unpack_one = cmsgpack.pack, cmsgpack.unpack

-- The most hosts that wake in one call, so that no call holds up the others for long.
local BATCH = 500
local REPLY_KEPT_S = 86400
local MOST_LAG_S = 5
local ORDER_DIGITS = 15

-- Fields of a URL's row. TRIES are requests, and failures before a request. SENT is 1 after the
-- first request, 2 after the server named another spelling. DOMAIN is the length of the host's
-- registered domain, 0 if no rule needs the domain. The rows of an ordering that learns also have
-- the evidence, packed by the worker, the declared language (1: the target language, -1: another),
-- and the numbers of linking pages, of four kinds.
local URL, DIRECTORY, PARENT, DEPTH, REDIRECTS, TRIES, TIER, SENT, DOMAIN = 1, 2, 3, 4, 5, 6, 7, 8, 9
local DECLARED, LINKS, KINDS = 11, 12, 4

-- The directory of a URL that no filter drops (`langfocus.crawler.frontier.rules`).
local IN_SCOPE = '+'

local config

local function read_config()
  local text = redis_call('GET', P .. 'config')
  config = text and cjson.decode(text)
end

-- Returns a number of a hash of the crawl, 0 for a missing one.
local function number_in(hash, name)
  return tonumber(redis_call('HGET', P .. hash, name) or 0)
end

-- Adds to a counter of the whole crawl, and returns its value.
local function count_for_all(name, number)
  return redis_call('HINCRBY', P .. 'counts', name, number)
end

-- Adds to a counter of the worker.
local function count(name, number)
  if number ~= 0 then
    redis_call('HINCRBY', P .. 'counts:' .. worker, name, number)
  end
end

-- Returns the row and the order of a queued or leased URL; nil for another URL.
local function row_of(fp)
  local kept = redis_call('HGET', P .. 'urls', fp)
  if kept then
    return unpack_one(string.sub(kept, ORDER_DIGITS + 1)), string.sub(kept, 1, ORDER_DIGITS)
  end
end

local function keep_row(fp, row, order)
  redis_call('HSET', P .. 'urls', fp, order .. pack(row))
end

local function is_seen(fp)
  return redis_call('SISMEMBER', P .. 'seen:' .. string.sub(fp, -5), fp) == 1
end

local function note_seen(fp)
  redis_call('SADD', P .. 'seen:' .. string.sub(fp, -5), fp)
end

local function forget_seen(fp)
  redis_call('SREM', P .. 'seen:' .. string.sub(fp, -5), fp)
end
