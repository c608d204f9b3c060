# SPDX-License-Identifier: GPL-2.0-or-later
"""Every cell of the state tables that an XOT connection can reach (X.25 Annex C, RFC 1613)."""

from typing import Any

import pytest

CALL = "10010b772100001310000106420707430202"
#: Packets by the name of their row, on LCN 1.
PACKETS = {
    "call": CALL,
    "accept": "10010f",
    "clear": "1001130007",
    "clear confirmation": "100117",
    "data": "10010041",
    "rr": "100101",
    "rnr": "100105",
    "interrupt": "10012301",
    "interrupt confirmation": "100127",
    "reset": "10011b0007",
    "reset confirmation": "10011f",
    "undefined": "10012b",
    "pvc setup": "1001f581000000010000010202070 7".replace(" ", ""),
    "restart": "1000fb0000",
    "restart confirmation": "1000ff",
    "restart on the channel": "1001fb0000",
    "reject": "100109",
    "diagnostic": "1000f12400",
    "registration": "1000f30000",
    "registration confirmation": "1000f700000000",
    "wrong modulo bits": "30010041",
    "no modulo bits": "00010041",
    "q bit in an rr": "900101",
    "d bit in a clear": "5001130007",
}
LOCAL = (
    *("restart", "restart confirmation", "restart on the channel", "reject"),
    *("diagnostic", "registration", "registration confirmation"),
)
BAD_GFI = ("wrong modulo bits", "no modulo bits", "q bit in an rr", "d bit in a clear")
IN_TRANSFER = (
    *("data", "rr", "rnr", "interrupt", "interrupt confirmation", "reset", "reset confirmation"),
)
SILENT = (*LOCAL, *BAD_GFI)
NOTHING: tuple[list[str], list[str]] = ([], [])


def clear_both(diagnostic: int) -> tuple[list[str], list[str]]:
    """Clear towards the offender and towards the other end."""
    return [f"10011313{diagnostic:02x}"], [f"10011311{diagnostic:02x}"]


def reset_both(diagnostic: int) -> tuple[list[str], list[str]]:
    return [f"10011b05{diagnostic:02x}"], [f"10011b03{diagnostic:02x}"]


@pytest.fixture(params=["local", "end-to-end"])
def lab(request: Any, make_lab: Any) -> Any:
    return make_lab(request.param)


def check(offender: Any, other: Any, packet: str, expected: tuple[list[str], list[str]]) -> None:
    """Send a packet; compare what both sides get and that no connection is closed."""
    offender.take()
    other.take()
    offender.tell(PACKETS[packet])
    assert (offender.take(), other.take()) == expected
    assert not offender.closed


P1 = {
    **dict.fromkeys((*SILENT, "undefined", "pvc setup", "clear confirmation"), ""),
    **dict.fromkeys(("accept", *IN_TRANSFER), "1001131314"),
    "clear": "100117",
}


@pytest.mark.parametrize("packet", P1)
def test_p1(lab: Any, packet: str) -> None:
    a = lab.caller()
    a.tell(PACKETS[packet])
    assert "".join(a.take()) == P1[packet]
    assert not lab.opening
    assert not a.closed
    # A Clear that the router sent is confirmed; then a Call works.
    if P1[packet] and packet != "clear":
        a.tell("100117")
    a.tell(CALL)
    assert len(lab.opening) == 1


P2 = {
    **dict.fromkeys(SILENT, NOTHING),
    **dict.fromkeys(("undefined", "pvc setup"), clear_both(33)),
    **dict.fromkeys(("call", "accept", "clear confirmation", *IN_TRANSFER), clear_both(21)),
    "clear": (["100117"], ["1001130007"]),
}


@pytest.mark.parametrize("packet", P2)
def test_p2(lab: Any, packet: str) -> None:
    a = lab.caller()
    a.tell(CALL)
    lab.open()
    check(a, lab.called[0], packet, P2[packet])


P3 = {
    **dict.fromkeys(SILENT, NOTHING),
    **dict.fromkeys(("undefined", "pvc setup"), clear_both(33)),
    **dict.fromkeys(("call", "clear confirmation", *IN_TRANSFER), clear_both(22)),
    "accept": ([], ["10010f00064207074302 02".replace(" ", "")]),
}


@pytest.mark.parametrize("packet", P3)
def test_p3(lab: Any, packet: str) -> None:
    a = lab.caller()
    a.tell(CALL)
    lab.open()
    check(lab.called[0], a, packet, P3[packet])


P4 = {
    **dict.fromkeys(SILENT, NOTHING),
    **dict.fromkeys(("undefined", "pvc setup"), reset_both(33)),
    **dict.fromkeys(("call", "accept", "clear confirmation"), clear_both(23)),
    "interrupt confirmation": reset_both(43),
    "reset confirmation": reset_both(27),
    "interrupt": ([], ["10012301"]),
}


@pytest.mark.parametrize("packet", P4)
@pytest.mark.parametrize("side", ["near", "far"])
def test_p4_d1(lab: Any, packet: str, side: str) -> None:
    a, b = lab.call(CALL)
    check(*((a, b) if side == "near" else (b, a)), packet, P4[packet])


def test_p4_clear_by_either_side(lab: Any) -> None:
    a, b = lab.call(CALL)
    check(a, b, "clear", (["100117"], ["1001130007"]))
    b.tell("100117")
    a, b = lab.call(CALL)
    b.tell("1001138007")
    assert a.take() == ["1001138007"]
    assert b.take() == ["100117"]
    # The connection that the router opened is closed with its call.
    assert b.closed


P7 = [name for name in PACKETS if name not in ("clear", "clear confirmation")]


@pytest.mark.parametrize("packet", P7)
def test_p7(lab: Any, packet: str) -> None:
    a, b = lab.call(CALL)
    a.tell(PACKETS["call"])
    check(a, b, packet, NOTHING)


@pytest.mark.parametrize("packet", ["clear", "clear confirmation"])
def test_p7_ends(lab: Any, packet: str) -> None:
    a, b = lab.call(CALL)
    a.tell(PACKETS["call"])
    check(a, b, packet, NOTHING)
    b.tell(PACKETS[packet])
    assert not lab.router.circuits
    a.tell(CALL)
    assert len(lab.opening) == 1


@pytest.mark.parametrize("packet", [*IN_TRANSFER[:5], "undefined", "pvc setup", *SILENT])
def test_d3(lab: Any, packet: str) -> None:
    a, b = lab.call(CALL)
    a.tell("10010441")
    check(a, b, packet, NOTHING)


@pytest.mark.parametrize("packet", ["reset", "reset confirmation"])
def test_d3_ends(lab: Any, packet: str) -> None:
    a, b = lab.call(CALL)
    a.tell("10010441")
    check(a, b, packet, NOTHING)
    b.take()
    b.tell("10011f")
    a.tell("10010055")
    assert b.take() == ["10010055"]


D2 = {
    **dict.fromkeys(SILENT, NOTHING),
    **dict.fromkeys((*IN_TRANSFER[:5], "reset confirmation"), (["10011b051c"], [])),
    **dict.fromkeys(("undefined", "pvc setup"), (["10011b0521"], [])),
    "reset": NOTHING,
}


@pytest.mark.parametrize("packet", D2)
def test_d2(make_lab: Any, packet: str) -> None:
    """The end-to-end model keeps d2 until the other end has confirmed."""
    a, b = make_lab("end-to-end").call(CALL)
    a.tell("10011b0007")
    check(a, b, packet, D2[packet])


def test_reset_is_confirmed_by_the_other_end(make_lab: Any) -> None:
    a, b = make_lab("end-to-end").call(CALL)
    a.tell("10011b8007")
    assert (a.take(), b.take()) == ([], ["10011b8007"])
    b.tell("10011f")
    assert (a.take(), b.take()) == (["10011f"], [])


def test_local_reset_holds_new_data_until_the_other_end_has_confirmed(make_lab: Any) -> None:
    a, b = make_lab("local").call(CALL)
    a.tell("10010041", "10011b0007")
    assert a.take() == ["100121", "10011f"]
    assert b.take() == ["10010041", "10011b0007"]
    a.tell("10010055", "10012301")
    assert b.take() == []
    b.tell("10010277", "10011f")
    assert b.take() == ["10012301", "10010055"]
    assert a.take() == ["100121"]


@pytest.mark.parametrize("first", ["a", "b"])
def test_reset_collision(lab: Any, first: str) -> None:
    a, b = lab.call(CALL)
    one, two = (a, b) if first == "a" else (b, a)
    one.tell("10011b0007")
    two.tell("10011b0008")
    # Each side sees one Reset or one Confirmation.
    assert (one.take(), two.take()) == (["10011f"], ["10011b0007"])
    a.tell("10010041")
    b.tell("10010042")
    assert b.take()[-1] in ("10010041", "10012041", "100121")
    assert not any("1b" in packet[4:6] for packet in (*a.take(), *b.take()))


def test_clear_collision_frees_both(lab: Any) -> None:
    a, b = lab.call(CALL)
    a.tell("1001130001")
    b.tell("1001130002")
    assert (a.take(), b.take()) == (["100117"], ["1001130001"])
    assert not lab.router.circuits


def test_clear_wins_over_a_reset(lab: Any) -> None:
    a, b = lab.call(CALL)
    a.tell("10011b0007")
    a.take()
    a.tell("1001130009")
    b.tell("10011f", "100117")
    assert a.take() == ["100117"]
    assert b.take() == ["10011b0007", "1001130009"]


# Interrupts (table of X.25 4.3.7) --------------------------------------------------------------


def test_interrupt_is_confirmed_by_the_other_end(lab: Any) -> None:
    a, b = lab.call(CALL)
    a.tell("100123" + "ab" * 32)
    assert (a.take(), b.take()) == ([], ["100123" + "ab" * 32])
    b.tell("10012302")
    assert (a.take(), b.take()) == (["10012302"], [])
    b.tell("100127")
    a.tell("100127")
    assert (a.take(), b.take()) == (["100127"], ["100127"])


@pytest.mark.parametrize("before", [[], ["a"], ["b"], ["a", "b"]])
@pytest.mark.parametrize(
    ("packet", "diagnostic"),
    [("100123", 38), ("100123" + "00" * 33, 39), ("1001270 0".replace(" ", ""), 39)],
)
def test_interrupt_of_a_wrong_length(
    lab: Any, before: list[str], packet: str, diagnostic: int
) -> None:
    a, b = lab.call(CALL)
    for side in before:
        (a if side == "a" else b).tell("10012301")
    a.take()
    b.take()
    a.tell(packet)
    assert (a.take(), b.take()) == reset_both(diagnostic)


def test_second_interrupt_and_spare_confirmation(lab: Any) -> None:
    a, b = lab.call(CALL)
    a.tell("10012301", "10012302")
    assert (a.take(), b.take()[1:]) == reset_both(44)
    a.tell("10011f")
    b.tell("10011f")
    # The reset has ended the interrupt.
    a.tell("10012303")
    assert b.take() == ["10012303"]
    b.tell("100127", "100127")
    assert b.take() == reset_both(43)[0]
    assert a.take() == ["100127", reset_both(43)[1][0]]


def test_interrupt_overtakes_blocked_data(make_lab: Any) -> None:
    a, b = make_lab("local", {"window": 2}).call(CALL[:-4] + "0707")
    a.tell(*(f"1001{2 * number:02x}41" for number in range(4)), "10012301")
    assert b.take() == ["10010041", "10010241", "10012301"]


# Flow control (table of X.25 4.4.1) -----------------------------------------------------------


@pytest.mark.parametrize(
    ("packets", "diagnostic"),
    [
        (["10010241"], 1),
        (["10010041", "10010041"], 1),
        (["10010041", "10010441"], 1),
        (["1001a041"], 2),
        (["1001a1"], 2),
        (["1001a5"], 2),
        (["10010041", "100121"], 2),
        (["10010100"], 39),
        (["10010500"], 39),
        (["100100" + "41" * 129], 39),
        (["100110" + "41" * 128, "90010241"], 83),
        (["10011b"], 38),
        (["10011b000000"], 39),
    ],
)
@pytest.mark.parametrize("side", ["near", "far"])
def test_data_and_flow_errors(lab: Any, packets: list[str], diagnostic: int, side: str) -> None:
    ends = lab.call(CALL)
    one, two = ends if side == "near" else ends[::-1]
    one.tell(*packets[:-1])
    one.take()
    two.take()
    one.tell(packets[-1])
    assert (one.take(), two.take()) == reset_both(diagnostic)


def test_window_that_is_not_open(make_lab: Any) -> None:
    """End to end: B acknowledges nothing, so A may send two packets."""
    a, b = make_lab("end-to-end").call(CALL)
    a.tell("10010041", "10010241", "10010441")
    assert a.take() == ["10011b0501"]
    assert b.take()[2:] == ["10011b0301"]


def test_window_that_is_not_open_because_the_router_has_not_acknowledged(make_lab: Any) -> None:
    """Local: B's window of 1 holds A's second packet, so A's window of 2 stays closed."""
    a, _ = make_lab("local", {"window": 1}).call(CALL)
    a.tell("10010041", "10010241")
    assert a.take() == ["100121"]
    a.tell("10010441")
    assert a.take() == []
    a.tell("10010641")
    assert a.take() == ["10011b0501"]


def test_repeated_p_r_is_legal(lab: Any) -> None:
    a, b = lab.call(CALL)
    a.tell(*["100101"] * 10)
    assert a.take() == []
    assert not any(packet[4:6] == "1b" for packet in b.take())


def test_p_r_that_runs_back(lab: Any) -> None:
    a, b = lab.call(CALL[:-4] + "0707")
    b.tell(*(f"1001{2 * number:02x}41" for number in range(4)))
    a.take()
    a.tell("100181")
    b.take()
    a.tell("100141")
    assert a.take() == ["10011b0502"]
    assert b.take() == ["10011b0302"]


def test_rnr_holds_the_local_model_and_passes_end_to_end(make_lab: Any) -> None:
    a, b = make_lab("local").call(CALL)
    b.tell("100105")
    a.tell("10010041")
    assert b.take() == []
    b.tell("100101")
    assert b.take() == ["10010041"]
    a, b = make_lab("end-to-end").call(CALL)
    b.tell("100105")
    assert a.take() == ["100105"]


# Timers (X.25 Table D-1) ----------------------------------------------------------------------


def test_t11(lab: Any) -> None:
    a = lab.caller()
    a.tell(CALL)
    lab.open()
    b = lab.called[0]
    b.take()
    lab.timers.advance(179.9)
    assert (a.take(), b.take()) == ([], [])
    lab.timers.advance(0.2)
    assert (b.take(), a.take()) == clear_both(49)
    b.tell("10010f")
    assert a.take() == []


def test_without_t11_t21_ends_the_call(make_lab: Any) -> None:
    lab = make_lab(timers={"t11": 0, "t21": 20})
    a = lab.caller()
    a.tell(CALL)
    lab.open()
    lab.called[0].take()
    lab.timers.advance(21)
    assert a.take() == ["1001130531"]
    assert lab.called[0].take() == ["1001130531"]


def test_t12(lab: Any) -> None:
    a, b = lab.call(CALL)
    a.tell("10010441")
    b.tell("10011f")
    a.take()
    b.take()
    lab.timers.advance(60.1)
    assert (a.take(), b.take()) == (["10011b0533"], [])
    lab.timers.advance(60)
    assert (a.take(), b.take()) == clear_both(51)


def test_t13(lab: Any) -> None:
    a, b = lab.call(CALL)
    a.tell(CALL)
    b.tell("100117")
    a.take()
    lab.timers.advance(60.1)
    assert a.take() == ["1001131332"]
    lab.timers.advance(60)
    assert a.take() == []
    assert a.closed
    assert not lab.router.circuits


def test_no_timer_is_left_after_a_call(lab: Any) -> None:
    a, b = lab.call(CALL)
    a.tell("10011b0000")
    b.tell("10011f")
    a.tell("1001130000")
    b.tell("100117")
    lab.timers.advance(0)
    assert not [one for one in lab.timers.running if one.expired is not None]


# Ends of connections (RFC 1613 6.1) -----------------------------------------------------------


@pytest.mark.parametrize("reset", [False, True])
@pytest.mark.parametrize("side", ["near", "far"])
def test_loss_of_a_side(lab: Any, reset: bool, side: str) -> None:
    ends = lab.call(CALL)
    one, two = ends if side == "near" else ends[::-1]
    one.hang_up(reset)
    assert two.take() == ["1001130900"]
    assert one.closed
    two.tell("100117")
    assert not lab.router.circuits


def test_loss_while_clearing_counts_as_confirmation(lab: Any) -> None:
    a, b = lab.call(CALL)
    a.tell("1001130007")
    b.hang_up()
    assert b.take() == ["1001130007"]
    assert not lab.router.circuits


def test_call_withdrawn_while_the_connection_is_being_opened(lab: Any) -> None:
    a = lab.caller()
    a.tell(CALL, "1001130007")
    assert a.take() == ["100117"]
    assert not lab.opening
    assert not lab.router.circuits


def test_any_lcn_belongs_to_the_call_of_its_connection(lab: Any) -> None:
    a, b = lab.call(CALL, "104d0f")
    b.tell("104d0041")
    assert a.take()[-1] == "10010041"
    a.tell("1fff2042")
    assert b.take()[-1] == "10012042"


def test_framing_error_in_a_call(lab: Any) -> None:
    a, b = lab.call(CALL)
    a.raw("0001000510010041ff")
    assert a.closed
    assert b.take() == ["1001130900"]
