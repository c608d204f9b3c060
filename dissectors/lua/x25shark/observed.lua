-- SPDX-License-Identifier: GPL-2.0-or-later
-- What the dissectors found in the frame at hand, for the taps of views.lua. Nothing is kept while no
-- tap listens, and only the frame at hand while one does.

local observed = { listening = false }

local number, taken
local packets, findings = {}, {}

local function turn_to(pinfo)
  if number ~= pinfo.number or taken then -- the same frame may be dissected again
    number, taken, packets, findings = pinfo.number, false, {}, {}
  end
end

-- A packet: `circuit` names what carries it (with its display filter and the names of ends 1 and 2),
-- `direction` is 1 or 2, `found` a list of findings (expert, sentence) or nil.
function observed.packet(pinfo, circuit, direction, p, found)
  turn_to(pinfo)
  local entry = { circuit = circuit, direction = direction, packet = p, findings = {} }
  packets[#packets + 1] = entry
  for _, list in ipairs({ p.problems, found or {} }) do
    for _, finding in ipairs(list) do
      entry.findings[#entry.findings + 1] = { "x25s." .. finding[1], finding[2] }
    end
  end
end

-- Something wrong with what carries packets: the name of an expert info and a sentence.
function observed.finding(pinfo, name, sentence)
  turn_to(pinfo)
  findings[#findings + 1] = { name, sentence }
end

-- Packets and further findings of that frame; each tap may ask.
function observed.of(pinfo)
  if number ~= pinfo.number then
    return {}, {}
  end
  taken = true
  return packets, findings
end

return observed
