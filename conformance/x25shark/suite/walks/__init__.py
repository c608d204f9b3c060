# SPDX-License-Identifier: GPL-2.0-or-later
"""Random walks: calls, data, interrupts, resets and their ends, in any order and on several calls.

Each step is a small procedure with the reactions that X.25 asks for at both ends, so that a walk is
judged as any case is; what makes it more is what it leaves behind: the next step meets a side that
is not ready, an Interrupt without confirmation, Data that waits, half a sequence, a channel that
was just freed. A step that makes no sense where the walk stands is left out, so that any selection
of the steps of a walk is a walk, and one that fails can be made short.

circuit    a call and what a walk has left open on it
alphabet   what a step is, and the list of actions, to which these add theirs:
beginning  calls: placed, refused, taken back, again on the same connection
flowing    messages, windows, busy sides, delivery confirmation, interrupts
ending     resets and clears, by one side and by both, and connections that end
wrong      errors of a side
walk       drawing steps and making them
all_of_it  a list of steps that has them all, for circuits of every kind
"""
