-- SPDX-License-Identifier: GPL-2.0-or-later
-- The packet layer in Wireshark's tree: one registered dissector, called once for each X.25 packet of
-- a frame, so that the k-th packet is layer k. What carries the packet (XOT, LAPB) decodes it and
-- knows its place; here it is shown, with what Wireshark's own dissector makes of it.

local codes = require("x25shark.codes")
local counted = require("x25shark.counted")
local opinion = require("x25shark.opinion")
local packet = require("x25shark.packet")

local layer = {}

-- Wireshark 4.0 counts the layers of a frame in one octet. Behind so many packets the packet layer
-- is shown without a layer number of its own.
local MOST_LAYERS = 200
local USER_DATA_FOR_BUILTIN = os.getenv("X25SHARK_BUILTIN_PAYLOAD") ~= "0"
-- The judge reads fields: nobody looks at the words of its tree, nor at columns.
layer.words = os.getenv("X25SHARK_WORDS") ~= "0"
local words = layer.words
-- The resident judge, besides, counts layers itself, wants to know where octets stand but nothing else,
-- asks for the same fields in each frame of a capture, and for none of Wireshark's own dissector.
local resident = os.getenv("X25SHARK_RESIDENT") == "1"
-- It dissects each frame once.
layer.one_pass = resident
-- Looked up once: each lookup by name in an item costs more than the call.
local add, referenced = TreeItem.add, TreeItem.referenced

local made
local packet_layer, record_layer
local current -- what the packet layer has to know of the unit being dissected
local shown_in_frame = 0
-- KiB of Lua's heap up to which its collector rests: a dense capture of 100,000 frames, and less in the
-- judge, whose process is replaced when it has grown.
local RESTING = (words and 128 or 24) * 1024
local resting = false

-- A field of another dissector, or nil if this Wireshark has none of that name.
function layer.optional_field(name)
  local fine, field = pcall(Field.new, name)
  return fine and field or nil
end

function layer.value_of(field)
  local item = field and field()
  return item and item() -- its value, without the look-up by name
end

local asked_for = {} -- by field, of this capture, in the resident judge

-- Whether anybody asks for a field, as a filter does, or a person who looks at the tree.
local function is_asked_for(tree, field)
  if not resident then
    return referenced(tree, field)
  end
  local known = asked_for[field]
  if known == nil then
    known = referenced(tree, field)
    asked_for[field] = known
  end
  return known
end

-- Add a field to a tree if anybody asks for it. Without a value it has that of its octets. Returns the
-- new item, or nil.
function layer.put(tree, field, tvb, offset, count, value)
  if not is_asked_for(tree, field) then
    return nil
  elseif value == nil then
    return add(tree, field, tvb(offset, count))
  elseif resident then
    return add(tree, field, value)
  end
  return add(tree, field, tvb(offset, count), value)
end

-- The same with a value that is in no octet.
function layer.put_generated(tree, field, tvb, offset, count, value)
  local item = layer.put(tree, field, tvb, offset, count, value)
  if item and words then
    item:set_generated()
  end
end

local put, put_generated = layer.put, layer.put_generated

local function show_facilities(tree, tvb, p)
  local f = made.packet
  for _, facility in ipairs(p.facilities) do
    local at = p.facilities_offset + facility.offset
    local whole = tvb(at, facility.length)
    local branch = tree:add(f.facility_code, whole, facility.code)
    if words then
      branch:set_text(string.format("Facility 0x%02x %s", facility.code, (facility.name or "unknown"):gsub("_", " ")))
    end
    local parameter = p.facilities_offset + facility.value_offset
    if facility.extended_code then
      put(branch, f.facility_extended_code, tvb, at + 1, 1)
    end
    if #facility.value > 0 then
      put(branch, f.facility_value, tvb, parameter, #facility.value)
    end
    -- Code and parameter in one field: a filter could not tell that two belong to one facility.
    if facility.without_fields then
      local name = facility.name or string.format("0x%02x", facility.code)
      local octets = facility.value:gsub(".", function(octet)
        return string.format("%02x", octet:byte())
      end)
      put_generated(branch, f.facility_meaning, tvb, at, facility.length, name .. " " .. octets)
    end
    for _, shown in ipairs(facility.values) do
      put(branch, f[shown[1]], tvb, parameter + shown[2], shown[3], shown[4])
    end
  end
end

local function show_values(tree, tvb, p)
  local f, items = made.packet, p.items
  for i = 1, #items do
    local item = items[i]
    local name, value = item[1], item[4]
    local field = f[name]
    local node = asked_for[field] ~= false and put(tree, field, tvb, item[2], item[3], value)
    if name == "cause" and node and words then
      local cause = codes.cause_name(p.type, value)
      if cause then
        node:append_text(" (" .. cause .. ")")
      end
    elseif name == "facilities" then
      show_facilities(tree, tvb, p)
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

local function blame(branch, findings)
  for _, finding in ipairs(findings) do
    branch:add_proto_expert_info(made.expert["x25s." .. finding[1]], finding[2])
  end
end

local function dissect_packet(tvb, pinfo, tree)
  local unit = current
  if not unit then
    return 0
  end
  local p = unit.packet
  local length = tvb:len()
  local branch = add(tree, made.x25s, tvb())
  if words then
    unit.summary = packet.summary(p)
    branch:append_text(", " .. unit.summary)
  end
  local f = made.packet
  if unit.offset then
    put_generated(branch, f.offset, tvb, 0, 1, unit.offset)
  end
  put_generated(branch, f.length, tvb, 0, length, length)
  put(branch, f.octets, tvb, 0, length)
  show_values(branch, tvb, p)
  blame(branch, p.problems)
  if unit.findings then
    blame(branch, unit.findings)
  end
  if unit.record then
    show_record(branch, tvb, unit.record)
  end
  unit.branch = branch
  if words then
    pinfo.cols.protocol = "X.25"
  end
  return length
end

-- Another capture. The collector of Lua rests until the heap is large: a third of the judge's time, and an
-- eighth of tshark's, went into finalising small objects of Wireshark's.
function layer.new_capture()
  opinion.forget()
  asked_for = {}
  if collectgarbage("count") < RESTING then
    collectgarbage("stop")
    resting = true
  end
end

-- Whether anybody asks for fields of the packet layer or of what carries it in this frame: an open tree, a filter, a
-- column. Nobody does while tshark prints its usual lines.
function layer.wanted(tree, carrier)
  return resident or referenced(tree, packet_layer) or referenced(tree, carrier)
end

-- Whether a test record belongs into the tree of a frame that is not wanted: something is wrong with it, or
-- somebody asks for fields of it alone.
function layer.speaks(r, tree)
  return r.problem or r.crc_status == 0 or referenced(tree, record_layer)
end

local frames_since = 0
local FRAMES_BETWEEN = 64 -- looks at the heap

-- A new frame: layers are counted from 1 again.
function layer.new_frame()
  current, shown_in_frame = nil, 0
  frames_since = frames_since + 1
  if not resting or frames_since < FRAMES_BETWEEN then
    return
  end
  frames_since = 0
  if collectgarbage("count") > RESTING then
    collectgarbage("restart")
    resting = false
  end
end

-- Show one packet. `unit` has packet (decoded), offset, findings, record; it gets branch, and summary
-- where words are wanted.
function layer.show(unit, tvb, pinfo, tree)
  current = unit
  shown_in_frame = shown_in_frame + 1
  if shown_in_frame <= MOST_LAYERS and not resident then
    packet_layer:call(tvb, pinfo, tree)
  else
    dissect_packet(tvb, pinfo, tree)
    if shown_in_frame == MOST_LAYERS + 1 then
      unit.branch:add_proto_expert_info(made.expert["x25s.many"])
    end
  end
  current = nil
end

-- The octets that Wireshark's own x.25 is given of a packet.
local function octets_for_builtin(p, tvb)
  local cut = not USER_DATA_FOR_BUILTIN and p.data_offset and p.length > p.data_offset
  return cut and tvb(0, p.data_offset):tvb() or tvb
end

-- The one packet of a frame of which nobody asks for fields, and of which there is nothing to say.
function layer.pass(p, tvb, pinfo, tree)
  opinion.pass(octets_for_builtin(p, tvb), pinfo, tree)
  if words then
    local columns = pinfo.cols
    columns.protocol, columns.info = "X.25", packet.summary(p)
  end
end

local function show_differences(unit, differences)
  for _, difference in ipairs(differences) do
    unit.branch:add(made.packet.builtin_differs, unit.tvb(), difference):set_generated()
  end
end

-- The same for the packets of a frame of which nobody asks for fields, the one that differs among them.
function layer.hear_unasked(later, pinfo, tree)
  local packets, tvbs = later.packets, later.tvbs
  for i = 1, math.min(later.count, opinion.MOST_CALLED) do
    if packets[i].length >= 3 then
      opinion.pass(octets_for_builtin(packets[i], tvbs[i]), pinfo, tree)
    end
  end
end

-- Wireshark's own x.25 runs when every packet of the frame has its strict layer. It is compared where
-- anybody asks for what differs, as a filter or an open tree does. What it makes of a packet follows from
-- the octets that it is given, so the resident judge has it read equal ones once.
function layer.hear_builtin(units, pinfo, tree)
  local heard = {}
  for i = 1, math.min(#units, opinion.MOST_CALLED) do
    local unit = units[i]
    local p = unit.packet
    if resident and p.differences then
      show_differences(unit, p.differences)
    elseif p.length >= 3 then
      unit.heard = octets_for_builtin(p, unit.tvb)
      heard[#heard + 1] = unit
    end
  end
  if #heard == 0 then
    return
  end
  local compared = is_asked_for(tree, made.packet.builtin_differs)
  for i, differences in ipairs(opinion.hear(heard, pinfo, tree, compared)) do
    heard[i].packet.differences = differences
    show_differences(heard[i], differences)
  end
end

function layer.write_columns(pinfo, summaries)
  if not words then
    return
  end
  local text = table.concat(summaries, " | ", 1, math.min(#summaries, 8))
  if #summaries > 8 then
    text = text .. " | ... " .. counted(#summaries, "packet")
  end
  if #summaries > 0 then
    local columns = pinfo.cols
    columns.protocol, columns.info = "X.25", text
  end
end

-- `registered` is what fields.register() returned.
function layer.register(registered)
  made = registered
  opinion.prepare()
  made.x25s.dissector = dissect_packet
  made.x25t.dissector = function() -- shown by the packet layer; it has one so that it can be asked for
    return 0
  end
  packet_layer, record_layer = Dissector.get("x25s"), Dissector.get("x25t")
end

return layer
