# SPDX-License-Identifier: GPL-2.0-or-later
"""Sides A and B: a DTE on top of an XOT connection or a serial line, and the calls between them.

bench         what a case works with: it opens connections and calls; a call with both its ends
context       what a side sees of its case: the profile, the expectations so far, judge one
points        the sides of a case, its lines, and what the router has opened
side          one side: send packets, expect templates, numbering of data
line          a serial line, and how its link comes and goes; line_wire: its octets and bits
channel       a side on a logical channel of a line
serial_lines  the serial lines of a case and their logical channels
listeners     where the router may call the tester
dialling      the command that makes the router under test call
far_end       the called end: side B, or what the router itself has in its place
further       calls that may still arrive although no case waits for them
arriving      the called address with which a Call arrives
arrivals      what has come on the connection of a side
agreement     packet sizes and windows, as the ends of a call agree on them
numbering     P(S) and P(R) of one side
interrupts    user data of an Interrupt, as long as the router takes it
wire          the connection of a side as it is: its octets, and how it ends
answers       what the profile lets a router answer: how soon, with which causes and diagnostics
diagnostics   diagnostics that are right on one link and not on another
capacity      whether the router has room for one more call
own_accord    a DTE that clears or resets a call of its own accord
race          two things at the same time, tried again and again with a seed
postamble     what every case demands at its end, and clearing what is up
outcomes      how a case can end early
"""
