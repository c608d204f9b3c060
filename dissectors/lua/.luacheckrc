-- SPDX-License-Identifier: GPL-2.0-or-later
std = "lua52+lua53+lua54"
max_line_length = 120
read_globals = {
  "Proto", "ProtoField", "ProtoExpert", "Field", "Dissector", "DissectorTable", "Listener", "base", "expert",
  "Pref", "TreeItem", "bit", "dissect_tcp_pdus", "wtap", "__DIR__",
}
