# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets amid a sequence, beside an Interrupt or a busy side, and with a wrong GFI."""

from typing import Any

from .circuits import joined_circuits
from .common import FULL, PLAIN, WIDE, scenario

WIDE_128 = "20010b772100001310000106420707437f7f"


@scenario
def wrong_gfi_of_what_is_due(make_lab: Any, model: str) -> Any:
    """In data transfer of each modulo: an Interrupt, its confirmation, a Reset, a Clear."""
    labs = []
    for call, right, wrong in ((PLAIN, "10", "20"), (WIDE_128, "20", "10")):
        for octets in ("0123ff", "011b00f1", "011300f1"):
            lab = make_lab(model)
            a, _b = lab.call(call)
            a.tell(wrong + octets)
            labs.append(lab)
        lab = make_lab(model)
        a, b = lab.call(call)
        b.tell(right + "0123ff")
        a.tell(wrong + "0127", right + "0127")
        labs.append(lab)
    return labs


@scenario
def wrong_gfi_while_pending(make_lab: Any, model: str) -> Any:
    """A Clear of A, and an answer of B."""
    lab = make_lab(model)
    a = lab.caller()
    a.tell(PLAIN)
    a.tell("20011300f1")
    return [lab, *_answers(make_lab, model)]


def _answers(make_lab: Any, model: str) -> list[Any]:
    lab = make_lab(model)
    lab.call(PLAIN, "20010f")
    return [lab]


@scenario
def errors_behind_a_full_packet(make_lab: Any, model: str) -> Any:
    """An octet too many, Q=0 behind Q=1, and a REJ."""
    labs = []
    for first, then in (
        ("100110", "100102" + FULL + "41"),
        ("900110", "10010241"),
        ("100110", "100109"),
    ):
        lab = make_lab(model)
        a, _b = lab.call(WIDE)
        a.tell(first + FULL, then)
        labs.append(lab)
    return labs


@scenario
def number_127_once_more(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, _b = lab.call(WIDE_128)
    a.tell("2001fe0041")
    return lab


@scenario
def second_rnr_acknowledges(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call(WIDE)
    a.tell("50010041")
    b.tell("100105", "100125")
    return lab


@scenario
def delivery_at_the_end_of_a_window(make_lab: Any, model: str) -> Any:
    """Three Data, the last with D=1; and D=1 of a busy side."""
    lab = make_lab(model)
    a, _b = lab.call("10010b772100001310000106420707430303")
    a.tell("10010041", "10010241", "50010441")
    busy = make_lab(model)
    a, _b = busy.call(WIDE)
    a.tell("100105", "50010041")
    return [lab, busy]


@scenario
def beside_an_interrupt(make_lab: Any, model: str) -> Any:
    """A second one behind Data, one of 32 octets each way, and a Restart."""
    second = make_lab(model)
    a, _b = second.call(WIDE)
    a.tell("100123ff", "10010041", "100123ff")
    longest = make_lab(model)
    a, b = longest.call(WIDE)
    a.tell("100123" + "41" * 32)
    b.tell("100123" + "42" * 32)
    restart = make_lab(model)
    a, _b = restart.call(WIDE)
    a.tell("100123ff", "1000fb0000")
    return [second, longest, restart]


@scenario
def interrupts_to_a_busy_side(make_lab: Any, model: str) -> Any:
    """Of 32 octets in modulo 8, and of one in modulo 128."""
    longest = make_lab(model)
    a, b = longest.call(WIDE)
    b.tell("100105")
    a.tell("100123" + "41" * 32)
    wide = make_lab(model)
    a, b = wide.call(WIDE_128)
    b.tell("20010500")
    a.tell("200123ff")
    return [longest, wide]


@scenario
def version_of_one_bit(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, _b = lab.call(WIDE)
    a.raw("8000000410010041")
    return lab


@scenario
def in_modulo_128(make_lab: Any, model: str) -> Any:
    """Data in a unit of 256 octets; a Reset without a diagnostic, and one that is not confirmed;
    resets that collide, and T12."""
    lab = make_lab(model)
    a, _b = lab.call("20010b772100001310000106420808437f7f")
    a.tell("20010000" + "41" * 252)
    reset = make_lab(model)
    a, _b = reset.call(WIDE_128)
    a.tell("20011b80")
    silent = make_lab(model)
    a, _b = silent.call(WIDE_128)
    a.tell("20010a00")
    collided = make_lab(model)
    a, b = collided.call(WIDE_128)
    a.tell("20011b0001")
    b.tell("20011b0002")
    for one in (silent, collided):
        for _ in range(3):
            one.timers.advance(65)
    return [lab, reset, silent, collided]


@scenario
def refused_and_closed(make_lab: Any, model: str) -> Any:
    """The Clear of a called side that refuses, and its close behind it; another refusal later."""
    lab = make_lab(model)
    a = lab.caller()
    a.tell(PLAIN)
    lab.open()
    b = lab.called[-1]
    b.tell("10011300f1")
    b.hang_up()
    lab.timers.advance(1)
    return lab


@scenario
def facilities_of_dtes_alone(make_lab: Any, model: str) -> Any:
    """Neither packet size nor window size in front of the marker, in the Call and its answer."""
    lab = make_lab(model)
    lab.call("10010b77210000131000010600 0fd2020605".replace(" ", ""), "10010f0006000fd2020605")
    return lab


@scenario
def eight_parts_with_d(make_lab: Any, model: str) -> Any:
    """1024 octets with D=1 for a side that takes 128, acknowledged singly, the fourth in Data."""
    lab = make_lab(model, {"independent": True, "packet_size": 128} if model == "local" else None)
    a, b = lab.call("10010b77210000131000010642 0a0a430707".replace(" ", ""), "10010f")
    a.tell("500100" + "41" * 1024)
    for number in range(1, 9):
        b.tell("10018042" if number == 4 else f"1001{(number % 8) << 5 | 1:02x}")
    return lab


@scenario
def parts_at_a_reset(make_lab: Any, model: str) -> Any:
    """Two packets of 512 octets for a side that takes 128 and acknowledges nothing, and a Reset."""
    lab = make_lab(model, {"independent": True, "packet_size": 128} if model == "local" else None)
    a, b = lab.call("10010b772100001310000106420909430202", "10010f")
    a.tell("900110" + "41" * 512, "900102" + "42" * 512)
    b.tell("10011b0000")
    a.tell("10011f", "10010043")
    return lab


@scenario
def setup_of_a_circuit_in_pieces(make_lab: Any, model: str) -> Any:
    lab, _b = joined_circuits(make_lab, model)
    setup = "1001f5810002000102000102020707" + b"S9S0".hex()
    a = lab.caller()
    a.raw("0000")
    a.raw(f"{len(setup) // 2:04x}" + setup)
    return lab


@scenario
def cleared_with_a_reset_open(make_lab: Any, model: str) -> Any:
    """B has confirmed neither the Reset nor the Clear as T12 is over."""
    lab = make_lab(model)
    a, _b = lab.call(PLAIN)
    a.tell("10011b0000", "10011300f1")
    for _ in range(7):
        lab.timers.advance(10)
    return lab
