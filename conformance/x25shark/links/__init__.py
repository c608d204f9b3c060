# SPDX-License-Identifier: GPL-2.0-or-later
"""Links: bytes to and from the router. They know nothing of cases or judges.

carrier        what a link is to everything above it
loop           the only event loop
stream         an octet stream under the loop
xot            connections of XOT, cut into units
hdlc           a serial line and its frames
lapb           the tester's own station on it
circuits       the logical channels of a line
blackhole      sockets that do not answer
owners         whose a TCP connection is
own_addresses  addresses that this machine must have
"""
