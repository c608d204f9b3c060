# SPDX-License-Identifier: GPL-2.0-or-later
"""Permanent circuits of the reference router (RFC 1613 6.5), without sockets."""

from typing import Any

import pytest

#: The responder's end and, joined to it, the initiator's end towards B.
PVCS = [
    {"name": "Serial0", "lcn": 1, "remote_name": "Serial9", "remote_lcn": 5, "to": "Serial1/2"},
    {
        **{"name": "Serial1", "lcn": 2, "remote_name": "Serial8", "remote_lcn": 6},
        **{"to": "Serial0/1", "peer": "127.0.25.3:1998", "retry": 60},
    },
    {
        **{"name": "Serial2", "lcn": 3, "remote_name": "Serial9", "remote_lcn": 7, "to": "echo"},
        **{"window_in": 2, "window_out": 3, "packet_size_out": 256},
    },
]


def setup(
    responder: str = "Serial0", lcn: int = 1, own: int = 5, values: str = "02020707", **change: int
) -> str:
    """A PVC setup from Serial9."""
    status, version = change.get("status", 0), change.get("version", 0x81)
    return (
        f"1001f5{version:02x}{status:02x}07{own:04x}{len(responder):02x}{lcn:04x}{values}"
        + b"Serial9".hex()
        + responder.encode().hex()
    )


def status(lab_peer: Any) -> int:
    """Status of the setup that the router answered with."""
    packet = lab_peer.got[0]
    assert packet[4:8] == "f581"
    return int(packet[8:10], 16)


@pytest.fixture
def lab(make_lab: Any) -> Any:
    return make_lab(pvc=PVCS)


def test_responder_accepts_and_resets(lab: Any) -> None:
    a = lab.caller()
    a.tell(setup())
    assert a.got == [setup(), "10011b0100"]
    a.tell("10011f", "10010041")
    # The partner is not up: nobody takes the data.
    assert a.got[2:] == ["10011b0100"]


@pytest.mark.parametrize(
    ("packet", "expected"),
    [
        (setup("serial0"), 0x00),
        (setup("SERIAL0"), 0x00),
        (setup("Ethernet0"), 0x13),
        (setup(lcn=4), 0x16),
        (setup(own=6), 0x17),
        (setup(values="03020707"), 0x18),
        (setup(values="02020807"), 0x18),
        (setup(values="08080707"), 0x19),
        (setup(values="02020d07"), 0x19),
        (setup(version=0x80), 0x1A),
        (setup(status=0x12), 0x1A),
        (setup()[:-2], 0x1A),
        (setup() + "00", 0x1A),
        (setup()[:12], 0x1A),
        ("1001f58100ff0005ff000102020707", 0x1A),
        (setup("Serial2", 3, 7, "03020807"), 0x00),
        (setup("Serial2", 3, 7, "02030708"), 0x18),
    ],
)
def test_status(lab: Any, packet: str, expected: int) -> None:
    a = lab.caller()
    a.tell(packet)
    assert status(a) == expected
    assert a.closed == (expected != 0)


def test_values_of_the_router_are_in_a_refusal(lab: Any) -> None:
    a = lab.caller()
    a.tell(setup("Serial2", 3, 7, "02030708"))
    assert a.got[0][22:30] == "02030708"


def test_second_connection_is_refused(lab: Any) -> None:
    a, again = lab.caller(), lab.caller()
    a.tell(setup())
    again.tell(setup())
    assert status(again) == 0x17
    a.hang_up()
    third = lab.caller()
    third.tell(setup())
    assert status(third) == 0x00


def both_up(lab: Any) -> tuple[Any, Any]:
    lab.router.start()
    lab.open()
    b = lab.called[-1]
    b.tell(b.take()[0])
    assert b.take() == ["10021b0100"]
    b.tell("10021f")
    a = lab.caller()
    a.tell(setup(), "10011f")
    assert a.take()[1:] == ["10011b0900"]
    assert b.take() == ["10021b0900"]
    b.tell("10021f")
    return a, b


def test_initiator_sends_the_setup_without_padding(lab: Any) -> None:
    lab.router.start()
    lab.open()
    names = b"Serial1".hex() + b"Serial8".hex()
    assert lab.called[0].got == ["1002f58100" + "07000207000602020707" + names]


def test_initiator_waits_before_it_tries_again(lab: Any) -> None:
    lab.router.start()
    for attempt in range(3):
        lab.open()
        b = lab.called[-1]
        request = b.take()[0]
        b.tell(request[:8] + "14" + request[10:])
        assert b.closed
        lab.timers.advance(59)
        assert len(lab.called) == attempt + 1
        assert not lab.opening
        lab.timers.advance(2)
        assert lab.opening


def test_initiator_tries_again_after_a_refused_connection_or_a_close(lab: Any) -> None:
    lab.router.start()
    lab.open(succeed=False)
    lab.timers.advance(61)
    lab.open()
    lab.called[-1].hang_up()
    lab.timers.advance(61)
    assert lab.opening


def test_data_interrupt_and_reset_pass(lab: Any) -> None:
    a, b = both_up(lab)
    a.tell("10010041", "10012309")
    assert b.take() == ["10020041", "10022309"]
    b.tell("10022142".replace("21", "20", 1), "100227")
    assert a.take() == ["100121", "10012042", "100127"]
    a.tell("10011b0007")
    assert a.take() == ["10011f"]
    assert b.take() == ["100221", "10021b0007"]


def test_call_packets_do_not_pass(lab: Any) -> None:
    a, b = both_up(lab)
    for packet in ("10010b0000", "10010f", "1001130000", "100117"):
        a.tell(packet)
        assert a.take() == ["10011b0523"]
        assert b.take() == ["10021b0323"]
        a.tell("10011f")
        b.tell("10021f")
    a.tell("10010041")
    assert b.take() == ["10020041"]


def test_close_is_told_to_the_other_end(lab: Any) -> None:
    a, b = both_up(lab)
    a.hang_up()
    assert b.take() == ["10021b0100"]


def test_echo(lab: Any) -> None:
    a = lab.caller()
    a.tell(setup("Serial2", 3, 7, "03020807"), "10031f", "10030041")
    assert a.got[1:] == ["10031b0900", "10032041"]


def test_collision_leaves_one_connection(make_lab: Any) -> None:
    for source, own_counts in (("127.0.25.1", True), ("127.0.25.9", False)):
        lab = make_lab(pvc=PVCS, source=source)
        lab.router.start()
        lab.open()
        own = lab.called[0]
        request = own.take()[0]
        incoming = lab.caller("127.0.25.3")
        names = b"Serial8".hex() + b"Serial1".hex()
        incoming.tell("1002f58100" + "07000607000202020707" + names)
        assert status(incoming) == 0
        own.tell(request)
        assert (own.closed, incoming.closed) == (not own_counts, own_counts)


def test_without_pvcs_a_setup_is_discarded(make_lab: Any) -> None:
    lab = make_lab()
    a = lab.caller()
    a.tell(setup())
    assert not a.got
    assert not a.closed
    a.tell("10010b029900")
    assert a.got == ["1001130d43"]


def test_orderly_stop_closes_without_a_clear(lab: Any) -> None:
    a, b = both_up(lab)
    lab.router.stop()
    assert (a.take(), b.take(), a.closed, b.closed) == ([], [], True, True)
