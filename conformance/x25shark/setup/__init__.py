# SPDX-License-Identifier: GPL-2.0-or-later
"""The first profile of a router (x25shark init), and x25shark in the user's Wireshark.

routers   what is known of kinds of routers, and how each is configured for the tester
probe     what the router answers to a connection and a call
command   x25shark init and completion; questions: what an answer has to be
pics, profile_keys     PICS items and keys of a profile, in words
without_profile        a router of which only addresses are given
doctor    x25shark doctor: what works on this machine
wireshark_files, wireshark_command     what x25shark wireshark puts where
"""
