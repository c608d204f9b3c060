# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls behind others on the same connection, or beside them: nothing is left over."""

from typing import Any

from .common import FULL, PLAIN, WIDE, call, scenario


@scenario
def behind_a_refusal(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a = lab.caller()
    a.tell(call("9900001"), "100117", PLAIN)
    return lab


@scenario
def behind_an_attempt(make_lab: Any, model: str) -> Any:
    """A call that B refused, or that A withdrew, and the next on the connection, which lasts."""
    labs = []
    for by_b in (True, False):
        lab = make_lab(model, timers={"t11": 12, "t21": 14})
        a = lab.caller()
        a.tell(PLAIN)
        lab.open()
        if by_b:
            lab.called[-1].tell("1001130007")
            a.tell("100117")
        else:
            a.tell("1001130007")
            lab.called[-1].tell("100117")
        a.tell(PLAIN)
        lab.open()
        lab.called[-1].tell("10010f")
        lab.timers.advance(250)
        labs.append(lab)
    return labs


@scenario
def two_calls(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    one, b1 = lab.call(PLAIN[:-2] + "02")
    two, b2 = lab.call("1006" + PLAIN[4:])
    three, b3 = lab.call(PLAIN)
    one.tell("100100aa", "100602bb")
    three.tell("100100cc")
    b1.tell("104d20dd")
    two.tell("1006a1", "1000fb0000")
    four = lab.caller()
    four.tell(PLAIN + "01")
    five = lab.caller()
    five.tell(PLAIN + "02")
    lab.open()
    b2.tell("10020041")
    b3.tell("10030041")
    return lab


@scenario
def reuse(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    for tag in ("aa", "bb"):
        a, b = lab.call(PLAIN)
        a.tell("100100" + tag)
        b.tell("100121")
        a.tell("1001130000")
        b.tell("100117")
    a.tell(PLAIN)
    lab.open()
    return lab


@scenario
def longer_packets_in_the_call_before(make_lab: Any, model: str) -> Any:
    """Of the called side: 256 octets, in a call with that size, then in one with 128."""
    lab = make_lab(model)
    for size in (8, 7):
        _, b = lab.call(f"10010b77210000131000010642{size:02x}{size:02x}430202", "10010f")
        b.tell("100100" + "41" * 256)
    return lab


@scenario
def the_next_call(make_lab: Any, model: str) -> Any:
    """After each kind of unfinished business, on the connection of A."""
    labs = []
    for mine, of_b in (
        *(("100105", ""), ("10012341", ""), ("", "10012341"), ("900110" + FULL, "")),
        ("1001000a", ""),
    ):
        lab = make_lab(model)
        a, b = lab.call("10010b772100001310000106420707430404")
        for peer, packet in ((a, mine), (b, of_b)):
            if packet:
                peer.tell(packet)
        a.tell("10011300f1")
        b.tell("100117")
        a.tell("10010b7721000013100001" + "00")
        lab.open()
        b = lab.called[-1]
        b.tell("10010f", "1001000a", "1001020a", "10012377")
        a.tell("1001000a", "10012378")
        labs.append(lab)
    return labs


@scenario
def a_shorter_call_behind_a_longer_one(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call("10010b772100001310000106420808430202")
    a.tell("100100" + FULL * 2, "10011300f1")
    b.tell("100117")
    a.tell(PLAIN)
    lab.open()
    lab.called[-1].tell("10010f")
    a.tell("100100" + FULL + "41")
    return lab


@scenario
def refused_then_called(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a = lab.caller()
    for _ in range(2):
        a.tell(PLAIN)
        lab.open()
        lab.called[-1].tell("1001130007")
        a.tell("100117")
    return lab


@scenario
def plain_call_behind_a_laden_one(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    laden = "10010b77210000131000010c4207074302020305000fcb00"
    for request, answer in ((laden, "000fc900"), (PLAIN, "")):
        a = lab.caller()
        a.tell(request)
        lab.open()
        b = lab.called[-1]
        b.tell("10010f00" + f"{len(answer) // 2:02x}" + answer)
        b.tell("1001130007")
        a.tell("100117")
    return lab


@scenario
def call_behind_one_with_fast_select(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call("10010b7721000013100001080180420707430202" + "c0" * 100)
    a.tell("1001130000")
    b.tell("100117")
    a.tell(PLAIN + "c0" * 17)
    return lab


@scenario
def later_and_waiting_calls(make_lab: Any, model: str) -> Any:
    """A refusal and Data too early in further calls of a connection; two calls that wait; a call
    to A, one of modulo 128, one with D=1 whose address is rewritten; refusals, and a collision."""
    rewrites = {"rewrite": {"strip": 2, "add": "215"}}
    to_a = [{"prefix": "31", "to": "127.0.25.3:1998"}]
    labs = [*(make_lab(model, routes=to_a) for _ in range(4)), make_lab(model, rewrites)]
    labs += [make_lab(model, max_calls=1)]
    a, b = labs[0].call(PLAIN)
    a.tell("1001130000")
    b.tell("100117")
    a.tell(PLAIN)
    labs[0].open()
    labs[0].called[-1].tell("10011300f1")
    a.tell_together("100117", PLAIN)
    labs[0].open()
    a.tell("10010041")
    for octets in (WIDE, PLAIN):
        labs[1].caller().tell(octets)
        labs[1].open()
    labs[1].called[0].tell("10010f")
    labs[2].caller().tell(call("3100001", "2100001", "420707430202", "c0" * 16))
    labs[2].open()
    labs[2].caller().tell("20010b772100001310000108018042070743020200c0")
    labs[2].open()
    labs[2].called[-1].tell("20010f0000c0")
    a, b = labs[3].call(PLAIN)
    b.tell("10011300f1")
    a.tell("10011300f2")
    labs[4].caller().tell("5" + PLAIN[1:])
    labs[4].open()
    for _ in range(2):
        labs[5].caller().tell(PLAIN)
        labs[5].open()
        labs[5].called[-1].tell("1001130000")
        labs[5].callers[-1].tell("100117")
    return labs


@scenario
def one_call_behind_another(make_lab: Any, model: str) -> Any:
    """On one connection: fast select with a restriction, a Clear of B with user data, T12; and a
    refusal, and Calls that cross."""
    lab = make_lab(model, routes=[{"prefix": "31", "to": "127.0.25.2:1998"}])
    a, _ = lab.call(PLAIN)
    a.tell("1001130000", PLAIN)
    lab.open()
    lab.called[-1].tell("1001130000")
    a.tell("100117", "10010b7721000013100001" + "08" + "01c0" + "420707430202" + "c001")
    lab.open()
    lab.called[-1].tell("1001130000" + "0000c001")
    a.tell("100117", "10010b7721000013100001" + "08" + "0180" + "420707430202" + "c001")
    lab.open()
    lab.called[-1].tell(lab.called[-1].got[-1][:4] + "0f")
    a.tell("10012b", "1001130000", PLAIN)
    lab.open()
    lab.called[-1].tell(lab.called[-1].got[-1][:4] + "0f")
    lab.timers.advance(61)
    lab.caller().tell(call("9990001", "3100001"))
    lab.caller().tell(PLAIN)
    lab.caller("127.0.25.3").tell(call("3100001", "2100001"))
    lab.open()
    return lab


@scenario
def octet_behind_rr_of_the_next_call(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    a.tell("1001130000")
    b.tell("100117")
    a.tell(PLAIN)
    lab.open()
    lab.called[-1].tell("10010f")
    a.tell("10010100")
    return lab


@scenario
def larger_call_behind_a_smaller_one(make_lab: Any, model: str) -> Any:
    """On one connection: size 128 and window 1, then 512 and 7, of which A sends two full ones."""
    lab = make_lab(model)
    a, b = lab.call("10010b772100001310000106420707430101")
    a.tell("1001130000")
    b.tell("100117")
    a.tell("10010b772100001310000106420909430707")
    lab.open()
    b = lab.called[-1]
    b.tell(b.take()[-1][:4] + "0f")
    a.tell("100100" + "41" * 100, "100102" + "42" * 512)
    return lab


@scenario
def second_clear_without_diagnostic(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a = lab.caller()
    for clear in ("10011300ee", "10011300"):
        a.tell(PLAIN)
        lab.open()
        a.tell(clear)
    return lab


@scenario
def clear_user_data_behind_a_reset(make_lab: Any, model: str) -> Any:
    """Of a call with fast select, 17 octets."""
    lab = make_lab(model)
    a, b = lab.call("10010b7721000013100001020180")
    a.tell("10011b0000")
    b.tell("10011f")
    a.tell("10011300f1" + "0000" + "c0" * 17)
    b.tell("100117")
    return lab


@scenario
def behind_clears_that_cross(make_lab: Any, model: str) -> Any:
    """After each kind of unfinished business both ends clear; then a call without user data and
    without values, which A clears with user data."""
    labs = []
    fast = "10010b7721000013100001" + "08" + "0180420808430404"
    for mine, of_b in (("100105", ""), ("10010041", ""), ("10011b0000", ""), ("", "10011b0000")):
        lab = make_lab(model)
        a, b = lab.call(fast)
        for peer, packet in ((a, mine), (b, of_b)):
            if packet:
                peer.tell(packet)
        b.tell("10011300f1")
        a.tell("10011300f2", "10010b7721000013100001" + "00")
        lab.open()
        b = lab.called[-1]
        b.tell("10010f", "1001000a", "1001020a", "10012377")
        a.tell("1001000a", "10012378", "10011300f1" + "0000" + "c0" * 4)
        labs.append(lab)
    return labs


@scenario
def much_behind_a_refusal(make_lab: Any, model: str) -> Any:
    """A Call with 17 octets of user data behind a fast select call that B refuses."""
    lab = make_lab(model)
    a = lab.caller()
    a.tell(call("2100001", "3100001", "0180"))
    lab.open()
    lab.called[0].tell("10011300f1")
    a.tell("100117", call("2100001", "3100001", user_data="c0" * 17))
    if lab.opening:
        lab.open()
    return lab


@scenario
def addresses_left_out(make_lab: Any, model: str) -> Any:
    """The first call and its answer have them, the second have not."""
    lab = make_lab(model)
    a, b = lab.call(PLAIN, "10010f77" + "21000013100001" + "00")
    a.tell("10011300f1")
    b.tell("100117")
    a.tell(call("2100001"))
    lab.open()
    lab.called[-1].tell("10010f")
    return lab
