-- SPDX-License-Identifier: GPL-2.0-or-later
-- XOT framing (RFC 1613 4.1) on TCP: version (2 octets), length (2 octets), X.25 packet. Units are
-- cut by the announced length whatever the header says; what is illegal in it is blamed. Connections
-- and their directions are followed here; every unit is known by its octet offset in its direction.

local circuit = require("x25shark.circuit")
local codes = require("x25shark.codes")
local opinion = require("x25shark.opinion")
local packet = require("x25shark.packet")

local framing = {}

local HEADER = 4
local LONGEST = 4100
local SEQUENCE_SPACE = 4294967296
-- Wireshark 4.0 counts the layers of a frame in one octet. Behind so many packets the packet layer
-- is shown without a layer number of its own.
local MOST_LAYERS = 200
local USER_DATA_FOR_BUILTIN = os.getenv("X25SHARK_BUILTIN_PAYLOAD") ~= "0"

local made
local connections, frames
local stream_field, completeness_field, sequence_field
local packet_layer
local units -- of the segment being dissected
local inside = false
local current -- what the packet layer has to know of the unit being dissected
local layers_frame, layers_count

local function reset()
  connections, frames = {}, {}
  units, inside, current = nil, false, nil
  layers_frame, layers_count = nil, 0
end

local function value_of(field)
  local item = field and field()
  return item and item.value
end

-- The connection and the direction (1 or 2) of the segment.
local function connection_of(pinfo)
  local from = tostring(pinfo.src) .. " " .. pinfo.src_port
  local to = tostring(pinfo.dst) .. " " .. pinfo.dst_port
  local first, second = from, to
  if to < from then
    first, second = to, from
  end
  local key = first .. " " .. second .. " " .. tostring(value_of(stream_field) or "-")
  local connection = connections[key]
  if not connection then
    -- Bit 1 of the completeness is the SYN, bit 2 the SYN, ACK. Unknown where no tree is built.
    local completeness = value_of(completeness_field)
    local from_start = completeness == nil or completeness % 4 ~= 0
    connection = { offsets = { 0, 0 }, circuit = circuit.new(from_start) }
    connections[key] = connection
  end
  return connection, from == first and 1 or 2
end

local function show_values(tree, tvb, p)
  local f = made.packet
  for _, item in ipairs(p.items) do
    local field, value = f[item[1]], item[4]
    local range = tvb(item[2], item[3])
    local node
    if value == nil then
      node = tree:add(field, range)
    else
      node = tree:add(field, range, value)
    end
    if item[1] == "cause" then
      local name = codes.cause_name(p.type, value)
      if name then
        node:append_text(" (" .. name .. ")")
      end
    elseif item[1] == "facilities" then
      for _, facility in ipairs(p.facilities) do
        local at = p.facilities_offset + facility.offset
        local whole = tvb(at, facility.length)
        local branch = tree:add(f.facility_code, whole, facility.code)
        branch:set_text(string.format("Facility 0x%02x %s", facility.code, (facility.name or "unknown"):gsub("_", " ")))
        local parameter = p.facilities_offset + facility.value_offset
        if facility.extended_code then
          branch:add(f.facility_extended_code, tvb(at + 1, 1))
        end
        if #facility.value > 0 then
          branch:add(f.facility_value, tvb(parameter, #facility.value))
        end
        for _, shown in ipairs(facility.values) do
          branch:add(f[shown[1]], tvb(parameter + shown[2], shown[3]), shown[4])
        end
      end
    end
  end
end

local function show_record(tree, tvb, r)
  local f = made.record
  local branch = tree:add(made.x25t, tvb())
  branch:append_text(string.format(", run %d, call %d, sequence %d", r.run, r.call, r.sequence))
  for _, name in ipairs({ "magic", "run", "call", "sequence", "direction", "length", "crc", "crc_status" }) do
    if r[name] ~= nil then
      branch:add(f[name], tvb(), r[name]):set_generated()
    end
  end
  if r.problem then
    branch:add_proto_expert_info(made.expert["x25t.length.bad"], r.problem)
  end
  if r.crc_status == 0 then
    branch:add_proto_expert_info(made.expert["x25t.crc.bad"])
  end
end

local function dissect_packet(tvb, pinfo, tree)
  local unit = current
  if not unit then
    return 0
  end
  local p = unit.packet
  local summary = packet.summary(p)
  local branch = tree:add(made.x25s, tvb())
  branch:append_text(", " .. summary)
  local f = made.packet
  if unit.offset then
    branch:add(f.offset, tvb(0, 1), unit.offset):set_generated()
  end
  branch:add(f.length, tvb(), tvb:len()):set_generated()
  branch:add(f.octets, tvb())
  show_values(branch, tvb, p)
  for _, list in ipairs({ p.problems, unit.findings or {} }) do
    for _, finding in ipairs(list) do
      branch:add_proto_expert_info(made.expert["x25s." .. finding[1]], finding[2])
    end
  end
  if unit.record then
    show_record(branch, tvb, unit.record)
  end
  unit.branch = branch
  units.summaries[#units.summaries + 1] = summary
  pinfo.cols.protocol = "X.25"
  return tvb:len()
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

local function dissect_unit(tvb, pinfo, tree)
  local whole = tvb:len()
  if whole < HEADER or whole < HEADER + tvb(2, 2):uint() then
    -- The capture holds fewer octets of this segment than were sent (a snap length).
    tree:add(made.xots, tvb()):add_proto_expert_info(made.expert["xots.captured.short"])
    return whole
  end
  local version, length = tvb(0, 2):uint(), tvb(2, 2):uint()
  local octets = length > 0 and tvb:raw(HEADER, length) or nil
  local kept, p = remember(pinfo, tvb, length, units.connection, units.direction, octets)
  local branch = tree:add(made.xots, tvb())
  branch:append_text(string.format(", version %d, %d octets", version, length))
  branch:add(made.xot.version, tvb(0, 2))
  branch:add(made.xot.length, tvb(2, 2))
  if kept.offset then
    branch:add(made.xot.offset, tvb(0, HEADER), kept.offset):set_generated()
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
  current = {
    packet = p, offset = kept.offset, findings = kept.findings, record = kept.record,
    tvb = inner, version = version,
  }
  layers_count = layers_count + 1
  if layers_count <= MOST_LAYERS then
    packet_layer:call(inner, pinfo, tree)
  else
    dissect_packet(inner, pinfo, tree)
    if layers_count == MOST_LAYERS + 1 then
      current.branch:add_proto_expert_info(made.expert["x25s.many"])
    end
  end
  units[#units + 1] = current
  current = nil
  return whole
end

local function unit_length(tvb, _, offset)
  if tvb:len() < offset + HEADER then
    return HEADER -- a snap length: dissect_unit says so
  end
  return HEADER + tvb(offset + 2, 2):uint()
end

-- Wireshark's own x.25 runs when every packet of the segment has its strict layer.
local function hear_builtin(pinfo, tree)
  for i, unit in ipairs(units) do
    if i > opinion.MOST_CALLED then
      break
    end
    local p, tvb = unit.packet, unit.tvb
    if p.length >= 3 then
      if not USER_DATA_FOR_BUILTIN and p.data_offset and p.length > p.data_offset then
        tvb = tvb(0, p.data_offset):tvb()
      end
      local differences = opinion.hear(tvb, pinfo, tree, p, i <= opinion.MOST_COMPARED)
      for _, difference in ipairs(differences or {}) do
        unit.branch:add(made.packet.builtin_differs, unit.tvb(), difference):set_generated()
      end
    end
  end
end

local function write_columns(pinfo, summaries)
  local shown = {}
  for i = 1, math.min(#summaries, 8) do
    shown[i] = summaries[i]
  end
  local text = table.concat(shown, " | ")
  if #summaries > 8 then
    text = text .. string.format(" | ... %d packets", #summaries)
  end
  if #summaries > 0 then
    pinfo.cols.protocol = "X.25"
    pinfo.cols.info = text
  end
end

-- The offset of the segment itself, by TCP's relative sequence number: it must be where the units so
-- far ended, or at most behind that (the start of a unit whose end is here).
local function segment_offset()
  local sequence = value_of(sequence_field)
  return sequence and (sequence - 1) % SEQUENCE_SPACE
end

local function dissect_segment(tvb, pinfo, tree)
  if inside then
    return 0 -- user data that looks like XOT is user data
  end
  if layers_frame ~= pinfo.number or not units or units.summaries == nil then
    layers_frame, layers_count = pinfo.number, 0
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
    fine, problem = pcall(hear_builtin, pinfo, tree)
  end
  inside = false
  local summaries = units.summaries
  current = nil
  write_columns(pinfo, summaries)
  if not fine then
    error(problem, 0)
  end
  return tvb:len()
end

local function optional_field(name)
  local fine, field = pcall(Field.new, name)
  return fine and field or nil
end

-- Register the dissectors on the TCP ports. `registered` is what fields.register() returned.
function framing.register(registered, ports)
  made = registered
  stream_field = optional_field("tcp.stream")
  completeness_field = optional_field("tcp.completeness")
  sequence_field = optional_field("tcp.seq")
  opinion.prepare()
  made.xots.init = reset
  reset()
  made.x25s.dissector = dissect_packet
  made.xots.dissector = dissect_segment
  packet_layer = Dissector.get("x25s")
  for _, port in ipairs(ports) do
    DissectorTable.get("tcp.port"):add(port, made.xots)
  end
end

return framing
