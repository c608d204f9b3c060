# SPDX-License-Identifier: GPL-2.0-or-later
"""Counters per interface and in total, named after RFC 1382 where it has an object for them.

An interface is the address of an XOT peer. Their number is bounded: what comes from further peers
is counted under 'other'. Reading changes nothing.
"""

from collections import Counter, deque
from typing import Any

from .codec import TYPE_NAMES

#: Interfaces that are counted by name.
INTERFACES = 64
#: Entries of x25ClearedCircuitTable that are kept.
CLEARED = 64

#: RFC 1382 x25StatTable; those without a meaning on XOT (restarts, LAPB) are left out.
STATISTICS = (
    "x25StatInCalls",
    "x25StatInCallRefusals",
    "x25StatInProviderInitiatedClears",
    "x25StatInRemotelyInitiatedResets",
    "x25StatInProviderInitiatedResets",
    "x25StatInRestarts",
    "x25StatInDataPackets",
    "x25StatInAccusedOfProtocolErrors",
    "x25StatInInterrupts",
    "x25StatOutCallAttempts",
    "x25StatOutCallFailures",
    "x25StatOutInterrupts",
    "x25StatOutDataPackets",
    "x25StatOutgoingCircuits",
    "x25StatIncomingCircuits",
    "x25StatTwowayCircuits",
    "x25StatCallTimeouts",
    "x25StatResetTimeouts",
    "x25StatClearTimeouts",
    "x25CircuitInOctets",
    "x25CircuitInPdus",
    "x25CircuitInRemotelyInitiatedResets",
    "x25CircuitInProviderInitiatedResets",
    "x25CircuitInInterrupts",
    "x25CircuitOutOctets",
    "x25CircuitOutPdus",
    "x25CircuitOutInterrupts",
    "xotInUnits",
    "xotOutUnits",
    "xotInDiscards",
    "xotFramingErrors",
)

#: Values that fall as well as rise.
GAUGES = frozenset({"x25StatOutgoingCircuits", "x25StatIncomingCircuits", "x25StatTwowayCircuits"})


class Interface:
    """The counters of one interface."""

    def __init__(self) -> None:
        self.values = dict.fromkeys(STATISTICS, 0)
        self.clears_in: Counter[int] = Counter()
        self.clears_out: Counter[int] = Counter()
        self.resets_in: Counter[int] = Counter()
        self.resets_out: Counter[int] = Counter()
        self.packets_in: Counter[str] = Counter()
        self.packets_out: Counter[str] = Counter()

    def count(self, name: str, step: int = 1) -> None:
        self.values[name] += step

    def data_in(self, octets: int) -> None:
        """A Data packet with so many octets of user data was taken."""
        values = self.values
        values["x25StatInDataPackets"] += 1
        values["x25CircuitInPdus"] += 1
        values["x25CircuitInOctets"] += octets

    def data_out(self, octets: int) -> None:
        """A Data packet with so many octets of user data was sent."""
        values = self.values
        values["x25StatOutDataPackets"] += 1
        values["x25CircuitOutPdus"] += 1
        values["x25CircuitOutOctets"] += octets

    def clear_in(self, cause: int) -> None:
        """A Clear was received. Cause 0 and 128 to 255 come from a DTE, others from a network."""
        self.clears_in[cause] += 1
        if not is_from_dte(cause):
            self.count("x25StatInProviderInitiatedClears")
        if cause == 0x13:
            self.count("x25StatInAccusedOfProtocolErrors")

    def reset_in(self, cause: int) -> None:
        """A Reset was received."""
        self.resets_in[cause] += 1
        kind = "Remotely" if is_from_dte(cause) else "Provider"
        self.count(f"x25StatIn{kind}InitiatedResets")
        self.count(f"x25CircuitIn{kind}InitiatedResets")
        if cause == 0x05:
            self.count("x25StatInAccusedOfProtocolErrors")

    def as_dict(self) -> dict[str, Any]:
        """The values by name, and the clears and resets by cause."""
        return {
            **self.values,
            "clearsInByCause": by_cause(self.clears_in),
            "clearsOutByCause": by_cause(self.clears_out),
            "resetsInByCause": by_cause(self.resets_in),
            "resetsOutByCause": by_cause(self.resets_out),
            "x25InPacketsByType": by_type(self.packets_in),
            "x25OutPacketsByType": by_type(self.packets_out),
        }


def is_from_dte(cause: int) -> bool:
    """X.25 5.2.4: 0x00 and 0x80 to 0xFF are causes that a DTE may give."""
    return cause == 0 or cause >= 0x80


def by_cause(counts: Counter[int]) -> dict[str, int]:
    return {f"0x{cause:02x}": counts[cause] for cause in sorted(counts)}


def by_type(counts: Counter[str]) -> dict[str, int]:
    """Every type of packet has its counter, before the first one too."""
    return {name: counts[name] for name in sorted({*TYPE_NAMES.values(), *counts})}


class Counters:
    """All counters of the router."""

    def __init__(self) -> None:
        self._interfaces: dict[str, Interface] = {}
        self.cleared: deque[dict[str, Any]] = deque(maxlen=CLEARED)

    def interface(self, peer: str) -> Interface:
        """The counters of a peer."""
        found = self._interfaces.get(peer)
        if found is None:
            if len(self._interfaces) >= INTERFACES:
                peer = "other"
            found = self._interfaces.setdefault(peer, Interface())
        return found

    def add(self, name: str, interface: Interface) -> None:
        """An interface that is configured, with counters of its own."""
        self._interfaces[name] = interface

    def circuit_cleared(self, called: str, calling: str, cause: int, diagnostic: int) -> None:
        """Add an entry to x25ClearedCircuitTable; the oldest one is dropped."""
        self.cleared.append(
            {
                "x25ClearedCircuitCalledAddress": called,
                "x25ClearedCircuitCallingAddress": calling,
                "x25ClearedCircuitClearingCause": cause,
                "x25ClearedCircuitDiagnosticCode": diagnostic,
            }
        )

    def as_dict(self) -> dict[str, Any]:
        """Everything, for the JSON page: totals, interfaces, cleared circuits."""
        total = Interface()
        for interface in self._interfaces.values():
            for name, value in interface.values.items():
                if name in total.values:
                    total.values[name] += value
            total.clears_in += interface.clears_in
            total.clears_out += interface.clears_out
            total.resets_in += interface.resets_in
            total.resets_out += interface.resets_out
            total.packets_in += interface.packets_in
            total.packets_out += interface.packets_out
        return {
            "global": total.as_dict(),
            "interfaces": {name: one.as_dict() for name, one in self._interfaces.items()},
            "x25ClearedCircuitTable": list(self.cleared),
        }
