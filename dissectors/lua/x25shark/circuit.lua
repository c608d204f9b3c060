-- SPDX-License-Identifier: GPL-2.0-or-later
-- The state of the circuit on one XOT connection, as an observer sees it (X.25 4.1, 4.3, 4.4, Annex C;
-- RFC 1613 6). On XOT a connection carries one circuit and the LCN means nothing (RFC 1613 5), so
-- nothing here is keyed by it.
--
-- An observer cannot know when a packet reached its receiver. The rule is therefore: a packet is
-- blamed only if no order of delivery explains it. What an end may do because the other end
-- allowed it (Call Accepted, P(R), a confirmation) needs the allowing packet earlier in the capture;
-- what it must stop because of the other end is not held against it, since packets can cross.

local facilities = require("x25shark.facilities")
local record = require("x25shark.record")

local circuit = {}

local DEFAULT_WINDOW = 2
local DEFAULT_PACKET_SIZE = 7 -- log2 of 128

-- One end: what it has sent and what was allowed to it. Unknown values are nil: a capture that
-- starts in the middle of a connection blames nothing before it knows.
local function new_end(known)
  return {
    known = known,
    next_p_s = known and 0 or nil,
    last_p_r = known and 0 or nil, -- last P(R) this end sent
    called = false, -- sent the call
    connected = not known, -- may send Data
    clearing = false, -- sent a Clear that is not confirmed
    resetting = false,
    interrupting = false,
    window = nil,
    packet_size = nil,
    chain = nil, -- octets of the packet sequence under way, if they can be a test record
  }
end

-- A new circuit. `from_start` says that the capture holds the connection's SYN.
function circuit.new(from_start)
  return { ends = {}, known = from_start, modulo = nil, call = nil, pvc = false }
end

local function ends_of(c, from)
  if not c.ends[from] then
    c.ends[from] = new_end(c.known)
  end
  local other = from == 1 and 2 or 1
  if not c.ends[other] then
    c.ends[other] = new_end(c.known)
  end
  return c.ends[from], c.ends[other]
end

local function restart_numbering(c)
  for _, e in pairs(c.ends) do
    e.next_p_s, e.last_p_r = 0, 0
    e.interrupting, e.resetting, e.chain = false, false, nil
    e.chain_q, e.chain_octets = nil, nil
  end
end

local function idle(c)
  c.call, c.pvc, c.restricted = nil, false, nil
  c.known = true
  c.ends = {}
end

-- Values that a call packet proposes or fixes, from the facilities of X.25 6.12.
local function negotiate(c, p, caller)
  local callee = caller == 1 and 2 or 1
  local list = p.facilities
  local function value(name)
    return facilities.value_of(list, name)
  end
  -- "calling" is the direction of transmission from the calling DTE.
  local from_caller, from_callee = c.ends[caller], c.ends[callee]
  from_caller.window = value("window_size_calling") or from_caller.window or DEFAULT_WINDOW
  from_callee.window = value("window_size_called") or from_callee.window or DEFAULT_WINDOW
  from_caller.packet_size = value("packet_size_calling") or from_caller.packet_size or DEFAULT_PACKET_SIZE
  from_callee.packet_size = value("packet_size_called") or from_callee.packet_size or DEFAULT_PACKET_SIZE
end

local function blame(found, expert, ...)
  found[#found + 1] = { expert, string.format(...) }
end

local function on_call(c, p, from, found)
  local sender, other = ends_of(c, from)
  if c.known and (c.call or c.pvc) and not other.called then
    blame(found, "state.invalid", "Call Request while a call exists")
    return
  end
  if c.known and sender.connected then
    blame(found, "state.invalid", "Call Request in data transfer")
    return
  end
  if not c.known then
    c.known, c.ends = true, {}
    sender = ends_of(c, from)
  end
  sender.called = true
  if not c.call then
    c.call = { caller = from, fast_select = facilities.value_of(p.facilities, "fast_select") or 0 }
    c.modulo = p.modulo
    negotiate(c, p, from)
  end
end

local function on_accept(c, p, from, found)
  local sender, other = ends_of(c, from)
  if not c.known then
    return
  end
  if not c.call or not other.called or sender.connected or sender.clearing then
    blame(found, "state.invalid", "Call Accepted without a pending call from the other end")
    return
  end
  if c.call.fast_select == 3 then
    blame(found, "state.invalid", "Call Accepted to a fast select call with restriction on response")
  end
  if c.call.fast_select < 2 and p.user_data_length then
    blame(found, "user_data.invalid", "called user data without fast select")
  end
  sender.connected, other.connected = true, true
  negotiate(c, p, c.call.caller)
end

local function on_clear(c, p, from, found)
  local sender, other = ends_of(c, from)
  if c.known and c.pvc then
    blame(found, "state.invalid", "%s on a permanent virtual circuit", p.name)
    return
  end
  if c.known and not c.call then
    -- A Clear with nothing to clear is legal (p1 accepts it), but user data would need fast select.
    c.call = { caller = from, fast_select = 0 }
  end
  if c.call and c.call.fast_select < 2 and p.user_data_length then
    blame(found, "user_data.invalid", "clear user data without fast select")
  end
  sender.connected = false
  if other.clearing then -- both sent a Clear: each takes the other's as confirmation
    idle(c)
  else
    sender.clearing = true
  end
end

local function on_clear_confirmation(c, from, found)
  local _, other = ends_of(c, from)
  if other.clearing then
    idle(c)
  elseif c.known then
    blame(found, "state.invalid", "Clear Confirmation without a Clear from the other end")
  end
end

local function on_pvc_setup(c, p, from, found)
  local sender, other = ends_of(c, from)
  if c.call then
    blame(found, "state.invalid", "PVC Setup on a connection that carries a call")
    return
  end
  if not c.pvc and p.pvc_status and p.pvc_status ~= 0 and not other.called then
    blame(found, "state.invalid", "PVC Setup of the initiator with a status other than 0x00")
  end
  c.pvc, c.known, c.modulo = true, true, p.modulo
  sender.called = true
  sender.next_p_s, sender.last_p_r = 0, 0
  sender.window = p.pvc_outgoing_window
  sender.packet_size = p.pvc_outgoing_packet_size
  if other.called and p.pvc_status == 0 then
    sender.connected, other.connected = true, true
  end
end

local function on_reset(c, p, from, found)
  local sender, other = ends_of(c, from)
  if not sender.connected or sender.clearing then
    blame(found, "state.invalid", "%s outside data transfer", p.name)
  elseif p.type == 0x1b then
    if other.resetting then
      restart_numbering(c)
    else
      sender.resetting = true
    end
  elseif other.resetting then
    restart_numbering(c)
  elseif c.known then
    blame(found, "state.invalid", "Reset Confirmation without a Reset from the other end")
  end
end

local function on_interrupt(c, p, from, found)
  local sender, other = ends_of(c, from)
  if not sender.connected or sender.clearing then
    blame(found, "state.invalid", "%s outside data transfer", p.name)
  elseif sender.resetting then
    blame(found, "state.invalid", "%s before the Reset is confirmed", p.name)
  elseif p.type == 0x23 then
    if sender.interrupting then
      blame(found, "state.invalid", "Interrupt before the last one is confirmed")
    end
    sender.interrupting = true
  else
    if c.known and not other.interrupting then
      blame(found, "state.invalid", "Interrupt Confirmation without an Interrupt from the other end")
    end
    other.interrupting = false
  end
end

-- P(R) of an end: not before its last one, not behind what the other end has sent.
local function check_p_r(p, modulus, sender, other, found)
  if not p.p_r then
    return
  end
  if sender.last_p_r and other.next_p_s then
    local acknowledged = (p.p_r - sender.last_p_r) % modulus
    local outstanding = (other.next_p_s - sender.last_p_r) % modulus
    if acknowledged > outstanding then
      blame(found, "p_r.invalid", "P(R)=%d, allowed are %d to %d", p.p_r, sender.last_p_r, other.next_p_s)
      return
    end
  end
  sender.last_p_r = p.p_r
end

local function check_p_s(p, modulus, sender, other, found)
  if sender.next_p_s and p.p_s ~= sender.next_p_s then
    blame(found, "p_s.invalid", "P(S)=%d, expected is %d", p.p_s, sender.next_p_s)
    return
  end
  if sender.window and other.last_p_r and (p.p_s - other.last_p_r) % modulus >= sender.window then
    blame(
      found, "window.exceeded", "P(S)=%d, the window of %d from P(R)=%d ends before it",
      p.p_s, sender.window, other.last_p_r
    )
  end
  sender.next_p_s = (p.p_s + 1) % modulus
end

-- Collect the user data of a complete packet sequence while it can be a test record.
local function collect(p, sender, octets)
  local chain = sender.chain
  local at = p.user_data_offset
  if chain == nil and p.m == 0 and not (at and record.begins(octets, at)) then
    return nil -- a whole sequence that is none
  end
  local data = at and octets:sub(at + 1) or ""
  if chain == nil then
    chain = { parts = {}, count = 0, dead = p.q == 1 }
    sender.chain = chain
  end
  if not chain.dead then
    chain.parts[#chain.parts + 1] = data
    chain.count = chain.count + #data
    if not chain.most and chain.count >= 4 then
      chain.most = record.begins(table.concat(chain.parts), 0) or 0
    end
    chain.dead = chain.count > (chain.most or chain.count)
    if chain.dead then
      chain.parts = {}
    end
  end
  if p.m == 1 then
    return nil
  end
  sender.chain = nil
  if chain.dead or not chain.most then
    return nil
  end
  return record.decode(table.concat(chain.parts))
end

local function on_numbered(c, p, from, octets, found)
  local sender, other = ends_of(c, from)
  if not sender.connected or sender.clearing then
    blame(found, "state.invalid", "%s outside data transfer", p.name)
    return nil
  elseif sender.resetting then
    blame(found, "state.invalid", "%s before the Reset is confirmed", p.name)
    return nil
  end
  if c.modulo and c.modulo ~= p.modulo then
    blame(found, "modulo.differs", "the modulus differs from that of the call")
    return nil
  end
  local modulus = p.modulo == 2 and 128 or 8
  check_p_r(p, modulus, sender, other, found)
  if p.type ~= 0 or not p.p_s or not p.m then
    return nil
  end
  check_p_s(p, modulus, sender, other, found)
  if sender.packet_size and (p.user_data_length or 0) > 2 ^ sender.packet_size then
    blame(
      found, "packet_size.exceeded", "%d octets of user data, the packet size is %d",
      p.user_data_length, math.floor(2 ^ sender.packet_size)
    )
  end
  if sender.chain_q and sender.chain_q ~= p.q then
    blame(found, "q.inconsistent", "the Q bit differs from the earlier packets of the sequence")
  end
  sender.chain_q = p.m == 1 and p.q or nil
  return collect(p, sender, octets)
end

-- What the packet does to the circuit; findings go into `found`. Returns a test record or nil.
local function follow(c, p, from, octets, found)
  if p.undefined or not p.type or p.not_on_xot then
    if p.not_on_xot then
      blame(found, "forbidden", "%s has no place on an XOT connection", p.name)
    end
    return nil
  end
  local kind = p.type
  if kind == 0x0b then
    on_call(c, p, from, found)
  elseif kind == 0x0f then
    on_accept(c, p, from, found)
  elseif kind == 0x13 then
    on_clear(c, p, from, found)
  elseif kind == 0x17 then
    on_clear_confirmation(c, from, found)
  elseif kind == 0xf5 then
    on_pvc_setup(c, p, from, found)
  elseif kind == 0x1b or kind == 0x1f then
    on_reset(c, p, from, found)
  elseif kind == 0x23 or kind == 0x27 then
    on_interrupt(c, p, from, found)
  else
    return on_numbered(c, p, from, octets, found)
  end
  return nil
end

local unused = {} -- a list without findings, for the next packet: few have one

-- Take the packet p (decoded from `octets`), sent by end 1 or 2, into the circuit. Returns the list
-- of findings (expert, sentence), nil where there are none, and the test record that ends with this
-- packet, or nil.
function circuit.take(c, p, from, octets)
  local ending = follow(c, p, from, octets, unused)
  if not unused[1] then
    return nil, ending
  end
  local found = unused
  unused = {}
  return found, ending
end

return circuit
