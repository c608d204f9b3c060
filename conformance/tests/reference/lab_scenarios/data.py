# SPDX-License-Identifier: GPL-2.0-or-later
"""Data transfer: numbers, windows, lengths, the M, D and Q bits, packets split and joined."""

from typing import Any

from .common import FULL, PLAIN, WIDE, scenario


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
def large(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, _ = lab.call("10010b77210000131000010 6420b0b430202".replace(" ", ""))
    a.tell("100100" + "55" * 2048)
    return lab


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
def back_pressure(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call(WIDE)
    b.congested = True
    for n in range(9):
        a.tell(f"1001{n % 8 * 2:02x}{n:02x}")
    return lab


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
def modulo_128_throughout(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call("20010b772100001310000106420707431414")
    a.tell("20012341")
    b.tell("200127")
    a.tell("20011b0000")
    b.tell("20011f")
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
def half_a_sequence_of_the_called_side(make_lab: Any, model: str) -> Any:
    lab = make_lab(model, {"independent": True, "packet_size": 128} if model == "local" else None)
    a, b = lab.call("10010b772100001310000106420909430202")
    b.tell("100110" + FULL)
    a.tell("10011b0000")
    b.tell("10011f", "10010042")
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
def answers_of_modulo_128(make_lab: Any, model: str) -> Any:
    """With smaller values than were offered, and with a facility of DTEs."""
    labs = [make_lab(model), make_lab(model)]
    for lab, answer in zip(labs, ("06420707430303", "0c420707430707000fd2020605"), strict=True):
        lab.call("20010b772100001310000106420808430707", "20010f00" + answer)
    return labs


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
def m_beside_every_number(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    a, b = lab.call("20010b772100001310000106420707437f7f")
    for n in range(130):
        a.tell(f"2001{2 * n % 256:02x}01" + FULL)
        b.tell(f"200101{2 * (n + 1) % 256:02x}")
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
def window_0_of_modulo_128(make_lab: Any, model: str) -> Any:
    lab = make_lab(model)
    lab.caller().tell("20010b772100001310000106420707430002")
    return lab


@scenario
def d_behind_what_waits(make_lab: Any, model: str) -> Any:
    """Where B has the larger size: a full packet with M=1, the rest with D=1."""
    lab = make_lab(model, {"packet_size": 512} if model == "local" else None)
    a, _ = lab.call(PLAIN)
    a.tell("100110" + FULL, "50010242")
    return lab


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
def beyond_a_window_that_wraps(make_lab: Any, model: str) -> Any:
    """D=1 keeps it shut behind seven Data that are acknowledged."""
    lab = make_lab(model)
    a, b = lab.call(PLAIN)
    for n in range(7):
        a.tell(f"1001{2 * n:02x}41")
        b.tell(f"1001{(n + 1) % 8 << 5 | 1:02x}")
    a.tell("50010e41", "50010041", "50010241")
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
def packets_at_a_border_of_their_length(make_lab: Any, model: str) -> Any:
    """Of 511 octets, from either side."""
    lab = make_lab(model)
    a, b = lab.call("10010b772100001310000106420909430202")
    a.tell("100100" + "41" * 508)
    b.tell("100120" + "42" * 508)
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
def d_beside_q(make_lab: Any, model: str) -> Any:
    """B has not acknowledged."""
    lab = make_lab(model)
    a, _ = lab.call(PLAIN)
    a.tell("d0010041")
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
def several_sequences(make_lab: Any, model: str) -> Any:
    """Packets with D=1 that are split, or joined, two at a time; the other direction and RR amid
    what waits to be joined, and a Clear behind it; in modulo 8 and in modulo 128."""
    if model != "local":
        return []
    labs = []
    large, small = "420909430707", "420707430707"
    for split in (True, False):
        of_a, of_b = (large, small) if split else (small, large)
        lab = make_lab(model, {"independent": True, "packet_size": 128 if split else 512})
        a, b = lab.call(f"10010b772100001310000106{of_a}", f"10010f0006{of_b}")
        if split:
            a.tell("500100" + FULL * 4, "500102" + FULL * 4)
            b.tell("100181", "1001e1", "100101")
        else:
            a.tell("100110" + FULL, "50010241", "100114" + FULL, "50010641")
            b.tell("100121", "100141")
        a.tell("100118" + FULL)
        b.tell("10014042")
        a.tell("10012a41", "10013c" + FULL, "1001130000", f"10010b772100001310000106{of_a}")
        lab.open()
        again = lab.called[-1]
        again.tell(f"10010f0006{of_b}")
        a.tell("10010043")
        labs.append(lab)
        lab = make_lab(model, {"independent": True, "packet_size": 128 if split else 512})
        a, b = lab.call(f"20010b772100001310000106{of_a}", f"20010f0006{of_b}")
        a.tell("a0010001" + FULL if not split else "a0010000" + FULL * 4)
        b.tell("20010100")
        a.tell("20010100", "a001020041")
        labs.append(lab)
    return labs


@scenario
def to_be_confirmed_before_an_error(make_lab: Any, model: str) -> Any:
    """Data with D=1 that nobody acknowledges, P(S) out of sequence, and Data behind the resets."""
    lab = make_lab(model)
    a, b = lab.call(WIDE)
    a.tell("50010041", "10010842")
    for peer in (a, b):
        peer.tell("10011f")
    a.tell("10010043", "10010244")
    b.tell("100121", "100141")
    return lab


@scenario
def few_data_and_busy_in_modulo_128(make_lab: Any, model: str) -> Any:
    """One Data in a window of 20, which is acknowledged by an RR of B or of the router; RNR behind
    it, and RR with the same P(R). All of it once more behind numbers of more than six bits. Then a
    REJ, and Data and RR amid a reset."""
    lab = make_lab(model)
    a, b = lab.call("20010b772100001310000106420707431414")
    for n in range(70):
        a.tell(f"2001{2 * n:02x}0041")
        p_r = f"{2 * (n + 1):02x}"
        b.tell("200101" + p_r)
        if n in (0, 69):
            b.tell("200105" + p_r, "200101" + p_r)
    a, b = lab.call("20010b772100001310000106420707430202")
    a.tell("2001000041", "2001020042", "2001040043")
    b.tell("2001090a", "20010902")
    a.tell("20011b0000", "2001060045", "20010106")
    b.tell("2001060045", "20011f")
    return lab
