# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls of modulo 128, with type and plan, with all lengths; wrong fields in answers and Clears."""

from typing import Any

from .common import PLAIN, call, scenario

VALUES = "420707430202"
FAST = "0180" + VALUES
#: Called and calling address of 15 digits.
LONGEST = ("210000112345678", "908172635445362")


def of_modulo_128(packet: str) -> str:
    """The same packet with the other format identifier."""
    return f"{int(packet[0], 16) & 12 | 2:x}{packet[1:]}"


@scenario
def calls_in_either_modulo(make_lab: Any, model: str) -> Any:
    """Each is told as one of modulo 8 and as one of modulo 128, and cleared by the called side."""
    plain = ("2100001", "3100001")
    labs = []
    for packet in (
        call(*plain, "420303430202"),
        call(*plain, "420a04430202"),
        call(*plain, "0312" + VALUES),
        call(*plain, "0399" + VALUES),
        call(*plain, "471234" + VALUES),
        call(*plain, VALUES + "000fc963" + "c061" + "ff" * 97),
        call(*LONGEST, VALUES),
        call(*plain, VALUES, "c00102030405"),
        "5" + call(*plain, FAST)[1:],
        call(*plain, "02aa" + "02bb" + VALUES),
    ):
        for told in (packet, of_modulo_128(packet)):
            lab = make_lab(model)
            lab.caller().tell(told)
            lab.open()
            if lab.called:
                lab.called[0].tell(told[0] + lab.called[0].got[-1][1:4] + "130000")
            labs.append(lab)
    return labs


@scenario
def addresses_with_type_and_plan(make_lab: Any, model: str) -> Any:
    """17 half-octets, and a digit above 9, to a router that takes such addresses."""
    labs = []
    for block in ("1100132100001123456780", "0900132100001a", "090013210000a0"):
        lab = make_lab(model, toa=True)
        lab.caller().tell(f"90010b{block}06{VALUES}")
        lab.open()
        labs.append(lab)
    return labs


@scenario
def wrong_fields_of_an_answer(make_lab: Any, model: str) -> Any:
    """A digit above 9, cut facilities, 110 octets, a second octet that is no window; 15 digits."""
    labs = []
    for answer in (
        "077210000a" + "00",
        "0721000a10" + "00",
        "0007" + VALUES + "02",
        "006e" + VALUES + "000fc964" + "00" * 100,
        "0003430200",
        "ff" + "".join(LONGEST) + "00",
    ):
        lab = make_lab(model)
        lab.call(PLAIN, "10010f" + answer)
        labs.append(lab)
    return labs


@scenario
def what_has_no_place_in_an_answer(make_lab: Any, model: str) -> Any:
    """Fast select, and behind it user data in a Clear; packet size behind a network's marker."""
    labs = []
    for answer in ("00020180", "00050000420c0c", "000b" + VALUES + "0000420c0c"):
        lab = make_lab(model)
        a, _ = lab.call(PLAIN, "10010f" + answer)
        a.tell("10011300f10000c0ff")
        labs.append(lab)
    return labs


@scenario
def more_user_data_than_an_octet_counts(make_lab: Any, model: str) -> Any:
    """260 octets in a plain Call; 129 in the Clear of a fast select call, before the answer."""
    plain, fast = make_lab(model), make_lab(model)
    plain.caller().tell(call("2100001", "3100001", VALUES, "c0" * 260))
    plain.open()
    a = fast.caller()
    a.tell(call("2100001", "3100001", FAST))
    fast.open()
    a.tell("10011300f10000" + "c0" * 129)
    return [plain, fast]


@scenario
def clears_before_the_answer(make_lab: Any, model: str) -> Any:
    """Of either side, with malformed fields and with user data, with fast select and without."""
    labs = []
    for packet in (PLAIN, call("2100001", "3100001", FAST)):
        for clear in ("10011300f144", "10011300f10000c0ff"):
            for side in "ab":
                lab = make_lab(model)
                a = lab.caller()
                a.tell(packet)
                lab.open()
                (a if side == "a" else lab.called[0]).tell(clear)
                labs.append(lab)
    return labs


@scenario
def a_call_behind_one_of_another_kind(make_lab: Any, model: str) -> Any:
    """Fast select, then the facility with other bits; larger packets, then windows alone."""
    labs = []
    for first, second in (
        (call("2100001", "31", FAST), call("2100001", "31", "0100" + VALUES, "c0" * 17)),
        (call("2100001", "31", "420909430202"), call("2100001", "31", "430303")),
    ):
        lab = make_lab(model)
        a, _ = lab.call(first)
        a.tell("1001130000", second)
        lab.open()
        labs.append(lab)
    return labs


@scenario
def short_and_cut_packets_in_either_modulo(make_lab: Any, model: str) -> Any:
    """An answer of three octets, also to restricted fast select; a Call with cut facilities; Clears
    without diagnostic of either side, before the answer and behind it."""
    plain = ("2100001", "3100001")
    restricted = "01c0" + VALUES
    labs = []
    for change in (str, of_modulo_128):
        for packet in (PLAIN, call(*plain, restricted)):
            lab = make_lab(model)
            lab.call(change(packet), change("10010f"))
            labs.append(lab)
        lab = make_lab(model)
        lab.caller().tell(change("10010b77" + "".join(plain) + "14420707"))
        lab.open()
        labs.append(lab)
        for side in "ab":
            lab = make_lab(model)
            a = lab.caller()
            a.tell(change(PLAIN))
            lab.open()
            (a if side == "a" else lab.called[0]).tell(change("10011300"))
            labs.append(lab)
            lab = make_lab(model)
            lab.caller().tell(change(PLAIN), change("1001138043"))
            labs.append(lab)
            lab = make_lab(model)
            a, b = lab.call(change(PLAIN), change("10010f"))
            (a if side == "a" else b).tell(change("10011300"))
            labs.append(lab)
    return labs
