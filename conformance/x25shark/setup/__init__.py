# SPDX-License-Identifier: GPL-2.0-or-later
"""The first profile of a router (x25shark init), and x25shark in the user's Wireshark.

routers   what is known of kinds of routers, and how each is configured for the tester
probe     what the router answers to a connection and a call
command   the questions, and the files
wireshark_files, wireshark_command     what x25shark wireshark puts where
"""
