# SPDX-License-Identifier: GPL-2.0-or-later
"""The steps of a cell of the state tables in words: how the state is reached (scenes.py), what is
sent (events.py) and what is expected (state_judging.py).

No Scapy is imported: x25shark show prints this. What is said here of A holds for B too where B's
channel can be in the state, with the sides exchanged.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..catalogue.states import Cell, Reaction, reachable

_CONNECTED = "A calls B, B accepts: the call is up on both sides"
_CLEARED = (
    f"{_CONNECTED}. B sends a Clear Request (without a side B, A sends a Call Request on its "
    "call). A gets the Clear Indication, and does not confirm it"
)

REACHED = {
    "p1": "A connects; there is no call on the channel",
    "p2": "A sends a Call Request; B gets it, and does not answer",
    "p3": "the far end calls; the Call arrives on the channel, which does not answer",
    "p4": _CONNECTED,
    "p7": _CLEARED,
    "d1": _CONNECTED,
    "d2": f"{_CONNECTED}. A sends a Reset Request; B gets the Reset Indication, and does not "
    "confirm it, so that the router does not confirm to A either",
    "d3": f"{_CONNECTED}. B sends a Reset Request (without a side B, A makes an error). A gets the "
    "Reset Indication, and does not confirm it",
    "i1j1": _CONNECTED,
    "i2j1": f"{_CONNECTED}. A sends an Interrupt; B gets it, and does not confirm it",
    "i1j2": f"{_CONNECTED}. B sends an Interrupt; A gets it, and does not confirm it",
    "i2j2": f"{_CONNECTED}. Each sends an Interrupt; both arrive, and nobody confirms",
    "f1g1": _CONNECTED,
    "g2": f"{_CONNECTED}. A sends RNR",
}
"""By state."""

SENT = {
    "call_request": "a Call Request for the other end",
    "call_accepted": "a Call Accepted",
    "clear_request": "a Clear Request, cause 0, diagnostic 241",
    "clear_confirmation": "a Clear Confirmation",
    "data_transfer_packet": "Data, Interrupt, Interrupt Confirmation, RR, RNR, Reset Request, "
    "Reset Confirmation",
    "restart_packet": "Restart Request, Restart Confirmation, Registration Request (that only "
    "where the tester is not the DCE of a line), with the number of the channel",
    "two_octets": "a packet that ends behind GFI and channel number",
    "undefined_type": "the types 0x2B, 0x33 and 0xD3",
    "reset_request": "a Reset Request, cause and diagnostic 0",
    "reset_confirmation": "a Reset Confirmation",
    "data": "Data",
    "rr_or_rnr": "RR, RNR",
    "interrupt_packet": "Interrupt, Interrupt Confirmation",
    "reject": "REJ",
    "interrupt": "an Interrupt of one octet",
    "interrupt_confirmation": "an Interrupt Confirmation",
    "interrupt_empty": "an Interrupt without user data",
    "interrupt_too_long": "an Interrupt of 33 octets",
    "interrupt_confirmation_too_long": "an Interrupt Confirmation with another octet behind it",
    "p_s_next": "Data with P(S) 0, the next one",
    "p_s_not_next": "Data with P(S) 0, and then Data with P(S) 2",
    "p_s_outside_window": "Data with P(S) 0, 1 and 2 where the window is 2, while B gives no P(R)",
    "first_p_s_not_0": "Data with P(S) 1 as the first of the call",
    "p_r_invalid": "RR, RNR, Data, each with P(R) 5 where nothing was sent to A",
    "data_too_long": "Data with one octet more than the packet size",
    "q_differs": "a full packet with Q = 0 and M = 1, and the rest of the sequence with Q = 1",
    "rr": "RR with a valid P(R)",
    "rnr": "RNR with a valid P(R)",
    "flow_too_long": "RR, RNR, each with another octet behind it",
    "version": "an XOT header with version 1, and an Interrupt behind it",
    "length": "XOT headers with the lengths 0, 1, 2 and 65535",
    "diagnostic_packet": "Diagnostic, Registration Confirmation",
    "other_channel_number": "Data (in p7 the Clear Confirmation) with another channel number than "
    "the call's",
    "tcp_end": "no packet: the TCP connection is closed (FIN), reset (RST)",
}
"""By event."""

_ONE_AT_A_TIME = "; each on a channel of its own"

NORMAL = {
    "p1 call_request": "the Call arrives at B; B accepts, A gets the Call Accepted",
    "p3 call_accepted": "the calling side gets the Call Accepted",
    "p3 call_request": "the two Calls collide on the channel, and what becomes of them is as "
    "X.25 4.1.6 has it: the router, as DCE, gives its own up; as DTE it goes on with it",
    "p1 clear_request": "A gets a Clear Confirmation",
    "p2 clear_request": "B gets the Clear Indication with diagnostic 241 (a Call that has not "
    "reached it may just be gone); A gets the Clear Confirmation, or its TCP connection is closed",
    "p3 clear_request": "the calling side gets the Clear Indication with cause 0, diagnostic 241; "
    "A gets the Clear Confirmation, or its TCP connection is closed",
    "p4 clear_request": "B gets the Clear Indication with cause 0, diagnostic 241; A gets the "
    "Clear Confirmation, or its TCP connection is closed",
    "p7 clear_request": "the Clears collide: clearing is complete without a confirmation to A (one "
    "is tolerated over XOT, and of a DTE), and B has its own",
    "p7 clear_confirmation": "clearing is complete: B has its confirmation, and A can call again",
    "p7 other_channel_number": "it is taken as if it had the number of the call: clearing is "
    "complete, B has its confirmation, and A can call again",
    "p4 other_channel_number": "the Data arrives at B as that of the call",
    "p1 tcp_end": "other calls go on",
    "p7 tcp_end": "B has its confirmation of the Clear, and other calls go on",
    "d1 reset_request": "B gets the Reset Indication with cause and diagnostic 0 and confirms it; "
    "A gets the Reset Confirmation",
    "d3 reset_request": "the Resets collide: the reset is complete without a confirmation to A "
    "(one is tolerated where the profile allows it), and B has its own",
    "d3 reset_confirmation": "the reset is complete: B has its confirmation, and Data passes both "
    "ways with P(S) from 0",
    "i1j1 interrupt": "B gets the Interrupt and confirms it; A gets the Interrupt Confirmation",
    "i1j2 interrupt": "B gets the Interrupt and confirms it, A gets the Interrupt Confirmation; "
    "then A confirms that of B, and B gets that confirmation",
    "i1j2 interrupt_confirmation": "B gets the Interrupt Confirmation",
    "i2j2 interrupt_confirmation": "B gets the Interrupt Confirmation; then B confirms A's "
    "Interrupt, and A gets that confirmation",
    "f1g1 p_s_next": "the Data arrives at B",
    "g2 p_s_next": "the Data arrives at B, although A is not ready",
    "f1g1 q_differs": "the rest arrives at B with its Q bit (a remark)",
    "g2 q_differs": "the rest arrives at B with its Q bit (a remark)",
    "f1g1 rr": "nothing; Data passes both ways",
    "g2 rr": "nothing; Data passes both ways again",
    "f1g1 rnr": "nothing; when A is ready again, Data passes both ways",
    "g2 rnr": "nothing; when A is ready again, Data passes both ways",
}
"""Of what is in order, by state and event."""


HOST_MAY_IGNORE = frozenset(
    {
        "undefined_type",
        "interrupt_confirmation",
        "interrupt_confirmation_too_long",
        "reset_confirmation",
    }
)
"""Events that a host which ends its calls itself may ignore in place of a reset (a remark)."""

# What is due in a state that is as it was, and shows that it is.
AS_IT_WAS = {
    "p1": "A calls on the channel, and the call comes about",
    "p2": "B accepts, A gets the Call Accepted, and the call works",
    "p3": "A accepts, the calling side gets the Call Accepted, and the call works",
    "p7": "A confirms the Clear, B has its confirmation, and A can call again",
    "d2": "B confirms the Reset, A gets the Reset Confirmation, and Data passes both ways",
    "d3": "A confirms the Reset, B has its confirmation, and Data passes both ways",
}
_GOES_ON = "Data passes both ways on the call"


def steps(identifier: str) -> str:
    """The steps of a case that is a cell, a line for each; "" if it is none."""
    for cell, modulus in reachable():
        if cell.identifier(modulus) == identifier:
            return "\n".join(_of(cell))
    return ""


def _of(cell: Cell) -> Iterator[str]:
    yield f"state {cell.state}: {REACHED[cell.state]}."
    several = _ONE_AT_A_TIME * (", " in SENT[cell.row.event] and cell.row.event not in _ONE)
    yield f"A sends: {SENT[cell.row.event]}{several}."
    line = cell.on_line if cell.on_line is not None and not cell.on_line.why else None
    here = None if cell.why else _expected(cell)
    there = None if line is None else _expected(line)
    if here == there or there is None:
        yield f"expected: {here}."
    elif here is None:
        yield f"expected (on a serial line): {there}."
    else:
        yield f"expected over XOT: {here}."
        yield f"expected on a serial line: {there}."
    if (not cell.why and cell.low) or (line is not None and line.low):
        where = (
            ""
            if line is None or line.low == cell.low or cell.why
            else (" (over XOT)" if cell.low else " (on a serial line)")
        )
        yield (
            f"Certainty low{where}: a deviation alone is INCONCLUSIVE; that another call goes on "
            "is demanded."
        )


# Events whose words have a comma, and are one stimulus.
_ONE = (
    "clear_request",
    "reset_request",
    "p_s_not_next",
    "p_s_outside_window",
    "p_s_next",
    "version",
)


def _expected(cell: Cell) -> str:
    said = [_reaction(cell, reaction) for reaction in cell.reactions]
    if len(said) == 1:
        return said[0]
    return f"either of these. {'; or: '.join(said)}"


def _reaction(cell: Cell, reaction: Reaction) -> str:
    match reaction.action:
        case "normal":
            return NORMAL[f"{cell.state} {cell.row.event}"]
        case "error":
            return _error(cell)
        case "close":
            return (
                "the TCP connection is closed (a Clear Indication may come ahead of it); the far "
                "side of a call is cleared, or closed too"
            )
        case "clear far":
            return "the far side gets a Clear Indication with a cause of a network, or is closed"
        case _:
            if len(cell.reactions) > 1 and cell.state == "p1":
                return "nothing, and another call comes about"
            return f"nothing. The state is as it was: {AS_IT_WAS.get(cell.state, _GOES_ON)}"


def _error(cell: Cell) -> str:
    codes = " or ".join(map(str, dict.fromkeys(cell.diagnostics)))
    far = cell.state not in ("p1", "d2")
    if cell.table.error == "clear":
        closed = " (or its TCP connection is closed)" if cell.state in ("p2", "p3") else ""
        text = f"A gets a Clear Indication with diagnostic {codes}{closed}, and confirms it"
        if cell.state == "p1" and cell.on_line is None:
            text += ". A router that is the DTE of the line may ignore it (a remark)"
        return text + "; so does the far side, with the cause of a remote error" * far
    text = f"A gets a Reset Indication with diagnostic {codes}, and confirms it"
    text += "; so does B, with the cause of a remote error" * far
    text += f"; then {_GOES_ON}"
    if cell.row.event in HOST_MAY_IGNORE and far:
        text += ". A router that ends its calls itself may ignore it (a remark)"
    return text
