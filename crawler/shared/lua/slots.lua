--@ admit next seed send

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

--@ admit+learns next seed+learns send

-- Returns the number of falls of the next URL. Half as many slots as the holder has relevant pages do
-- not count.
local function level_at(cap, taken, relevant)
  if cap == 0 then
    return 0
  end
  local free, paid = math.max(1, math.floor(cap / config.free_share)), math.floor(relevant / 2)
  local _, level = math.frexp(math.floor(math.max(0, taken - paid) / free))
  return level
end

-- Returns how often a tier fell.
local function falls_of(tier)
  local above = -tonumber(tier) - (config.doubts_up_to or 0)
  if config.doubts_up_to and above > 0 then
    local _, exponent = math.frexp(above)
    return math.max(0, -math.floor((exponent + config.grain_bits - 1) / config.shrinking))
  end
  return math.max(0, math.floor(0.5 - above / config.fall))
end

-- Returns a tier after some falls.
local function fallen(tier, level)
  local score, doubtful = -tonumber(tier), config.doubts_up_to
  if not doubtful or score <= doubtful then
    score = score - level * config.fall
  else
    score = doubtful + math.ldexp(score - doubtful, -config.shrinking * level)
  end
  return string.format('%.17g', -score)
end
