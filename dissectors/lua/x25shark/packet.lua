-- SPDX-License-Identifier: GPL-2.0-or-later
-- Decoding of one X.25 packet (X.25 clause 5, RFC 1613 6.5 for PVC setup) from its octets.
-- Pure Lua: it adds nothing to a tree, so that every rule here can be read beside the standard.
--
-- decode() returns a packet: length, gfi, modulo, lcn, type (normalised), name, the values of its
-- fields under the fields' names, `items` (what to show: field, offset, octets, value; a nil value
-- means the octets themselves, and of bits it is the octet that they are in) and `problems` (expert,
-- sentence).

local codes = require("x25shark.codes")
local counted = require("x25shark.counted")
local facilities = require("x25shark.facilities")

local packet = {}

local byte, floor = string.byte, math.floor
local MODULO_8, MODULO_128 = 1, 2
local MOST_FACILITIES = 109

local function add(p, name, offset, count, value)
  p[name] = value == nil and true or value
  p.items[#p.items + 1] = { name, offset, count, value }
end

-- Bits of the octet at `offset`; field: where their place is not always the same.
local function add_bits(p, name, offset, octet, value, field)
  p[name] = value
  p.items[#p.items + 1] = { field or name, offset, 1, octet }
end

local function blame(p, expert, ...)
  p.problems[#p.problems + 1] = { expert, string.format(...) }
end

-- `count` half-octets from half-octet `first` (from 0) of the octets as lower case hex digits.
local function half_octets(octets, first, count)
  local digits = {}
  for i = first, first + count - 1 do
    local octet = octets:byte(math.floor(i / 2) + 1)
    local value = i % 2 == 0 and math.floor(octet / 16) or octet % 16
    digits[#digits + 1] = string.format("%x", value)
  end
  return table.concat(digits)
end

-- One address of the block: `count` half-octets from half-octet `from` of the digits. An address
-- without digits is shown as an empty one, at the address block.
local function one_address(p, side, digits, place)
  local from, left = place.from, place.count
  if p.q == 1 then
    for _, part in ipairs({ "type", "plan" }) do
      if left > 0 then
        local value = tonumber(half_octets(digits, from, 1), 16)
        add(p, side .. "_" .. part, place.first + math.floor(from / 2), 1, value)
        from, left = from + 1, left - 1
      end
    end
  end
  local address = half_octets(digits, from, left)
  local start = place.first + math.floor(from / 2)
  local octets = math.floor((from + left + 1) / 2) - math.floor(from / 2)
  add(p, side .. "_address", left > 0 and start or place.block, left > 0 and octets or 1, address)
  if address:find("[a-f]") then
    blame(p, "address.invalid", "the %s address holds a half-octet above 9", side)
  end
end

-- The address block from octet offset `at`. Returns the offset behind it, or nil.
-- A bit 0: calling length, called length (half an octet each), called digits, calling digits.
-- A bit 1: called length, calling length (an octet each), counting the type of address and the
-- numbering plan, which lead each address.
local function address_block(p, octets, at)
  local header, called, calling
  if p.q == 0 then
    local lengths = octets:byte(at + 1)
    if not lengths then
      return nil
    end
    header, called, calling = 1, lengths % 16, math.floor(lengths / 16)
    add(p, "calling_address_length", at, 1, calling)
    add(p, "called_address_length", at, 1, called)
  else
    called, calling = octets:byte(at + 1), octets:byte(at + 2)
    if not calling then
      blame(p, "malformed", "the address block ends behind the first length")
      return nil
    end
    header = 2
    add(p, "called_address_length", at, 1, called)
    add(p, "calling_address_length", at + 1, 1, calling)
  end
  local first = at + header
  local count = math.floor((called + calling + 1) / 2)
  if first + count > p.length then
    blame(p, "malformed", "the addresses (%d and %d half-octets) end behind the packet", called, calling)
    return nil
  end
  local digits = octets:sub(first + 1, first + count)
  one_address(p, "called", digits, { block = at, first = first, from = 0, count = called })
  one_address(p, "calling", digits, { block = at, first = first, from = called, count = calling })
  if (called + calling) % 2 == 1 and digits:byte(count) % 16 ~= 0 then
    blame(p, "address.invalid", "the filler half-octet behind an odd number of digits is not 0")
  end
  return first + count
end

-- The facility length octet and the facilities from offset `at`. Returns the offset behind them.
local function facility_field(p, octets, at)
  local count = octets:byte(at + 1)
  if not count then
    return nil
  end
  add(p, "facility_length", at, 1, count)
  if at + 1 + count > p.length then
    blame(p, "malformed", "the facility field (%d octets) ends behind the packet", count)
    blame(p, "facilities.malformed", "the facility length %d is larger than the rest of the packet", count)
    return nil
  end
  if count > MOST_FACILITIES then
    blame(p, "facilities.malformed", "the facility length is %d, the largest is %d", count, MOST_FACILITIES)
  end
  if count > 0 then
    p.items[#p.items + 1] = { "facilities", at + 1, count, nil }
    local list, problem = facilities.cut(octets:sub(at + 2, at + 1 + count))
    p.facilities, p.facilities_offset = list, at + 1
    if problem then
      blame(p, "facilities.malformed", "%s", problem)
    end
    local seen = {}
    for _, facility in ipairs(list) do
      if facility.problem then
        blame(p, "facilities.malformed", "%s", facility.problem)
      end
      if facility.code == 0 then
        seen = {}
      elseif facility.code ~= 0xff then
        if seen[facility.code] then
          blame(p, "facilities.duplicate", "facility 0x%02x occurs more than once", facility.code)
        end
        seen[facility.code] = true
      end
    end
  end
  return at + 1 + count
end

local function user_data(p, at, most)
  local count = p.length - at
  if count > 0 then
    p.items[#p.items + 1] = { "user_data", at, count, nil }
    p.user_data_offset, p.user_data_length = at, count
    if most and count > most then
      blame(p, "length.invalid", "%d octets of user data, %d are allowed", count, most)
    end
  end
end

-- Nothing may follow the last field that the standard gives the packet.
local function no_more(p, at)
  if p.length > at then
    blame(p, "length.invalid", "%d octets behind the last field", p.length - at)
  end
end

-- Call set-up (least: everything behind the header may be missing in Call Accepted).
local function call(p, octets)
  local fast_select = p.type == 0x0b and 0 or nil
  if p.length > 3 then
    local at = address_block(p, octets, 3)
    if at and at < p.length then
      at = facility_field(p, octets, at)
      if at then
        if p.type == 0x0b then
          local value = facilities.value_of(p.facilities, "fast_select")
          fast_select = (value and value >= 2) and 1 or 0
        end
        -- Whether a Call Accepted may carry 128 octets depends on the call: circuit.lua looks.
        user_data(p, at, fast_select == 0 and 16 or 128)
      end
    elseif at and p.type == 0x0b then
      blame(p, "malformed", "the facility length is missing")
    end
  end
end

local function cause_and_diagnostic(p, octets)
  if p.length >= 4 then
    add(p, "cause", 3, 1, octets:byte(4))
  end
  if p.length >= 5 then
    add(p, "diagnostic", 4, 1, octets:byte(5))
  end
end

-- Extended format of clearing packets: address block, facilities, clear user data.
local function extended_format(p, octets, at)
  if p.length > at then
    at = address_block(p, octets, at)
    if at and at < p.length then
      at = facility_field(p, octets, at)
      if at and p.type == 0x13 then
        user_data(p, at, 128)
      elseif at then
        no_more(p, at)
      end
    end
  end
end

local function registration(p, octets, at)
  at = address_block(p, octets, at)
  if at and at < p.length then
    local count = octets:byte(at + 1)
    add(p, "registration_length", at, 1, count)
    if at + 1 + count > p.length then
      blame(p, "malformed", "the registration field (%d octets) ends behind the packet", count)
      return
    end
    if count > 0 then
      p.items[#p.items + 1] = { "registration", at + 1, count, nil }
    end
    no_more(p, at + 1 + count)
  elseif at then
    blame(p, "malformed", "the registration length is missing")
  end
end

-- The fixed fields of a PVC setup: name, octets.
local PVC_FIELDS = {
  { "pvc_version", 1 }, { "pvc_status", 1 }, { "pvc_initiator_name_length", 1 },
  { "pvc_initiator_lcn", 2 }, { "pvc_responder_name_length", 1 }, { "pvc_responder_lcn", 2 },
  { "pvc_incoming_window", 1 }, { "pvc_outgoing_window", 1 },
  { "pvc_incoming_packet_size", 1 }, { "pvc_outgoing_packet_size", 1 },
}

local function pvc_setup(p, octets)
  local at = 3
  for _, field in ipairs(PVC_FIELDS) do
    local first, second = octets:byte(at + 1, at + field[2])
    if not first or (field[2] == 2 and not second) then
      return -- the least length of the packet type is blamed already
    end
    add(p, field[1], at, field[2], second and first * 256 + second or first)
    at = at + field[2]
  end
  local initiator, responder = p.pvc_initiator_name_length, p.pvc_responder_name_length
  if at + initiator + responder > p.length then
    blame(p, "malformed", "the interface names (%d and %d octets) end behind the packet", initiator, responder)
    return
  end
  if initiator > 0 then
    p.items[#p.items + 1] = { "pvc_initiator_name", at, initiator, nil }
  end
  if responder > 0 then
    p.items[#p.items + 1] = { "pvc_responder_name", at + initiator, responder, nil }
  end
  no_more(p, at + initiator + responder)
end

local function unnumbered(p, octets, entry)
  add(p, "type", 2, 1, p.type)
  p.name = entry.name
  if p.length < entry.least then
    blame(p, "malformed", "%d octets, a %s has at least %d", p.length, entry.name, entry.least)
  end
  if entry.channel_zero and p.lcn ~= 0 then
    blame(p, "lcn.invalid", "%s on logical channel %d, it must be 0", entry.name, p.lcn)
  end
  if p.d == 1 and p.type ~= 0x0b and p.type ~= 0x0f then
    blame(p, "gfi.invalid", "the D bit is set in a %s", entry.name)
  end
  local address_format = p.type <= 0x17 or p.type == 0xf3 or p.type == 0xf7
  if p.q == 1 and not address_format then
    blame(p, "gfi.invalid", "bit 8 of octet 1 is set in a %s", entry.name)
  end
  local kind = p.type
  if kind == 0x0b or kind == 0x0f then
    call(p, octets)
  elseif kind == 0x13 then
    cause_and_diagnostic(p, octets)
    extended_format(p, octets, 5)
  elseif kind == 0x17 then
    extended_format(p, octets, 3)
  elseif kind == 0x1b or kind == 0xfb then
    cause_and_diagnostic(p, octets)
    no_more(p, 5)
  elseif kind == 0x23 then
    user_data(p, 3, 32)
  elseif kind == 0xf1 then
    if p.length >= 4 then
      add(p, "diagnostic", 3, 1, octets:byte(4))
    end
    if p.length > 4 then
      p.items[#p.items + 1] = { "explanation", 4, p.length - 4, nil }
    end
    if p.length > 7 then
      blame(p, "length.invalid", "%d octets of explanation, 3 are allowed", p.length - 4)
    end
  elseif kind == 0xf3 and p.length > 3 then
    registration(p, octets, 3)
  elseif kind == 0xf7 then
    cause_and_diagnostic(p, octets)
    if p.length > 5 then
      registration(p, octets, 5)
    end
  elseif kind == 0xf5 then
    pvc_setup(p, octets)
  elseif kind == 0x1f or kind == 0x27 or kind == 0xff then
    no_more(p, 3)
  end
end

-- Data, RR, RNR and REJ. Modulo 8: octet 3 holds P(R), M, P(S) or P(R), type. Modulo 128: octet 3
-- holds P(S) or the type, octet 4 P(R) and M.
local function numbered(p, octets, number)
  local octet = octets:byte(3)
  local data = p.type == 0
  p.name = codes.numbered_types[p.type].name
  add(p, "type", 2, 1, p.type)
  local next_offset = 3
  if p.modulo == MODULO_8 then
    if data then
      add_bits(p, "p_s", 2, octet, math.floor(octet / 2) % 8)
      add_bits(p, "m", 2, octet, math.floor(octet / 16) % 2)
    end
    add_bits(p, "p_r", 2, octet, math.floor(octet / 32))
  else
    if data then
      add_bits(p, "p_s", 2, octet, math.floor(octet / 2), "p_s_128")
    end
    if not number then
      blame(p, "malformed", "octet 4 with P(R) is missing")
      return
    end
    if data then
      add_bits(p, "m", 3, number, number % 2, "m_128")
    elseif number % 2 == 1 then
      blame(p, "length.invalid", "bit 1 of octet 4 is not 0")
    end
    add_bits(p, "p_r", 3, number, math.floor(number / 2), "p_r_128")
    next_offset = 4
  end
  if data then
    p.data_offset = next_offset
    user_data(p, next_offset, 4096)
    if p.length == next_offset then
      blame(p, "length.empty", "no user data")
    end
  else
    if p.q == 1 or p.d == 1 then
      blame(p, "gfi.invalid", "bit 8 or 7 of octet 1 is set in %s", p.name)
    end
    no_more(p, next_offset)
  end
end

-- The type octet of a packet with sequence numbers, numbers masked out, or nil.
local function numbered_type(octet, modulo)
  if octet % 2 == 0 then
    return 0x00
  end
  local kind = modulo == MODULO_8 and octet % 32 or octet
  if kind == 0x01 or kind == 0x05 or kind == 0x09 then
    return kind
  end
  return nil
end

local function mark_undefined(p)
  p.undefined = true
  p.items[#p.items + 1] = { "undefined", 0, p.length, 1 }
end

-- Octets that no field has taken, at the end of the packet.
local function leave_rest(p)
  local reached = 0
  for _, item in ipairs(p.items) do
    if item[1] ~= "undefined" then
      reached = math.max(reached, item[2] + item[3])
    end
  end
  if p.length > reached then
    p.items[#p.items + 1] = { "trailing", reached, p.length - reached, nil }
  end
end

-- In the packets of calls bit 8 of octet 1 says how the addresses are written: it needs some.
local function a_bit(p)
  if p.q == 1 and (p.type == 0x0f or p.type == 0x13 or p.type == 0x17) and not p.called_address_length then
    blame(p, "gfi.invalid", "bit 8 of octet 1 is set in a %s without addresses", p.name)
  end
end

local function decode(octets)
  local p = { length = #octets, items = {}, problems = {}, name = "Undefined" }
  local first, second, third, fourth = octets:byte(1, 4)
  if not second then
    blame(p, "malformed", "1 octet, a packet has at least 3")
    mark_undefined(p)
    leave_rest(p)
    return p
  end
  add_bits(p, "q", 0, first, math.floor(first / 128))
  add_bits(p, "d", 0, first, math.floor(first / 64) % 2)
  add(p, "modulo", 0, 1, math.floor(first / 16) % 4)
  add(p, "lcn", 0, 2, first % 16 * 256 + second)
  local good_gfi = p.modulo == MODULO_8 or p.modulo == MODULO_128
  if not good_gfi then
    blame(p, "gfi.invalid", "bits 6 and 5 of octet 1 are %s", p.modulo == 0 and "00" or "11")
  end
  if not third then
    blame(p, "malformed", "2 octets, a packet has at least 3")
    mark_undefined(p)
    return p
  end
  local kind = good_gfi and numbered_type(third, p.modulo)
  local entry = codes.packet_types[third]
  if kind then
    p.type = kind
    numbered(p, octets, fourth)
  elseif good_gfi and entry then
    p.type = third
    unnumbered(p, octets, entry)
    a_bit(p)
  else
    add(p, "type", 2, 1, third)
    if good_gfi then
      blame(p, "type.undefined", "0x%02x is not a packet type", third)
    end
    mark_undefined(p)
  end
  leave_rest(p)
  local known = codes.packet_types[p.type] or codes.numbered_types[p.type]
  if not p.undefined and known and known.not_on_xot then
    p.not_on_xot = true
  end
  return p
end

-- Packets decoded of late, by their octets: most of a capture have been seen before.
local decoded, decoded_count = {}, 0
local MOST_DECODED, LONGEST_DECODED = 2000, 300

local MODULI = {} -- by first octet, where they are those of packets
for first = 0, 255 do
  local modulo = floor(first / 16) % 4
  MODULI[first] = (modulo == MODULO_8 or modulo == MODULO_128) and modulo or nil
end

-- What tells one packet from another: all octets, or a number for one with sequence numbers, where
-- header and length say all that is decoded.
local function identity(octets)
  local first, second, third, fourth = byte(octets, 1, 4)
  if not fourth then
    return octets
  end
  local modulo = MODULI[first]
  if not (modulo and (third % 2 == 0 or (modulo == MODULO_8 and numbered_type(third, modulo)))) then
    return octets
  elseif modulo == MODULO_8 then
    fourth = 0 -- user data
  end
  return (((first * 256 + second) * 256 + third) * 256 + fourth) * 65536 + #octets
end

-- Decode the octets (a string) of one packet. Equal octets share the result: nobody changes it.
function packet.decode(octets)
  local key = identity(octets)
  local p = decoded[key]
  if p then
    return p
  end
  p = decode(octets)
  if type(key) == "number" or #octets <= LONGEST_DECODED then
    if decoded_count >= MOST_DECODED then
      decoded, decoded_count = {}, 0
    end
    decoded[key], decoded_count = p, decoded_count + 1
  end
  return p
end

local function summary(p)
  local words = { p.name }
  local function say(...)
    words[#words + 1] = string.format(...)
  end
  if p.undefined and p.type then
    say("type 0x%02x", p.type)
  end
  if p.modulo == MODULO_128 then
    say("modulo 128")
  end
  if p.lcn then
    say("LCN %d", p.lcn)
  end
  if p.p_s then
    say("P(S)=%d", p.p_s)
  end
  if p.p_r then
    say("P(R)=%d", p.p_r)
  end
  for _, bit in ipairs({ "m", "d" }) do
    if p[bit] == 1 then
      say(string.upper(bit))
    end
  end
  if p.q == 1 then
    say(p.type == 0 and "Q" or "A")
  end
  for _, address in ipairs({ { "to", p.called_address }, { "from", p.calling_address } }) do
    if address[2] and address[2] ~= "" then
      say("%s %s", address[1], address[2])
    end
  end
  if p.cause then
    say("cause 0x%02x (%s)", p.cause, codes.cause_name(p.type, p.cause) or "undefined")
  end
  if p.diagnostic then
    say("diagnostic %d (%s)", p.diagnostic, codes.diagnostics[p.diagnostic] or "undefined")
  end
  if p.pvc_status then
    say("status 0x%02x (%s)", p.pvc_status, codes.pvc_status[p.pvc_status] or "undefined")
  end
  if p.user_data_length then
    say("%s", counted(p.user_data_length, "octet"))
  end
  return table.concat(words, " ")
end

-- The packet in one line, for the Info column and the tree. Found once for each packet.
function packet.summary(p)
  p.summary = p.summary or summary(p)
  return p.summary
end

return packet
