-- SPDX-License-Identifier: GPL-2.0-or-later
-- Protocols, fields and expert infos of the strict dissector. A field has the name of the Scapy
-- field of the same meaning, so that one expectation can be written for both.

local codes = require("x25shark.codes")
local facilities = require("x25shark.facilities")
local link_fields = require("x25shark.link_fields")

local fields = {}

local function sorted_keys(map)
  local keys = {}
  for key in pairs(map) do
    keys[#keys + 1] = key
  end
  table.sort(keys)
  return keys
end

-- Call once: Wireshark refuses a second protocol of the same name.
function fields.register()
  local xots = Proto("xots", "XOT (strict)")
  local x25s = Proto("x25s", "X.25 packet layer (strict)")
  local x25t = Proto("x25t", "X.25 test record")
  local made = { xots = xots, x25s = x25s, x25t = x25t, xot = {}, packet = {}, record = {}, expert = {} }

  made.xot.version = ProtoField.uint16("xots.version", "Version")
  made.xot.length = ProtoField.uint16("xots.length", "Length")
  made.xot.offset = ProtoField.uint32("xots.offset", "Octets before this unit in this direction")
  xots.fields = made.xot

  local f = made.packet
  local function octet(name, label, base_, values)
    f[name] = ProtoField.uint8("x25s." .. name, label, base_ or base.DEC, values)
  end
  -- Some bits of an octet; a name has one field for each place in which its bits may be.
  local function bits(key, name, label, mask)
    f[key] = ProtoField.uint8("x25s." .. name, label, base.DEC, nil, mask)
  end
  local function bytes(name, label)
    f[name] = ProtoField.bytes("x25s." .. name, label)
  end
  f.offset = ProtoField.uint32("x25s.offset", "Octets before this unit in this direction")
  f.length = ProtoField.uint16("x25s.length", "Octets of the packet")
  bytes("octets", "Packet")
  bits("q", "q", "Q or A bit", 0x80)
  bits("d", "d", "D bit", 0x40)
  octet("modulo", "Modulus code", base.DEC, codes.moduli)
  f.lcn = ProtoField.uint16("x25s.lcn", "Logical channel number")
  octet("type", "Packet type", base.HEX, codes.type_names)
  bits("p_s", "p_s", "P(S)", 0x0e)
  bits("p_s_128", "p_s", "P(S)", 0xfe)
  bits("p_r", "p_r", "P(R)", 0xe0)
  bits("p_r_128", "p_r", "P(R)", 0xfe)
  bits("m", "m", "M bit", 0x10)
  bits("m_128", "m", "M bit", 0x01)
  octet("cause", "Cause", base.HEX)
  octet("diagnostic", "Diagnostic", base.DEC, codes.diagnostics)
  octet("called_address_length", "Called address length")
  octet("calling_address_length", "Calling address length")
  f.called_address = ProtoField.string("x25s.called_address", "Called address")
  f.calling_address = ProtoField.string("x25s.calling_address", "Calling address")
  for _, side in ipairs({ "called", "calling" }) do
    octet(side .. "_type", "Type of " .. side .. " address")
    octet(side .. "_plan", "Numbering plan of " .. side .. " address")
  end
  octet("facility_length", "Facility length")
  bytes("facilities", "Facilities")
  octet("facility_code", "Facility code", base.HEX)
  octet("facility_extended_code", "Extended facility code", base.HEX)
  bytes("facility_value", "Facility parameter")
  -- Of a facility without fields of its own: its name where it stands, or its code, and its parameter.
  f.facility_meaning = ProtoField.string("x25s.facility_meaning", "Facility by its name")
  bytes("user_data", "User data")
  bytes("explanation", "Explanation")
  bytes("trailing", "Octets behind the last field")
  octet("undefined", "Not a packet that X.25 defines")
  octet("registration_length", "Registration length")
  bytes("registration", "Registration")
  octet("pvc_version", "PVC setup version", base.HEX)
  octet("pvc_status", "PVC setup status", base.HEX, codes.pvc_status)
  octet("pvc_initiator_name_length", "Initiator interface name length")
  octet("pvc_responder_name_length", "Responder interface name length")
  f.pvc_initiator_lcn = ProtoField.uint16("x25s.pvc_initiator_lcn", "Initiator LCN")
  f.pvc_responder_lcn = ProtoField.uint16("x25s.pvc_responder_lcn", "Responder LCN")
  octet("pvc_incoming_window", "Sender's incoming window")
  octet("pvc_outgoing_window", "Sender's outgoing window")
  octet("pvc_incoming_packet_size", "Sender's incoming packet size (log2)")
  octet("pvc_outgoing_packet_size", "Sender's outgoing packet size (log2)")
  bytes("pvc_initiator_name", "Initiator interface name")
  bytes("pvc_responder_name", "Responder interface name")
  f.builtin_differs = ProtoField.string("x25s.builtin_differs", "Wireshark's own dissector differs")
  for _, code in ipairs(sorted_keys(facilities.known)) do
    local facility = facilities.known[code]
    for _, field in ipairs(facility.fields) do
      local name = facility.plain and field[1] or (facility.name .. "_" .. field[1])
      local label = name:gsub("_", " ")
      f[name] = ProtoField.uint16("x25s." .. name, label:sub(1, 1):upper() .. label:sub(2))
    end
  end
  x25s.fields = f

  local r = made.record
  r.magic = ProtoField.string("x25t.magic", "Magic")
  r.run = ProtoField.uint32("x25t.run", "Run")
  r.call = ProtoField.uint32("x25t.call", "Call")
  r.sequence = ProtoField.uint32("x25t.sequence", "Sequence")
  r.direction = ProtoField.uint8("x25t.direction", "Direction", base.DEC, { [0] = "A to B", [1] = "B to A" })
  r.length = ProtoField.uint24("x25t.length", "Octets of the record")
  r.crc = ProtoField.uint32("x25t.crc", "CRC-32C", base.HEX)
  r.crc_status = ProtoField.uint8("x25t.crc_status", "CRC-32C status", base.DEC, { [0] = "bad", [1] = "good" })
  x25t.fields = r

  local function experts(proto, prefix, list)
    local group = {}
    for _, entry in ipairs(list) do
      local expert_info = ProtoExpert.new(
        prefix .. "." .. entry[1], entry[2], entry[3] or expert.group.PROTOCOL, entry[4] or expert.severity.ERROR
      )
      made.expert[prefix .. "." .. entry[1]] = expert_info
      group[#group + 1] = expert_info
    end
    proto.experts = group
  end
  local sequence, malformed = expert.group.SEQUENCE, expert.group.MALFORMED
  local warn, note = expert.severity.WARN, expert.severity.NOTE
  experts(xots, "xots", {
    { "version.bad", "XOT version other than 0" },
    { "length.bad", "XOT length that no X.25 packet can have" },
    { "captured.short", "The capture does not hold all octets of this unit", malformed },
    { "offset.unsure", "Octets are missing in the capture before this unit", sequence, warn },
  })
  experts(x25s, "x25s", {
    { "malformed", "Packet too short for its own fields", malformed },
    { "gfi.invalid", "Invalid general format identifier" },
    { "type.undefined", "Undefined packet type" },
    { "lcn.invalid", "Logical channel number must be 0" },
    { "length.invalid", "Packet or user data too long" },
    { "length.empty", "Data packet without user data", nil, note },
    { "address.invalid", "Invalid address" },
    { "facilities.malformed", "Malformed facility field", malformed },
    { "facilities.duplicate", "Facility occurs more than once" },
    { "user_data.invalid", "User data that the call does not allow" },
    { "modulo.differs", "Modulus other than that of the call" },
    { "packet_size.exceeded", "More user data than the agreed packet size" },
    { "p_s.invalid", "P(S) is not the next expected", sequence },
    { "p_r.invalid", "P(R) outside what was sent and not acknowledged", sequence },
    { "window.exceeded", "P(S) outside the window", sequence },
    { "q.inconsistent", "Q bit changes within a packet sequence", sequence },
    { "state.invalid", "Packet not allowed in this state", sequence },
    { "forbidden", "Packet type has no place on XOT", nil, warn },
    { "many", "Too many packets in the segment for layer numbers", nil, warn },
  })
  experts(x25t, "x25t", {
    { "length.bad", "Length of the test record differs from its packet sequence" },
    { "crc.bad", "CRC-32C of the test record is wrong", expert.group.CHECKSUM },
  })
  link_fields.register(made, experts)
  return made
end

return fields
