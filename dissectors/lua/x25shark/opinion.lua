-- SPDX-License-Identifier: GPL-2.0-or-later
-- The third opinion: Wireshark's own x.25 dissector, run behind the strict one, and where it reads
-- a packet differently. It never judges; a difference outside the known gaps is worth a remark.

local opinion = {}

-- Strict field on the left, built-in field on the right.
local PAIRS = {
  { "type", "x25.type" },
  { "lcn", "x25.lcn" },
  { "p_s", "x25.p_s" },
  { "p_r", "x25.p_r" },
  { "m", "x25.m" },
  { "diagnostic", "x25.diagnostic" },
}
-- The built-in dissector names the cause after the packet.
local CAUSE_FIELDS = { [0x13] = "x25.clear_cause", [0x1b] = "x25.reset_cause", [0xfb] = "x25.restart_cause" }

-- A malformed packet leaves a layer behind; Wireshark allows 255 to 500 in a frame.
opinion.MOST_CALLED = 96

local dissector, extractors
local call = Dissector.call -- looked up once
local frame_heard -- the last frame that the built-in dissector was run in

-- A new capture counts its frames from 1 again.
function opinion.forget()
  frame_heard = nil
end

-- Call while the scripts load: field extractors cannot be made later.
function opinion.prepare()
  dissector = Dissector.get("x.25")
  extractors = {}
  for _, pair in ipairs(PAIRS) do
    local made, extractor = pcall(Field.new, pair[2])
    if made then
      extractors[#extractors + 1] = { pair[1], extractor, pair[2] }
    end
  end
  for kind, name in pairs(CAUSE_FIELDS) do
    local made, extractor = pcall(Field.new, name)
    if made then
      extractors[#extractors + 1] = { "cause", extractor, name, kind }
    end
  end
end

local function key_of(item)
  return item.offset .. "=" .. tostring(item.value)
end

-- What the built-in dissector has shown so far in this frame, per field: place and value, with how
-- often; nil where it has shown nothing. The lists cannot be compared by position: several built-in
-- fields share one name, and Wireshark returns them one after the other.
local function seen_so_far()
  local all = {}
  for i, entry in ipairs(extractors) do
    local extractor = entry[2]
    if extractor() then
      local seen = {}
      for _, item in ipairs({ extractor() }) do
        local key = key_of(item)
        seen[key] = (seen[key] or 0) + 1
      end
      all[i] = seen
    end
  end
  return all
end

-- The place in `borders` (first and last octet of each packet, in their order) of the packet that
-- holds this octet of the frame, or nil.
local function packet_at(borders, offset)
  local low, high = 1, #borders
  while low < high do
    local middle = math.floor((low + high + 1) / 2)
    if borders[middle][1] <= offset then
      low = middle
    else
      high = middle - 1
    end
  end
  local found = borders[low]
  return found and offset >= found[1] and offset <= found[2] and low or nil
end

local function borders_of(units)
  local borders = {}
  for i, unit in ipairs(units) do
    local first = unit.heard:offset()
    borders[i] = { first, first + unit.heard:len() }
  end
  return borders
end

-- For each packet the first value of a built-in field that was not there before. All packets at once:
-- Wireshark gives all that the frame has.
local function new_values(extractor, seen, borders)
  local values = {}
  for _, item in ipairs({ extractor() }) do
    local key = seen and key_of(item)
    if key and (seen[key] or 0) > 0 then
      seen[key] = seen[key] - 1
    else
      local place = packet_at(borders, item.offset)
      if place and values[place] == nil then
        values[place] = item.value
      end
    end
  end
  return values
end

local function as_number(value)
  if type(value) == "boolean" then
    return value and 1 or 0
  elseif value == nil then
    return nil
  end
  return tonumber(tostring(value))
end

local function is_malformed(p)
  for _, problem in ipairs(p.problems) do
    if problem[1] == "malformed" or problem[1] == "facilities.malformed" then
      return true
    end
  end
  return false
end

-- Add to the differences of a packet that of one field, if there is one.
local function compare(differences, entry, p, value)
  local ours, theirs = p[entry[1]], as_number(value)
  if type(ours) ~= "number" or (entry[4] and entry[4] ~= p.type) then
    ours = nil
  end
  -- Causes have three built-in fields; one that belongs to another packet says nothing.
  if ours ~= theirs and not (entry[4] and ours == nil and theirs == nil) then
    differences[#differences + 1] =
      string.format("%s: %s, built-in %s", entry[1], ours or "none", theirs or "none")
  end
end

local function run(unit, pinfo, tree)
  local fine = pcall(call, dissector, unit.heard, pinfo, tree)
  return not fine and not is_malformed(unit.packet) and { "malformed: 0, built-in 1" } or {}
end

-- Run the built-in dissector over the one packet of a frame, of which nothing is compared.
function opinion.pass(tvb, pinfo, tree)
  frame_heard = pinfo.number
  pcall(call, dissector, tvb, pinfo, tree)
end

-- Run the built-in dissector over packets of one segment: of each unit, its octets (heard) are given
-- to it, and its packet is compared if anybody asks for that. Returns for each a list of differences
-- (sentences).
function opinion.hear(units, pinfo, tree, compared)
  -- On the first pass a frame comes once: with its first packet nothing has been shown.
  local number = pinfo.number
  local first = not pinfo.visited and frame_heard ~= number
  frame_heard = number
  local before = compared and (first and {} or seen_so_far())
  local differences = {}
  for i, unit in ipairs(units) do
    differences[i] = run(unit, pinfo, tree)
  end
  if not compared then
    return {}
  elseif first and #units == 1 then
    for _, entry in ipairs(extractors) do
      local item = entry[2]()
      compare(differences[1], entry, units[1].packet, item and item.value)
    end
    return differences
  end
  local borders = borders_of(units)
  for e, entry in ipairs(extractors) do
    local values = new_values(entry[2], before[e], borders)
    for i, unit in ipairs(units) do
      compare(differences[i], entry, unit.packet, values[i])
    end
  end
  return differences
end

return opinion
