# SPDX-License-Identifier: GPL-2.0-or-later
"""Call set-up of the reference router: addresses, facilities, negotiation, routes, fast select."""

from typing import Any

import pytest

PAIR = "420707430202"


def call(
    called: str = "2100001",
    calling: str = "31",
    facilities: str = PAIR,
    user_data: str = "",
    header: str = "1001",
) -> str:
    """A Call Request."""
    digits = called + calling
    return (
        f"{header}0b{len(calling):x}{len(called):x}{digits}{'0' * (len(digits) % 2)}"
        f"{len(facilities) // 2:02x}{facilities}{user_data}"
    )


def accept(facilities: str = "", user_data: str = "") -> str:
    return f"10010f00{len(facilities) // 2:02x}{facilities}{user_data}"


@pytest.fixture(params=["local", "end-to-end"])
def model(request: Any) -> str:
    return str(request.param)


@pytest.fixture
def lab(make_lab: Any, model: str) -> Any:
    return make_lab(model)


def refused(lab: Any, packet: str) -> str:
    """Cause and diagnostic of a refusal; no connection may have been opened."""
    a = lab.caller()
    a.tell(packet)
    assert not lab.opening
    (answer,) = a.take()
    assert answer[4:6] == "13"
    return str(answer[6:])


@pytest.mark.parametrize("called", ["2", "21", "210", "210000100000001"])
@pytest.mark.parametrize("calling", ["", "3", "31", "310000100000001"])
def test_addresses_pass(make_lab: Any, model: str, called: str, calling: str) -> None:
    lab = make_lab(model, routes=[{"prefix": "2", "to": "127.0.25.4:1998"}])
    packet = call(called, calling, user_data="c0")
    lab.call(packet)
    assert lab.offered == packet


@pytest.mark.parametrize(
    ("packet", "expected"),
    [
        ("10010b00", "1326"),
        ("10010b0721", "1326"),
        ("10010bff210000", "1326"),
        ("10010b0721000010", "1326"),
        (call("21000a1"), "1343"),
        (call("2100001", "3b"), "1344"),
        (call("99"), "0d43"),
        (call(""), "0d43"),
        (call("2"), "0d43"),
        (call(facilities="00" * 110), "1345"),
        ("10010b02210a42", "1345"),
        ("10010b0221024207", "1345"),
        (call(facilities="c932" + "00" * 8), "1345"),
        (call(facilities="c9"), "1345"),
        (call(facilities="ff"), "1345"),
        (call(facilities="3e01" + PAIR), "0341"),
        (call(facilities="7e0101" + PAIR), "0341"),
        (call(facilities="be010101" + PAIR), "0341"),
        (call(facilities="fe050101010101" + PAIR), "0341"),
        (call(facilities="ff4201" + "01" + PAIR), "0341"),
        (call(facilities=PAIR + "420707"), "1349"),
        (call(facilities="420307"), "0342"),
        (call(facilities="42070d"), "0342"),
        (call(facilities="421707"), "0342"),
        (call(facilities="430002"), "0342"),
        (call(facilities="430208"), "0342"),
        (call(facilities="430282"), "0342"),
        (call(facilities="031a"), "0342"),
        (call(user_data="00" * 17), "1327"),
        (call(facilities="0140", user_data="00" * 17), "1327"),
        (call(facilities="0180", user_data="00" * 129), "1327"),
        (call(facilities="000f" + "0b01" * 53, user_data=""), "1345"),
        ("90010b0402210031" + "00", "132e"),
    ],
)
def test_refused(lab: Any, packet: str, expected: str) -> None:
    assert refused(lab, packet) == expected


def test_clear_of_a_refusal_has_the_lcn_of_the_call(lab: Any) -> None:
    a = lab.caller()
    a.tell(call("99", header="1fff"))
    assert a.take() == ["1fff130d43"]


def test_facilities_are_added_and_returned(lab: Any) -> None:
    lab.call(call(facilities=""))
    assert lab.offered == call()
    assert lab.answer == [accept(PAIR)]


def test_order_and_other_facilities_stay(lab: Any) -> None:
    facilities = "430303" + "02bb" + "0312" + "420909" + "490064" + "000fc90221000b01"
    lab.call(call(facilities=facilities))
    assert lab.offered == call(facilities=facilities)


def test_dte_facilities_fill_the_field(lab: Any) -> None:
    facilities = PAIR + "000f" + "c95f" + "00" * 95 + "0b01" + "0a00"
    assert len(facilities) // 2 == 109
    lab.call(call(facilities=facilities), accept(facilities))
    assert lab.offered == call(facilities=facilities)
    assert lab.answer == [accept(facilities)]


def test_octets_behind_a_local_marker_are_no_packet_size(lab: Any) -> None:
    facilities = PAIR + "0000420c0c"
    lab.call(call(facilities=facilities))
    assert lab.offered == call(facilities=facilities)


@pytest.mark.parametrize(
    ("asked", "answered", "expected"),
    [
        ("420a0a430707", "420808430303", "420808430303"),
        ("420a0a430707", "", "420a0a430707"),
        ("420909430404", "420808", "420808430404"),
        ("420909430404", "430303", "430303420909"),
        ("420a07430701", "420807430301", "420807430301"),
        ("420606430101", "420707430202", "420707430202"),
        ("420606430101", "", "420606430101"),
    ],
)
def test_negotiation(lab: Any, asked: str, answered: str, expected: str) -> None:
    lab.call(call(facilities=asked), accept(answered))
    assert lab.offered == call(facilities=asked)
    assert lab.answer == [accept(expected)]


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("420808", "420909"),
        ("420808", "420606"),
        ("430303", "430707"),
        ("430303", "430101"),
        ("420606", "420808"),
        ("420606", "420505"),
        ("420808", "420708430003"),
        ("02aa" + PAIR, "02bb"),
        ("02aa" + PAIR, "029b"),
    ],
)
def test_answers_that_are_not_allowed(lab: Any, asked: str, answered: str) -> None:
    a = lab.caller()
    a.tell(call(facilities=asked))
    lab.open()
    b = lab.called[0]
    b.take()
    b.tell(accept(answered))
    assert b.take()[0][4:10] in ("131342", "130342")
    assert a.take() == ["1001131142"]


def test_sizes_and_windows_keep_their_direction(lab: Any) -> None:
    """Octet 1 is the direction from the called DTE, octet 2 from the calling DTE."""
    a, b = lab.call(call(facilities="420a07430701"))
    b.tell("100100" + "42" * 1024)
    assert a.take()[-1] == "100100" + "42" * 1024
    a.tell("100120" + "41" * 129)
    assert a.take()[-1] == "10011b0527"
    a, b = lab.call(call(facilities="42070a430107"))
    a.tell("100100" + "42" * 1024)
    assert b.take()[-1][6:] == "42" * 1024
    b.tell("100200" + "41" * 129)
    assert b.take()[-1] == "10021b0527"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("10010f40", "131326"),
        ("10010f000642", "131345"),
        ("10010f00023e01", "130341"),
        ("10010f0006420707420707", "131349"),
        ("10010f0000ab", "131327"),
        ("10010f022a00", "131343"),
        ("90010f0000", "13132e"),
    ],
)
def test_bad_accepts(lab: Any, answer: str, expected: str) -> None:
    a = lab.caller()
    a.tell(call())
    lab.open()
    b = lab.called[0]
    b.take()
    b.tell(answer)
    assert b.take() == ["1001" + expected]
    assert a.take() == ["10011311" + expected[-2:]]


def test_addresses_and_modified_called_line_of_an_accept_pass(lab: Any) -> None:
    lab.call(call(), "10010f0721000010" + "08" + "0801" + PAIR)
    assert lab.answer == ["10010f0721000010" + "08" + "0801" + PAIR]


# Fast select ----------------------------------------------------------------------------------


def test_fast_select_data_passes_in_all_packets(lab: Any) -> None:
    a, b = lab.call(call(facilities="0181" + PAIR, user_data="ab" * 128), accept("", "cd" * 128))
    assert lab.offered == call(facilities="0181" + PAIR, user_data="ab" * 128)
    assert lab.answer == [accept(PAIR, "cd" * 128)]
    a.tell("10011300070000" + "ef" * 128)
    assert b.take() == ["10011300070000" + "ef" * 128]


def test_fast_select_refused_with_data(lab: Any) -> None:
    a = lab.caller()
    a.tell(call(facilities="01c0" + PAIR))
    lab.open()
    lab.called[0].tell("10011300070000" + "ef" * 128)
    assert a.take() == ["10011300070000" + "ef" * 128]


def test_restricted_fast_select_is_enforced(lab: Any) -> None:
    a = lab.caller()
    a.tell(call(facilities="01c0" + PAIR))
    lab.open()
    b = lab.called[0]
    b.take()
    b.tell("10010f")
    assert (b.take(), a.take()) == (["100113132a"], ["100113112a"])


@pytest.mark.parametrize(
    ("clear", "expected"),
    [
        ("10011300", "1001130000"),
        ("1001138007", "1001138007"),
        ("10011300070000ab", None),
        ("1001130007ab", None),
        ("10011300070000", None),
        ("10011300070002" + "0801", "10011300070002" + "0801"),
    ],
)
def test_clear_formats_without_fast_select(lab: Any, clear: str, expected: str | None) -> None:
    a, b = lab.call(call())
    a.tell(clear)
    if expected is None:
        assert (a.take(), b.take()) == (["1001131327"], ["1001131127"])
    else:
        assert (a.take(), b.take()) == (["100117"], [expected])


def test_clear_without_cause(lab: Any) -> None:
    a, b = lab.call(call())
    a.tell("100113")
    assert (a.take(), b.take()) == (["1001131326"], ["1001131126"])


@pytest.mark.parametrize("cause", [0x00, 0x01, 0x05, 0x09, 0x13, 0x39, 0x80, 0xC1, 0xFF])
def test_causes_pass_both_ways(lab: Any, cause: int) -> None:
    a, b = lab.call(call())
    a.tell(f"100113{cause:02x}f1")
    assert b.take() == [f"100113{cause:02x}f1"]
    b.tell("100117")
    a, b = lab.call(call())
    b.tell(f"100113{cause:02x}f2")
    assert a.take() == [f"100113{cause:02x}f2"]


# Routes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "called", "port"),
    [
        ("longest", "21", 1998),
        ("longest", "2134", 1998),
        ("longest", "21355", 1),
        ("longest", "213557", 2),
        ("first", "213557", 1998),
    ],
)
def test_route_rule(make_lab: Any, rule: str, called: str, port: int) -> None:
    more = [
        {"prefix": "2135", "to": "127.0.25.4:1"},
        {"prefix": "213557", "to": "127.0.25.4:2"},
    ]
    lab = make_lab(route_rule=rule, routes=more)
    lab.call(call(called))
    assert vars(lab.called[0])["port"] == port


@pytest.mark.parametrize(
    ("options", "facilities", "expected"),
    [
        ({"barred": True}, PAIR, "0b46"),
        ({"fast_select_acceptance": False}, "0180", "2900"),
        ({"reverse_charging_acceptance": False}, "0101", "1900"),
    ],
)
def test_destination_does_not_take_the_call(
    make_lab: Any, options: dict[str, Any], facilities: str, expected: str
) -> None:
    assert refused(make_lab(route=options), call(facilities=facilities)) == expected


def test_alternates(make_lab: Any) -> None:
    lab = make_lab(route={"alternates": ["127.0.25.4:1999"]})
    a = lab.caller()
    a.tell(call())
    lab.open(succeed=False)
    lab.open()
    assert vars(lab.called[0])["port"] == 1999
    assert a.take() == []
    a = lab.caller()
    a.tell(call())
    lab.open(succeed=False)
    lab.open(succeed=False)
    assert a.take() == ["1001130900"]


@pytest.mark.parametrize("relay", ["local", "end-to-end", "splice"])
@pytest.mark.parametrize("called", ["2100001", "210000"])
@pytest.mark.parametrize("calling", ["", "3", "31"])
def test_rewriting(make_lab: Any, relay: str, called: str, calling: str) -> None:
    options = {"rewrite": {"strip": 2, "add": "215"}, "insert_calling": "77"}
    lab = make_lab(relay, options)
    lab.call(call(called, calling, user_data="0102"))
    assert lab.offered == call("215" + called[2:], calling or "77", user_data="0102")


def test_address_that_rewriting_makes_too_long(make_lab: Any) -> None:
    lab = make_lab(route={"rewrite": {"add": "99999"}})
    assert refused(lab, call("21000010000")) == "0d43"


def test_max_calls(make_lab: Any) -> None:
    lab = make_lab(max_calls=1)
    a, b = lab.call(call())
    assert refused(lab, call()) == "0547"
    a.tell("1001130000")
    b.tell("100117")
    lab.call(call())


def test_logical_channels_on_the_far_side_are_the_lowest_free_ones(make_lab: Any) -> None:
    lab = make_lab()
    ends = [lab.call(call()) for _ in range(3)]
    assert [b.connection.channel.lcn for _, b in ends] == [1, 2, 3]
    ends[1][0].tell("1001130000")
    ends[1][1].tell("100217")
    _, b = lab.call(call())
    assert b.connection.channel.lcn == 2


# Modulo 128, D bit ----------------------------------------------------------------------------


def test_modulo_128(lab: Any) -> None:
    a, b = lab.call(call(facilities="420707437f7f", header="2001"))
    assert lab.offered[:2] == "20"
    assert lab.answer[0][:2] == "20"
    for number in range(300):
        n, k = number % 128, (number + 1) % 128
        a.tell(f"2001{2 * n:02x}0041")
        assert b.take()[-1] == f"2001{2 * n:02x}0041"
        b.tell(f"200101{2 * k:02x}")
        assert a.take()[-1] == f"200101{2 * k:02x}"
    a.tell("200101")
    assert a.take() == ["20011b0526"]


def test_modulo_128_not_supported_is_not_taken_for_modulo_8(make_lab: Any) -> None:
    lab = make_lab(modulo128=False)
    a = lab.caller()
    a.tell(call(header="2001"))
    assert a.take() == []
    assert not lab.opening
    a.tell(call())
    assert lab.opening


def test_mixed_modulo(make_lab: Any) -> None:
    lab = make_lab("local", {"modulo8_only": True, "independent": False})
    a, b = lab.call(call(facilities="420707431414", header="2001"))
    assert lab.offered == call(facilities="420707430707")
    assert lab.answer == ["20010f0006420707430707"]
    for number in range(20):
        a.tell(f"2001{2 * number:02x}0141")
        # A part-filled packet with M = 1 and D = 0 counts as M = 0.
        assert b.take()[-1] == f"1001{number % 8 * 2:02x}41"
        b.tell(f"1001{(number + 1) % 8 << 5 | 1:02x}")
        assert a.take()[-1] == f"200101{2 * (number + 1):02x}"


def test_d_bit_of_call_packets_passes(lab: Any) -> None:
    lab.call(call(header="5001"), "50010f")
    assert lab.offered[:2] == "50"
    assert lab.answer[0][:2] == "50"


def test_without_d_bit_support(make_lab: Any) -> None:
    lab = make_lab(dbit=False)
    assert refused(lab, call(header="5001")) == "13a6"
    a, _ = lab.call(call())
    a.tell("50010041")
    assert a.take() == ["10011b05a6"]


def test_a_bit_with_support(make_lab: Any) -> None:
    lab = make_lab(toa=True)
    packet = "90010b" + "0904" + "132100001" + "1331" + "0" + "06" + PAIR
    lab.call(packet)
    assert lab.offered == packet


# Splice ---------------------------------------------------------------------------------------


def test_splice_passes_octets_unchanged(make_lab: Any) -> None:
    lab = make_lab("splice")
    packet = call(facilities="3e01" + "420c0c", user_data="00" * 40, header="1abc")
    a, b = lab.call(packet, "1abc0f00033e0142")
    assert lab.offered == packet
    assert lab.answer == ["1abc0f00033e0142"]
    for one, two in ((a, b), (b, a)):
        for octets in ("1abce041", "1fff2b", "1abc23", "1abc27", "1abc1b", "30010041", "1abc0f"):
            one.tell(octets)
            assert two.take() == [octets]


def test_splice_drops_packets_of_local_significance(make_lab: Any) -> None:
    a, b = make_lab("splice").call(call())
    a.tell("1000fb0000", "1000ff", "1000f12400", "1000f30000", "100109", "10010041")
    assert b.take() == ["10010041"]


def test_splice_confirms_end_to_end_and_after_t13(make_lab: Any) -> None:
    lab = make_lab("splice")
    a, b = lab.call(call())
    a.tell("10011300f1", "10010041")
    assert b.take() == ["10011300f1"]
    b.tell("100117")
    assert a.take()[-1] in ("100117", "1001131319")
    a, b = lab.call(call())
    a.tell("10011300f1")
    lab.timers.advance(60.1)
    lab.timers.advance(60)
    assert a.take() == ["100117"]


def test_splice_holds_a_side_that_is_too_fast(make_lab: Any) -> None:
    a, b = make_lab("splice").call(call())
    b.congested = True
    a.tell("10010041")
    assert a.paused
    b.congested = False
    b.connection.drained()
    assert not a.paused
    # A side that is held is read again when the call ends: it has to confirm.
    b.congested = True
    a.tell("10010041")
    b.hang_up()
    assert not a.paused
    assert a.take() == ["1001130900"]


# Terminals ------------------------------------------------------------------------------------


def test_source_and_sink(make_lab: Any) -> None:
    lab = make_lab()
    a = lab.caller()
    a.tell(call("1113"))
    packets = a.take()
    pattern = bytes(range(128)).hex()
    assert packets[1] == "100100" + pattern
    assert len(packets) == 3
    a.tell("100121")
    assert len(a.take()) == 1
    a = lab.caller()
    a.tell(call("1112"), "10010041")
    assert a.take()[1:] == ["100121"]


def test_echo_interrupts_and_resets(make_lab: Any) -> None:
    lab = make_lab()
    a = lab.caller()
    a.tell(call("1111"))
    a.take()
    a.tell("100123aa")
    assert a.take() == ["100127", "100123aa"]
    a.tell("100123bb")
    assert a.take() == []
    a.tell("100127")
    assert a.take() == ["100127", "100123bb"]
    a.tell("10010041", "10011b0007")
    assert a.take() == ["10012041", "10011f"]
    a.tell("10010042")
    assert a.take() == ["10012042"]
    a.tell("10010441")
    assert a.take() == ["10011b0501"]


def test_echo_refuses_restricted_fast_select_with_the_data(make_lab: Any) -> None:
    lab = make_lab()
    a = lab.caller()
    a.tell(call("1111", facilities="01c0", user_data="abcd"))
    assert a.take() == ["10011300000000abcd"]


# connections that are kept for the next call (RFC 1613 5)


def cleared_by_a(lab: Any) -> Any:
    """A call, cleared by A; its connection to B."""
    a, b = lab.call(call())
    a.tell("1001130000")
    b.tell("100117")
    b.take()
    return b


@pytest.mark.parametrize("model", ["local", "end-to-end", "splice"])
def test_a_connection_is_kept(make_lab: Any, model: str) -> None:
    lab = make_lab(model, keep_connections=True)
    b = cleared_by_a(lab)
    assert not b.closed
    second = lab.caller()
    second.tell(call(calling="32"))
    assert not lab.opening
    assert b.take() == [call(calling="32")]
    b.tell("10010f")
    second.take()
    second.tell("10010041")
    assert b.take()[0].endswith("41")


def test_without_the_option_it_is_closed(make_lab: Any) -> None:
    assert cleared_by_a(make_lab("local")).closed


def test_a_connection_with_a_call_is_not_kept(make_lab: Any) -> None:
    lab = make_lab("local", keep_connections=True)
    lab.call(call())
    lab.caller().tell(call(calling="32"))
    assert lab.opening


def test_what_the_peer_closed_is_not_kept(make_lab: Any) -> None:
    lab = make_lab("local", keep_connections=True)
    cleared_by_a(lab).hang_up()
    lab.caller().tell(call(calling="32"))
    assert lab.opening


def test_an_unconfirmed_clear_ends_the_connection(make_lab: Any) -> None:
    lab = make_lab("local", keep_connections=True)
    a, b = lab.call(call())
    a.tell("1001130000")
    lab.timers.advance(130)
    assert b.closed
    lab.caller().tell(call(calling="32"))
    assert lab.opening


def test_a_kept_connection_is_closed_in_the_end(make_lab: Any) -> None:
    lab = make_lab("local", keep_connections=True, empty=9)
    b = cleared_by_a(lab)
    lab.timers.advance(10)
    assert b.closed
    lab.caller().tell(call(calling="32"))
    assert lab.opening
