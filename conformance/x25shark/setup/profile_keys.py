# SPDX-License-Identifier: GPL-2.0-or-later
"""What each key of a profile means, for the reference in docs/profile.md.

Type, range and usual value come from the schema (`profile.Profile`); the tests demand a sentence
for each key, and no sentence without a key.
"""

from __future__ import annotations

from ..counters.readers import READERS
from ..line_places import WAYS

SECTIONS: dict[str, str] = {
    "": "The top of the file.",
    "xot": "Who is where, where a side is XOT. Addresses are IPv4, with `:port` if it is not 1998.",
    "line.a": "Side A is a serial line of the router (HDLC, LAPB). The values are the router's.",
    "line.b": "As `[line.a]`, for side B.",
    "addresses": "X.121 addresses. What is not given is not tested.",
    "times": "Seconds that the router is given, and its timers.",
    "limits": "Sizes and numbers.",
    "pvc": "Permanent circuits over XOT (RFC 1613 6.5).",
    "pvc.a": "One end of a circuit as the router has it; tester A opens the connection.",
    "pvc.b": "The other end of that circuit; tester B opens the connection. Keys as in `[pvc.a]`.",
    "pvc.asymmetric": "A circuit whose values differ by direction, opened by A.",
    "pvc.outgoing": "A circuit that the router opens, to `pvc.listen`, and whose data it echoes.",
    "ip": "The router as an IP host on its circuits (RFC 1356); it answers ICMP echo.",
    "emulation": "Access lines of known rate and delay, for the load commands and `x25shark ip`.",
    "emulation.a": "The access line between tester A and the router, as the load commands and "
    "`x25shark ip` emulate it; the suite runs without.",
    "emulation.a.to_router": "Its direction towards the router. 0: no limit.",
    "emulation.a.to_tester": "The other direction. Keys as in `[emulation.a.to_router]`.",
    "emulation.b": "As `[emulation.a]`, for tester B.",
    "emulation.b.to_router": "Keys as in `[emulation.a.to_router]`.",
    "emulation.b.to_tester": "Keys as in `[emulation.a.to_router]`.",
    "control": "Shell commands of yours, run as you. Take no profile from a stranger.",
    "capture": "Where dumpcap listens.",
    "counters": "How the router's counters are read.",
    "counters.names": "Where each counter stands: neutral name = path, or a list to sum up. A "
    "path names members, one below the other, from the root of its interface on "
    "(`xot.calls_in`), or with `$.` from the top of the document. A name with dots is "
    'quoted (`xot."calls.in"`), `[0]` is the first item of a list, `*` all members, which are '
    "summed up, and `{cause}` or `{cause:02x}` a cause.",
    "counters.roots": "Below which part of the document the names stand. Without any root they "
    "stand at the top, for the whole router; with some, a root that is left out is not read.",
    "counters.cleared": "A list of cleared circuits, and where each value is in an entry.",
    "counters.frame_rejects": "Where an interface keeps the field of the last FRMR.",
    "counters.machine": "What its processors and memory do, for the load commands, where it runs "
    "on another machine. Paths begin at the top of the document.",
}
"""By the table's name in TOML."""

KEYS: dict[str, str] = {
    "extends": "the profile that this one differs from: a built-in one, or a file, from the folder "
    "of this one on; tables are joined, all else is as said here",
    "omits": 'what the other has and this one lacks, as `"ip"` or `"addresses.ip"`',
    "name": "what the reports call the router",
    "relay_model": "whether each side has its own numbers, window and packet size (local), they "
    "pass through (end-to-end), or packets pass unread after the call (splice); where it is not "
    "given and a call shows that it is not local, what would FAIL is INCONCLUSIVE",
    "pics": "what the router can do beyond what the standards demand",
    "lacks": "what the standards demand and the router cannot do",
    "diagnostics": "how exact a diagnostic has to be",
    "route_rule": "which prefix of several that fit counts: the longest, or the first",
    "causes_no_route": "causes that may refuse a call to an address without a route",
    "causes_down": "causes that may refuse a call to a destination that is down",
    "embedded": "configuration of the embedded reference router; for the built-in profiles",
    "xot.router": "where the router accepts XOT",
    "xot.a": "from where tester A calls, and where it listens",
    "xot.b": "where the router sends calls for B",
    "xot.b2": "a second destination",
    **{f"line.a.{way.KEY}": way.WORDS for way in WAYS},
    "line.a.serial": "an interface of the embedded reference router",
    "line.a.framing": "octet-stuffed, or bit-synchronous",
    "line.a.role": "whether the router is DCE or DTE; the tester is the other",
    "line.a.modulo": "numbering of the packet layer",
    "line.a.t1": "T1 of LAPB, seconds (X.25 2.4.8.1)",
    "line.a.t3": "T3 of LAPB, seconds (X.25 2.4.8.3)",
    "line.a.n1": "bits of the longest frame with its FCS, without flags (X.25 2.4.8.5)",
    "line.a.n2": "attempts to send a frame (X.25 2.4.8.4)",
    "line.a.k": "frames outstanding (X.25 2.4.8.6)",
    "line.a.lcn": "first and last logical channel for virtual calls",
    "line.a.initiates": "whether the router starts the link",
    "addresses.a": "side A: its calling address, routed back to it",
    "addresses.b": "routed to side B",
    "addresses.b2": "routed to the second destination",
    "addresses.echo": "the router answers itself, sends Data back and nothing unasked (a prompt)",
    "addresses.accepts": "the router answers itself; it may send what it likes, or nothing",
    "addresses.ip": "the router takes calls for IP there; `[ip]` says the rest",
    "addresses.no_route": "no route has it",
    "addresses.loop": "routed back to where the call came from",
    "addresses.loop_to_router": "routed to the router's own address",
    "addresses.barred": "its incoming calls are barred",
    "addresses.no_fast_select": "has not subscribed to fast select acceptance",
    "addresses.no_reverse_charging": "has not subscribed to reverse charging acceptance",
    "addresses.down": "its destination does not answer",
    "addresses.alternate": "its first route leads to B, its second, where B takes no calls, to B2",
    "addresses.a_arrives": "the called address with which calls to `a` arrive; empty: with none",
    "addresses.b_arrives": "the called address with which calls to `b` arrive; empty: with none",
    "addresses.a_calls_as": "the calling address with which calls of `a` arrive, if digits are put "
    "before it or taken off",
    "addresses.b_calls_as": "the same of `b`",
    "addresses.rewrite_longer": "`called` becomes the longer `arrives` on its way to B",
    "addresses.rewrite_shorter": "`called` becomes the shorter `arrives` on its way to B",
    "addresses.insert_calling": "calls to `called` without a calling address arrive with `calling`",
    "addresses.modulo8_only": "its destination does modulo 8 only",
    "addresses.own_sizes": "an address of B where each side has a packet size of its own",
    "addresses.prefixes": 'prefixes of routes that overlap, and where each leads: "b" or "b2"',
    "times.reaction": "TR: by when the router reacts; up to twice as long gives a remark",
    "times.quiet": "TQ: how long nothing may come where nothing is expected",
    "times.acknowledge": "by when received Data is acknowledged",
    "times.stall": "how long an incomplete unit may stay so before the router gives up",
    "times.t10": "T10: a Restart that is not confirmed",
    "times.t11": "T11: a call that is not answered (X.25 Annex D)",
    "times.t12": "T12: a Reset that is not confirmed",
    "times.t13": "T13: a Clear that is not confirmed",
    "times.t21": "T21: a Call Request of a DTE that is not answered",
    "times.t23": "T23: a Clear Request of a DTE (a line with `role` dte) that is not confirmed",
    "times.dial": "how long a call that `control.call` asks for may take to come; after that the "
    "case is INCONCLUSIVE",
    "times.idle": "TIDLE: how long a connection or a call without traffic is left to itself",
    "times.keepalive": "by when a dead peer is noticed",
    "times.call_longest": "by when a call is answered or cleared at the latest",
    "times.tempty": "by when a connection without a circuit is closed; 0: it is not",
    "times.pvc_retry": "how long the router waits before it tries a PVC again",
    "limits.packet_size": "the largest packet size that the router takes, octets",
    "limits.window": "the largest window that the router takes",
    "limits.calls": "how many calls the router takes at a time",
    "limits.stalled_connections": "how many connections that stall it has to bear",
    "pvc.listen": "an address of the tester's own, where the router opens `pvc.outgoing`",
    "pvc.a.interface": "what the router calls its end",
    "pvc.a.lcn": "logical channel of the router's end",
    "pvc.a.remote_interface": "what the tester calls its own end",
    "pvc.a.remote_lcn": "logical channel of the tester's end",
    "pvc.a.incoming_window": "window from the tester to the router, packets",
    "pvc.a.outgoing_window": "window from the router to the tester, packets",
    "pvc.a.incoming_packet_size": "packet size of what the router receives, octets",
    "pvc.a.outgoing_packet_size": "packet size of what the router sends, octets",
    "ip.router": "the router's own IP address on its circuits",
    "ip.tester": "the tester's IP address, which the router's map has at `addresses.a`",
    "ip.encapsulations": "what the router takes besides 0xCC; what is left out may be refused",
    "ip.idle": "seconds after which it clears an idle circuit, 0: never; without it not tested",
    "ip.mtu": "octets of the longest datagram that it sends",
    "emulation.at": "who emulates the lines: the engine's relays in front of the router, or the "
    "embedded reference router at its own interfaces",
    "emulation.a.framing": "what a packet is charged with: XOT header, or an HDLC frame, stuffed "
    "by bits or octets",
    "emulation.a.overflow": "what becomes of a packet that finds the queue full",
    "emulation.a.to_router.rate": "bit/s",
    "emulation.a.to_router.delay": "milliseconds of propagation",
    "emulation.a.to_router.queue": "packets that may wait while another one is sent",
    "emulation.a.to_router.queue_octets": "octets that may wait",
    "emulation.a.to_router.loss": "share of packets that are lost",
    "control.start": "starts the router in the background, before the run; it has 15 s until it "
    "listens",
    "control.stop": "stops it, after the run",
    "control.restart": "starts it again when it has died, or while it is up: then it ends that one "
    "first; unless given, `stop` and `start`",
    "control.call": "makes the router place a call to the address that {address} stands for, in "
    "configuration T6, with modulo 8 or 128 where it has {modulo} and `pics` P-MOD128; it may end "
    "at once, or when the call is over, and is ended with its case",
    "control.orderly": "whether they let the router end by itself; false: they switch it off, as "
    "those of a virtual machine may, and its peers hear nothing of that",
    "control.filters": "sets as many filter conditions as {count} says",
    "capture.interface": "interface for dumpcap",
    "capture.namespace": "whether the run is in a network namespace of its own",
    "counters.reader": f"how they are read: {', '.join(reader.WORDS for reader in READERS)}",
    "counters.remote": "whether `url` may lead to another machine",
    "counters.url": "where the router shows its counters",
    "counters.timeout": "seconds for one reading",
    "counters.age": "seconds that what is read may be old; measured unless given",
    "counters.roots.router": "those of the whole router",
    "counters.roots.a": "those of the interface to A",
    "counters.roots.b": "those of the interface to B",
    "counters.cleared.table": "the list",
    "counters.cleared.called_address": "called address, in an entry",
    "counters.cleared.calling_address": "calling address, in an entry",
    "counters.cleared.cause": "cause of the Clear, in an entry",
    "counters.cleared.diagnostic": "its diagnostic, in an entry",
    "counters.frame_rejects.sent": "the last FRMR that was sent",
    "counters.frame_rejects.received": "the last FRMR that was received",
    "counters.machine.cpu_seconds": "processor time that it has used so far, seconds",
    "counters.machine.memory_octets": "memory that it has in use",
}
"""By the key's path; sections that are alike (line.b, pvc.b ...) share those of the first."""
