-- SPDX-License-Identifier: GPL-2.0-or-later
-- XOT framing (RFC 1613 4.1) on TCP: version (2 octets), length (2 octets), X.25 packet. Units are
-- cut by the announced length whatever the header says; what is illegal in it is blamed. Connections
-- and their directions are followed here; every unit is known by its octet offset in its direction.

local circuit = require("x25shark.circuit")
local counted = require("x25shark.counted")
local layer = require("x25shark.layer")
local observed = require("x25shark.observed")
local packet = require("x25shark.packet")
local ports = require("x25shark.ports")

local framing = {}

local HEADER = 4
local SHORTEST, LONGEST = 3, 4100 -- lengths that an X.25 packet can have
local SEQUENCE_SPACE = 4294967296

local made, own
local connections, frames, lone_places, lone_offsets
local stream_field, completeness_field, sequence_field
-- Looked up once: each lookup by name in a value of Wireshark's costs about as much as the call.
local tvb_len, tvb_reported_len, tvb_range, tvb_raw = Tvb.len, Tvb.reported_len, Tvb.range, Tvb.raw
local tvb_offset = Tvb.offset
local byte, sub = string.byte, string.sub
local range_tvb = TvbRange.tvb
-- The segment being dissected: its frame's number, whether that has been dissected before, its connection and
-- direction, whether anybody asks for fields of it, whether octets are missing before it; the units shown so
-- far, and their summaries.
local segment = {}
local units, summaries
local inside = false
local units_frame

local function reset()
  layer.new_capture()
  connections, frames, lone_places, lone_offsets = {}, {}, {}, {}
  inside, units_frame = false, nil
  layer.new_frame()
end

-- The connection and the direction (1 or 2) of the segment. The number of the TCP stream finds a
-- connection that is known, and the ports say the direction where they differ.
local function connection_of(pinfo)
  local stream = layer.value_of(stream_field)
  local connection = stream and connections[stream]
  if connection and connection.first_port ~= connection.second_port then
    return connection, pinfo.src_port == connection.first_port and 1 or 2
  end
  local from = tostring(pinfo.src) .. " " .. pinfo.src_port
  local to = tostring(pinfo.dst) .. " " .. pinfo.dst_port
  local forward = from <= to
  local key = stream or (forward and from .. " " .. to or to .. " " .. from)
  connection = connections[key]
  if not connection then
    -- Bit 1 of the completeness is the SYN, bit 2 the SYN, ACK. Unknown where no tree is built.
    local completeness = layer.value_of(completeness_field)
    local from_start = completeness == nil or completeness % 4 ~= 0
    local first_port, second_port = pinfo.src_port, pinfo.dst_port
    if not forward then
      first_port, second_port = second_port, first_port
    end
    connection = {
      offsets = { 0, 0 }, circuit = circuit.new(from_start), first_port = first_port, second_port = second_port,
    }
    connection.carrier = {
      key = key, name = stream and "TCP " .. stream or "TCP", filter = stream and "tcp.stream == " .. stream or "x25s",
      ends = forward and { from, to } or { to, from },
    }
    connections[key] = connection
  end
  return connection, forward and 1 or 2
end

-- What the first pass found out about a unit is kept by frame and place in the frame: its offset, and
-- in a table where there is more. Most frames have one unit of which nothing more is to be said: two
-- numbers each, and no table, so that Lua has no work with a million of them.
local function keep(number, place, kept)
  if lone_places[number] == nil and frames[number] == nil and type(kept) == "number" then
    lone_places[number], lone_offsets[number] = place, kept
    return
  end
  local frame = frames[number]
  if not frame then
    frame = {}
    frames[number] = frame
    if lone_places[number] then
      frame[lone_places[number]] = lone_offsets[number]
    end
  end
  frame[place] = kept
end

-- Offset, findings and record of a unit that was dissected before.
local function recall(number, place)
  local frame = frames[number]
  local kept = frame and frame[place]
  if type(kept) == "table" then
    return kept.offset, kept.findings, kept.record
  elseif not frame and lone_places[number] == place then
    kept = lone_offsets[number]
  end
  return kept, nil, nil
end

-- A unit's place in its frame, as a number: it is at this octet of the tvb.
local function place_of(tvb, at, length)
  return (tvb_offset(tvb) + at) * 131072 + length
end

-- Take a unit into its connection, or recall what it was. Returns offset, findings, record, packet.
local function follow(tvb, at, length, octets)
  local p = octets and packet.decode(octets) or nil
  if segment.visited then
    local offset, findings, record = recall(segment.number, place_of(tvb, at, length))
    return offset, findings, record, p
  end
  local connection, direction = segment.connection, segment.direction
  local offset = connection.offsets[direction]
  connection.offsets[direction] = (offset + HEADER + length) % SEQUENCE_SPACE
  local findings, record
  if p then
    findings, record = circuit.take(connection.circuit, p, direction, octets)
  end
  if not layer.one_pass then
    local kept = (findings or record) and { offset = offset, findings = findings, record = record } or offset
    keep(segment.number, place_of(tvb, at, length), kept)
  end
  return offset, findings, record, p
end

-- Version and length of the unit that begins at `from` (from 1) of the octets; nil where its header is
-- not whole.
local function header_of(octets, from)
  local high, low, length_high, length_low = byte(octets, from, from + HEADER - 1)
  if not length_low then
    return nil
  end
  return high * 256 + low, length_high * 256 + length_low
end

local NONE = {}

-- What is wrong with the header of a unit: the expert info and a sentence.
local function header_findings(version, length)
  if version == 0 and length >= SHORTEST and length <= LONGEST then
    return NONE
  end
  local found = {}
  if version ~= 0 then
    found[1] = { "xots.version.bad", "version " .. version }
  end
  if length < SHORTEST or length > LONGEST then
    found[#found + 1] = { "xots.length.bad", "length " .. length }
  end
  return found
end

-- The packets of a segment of which nobody asks for fields, and their octets, for Wireshark's own dissector; no
-- table is made for each.
local later = { packets = {}, tvbs = {}, count = 0 }

local function hear_later(p, tvb)
  local place = later.count + 1
  later.count = place
  later.packets[place], later.tvbs[place] = p, tvb
end

-- One whole unit, at this octet of the tvb; what stands behind `length` is what follow() said of it.
local function show_followed(whole, at, pinfo, tree, version, length, place, findings, record, p)
  local wrong = header_findings(version, length)
  if observed.listening then
    for _, finding in ipairs(wrong) do
      observed.finding(segment.number, finding[1], finding[2])
    end
    if p then
      observed.packet(segment.number, segment.connection.carrier, segment.direction, p, findings)
    end
  end
  local plain = wrong == NONE and not (findings or segment.unsure or p.problems[1])
    and not (record and layer.speaks(record, tree))
  if plain and not segment.wanted then
    summaries[#summaries + 1] = layer.words and packet.summary(p) or nil
    hear_later(p, range_tvb(tvb_range(whole, at + HEADER, length)))
    return
  end
  local alone = at == 0 and tvb_len(whole) == HEADER + length
  local tvb = alone and whole or range_tvb(tvb_range(whole, at, HEADER + length))
  local branch = tree:add(made.xots, tvb())
  if layer.words then
    branch:append_text(string.format(", version %d, %s", version, counted(length, "octet")))
  end
  layer.put(branch, made.xot.version, tvb, 0, 2)
  layer.put(branch, made.xot.length, tvb, 2, 2)
  if place then
    layer.put_generated(branch, made.xot.offset, tvb, 0, HEADER, place)
  end
  if segment.unsure then
    branch:add_proto_expert_info(made.expert["xots.offset.unsure"])
    segment.unsure = false
  end
  local unusual = ""
  for _, finding in ipairs(wrong) do
    branch:add_proto_expert_info(made.expert[finding[1]], finding[2])
    unusual = unusual .. "[XOT " .. finding[2] .. "] "
  end
  if not p then
    summaries[#summaries + 1] = unusual .. "empty unit"
    return
  end
  local inner = range_tvb(tvb_range(tvb, HEADER, length))
  local unit = {
    packet = p, offset = place, findings = findings, record = record, tvb = inner,
  }
  layer.show(unit, inner, pinfo, tree)
  if layer.words then
    summaries[#summaries + 1] = unusual .. unit.summary
  end
  if segment.wanted then
    units[#units + 1] = unit
  else
    hear_later(p, inner)
  end
end

-- One whole unit, its octets as a string beside it.
local function show_unit(tvb, at, pinfo, tree, version, length, octets)
  show_followed(tvb, at, pinfo, tree, version, length, follow(tvb, at, length, octets))
end

local function dissect_unit(tvb, pinfo, tree)
  local whole = tvb:len()
  local octets = whole > 0 and tvb:raw(0, whole) or ""
  local version, length = header_of(octets, 1)
  if not length or whole < HEADER + length then
    -- The capture holds fewer octets of this segment than were sent (a snap length).
    tree:add(made.xots, tvb()):add_proto_expert_info(made.expert["xots.captured.short"])
  else
    show_unit(tvb, 0, pinfo, tree, version, length, length > 0 and octets:sub(HEADER + 1) or nil)
  end
  return whole
end

local function unit_length(tvb, _, offset)
  if tvb:len() < offset + HEADER then
    return HEADER -- a snap length: dissect_unit says so
  end
  local high, low = tvb:raw(offset + 2, 2):byte(1, 2)
  return HEADER + high * 256 + low
end

-- The ends of the units where a segment holds whole ones and nothing else, as most do; or nil.
local function ends_of_units(octets)
  local ends, at = {}, 0
  while at < #octets do
    local _, length = header_of(octets, at + 1)
    if not length or at + HEADER + length > #octets then
      return nil
    end
    at = at + HEADER + length
    ends[#ends + 1] = at
  end
  return ends
end

-- Every unit of the segment. Wireshark puts units together that several segments hold; where there is
-- nothing to put together, it need not be asked, which costs more than all else.
local function dissect_units(tvb, pinfo, tree, octets)
  local ends = octets and ends_of_units(octets)
  if not ends then
    dissect_tcp_pdus(tvb, tree, HEADER, unit_length, dissect_unit)
    return
  end
  local at = 0
  for _, reached in ipairs(ends) do
    local version, length = header_of(octets, at + 1)
    show_unit(tvb, at, pinfo, tree, version, length, length > 0 and sub(octets, at + HEADER + 1, reached) or nil)
    at = reached
  end
end

-- A unit that is the whole segment, as most are, where nobody asks for fields: its line is all that is
-- wanted, and no table is made for it. Returns false where there is something to say of it after all;
-- it is in the tree then.
local function pass_lone_unit(tvb, pinfo, tree, length, octets)
  local place, findings, record, p = follow(tvb, 0, length, octets)
  if findings or segment.unsure or p.problems[1] or (record and layer.speaks(record, tree)) then
    units, summaries = {}, {}
    show_followed(tvb, 0, pinfo, tree, 0, length, place, findings, record, p)
    return false
  end
  if observed.listening then
    observed.packet(segment.number, segment.connection.carrier, segment.direction, p)
  end
  layer.pass(p, range_tvb(tvb_range(tvb, HEADER, length)), pinfo, tree)
  return true
end

-- The whole segment. Returns true where nothing is left to do for it.
local function dissect_whole(tvb, pinfo, tree)
  local size = tvb_len(tvb)
  local octets = size == tvb_reported_len(tvb) and tvb_raw(tvb, 0, size)
  if octets and not segment.wanted then
    local version, length = header_of(octets, 1)
    if version == 0 and length == size - HEADER and length >= SHORTEST and length <= LONGEST then
      return pass_lone_unit(tvb, pinfo, tree, length, sub(octets, HEADER + 1))
    end
  end
  units, summaries = {}, {}
  dissect_units(tvb, pinfo, tree, octets)
  return false
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
  segment.number, segment.visited = pinfo.number, pinfo.visited
  if units_frame ~= segment.number then
    units_frame = segment.number
    layer.new_frame()
  end
  local connection, direction = connection_of(pinfo)
  segment.connection, segment.direction, segment.unsure = connection, direction, false
  segment.wanted = layer.wanted(tree, own)
  if not segment.visited then
    local at = segment_offset()
    local reached = connection.offsets[direction]
    if at and (at - reached) % SEQUENCE_SPACE < SEQUENCE_SPACE / 2 and at - reached > 4 + 65535 then
      segment.unsure = true
    end
  end
  inside = true
  units, summaries = nil, nil
  later.count = 0
  local fine, over = pcall(dissect_whole, tvb, pinfo, tree)
  if fine and not over then
    if segment.wanted then
      fine, over = pcall(layer.hear_builtin, units, pinfo, tree)
    else
      fine, over = pcall(layer.hear_unasked, later, pinfo, tree)
    end
  end
  inside = false
  if summaries then
    layer.write_columns(pinfo, summaries)
  end
  if not fine then
    error(over, 0)
  end
  return tvb_len(tvb)
end

-- Register the dissector. `registered` is what fields.register() returned.
function framing.register(registered)
  made = registered
  stream_field = layer.optional_field("tcp.stream")
  completeness_field = layer.optional_field("tcp.completeness")
  sequence_field = layer.optional_field("tcp.seq")
  made.xots.init = reset
  reset()
  made.xots.dissector = dissect_segment
  own = Dissector.get("xots")
  ports.register(made.xots)
end

return framing
