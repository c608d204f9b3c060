-- SPDX-License-Identifier: GPL-2.0-or-later
-- Places of a dissector table that a strict dissector takes from what is there, and gives back.

local taken = {}

-- Returns a function that takes these keys of the table and gives back all others it has taken.
function taken.by(proto, name)
  local places = DissectorTable.get(name)
  local before = {} -- by key that is taken: what it had, or false
  return function(keys)
    for key, dissector in pairs(before) do
      places:remove(key, proto)
      if dissector then
        places:add(key, dissector)
      end
    end
    before = {}
    for _, key in ipairs(keys) do
      if before[key] == nil then
        before[key] = places:get_dissector(key) or false
        places:add(key, proto)
      end
    end
  end
end

return taken
