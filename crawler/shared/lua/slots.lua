-- Part 3, the slots of hosts, domains and addresses, as `crawler/frontier/slots.py` describes them. A
-- holder is a domain or an address.

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

-- Returns what has no slot left for another URL, nil if all have one; and the penalties with its
-- address.
local function full_of(host, domain, address)
  if config.host_cap > 0 and number_in('sent', host) >= config.host_cap then
    return 'host_full'
  elseif slots_of(domain, config.domain_cap) then
    return 'domain_full'
  end
  local is_full, level = slots_of(address, config.address_cap)
  return is_full and 'address_full' or nil, level
end
