# SPDX-License-Identifier: GPL-2.0-or-later
"""The cases: one module per group of the catalogue, one function per purpose, in its order.

A case is a function under @purpose(id). It takes `call` (a call from A to B that is connected,
preamble P-CALL) or `bench` (no call yet), sends stimuli and states expectations. It needs no
verdict of its own: expectations are judged twice, and nothing unexpected may come.

test_*            the cases; each module names its subject and clauses in its first line
language          the words that cases are written in
loader, index     which purposes have a case, and in which module
selection, costs  the expressions that select cases, and what a case costs
calls, clearing, callers   how calls begin and end, and calling addresses
facilities        calls with facilities
reactions, procedure_errors, occasion   what a router does about an error, and on which occasion
scene, scenes     calls compared whole; channels brought into a state
events, state_judging   the state tables: what is sent, and what must be seen
state_words       both in words, for x25shark show
types             all values of octet 3
collisions        both ends reset, clear or call at a time
windows, shut_windows, transfer   windows filled and kept shut; messages that arrive
amid_sequences    what changes nothing of a packet sequence
connections       XOT: streams in pieces, ends of connections
anew              a circuit used again
many              many calls at a time
whole_calls, whole_errors   every way in which a call begins and ends, every error that ends one
links             LAPB
datagrams         circuits that carry IP
counting          the router's counters around what a case does
walks, link_walks random walks over calls and over links
"""
