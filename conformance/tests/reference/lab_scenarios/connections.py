# SPDX-License-Identifier: GPL-2.0-or-later
"""XOT units and TCP connections: versions, lengths, pieces, ends, and what is counted."""

from typing import Any

from .common import FULL, PLAIN, WIDE, call, scenario


@scenario
def versions(make_lab: Any, model: str) -> Any:
    labs = [make_lab(model) for _ in range(8)]
    for lab, octets in zip(
        labs,
        (
            *("00010003", "0100000310010b", "00000000", "0000000110", "000000021001", "0000ffff"),
            *("00010003100117" + "00000012" + PLAIN, "0000100b" + "00" * 20),
        ),
        strict=True,
    ):
        lab.caller().raw(octets)
    a, _ = labs[4].callers[0], labs[3]
    a.raw("00000003100117")
    return labs


@scenario
def later_version(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, _ = lab.call(PLAIN)
    a.raw("0001000510010041ff")
    return lab


@scenario
def the_called_side_alone(make_lab: Any, model: str) -> Any:
    """B does not confirm; B sends Data behind its Clear; A does not answer a call of B."""
    silent = make_lab(model)
    a, b = silent.call(PLAIN)
    a.tell("1001130000")
    silent.timers.advance(200)
    behind = make_lab(model)
    a, b = behind.call(PLAIN)
    b.tell_together("1001130000", "10010041")
    routes = [{"prefix": "31", "to": "127.0.25.2:1998"}]
    back = make_lab(model, routes=routes, timers={"t11": 12, "t21": 14})
    back.call(PLAIN)
    back.caller("127.0.25.3").tell(call("3100001", "2100001", "420707430202"))
    back.open()
    back.timers.advance(13)
    return [silent, behind, back]


@scenario
def counters(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    a.tell("10010041")
    b.tell("100121")
    a.tell("10011b0700")
    b.tell("10011f")
    lab.router.counters.as_dict()
    a.tell("10010f")
    a.tell("100117")
    b.tell("100117")
    return lab


@scenario
def gauges(make_lab: Any, model: str) -> Any:
    """A call without a route, and one whose called side is lost before it answers."""
    lab = make_lab(model)
    lab.caller().tell(call("9990001", "3100001"), "100117")
    a = lab.caller()
    a.tell(PLAIN)
    lab.open()
    lab.called[0].hang_up(reset=True)
    a.tell("100117")
    return lab


@scenario
def version_in_pieces(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a = lab.caller()
    a.raw("00")
    a.raw("010003100117")
    return lab


@scenario
def unit_within_a_packet(make_lab: Any, model: str) -> Any:
    """A segment amid Data that is a whole unit with a Clear."""
    lab = make_lab(model)
    a, _b = lab.call(PLAIN)
    a.raw("00000010" + "100100" + "61616161")
    a.raw("00000005" + "1001130000")
    return lab


@scenario
def behind_a_confirmation(make_lab: Any, model: str) -> Any:
    """Data in the segment of a Reset Confirmation."""
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    b.tell("10011b0000")
    a.tell_together("10011f", "10010041")
    return lab


@scenario
def many_that_wait(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call("20010b772100001310000106420707437f7f")
    b.tell("20010500")
    a.tell_together(*(f"2001{2 * n:02x}00{n:02x}" for n in range(80)))
    b.tell("20010100")
    return lab


@scenario
def interrupts_with_what_is_behind_them(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    b.tell("10012341")
    a.tell("10011b0000")
    b.tell("10011f")
    a.tell("100127")
    together = make_lab(model)
    a, b = together.call(PLAIN)
    a.tell_together("10012341", "10010041")
    return [lab, together]


@scenario
def amid_a_call(make_lab: Any, model: str) -> Any:
    labs = []
    for by_b in (False, True):
        for octets in (
            *("00000000", "0000000110", "000000021001", "0000ffff", "0100000410010041"),
            *("0001000410010041",),
        ):
            lab = make_lab(model)
            a, b = lab.call(PLAIN)
            ends = (b, a) if by_b else (a, b)
            ends[0].tell("1001000a")
            ends[0].raw(octets)
            labs.append(lab)
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    a.raw("00000004")
    a.raw("10010041")
    b.tell("100105")
    labs.append(lab)
    for reset in (False, True):
        lab = make_lab(model)
        a, b = lab.call(PLAIN)
        b.hang_up(reset)
        labs.append(lab)
    return labs


@scenario
def what_is_counted(make_lab: Any, model: str) -> Any:
    labs = []
    for packets in (
        *(["10011b8000", "10011f"], ["1001138900"], ["100110" + FULL, "90011241"]),
        ["900100" + FULL],
    ):
        lab = make_lab(model)
        a, b = lab.call(PLAIN)
        b.tell(*packets)
        labs.append(lab)
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    a.hang_up()
    labs.append(lab)
    return labs


@scenario
def close_behind_a_clear(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    b.tell("1001130000")
    a.hang_up()
    return lab


@scenario
def ends_that_nobody_thinks_of(make_lab: Any, model: str) -> Any:
    """Amid a unit, while the connection to B is opened, in place of a Clear Confirmation; an answer
    in two reads, a length beyond the longest packet, and one call more than there is room for."""
    labs = [make_lab(model, max_calls=1) for _ in range(5)]
    a, _ = labs[0].call(PLAIN)
    a.raw("0000000710010041")
    a.hang_up()
    a = labs[1].caller()
    a.tell(PLAIN)
    a.hang_up(reset=True)
    labs[1].open()
    a, b = labs[2].call(PLAIN)
    a.tell("1001130007")
    b.hang_up()
    a = labs[3].caller()
    a.tell(PLAIN)
    labs[3].open()
    b = labs[3].called[-1]
    b.raw("00000003" + b.got[0][:2])
    b.raw(b.got[0][2:4] + "0f")
    a.raw("00001005100100")
    for number in range(2):
        a = labs[4].caller()
        a.tell(PLAIN)
        labs[4].open(succeed=number > 0)
        a.tell("100117")
    return labs


@scenario
def connections_lost_amid_a_reset(make_lab: Any, model: str) -> Any:
    """A resets, B does not confirm, and the connection of either is lost."""
    labs = []
    for by_b in (False, True):
        lab = make_lab(model)
        a, b = lab.call(PLAIN)
        a.tell("10011b0000")
        (b if by_b else a).hang_up()
        labs.append(lab)
    return labs


@scenario
def places_in_one_read(make_lab: Any, model: str) -> Any:
    """Of each side: an Interrupt and its confirmation behind two Data; RR and RNR behind one."""
    lab = make_lab(model)
    a, b = lab.call(WIDE)
    for here, there in ((a, b), (b, a)):
        here.tell_together("10010041", "10010242", "10012301")
        there.tell_together("10010043", "10010244", "100127")
        here.tell_together("10010445", "100141")
        here.tell_together("10010646", "100145")
        there.tell("10010447")
        a.tell("10011b0000")
        b.tell("10011f")
    return lab


@scenario
def four_in_one_read(make_lab: Any, model: str) -> Any:
    """Of each side, whose window is full, in two orders: RR, Data, an Interrupt, and what confirms
    that of the other side."""
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    for here, there in ((a, b), (b, a)):
        there.tell("10010041", "10010242", "10012301")
        here.tell_together("10010041", "100127", "100141", "10012301")
        there.tell("100127", "100121", "10012301")
        here.tell_together("10012302", "100127", "10014243")
        there.tell("100127", "100141")
        a.tell("10011b0000")
        b.tell("10011f")
    return lab


@scenario
def behind_a_confirmation_in_one_read(make_lab: Any, model: str) -> Any:
    """Of each side: an Interrupt and a Reset behind a Reset Confirmation; Data and a Reset behind
    an Interrupt Confirmation."""
    lab = make_lab(model)
    a, b = lab.call(WIDE)
    for here, there in ((a, b), (b, a)):
        there.tell("10011b0000")
        here.tell_together("10011f", "10012301")
        there.tell("100127")
        there.tell("10011b0000")
        here.tell_together("10011f", "10011b0000")
        there.tell("10011f")
        there.tell("10012301")
        here.tell_together("100127", "10010041")
        there.tell("100121", "10012301")
        here.tell_together("100127", "10011b0000")
        there.tell("10011f")
    return lab


@scenario
def twenty_in_one_read(make_lab: Any, model: str) -> Any:
    """Data behind 19 RRs of one number."""
    lab = make_lab(model)
    a, b = lab.call(WIDE)
    a.tell_together(*["100101"] * 19, "10010001")
    b.tell("100121")
    return lab


@scenario
def header_behind_three_packets(make_lab: Any, model: str) -> Any:
    """It ends the read; the packet comes in the next."""
    lab = make_lab(model)
    a, b = lab.call(WIDE)
    a.raw("00000003100101" * 3 + "00000004")
    a.raw("10010041")
    b.tell("100121")
    return lab


@scenario
def length_in_pieces(make_lab: Any, model: str) -> Any:
    """Its high octet is 1, and the last of the first read."""
    lab = make_lab(model)
    a, b = lab.call("10010b772100001310000106420909430202")
    a.raw("000001")
    a.raw("04" + "100100" + "41" * 257)
    b.tell("100121")
    return lab


@scenario
def wrong_version_of_a_third_unit(make_lab: Any, model: str) -> Any:
    """Behind two Data, in one read."""
    lab = make_lab(model)
    a, _b = lab.call(WIDE)
    a.raw("0000000410010041" + "0000000410010242" + "0001000410010443")
    return lab


@scenario
def confirmed_twice(make_lab: Any, model: str) -> Any:
    """A Reset of the router, and an Interrupt of B, in one read each."""
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    a.tell("10012b")
    b.tell("10011f")
    a.tell_together("10011f", "10011f")
    a.tell("10011f")
    b.tell("10011f", "10012301")
    a.tell_together("100127", "100127")
    return lab


@scenario
def wrong_behind_nine_units(make_lab: Any, model: str) -> Any:
    """A version, and a length, that is wrong; then a header that comes in pieces behind them."""
    labs = []
    for wrong in (
        ["0001000310010041"],
        ["0000000110"],
        ["0001", "000310010041"],
        ["0000", "0003100101"],
    ):
        lab = make_lab(model)
        a, _ = lab.call(PLAIN)
        a.raw("00000003100101" * 9 + wrong[0])
        for octets in wrong[1:]:
            a.raw(octets)
        a.tell("10010041")
        labs.append(lab)
    return labs


@scenario
def the_end_of_a_read(make_lab: Any, model: str) -> Any:
    """A Clear behind an Interrupt, behind ten RRs and behind its Call; a Reset behind an RNR."""
    labs = []
    for packets in (
        ("10012301", "10011300f1"),
        ("100101",) * 10 + ("10011300f1",),
        ("100105", "10011b0000"),
    ):
        lab = make_lab(model)
        a, _ = lab.call(PLAIN)
        a.tell_together(*packets)
        labs.append(lab)
    lab = make_lab(model)
    lab.caller().tell_together(PLAIN, "10011300f1")
    return [*labs, lab]


@scenario
def caller_lost_amid_data(make_lab: Any, model: str) -> Any:
    """Its window is full of what it has not acknowledged."""
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    b.tell("10010041", "10010242")
    a.hang_up(reset=True)
    return lab


@scenario
def half_a_unit_amid_a_call(make_lab: Any, model: str) -> Any:
    """Of A, and then of B, while Data goes the other way and on another call; then of both."""
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    a2, b2 = lab.call(PLAIN)
    for here, there in ((a, b), (b, a)):
        here.raw("00000004" + "1001")
        there.tell("10010041")
        a2.tell("10010041")
        b2.tell("100121")
        here.raw("0041")
        a2.tell("10011b0000")
        b2.tell("10011f")
        a.tell("10011b0000")
        b.tell("10011f")
    a.raw("0000")
    b.raw("0000")
    a.raw("0004" + "10010041")
    b.raw("0004" + "10010041")
    return lab
