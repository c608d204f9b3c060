# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of the counters that every interface has (those of a line are in line.py)."""

from typing import Any

from ..counters import Counters, Interface
from .registry import Patch, fault


@fault("BUG-MIB-01", "refused Calls and accusations of procedure errors are not counted")
def not_counted(patch: Patch) -> None:
    left_out = {"x25StatInCallRefusals", "x25StatInAccusedOfProtocolErrors"}

    @patch.wrap(Interface, "count")
    def count(original: Any, interface: Interface, name: str, step: int = 1) -> None:
        original(interface, name, 0 if name in left_out else step)


@fault("BUG-MIB-02", "received Interrupts count as sent")
def interrupts_as_sent(patch: Patch) -> None:
    @patch.wrap(Interface, "count")
    def count(original: Any, interface: Interface, name: str, step: int = 1) -> None:
        original(interface, name.replace("InInterrupts", "OutInterrupts"), step)


@fault("BUG-MIB-03", "every Clear counts as one of the network")
def all_of_the_network(patch: Patch) -> None:
    @patch.wrap(Interface, "clear_in")
    def clear_in(original: Any, interface: Interface, cause: int) -> None:
        before = interface.values["x25StatInProviderInitiatedClears"]
        original(interface, cause)
        interface.values["x25StatInProviderInitiatedClears"] = before + 1


@fault("BUG-MIB-04", "the table of cleared circuits has cause and diagnostic exchanged")
def exchanged(patch: Patch) -> None:
    @patch.wrap(Counters, "circuit_cleared")
    def circuit_cleared(
        original: Any, counters: Counters, called: str, calling: str, cause: int, diagnostic: int
    ) -> None:
        original(counters, called, calling, diagnostic, cause)


@fault("BUG-MIB-05", "every third Data packet is not counted")
def every_third(patch: Patch) -> None:
    for name in ("data_in", "data_out"):

        @patch.wrap(Interface, name)
        def count(original: Any, interface: Interface, octets: int) -> None:
            seen = vars(interface)["data_seen"] = vars(interface).get("data_seen", 0) + 1
            if seen % 3:
                original(interface, octets)


@fault("BUG-MIB-06", "no counters of calls")
def no_counters(patch: Patch) -> None:
    @patch.wrap(Interface, "as_dict")
    def as_dict(original: Any, interface: Interface) -> dict[str, Any]:
        page: dict[str, Any] = original(interface)
        calls = ("x25StatInCalls", "x25StatOutCallAttempts", "x25StatOutCallFailures")
        return {name: value for name, value in page.items() if name not in calls}
