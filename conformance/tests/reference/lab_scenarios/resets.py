# SPDX-License-Identifier: GPL-2.0-or-later
"""Resets and Interrupts, and what they leave behind."""

from typing import Any

from .common import FULL, PLAIN, WIDE, call, scenario


@scenario
def resets(make_lab: Any, model: str) -> Any:
    labs = []
    for script in (
        ["a10011b0007", "b10011f", "a10010055"],
        ["a10011b0007", "b10011f00", "a10010055"],
        ["a10011b8007", "a10010055", "b10011f"],
        ["a10011b0007", "b10010266", "b10011f"],
        ["a10011b0007", "b10011b0008", "b10011f", "a10010055"],
        ["a10011b0007", "a1001130000"],
        ["a10012301", "a10011b0007", "b10011f", "a10012302", "b100127"],
        ["a10011b0700"],
        ["a100112" + FULL, "a10011b0007", "b10011f", "a10010055"],
    ):
        lab = make_lab(model, {"packet_size": 512} if model == "local" else None)
        a, b = lab.call(PLAIN)
        a.tell("10010041")
        b.tell("10012042")
        for step in script:
            (a if step[0] == "a" else b).tell(step[1:])
        labs.append(lab)
    return labs


@scenario
def errors_of_the_called_side(make_lab: Any, model: str) -> Any:
    labs = []
    for octets in (
        *("100123" + "aa" * 33, "100123aa 100123bb", "1001040a", "10011b000000", "10010000" + FULL),
        *("1001d3", "100127", "10011b0007"),
    ):
        lab = make_lab(model)
        a, b = lab.call(PLAIN)
        b.tell(*octets.split())
        for peer in (a, b):
            if not peer.closed:
                peer.tell("10011f")
        b.tell("1001000a")
        labs.append(lab)
    return labs


@scenario
def reset_by_b_with_data_waiting(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    a.tell("10010041", "10010242", "10010443", "10010644")
    b.tell("10011b0007")
    a.tell("10011f")
    return lab


@scenario
def what_waits_for_a_confirmation(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    a.tell("10012b", "10011f", "10010041", "100101", "10010242")
    b.tell("10011f", "100141")
    a.tell("10012b", "10011f", "10010043", "10011b0000")
    b.tell("10011f", "10011f")
    a.tell("10010044")
    return lab


@scenario
def unfinished_business(make_lab: Any, model: str) -> Any:
    """Busy, Interrupts open, half a sequence with Q=1; then a reset, then a clear and a call."""
    lab = make_lab(model)
    a, b = lab.call("10010b772100001310000106420909430202", "10010f0006420709430202")
    for last in (("10011b0000", "10011f"), ("10011300f1", "100117")):
        a.tell("1001000a", "100105", "9001120b" + "00" * 511, "10012341")
        b.tell("1001000a", "100105", "90011241" + "00" * 511, "10012342")
        a.tell(last[0])
        b.tell(last[1])
        a.tell("1001000a", "10012343")
        b.tell("1001000a")
    return lab


@scenario
def interrupts_around_a_reset(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    a.tell("10011b0000", "10012341", "10011b0000", "10012342")
    b.tell("10011f", "10012343", "100127")
    a.tell("100127")
    twice = make_lab(model)
    a, b = twice.call(PLAIN)
    a.tell("10011b0000", "10012341", "10011b0000")
    b.tell("10011f")
    return [lab, twice]


@scenario
def interrupts_that_cross_a_reset(make_lab: Any, model: str) -> Any:
    """B sends an Interrupt and a confirmation of A's before it confirms the reset of A."""
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    a.tell("10012341", "10011b0000")
    b.tell("100127", "10012342", "10011f")
    a.tell("10012343")
    b.tell("10012344", "100127")
    a.tell("100127")
    return lab


@scenario
def interrupts_that_cross(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    a.tell("10012341")
    b.tell("10012342")
    a.tell("100127")
    return lab


@scenario
def more_of_the_called_side(make_lab: Any, model: str) -> Any:
    labs = []
    for octets in ("10011300f10000c0", "00010041"):
        lab = make_lab(model)
        a, b = lab.call(PLAIN)
        b.tell(octets)
        labs.append(lab)
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    a.tell("10011b0000")
    b.tell("10011300f1")
    labs.append(lab)
    return labs


@scenario
def corners(make_lab: Any, model: str) -> Any:
    """A long class D facility, modulo 128, a Reset without diagnostic and D=1 behind it."""
    labs = [make_lab(model) for _ in range(8)]
    protection = "000f" + "f340" + "c0" + "ff" * 63
    labs[0].call(call("2100001", "3100001", "420707430202" + protection))
    a, _ = labs[1].call("20010b772100001310000106420707430202", "20010f")
    a.tell("200123" + "41" * 32, "20012100")
    a, b = labs[2].call(PLAIN)
    a.tell("10010041")
    b.tell("100121")
    a.tell("10011b81")
    b.tell("10011f")
    a.tell("50010042", "10010243")
    a, b = labs[3].call("20010b772100001310000106420707431414", "20010f0006420707431414")
    a.tell(*(f"6001{2 * n:02x}0041" for n in range(9)))
    b.tell("20010112")
    a, _ = labs[4].call(PLAIN)
    a.tell("500100")
    a, _ = labs[5].call("20010b772100001310000106420707430202", "20010f")
    a.tell("200100")
    a, b = labs[6].call(PLAIN)
    for _ in range(2):
        a.tell("10012b")
        b.tell("10011f")
        labs[6].timers.advance(61)
        a.tell("10011f")
    a, b = labs[7].call(PLAIN)
    b.tell("1001130000")
    labs[7].timers.advance(61)
    a.tell("100117", PLAIN)
    return labs


@scenario
def later_uses(make_lab: Any, model: str) -> Any:
    """A long packet behind a reset, a wrong P(S) in the second call of a connection, and Q of
    modulo 128."""
    labs = [make_lab(model) for _ in range(3)]
    values = "0006420808430707"
    a, b = labs[0].call("10010b772100001310000106420808430707", "10010f" + values)
    a.tell("10011b0000")
    b.tell("10011f")
    a.tell("100100" + "41" * 200)
    a, b = labs[1].call(PLAIN)
    a.tell("1001130000")
    b.tell("100117")
    a.tell(PLAIN)
    labs[1].open()
    labs[1].called[-1].tell("10010f")
    a.tell("10010641")
    a, _ = labs[2].call("20010b772100001310000106420707430202", "20010f")
    a.tell("a001000041")
    return labs


@scenario
def resets_amid_things(make_lab: Any, model: str) -> Any:
    """The router resets for an error with an Interrupt open; resets collide, and T12 passes."""
    labs = [make_lab(model), make_lab(model)]
    a, b = labs[0].call(PLAIN)
    a.tell("10012301", "10012b")
    for side in (a, b):
        side.tell("10011f")
    a.tell("10012302")
    a, b = labs[1].call(PLAIN)
    a.tell("10011b0001")
    b.tell("10011b0002")
    labs[1].timers.advance(250)
    return labs


@scenario
def of_either_side(make_lab: Any, model: str) -> Any:
    """An empty Data with Q=1; a packet of B that is split for A; the confirmation of an Interrupt
    beside Data that waits for B's window."""
    labs = [make_lab(model)]
    a, b = labs[0].call(PLAIN)
    a.tell("900100")
    labs.append(make_lab(model, {"packet_size": 512} if model == "local" else None))
    a, b = labs[1].call(PLAIN)
    b.tell("900100" + FULL * 2)
    a.tell("100141")
    labs.append(make_lab(model))
    a, b = labs[2].call(WIDE, "10010f0006420707430202")
    for n in range(4):
        a.tell(f"1001{2 * n:02x}{n:02x}")
    b.tell("10012301")
    a.tell("100127")
    b.tell("100141")
    return labs


@scenario
def interrupt_behind_an_own_reset(make_lab: Any, model: str) -> Any:
    """The router resets both sides for an error of A, which alone confirms."""
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    a.tell("10012b", "10011f", "10012341")
    b.tell("10011f")
    return lab


@scenario
def interrupts_and_empty_parts(make_lab: Any, model: str) -> Any:
    """An Interrupt while part of a sequence waits to be joined; an empty packet with M=1; Q in an
    Interrupt, D in an RR."""
    labs = [make_lab(model, {"packet_size": 512} if model == "local" else None)]
    a, _ = labs[0].call(PLAIN)
    a.tell("900110" + FULL, "10012341", "90010242")
    labs.append(make_lab(model))
    a, b = labs[1].call(PLAIN)
    a.tell("100110", "10010241")
    labs.append(make_lab(model))
    a, b = labs[2].call(PLAIN)
    a.tell("90012341")
    b.tell("500101")
    return labs


@scenario
def whole_window_behind_a_reset(make_lab: Any, model: str) -> Any:
    """A resets a call of window 7, and sends four Data with D=1, which B does not acknowledge."""
    lab = make_lab(model)
    a, b = lab.call(WIDE)
    a.tell("10011b0000")
    b.tell("10011f")
    a.tell(*(f"5001{2 * number:02x}0d" for number in range(4)))
    return lab


@scenario
def held_by_rnr_and_reset(make_lab: Any, model: str) -> Any:
    """Each side says RNR, gets Data that waits for it, and resets; then each sends Data."""
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    for here, there in ((a, b), (b, a)):
        here.tell("100105")
        there.tell("10010041")
        here.tell("10011b0000")
        there.tell("10011f", "10010042")
        here.tell("10010043")
    return lab


@scenario
def several_that_wait_for_a_confirmation(make_lab: Any, model: str) -> Any:
    """Behind an error of each side, and behind a reset of A."""
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    for here, there in ((a, b), (b, a)):
        here.tell("10012b", "10011f", "10010041", "10010242")
        there.tell("10011f", "100141")
    a.tell("10011b0000", "10010043", "10010244")
    b.tell("10011f", "100141")
    return lab


@scenario
def reset_behind_many_of_modulo_128(make_lab: Any, model: str) -> Any:
    """70 Data each way, a reset of A, and one Data each way."""
    lab = make_lab(model)
    a, b = lab.call("20010b772100001310000106420707431414")
    for number in range(70):
        for here, there in ((a, b), (b, a)):
            behind = number + (here is b)
            here.tell(f"2001{2 * number:02x}{2 * behind:02x}41")
            there.tell(f"200101{2 * number + 2:02x}")
    a.tell("20011b0000")
    b.tell("20011f")
    a.tell("2001000042")
    b.tell("2001000243")
    return lab


@scenario
def resets_amid_anything_of_modulo_128(make_lab: Any, model: str) -> Any:
    """A resets behind an RNR, and amid a sequence with Q=1."""
    labs = []
    for amid, b_then, a_then in (("20010500", "2001000041", ""), ("a0010001", "", "2001000042")):
        lab = make_lab(model)
        a, b = lab.call("20010b772100001310000106420707431414")
        a.tell(amid + (FULL if amid[0] == "a" else ""), "20011b0000")
        b.tell("20011f", *filter(None, [b_then]))
        a.tell(*filter(None, [a_then]))
        labs.append(lab)
    return labs


@scenario
def interrupts_on_two_calls(make_lab: Any, model: str) -> Any:
    """The second comes while the first is open."""
    lab = make_lab(model)
    a, b = lab.call(WIDE)
    c, d = lab.call(WIDE)
    a.tell("10012301")
    c.tell("10012302")
    b.tell("100127")
    d.tell("100127")
    return lab


@scenario
def data_amid_a_reset_for_an_error(make_lab: Any, model: str) -> Any:
    """A type that there is not; B confirms, A sends Data before it does."""
    lab = make_lab(model)
    a, b = lab.call(WIDE)
    a.tell("10012b")
    b.tell("10011f")
    a.tell("10010001")
    a.tell("10011f")
    return lab


@scenario
def answers_after_two_seconds(make_lab: Any, model: str) -> Any:
    """Of a Call with fast select, whose answer has user data, of a Reset, of a Clear."""
    lab = make_lab(model)
    lab.caller().tell("10010b7721000013100001020180" + "c0")
    lab.open()
    lab.timers.advance(2)
    a, b = lab.callers[-1], lab.called[-1]
    b.tell("10010f0000" + "c0")
    a.tell("10011b0000")
    lab.timers.advance(2)
    b.tell("10011f")
    a.tell("10011300f1")
    lab.timers.advance(2)
    return lab


@scenario
def one_more_behind_two_resets(make_lab: Any, model: str) -> Any:
    """P(R)=1 where no Data was sent behind two resets of that side."""
    lab = make_lab(model)
    a, b = lab.call(WIDE)
    for _ in range(2):
        a.tell("10011b0000")
        b.tell("10011f")
    a.tell("100121")
    return lab


@scenario
def resets_that_cross_with_an_open_interrupt(make_lab: Any, model: str) -> Any:
    """B's Reset with cause 0x80 crosses that of A; then a new Interrupt of A."""
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    a.tell("10012301", "10011b0000")
    b.tell("10011b8000")
    a.tell("10012302")
    b.tell("100127")
    return lab


@scenario
def old_confirmation_amid_a_reset(make_lab: Any, model: str) -> Any:
    """A has sent the next Interrupt when it comes, and B confirms the reset behind it."""
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    a.tell("10012301", "10011b0000", "10012302")
    b.tell("100127", "10011f", "100127")
    return lab


@scenario
def empty_interrupt_behind_a_reset(make_lab: Any, model: str) -> Any:
    """Of A, which has reset."""
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    a.tell("10011b0000")
    b.tell("10011f")
    a.tell("100123")
    return lab


@scenario
def reset_ahead_of_a_clear(make_lab: Any, model: str) -> Any:
    """Of A, whom B has reset; A calls again."""
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    b.tell("10011b0000", "10011300f1")
    a.tell("100117", PLAIN)
    lab.open()
    lab.called[-1].tell("10010f")
    a.tell("1001000a")
    return lab


@scenario
def resets_that_cross_amid_things(make_lab: Any, model: str) -> Any:
    """B is busy, and amid a sequence with Q=1; then Data of both."""
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    b.tell("900110" + FULL, "100105")
    a.tell("10011b0000")
    b.tell("10011b0000")
    a.tell("10010041")
    b.tell("10010042")
    return lab


@scenario
def q_amid_a_reset(make_lab: Any, model: str) -> Any:
    """Of Data that waits until B has confirmed."""
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    a.tell("10011b0000", "90010041")
    b.tell("10011f")
    return lab


@scenario
def timers_of_what_is_passed_on(make_lab: Any, model: str) -> Any:
    """A resets, and B does not confirm; A clears, and B does not confirm; B does not answer. In
    both moduli."""
    labs = []
    for gfi, request in (("10", PLAIN), ("20", "2" + PLAIN[1:])):
        for packet in ("1b0007", "130000", ""):
            lab = make_lab(model)
            labs.append(lab)
            if packet:
                a, _b = lab.call(request)
                a.tell(gfi + "01" + packet)
            else:
                lab.caller().tell(request)
                lab.open()
            for _ in range(4):
                lab.timers.advance(65)
            lab.timers.advance(250)
    return labs
