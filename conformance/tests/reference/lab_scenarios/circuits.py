# SPDX-License-Identifier: GPL-2.0-or-later
"""Permanent virtual circuits of XOT: setups, answers, resets, losses."""

from typing import Any

from .common import FULL, PLAIN, scenario


@scenario
def permanent(make_lab: Any, model: str) -> Any:
    own = {"name": "S0", "lcn": 1, "remote_name": "S9", "remote_lcn": 1, "to": "S1/2"}
    own |= {"packet_size_in": 256}
    far = {"name": "S1", "lcn": 2, "remote_name": "S8", "remote_lcn": 2, "to": "S0/1"}
    pvcs = [own, far | {"peer": "127.0.25.3:1998", "retry": 60}]
    labs = []
    request = "1001f58100020001020001{}533953 30".replace(" ", "")
    for values in ("02020708", "02020807"):
        lab = make_lab(model, pvc=pvcs)
        lab.router.start()
        lab.open()
        lab.called[0].tell(lab.called[0].got[0])
        lab.called[0].tell("10021f")
        for _ in range(2):
            a = lab.caller()
            a.tell(request.format(values), "10011f")
        lab.called[0].tell("10021f", "10020041", "1002130000")
        labs.append(lab)
    lab = make_lab(model, pvc=pvcs)
    lab.caller().tell(request.format("02020708") + "00")
    labs.append(lab)
    lab = make_lab(model, pvc=pvcs)
    lab.router.start()
    lab.open(succeed=False)
    lab.timers.advance(30)
    lab.open()
    labs.append(lab)
    lab = make_lab(model, pvc=pvcs, source="127.0.25.1")
    lab.router.start()
    lab.open()
    b = lab.caller("127.0.25.3")
    b.tell("1002f58100020002020002020207075338 5331".replace(" ", ""))
    lab.called[0].tell(lab.called[0].got[0])
    a = lab.caller()
    a.tell(request.format("02020708"), "10011f")
    for peer in (b, lab.called[0]):
        if not peer.closed:
            peer.tell("10021f", "10021f")
    a.tell("10010041")
    labs.append(lab)
    return labs


@scenario
def refused_circuit(make_lab: Any, model: str) -> Any:
    own = {"name": "S1", "lcn": 2, "remote_name": "S8", "remote_lcn": 2, "to": "echo"}
    labs = []
    for status in (b"\x17", b"\x0a"):
        lab = make_lab(model, pvc=[own | {"peer": "127.0.25.3:1998", "retry": 60}])
        lab.router.start()
        lab.open()
        setup = bytes.fromhex(lab.called[0].got[0])
        lab.called[0].tell((setup[:4] + status + setup[5:]).hex())
        labs.append(lab)
    return labs


@scenario
def answer_to_a_setup_in_pieces(make_lab: Any, model: str) -> Any:
    own = {"name": "S1", "lcn": 2, "remote_name": "S8", "remote_lcn": 2, "to": "echo"}
    lab = make_lab(model, pvc=[own | {"peer": "127.0.25.3:1998", "retry": 60}])
    lab.router.start()
    lab.open()
    b = lab.called[0]
    answer = b.got[0]
    unit = f"0000{len(answer) // 2:04x}" + answer
    for start, end in ((0, 4), (4, 22), (22, len(unit))):
        b.raw(unit[start:end])
    b.tell("10021f", "10020041")
    return lab


@scenario
def circuit_of_two_sizes(make_lab: Any, model: str) -> Any:
    own = {"name": "S0", "lcn": 1, "remote_name": "S9", "remote_lcn": 1, "to": "echo"}
    lab = make_lab(model, pvc=[own | {"packet_size_out": 256}])
    a = lab.caller()
    a.tell("1001f5810002000102000102020807" + "53395330", "10011f", "100110" + FULL, "1001024242")
    a.tell("10010e43")
    return lab


@scenario
def strange_setups(make_lab: Any, model: str) -> Any:
    """A name that goes on behind the right one, two that end too early, and an answer that ends in
    front of its status."""
    own = {"name": "S1", "lcn": 2, "remote_name": "S8", "remote_lcn": 2, "to": "echo"}
    lab = make_lab(model, pvc=[own | {"peer": "127.0.25.3:1998", "retry": 60}])
    lab.router.start()
    lab.open()
    lab.called[0].tell(lab.called[0].got[0][:8])
    lab.caller().tell("1002f5810002000203000202020707" + b"S8S1x".hex())
    lab.caller().tell("1002f5810002000201000202020707" + b"S8S".hex())
    lab.caller().tell("1002f5810001000202000202020707" + b"SS1".hex())
    return lab


@scenario
def setup_of_a_smaller_window(make_lab: Any, model: str) -> Any:
    own = {"name": "S0", "lcn": 1, "remote_name": "S9", "remote_lcn": 1, "to": "echo"}
    lab = make_lab(model, pvc=[own])
    lab.caller().tell("1001f5810002000102000101020707" + "53395330")
    return lab


@scenario
def circuit_that_was_lost(make_lab: Any, model: str) -> Any:
    """TCP resets its connection, and it is set up again."""
    own = {"name": "S0", "lcn": 1, "remote_name": "S9", "remote_lcn": 1, "to": "echo"}
    lab = make_lab(model, pvc=[own])
    for _ in range(2):
        lab.caller().tell("1001f5810002000102000102020707" + "53395330", "10011f")
        lab.callers[-1].hang_up(reset=True)
    return lab


@scenario
def circuit_of_two_windows(make_lab: Any, model: str) -> Any:
    own = {"name": "S0", "lcn": 1, "remote_name": "S9", "remote_lcn": 1, "to": "echo"}
    lab = make_lab(model, pvc=[own | {"window_out": 3}])
    a = lab.caller()
    a.tell("1001f5810002000102000103020707" + "53395330", "10011f")
    a.tell(*(f"1001{2 * n:02x}41" for n in range(6)))
    return lab


def joined_circuits(make_lab: Any, model: str, **own: int) -> tuple[Any, Any]:
    """A PVC between S0, which waits for its other end, and S1, whose other end B is up.

    own: what the configuration says of S0. Returns the lab and B.
    """
    near = {"name": "S0", "lcn": 1, "remote_name": "S9", "remote_lcn": 1, "to": "S1/2"} | own
    far = {"name": "S1", "lcn": 2, "remote_name": "S8", "remote_lcn": 2, "to": "S0/1"}
    lab = make_lab(model, pvc=[near, far | {"peer": "127.0.25.3:1998"}])
    lab.router.start()
    lab.open()
    b = lab.called[0]
    b.tell(b.got[0], "10021f")
    return lab, b


@scenario
def circuit_that_comes_back(make_lab: Any, model: str) -> Any:
    lab, b = joined_circuits(make_lab, model)
    for _ in range(2):
        a = lab.caller()
        a.tell("1001f5810002000102000102020707" + b"S9S0".hex(), "10011f")
        b.tell("10021f")
        a.tell("10010041", "10012341")
        a.hang_up()
    return lab


@scenario
def circuit_and_errors(make_lab: Any, model: str) -> Any:
    """A Restart, an undefined type, resets that cross, a wrong header, and Data for who is away."""
    lab, b = joined_circuits(make_lab, model)
    for octets in ("00010003100101", ""):
        a = lab.caller()
        a.tell("1001f5810002000102000102020707" + b"S9S0".hex(), "10011f")
        b.tell("10021f")
        a.tell("1000fb0000", "10010041", "10012b", "10011f")
        b.tell("10021f")
        a.tell("10011b0000")
        b.tell("10021b0000")
        if octets:
            a.raw(octets)
            b.tell("10021f", "10020041", "10021f")
    return lab


@scenario
def setup_without_circuits(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    lab.caller().tell("1001f5810002000102000102020707" + b"S0S1".hex())
    if lab.opening:
        lab.open()
    return lab


@scenario
def circuit_with_windows(make_lab: Any, model: str) -> Any:
    """A window of 1 in and 2 out; two Data with D=1."""
    lab, b = joined_circuits(make_lab, model, window_in=1)
    a = lab.caller()
    a.tell("1001f5810002000102000102010707" + b"S9S0".hex(), "10011f")
    b.tell("10021f")
    a.tell("50010041", "50010241")
    b.tell("10021f")
    a.tell("10011f", "10011b0007")
    return lab


@scenario
def circuit_of_which_something_waits(make_lab: Any, model: str) -> Any:
    """Four Data, of which two wait for a P(R); Data of the other end has it."""
    lab, b = joined_circuits(make_lab, model, window_in=7)
    a = lab.caller()
    a.tell("1001f5810002000102000102070707" + b"S9S0".hex(), "10011f")
    b.tell("10021f")
    a.tell(*(f"1001{2 * n:02x}41" for n in range(4)))
    b.tell("10024043")
    return lab


@scenario
def resets_of_a_circuit(make_lab: Any, model: str) -> Any:
    """Both ends acknowledge nothing and one resets; a Reset is not confirmed for two times T12."""
    lab, b = joined_circuits(make_lab, model)
    a = lab.caller()
    a.tell("1001f5810002000102000102020707" + b"S9S0".hex(), "10011f")
    b.tell("10021f")
    for n in range(4):
        a.tell(f"1001{2 * n:02x}41")
        b.tell(f"1002{2 * n:02x}42")
    a.tell("10011b0000")
    b.tell("10021f", "10020043")
    a.tell("10010043")
    a.tell("10011b0007")
    b.tell("10021f")
    a.tell("10012b")
    for _ in range(10):
        lab.timers.advance(60)
    return lab


@scenario
def ends_of_circuits_anew(make_lab: Any, model: str) -> Any:
    """A setup with a window of 8, then a right one; an Interrupt is open as the end goes."""
    lab, b = joined_circuits(make_lab, model)
    lab.caller().tell("1001f5810002000102000108080707" + b"S9S0".hex())
    for _ in range(2):
        a = lab.caller()
        a.tell("1001f5810002000102000102020707" + b"S9S0".hex(), "10011f")
        b.tell("10021f")
        a.tell("10012341")
        a.hang_up()
        b.tell("10021f")
    return lab


@scenario
def channel_of_the_initiator(make_lab: Any, model: str) -> Any:
    lab = make_lab(
        model, pvc=[{"name": "S0", "lcn": 1, "remote_name": "S9", "remote_lcn": 1, "to": "echo"}]
    )
    for number in ("0101", "0001"):
        lab.caller().tell(f"1001f5810002{number}02000102020707" + b"S9S0".hex())
    return lab


@scenario
def circuit_and_malformed_packets(make_lab: Any, model: str) -> Any:
    """Data of modulo 128, and an Interrupt Confirmation with an octet behind it. Then an Interrupt
    for B, which has a reset to confirm."""
    lab, b = joined_circuits(make_lab, model)
    a = lab.caller()
    a.tell("1001f5810002000102000102020707" + b"S9S0".hex(), "10011f")
    b.tell("10021f")
    a.tell("20010041", "10012341")
    b.tell("10022700")
    a.tell("10011f", "10011b0000", "10012341")
    b.tell("10021f")
    return lab


@scenario
def circuit_beside_a_call(make_lab: Any, model: str) -> Any:
    """The circuit is reset, the call ends, and in another one the circuit's connection does."""
    lab, b = joined_circuits(make_lab, model)
    a = lab.caller()
    a.tell("1001f5810002000102000102020707" + b"S9S0".hex(), "10011f")
    b.tell("10021f")
    one, _ = lab.call(PLAIN)
    a.tell("10011b0007")
    one.tell("1001130000")
    lab.call(PLAIN)
    a.hang_up()
    return lab


@scenario
def resets_amid_anything_of_a_circuit(make_lab: Any, model: str) -> Any:
    """A is reset behind an RNR, amid a sequence with Q=1, and with an Interrupt that it owes."""
    near = {"name": "S0", "lcn": 1, "remote_name": "S9", "remote_lcn": 1, "to": "S1/2"}
    far = {"name": "S1", "lcn": 2, "remote_name": "S8", "remote_lcn": 2, "to": "S0/1"}
    labs = [make_lab(model, pvc=[near, far]) for _ in range(3)]
    behind: tuple[tuple[list[str], ...], ...] = (
        ([], ["100105"], ["10020041"], []),
        ([], ["900110" + FULL], [], ["10010042"]),
        (["10022321"], [], [], ["100127"]),
    )
    for lab, (of_b, of_a, b_then, a_then) in zip(labs, behind, strict=True):
        a, b = lab.caller(), lab.caller()
        a.tell("1001f5810002000102000102020707" + "53395330", "10011f")
        b.tell("1002f5810002000202000202020707" + "53385331", "10021f")
        a.tell("10011f")
        b.tell(*of_b)
        a.tell(*of_a, "10011b0000")
        b.tell("10021f", *b_then)
        a.tell(*a_then)
    return labs


@scenario
def setup_with_a_number_of_13_bits(make_lab: Any, model: str) -> Any:
    own = {"name": "S0", "lcn": 1, "remote_name": "S9", "remote_lcn": 1, "to": "echo"}
    lab = make_lab(model, pvc=[own])
    lab.caller().tell("1001f5810002100102000102020707" + "53395330")
    return lab


@scenario
def sequences_of_a_circuit_that_splits(make_lab: Any, model: str) -> Any:
    """What comes in 256 octets goes out in 128: with M=1 and D=1, and with an empty end."""
    own = {"name": "S0", "lcn": 1, "remote_name": "S9", "remote_lcn": 1, "to": "echo"}
    lab = make_lab(model, pvc=[own | {"packet_size_in": 256}])
    a = lab.caller()
    a.tell("1001f5810002000102000102020708" + "53395330", "10011f")
    a.tell("500110" + 2 * FULL, "10010241", "100141", "100154" + 2 * FULL, "100146", "100181")
    return lab


@scenario
def setup_with_a_long_name(make_lab: Any, model: str) -> Any:
    """Of 64 octets, which no interface has."""
    own = {"name": "S0", "lcn": 1, "remote_name": "S9", "remote_lcn": 1, "to": "echo"}
    lab = make_lab(model, pvc=[own])
    lab.caller().tell("1001f5810002000140000102020707" + b"S9".hex() + "58" * 64)
    return lab


@scenario
def setup_amid_a_circuit(make_lab: Any, model: str) -> Any:
    lab, _b = joined_circuits(make_lab, model)
    setup = "1001f5810002000102000102020707" + b"S9S0".hex()
    a = lab.caller()
    a.tell(setup, setup)
    return lab


@scenario
def call_behind_a_refused_setup(make_lab: Any, model: str) -> Any:
    """Of a router that takes one call."""
    own = {"name": "S0", "lcn": 1, "remote_name": "S9", "remote_lcn": 1, "to": "echo"}
    lab = make_lab(model, pvc=[own], max_calls=1)
    lab.caller().tell("1001f5810002000102000102020707" + b"S9SX".hex())
    lab.caller().tell(PLAIN)
    lab.open()
    return lab


@scenario
def reject_on_a_circuit(make_lab: Any, model: str) -> Any:
    """Of A, which has two Data that it has not acknowledged."""
    lab, b = joined_circuits(make_lab, model)
    a = lab.caller()
    a.tell("1001f5810002000102000102020707" + b"S9S0".hex(), "10011f")
    b.tell("10021f", "10020041", "10020242")
    a.tell("100109")
    return lab


@scenario
def circuit_of_the_router(make_lab: Any, model: str) -> Any:
    """Data and an Interrupt of the other end, and Data behind its reset."""
    own = {"name": "S1", "lcn": 2, "remote_name": "S8", "remote_lcn": 2, "to": "echo"}
    lab = make_lab(model, pvc=[own | {"peer": "127.0.25.3:1998"}])
    lab.router.start()
    lab.open()
    b = lab.called[0]
    b.tell(b.got[0], "10021f", "10020041", "10022301")
    b.tell("10021b0000", "10020041")
    return lab


@scenario
def setups_with_impossible_values(make_lab: Any, model: str) -> Any:
    """The right ones in seven and in four bits."""
    own = {"name": "S0", "lcn": 1, "remote_name": "S9", "remote_lcn": 1, "to": "echo"}
    lab = make_lab(model, pvc=[own])
    for values in ("82020707", "02021707"):
        a = lab.caller()
        a.tell("1001f58100020001020001" + values + b"S9S0".hex())
        a.hang_up()
    return lab
