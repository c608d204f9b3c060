# SPDX-License-Identifier: GPL-2.0-or-later
"""Random walks on links: I frames, their acknowledgement and repetition, ready and busy, resets,
ends and errors, in any order and on every serial line by turns.

Each step has the reactions that LAPB asks for (X.25 2.4), and leaves something behind: frames that
are open, a busy tester, a gap, a link that was just reset. A step that makes no sense where the
walk stands is left out.

link       a line, and what a walk has left open on its link
sending    I frames that the router owes, their acknowledgement, and what asks for them again
receiving  busy testers, gaps, and frames that count for nothing
ending     links that begin anew, and what ends them
walk       drawing steps and making them
all_of_it  a list of steps that has them all, for links of every kind
"""
