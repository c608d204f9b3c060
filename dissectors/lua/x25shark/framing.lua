-- SPDX-License-Identifier: GPL-2.0-or-later
-- XOT framing (RFC 1613 4.1) on TCP: version (2 octets), length (2 octets), X.25 packet. Units are
-- cut by the announced length whatever the header says; what is illegal in it is blamed. Connections
-- and their directions are followed here; every unit is known by its octet offset in its direction.

local circuit = require("x25shark.circuit")
local layer = require("x25shark.layer")
local packet = require("x25shark.packet")

local framing = {}

local HEADER = 4
local LONGEST = 4100
local SEQUENCE_SPACE = 4294967296

local made
local connections, frames
local stream_field, completeness_field, sequence_field
local units -- of the segment being dissected
local inside = false
local units_frame

local function reset()
  layer.new_capture()
  connections, frames = {}, {}
  units, inside, units_frame = nil, false, nil
  layer.new_frame()
end

-- The connection and the direction (1 or 2) of the segment.
local function connection_of(pinfo)
  local from = tostring(pinfo.src) .. " " .. pinfo.src_port
  local to = tostring(pinfo.dst) .. " " .. pinfo.dst_port
  local first, second = from, to
  if to < from then
    first, second = to, from
  end
  local key = first .. " " .. second .. " " .. tostring(layer.value_of(stream_field) or "-")
  local connection = connections[key]
  if not connection then
    -- Bit 1 of the completeness is the SYN, bit 2 the SYN, ACK. Unknown where no tree is built.
    local completeness = layer.value_of(completeness_field)
    local from_start = completeness == nil or completeness % 4 ~= 0
    connection = { offsets = { 0, 0 }, circuit = circuit.new(from_start) }
    connections[key] = connection
  end
  return connection, from == first and 1 or 2
end

-- What the first pass found out about a unit is kept by frame and place in the frame.
local function remember(pinfo, tvb, length, connection, direction, octets)
  local key = tvb:offset() * 131072 + length
  local frame = frames[pinfo.number]
  if not pinfo.visited then
    if not frame then
      frame = {}
      frames[pinfo.number] = frame
    end
    local kept = { offset = connection.offsets[direction] }
    connection.offsets[direction] = (kept.offset + HEADER + length) % SEQUENCE_SPACE
    frame[key] = kept
    if octets then
      local p = packet.decode(octets)
      local findings, record = circuit.take(connection.circuit, p, direction, octets)
      kept.findings = #findings > 0 and findings or nil
      kept.record = record
      return kept, p
    end
    return kept, nil
  end
  return (frame and frame[key]) or {}, octets and packet.decode(octets)
end

-- Version and length of a unit; nil where its header was not captured.
local function header_of(tvb)
  if tvb:len() < HEADER then
    return nil
  end
  local high, low, length_high, length_low = tvb:raw(0, HEADER):byte(1, HEADER)
  return high * 256 + low, length_high * 256 + length_low
end

local function dissect_unit(tvb, pinfo, tree)
  local whole = tvb:len()
  local version, length = header_of(tvb)
  if not length or whole < HEADER + length then
    -- The capture holds fewer octets of this segment than were sent (a snap length).
    tree:add(made.xots, tvb()):add_proto_expert_info(made.expert["xots.captured.short"])
    return whole
  end
  local octets = length > 0 and tvb:raw(HEADER, length) or nil
  local kept, p = remember(pinfo, tvb, length, units.connection, units.direction, octets)
  local branch = tree:add(made.xots, tvb())
  if layer.words then
    branch:append_text(string.format(", version %d, %d octets", version, length))
  end
  layer.put(branch, made.xot.version, tvb, 0, 2)
  layer.put(branch, made.xot.length, tvb, 2, 2)
  if kept.offset then
    layer.put_generated(branch, made.xot.offset, tvb, 0, HEADER, kept.offset)
  end
  if units.unsure then
    branch:add_proto_expert_info(made.expert["xots.offset.unsure"])
    units.unsure = false
  end
  if version ~= 0 then
    branch:add_proto_expert_info(made.expert["xots.version.bad"], "version " .. version)
  end
  if length < 3 or length > LONGEST then
    branch:add_proto_expert_info(made.expert["xots.length.bad"], "length " .. length)
  end
  if not p then
    units.summaries[#units.summaries + 1] = "empty unit"
    return whole
  end
  local inner = tvb(HEADER, length):tvb()
  local unit = {
    packet = p, offset = kept.offset, findings = kept.findings, record = kept.record, tvb = inner,
  }
  layer.show(unit, inner, pinfo, tree)
  if layer.words then
    units.summaries[#units.summaries + 1] = unit.summary
  end
  units[#units + 1] = unit
  return whole
end

local function unit_length(tvb, _, offset)
  if tvb:len() < offset + HEADER then
    return HEADER -- a snap length: dissect_unit says so
  end
  local high, low = tvb:raw(offset + 2, 2):byte(1, 2)
  return HEADER + high * 256 + low
end

-- The offset of the segment itself, by TCP's relative sequence number: it must be where the units so
-- far ended, or at most behind that (the start of a unit whose end is here).
local function segment_offset()
  local sequence = layer.value_of(sequence_field)
  return sequence and (sequence - 1) % SEQUENCE_SPACE
end

local function dissect_segment(tvb, pinfo, tree)
  if inside then
    return 0 -- user data that looks like XOT is user data
  end
  if units_frame ~= pinfo.number or not units or units.summaries == nil then
    units_frame = pinfo.number
    layer.new_frame()
  end
  local connection, direction = connection_of(pinfo)
  units = { connection = connection, direction = direction, summaries = {} }
  if not pinfo.visited then
    local at = segment_offset()
    local reached = connection.offsets[direction]
    if at and (at - reached) % SEQUENCE_SPACE < SEQUENCE_SPACE / 2 and at - reached > 4 + 65535 then
      units.unsure = true
    end
  end
  inside = true
  local fine, problem = pcall(dissect_tcp_pdus, tvb, tree, HEADER, unit_length, dissect_unit)
  if fine then
    fine, problem = pcall(layer.hear_builtin, units, pinfo, tree)
  end
  inside = false
  layer.write_columns(pinfo, units.summaries)
  if not fine then
    error(problem, 0)
  end
  return tvb:len()
end

-- Register the dissectors on the TCP ports. `registered` is what fields.register() returned.
function framing.register(registered, ports)
  made = registered
  stream_field = layer.optional_field("tcp.stream")
  completeness_field = layer.optional_field("tcp.completeness")
  sequence_field = layer.optional_field("tcp.seq")
  made.xots.init = reset
  reset()
  made.xots.dissector = dissect_segment
  for _, port in ipairs(ports) do
    DissectorTable.get("tcp.port"):add(port, made.xots)
  end
end

return framing
