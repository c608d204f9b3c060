-- SPDX-License-Identifier: GPL-2.0-or-later
-- The TCP ports of XOT. Wireshark has a dissector of its own on port 1998: a port is taken from what is
-- there only as long as the preference names it, or somebody asks for the circuits of the capture.

local taken = require("x25shark.taken")

local ports = {}

local LARGEST = 65535
local REGISTERED = 1998

local own, take
local asked = false

-- The ports of a range preference, such as "1998,2000-2010".
local function named(text)
  local found = {}
  for first, last in string.gmatch(text, "(%d+)%-?(%d*)") do
    local from = math.max(math.floor(tonumber(first)), 1)
    local to = math.min(math.floor(tonumber(last) or tonumber(first)), LARGEST)
    for port = from, to do
      found[#found + 1] = port
    end
  end
  return found
end

local function turn_to()
  local found = named(own.prefs.ports)
  if asked and not found[1] then
    found[1] = REGISTERED
  end
  take(found)
  return found
end

-- Somebody wants to know what X.25 a capture holds: with no port named, the registered one is taken.
-- Returns whether that is new, so that what was dissected before has to be dissected again.
function ports.ask()
  local before = asked
  asked = true
  turn_to()
  return not before and not named(own.prefs.ports)[1]
end

-- The ports that are taken, in words.
function ports.told()
  local text = own.prefs.ports
  return named(text)[1] and text or tostring(REGISTERED)
end

function ports.register(proto)
  own, take = proto, taken.by(proto, "tcp.port")
  proto.prefs.ports = Pref.range(
    "TCP ports", "", "TCP ports to dissect strictly, in place of Wireshark's own dissector", LARGEST
  )
  function proto.prefs_changed()
    turn_to()
  end
  DissectorTable.get("tcp.port"):add_for_decode_as(proto)
end

return ports
