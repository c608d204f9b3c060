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

-- Reading the built-in fields costs the square of the packets in a segment, so only the first ones
-- of each segment are compared.
opinion.MOST_COMPARED = 64
-- A malformed packet leaves a layer behind; Wireshark allows 255 to 500 in a frame.
opinion.MOST_CALLED = 96

local dissector, extractors
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

-- The first value that was not there before, or nil.
local function new_value(extractor, seen)
  if not seen then
    local item = extractor()
    return item and item.value
  end
  for _, item in ipairs({ extractor() }) do
    local key = key_of(item)
    if not seen[key] or seen[key] == 0 then
      return item.value
    end
    seen[key] = seen[key] - 1
  end
  return nil
end

local function as_number(value)
  if type(value) == "boolean" then
    return value and 1 or 0
  elseif value == nil then
    return nil
  end
  return tonumber(tostring(value))
end

-- Run the built-in dissector over one packet. Returns a list of differences (sentences), empty when
-- both agree, or nil when they were not compared.
function opinion.hear(tvb, pinfo, tree, p, compare)
  -- On the first pass a frame comes once: with its first packet nothing has been shown.
  local number = pinfo.number
  local first = not pinfo.visited and frame_heard ~= number
  frame_heard = number
  local before = compare and (first and {} or seen_so_far())
  local fine = pcall(dissector.call, dissector, tvb, pinfo, tree)
  if not compare then
    return nil
  end
  local differences = {}
  local malformed = false
  for _, problem in ipairs(p.problems) do
    malformed = malformed or problem[1] == "malformed" or problem[1] == "facilities.malformed"
  end
  if not fine and not malformed then
    differences[#differences + 1] = "malformed: 0, built-in 1"
  end
  for i, entry in ipairs(extractors) do
    local theirs = as_number(new_value(entry[2], before[i]))
    local ours = p[entry[1]]
    if type(ours) ~= "number" or (entry[4] and entry[4] ~= p.type) then
      ours = nil
    end
    -- Causes have three built-in fields; one that belongs to another packet says nothing.
    if ours ~= theirs and not (entry[4] and ours == nil and theirs == nil) then
      differences[#differences + 1] =
        string.format("%s: %s, built-in %s", entry[1], ours or "none", theirs or "none")
    end
  end
  return differences
end

return opinion
