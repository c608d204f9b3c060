# SPDX-License-Identifier: GPL-2.0-or-later
"""The judges: one expectation, judged twice.

values        matchers for template fields (one_of, between ...)
template      a Scapy template: matched on octets (judge one), written as a filter (judge two)
expectation   what a case expects, and the one procedure that evaluates it for either judge
tester        judge one: the packets as the tester received them
evidence      judge two: the packets as Wireshark dissects the evidence
wireshark     by a resident process on libwireshark; program: where that comes from
tshark        by starting tshark; pdml: its output
reading       what either read; strict: its names of fields; sandbox: its surroundings
gaps          known gaps of Wireshark's own dissectors
frames        frames of a serial line
form          the form of one packet or frame
watch         rules over all that the router sends in a run
datagrams     IP datagrams on a circuit
counter_moved, counter_events  a counter against the packets of a case
cleared_table, frame_reject_kept  tables and fields of the router against the packets
benchmark     what one capture costs
"""
