# SPDX-License-Identifier: GPL-2.0-or-later
"""Running the suite: everything around the cases.

watching           `x25shark run --watch`
listing            `x25shark list`
plan               which cases will run, and what they cost
declared           what a profile says that makes a case run, or not
campaign           one run from preflight to results
options            what a run is asked to do, who is told of it, why it cannot begin
surroundings       the router, the listening sides, the lines and the capture around the cases
case_runner        one case from marker to marker
deciding           the cases that have been run and wait for their verdicts
tally              the results, as the verdicts become final
rights             how this user may capture
namespaces         an own network namespace, so that an ordinary user can capture
router             the router's control hooks and the embedded reference router
lines              the serial lines of a run
sanity             the least that must work before any purpose can be judged
deadline           how long a run and each of its cases may take
dying              whether the router died in a case
liveness           a router that does not answer any more
held_up            cases that are run once more
repeats            the worst of several runs of a case
pipeline           judging behind the cases
apart              judging in a process of its own
packed             a case on its way to that process
judging            judge two, and the verdict of a case
builtin_dissector  what Wireshark's own dissector says beside it
explaining         what came in place of what was expected, in words
ladder             the packets of a case in the order of the evidence
observations       what went wrong in a case, and whose doing it was
shown              the text of a profile as a report may show it
descriptors        how many sockets and files a run may have
versions           versions of what a verdict rests on

The cases as pytest items: ../plugin.py. `x25shark run`, the suite under pytest: ../session.py.
"""
