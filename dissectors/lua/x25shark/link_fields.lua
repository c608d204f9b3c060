-- SPDX-License-Identifier: GPL-2.0-or-later
-- Protocols and fields of HDLC and LAPB; names are those of the Scapy fields of the same meaning.

local lapb = require("x25shark.lapb")

local link_fields = {}

-- Bits of the longest frame that any X.25 packet needs: 4096 octets of user data in modulo 128, two
-- control octets, address and FCS. A link's own N1 is a preference.
local N1_LONGEST = 8 * (4096 + 4 + 3 + 2)

-- Fill `made`; `experts` is the function that registers expert infos.
function link_fields.register(made, experts)
  local hdlcs = Proto("hdlcs", "HDLC framing (strict)")
  local lapbs = Proto("lapbs", "LAPB (strict)")
  made.hdlcs, made.lapbs, made.frame, made.lapb = hdlcs, lapbs, {}, {}

  local truth = { [0] = "no", [1] = "yes" }
  local f = made.frame
  f.offset = ProtoField.uint32("hdlcs.offset", "Octets of earlier frames in this direction")
  f.length = ProtoField.uint32("hdlcs.length", "Octets of the frame")
  f.link = ProtoField.uint32("hdlcs.link", "Link")
  f.direction = ProtoField.uint8(
    "hdlcs.direction", "Direction", base.DEC, { [0] = "tester to router", [1] = "router to tester" }
  )
  f.octets = ProtoField.bytes("hdlcs.octets", "Frame")
  f.fcs = ProtoField.uint16("hdlcs.fcs", "FCS", base.HEX)
  f.fcs_right = ProtoField.uint16("hdlcs.fcs_right", "Right FCS", base.HEX)
  f.fcs_status = ProtoField.uint8("hdlcs.fcs_status", "FCS status", base.DEC, { [0] = "bad", [1] = "good" })
  f.aborted = ProtoField.uint8("hdlcs.aborted", "Aborted", base.DEC, truth)
  f.unaligned = ProtoField.uint8("hdlcs.unaligned", "No whole octets", base.DEC, truth)
  hdlcs.fields = f
  hdlcs.prefs.n1 = Pref.uint("N1 (bits)", N1_LONGEST, "Frames with more bits are giants")

  local l = made.lapb
  for _, entry in ipairs({
    { "address", "Address", base.HEX, lapb.addresses }, { "control", "Control", base.HEX },
    { "type", "Frame type", base.HEX, lapb.type_names },
    { "n_s", "N(S)" }, { "n_r", "N(R)" }, { "p_f", "P/F" },
    { "v_r", "V(R)" }, { "c_r", "C/R" }, { "v_s", "V(S)" },
    { "w", "W: control undefined" }, { "x", "X: information not permitted" },
    { "y", "Y: too long" }, { "z", "Z: invalid N(R)" }, { "undefined", "Undefined frame" },
  }) do
    l[entry[1]] = ProtoField.uint8("lapbs." .. entry[1], entry[2], entry[3] or base.DEC, entry[4])
  end
  l.rejected_control = ProtoField.uint16("lapbs.rejected_control", "Rejected control field", base.HEX)
  l.information = ProtoField.bytes("lapbs.information", "Information")
  lapbs.fields = l

  local malformed, sequence = expert.group.MALFORMED, expert.group.SEQUENCE
  experts(hdlcs, "hdlcs", {
    { "fcs.bad", "FCS is wrong", expert.group.CHECKSUM },
    { "runt", "Fewer than four octets between flags", malformed },
    { "giant", "Frame longer than N1", malformed },
    { "abort", "Aborted frame", malformed },
    { "bits.odd", "No whole number of octets", malformed },
    { "address.unknown", "Address is neither A nor B" },
    { "direction.unknown", "The capture does not say who sent the frame", nil, expert.severity.WARN },
    { "captured.short", "The capture does not hold all octets of this frame", malformed },
  })
  experts(lapbs, "lapbs", {
    { "control.undefined", "Undefined control field" },
    { "control.short", "Control field ends early", malformed },
    { "information.length", "Information field of a length that is not permitted" },
    { "information.reserved", "Reserved bit that is not 0" },
    { "captured.short", "The capture does not hold all octets of this frame", malformed },
    { "repeated", "I frame sent again, or out of sequence", sequence, expert.severity.NOTE },
  })
end

return link_fields
