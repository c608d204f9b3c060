-- SPDX-License-Identifier: GPL-2.0-or-later
-- Decoding of one LAPB frame (X.25 2.3) from its octets without FCS. Pure Lua, as packet.lua.
--
-- decode() returns a frame: the values of its fields under the fields' names, `items` (what to show:
-- field, offset, octets, value; nil: the octets themselves), `problems` (expert, sentence), `name`,
-- and for an I frame `packet_offset`.

local lapb = {}

local ADDRESSES = { [0x03] = "A", [0x01] = "B", [0x0f] = "C", [0x07] = "D" }
local SUPERVISORY = { [0x01] = "RR", [0x05] = "RNR", [0x09] = "REJ" }
local UNNUMBERED = {
  [0x2f] = "SABM", [0x6f] = "SABME", [0x43] = "DISC", [0x63] = "UA", [0x0f] = "DM", [0x87] = "FRMR",
}
lapb.addresses = ADDRESSES
lapb.type_names = { [0x00] = "I" }
for _, names in ipairs({ SUPERVISORY, UNNUMBERED }) do
  for kind, name in pairs(names) do
    lapb.type_names[kind] = name
  end
end

local function add(f, name, offset, count, value)
  f[name] = value == nil and true or value
  f.items[#f.items + 1] = { name, offset, count, value }
end

local function blame(f, expert, ...)
  f.problems[#f.problems + 1] = { expert, string.format(...) }
end

-- Bits `first` to `last` (1 is the low-order one) of an octet.
local function bits(octet, first, last)
  return math.floor(octet / 2 ^ (first - 1)) % math.floor(2 ^ (last - first + 1))
end

-- The information field of FRMR (X.25 2.3.4.9): 3 octets, modulo 128: 5 octets.
local function rejection(f, octets, extended)
  local field = octets:sub(3)
  local wanted = extended and 5 or 3
  if #field ~= wanted then
    blame(f, "information.length", "FRMR with %d octets of information, %d are right", #field, wanted)
    return
  end
  local reasons = field:byte(wanted)
  if extended then
    add(f, "rejected_control", 2, 2, field:byte(1) * 256 + field:byte(2))
    add(f, "v_s", 4, 1, bits(field:byte(3), 2, 8))
    add(f, "v_r", 5, 1, bits(field:byte(4), 2, 8))
    add(f, "c_r", 5, 1, bits(field:byte(4), 1, 1))
  else
    add(f, "rejected_control", 2, 1, field:byte(1))
    add(f, "v_r", 3, 1, bits(field:byte(2), 6, 8))
    add(f, "c_r", 3, 1, bits(field:byte(2), 5, 5))
    add(f, "v_s", 3, 1, bits(field:byte(2), 2, 4))
    if bits(field:byte(2), 1, 1) + bits(reasons, 5, 8) > 0 then
      blame(f, "information.reserved", "FRMR with a reserved bit that is not 0")
    end
  end
  for place, name in ipairs({ "w", "x", "y", "z" }) do
    add(f, name, 1 + wanted, 1, bits(reasons, place, place))
  end
end

-- I and supervisory frames carry numbers: N(S) in bits 2-4 and N(R) in 6-8 of the control octet, or
-- modulo 128 N(S) in bits 2-8 of it and N(R) in 2-8, P/F in 1 of the next octet.
local function numbers(f, octets, extended)
  local control = octets:byte(2)
  if not extended then
    add(f, "p_f", 1, 1, bits(control, 5, 5))
    if f.type == 0 then
      add(f, "n_s", 1, 1, bits(control, 2, 4))
    end
    add(f, "n_r", 1, 1, bits(control, 6, 8))
    return 2
  end
  local second = octets:byte(3)
  if f.type == 0 then
    add(f, "n_s", 1, 1, bits(control, 2, 8))
  end
  if not second then
    blame(f, "control.short", "the second control octet is missing")
    return nil
  end
  add(f, "n_r", 2, 1, bits(second, 2, 8))
  add(f, "p_f", 2, 1, bits(second, 1, 1))
  return 3
end

local function information(f, octets, at)
  if #octets > at then
    f.items[#f.items + 1] = { "information", at, #octets - at, nil }
    f.information_length = #octets - at
  end
end

-- Decode the octets (a string of two or more) of one frame; extended: modulo 128.
function lapb.decode(octets, extended)
  local f = { items = {}, problems = {}, name = "undefined frame" }
  local address, control = octets:byte(1, 2)
  add(f, "address", 0, 1, address)
  add(f, "control", 1, 1, control)
  local at
  if control % 2 == 0 then
    f.name = "I"
    add(f, "type", 1, 1, 0)
    at = numbers(f, octets, extended)
    if at then
      information(f, octets, at)
      f.packet_offset = at
    end
    return f
  end
  if control % 4 == 1 then
    local kind = extended and control or control % 16
    add(f, "type", 1, 1, kind)
    f.name = SUPERVISORY[kind]
    if f.name then
      at = numbers(f, octets, extended)
    end
  else
    local kind = control - bits(control, 5, 5) * 16
    add(f, "type", 1, 1, kind)
    add(f, "p_f", 1, 1, bits(control, 5, 5))
    f.name = UNNUMBERED[kind]
    at = 2
  end
  if not f.name then
    f.name = "undefined frame"
    f.items[#f.items + 1] = { "undefined", 0, #octets, 1 }
    f.undefined = 1
    blame(f, "control.undefined", "control octet 0x%02x is not defined", control)
  elseif f.type == 0x87 then
    rejection(f, octets, extended)
  elseif at and #octets > at then
    blame(f, "information.length", "%d octets of information in %s", #octets - at, f.name)
  end
  information(f, octets, at or 2)
  return f
end

-- The frame in one line.
function lapb.summary(f)
  local words = { f.name }
  for _, entry in ipairs({ { "n_s", "N(S)" }, { "n_r", "N(R)" }, { "v_s", "V(S)" }, { "v_r", "V(R)" } }) do
    if f[entry[1]] then
      words[#words + 1] = string.format("%s=%d", entry[2], f[entry[1]])
    end
  end
  if f.undefined then
    words[#words + 1] = string.format("control 0x%02x", f.control)
  end
  if f.p_f == 1 then
    words[#words + 1] = "P/F"
  end
  for _, name in ipairs({ "w", "x", "y", "z" }) do
    if f[name] == 1 then
      words[#words + 1] = name:upper()
    end
  end
  return table.concat(words, " ")
end

return lapb
