-- SPDX-License-Identifier: GPL-2.0-or-later
-- The packet layer in Wireshark's tree: one registered dissector, called once for each X.25 packet of
-- a frame, so that the k-th packet is layer k. What carries the packet (XOT, LAPB) decodes it and
-- knows its place; here it is shown, with what Wireshark's own dissector makes of it.

local codes = require("x25shark.codes")
local opinion = require("x25shark.opinion")
local packet = require("x25shark.packet")

local layer = {}

-- Wireshark 4.0 counts the layers of a frame in one octet. Behind so many packets the packet layer
-- is shown without a layer number of its own.
local MOST_LAYERS = 200
local USER_DATA_FOR_BUILTIN = os.getenv("X25SHARK_BUILTIN_PAYLOAD") ~= "0"

local made
local packet_layer
local current -- what the packet layer has to know of the unit being dissected
local count = 0

-- A field of another dissector, or nil if this Wireshark has none of that name.
function layer.optional_field(name)
  local fine, field = pcall(Field.new, name)
  return fine and field or nil
end

function layer.value_of(field)
  local item = field and field()
  return item and item.value
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
  unit.branch, unit.summary = branch, summary
  pinfo.cols.protocol = "X.25"
  return tvb:len()
end

-- A new frame: layers are counted from 1 again.
function layer.new_frame()
  current, count = nil, 0
end

-- Show one packet. `unit` has packet (decoded), offset, findings, record; it gets branch and summary.
function layer.show(unit, tvb, pinfo, tree)
  current = unit
  count = count + 1
  if count <= MOST_LAYERS then
    packet_layer:call(tvb, pinfo, tree)
  else
    dissect_packet(tvb, pinfo, tree)
    if count == MOST_LAYERS + 1 then
      unit.branch:add_proto_expert_info(made.expert["x25s.many"])
    end
  end
  current = nil
end

-- Wireshark's own x.25 runs when every packet of the frame has its strict layer.
function layer.hear_builtin(units, pinfo, tree)
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

function layer.write_columns(pinfo, summaries)
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

-- `registered` is what fields.register() returned.
function layer.register(registered)
  made = registered
  opinion.prepare()
  made.x25s.dissector = dissect_packet
  packet_layer = Dissector.get("x25s")
end

return layer
