-- SPDX-License-Identifier: GPL-2.0-or-later
-- The circuits of a capture, in order: who called whom, what became of it, what went over it, and what
-- the strict dissector objects to. Fed packet by packet; pure Lua.

local codes = require("x25shark.codes")
local counted = require("x25shark.counted")
local packet = require("x25shark.packet")

local survey = {}

local CALL, ACCEPT, CLEAR, CLEAR_CONFIRMATION = 0x0b, 0x0f, 0x13, 0x17
local RESET, RESET_CONFIRMATION, RESTART, RESTART_CONFIRMATION = 0x1b, 0x1f, 0xfb, 0xff
local PVC_SETUP = 0xf5
local MOST_LISTED = 10000 -- packets of one ladder, findings of one list

local function begin(s, carrier, frame)
  local c = {
    number = #s.circuits + 1, carrier = carrier, first = frame, last = frame, state = "under way",
    packets = { 0, 0 }, octets = { 0, 0 }, findings = 0, resets = 0,
  }
  s.circuits[c.number] = c
  s.open[carrier.key] = c
  return c
end

-- The circuit that a packet belongs to: a new one behind one that was cleared.
local function circuit_of(s, carrier, p, frame)
  local c = s.open[carrier.key]
  if c and c.over and not (p.type == CLEAR or p.type == CLEAR_CONFIRMATION) then
    c = nil
  end
  return c or begin(s, carrier, frame)
end

local function name_addresses(c, p)
  if p.called_address then
    c.called = p.called_address == "" and "-" or p.called_address
    c.calling = p.calling_address == "" and "-" or p.calling_address
  end
end

local function cleared(c, p, direction)
  local cause = p.cause and codes.cause_name(CLEAR, p.cause)
  c.why = string.format("by %s, cause %s, diagnostic %s", direction == c.caller and "the caller" or "the called",
    p.cause and string.format("0x%02x%s", p.cause, cause and " (" .. cause .. ")" or "") or "none",
    p.diagnostic or "none")
end

-- What the packet makes of the circuit's state, as the words of the list say it.
local function follow(c, p, direction)
  local kind = p.type
  if kind == CALL and not c.caller then
    c.caller, c.state = direction, "call set-up"
    name_addresses(c, p)
  elseif kind == ACCEPT and c.state == "call set-up" then
    c.state = "data transfer"
  elseif kind == PVC_SETUP then
    c.caller, c.state = c.caller or direction, "permanent"
  elseif kind == CLEAR then
    c.over = c.clearing ~= nil and c.clearing ~= direction
    c.state = c.over and "cleared" or "clearing"
    if not c.clearing then
      cleared(c, p, direction)
    end
    c.clearing = c.clearing or direction
  elseif kind == CLEAR_CONFIRMATION then
    c.state, c.over = "cleared", true
  elseif kind == RESET then
    c.resets = c.resets + 1
    c.before_reset = c.before_reset or c.state
    c.state = "reset"
  elseif kind == RESET_CONFIRMATION and c.before_reset then
    c.state, c.before_reset = c.before_reset, nil
  end
end

-- RESTART on a line ends every call of it.
local function restart(s, line)
  for _, c in pairs(s.open) do
    if c.carrier.line == line and not c.over then
      c.state, c.over = "restarted", true
    end
  end
end

local function note_findings(s, frame, where, list)
  for _, finding in ipairs(list) do
    s.found = s.found + 1
    if #s.findings < MOST_LISTED then
      s.findings[#s.findings + 1] = { frame = frame, where = where, name = finding[1], sentence = finding[2] }
    end
  end
end

-- A survey; `ladder` is the number of the circuit whose packets are wanted too, or nil.
function survey.new(ladder)
  return { circuits = {}, open = {}, findings = {}, found = 0, wanted = ladder, ladder = {} }
end

-- A packet of logical channel 0 of a line: it belongs to all circuits.
local function of_the_line(s, frame, entry)
  if entry.packet.type == RESTART or entry.packet.type == RESTART_CONFIRMATION then
    restart(s, entry.circuit.line)
  end
  note_findings(s, frame, "", entry.findings)
end

local function of_a_circuit(s, frame, time, entry)
  local p, direction = entry.packet, entry.direction
  local c = circuit_of(s, entry.circuit, p, frame)
  c.last = frame
  c.packets[direction] = c.packets[direction] + 1
  if p.type == 0 then
    c.octets[direction] = c.octets[direction] + (p.user_data_length or 0)
  end
  follow(c, p, direction)
  c.findings = c.findings + #entry.findings
  note_findings(s, frame, "circuit " .. c.number, entry.findings)
  if s.wanted == c.number and #s.ladder < MOST_LISTED then
    s.ladder[#s.ladder + 1] = {
      frame = frame, time = time, direction = direction, words = packet.summary(p), findings = entry.findings,
    }
  end
end

-- The packets and findings of one frame, as observed.of() returns them.
function survey.take(s, frame, time, packets, findings)
  note_findings(s, frame, "", findings)
  for _, entry in ipairs(packets) do
    if entry.circuit.line and entry.packet.lcn == 0 then
      of_the_line(s, frame, entry)
    else
      of_a_circuit(s, frame, time, entry)
    end
  end
end

-- Display filter of one circuit.
function survey.filter(c)
  return string.format("%s && frame.number >= %d && frame.number <= %d", c.carrier.filter, c.first, c.last)
end

local HEAD = "%4s  %-13s %6s %6s  %-15s %-15s %-13s %7s %7s %8s %8s %5s"
local LINE = "%4d  %-13s %6d %6d  %-15s %-15s %-13s %7d %7d %8d %8d %5d  %s"

-- The list of circuits in lines. Of each: ends are told as caller (>) and called (<).
function survey.circuits_text(s)
  local lines = {
    string.format(HEAD, "No.", "carried by", "from", "to", "calling", "called", "state", "packets", "packets",
      "octets", "octets", "found"),
    string.format(HEAD, "", "", "frame", "frame", "", "", "", ">", "<", ">", "<", ""),
  }
  for _, c in ipairs(s.circuits) do
    local forward = c.caller or 1
    local back = 3 - forward
    lines[#lines + 1] = (string.format(LINE, c.number, c.carrier.name, c.first, c.last, c.calling or "-",
      c.called or "-", c.state, c.packets[forward], c.packets[back], c.octets[forward], c.octets[back], c.findings,
      (c.why or "") .. (c.resets > 0 and " " .. counted(c.resets, "reset") or "")):gsub("%s+$", ""))
  end
  lines[#lines + 1] = string.format("circuits: %d, findings: %d", #s.circuits, s.found)
  return table.concat(lines, "\n") .. "\n"
end

-- The same for a window of Wireshark, which is narrow: some lines for each circuit.
function survey.circuits_blocks(s)
  local lines = {}
  for _, c in ipairs(s.circuits) do
    local forward = c.caller or 1
    lines[#lines + 1] =
      string.format("%d  %s, frames %d to %d: %s", c.number, c.carrier.name, c.first, c.last, c.state)
    local findings = counted(c.findings, "finding")
    lines[#lines + 1] = string.format("   from %s to %s, %s", c.calling or "-", c.called or "-", findings)
    local function carried(way)
      return counted(c.packets[way], "packet") .. ", " .. counted(c.octets[way], "octet")
    end
    lines[#lines + 1] = string.format("   > %s; < %s", carried(forward), carried(3 - forward))
    lines[#lines + 1] = c.why and "   cleared " .. c.why or nil
    lines[#lines + 1] = c.resets > 0 and "   " .. counted(c.resets, "reset") or nil
  end
  lines[#lines + 1] = string.format("circuits: %d, findings: %d", #s.circuits, s.found)
  return table.concat(lines, "\n") .. "\n"
end

-- The findings, a line each below these words; `form` has the place of each.
local function findings_by(form, s, ...)
  local lines = { ... }
  for _, f in ipairs(s.findings) do
    local where = f.where == "" and "-" or f.where
    lines[#lines + 1] = (string.format(form, f.frame, where, f.name, f.sentence or ""):gsub("%s+$", ""))
  end
  if s.found > #s.findings then
    lines[#lines + 1] = string.format("... and %d more", s.found - #s.findings)
  end
  lines[#lines + 1] = string.format("findings: %d", s.found)
  return table.concat(lines, "\n") .. "\n"
end

function survey.findings_text(s)
  local head = string.format("%6s  %-12s %-26s %s", "frame", "circuit", "finding", "what")
  return findings_by("%6d  %-12s %-26s %s", s, head)
end

-- The same for a window, which is narrower and breaks long lines: the sentence below the rest.
function survey.findings_blocks(s)
  return findings_by("frame %d, %s: %s\n   %s", s)
end

-- The ladder of the wanted circuit: the caller's packets on the left, the called's on the right; in a
-- `narrow` window behind arrows to the right and to the left.
function survey.ladder_text(s, narrow)
  local c = s.circuits[s.wanted]
  if not c then
    return string.format("no circuit %s in this capture; it has %d\n", tostring(s.wanted), #s.circuits)
  end
  local forward = c.caller or 1
  local caller, called = c.carrier.ends[forward], c.carrier.ends[3 - forward]
  local lines = { string.format("circuit %d, %s, %s: %s > %s", c.number, c.carrier.name, c.state, caller, called) }
  for _, step in ipairs(s.ladder) do
    local there = step.direction == forward
    local arrow, words = there and "---->" or "<----", step.words
    if narrow then
      words = arrow .. " " .. words
    else
      words = string.format("%-60s %s %s", there and words or "", arrow, there and "" or words)
    end
    lines[#lines + 1] = (string.format("%6d %12.6f  %s", step.frame, step.time, words):gsub("%s+$", ""))
    for _, finding in ipairs(step.findings) do
      lines[#lines + 1] = string.format("%6s %12s  !! %s: %s", "", "", finding[1], finding[2] or "")
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

return survey
