# SPDX-License-Identifier: GPL-2.0-or-later
"""IP datagrams on circuits (RFC 1356, RFC 877): the router is a host that answers ICMP echo."""

from __future__ import annotations

import time

from ..judges.datagrams import IP_IDENTIFIERS
from ..sides.side import receive_not_ready, receive_ready
from .calls import moduli
from .datagrams import FORMS, NLPID, NULL, SNAP, Circuit, Each, Network, ip_of
from .language import (
    Bench,
    ClearConfirmation,
    ClearIndication,
    Data,
    Inconclusive,
    Interrupt,
    InterruptConfirmation,
    ResetConfirmation,
    ResetIndication,
    ResetRequest,
    purpose,
)
from .windows import data_between

# Octets of the datagrams that every system has to take (RFC 877: 576, RFC 1356 3.6: 1600), whole
# packets of 128 octets and one more among them.
SHORT = (28, 29, 127, 128, 129, 256, 257, 576)
# Datagrams of the router's own, for which a case waits until a circuit is idle.
MOST_OWN = 5
LONG = (576, 1500, 1501, 1599, 1600)
# A SNAP header with a number that no register gives to a protocol, and one of a private register.
UNKNOWN_IN_SNAP = (SNAP.user_data[:4] + b"\x3f\x3f", b"\x80\x02\x00\x01\x08\x00")
# In the null encapsulation: what no datagram is, behind or ahead of which there may be one.
NO_DATAGRAMS = (b"\x3f", *UNKNOWN_IN_SNAP)
CUT_SHORT = (b"\xcc", b"\x80", SNAP.user_data[:5])


@purpose("IP-ENC-01")
def test_datagrams_are_answered(bench: Bench) -> None:
    network = Network(bench)
    circuit = network.call()
    for octets in (84, 28, 100):
        circuit.answers(octets)


@purpose("IP-ENC-02")
def test_long_datagrams_are_sequences(bench: Bench) -> None:
    """Sizes about a multiple of the packet size; then some on their way at the same time."""
    network = Network(bench)
    circuit = network.call()
    for octets in SHORT:
        circuit.answers(octets)
    echoes = [network.echo(octets) for octets in (300, 40, 128, 500)]
    for echo in echoes:
        circuit.send(echo)
    for echo in echoes:
        network.expect_reply(echo, circuit)


@purpose("IP-ENC-03")
def test_unknown_protocols_are_refused(bench: Bench) -> None:
    """Identifiers that no register gives to a protocol, alone and within SNAP; one cut short may be
    refused or not, and the next circuit carries IP."""
    network = Network(bench)
    for identifier in (0x3F, 0x47, 0xDE):
        network.is_refused(bytes((identifier,)))
        network.is_refused(bytes((identifier, 0xCC)))
    for unknown in UNKNOWN_IN_SNAP:
        network.is_refused(unknown)
    for octets in (1, 4, 5):
        network.is_borne(SNAP.user_data[:octets])
    network.call().answers()


@purpose("IP-ENC-04")
def test_null_encapsulation(bench: Bench) -> None:
    """Units of a protocol that nobody has pass without an effect between datagrams."""
    network = Network(bench)
    circuit = network.offer(NULL)
    if circuit is not None:
        for octets in (84, 126, 127, 128, 576):
            circuit.answers(octets)
        stranger = network.echo(84, counts=False)
        units = [*(head + stranger.datagram for head in NO_DATAGRAMS), *CUT_SHORT]
        for unit in units:
            circuit.side.send_message(unit)
            if not _answers_or_clears(network, circuit, "a unit of an unknown protocol"):
                circuit = network.offer(NULL)
            if circuit is None:
                break
    network.call().answers()


def _answers_or_clears(network: Network, circuit: Circuit, after: str) -> bool:
    """Whether the circuit is still up after such a unit: no clause says that it survives it."""
    side = circuit.side
    echo = network.echo(84)
    # The Clear may come in place of the P(R) that would open the window.
    side.wait_until(
        lambda: side.numbering.outstanding < side.window or side.phase == "being cleared"
    )
    if side.phase != "being cleared":
        circuit.send(echo)
    network.expect_reply(echo, circuit, ClearIndication())
    if side.phase != "being cleared":
        return True
    network.bench.remark(f"{after} clears the circuit")
    network.was_cleared(circuit)
    return False


@purpose("IP-ENC-05")
def test_reset_amid_a_datagram(bench: Bench) -> None:
    """One packet of it, then all but the last; what comes behind the reset is answered.

    Then amid an answer of the router, whose rest does not come behind the reset.
    """
    network = Network(bench)
    circuit = network.call(window=7)
    for packets in (1, 3):
        circuit.answers()
        lost = network.echo(512, counts=False)
        for at in range(packets):
            circuit.side.send_data(lost.datagram[at * 128 : at * 128 + 128], m=1)
        circuit = _reset(network, circuit)
        circuit.answers(300)
    circuit.answers(40)
    circuit = network.call()
    for octets in (512, 576):
        circuit.fill(network.echo(octets))
        circuit = _reset(network, circuit)
        circuit.answers(300)
        circuit.answers(40)


def _reset(network: Network, circuit: Circuit) -> Circuit:
    """The tester resets a circuit, which a system may clear then. Returns the one to go on with."""
    side = circuit.side
    side.send(ResetRequest(cause=0, diagnostic=0))
    cleared = isinstance(side.expect(ResetConfirmation(), ClearIndication()), ClearIndication)
    side.withholding = False
    if cleared:
        network.bench.remark("a reset amid a datagram clears the circuit")
        network.was_cleared(circuit)
    elif _answers_or_clears(network, circuit, "a reset amid a datagram"):
        return circuit
    return network.call_again(side)


@purpose("IP-ENC-06")
def test_datagrams_of_1600_octets(bench: Bench) -> None:
    """In packets of 128 octets, in the largest that the router has, and in such as differ by
    direction."""
    network = Network(bench)
    largest = bench.profile.limits.packet_size
    values: list[tuple[Each, Each]] = [(128, 7), (largest, 2)]
    if largest >= 256:
        values += [((256, 128), (1, 7)), ((128, 256), (7, 1)), ((64, 256), 3), ((256, 64), 3)]
    for size, window in values:
        circuit = network.call(size=size, window=window)
        for octets in LONG:
            circuit.answers(octets)


@purpose("IP-ENC-07")
def test_octets_behind_the_identifier(bench: Bench) -> None:
    network = Network(bench)
    for more in (b"\x01", b"\x01\x02\x03", b"\0\0\0\0", bytes(range(15))):
        network.call(NLPID.user_data + more).answers()


@purpose("IP-ENC-08")
def test_idle_circuit_is_cleared(bench: Bench) -> None:
    """Within 20 % of the time that the profile declares; what is not idle stays. So does a circuit
    that follows one which the tester has cleared; it is cleared when it has been idle itself."""
    idle = ip_of(bench).idle
    assert idle is not None
    network = Network(bench)
    circuit = network.call()
    asked = stays_in_use(circuit, 0.6, 0.8)
    _is_cleared_at_last(circuit, asked)
    network.circuits.remove(circuit)
    taken_back = network.call_again(circuit.side)
    stays_in_use(taken_back, 0.6)
    network.clear(taken_back)
    last = network.call_again(taken_back.side)
    asked = stays_in_use(last, 0.6, 0.8)
    _is_cleared_at_last(last, asked)
    network.circuits.remove(last)
    network.call().answers()


def _is_cleared_at_last(circuit: Circuit, asked: float) -> None:
    side, idle = circuit.side, ip_of(circuit.side.context).idle
    assert idle is not None
    idle_at_last(circuit, asked)
    side.expect(ClearIndication(), within=0.4 * idle + side.context.reaction_limit)
    side.send(ClearConfirmation())


def stays_in_use(circuit: Circuit, *parts: float) -> float:
    """It is asked, and silent for these parts of the idle time in turn, and stays up for them.
    Returns when it was asked last. Raises Inconclusive."""
    side, idle = circuit.side, ip_of(circuit.side.context).idle
    assert idle is not None
    for part in parts:
        asked = time.monotonic()
        circuit.answers()
        left = asked + part * idle - time.monotonic()
        side.wait_until(lambda: side.phase != "connected", max(left, 0.0))
        took = time.monotonic() - asked
        if took < 0.8 * idle:
            side.expect_count(
                ClearIndication(), 0, 0, start=circuit.up_at, note=f"not before {0.8 * idle:g} s"
            )
        elif part < 0.8:
            raise Inconclusive(f"the tester was held up for {took:.1f} s; ip.idle is {idle:g}")
    return asked


def idle_at_last(circuit: Circuit, asked: float) -> None:
    """Datagrams of the router's own, for which its time begins anew, end."""
    side, idle = circuit.side, ip_of(circuit.side.context).idle
    assert idle is not None
    last = asked
    for _ in range(MOST_OWN):
        known = side.connection.received_octets
        left = last + 1.2 * idle - time.monotonic()
        side.wait_until(
            lambda: side.phase != "connected" or side.connection.received_octets > known,  # noqa: B023
            max(left, 0.0),
        )
        if not data_between(side, known, side.connection.received_octets):
            return
        last = time.monotonic()
        side.context.remark("the router sends a datagram of its own on an idle circuit")
    raise Inconclusive("the router sends so many datagrams of its own that no circuit is idle")


@purpose("IP-ENC-09")
def test_snap(bench: Bench) -> None:
    network = Network(bench)
    circuit = network.offer(SNAP)
    if circuit is not None:
        for octets in (84, 128, 576):
            circuit.answers(octets)
    network.call().answers()


@purpose("IP-ENC-10")
def test_circuits_beside_each_other(bench: Bench) -> None:
    """Datagrams whose packets alternate between two circuits.

    Then one is shut amid an answer, which comes whole when it opens; at last it is cleared.
    """
    network = Network(bench)
    one = network.call(window=7)
    other = network.one_more()
    if other is None:
        one.answers()
        return
    other.answers()
    if network.replaced():
        other.answers()
        return
    shared = False
    for octets in (200, 576):
        first, second = network.echo(octets), network.echo(octets)
        for at in range(0, octets, 128):
            for circuit, echo in ((one, first), (other, second)):
                part = circuit.unit(echo.datagram)[at : at + 128]
                circuit.side.send_data(part, m=int(at + 128 < octets))
        shared |= network.expect_reply(first, one) is not one
        shared |= network.expect_reply(second, other) is not other
    waits = network.echo(1200)
    one.fill(waits)
    # Where answers take any of the circuits (RFC 1356 3.7), that one may wait for the window too.
    if not shared:
        other.answers(300)
    one.side.withholding = False
    one.side.acknowledge()
    network.expect_reply(waits, one)
    other.answers(300)
    network.clear(one)
    other.answers(300)


@purpose("IP-ENC-11")
def test_circuits_of_different_forms(bench: Bench) -> None:
    """Requests on each in turn, in both orders, and on all before the first answer."""
    network = Network(bench)
    circuits = [network.call()]
    several = False
    for form in FORMS[1:]:
        circuit = network.offer(form)
        if circuit is not None:
            several = True
            left = network.replaced()
            circuits = [one for one in (*circuits, circuit) if one not in left]
    bench.need(several, "a router that carries IP in several forms")
    for circuit in (*circuits, *reversed(circuits)):
        circuit.answers(200)
    echoes = [network.echo(300) for _ in circuits]
    for circuit, echo in zip(circuits, echoes, strict=True):
        circuit.send(echo)
    for circuit, echo in zip(circuits, echoes, strict=True):
        network.expect_reply(echo, circuit)


@purpose("IP-ENC-12")
def test_datagram_cut_short(bench: Bench) -> None:
    """Sequences that end before their datagram does are not answered; the next datagrams are.

    On the next circuit, where the router ends this one for it.
    """
    network = Network(bench)
    circuit = network.call()
    for octets in (20, 27, 100, 128, 256):
        circuit.answers(400)
        cut = network.echo(400, counts=False)
        circuit.side.send_message(cut.datagram[:octets])
        if not _answers_or_clears(network, circuit, "a datagram that is cut short"):
            circuit = network.call_again(circuit.side)
        circuit.answers(200)


@purpose("IP-ENC-13")
def test_half_a_datagram_of_the_last_circuit(bench: Bench) -> None:
    """A circuit is cleared amid a datagram of either end; the next one begins anew."""
    network = Network(bench)
    circuit = network.call()
    circuit.answers()
    lost = network.echo(400, counts=False)
    circuit.side.send_data(lost.datagram[:128], m=1)
    network.clear(circuit)
    again = network.call_again(circuit.side)
    again.answers(300)
    again.fill(network.echo(576))
    network.clear(again)
    again.side.withholding = False
    last = network.call_again(again.side)
    last.answers(300)
    last.answers()


@purpose("IP-ENC-14")
def test_snap_within_null(bench: Bench) -> None:
    """Beside 0xCC; a router that takes it need not send so (RFC 1356 3.4)."""
    network = Network(bench)
    circuit = network.offer(NULL)
    bench.need(circuit is not None, "a router with the null encapsulation")
    assert circuit is not None
    snap, last = network.echo(84), network.echo(84)
    circuit.side.send_message(IP_IDENTIFIERS[1] + snap.datagram)
    circuit.send(last)
    network.expect_reply(last, circuit, ClearIndication())
    if circuit.side.phase == "being cleared":
        bench.remark("SNAP within the null encapsulation clears the circuit")
    elif not bench.judge(circuit.reply(snap)).met:
        bench.remark("SNAP within the null encapsulation is not answered")


@purpose("IP-ENC-15")
def test_interrupts_and_rnr(bench: Bench) -> None:
    """An Interrupt amid a request and amid an answer is confirmed, or ends the circuit; an answer
    that RNR holds back comes whole behind RR."""
    network = Network(bench)
    circuit = network.call()
    circuit.answers()
    side = circuit.side
    echo = network.echo(300)
    for at in range(0, 300, 128):
        side.send_data(echo.datagram[at : at + 128], m=int(at + 128 < 300))
        if not at and not _interrupt_is_confirmed(network, circuit):
            return
    network.expect_reply(echo, circuit)
    side.send(receive_not_ready(side))
    if not _interrupt_is_confirmed(network, circuit):
        return
    busy, held = side.cursor, network.echo(300)
    circuit.send(held)
    if not _interrupt_is_confirmed(network, circuit):
        return
    bench.loop.pause(bench.profile.times.quiet)
    if "a" in bench.lines:
        side.expect_count(Data(), 0, 0, start=busy, note="the tester is not ready to receive")
    elif data_between(side, busy, side.arrivals.end()):
        # RFC 1613 6.2: TCP has flow control of its own.
        bench.remark("RNR does not stop the router over XOT")
    side.send(receive_ready(side))
    network.expect_reply(held, circuit)
    circuit.answers(40)


def _interrupt_is_confirmed(network: Network, circuit: Circuit) -> bool:
    """No protocol of RFC 1356 uses Interrupts: a system may end the circuit for one."""
    side = circuit.side
    side.send(Interrupt(user_data=b"\x01"))
    came = side.expect(
        InterruptConfirmation(), ResetIndication(), ClearIndication(), passing=(Data(),)
    )
    if isinstance(came, InterruptConfirmation):
        return True
    network.bench.remark("an Interrupt on a circuit that carries IP resets or clears it")
    side.send(ResetConfirmation() if isinstance(came, ResetIndication) else ClearConfirmation())
    return False


@purpose("IP-ENC-16")
def test_datagrams_in_modulo_128(bench: Bench) -> None:
    """A system may refuse the call: no clause of RFC 1356 says which modulus it takes."""
    bench.need(128 in moduli(bench), "a call of modulo 128")
    network = Network(bench)
    circuit = network.offer_modulo_128(window=20)
    if circuit is None:
        network.call().answers()
        return
    for octets in (*SHORT, *LONG):
        circuit.answers(octets)
    echoes = [network.echo(octets) for octets in (300, 40, 128, 1500)]
    for echo in echoes:
        circuit.send(echo)
    for echo in echoes:
        network.expect_reply(echo, circuit)
