-- SPDX-License-Identifier: GPL-2.0-or-later
-- The facility field of call set-up and clearing packets (X.25 clauses 6 and 7, Annex G).
-- The two high bits of a facility code give its class: A one parameter octet, B two, C three,
-- D a length octet and then as many. 0xff announces that the next octet is an extended code.

local facilities = {}

-- Every entry: name and the fields it shows. A field is { name, first octet, octets, how to read }.
-- The strict field is x25s.<name>_<field>, or x25s.<field> where `plain` is set.
-- `dte`: a facility of Annex G, which stands behind the marker 0x0f. How to read:
-- "uint" big endian, "bcd" decimal half-octets as a number, "high"/"low" half an octet, a
-- { shift, width } pair for a bit field, "rest" all octets from there on.
facilities.known = {
  [0x00] = { name = "marker", fields = { { "value", 1, 1, "uint" } } },
  [0x01] = {
    name = "fast_select_reverse_charging",
    plain = true,
    fields = {
      { "fast_select", 1, 1, { 6, 2 } },
      { "redirection", 1, 1, { 4, 2 } },
      { "reserved", 1, 1, { 1, 3 } },
      { "reverse_charging", 1, 1, { 0, 1 } },
    },
  },
  [0x02] = { name = "throughput_class", fields = { { "called", 1, 1, "high" }, { "calling", 1, 1, "low" } } },
  [0x03] = { name = "closed_user_group", fields = { { "index", 1, 1, "bcd" } } },
  [0x04] = { name = "charging_information", fields = { { "value", 1, 1, "uint" } } },
  [0x08] = { name = "called_line_address_modified", fields = { { "reason", 1, 1, "uint" } } },
  [0x09] = { name = "closed_user_group_outgoing_access", fields = { { "index", 1, 1, "bcd" } } },
  [0x0a] = {
    dte = true,
    name = "minimum_throughput_class",
    fields = { { "called", 1, 1, "high" }, { "calling", 1, 1, "low" } },
  },
  [0x0b] = { dte = true, name = "expedited_data", fields = { { "value", 1, 1, "uint" } } },
  [0x41] = { name = "bilateral_closed_user_group", fields = { { "index", 1, 2, "bcd" } } },
  [0x42] = { name = "packet_size", fields = { { "called", 1, 1, "uint" }, { "calling", 2, 1, "uint" } } },
  [0x43] = { name = "window_size", fields = { { "called", 1, 1, "uint" }, { "calling", 2, 1, "uint" } } },
  [0x44] = { name = "roa_selection", fields = { { "dnic", 1, 2, "bcd" } } },
  [0x47] = { name = "closed_user_group_extended", fields = { { "index", 1, 2, "bcd" } } },
  [0x48] = { name = "closed_user_group_outgoing_access_extended", fields = { { "index", 1, 2, "bcd" } } },
  [0x49] = { name = "transit_delay", fields = { { "milliseconds", 1, 2, "uint" } } },
  [0x4c] = {
    name = "extended_throughput_class",
    fields = { { "called", 1, 1, "uint" }, { "calling", 2, 1, "uint" } },
  },
  [0xc1] = { name = "charging_call_duration", fields = {} },
  [0xc2] = { name = "charging_segment_count", fields = {} },
  [0xc3] = { name = "call_redirection_notification", fields = {} },
  [0xc4] = { name = "roa_selection_extended", fields = {} },
  [0xc5] = { name = "charging_monetary_unit", fields = {} },
  [0xc6] = { name = "network_user_identification", fields = {} },
  [0xc9] = { dte = true, semi_octets = true, name = "called_address_extension", fields = {} },
  [0xca] = { dte = true, name = "end_to_end_transit_delay", fields = {} },
  [0xcb] = { dte = true, semi_octets = true, name = "calling_address_extension", fields = {} },
  [0xd1] = { name = "call_deflection_selection", fields = {} },
  [0xd2] = { dte = true, name = "priority", fields = {} },
  [0xd3] = { dte = true, name = "protection", fields = {} },
}

-- The least and the largest value of both octets: 16 to 4096 octets, 1 to 127 packets (X.25 7.2.2).
local RANGES = { [0x42] = { 4, 12 }, [0x43] = { 1, 127 } }

-- A facility field of at most 109 octets holds at most 54 facilities; a hostile one can hold 255
-- octets, and never more entries than octets.
local function class_length(code)
  if code < 0x40 then
    return 1
  elseif code < 0x80 then
    return 2
  elseif code < 0xc0 then
    return 3
  end
  return nil
end

local function number_of(octets, first, count)
  local value = 0
  for i = first, first + count - 1 do
    value = value * 256 + octets:byte(i)
  end
  return value
end

local function digits_of(octets, first, count)
  local value, decimal = 0, true
  for i = first, first + count - 1 do
    local octet = octets:byte(i)
    local high, low = math.floor(octet / 16), octet % 16
    decimal = decimal and high < 10 and low < 10
    value = value * 100 + high * 10 + low
  end
  return value, decimal
end

local function read_field(parameter, field)
  local first, count, how = field[2], field[3], field[4]
  if how == "uint" then
    return number_of(parameter, first, count), true
  elseif how == "bcd" then
    return digits_of(parameter, first, count)
  elseif how == "high" then
    return math.floor(parameter:byte(first) / 16), true
  elseif how == "low" then
    return parameter:byte(first) % 16, true
  end
  return math.floor(parameter:byte(first) / 2 ^ how[1]) % (2 ^ how[2]), true
end

-- Cut the facility field `octets` (a string) into facilities. Returns the list and, where the field
-- does not hold whole facilities, a sentence that says where. Every facility: code, offset (of its
-- code octet, from 0), length (with code and length octets), value_offset, value (a string), values,
-- a list of { field, offset, octets, value }, and without_fields: only code and value show it.
function facilities.cut(octets)
  local list, position, region = {}, 1, nil
  while position <= #octets do
    local start, code = position, octets:byte(position)
    local extended = false
    position = position + 1
    if code == 0xff then
      code, extended = octets:byte(position), true
      if not code then
        return list, string.format("extended facility code missing at facility octet %d", start)
      end
      position = position + 1
    end
    local count = class_length(code)
    if not count then
      count = octets:byte(position)
      if not count then
        return list, string.format("facility 0x%02x without a length octet", code)
      end
      position = position + 1
    end
    if position + count - 1 > #octets then
      return list, string.format("facility 0x%02x ends behind the facility field", code)
    end
    -- An extended facility is shown as code 0xff with everything behind the extended code as value.
    local value_first = extended and start + 2 or position
    local facility = {
      code = extended and 0xff or code,
      extended_code = extended and code or nil,
      offset = start - 1,
      length = position + count - start,
      value_offset = value_first - 1,
      value = octets:sub(value_first, position + count - 1),
      values = {},
    }
    -- Behind a marker other than 0x0f the codes belong to a network, so their meaning is unknown.
    local meaning = not extended and facilities.known[code]
    facility.without_fields = not extended
    if meaning and (code == 0 or region == (meaning.dte and 0x0f or nil)) then
      facility.name = meaning.name
      facility.without_fields = #meaning.fields == 0
      for _, field in ipairs(meaning.fields) do
        local value, valid = read_field(facility.value, field)
        local name = meaning.plain and field[1] or (meaning.name .. "_" .. field[1])
        if valid then
          facility.values[#facility.values + 1] = { name, field[2] - 1, field[3], math.floor(value) }
        else
          facility.problem = string.format("facility 0x%02x holds a half-octet above 9", code)
        end
      end
      local range = RANGES[code]
      for _, value in ipairs(range and facility.values or {}) do
        if value[4] < range[1] or value[4] > range[2] then
          facility.problem = string.format("facility 0x%02x with the value %d", code, value[4])
        end
      end
      if meaning.semi_octets and facility.value ~= "" then
        -- Bits 6 to 1 of the first octet: the half-octets of the address that follows.
        local announced = facility.value:byte(1) % 64
        if announced > 2 * (count - 1) then
          facility.problem = string.format("facility 0x%02x announces %d half-octets", code, announced)
        end
      end
      if code == 0x00 then
        region = facility.value:byte(1)
      end
    end
    list[#list + 1] = facility
    position = position + count
  end
  return list, nil
end

-- The value of one strict field in a list that cut() made, or nil.
function facilities.value_of(list, name)
  for _, facility in ipairs(list or {}) do
    for _, value in ipairs(facility.values) do
      if value[1] == name then
        return value[4]
      end
    end
  end
  return nil
end

return facilities
