-- SPDX-License-Identifier: GPL-2.0-or-later
std = "lua52+lua53+lua54"
max_line_length = 120
read_globals = {
  "Proto", "ProtoField", "ProtoExpert", "Field", "Dissector", "DissectorTable", "Listener", "base", "expert",
  "Pref", "TreeItem", "Tvb", "TvbRange", "bit", "dissect_tcp_pdus", "wtap", "__DIR__",
  "register_postdissector", "TextWindow", "MENU_TOOLS_UNSORTED", "register_menu", "register_stat_cmd_arg", "gui_enabled", "new_dialog",
  "set_plugin_info", "set_filter", "apply_filter", "retap_packets", "reload_packets", "copy_to_clipboard",
}
