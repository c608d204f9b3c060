-- SPDX-License-Identifier: GPL-2.0-or-later
-- The TCP ports of XOT. Wireshark has a dissector of its own on port 1998: a port is taken from what is
-- there only as long as the preference names it.

local taken = require("x25shark.taken")

local ports = {}

local LARGEST = 65535

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

function ports.register(proto)
  local take = taken.by(proto, "tcp.port")
  proto.prefs.ports = Pref.range(
    "TCP ports", "", "TCP ports to dissect strictly, in place of Wireshark's own dissector", LARGEST
  )
  function proto.prefs_changed()
    take(named(proto.prefs.ports))
  end
  DissectorTable.get("tcp.port"):add_for_decode_as(proto)
end

return ports
