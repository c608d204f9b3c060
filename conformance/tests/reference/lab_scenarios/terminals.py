# SPDX-License-Identifier: GPL-2.0-or-later
"""A DTE that calls, and one that answers."""

from typing import Any

from x25shark.reference.caller import dial

from .common import PLAIN, call, scenario


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


#: A terminal that calls, and where it calls to.
CALLER = {"listen": "127.0.0.1:0", "address": "1115", "packet_size": 256, "window": 4}


def dialled(lab: Any, modulo: int = 8) -> Any:
    """The peer that the terminal has called."""
    assert dial(lab.router, lab.router.settings.caller, "2100001", modulo)
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
def calls_of_a_terminal_in_modulo_128(make_lab: Any, model: str) -> Any:
    """Answers as offered, lower and above."""
    lab = make_lab(model, caller={**CALLER, "greeting": 5})
    for answer in ("20010f", "20010f0006420707430202", "20010f0003430505"):
        b = dialled(lab, 128)
        b.tell(answer, "20012301", "2001010a", "200113f100")
    return lab


@scenario
def calls_of_a_terminal_that_end_with_tcp(make_lab: Any, model: str) -> Any:
    """By a FIN and by a RST, behind Data of both sides; each with one more call behind it."""
    lab = make_lab(model, caller={**CALLER, "greeting": 2})
    for reset in (False, True):
        b = dialled(lab)
        b.tell("10010f", "100140", "100142")
        b.hang_up(reset)
        dialled(lab).tell("10010f", "100100", "1001130000")
    return lab
