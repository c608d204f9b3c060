-- SPDX-License-Identifier: GPL-2.0-or-later
-- Code points of the X.25 packet layer as tables: packet types (X.25 5.1, table 5-2),
-- causes (5.2.4, 5.4.3, 5.5.1), diagnostics (Annex E, ISO/IEC 8208), XOT PVC setup status (RFC 1613 6.5).

local codes = {}

-- Octet 3 of the packets that carry no sequence number. `least` is the smallest number of octets a
-- packet of that type can have; `most` the largest, where the standard fixes it.
codes.packet_types = {
  [0x0b] = { name = "Call Request", least = 5 },
  [0x0f] = { name = "Call Accepted", least = 3 },
  [0x13] = { name = "Clear Request", least = 4 },
  [0x17] = { name = "Clear Confirmation", least = 3 },
  [0x1b] = { name = "Reset Request", least = 4, most = 5 },
  [0x1f] = { name = "Reset Confirmation", least = 3, most = 3 },
  [0x23] = { name = "Interrupt", least = 4, most = 35 },
  [0x27] = { name = "Interrupt Confirmation", least = 3, most = 3 },
  [0xf1] = { name = "Diagnostic", least = 4, most = 7, channel_zero = true, not_on_xot = true },
  [0xf3] = { name = "Registration Request", least = 5, channel_zero = true, not_on_xot = true },
  [0xf5] = { name = "PVC Setup", least = 15 },
  [0xf7] = { name = "Registration Confirmation", least = 7, channel_zero = true, not_on_xot = true },
  [0xfb] = { name = "Restart Request", least = 4, most = 5, channel_zero = true, not_on_xot = true },
  [0xff] = { name = "Restart Confirmation", least = 3, most = 3, channel_zero = true, not_on_xot = true },
}

-- Packets with sequence numbers, under their type octet with the numbers masked out.
codes.numbered_types = {
  [0x00] = { name = "Data" },
  [0x01] = { name = "RR" },
  [0x05] = { name = "RNR" },
  [0x09] = { name = "REJ", not_on_xot = true },
}

codes.type_names = {}
for _, group in ipairs({ codes.packet_types, codes.numbered_types }) do
  for value, entry in pairs(group) do
    codes.type_names[value] = entry.name
  end
end

codes.clear_causes = {
  [0x00] = "DTE originated",
  [0x01] = "number busy",
  [0x03] = "invalid facility request",
  [0x05] = "network congestion",
  [0x09] = "out of order",
  [0x0b] = "access barred",
  [0x0d] = "not obtainable",
  [0x11] = "remote procedure error",
  [0x13] = "local procedure error",
  [0x15] = "ROA out of order",
  [0x19] = "reverse charging acceptance not subscribed",
  [0x21] = "incompatible destination",
  [0x29] = "fast select acceptance not subscribed",
  [0x39] = "ship absent",
  [0xc1] = "gateway-detected procedure error",
  [0xc3] = "gateway congestion",
  [0xc7] = "gateway operational",
}

codes.reset_causes = {
  [0x00] = "DTE originated",
  [0x01] = "out of order",
  [0x03] = "remote procedure error",
  [0x05] = "local procedure error",
  [0x07] = "network congestion",
  [0x09] = "remote DTE operational",
  [0x0f] = "network operational",
  [0x11] = "incompatible destination",
  [0x1d] = "network out of order",
  [0xc1] = "gateway-detected procedure error",
  [0xc3] = "gateway congestion",
  [0xc7] = "gateway operational",
}

codes.restart_causes = {
  [0x00] = "DTE originated",
  [0x01] = "local procedure error",
  [0x03] = "network congestion",
  [0x07] = "network operational",
  [0x7f] = "registration or cancellation confirmed",
  [0xc1] = "gateway-detected procedure error",
  [0xc3] = "gateway congestion",
  [0xc7] = "gateway operational",
}

codes.registration_causes = {
  [0x03] = "invalid facility request",
  [0x05] = "network congestion",
  [0x13] = "local procedure error",
  [0x7f] = "registration or cancellation confirmed",
}

-- Which table of causes belongs to a packet type.
codes.causes_of = {
  [0x13] = codes.clear_causes,
  [0x1b] = codes.reset_causes,
  [0xf7] = codes.registration_causes,
  [0xfb] = codes.restart_causes,
}

codes.diagnostics = {
  [0] = "no additional information", [1] = "invalid P(S)", [2] = "invalid P(R)",
  [16] = "packet type invalid", [17] = "packet type invalid for state r1",
  [18] = "packet type invalid for state r2", [19] = "packet type invalid for state r3",
  [20] = "packet type invalid for state p1", [21] = "packet type invalid for state p2",
  [22] = "packet type invalid for state p3", [23] = "packet type invalid for state p4",
  [24] = "packet type invalid for state p5", [25] = "packet type invalid for state p6",
  [26] = "packet type invalid for state p7", [27] = "packet type invalid for state d1",
  [28] = "packet type invalid for state d2", [29] = "packet type invalid for state d3",
  [32] = "packet not allowed", [33] = "unidentifiable packet",
  [34] = "call on one-way logical channel",
  [35] = "invalid packet type on a permanent virtual circuit",
  [36] = "packet on unassigned logical channel", [37] = "reject not subscribed to",
  [38] = "packet too short", [39] = "packet too long",
  [40] = "invalid general format identifier",
  [41] = "restart or registration packet with non-zero logical channel",
  [42] = "packet type not compatible with facility",
  [43] = "unauthorised interrupt confirmation", [44] = "unauthorised interrupt",
  [45] = "unauthorised reject", [46] = "TOA/NPI address facility not subscribed",
  [48] = "time expired", [49] = "time expired for incoming call",
  [50] = "time expired for clear indication", [51] = "time expired for reset indication",
  [52] = "time expired for restart indication", [53] = "time expired for call deflection",
  [64] = "call set-up, clearing or registration problem",
  [65] = "facility/registration code not allowed", [66] = "facility parameter not allowed",
  [67] = "invalid called DTE address", [68] = "invalid calling DTE address",
  [69] = "invalid facility/registration length", [70] = "incoming call barred",
  [71] = "no logical channel available", [72] = "call collision",
  [73] = "duplicate facility requested", [74] = "non zero address length",
  [75] = "non zero facility length", [76] = "facility not provided when expected",
  [77] = "invalid ITU-T specified DTE facility",
  [78] = "maximum number of redirections or deflections exceeded",
  [80] = "miscellaneous", [81] = "improper cause code from DTE", [82] = "not octet aligned",
  [83] = "inconsistent Q bit setting", [84] = "NUI problem", [85] = "ICRD problem",
  [112] = "international problem", [113] = "remote network problem",
  [114] = "international protocol problem", [115] = "international link out of order",
  [116] = "international link busy", [117] = "transit network facility problem",
  [118] = "remote network facility problem", [119] = "international routing problem",
  [120] = "temporary routing problem", [121] = "unknown called DNIC",
  [122] = "maintenance action",
  [144] = "timer expired or retransmission count surpassed",
  [145] = "timer expired or retransmission count surpassed for interrupt",
  [146] = "timer expired or retransmission count surpassed for data",
  [147] = "timer expired or retransmission count surpassed for reject",
  [160] = "DTE-specific signals", [161] = "DTE operational", [162] = "DTE not operational",
  [163] = "DTE resource constraint", [164] = "fast select not subscribed",
  [165] = "invalid partially full data packet", [166] = "D-bit procedure not supported",
  [167] = "registration/cancellation confirmed",
  [224] = "OSI network service problem", [225] = "disconnection (transient)",
  [226] = "disconnection (permanent)",
  [227] = "connection rejection, reason unspecified (transient)",
  [228] = "connection rejection, reason unspecified (permanent)",
  [229] = "connection rejection, quality of service not available (transient)",
  [230] = "connection rejection, quality of service not available (permanent)",
  [231] = "connection rejection, NSAP unreachable (transient)",
  [232] = "connection rejection, NSAP unreachable (permanent)",
  [233] = "reset, reason unspecified", [234] = "reset, congestion",
  [235] = "connection rejection, NSAP address unknown (permanent)",
  [240] = "higher layer initiated", [241] = "disconnection, normal",
  [242] = "disconnection, abnormal",
  [243] = "disconnection, incompatible information in user data",
  [244] = "connection rejection, reason unspecified (transient)",
  [245] = "connection rejection, reason unspecified (permanent)",
  [246] = "connection rejection, quality of service not available (transient)",
  [247] = "connection rejection, quality of service not available (permanent)",
  [248] = "connection rejection, incompatible information in user data",
  [249] = "connection rejection, unrecognizable protocol identifier in user data",
  [250] = "reset, user resynchronization",
}

codes.pvc_status = {
  [0x00] = "waiting to connect", [0x08] = "destination disconnected",
  [0x09] = "connection refused", [0x0a] = "routing error", [0x0b] = "connect timed out",
  [0x10] = "trying to connect", [0x11] = "awaiting setup reply", [0x12] = "connected",
  [0x13] = "no such destination interface", [0x14] = "destination interface is not up",
  [0x15] = "non-X.25 destination interface", [0x16] = "no such destination PVC",
  [0x17] = "destination PVC configuration mismatch", [0x18] = "mismatched flow control values",
  [0x19] = "cannot support flow control values", [0x1a] = "setup protocol error",
}

codes.moduli = { [0] = "reserved", [1] = "modulo 8", [2] = "modulo 128", [3] = "extension" }

-- Words for a cause of a packet type, or nil where the tables have none.
function codes.cause_name(packet_type, cause)
  local causes = codes.causes_of[packet_type]
  if not causes then
    return nil
  end
  if causes[cause] then
    return causes[cause]
  end
  if cause >= 0x80 and packet_type ~= 0xf7 then
    return "DTE originated"
  end
  return nil
end

return codes
