# SPDX-License-Identifier: GPL-2.0-or-later
"""The judges: one expectation, judged twice.

values        matchers for template fields (one_of, between ...)
template      a Scapy template: matched on octets (judge one), written as a filter (judge two)
expectation   what a case expects, and the one procedure that evaluates it for either judge
tester        judge one: the packets as the tester received them
wireshark     judge two: the packets as libwireshark dissects the evidence
"""
