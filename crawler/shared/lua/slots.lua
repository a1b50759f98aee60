-- Part 4, the slots of domains and of addresses, as `crawler/frontier/slots.py` describes them. A
-- holder is a domain or an address.

-- Returns the slots taken by each holder and its relevant pages, by its name.
local function slots_taken(holders, cap)
  local taken, earned = {}, {}
  if cap > 0 then
    local relevant = fields_of('earned', holders)
    for i, number in ipairs(fields_of('taken', holders)) do
      taken[holders[i]], earned[holders[i]] = tonumber(number or 0), tonumber(relevant[i] or 0)
    end
  end
  return taken, earned
end

local function most_slots(cap, relevant)
  return cap > 0 and cap + config.earned_slots * relevant or math.huge
end

-- Returns the number of penalties of the next URL. Half as many slots as the holder has relevant pages do
-- not count.
local function penalties_at(cap, taken, relevant)
  if cap == 0 then
    return 0
  end
  local free, paid = math.max(1, math.floor(cap / config.free_share)), math.floor(relevant / 2)
  local _, level = math.frexp(math.floor(math.max(0, taken - paid) / free))
  return level
end
