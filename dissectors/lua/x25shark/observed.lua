-- SPDX-License-Identifier: GPL-2.0-or-later
-- What the dissectors found in the frame at hand, for the taps of views.lua. Nothing is kept while no
-- tap listens, and only the frame at hand while one does.

local observed = { listening = false }

local number, taken
local packets, findings = {}, {}
local NONE = {}
-- Entries are used again for the next frame: a dense capture has a million packets.
local pool = {}

local function turn_to(frame)
  if number ~= frame or taken then -- the same frame may be dissected again
    number, taken = frame, false
    for i = #packets, 1, -1 do
      packets[i] = nil
    end
    if findings[1] then
      findings = {}
    end
  end
end

-- A packet of the frame of that number: `circuit` names what carries it (with its display filter and the names
-- of ends 1 and 2), `direction` is 1 or 2, `found` a list of findings (expert, sentence) or nil.
function observed.packet(frame, circuit, direction, p, found)
  turn_to(frame)
  local place = #packets + 1
  local entry = pool[place]
  if not entry then
    entry = {}
    pool[place] = entry
  end
  entry.circuit, entry.direction, entry.packet, entry.findings = circuit, direction, p, NONE
  packets[place] = entry
  if not (p.problems[1] or found) then
    return
  end
  entry.findings = {}
  for _, list in ipairs({ p.problems, found or NONE }) do
    for _, finding in ipairs(list) do
      entry.findings[#entry.findings + 1] = { "x25s." .. finding[1], finding[2] }
    end
  end
end

-- Something wrong with what carries packets: the name of an expert info and a sentence.
function observed.finding(frame, name, sentence)
  turn_to(frame)
  findings[#findings + 1] = { name, sentence }
end

-- Packets and further findings of that frame; each tap may ask. They are good until the next frame.
function observed.of(frame)
  if number ~= frame then
    return NONE, NONE
  end
  taken = true
  return packets, findings
end

return observed
