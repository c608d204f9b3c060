# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls: set up, refused, accepted, withdrawn and cleared."""

from typing import Any

from .common import FULL, PLAIN, WIDE, call, scenario


@scenario
def facility_without_an_end(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    lab.caller().tell(call("2100001", "3100001", "c9ff"))
    return lab


@scenario
def wrong_gfi(make_lab: Any, model: str) -> Any:
    """In a call Data with that of modulo 128, an Interrupt with 0; a Call with 0."""
    lab = make_lab(model)
    a, _ = lab.call(PLAIN)
    a.tell("20010000aa", "00012301")
    lab.caller().tell("0" + PLAIN[1:])
    return lab


@scenario
def cut_answers_and_clears(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    lab.call(PLAIN, "10010f001442070743")
    a, _ = lab.call(PLAIN)
    a.tell("10011300f10005c9")
    return lab


@scenario
def before_the_call(make_lab: Any, model: str) -> Any:
    labs = []
    for packet in ("1000fb0000", "10012b", "10010041", "100101", "10010f", "1001130000", "100117"):
        lab = make_lab(model)
        lab.caller().tell(packet, PLAIN)
        lab.open()
        labs.append(lab)
    return labs


@scenario
def pending(make_lab: Any, model: str) -> Any:
    labs = []
    for packet in ("10010041", "10012b", "10010b0000", "10011b0000", "10010f", "1001130007"):
        for side in "ab":
            lab = make_lab(model)
            a = lab.caller()
            a.tell(PLAIN)
            lab.open()
            (a if side == "a" else lab.called[0]).tell(packet)
            labs.append(lab)
    return labs


@scenario
def set_up(make_lab: Any, model: str) -> Any:
    pair = "420707430202"
    labs = []
    for packet in (
        call("2100001", "310", pair, "0102030405"),
        call("210000100000001", "310000100000001"),
        call("2100001", "", "420808430303"),
        call("2100001", "31", pair, "00" * 17),
        call("2100001", "31", pair, "00" * 16),
        call("2100001", "31", "0180" + pair, "00" * 128),
        call("2100001", "31", "0140" + pair, "00" * 17),
        call("2100001", "31", "420a07430701"),
        call("2100001", "31", "420707430002"),
        call("2100001", "31", "430303420909"),
        call("2100001", "31", "3e01" + pair),
        call("2100001", "31", "7e0102" + pair),
        call("2100001", "31", "be010203" + pair),
        call("2100001", "31", "fe050102030405" + pair),
        call("2100001", "31", pair + "000fc901020b01"),
        call("2100001", "31", pair + "0000420c0c"),
        call("2100001", "31", pair + "420707"),
        call("210000a", "31", pair),
        call("210000a", "31", pair + "3e01"),
        call("999", "31", pair),
        call("2", "31", pair),
        call("219", "31", pair),
        call("", "31", pair),
        "50" + PLAIN[2:],
        "90010b040231002100",
        "10010b0721",
        "10010b0721000010144207",
        "10010b0721000010024207",
        "20" + PLAIN[2:],
        "1100" + PLAIN[4:],
        PLAIN[:-4] + "2020",
    ):
        for accept in ("10010f", "10010f0006420707430202", "10010f0003420707"):
            lab = make_lab(
                model,
                routes=[{"prefix": "219", "to": "127.0.25.4:1998"}],
            )
            a = lab.caller()
            a.tell(packet)
            lab.open()
            if lab.called:
                lab.called[0].tell(lab.called[0].got[-1][:4] + accept[4:])
            a.tell("100100ab")
            labs.append(lab)
    return labs


@scenario
def answers(make_lab: Any, model: str) -> Any:
    labs = []
    for accept in ("10010f0006420909430707", "10010f00034209 09".replace(" ", "")):
        lab = make_lab(model)
        lab.call("10010b7721000013100001 06420a0a430404".replace(" ", ""), accept)
        labs.append(lab)
    lab = make_lab(model)
    lab.call(PLAIN, "10010f0006420909430707")
    labs.append(lab)
    lab = make_lab(model)
    lab.call("10010b7721000013100001 0201c0".replace(" ", ""))
    labs.append(lab)
    lab = make_lab(model)
    a, _ = lab.call("10010b7721000013100001 020180".replace(" ", ""))
    a.tell("10011300070000" + "ab" * 40)
    labs.append(lab)
    return labs


@scenario
def accept_with_more(make_lab: Any, model: str) -> Any:
    """Data or a Clear behind Call Accepted, and one with D=1, for which the Call did not ask."""
    labs = []
    for accept, *more in (("10010f", "1001000a"), ("10010f", "10011300f1"), ("50010f",)):
        lab = make_lab(model)
        lab.caller().tell(PLAIN)
        lab.open()
        lab.called[0].tell_together(accept, *more)
        labs.append(lab)
    return labs


@scenario
def refusals(make_lab: Any, model: str) -> Any:
    lab = make_lab(model, max_calls=3)
    for number in range(5):
        lab.caller().tell(PLAIN)
        lab.open()
        if number % 2:
            lab.called[-1].tell("100113c1f1", "100117")
            lab.callers[-1].tell("100117")
        elif number == 0:
            lab.called[-1].tell("10010f")
            lab.called[-1].tell("1001130df1")
    for peer in (*lab.callers, *lab.called):
        peer.tell("100117")
    return lab


@scenario
def full(make_lab: Any, model: str) -> Any:
    lab = make_lab(model, max_calls=5)
    ends = [lab.call(PLAIN) for _ in range(5)]
    lab.caller().tell(PLAIN)
    ends[1][0].tell("1001130007")
    ends[1][1].tell("1001130008")
    ends[2][0].tell("1001130007")
    ends[2][1].tell("1001130008")
    return lab


@scenario
def unreachable(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    lab.caller().tell(PLAIN)
    lab.open(succeed=False)
    return lab


@scenario
def withdrawn(make_lab: Any, model: str) -> Any:
    labs = []
    for how in ("clear", "reset", "accept"):
        lab = make_lab(model)
        a = lab.caller()
        a.tell(PLAIN)
        if how == "clear":
            a.tell("1001130000")
            lab.open()
        else:
            lab.open()
            if how == "reset":
                a.hang_up(reset=True)
            else:
                a.tell("1001130000")
                lab.called[0].tell("10010f")
        labs.append(lab)
    return labs


@scenario
def losses(make_lab: Any, model: str) -> Any:
    labs = []
    for reset in (False, True):
        for clear_first in (False, True):
            lab = make_lab(model)
            a, _ = lab.call(PLAIN)
            if clear_first:
                a.tell("10011300f1")
            a.hang_up(reset)
            lab.timers.advance(1)
            labs.append(lab)
    return labs


@scenario
def clears(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    for _ in range(5):
        a, b = lab.call(PLAIN)
        a.tell("10011300f1")
        b.tell("10011380f2")
    a.tell("10010041")
    a.tell(PLAIN)
    lab.open()
    a, b = lab.call(PLAIN)
    a.tell("10011300")
    b.tell("1001170000")
    return lab


@scenario
def collision_lost(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    a.tell("10011300f1")
    b.tell("10011300f2")
    b.hang_up(reset=True)
    return lab


@scenario
def late_confirmation(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    a.tell("1001000a", "10011300f1", PLAIN)
    b.tell("100117")
    lab.open()
    lab.called[-1].tell("10010f")
    return lab


@scenario
def timeouts(make_lab: Any, model: str) -> Any:
    labs = []
    for first in ("call", "reset", "clear", "idle"):
        lab = make_lab(model)
        if first == "call":
            lab.caller().tell(PLAIN)
            lab.open()
        else:
            a, b = lab.call(PLAIN)
            if first == "reset":
                a.tell("10010a41")
                b.tell("10011f")
            elif first == "clear":
                a.tell("10010b0000", "1001130000")
            else:
                a.tell("10010041")
        lab.timers.advance(250)
        labs.append(lab)
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    b.tell("1001130000")
    a.tell("100117", PLAIN)
    lab.open()
    lab.called[-1].tell("10010f")
    lab.timers.advance(250)
    labs.append(lab)
    lab = make_lab(model, empty=5.0)
    a = lab.caller()
    a.tell(PLAIN)
    lab.open()
    lab.called[0].tell("10010f")
    lab.timers.advance(20)
    labs.append(lab)
    return labs


@scenario
def unknown_facility_of_an_answer(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    lab.call(PLAIN, "10010f00053e01430101")
    return lab


@scenario
def rewriting(make_lab: Any, model: str) -> Any:
    lab = make_lab(model, {"rewrite": {"strip": 2, "add": "215"}, "insert_calling": "77"})
    for called in ("2100001", "210000"):
        for calling in ("", "310"):
            lab.caller().tell(call(called, calling, "420707430202", "01"))
            lab.open()
    return lab


@scenario
def loop(make_lab: Any, model: str) -> Any:
    lab = make_lab(model, max_calls=20)
    for _ in range(25):
        a = lab.caller("127.0.25.1")
        a.from_self = True
        a.tell(PLAIN)
        lab.open()
    return lab


@scenario
def wrong_values_of_facilities(make_lab: Any, model: str) -> Any:
    """Window 0 answered where 1 was asked for, and 109 octets to which the router adds its own."""
    asked, full = make_lab(model), make_lab(model)
    asked.call(call("2100001", "3100001", "430101"), "10010f0003430001")
    full.caller().tell(call("2100001", "3100001", "000fd369" + "00" * 105))
    return [asked, full]


@scenario
def clear_of_modulo_128(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call("20010b772100001310000106420707431414")
    a.tell("20011300f1")
    b.tell("200117")
    return lab


@scenario
def fast_select_with_charging(make_lab: Any, model: str) -> Any:
    labs = []
    for facility in ("0181", "01c1"):
        lab = make_lab(model)
        lab.caller().tell(f"10010b772100001310000108{facility}420707430202" + "c0" + "55" * 100)
        lab.open()
        for b in lab.called:
            b.tell("10010f")
        labs.append(lab)
    return labs


@scenario
def fast_select_of_some_lengths(make_lab: Any, model: str) -> Any:
    """User data of Call, answer and Clear: 1, 16 and 64 octets."""
    labs = []
    for data in ("c0", "c0" * 16, "c0" * 64):
        lab = make_lab(model)
        lab.caller().tell("10010b7721000013100001020180" + data)
        lab.open()
        for b in lab.called:
            b.tell("10010f0000" + data)
            b.tell("10011300f10000" + data)
        labs.append(lab)
    return labs


@scenario
def unknown_facilities(make_lab: Any, model: str) -> Any:
    """One of each class but A in front of packet size and window size; fast select between them."""
    labs = []
    for unknown in ("5a4301", "81430101", "e00143"):
        lab = make_lab(model)
        field = f"{unknown}420808430303"
        lab.caller().tell(f"10010b7721000013100001{len(field) // 2:02x}{field}")
        lab.open()
        labs.append(lab)
    lab = make_lab(model)
    lab.caller().tell("10010b7721000013100001084208080100430303")
    lab.open()
    return [*labs, lab]


@scenario
def answers_above(make_lab: Any, model: str) -> Any:
    labs = []
    for answer in ("420709430202", "0211430202", "02b1"):
        lab = make_lab(model)
        lab.caller().tell("10010b77210000131000010802aa420808430303")
        lab.open()
        for b in lab.called:
            b.tell(f"10010f00{len(answer) // 2:02x}{answer}")
        labs.append(lab)
    return labs


@scenario
def values_with_fast_select(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    lab.caller().tell("10010b772100001310000108018042090943" + "0505")
    lab.open()
    a, b = lab.callers[0], lab.called[0]
    b.tell("10010f0006420808430303")
    b.tell("10010041" + "41" * 200)
    a.tell_together(*(f"1001{2 * n:02x}" + FULL for n in range(4)))
    return lab


@scenario
def call_back_to_its_peer(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a = lab.caller("127.0.25.3")
    a.tell(PLAIN)
    lab.open()
    b = lab.called[-1]
    b.tell(b.take()[-1][:4] + "0f")
    a.tell("10010041")
    return lab


@scenario
def throughput_that_differs(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    lab.caller().tell("10010b77210000131000010802b7420707430202")
    if lab.opening:
        lab.open()
    return lab


@scenario
def facilities_one_by_one(make_lab: Any, model: str) -> Any:
    """One value, a value twice, a class twice, and called line address modified in the answer."""
    labs = [make_lab(model) for _ in range(4)]
    labs[0].call(call("2100001", "3100001", "420707"), "10010f")
    labs[1].caller().tell(call("2100001", "3100001", "420707430101430404"))
    labs[2].caller().tell(call("2100001", "3100001", "42070743020202bb0277"))
    labs[3].call(PLAIN, "10010f08210000150808c0420707430202")
    return labs


@scenario
def facilities_of_the_network_and_of_dtes(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    lab.caller().tell(call("2100001", "3100001", "4207074302020000420c0c000fc90211ff"))
    return lab


@scenario
def length_of_255(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    lab.caller().tell(call("2100001", "3100001", "420707430202c9ff0844", "00000000"))
    return lab


@scenario
def undefined_type_before_a_call(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    lab.caller().tell("1001f9")
    return lab


@scenario
def call_in_a_call_of_modulo_128(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, _b = lab.call("20010b772100001310000106420707431414")
    a.tell("20010b772100001310000106420707431414")
    return lab


@scenario
def answer_with_user_data(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    lab.call("10010b77210000131000010801804207074302" + "02c0", "10010f0000c0")
    lab.timers.advance(250)
    return lab


@scenario
def one_direction_of_a_value(make_lab: Any, model: str) -> Any:
    """Packet size code 3, and window 8, from the called DTE; an answer of window 3 to an offer
    of 1."""
    lab = make_lab(model)
    for facilities in ("420307430202", "420707430802"):
        lab.caller().tell(call("2100001", "3100001", facilities))
    lab.call(call("2100001", "3100001", "420707430101"), "10010f0006420707430303")
    return lab


@scenario
def reverse_charging_beside_fast_select(make_lab: Any, model: str) -> Any:
    lab = make_lab(model, {"reverse_charging_acceptance": False})
    for octet in ("01", "81", "c1"):
        lab.caller().tell(call("2100001", "3100001", f"01{octet}420707430202"))
    return lab


@scenario
def an_end_of_its_own(make_lab: Any, model: str) -> Any:
    """A sequence of two packets."""
    lab = make_lab(model)
    a = lab.caller()
    a.tell(call("1111", "3100001", "420707430707"), "100110" + FULL, "10010242")
    return lab


@scenario
def what_an_end_of_its_own_takes(make_lab: Any, model: str) -> Any:
    """An Interrupt of two octets, Q, resets; then Data that waits for the window."""
    lab = make_lab(model)
    a = lab.caller()
    a.tell(call("1111", "3100001", "420707430202"), "100123" + "aabb", "9001000f")
    a.tell("10011b8001", "10011b0001")
    b = lab.caller()
    b.tell(call("1111", "3100001", "420707430202"), "10010001", "10010202")
    b.tell_together("10010403", "10010604")
    b.tell("100141")
    return lab


@scenario
def forms_of_the_answer(make_lab: Any, model: str) -> Any:
    """Four octets; user data with 0x00 in it, and in the Clear; an Interrupt in its read."""
    labs = [make_lab(model)]
    labs[0].call(PLAIN, "10010f00")
    fast = call("2100001", "3100001", "0180420707430202", "c001")
    for answer in ("10010f0000c0000102", "1001130000" + "0000c0000102"):
        lab = make_lab(model)
        lab.call(fast, answer)
        labs.append(lab)
    lab = make_lab(model)
    lab.caller().tell(PLAIN)
    lab.open()
    b = lab.called[-1]
    b.tell_together(b.got[-1][:4] + "0f", b.got[-1][:4] + "2341")
    return [*labs, lab]


@scenario
def answer_that_names_a_window_twice(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    lab.caller().tell(WIDE)
    lab.open()
    b = lab.called[-1]
    b.tell(b.take()[-1][:4] + "0f0006430505430202")
    return lab


@scenario
def ones_ahead_of_user_data(make_lab: Any, model: str) -> Any:
    """Of either side."""
    lab = make_lab(model)
    a, b = lab.call(WIDE)
    a.tell("100100ffff01")
    b.tell("100120ffff01")
    return lab


@scenario
def call_that_crosses_a_refusal(make_lab: Any, model: str) -> Any:
    """The first one is to an address without route; A confirms behind the second."""
    lab = make_lab(model)
    a = lab.caller()
    a.tell(call("9999999"), PLAIN)
    if lab.opening:
        lab.open()
    a.tell("100117")
    return lab


@scenario
def calling_address_alone_in_an_answer(make_lab: Any, model: str) -> Any:
    """The calling address of the Call."""
    lab = make_lab(model)
    lab.call(PLAIN, "10010f70" + "31000010")
    return lab


@scenario
def causes_of_networks(make_lab: Any, model: str) -> Any:
    """A clears as a network, and then B does."""
    lab = make_lab(model)
    for number in (0, 1):
        ends = lab.call(PLAIN)
        ends[number].tell("1001132900")
        ends[1 - number].tell("100117")
    return lab
