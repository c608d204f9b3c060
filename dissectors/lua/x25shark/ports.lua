-- SPDX-License-Identifier: GPL-2.0-or-later
-- The TCP ports of XOT. Wireshark has a dissector of its own on port 1998: a port is taken from what is
-- there only as long as the preference names it.

local ports = {}

local LARGEST = 65535

-- Call `take` for each port of a range preference, such as "1998,2000-2010".
local function each_port(text, take)
  for first, last in string.gmatch(text, "(%d+)%-?(%d*)") do
    local from = math.max(math.floor(tonumber(first)), 1)
    local to = math.min(math.floor(tonumber(last) or tonumber(first)), LARGEST)
    for port = from, to do
      take(port)
    end
  end
end

function ports.register(proto)
  local tcp = DissectorTable.get("tcp.port")
  local before = {} -- by port that is taken: what it had, or false
  proto.prefs.ports = Pref.range(
    "TCP ports", "", "TCP ports to dissect strictly, in place of Wireshark's own dissector", LARGEST
  )
  function proto.prefs_changed()
    for port, dissector in pairs(before) do
      tcp:remove(port, proto)
      if dissector then
        tcp:add(port, dissector)
      end
    end
    before = {}
    each_port(proto.prefs.ports, function(port)
      if before[port] == nil then
        before[port] = tcp:get_dissector(port) or false
        tcp:add(port, proto)
      end
    end)
  end
  tcp:add_for_decode_as(proto)
end

return ports
