-- SPDX-License-Identifier: GPL-2.0-or-later
-- HDLC frames with FCS on link type USER0 (X.25 2.2, 2.3), LAPB and the packet layer above them; and
-- LAPB frames without FCS, over Ethernet (Linux's lapbether) or on link type LAPB.
--
-- One record of the capture is what stood between two flags: address, control, information, FCS, as
-- it was on the line without stuffing. The packet flags of pcapng (epb_flags) say the rest: direction
-- (2 outbound: tester to router, 1 inbound: router to tester), symbol error: the frame was aborted
-- and the octets are what came of it, unaligned frame error: its bits were not whole octets. A link is
-- an interface of the capture; the key of a frame is the octets of earlier frames in its direction. Over
-- Ethernet a link is two addresses.

local circuit = require("x25shark.circuit")
local counted = require("x25shark.counted")
local lapb = require("x25shark.lapb")
local layer = require("x25shark.layer")
local observed = require("x25shark.observed")
local packet = require("x25shark.packet")
local taken = require("x25shark.taken")

local link = {}

local put, put_generated = layer.put, layer.put_generated

local SHORTEST = 2
local SHORTEST_EXTENDED = 3 -- modulo 128, frames with numbers
local FCS_OCTETS = 2
local NEVER_A_GIANT = 136 -- octets with FCS of a frame that any N1 allows (X.25 2.4.8.5)
local LENGTH_OCTETS = 2 -- in front of a frame over Ethernet, the lower one first
local ETHERTYPE = 0x6000
local SABM, SABME, UA, FRMR = 0x2f, 0x6f, 0x63, 0x87
local RESTART, RESTART_CONFIRMATION = 0xfb, 0xff
local TESTED = { "tester", "router" }
local BY_FLAG = { "DTE", "DCE" }

local made
local links, frames, ethernet_links
local interface_field, flags_fields
local fcs_table = {}
local bit = bit -- in every Lua that Wireshark brings

local function reset()
  layer.new_capture()
  links, frames, ethernet_links = {}, {}, {}
end

-- FCS-16: reflected register, preset to ones, complemented (X.25 2.2.7).
local function make_fcs_table()
  for octet = 0, 255 do
    local register = octet
    for _ = 1, 8 do
      local carry = bit.band(register, 1)
      register = bit.rshift(register, 1)
      if carry == 1 then
        register = bit.bxor(register, 0x8408)
      end
    end
    fcs_table[octet] = register
  end
end

local function fcs_of(octets)
  local band, bxor, rshift = bit.band, bit.bxor, bit.rshift
  local register = 0xffff
  for i = 1, #octets do
    register = bxor(rshift(register, 8), fcs_table[band(bxor(register, octets:byte(i)), 0xff)])
  end
  return 0xffff - register
end

local function new_link()
  return {
    offsets = { 0, 0 }, extended = false, asked = {}, setting_up = {}, seen_set_up = false, expected = {},
    circuits = {}, known = false,
    -- N(S) and information of a long frame that was taken last and is not acknowledged, by direction.
    doubtful = {},
  }
end

-- UA: who sends it begins anew if it was asked to, and so does the other if it asked and waits. A UA
-- that nobody asked for changes no number. In a capture that begins later any UA counts.
local function accept_set_up(l, place)
  local other = 3 - place
  local asked = l.asked[other]
  if l.seen_set_up and not asked then
    return
  end
  l.extended = asked == SABME
  l.circuits, l.known = {}, false
  l.expected[place] = 0
  if not l.seen_set_up or l.setting_up[other] then
    l.expected[other] = 0
  end
  l.asked[other], l.setting_up[place], l.setting_up[other] = nil, nil, nil
end

-- A new link, or a restart: every circuit begins anew.
local function forget_circuits(l)
  l.circuits, l.known = {}, true
end

-- What a packet does to the circuit of its logical channel.
local function follow_packet(l, p, direction, octets)
  if p.lcn == nil or p.undefined then
    return {}, nil
  elseif p.lcn == 0 then
    if p.type == RESTART or p.type == RESTART_CONFIRMATION then
      forget_circuits(l)
    end
    return {}, nil
  elseif p.not_on_xot then
    return {}, nil
  end
  local c = l.circuits[p.lcn]
  if not c then
    c = circuit.new(l.known)
    l.circuits[p.lcn] = c
  end
  return circuit.take(c, p, direction + 1, octets)
end

-- A long frame may be a giant to the other end, whose N1 is not known here. Then another one of the
-- same N(S) stands in its place; a station that repeats a frame does not change it.
local function in_place_of_a_giant(l, place, n_s, information)
  local doubtful = l.doubtful[place]
  if not doubtful or doubtful[1] ~= n_s or doubtful[2] == information then
    return false
  end
  l.doubtful[place] = nil
  return true
end

-- What a valid frame does to the link. Returns what has to be kept for later passes.
local function follow_frame(l, f, direction, octets, kept)
  if f.type == SABM or f.type == SABME then
    l.asked[direction + 1], l.setting_up[direction + 1], l.seen_set_up = f.type, true, true
  elseif f.type == UA then
    accept_set_up(l, direction + 1)
  end
  if f.n_r and f.type ~= FRMR and f.n_r == l.expected[2 - direction] then
    l.doubtful[2 - direction] = nil
  end
  if f.type == 0 and f.n_s then
    local modulus = l.extended and 128 or 8
    local expected = l.expected[direction + 1]
    local in_sequence = expected == nil or expected == f.n_s
    local information = octets:sub((f.packet_offset or #octets) + 1)
    kept.repeated = not in_sequence and not in_place_of_a_giant(l, direction + 1, f.n_s, information)
    if in_sequence then
      l.expected[direction + 1] = (f.n_s + 1) % modulus
      local long = #octets + FCS_OCTETS > NEVER_A_GIANT
      l.doubtful[direction + 1] = long and { f.n_s, information } or nil
      if f.information_length then
        kept.findings, kept.record = follow_packet(l, packet.decode(information), direction, information)
      end
    end
  end
end

-- True for a frame that X.25 2.3.5.3 lets count, by its octets without FCS; the address is another matter.
local function is_valid(content, extended)
  local control = content:byte(2)
  local numbered = control and control % 4 ~= 3
  return #content >= (extended and numbered and SHORTEST_EXTENDED or SHORTEST)
end

-- On the first pass: place and state of the frame; later what was found then.
local function remember(pinfo, entry)
  if pinfo.visited and frames[pinfo.number] then
    return frames[pinfo.number]
  end
  local number = entry.link or 0
  local l = links[number] or new_link()
  links[number] = l
  local place = (entry.direction or 0) + 1
  local kept = { offset = l.offsets[place], extended = l.extended }
  l.offsets[place] = (l.offsets[place] + entry.length) % 4294967296
  frames[pinfo.number] = kept
  local content = entry.content
  kept.valid = entry.whole and is_valid(content, l.extended)
  -- A giant is not followed: its receiver drops it.
  if kept.valid and not entry.giant and lapb.addresses[content:byte(1)] and entry.direction then
    follow_frame(l, lapb.decode(content, l.extended), entry.direction, content, kept)
  end
  return kept
end

-- Where a frame goes: the link as a number, 0 or 1 as direction, how the ends are called, and how the
-- frames of the link are found.
local function along(pinfo, names, filter)
  local number = layer.value_of(interface_field) or 0
  local direction = (pinfo.p2p_dir == 0 or pinfo.p2p_dir == 1) and pinfo.p2p_dir or nil
  return { link = number, direction = direction, names = names, filter = string.format(filter, number) }
end

-- The same over Ethernet, where the addresses say it.
local function between_addresses(pinfo)
  local from, to = tostring(pinfo.dl_src), tostring(pinfo.dl_dst)
  local forward = from <= to
  local names = forward and { from, to } or { to, from }
  local key = names[1] .. " " .. names[2]
  if not ethernet_links[key] then
    ethernet_links.count = (ethernet_links.count or 0) + 1
    ethernet_links[key] = ethernet_links.count
  end
  local filter = string.format("eth.addr == %s && eth.addr == %s", names[1], names[2])
  -- Links of interfaces have numbers from 0.
  return { link = -ethernet_links[key], direction = forward and 0 or 1, names = names, filter = filter }
end

-- What the packet flags and the octets say of a frame.
local function look_at(pinfo, octets)
  local entry = along(pinfo, TESTED, "hdlcs.link == %d")
  for name, field in pairs(flags_fields) do
    entry[name] = layer.value_of(field) and true or false
  end
  if not entry.aborted and #octets > FCS_OCTETS then
    local low, high = octets:byte(-FCS_OCTETS, -1)
    entry.fcs = high * 256 + low
    entry.fcs_right = fcs_of(octets:sub(1, -FCS_OCTETS - 1))
    entry.fcs_good = entry.fcs == entry.fcs_right
  end
  entry.length, entry.content = #octets, octets:sub(1, -FCS_OCTETS - 1)
  entry.giant = 8 * #octets > made.hdlcs.prefs.n1
  entry.whole = entry.fcs_good and not entry.aborted and not entry.unaligned
  return entry
end

local function show_frame(tvb, tree, entry, kept)
  local f = made.frame
  local length = tvb:len()
  local branch = tree:add(made.hdlcs, tvb())
  if layer.words then
    branch:append_text(", " .. counted(length, "octet"))
  end
  put_generated(branch, f.offset, tvb, 0, 0, kept.offset)
  put_generated(branch, f.length, tvb, 0, 0, length)
  put_generated(branch, f.link, tvb, 0, 0, entry.link)
  if entry.direction then
    put_generated(branch, f.direction, tvb, 0, 0, entry.direction)
  end
  if length > 0 then
    put(branch, f.octets, tvb, 0, length)
  end
  put_generated(branch, f.aborted, tvb, 0, 0, entry.aborted and 1 or 0)
  put_generated(branch, f.unaligned, tvb, 0, 0, entry.unaligned and 1 or 0)
  if entry.fcs then
    put(branch, f.fcs, tvb, length - FCS_OCTETS, FCS_OCTETS, entry.fcs)
    put_generated(branch, f.fcs_right, tvb, 0, 0, entry.fcs_right)
    put_generated(branch, f.fcs_status, tvb, 0, 0, entry.fcs_good and 1 or 0)
  end
  return branch
end

-- Why a frame does not count: expert infos of the frame, and the first of them in a word.
local function blame_frame(branch, tvb, pinfo, entry, kept)
  local word
  local function blame(name, words, ...)
    local sentence = string.format(words, ...)
    branch:add_proto_expert_info(made.expert["hdlcs." .. name], sentence)
    if observed.listening then
      observed.finding(pinfo.number, "hdlcs." .. name, sentence)
    end
    word = word or name
  end
  if not entry.direction then
    branch:add_proto_expert_info(made.expert["hdlcs.direction.unknown"])
  end
  local length = tvb:len()
  if entry.aborted then
    blame("abort", "aborted behind %s", counted(length, "octet"))
    return "aborted frame"
  end
  if entry.unaligned then
    blame("bits.odd", "bits behind %s", counted(length, "octet"))
  elseif not kept.valid and (length < SHORTEST + FCS_OCTETS or entry.fcs_good) then
    blame("runt", "%s between flags", counted(length, "octet"))
  elseif not entry.fcs_good then
    blame("fcs.bad", "FCS 0x%04x, right is 0x%04x", entry.fcs, entry.fcs_right)
  end
  if entry.giant then
    blame("giant", "%d bits, N1 is %d", 8 * length, made.hdlcs.prefs.n1)
  end
  if kept.valid and not lapb.addresses[tvb(0, 1):uint()] then
    blame("address.unknown", "address 0x%02x", tvb(0, 1):uint())
  end
  return word and "frame with problem: " .. word
end

local function show_lapb(tvb, tree, f, kept)
  local branch = tree:add(made.lapbs, tvb())
  if layer.words then
    branch:append_text(", " .. lapb.summary(f))
  end
  for _, item in ipairs(f.items) do
    put(branch, made.lapb[item[1]], tvb, item[2], item[3], item[4])
  end
  for _, problem in ipairs(f.problems) do
    branch:add_proto_expert_info(made.expert["lapbs." .. problem[1]], problem[2])
  end
  if kept.repeated then
    branch:add_proto_expert_info(made.expert["lapbs.repeated"])
  end
end

local function show_ends(pinfo, entry)
  if entry.direction and layer.words then
    pinfo.cols.src = entry.names[entry.direction + 1]
    pinfo.cols.dst = entry.names[2 - entry.direction]
  end
end

-- How a circuit of a line is called, and found.
local function carrier_of(entry, p)
  local line, channel = entry.link, p.lcn or 0
  return {
    key = line .. " " .. channel, line = line, name = string.format("line %d LCN %d", math.abs(line), channel),
    filter = string.format("%s && x25s.lcn == %d", entry.filter, channel), ends = entry.names,
  }
end

-- A valid frame: LAPB, and the packet in it. problem: what is wrong with it all the same, in a word.
local function show_content(content, pinfo, tree, entry, kept, problem)
  local f = lapb.decode(entry.content, kept.extended)
  show_lapb(content, tree, f, kept)
  if layer.words then
    local summary = lapb.summary(f)
    pinfo.cols.protocol = "LAPB"
    pinfo.cols.info = problem and summary .. " - " .. problem or summary
  end
  if not (f.packet_offset and f.information_length and lapb.addresses[f.address]) then
    return
  end
  local inner = content(f.packet_offset):tvb()
  local unit = {
    packet = packet.decode(entry.content:sub(f.packet_offset + 1)),
    offset = kept.offset, findings = kept.findings, record = kept.record, tvb = inner,
  }
  if observed.listening and entry.direction then
    observed.packet(pinfo.number, carrier_of(entry, unit.packet), entry.direction + 1, unit.packet, unit.findings)
  end
  layer.show(unit, inner, pinfo, tree)
  layer.hear_builtin({ unit }, pinfo, tree)
  -- The built-in one puts the addresses of a Call there.
  show_ends(pinfo, entry)
  if layer.words then
    layer.write_columns(pinfo, { lapb.summary(f) .. " | " .. unit.summary })
  end
end

local function dissect_frame(tvb, pinfo, tree)
  local length = tvb:len()
  local octets = length > 0 and tvb:raw(0, length) or ""
  local entry = look_at(pinfo, octets)
  local kept = remember(pinfo, entry)
  layer.new_frame()
  if layer.words then
    pinfo.cols.protocol = "HDLC"
  end
  show_ends(pinfo, entry)
  local branch = show_frame(tvb, tree, entry, kept)
  if tvb:reported_len() > length then
    branch:add_proto_expert_info(made.expert["hdlcs.captured.short"])
  end
  local problem = blame_frame(branch, tvb, pinfo, entry, kept)
  if not kept.valid then
    if layer.words then
      pinfo.cols.info = problem or "frame"
    end
    return length
  end
  show_content(tvb(0, length - FCS_OCTETS):tvb(), pinfo, tree, entry, kept, problem)
  return length
end

-- A LAPB frame without FCS; tvb: nil where it has no octet. whole: the capture holds all of it.
local function show_plain(tvb, pinfo, tree, entry, whole)
  entry.content, entry.length, entry.whole = tvb and tvb:raw(0, tvb:len()) or "", tvb and tvb:len() or 0, whole
  local kept = remember(pinfo, entry)
  layer.new_frame()
  show_ends(pinfo, entry)
  if kept.valid then
    show_content(tvb, pinfo, tree, entry, kept)
    return
  end
  local branch = tree:add(made.lapbs, tvb and tvb())
  branch:add_proto_expert_info(made.expert[whole and "lapbs.control.short" or "lapbs.captured.short"])
  if layer.words then
    pinfo.cols.protocol, pinfo.cols.info = "LAPB", "frame that ends early"
  end
end

-- Over Ethernet the length stands before the frame, and padding may follow it.
local function dissect_lapb(tvb, pinfo, tree)
  local held = tvb:len()
  -- On link type LAPB there is no address.
  if not tostring(pinfo.dl_src):find(":", 1, true) then
    local entry = along(pinfo, BY_FLAG, "frame.interface_id == %d")
    show_plain(held > 0 and tvb or nil, pinfo, tree, entry, held == tvb:reported_len())
  elseif held >= LENGTH_OCTETS then
    local length = tvb(0, LENGTH_OCTETS):le_uint()
    local here = math.min(length, held - LENGTH_OCTETS)
    local frame = here > 0 and tvb(LENGTH_OCTETS, here):tvb() or nil
    show_plain(frame, pinfo, tree, between_addresses(pinfo), here == length)
  end
  return held
end

-- Register the dissectors. `registered` is what fields.register() returned.
function link.register(registered)
  made = registered
  interface_field = layer.optional_field("frame.interface_id")
  flags_fields = {
    aborted = layer.optional_field("frame.packet_flags_symbol_error"),
    unaligned = layer.optional_field("frame.packet_flags_unaligned_frame_error"),
  }
  make_fcs_table()
  made.hdlcs.init = reset
  reset()
  made.hdlcs.dissector = dissect_frame
  DissectorTable.get("wtap_encap"):add(wtap.USER0, made.hdlcs)
  made.lapbs.dissector = dissect_lapb
  local over_ethernet, alone = taken.by(made.lapbs, "ethertype"), taken.by(made.lapbs, "wtap_encap")
  made.lapbs.prefs.frames = Pref.bool(
    "LAPB frames", false, "Dissect LAPB over Ethernet (type 0x6000), and captures of link type LAPB, strictly, "
      .. "in place of Wireshark's own dissector"
  )
  function made.lapbs.prefs_changed()
    over_ethernet(made.lapbs.prefs.frames and { ETHERTYPE } or {})
    alone(made.lapbs.prefs.frames and { wtap.LAPB } or {})
  end
end

return link
