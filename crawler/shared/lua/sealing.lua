-- Part 6, the seal, by which a call notices that keys of the crawl have vanished: a server that
-- evicts keys, or a person who deletes some. `seal` has the name of this beginning of the crawl and
-- the number of the keys below that exist after the last call.

local SEALED = {
  'rules', 'config', 'workers', 'urls', 'sent', 'delay', 'pages', 'downloaded', 'relevant', 'ready',
  'resting', 'promising', 'leased', 'leases', 'counts', 'drawn', 'clock', 'robots', 'robots_at',
  'robots_bytes', 'taken', 'earned', 'belief', 'tallies', 'settled',
}

for i, name in ipairs(SEALED) do
  SEALED[i] = P .. name
end

local function number_of_keys()
  return redis_call('EXISTS', unpack(SEALED))
end

-- Returns what is wrong with the crawl, nil if nothing is.
local function fault_of_seal(seal, epoch)
  if not seal then
    return number_of_keys() > 0 and 'LOST seal' or command ~= 'open' and 'GONE'
  end
  local begun, number = string.match(seal, '^(%w+) (%d+)$')
  if not begun then
    return 'LOST ' .. seal
  elseif command ~= 'open' and begun ~= epoch then
    return 'GONE'
  end
  local left = number_of_keys()
  if left ~= tonumber(number) then
    return 'LOST ' .. tonumber(number) - left .. ' of ' .. number
  end
end

local function set_seal(seal, epoch)
  local begun = seal and string.match(seal, '^%w+') or epoch
  local new = begun .. ' ' .. number_of_keys()
  if new ~= seal then
    redis_call('SET', P .. 'seal', new)
  end
  return begun
end
