# SPDX-License-Identifier: GPL-2.0-or-later
"""Every fault changes something that a tester can see, and nothing once it is undone.

Scenarios of legal and illegal behaviour run against the router without and with a fault; what the
router sent, closed and counted has to differ. Faults of the socket level are tried with sockets.
"""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from x25shark.catalogue import faults as catalogued
from x25shark.reference.caller import dial
from x25shark.reference.faults import FAULTS
from x25shark.reference.faults.common import Crash
from x25shark.reference.switches import UnknownSwitch

MODELS = ("local", "end-to-end", "splice")
FULL = "41" * 128
#: Called 2100001, calling 3100001, sizes 128, windows 2.
PLAIN = "10010b772100001310000106420707430202"
WIDE = "10010b772100001310000106420707430707"
Scenario = Callable[[Any, str], Any]
SCENARIOS: dict[str, Scenario] = {}


def scenario(function: Scenario) -> Scenario:
    SCENARIOS[function.__name__] = function
    return function


def call(called: str, calling: str = "", facilities: str = "", user_data: str = "") -> str:
    """A Call Request."""
    digits = called + calling
    return (
        f"10010b{len(calling):x}{len(called):x}{digits}{'0' * (len(digits) % 2)}"
        f"{len(facilities) // 2:02x}{facilities}{user_data}"
    )


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
def transfer(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call(WIDE)
    a.tell_together(*(f"1001{2 * n:02x}{n:02x}0d" for n in range(3)))
    a.tell("900106" + FULL, "1001080d")
    b.tell("1001a1", "1001a1", "1001a0aa", "1001a2bb", "10012301aa")
    a.tell("100127", "10012301ff")
    b.tell("100127", "1001a5", "1001a1")
    a.tell("10014a" + FULL, "10015c" + FULL, "10014e" + FULL, "100140" + FULL)
    b.tell("1001e1", "100101", "100121")
    a.tell("10015bff", "100113f0")
    return lab


@scenario
def too_many_octets(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    for octets in ("100123" + "41" * 65, "100101" + "00" * 64, "100105" + "00" * 64):
        a, _b = lab.call(PLAIN)
        a.tell(octets)
    for octets in ("20010000" + "41" * 129, "2001010000"):
        a, _b = lab.call("20010b772100001310000106420707437f7f")
        a.tell(octets)
    return lab


@scenario
def numbers_of_data_alone(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call(WIDE, "10010f0006420707430207")
    for n in range(7):
        a.tell(f"1001{2 * n:02x}41")
    a, b = lab.call(PLAIN)
    for n in range(4):
        b.tell(f"9001{2 * n:02x}42")
        a.tell(f"9001{(n + 1) % 8 << 5 | 2 * n:02x}43")
    a, b = lab.call("20010b772100001310000106420707437f7f")
    for n in range(70):
        b.tell(f"2001{2 * n:02x}{2 * n:02x}44")
        a.tell(f"2001{2 * n:02x}{2 * (n + 1):02x}45")
    return lab


@scenario
def behind_a_refusal(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a = lab.caller()
    a.tell(call("9900001"), "100117", PLAIN)
    return lab


@scenario
def facility_without_an_end(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    lab.caller().tell(call("2100001", "3100001", "c9ff"))
    return lab


@scenario
def blocked(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call(WIDE, "10010f0006420707430202")
    for n in range(4):
        a.tell(f"1001{2 * n:02x}{n:02x}")
    a.tell("10012301")
    b.tell("100121")
    b.tell("100141", "100145")
    a.tell("10010855", "1001130000")
    return lab


@scenario
def busy(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call(WIDE)
    b.tell("100105")
    a.tell("100100aa", "100102bb")
    b.tell("100101", "100121")
    a.tell("100104cc")
    return lab


@scenario
def window_of_b(make_lab: Any, model: str) -> Any:
    lab = make_lab(model, {"window": 2} if model == "local" else None)
    a, b = lab.call(WIDE)
    for n in range(7):
        a.tell(f"1001{2 * n:02x}{n:02x}")
    b.tell("100121")
    b.tell("100161")
    return lab


@scenario
def many(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call(WIDE)
    for n in range(20):
        a.tell(f"1001{n % 8 * 2:02x}{n:02x}")
        b.tell(f"1001{(n + 1) % 8 << 5 | 1:02x}")
    return lab


@scenario
def piggyback(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    for n in range(4):
        a.tell(f"1001{n % 8 << 5 | n % 8 * 2:02x}{n:02x}")
        b.tell(f"1001{(n + 1) % 8 << 5 | n % 8 * 2:02x}{n:02x}")
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
def illegal_data(make_lab: Any, model: str) -> Any:
    labs = []
    for packets in (
        ["10010041", "10010442"],
        ["100102"],
        ["1001a041"],
        ["100100" + "41" * 129],
        ["1001a1"],
        ["1001a5"],
        ["10010100"],
        ["100110" + FULL, "90010241"],
        ["100127"],
        ["10011f"],
        ["100123"],
        ["100123" + "00" * 33],
        ["10012301", "10012302"],
        ["10012b"],
        ["00010041"],
        ["30010041"],
        [PLAIN],
        ["100117"],
        ["10010f"],
        ["100113"],
        ["10011300"],
        ["10011300000000ab"],
        ["10011b"],
        ["1001098000"],
        ["1000f1241001", "1000f30000", "1001e9"],
        ["1000fb0000"],
        ["1000ff"],
        ["10020041"],
        ["10020b0000"],
        ["1001130042", "10010041"],
    ):
        lab = make_lab(model)
        a, _ = lab.call(PLAIN)
        a.tell(*packets)
        labs.append(lab)
    return labs


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
def large(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, _ = lab.call("10010b77210000131000010 6420b0b430202".replace(" ", ""))
    a.tell("100100" + "55" * 2048)
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
def empty_in_modulo_128(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, _b = lab.call("20010b772100001310000106420707437f7f")
    a.tell("20010000", "2001020241")
    return lab


@scenario
def old_numbers(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    b.tell("10011b0007")
    a.tell("100161", "10016641", "10011f")
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
def segments(make_lab: Any, model: str) -> Any:
    labs = []
    for size, packets in (
        (512, [*(f"1001{0x10 | 2 * n:02x}" + FULL for n in range(4)), "10010855"]),
        (256, ["100110" + FULL, "100102" + FULL]),
        (256, ["500110" + FULL, "10010255"]),
        (256, ["10010055", "10010266"]),
        (16, ["900100" + "42" * 64]),
        (16, ["500100" + "42" * 64]),
    ):
        lab = make_lab(model, {"packet_size": size, "window": 2} if model == "local" else None)
        a, b = lab.call(WIDE)
        a.tell(*packets)
        lab.timers.advance(1)
        b.tell("100121", "100141", "100161", "100181")
        lab.timers.advance(1)
        labs.append(lab)
    return labs


@scenario
def modulo_128(make_lab: Any, model: str) -> Any:
    labs = []
    for route in (None, {"modulo8_only": True}):
        lab = make_lab(model, route if model == "local" else None)
        a, b = lab.call("20010b772100001310000106420707431414")
        for n in range(12):
            a.tell(f"2001{2 * n:02x}0{n % 2}" + FULL)
        b.tell("1001e1" if lab.offered[0] == "1" else "2001010e")
        labs.append(lab)
    return labs


@scenario
def two_moduli(make_lab: Any, model: str) -> Any:
    lab = make_lab(model, {"modulo8_only": True} if model == "local" else None)
    a, b = lab.call("20010b772100001310000106420707431414")
    a.tell("200123aa")
    b.tell(lab.offered[0] + "00127", lab.offered[0] + "00123bb")
    return lab


@scenario
def split_in_modulo_128(make_lab: Any, model: str) -> Any:
    lab = make_lab(model, {"packet_size": 128, "window": 7} if model == "local" else None)
    a, _ = lab.call("20010b772100001310000106420909430707")
    a.tell("20010000" + "41" * 512)
    return lab


@scenario
def unknown_facility_of_an_answer(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    lab.call(PLAIN, "10010f00053e01430101")
    return lab


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
def unequal_windows(make_lab: Any, model: str) -> Any:
    """The called side may send two Data with D=1, and sends three."""
    lab = make_lab(model)
    _, b = lab.call("10010b772100001310000106420707430207")
    b.tell("500100aa", "500102bb", "500104cc")
    return lab


@scenario
def two_without_an_answer(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    for _ in range(2):
        lab.caller().tell(PLAIN)
        lab.open()
    for _ in range(4):
        lab.timers.advance(100)
    return lab


@scenario
def numbers_that_wrap(make_lab: Any, model: str) -> Any:
    """Behind seven Data a P(S) of 0; behind nine, two of which are open, a P(R) of 3."""
    labs = [make_lab(model), make_lab(model)]
    for lab, more in zip(labs, (0, 2), strict=True):
        a, b = lab.call(WIDE)
        for n in range(7):
            a.tell(f"1001{2 * n:02x}{n:02x}")
            b.tell(f"1001{(n + 1) << 5 | 1:02x}")
        for n in range(7, 7 + more):
            a.tell(f"1001{n % 8 * 2:02x}{n:02x}")
        if more:
            b.tell("100161")
        else:
            a.tell("100100aa")
    return labs


@scenario
def wrong_values_of_facilities(make_lab: Any, model: str) -> Any:
    """Window 0 answered where 1 was asked for, and 109 octets to which the router adds its own."""
    asked, full = make_lab(model), make_lab(model)
    asked.call(call("2100001", "3100001", "430101"), "10010f0003430001")
    full.caller().tell(call("2100001", "3100001", "000fd369" + "00" * 105))
    return [asked, full]


@scenario
def version_in_pieces(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a = lab.caller()
    a.raw("00")
    a.raw("010003100117")
    return lab


@scenario
def back_pressure(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call(WIDE)
    b.congested = True
    for n in range(9):
        a.tell(f"1001{n % 8 * 2:02x}{n:02x}")
    return lab


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
def clear_of_modulo_128(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call("20010b772100001310000106420707431414")
    a.tell("20011300f1")
    b.tell("200117")
    return lab


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
def data_to_the_called_side(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call("10010b772100001310000106420808430202")
    a.tell("100100" + FULL * 2, "10010241")
    b.tell("100141", "10011b0000")
    a.tell("10011f", "10010041")
    return lab


@scenario
def sizes_and_lengths(make_lab: Any, model: str) -> Any:
    labs = []
    for facilities in ("420b0b430202", "420c0c430202", "420909430202"):
        lab = make_lab(model)
        lab.caller().tell(f"10010b77210000131000010{len(facilities) // 2:x}{facilities}")
        lab.open()
        labs.append(lab)
        for b in lab.called:
            b.tell("10010f")
            b.tell("100100" + "41" * (4096 if facilities.startswith("420c") else 210))
    return labs


@scenario
def full_window_of_127(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, _b = lab.call("20010b772100001310000106420707437f7f")
    a.tell_together(*(f"2001{2 * n:02x}00{n:02x}" for n in range(80)))
    return lab


@scenario
def delivery_at_window_1(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call("10010b772100001310000106420707430101")
    a.tell("50010041")
    b.tell("100121")
    return lab


@scenario
def busy_with_a_queue(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    a.tell("50010041", "10010242")
    b.tell("100125", "100145")
    a.tell("10010443", "10010644")
    b.tell("100145", "100141")
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
def a_seventh_of_six(make_lab: Any, model: str) -> Any:
    """Seven Data of a side whose window is 6; of either side."""
    labs = []
    for of_b in (False, True):
        lab = make_lab(model)
        a, b = lab.call("10010b7721000013100001" + "06420707430606")
        for number in range(7):
            (b if of_b else a).tell(f"1001{number << 1:02x}41")
        labs.append(lab)
    return labs


@scenario
def d_at_the_wrap(make_lab: Any, model: str) -> Any:
    """Eight Data with D=1, each of which B acknowledges."""
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    for number in range(8):
        a.tell(f"5001{number << 1:02x}41")
        b.tell(f"1001{(number + 1) % 8 << 5 | 1:02x}")
    return lab


@scenario
def d_at_the_end_of_a_sequence(make_lab: Any, model: str) -> Any:
    """A full packet with M=1, then one with D=1; B acknowledges both."""
    lab = make_lab(model)
    a, b = lab.call("50010b7721000013100001" + "06420707430202", "50010f")
    a.tell("100110" + "41" * 128, "50010242")
    b.tell("100141")
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
def modulo_128_throughout(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call("20010b772100001310000106420707431414")
    a.tell("20012341")
    b.tell("200127")
    a.tell("20011b0000")
    b.tell("20011f")
    return lab


@scenario
def reset_by_b_with_data_waiting(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    a.tell("10010041", "10010242", "10010443", "10010644")
    b.tell("10011b0007")
    a.tell("10011f")
    return lab


@scenario
def refused_circuit(make_lab: Any, model: str) -> Any:
    own = {"name": "S1", "lcn": 2, "remote_name": "S8", "remote_lcn": 2, "to": "echo"}
    lab = make_lab(model, pvc=[own | {"peer": "127.0.25.3:1998", "retry": 60}])
    lab.router.start()
    lab.open()
    setup = bytes.fromhex(lab.called[0].got[0])
    lab.called[0].tell((setup[:4] + b"\x17" + setup[5:]).hex())
    return lab


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
def long_data(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, _b = lab.call("10010b772100001310000106420909430202")
    a.tell("100100" + "41" * 300)
    return lab


@scenario
def zeros(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    a.tell("100123410000")
    b.tell("100127")
    return lab


@scenario
def outside_the_window_of_d(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    _a, b = lab.call(PLAIN)
    b.tell("50010041", "50010242", "50010443")
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
def plain_call_behind_a_laden_one(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    laden = "10010b77210000131000010c4207074302020305000fcb00"
    for call, answer in ((laden, "000fc900"), (PLAIN, "")):
        a = lab.caller()
        a.tell(call)
        lab.open()
        b = lab.called[-1]
        b.tell("10010f00" + f"{len(answer) // 2:02x}" + answer)
        b.tell("1001130007")
        a.tell("100117")
    return lab


@scenario
def half_a_sequence_of_the_called_side(make_lab: Any, model: str) -> Any:
    lab = make_lab(model, {"independent": True, "packet_size": 128} if model == "local" else None)
    a, b = lab.call("10010b772100001310000106420909430202")
    b.tell("100110" + FULL)
    a.tell("10011b0000")
    b.tell("10011f", "10010042")
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
def interrupts_that_cross(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    a.tell("10012341")
    b.tell("10012342")
    a.tell("100127")
    return lab


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
def setup_without_circuits(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    lab.caller().tell("1001f5810002000102000102020707" + b"S0S1".hex())
    if lab.opening:
        lab.open()
    return lab


@scenario
def where_m_and_d_meet(make_lab: Any, model: str) -> Any:
    labs = []
    for packets in (["500110" + "41" * 10], ["100110" + FULL, "100102"]):
        lab = make_lab(model)
        a, _b = lab.call(PLAIN)
        a.tell(*packets)
        labs.append(lab)
    return labs


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
def call_behind_one_with_fast_select(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call("10010b7721000013100001080180420707430202" + "c0" * 100)
    a.tell("1001130000")
    b.tell("100117")
    a.tell(PLAIN + "c0" * 17)
    return lab


@scenario
def outside_a_shut_window(make_lab: Any, model: str) -> Any:
    """The other end acknowledges nothing: two Data pass, two are stored, and one is too many."""
    labs = []
    for way in (0, 1):
        lab = make_lab(model)
        lab.call(PLAIN)[way].tell(*(f"1001{2 * n:02x}41" for n in range(5)))
        labs.append(lab)
    lab = make_lab(model)
    lab.call("20010b772100001310000106420707430202")[0].tell(
        *(f"2001{2 * n:02x}0041" for n in range(5))
    )
    return [*labs, lab]


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
def answer_with_user_data(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    lab.call("10010b77210000131000010801804207074302" + "02c0", "10010f0000c0")
    lab.timers.advance(250)
    return lab


@scenario
def acknowledged_in_data_of_modulo_128(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call("20010b772100001310000106420707430202", "20010f")
    for n in range(3):
        a.tell(f"2001{2 * n:02x}0041")
    b.tell("2001000441")
    return lab


@scenario
def part_filled(make_lab: Any, model: str) -> Any:
    """With M=1 and another Q behind it, and as long as a full one of the other side."""
    labs = [make_lab(model)]
    a, _ = labs[0].call(PLAIN)
    a.tell("10011041", "90010242")
    own = {"independent": True, "packet_size": 128} if model == "local" else None
    labs.append(make_lab(model, own))
    a, _ = labs[1].call("10010b772100001310000106420909430202")
    a.tell("100110" + FULL, "10010242")
    return labs


@scenario
def close_behind_a_clear(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    b.tell("1001130000")
    a.hang_up()
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
def rnr_whose_p_r_runs_back(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    a.tell("10010041", "10010242")
    b.tell("100141", "100125")
    return lab


@scenario
def rnr_at_a_shut_window(make_lab: Any, model: str) -> Any:
    """It acknowledges both Data, and the RR behind it none."""
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    a.tell("10010041", "10010242")
    b.tell("100145", "100101")
    return lab


@scenario
def rnr_that_ends_at_a_shut_window(make_lab: Any, model: str) -> Any:
    """RR moves nothing; Data of B opens the window."""
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    a.tell("10010041", "10010242")
    b.tell("100105", "100101")
    a.tell("10010443")
    b.tell("10014044")
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
def m_beside_every_number(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call("20010b772100001310000106420707437f7f")
    for n in range(130):
        a.tell(f"2001{2 * n % 256:02x}01" + FULL)
        b.tell(f"200101{2 * (n + 1) % 256:02x}")
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
def longest_call_and_answer(make_lab: Any, model: str) -> Any:
    """Addresses of 15 digits, 109 octets of facilities, 128 of user data."""
    lab = make_lab(model)
    called, calling = "210000100000001", "310000100000001"
    sizes, dte = "420707430202", "000fc9"
    request = call(called, calling, "0180" + sizes + dte + "61" + "55" * 97, "c0" * 128)
    answer = "6d" + sizes + dte + "63" + "55" * 99 + "c1" * 128
    lab.call(request, "10010fff" + called + calling + answer)
    return lab


@scenario
def reverse_charging_beside_fast_select(make_lab: Any, model: str) -> Any:
    lab = make_lab(model, {"reverse_charging_acceptance": False})
    for octet in ("01", "81", "c1"):
        lab.caller().tell(call("2100001", "3100001", f"01{octet}420707430202"))
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
def sizes_of_each_direction(make_lab: Any, model: str) -> Any:
    """64 octets from A, 128 to A: a part-filled packet of each size, then one with another Q."""
    labs = []
    for octets in (64, 128):
        lab = make_lab(model)
        a, b = lab.call(PLAIN.replace("420707", "420706"))
        for side in (a, b):
            side.tell("100110" + "41" * octets, "90010242")
        labs.append(lab)
    return labs


@scenario
def one_octet_less_than_full(make_lab: Any, model: str) -> Any:
    """With M=1: where packets have 256 octets, and where B has the larger ones."""
    labs = [make_lab(model), make_lab(model, {"packet_size": 512} if model == "local" else None)]
    a, _ = labs[0].call(PLAIN.replace("420707", "420808"))
    a.tell("100110" + "41" * 255)
    a, _ = labs[1].call(PLAIN)
    a.tell("100110" + "41" * 127)
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
def window_0_of_modulo_128(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    lab.caller().tell("20010b772100001310000106420707430002")
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
def d_behind_what_waits(make_lab: Any, model: str) -> Any:
    """Where B has the larger size: a full packet with M=1, the rest with D=1."""
    lab = make_lab(model, {"packet_size": 512} if model == "local" else None)
    a, _ = lab.call(PLAIN)
    a.tell("100110" + FULL, "50010242")
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
def data_while_a_timer_runs(make_lab: Any, model: str) -> Any:
    """T13 and T12: Data comes when more than half of the time is over."""
    labs = []
    for by_b, from_a in (("1001130000", ""), ("", "10012b")):
        lab = make_lab(model)
        a, b = lab.call(PLAIN)
        b.tell(*filter(None, [by_b]))
        a.tell(*filter(None, [from_a]))
        lab.timers.advance(40)
        a.tell("10010041")
        lab.timers.advance(30)
        labs.append(lab)
    return labs


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
def beyond_a_window_that_wraps(make_lab: Any, model: str) -> Any:
    """D=1 keeps it shut behind seven Data that are acknowledged."""
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    for n in range(7):
        a.tell(f"1001{2 * n:02x}41")
        b.tell(f"1001{(n + 1) % 8 << 5 | 1:02x}")
    a.tell("50010e41", "50010041", "50010241")
    return lab


def observe(what: Any) -> Any:
    """Everything that can be seen of the routers of a scenario."""
    if isinstance(what, list):
        return [observe(one) for one in what]
    peers = [(p.got, p.closed, p.aborted, vars(p).get("port")) for p in what.callers + what.called]
    return (
        peers,
        what.offered if hasattr(what, "offered") else None,
        what.answer if hasattr(what, "answer") else None,
        what.router.counters.as_dict(),
        len(what.router.circuits),
    )


def run(make_lab: Any, name: str, model: str) -> Any:
    """Observation of one scenario; a crash is one as well."""
    try:
        return observe(SCENARIOS[name](make_lab, model))
    except Crash:
        return "crash"
    except IndexError as error:
        # The script could not go on as it did without the fault, for instance without a call.
        # An error in the router's text or in that of the fault is not what is meant.
        last = traceback.extract_tb(error.__traceback__)[-1]
        if Path(last.filename).parent != Path(__file__).parent:
            raise
        return f"script ended in {last.name}"


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
def qualified_data_round_modulo_128(make_lab: Any, model: str) -> Any:
    """130 Data with Q=1 each way."""
    lab = make_lab(model)
    a, b = lab.call("20010b772100001310000106420707431414")
    for number in range(130):
        for here, there in ((a, b), (b, a)):
            sent = number % 128
            behind = (number + (here is b)) % 128
            here.tell(f"a001{2 * sent:02x}{2 * behind:02x}41")
            there.tell(f"200101{2 * ((number + 1) % 128):02x}")
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
def second_clear_without_diagnostic(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a = lab.caller()
    for clear in ("10011300ee", "10011300"):
        a.tell(PLAIN)
        lab.open()
        a.tell(clear)
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
def answer_that_names_a_window_twice(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    lab.caller().tell(WIDE)
    lab.open()
    b = lab.called[-1]
    b.tell(b.take()[-1][:4] + "0f0006430505430202")
    return lab


@pytest.fixture(scope="module")
def sound() -> dict[tuple[str, str], Any]:
    """What the router without a fault does in each scenario."""
    return {}


#: Faults of sockets and processes, tried in test_faults_sockets.py.
SOCKET_LEVEL = {
    "BUG-XOT-05",
    "BUG-XOT-13",
    "BUG-XOT-18",
    "BUG-XOT-19",
    "BUG-XOT-21",
    "BUG-XOT-96",
    "BUG-XOT-99",
    "BUG-XOT-46",
    "BUG-XOT-48",
    "BUG-XOT-51",
    "BUG-CALL-17",
    "BUG-CLR-10",
    "BUG-MALF-06",
    "BUG-SYS-06",
    "BUG-SYS-14",
}


#: Faults of call collision, which a line alone has (X.25 4.1.6).
OF_COLLISIONS = {f"BUG-CALL-{number}" for number in (*range(23, 29), 31, 63)}


#: Faults of serial lines, tried in test_faults_line.py; those of Restart and Diagnostic packets
#: show in their witnesses only, which make mutants runs.
OF_LINES = {
    one
    for one in FAULTS
    if one.startswith(("BUG-HDLC", "BUG-LAPB", "BUG-SER", "BUG-RSTRT", "BUG-DIAG", "BUG-LINE"))
    or one in OF_COLLISIONS | {"BUG-XOT-29"}
}


#: Faults that show under load only, tried in tests/load/test_planted.py.
OF_LOADS = {one for one in FAULTS if one.startswith("BUG-LOAD")}


#: Faults of the IP end, tried in test_ip_end.py.
OF_IP = {one for one in FAULTS if one.startswith("BUG-IP")}


def test_the_text_of_a_fault_stands_once() -> None:
    """In the catalogue; faults that show under load only are not in it."""
    assert {one for one in FAULTS if FAULTS[one].text} == OF_LOADS
    assert set(FAULTS) - OF_LOADS <= set(catalogued())


@pytest.mark.parametrize(
    "identity", sorted(set(FAULTS) - SOCKET_LEVEL - OF_LINES - OF_LOADS - OF_IP)
)
def test_fault_is_seen_and_can_be_undone(
    make_lab: Any, sound: dict[tuple[str, str], Any], identity: str
) -> None:
    differing = []
    for name in SCENARIOS:
        for model in MODELS:
            if (name, model) not in sound:
                sound[name, model] = run(make_lab, name, model)
                assert not str(sound[name, model]).startswith(("crash", "script"))
            patches = FAULTS.switch_on([identity])
            try:
                faulty = run(make_lab, name, model)
            finally:
                for patch in reversed(patches):
                    patch.undo()
            if faulty != sound[name, model]:
                differing.append((name, model))
                assert run(make_lab, name, model) == sound[name, model]
                break
        if differing:
            break
    assert differing, (
        f"{identity} changes nothing in any scenario. Write one here under @scenario in which it "
        "shows, or put its name into the set of those that are tried elsewhere (SOCKET_LEVEL, "
        "OF_COLLISIONS), with a test there"
    )


def test_unknown_fault_and_bad_number() -> None:
    with pytest.raises(UnknownSwitch, match="BUG-NONE"):
        FAULTS.switch_on(["BUG-NONE"])
    with pytest.raises(UnknownSwitch, match="not a number"):
        FAULTS.switch_on(["BUG-XOT-20=soon"])


@scenario
def twenty_in_one_read(make_lab: Any, model: str) -> Any:
    """Data behind 19 RRs of one number."""
    lab = make_lab(model)
    a, b = lab.call(WIDE)
    a.tell_together(*["100101"] * 19, "10010001")
    b.tell("100121")
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
def packets_at_a_border_of_their_length(make_lab: Any, model: str) -> Any:
    """Of 511 octets, from either side."""
    lab = make_lab(model)
    a, b = lab.call("10010b772100001310000106420909430202")
    a.tell("100100" + "41" * 508)
    b.tell("100120" + "42" * 508)
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
def one_octet_less_with_m_and_d(make_lab: Any, model: str) -> Any:
    """D=1 and M=1 in a packet that lacks one octet."""
    lab = make_lab(model)
    a, _ = lab.call(WIDE)
    a.tell("500110" + FULL[2:], "10010241")
    return lab


@scenario
def empty_behind_two_full(make_lab: Any, model: str) -> Any:
    """A sequence of two full packets that an empty one ends."""
    lab = make_lab(model)
    a, _ = lab.call(WIDE)
    a.tell("100110" + FULL, "100112" + FULL, "100104")
    return lab


@scenario
def one_back_behind_a_round(make_lab: Any, model: str) -> Any:
    """P(R)=7 where eight Data were sent and acknowledged."""
    lab = make_lab(model)
    a, b = lab.call(WIDE)
    for n in range(8):
        a.tell(f"1001{2 * n:02x}41")
        b.tell(f"1001{(n + 1) % 8 << 5 | 1:02x}")
    b.tell("1001e1")
    return lab


@scenario
def rnr_behind_64_data(make_lab: Any, model: str) -> Any:
    """P(R)=64 of modulo 128."""
    lab = make_lab(model)
    a, b = lab.call("20010b772100001310000106420707437f7f")
    for n in range(64):
        a.tell(f"2001{2 * n:02x}0041")
    b.tell("20010580")
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
def empty_interrupt_behind_a_reset(make_lab: Any, model: str) -> Any:
    """Of A, which has reset."""
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    a.tell("10011b0000")
    b.tell("10011f")
    a.tell("100123")
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
def setup_with_a_long_name(make_lab: Any, model: str) -> Any:
    """Of 64 octets, which no interface has."""
    own = {"name": "S0", "lcn": 1, "remote_name": "S9", "remote_lcn": 1, "to": "echo"}
    lab = make_lab(model, pvc=[own])
    lab.caller().tell("1001f5810002000140000102020707" + b"S9".hex() + "58" * 64)
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


#: A terminal that calls, and where it calls to.
CALLER = {"listen": "127.0.0.1:0", "address": "1115", "packet_size": 256, "window": 4}


def dialled(lab: Any) -> Any:
    """The peer that the terminal has called."""
    assert dial(lab.router, lab.router.settings.caller, "2100001")
    lab.open()
    return lab.called[-1]


@scenario
def calls_of_a_terminal(make_lab: Any, model: str) -> Any:
    """Answers as offered, lower and above, in each form, wrong; and a Clear in their place."""
    lab = make_lab(model, caller={**CALLER, "greeting": 5})
    for answer in (
        *("10010f", "10010f0000", "10010f0006420707430202", "10010f0003430505"),
        *("10010f0003420d0d", "1001130100"),
    ):
        b = dialled(lab)
        lcn = b.got[-1][:4] if b.got else "1001"
        b.tell(lcn + answer[4:], lcn + "2301", lcn + "13f100")
    return lab


@scenario
def ahead_of_an_answer(make_lab: Any, model: str) -> Any:
    """Data, an Interrupt, a Restart, a Call, and the end of the connection."""
    lab = make_lab(model, caller=CALLER)
    for early in ("100100", "10012301", "1000fb0000", PLAIN):
        dialled(lab).tell(early, "10010f", "10010000")
    dialled(lab).hang_up()
    dialled(lab).tell("10010f", "10010f")
    dialled(lab).tell_together("10010f", "10010000", "10012301")
    return lab


@scenario
def further_calls_of_a_terminal(make_lab: Any, model: str) -> Any:
    """Behind one with Data, beside each other, and one that is never answered."""
    lab = make_lab(model, caller=CALLER)
    b = dialled(lab)
    b.tell("10010f", "100100", "100102", "100104", "1001130000")
    first = dialled(lab)
    first.tell("10010f", "100100")
    dialled(lab).tell("10010f", "1001130000")
    first.tell("100102")
    dialled(lab)
    lab.timers.advance(1000)
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
def d_beside_q(make_lab: Any, model: str) -> Any:
    """B has not acknowledged."""
    lab = make_lab(model)
    a, _ = lab.call(PLAIN)
    a.tell("d0010041")
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
def amid_what_is_joined(make_lab: Any, model: str) -> Any:
    """A's packets are smaller: an RR of A, an RNR of B, an Interrupt of A and then a reset, and an
    error of B."""
    labs = []
    for packet, side in (("100101", "a"), ("100105", "b"), ("10012301", "a"), ("10011f", "b")):
        own = {"independent": True, "packet_size": 512} if model == "local" else None
        lab = make_lab(model, own)
        a, b = lab.call(PLAIN)
        a.tell("100110" + FULL)
        (a if side == "a" else b).tell(packet)
        if packet == "10012301":
            a.tell("10011b0000")
            b.tell("10011f")
            a.tell("10010041")
        elif packet == "10011f":
            b.tell("10011f")
            a.tell("10011f", "10010041")
        else:
            a.tell("10010241")
            b.tell("100101")
        labs.append(lab)
    return labs


@scenario
def interrupt_amid_what_is_split(make_lab: Any, model: str) -> Any:
    """B's window lets in two of four parts, of which the last has D=1."""
    own = {"independent": True, "packet_size": 128} if model == "local" else None
    lab = make_lab(model, own)
    a, b = lab.call("10010b772100001310000106420909430202")
    a.tell("500100" + FULL * 4, "10012301")
    b.tell("100141")
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
