# SPDX-License-Identifier: GPL-2.0-or-later
"""The judge on libwireshark and the one on tshark: right, equal, and hard to break."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from alike import read_alike
from x25shark.cpu_time import computed
from x25shark.judges import program
from x25shark.judges.reading import Hit, JudgeError
from x25shark.judges.sandbox import Sandbox
from x25shark.judges.tshark import FIRST_LAYERS, MOST_TIMES, TAPS_OF_ONE_TIME, TsharkJudge
from x25shark.judges.values import literal
from x25shark.judges.wireshark import WiresharkJudge, open_judge
from xot_captures import CALL, CAPTURES, A, Connection, connection, pcapng, unit

FILTERS = [
    "x25s.type#{k} == 0x13 && x25s.cause#{k} in {0, 0x80}",
    "x25s.type#{k} == 0x13 && x25s.cause#{k} == 5 && x25s.diagnostic#{k} == 2",
    "x25s.p_r#{k} == 2",
    'x25s.called_address#{k} == "12345"',
    "x25s.user_data#{k} == aa",
    "x25s.length#{k} >= 1",
    "x25t.crc_status#{k} == 1",
    "!(x25s.diagnostic#{k})",
    "tcp.flags.fin == 1",
    "xots.version.bad",
]
FIELDS = [
    "x25s.octets",
    "x25s.type",
    "x25s.q",
    "x25s.lcn",
    "x25s.p_s",
    "x25s.p_r",
    "x25s.m",
    "x25s.cause",
    "x25s.diagnostic",
    "x25s.called_address",
    "x25s.facility_code",
    "x25s.facility_value",
    "x25s.user_data",
    "x25t.sequence",
    "x25t.crc_status",
    "x25t.magic",
]


@pytest.mark.parametrize("name", CAPTURES)
def test_both_judges_read_the_same(name: str, judge: WiresharkJudge, tshark: TsharkJudge) -> None:
    read_alike(judge, tshark, CAPTURES[name], FILTERS, FIELDS)


def test_fields_of_two_packets_in_a_segment_are_not_mixed(judge: WiresharkJudge) -> None:
    reading = judge.read(
        CAPTURES["swapped fields"],
        [
            "x25s.type#{k} == 0x13 && x25s.cause#{k} == 5",
            "x25s.type#{k} == 0x1b && x25s.cause#{k} == 3",
            "x25s.type#{k} == 0x13 && x25s.cause#{k} == 3",
            "x25s.type == 0x13 && x25s.cause == 3",
        ],
    )
    # The last one, without layer numbers, shows what the numbers are for.
    assert reading.hits == ((Hit(4, 1),), (Hit(4, 2),), (), (Hit(4, 0),))


@pytest.mark.parametrize(
    ("text", "without_guard"),
    [
        ("x25s.type#{k} == 19", "(x25s.type#{k} == 19)"),
        ("x25s.type#{k} in {19, 0x1b}", "(x25s.type#{k} in {19, 0x1b})"),
        ("x25s.type#{k} in {19..27}", "(x25s.type#{k} in {19..27})"),
        (
            "x25s.type#{k} == 19 && x25s.cause#{k} == 3",
            "(x25s.type#{k} == 19 && x25s.cause#{k} == 3)",
        ),
        (
            "x25s.type#{k} == 1 || x25s.cause#{k} == 3",
            "(x25s.type#{k} == 1 || x25s.cause#{k} == 3)",
        ),
        (
            "x25s.type#{k} == 1 or x25s.cause#{k} == 3",
            "(x25s.type#{k} == 1 or x25s.cause#{k} == 3)",
        ),
        (
            "x25s.type#{k} == 1 && x25s.lcn#{k} == 9 || x25s.cause#{k} == 3",
            "((x25s.type#{k} == 1 && x25s.lcn#{k} == 9) || x25s.cause#{k} == 3)",
        ),
        ("x25s.type#{k} != 19 && x25s.length#{k}", "(x25s.type#{k} != 19 && x25s.length#{k})"),
        (
            "x25s.cause#{k} == 5 && x25s.diagnostic#{k} in {0, 2}",
            "(x25s.cause#{k} == 5 && x25s.diagnostic#{k} in {0, 2})",
        ),
        (
            "!(x25s.p_s#{k} == 1) && (x25s.p_s#{k} == 0 || x25s.cause#{k} == 5)",
            "(!(x25s.p_s#{k} == 1) && (x25s.p_s#{k} == 0 || x25s.cause#{k} == 5))",
        ),
        (
            "not x25s.p_s#{k} == 1 && x25s.length#{k}",
            "(not x25s.p_s#{k} == 1 && x25s.length#{k})",
        ),
        (
            'x25s.called_address#{k} == " && x25s.p_s#{k} == 7" || x25s.p_s#{k} == 0',
            '(x25s.called_address#{k} == " && x25s.p_s#{k} == 7" || x25s.p_s#{k} == 0)',
        ),
        ("x25s.user_data#{k}[0:1] == 01", "(x25s.user_data#{k}[0:1] == 01)"),
        ("x25s.user_data#{k} != 01:02", "(x25s.user_data#{k} != 01:02)"),
    ],
)
def test_what_a_filter_begins_with_changes_no_hit(
    text: str, without_guard: str, judge: WiresharkJudge
) -> None:
    """The judge passes over packets of other types; in parentheses it does not look at the type."""
    for capture in CAPTURES.values():
        guarded, plain = judge.read(capture, [text, without_guard]).hits
        assert guarded == plain


def test_a_filter_with_the_values_of_a_packet_finds_it(judge: WiresharkJudge) -> None:
    """The judge passes over packets with other values, and never over one with these."""
    names = ("x25s.type", "x25s.p_s", "x25s.cause", "x25s.diagnostic", "x25s.user_data")
    looked_for: set[str] = set()
    for capture in CAPTURES.values():
        packets = judge.read(capture, fields=names).packets
        filters = [
            " && ".join(f"{name}#{{k}} == {literal(p.fields[name][0])}" for name in p.fields)
            or "x25s.length#{k}"
            for p in packets
        ]
        hits = judge.read(capture, filters).hits
        for packet, found in zip(packets, hits, strict=True):
            assert Hit(packet.frame, packet.k) in found
            looked_for.update(packet.fields)
    assert looked_for == set(names)


def test_packets_behind_a_four_octet_clear_are_not_lost(judge: WiresharkJudge) -> None:
    reading = judge.read(CAPTURES["four-octet clear first"], fields=["x25s.type"])
    assert [p.fields["x25s.type"] for p in reading.packets if p.frame == 5] == [
        (0x13,),
        (0x0F,),
        (0x01,),
    ]
    assert next((d.k, d.text) for d in reading.differences) == (1, "malformed: 0, built-in 1")


@pytest.mark.parametrize("after", [1, 2, 3])
def test_a_split_header_loses_nothing(after: int, judge: WiresharkJudge) -> None:
    reading = judge.read(CAPTURES[f"header split after {after}"], fields=["x25s.octets"])
    assert [(p.frame, p.offset, p.fields["x25s.octets"][0]) for p in reading.packets] == [
        (5, 0, CALL[4:]),
        (6, 0, b"\x10\x01\x0f"),
    ]


def test_every_layer_of_a_full_segment_is_addressed(judge: WiresharkJudge) -> None:
    reading = judge.read(CAPTURES["sixty layers"], [f"x25s.p_r#{{k}} == {n}" for n in range(8)])
    for n, hits in enumerate(reading.hits):
        expected = [Hit(6, k) for k in range(1, 61) if (k - 1) % 8 == n]
        assert [hit for hit in hits if hit.frame == 6] == expected
    assert [p.offset for p in reading.packets if p.frame == 6] == [
        len(CALL) + 7 * i for i in range(60)
    ]


def test_more_packets_than_wireshark_counts_layers(
    judge: WiresharkJudge, tshark: TsharkJudge
) -> None:
    rrs = b"".join(unit(b"\x10\x01" + bytes([i % 8 << 5 | 1])) for i in range(600))
    capture = pcapng(connection([(A, CALL), (A, rrs)]))
    reading = judge.read(capture, ["x25s.p_r#{k} == 3", "x25s.type#{k} == 0x0b"])
    assert len(reading.packets) == 601
    assert reading.hits[0] == tuple(Hit(5, k) for k in range(1, 601) if (k - 1) % 8 == 3)
    assert reading.hits[1] == (Hit(4, 1),)
    assert "x25s.many" in {e.id for e in reading.experts}
    with pytest.raises(JudgeError, match="only the C judge") as caught:
        tshark.read(capture, ["x25s.p_r#{k} == 3"], timeout=60)
    assert caught.value.kind == "limit"


def test_modulo_128_numbers_are_not_swapped(judge: WiresharkJudge) -> None:
    reading = judge.read(CAPTURES["modulo 128"], fields=["x25s.p_s", "x25s.p_r", "x25s.m"])
    numbers = [{n: v[0] for n, v in p.fields.items()} for p in reading.packets if p.frame > 5]
    assert numbers == [
        {"x25s.p_s": 0, "x25s.p_r": 0, "x25s.m": 0},
        {"x25s.p_s": 1, "x25s.p_r": 0, "x25s.m": 0},
        {"x25s.p_r": 2},
        {"x25s.p_s": 0, "x25s.p_r": 2, "x25s.m": 1},
    ]
    assert [e for e in reading.experts if e.severity == "error"] == []


def test_illegal_headers_are_flagged_and_framing_goes_on(judge: WiresharkJudge) -> None:
    reading = judge.read(CAPTURES["bad headers"], fields=["x25s.octets"])
    assert [p.fields["x25s.octets"][0].hex() for p in reading.packets] == ["10010f", "10", "1001"]  # type: ignore[union-attr]
    headers = [(e.offset, e.k, e.id) for e in reading.experts if e.id.startswith("xots.")]
    assert headers == [
        (0, 0, "xots.version.bad"),
        (7, 0, "xots.length.bad"),
        (11, 0, "xots.length.bad"),
        (16, 0, "xots.length.bad"),
    ]
    # A unit without a packet has its direction all the same.
    packet = reading.packets[0]
    assert {e[2:7] for e in reading.experts} == {packet[2:7]}


def test_an_incomplete_last_unit_is_no_unit(judge: WiresharkJudge) -> None:
    reading = judge.read(CAPTURES["incomplete last unit"], fields=["x25s.type"])
    assert [p.fields["x25s.type"] for p in reading.packets] == [(0x0B,)]


def test_tcp_ends_and_their_offsets(judge: WiresharkJudge) -> None:
    reading = judge.read(CAPTURES["reset in the middle"])
    assert [(e.frame, e.syn, e.fin, e.rst, e.sport, e.offset) for e in reading.tcp_ends] == [
        (1, True, False, False, 40000, 0),
        (2, True, False, False, 1998, 0),
        (3, False, False, False, 40000, 0),
        (6, False, False, True, 1998, 7),
    ]
    closed = judge.read(CAPTURES["call"]).tcp_ends
    assert [(e.fin, e.offset) for e in closed] == [
        (False, 0),
        (False, 0),
        (False, 0),
        (True, len(CALL) + 9),
        (True, 7),
    ]


def test_a_fin_says_how_much_was_sent(judge: WiresharkJudge) -> None:
    """Also where what precedes it is captured behind it."""
    reading = judge.read(CAPTURES["fin ahead of its data"])
    ends = {end.sport: end.offset + end.length for end in reading.tcp_ends if end.fin}
    assert ends == {40000: len(CALL), 1998: 7 + 11}
    assert [p.offset for p in reading.packets if p.sport == 1998] == [0, 7]


def test_who_asks_for_a_connection_and_gives_up_completes_none(judge: WiresharkJudge) -> None:
    ends = judge.read(CAPTURES["abandoned"]).tcp_ends
    assert [(e.sport, e.syn, e.ack, e.rst) for e in ends] == [
        (40000, True, False, False),
        (1998, True, True, False),
        (40000, False, False, True),
    ]


def test_a_second_connection_on_the_same_ports_starts_anew(judge: WiresharkJudge) -> None:
    reading = judge.read(CAPTURES["reused ports"])
    assert [(p.stream, p.offset) for p in reading.packets] == [
        (0, 0),
        (0, 0),
        (0, len(CALL)),
        (1, 0),
        (1, 0),
        (1, len(CALL)),
    ]
    assert reading.experts == ()


def test_user_data_that_looks_like_xot_is_user_data(judge: WiresharkJudge) -> None:
    reading = judge.read(CAPTURES["xot inside user data"], fields=["x25s.type"])
    assert [p.fields["x25s.type"] for p in reading.packets] == [(0x0B,), (0x0F,), (0x00,)]


def test_test_records_are_put_together_and_checked(judge: WiresharkJudge) -> None:
    names = ["x25t.run", "x25t.call", "x25t.sequence", "x25t.direction", "x25t.length"]
    reading = judge.read(CAPTURES["records"], fields=[*names, "x25t.crc_status"])
    shown = [
        (p.frame, *(values[0] for values in p.fields.values())) for p in reading.packets if p.fields
    ]
    assert shown == [
        (8, 7, 9, 1, 0, 304, 1),
        (9, 7, 9, 2, 1, 29, 1),
        (10, 7, 9, 3, 0, 37, 0),
    ]
    assert [e.id for e in reading.experts] == ["x25t.crc.bad"]


def test_short_test_records_are_known_by_their_crc(judge: WiresharkJudge) -> None:
    names = ["x25t.run", "x25t.call", "x25t.sequence", "x25t.direction", "x25t.length"]
    reading = judge.read(CAPTURES["short records"], fields=[*names, "x25t.crc_status"])
    shown = [tuple(values[0] for values in p.fields.values()) for p in reading.packets if p.fields]
    assert shown == [(7, 9, 1, 0, 16, 1), (7, 9, 0xFFFFFF, 1, 23, 1)]
    assert not reading.experts


def test_tshark_has_more_time_for_more_filters(
    tshark: TsharkJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed: list[float] = []
    run = tshark._run

    def noted(arguments: Sequence[str], stdin: int, seconds: float) -> tuple[int, bytes, str]:
        allowed.append(seconds)
        return run(arguments, stdin, 60.0)

    monkeypatch.setattr(tshark, "_run", noted)
    capture = CAPTURES[min(CAPTURES)]
    for number in (1, 100, 600):
        tshark.read(capture, ["x25s.type#{k} == 11"] * number, timeout=10.0)
    few, more, most = allowed
    assert 10.0 <= few < 11.0
    assert more == 10.0 * (1 + 100 * FIRST_LAYERS / TAPS_OF_ONE_TIME)
    assert most == 10.0 * MOST_TIMES


def test_state_does_not_survive_a_capture(judge: WiresharkJudge, tshark: TsharkJudge) -> None:
    """Equal addresses, ports and numbers, 500 times: each as if Wireshark had just started."""
    names = ["records", "reused ports", "four-octet clear first", "modulo 128", "sixty layers"]
    fresh = {name: tshark.read(CAPTURES[name], FILTERS, FIELDS, timeout=60) for name in names}
    for turn in range(500):
        name = names[turn % len(names)]
        assert judge.read(CAPTURES[name], FILTERS, FIELDS) == fresh[name], (turn, name)


# No process grows by so many octets.
NEVER = 1 << 40


@pytest.fixture
def one_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[WiresharkJudge]:
    """A judge that is not started anew, however much it grows."""
    monkeypatch.setattr("x25shark.judges.wireshark.MOST_GROWN", NEVER)
    with WiresharkJudge() as judge:
        yield judge


def test_the_judge_does_not_grow(one_process: WiresharkJudge) -> None:
    judge = one_process

    def resident() -> int:
        status = Path(f"/proc/{judge.process_id}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])

    for _ in range(50):
        judge.read(CAPTURES["records"], FILTERS, FIELDS)
    before = resident()
    for _ in range(300):
        judge.read(CAPTURES["records"], FILTERS, FIELDS)
    # kB. Lua's collector rests up to 24 MB; a leak of the data tables alone would be 3 GB.
    assert resident() - before < 48 * 1024


def test_starting_takes_little_more_than_reading() -> None:
    """Most of libwireshark is touched once while it starts, and given back meanwhile."""
    with WiresharkJudge() as judge:
        judge.read(CAPTURES["call"], FILTERS, FIELDS)
        process = Path(f"/proc/{judge.process_id}")
        status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
        most, own = (int(status[name].split()[0]) << 10 for name in ("VmHWM", "RssAnon"))
        mapped = (line.split()[-1] for line in (process / "maps").read_text().splitlines())
        library = Path(next(name for name in mapped if "/libwireshark.so" in name))
    assert most - own < 0.55 * library.stat().st_size


def test_a_judge_that_has_grown_too_large_is_started_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A router may send much in one case: what that took is given back."""
    with WiresharkJudge() as judge:
        first = judge.read(CAPTURES["call"])
        process = judge.process_id
        monkeypatch.setattr("x25shark.judges.wireshark.MOST_GROWN", 1)
        assert judge.read(CAPTURES["call"]) == first
        monkeypatch.undo()
        assert judge.read(CAPTURES["call"]) == first
        assert judge.process_id != process
        # What the first process computed is part of it.
        assert judge.computed > computed(judge.process_id or 0) > 0


@pytest.mark.parametrize("which", ["judge", "tshark"])
class TestBadInput:
    """What cannot be read gives one clear error and leaves the judge fit for the next capture."""

    @pytest.fixture()
    def either(
        self, which: str, judge: WiresharkJudge, tshark: TsharkJudge
    ) -> WiresharkJudge | TsharkJudge:
        return judge if which == "judge" else tshark

    def _still_fit(self, either: WiresharkJudge | TsharkJudge) -> None:
        reading = either.read(CAPTURES["call"], ["x25s.type#{k} == 0x13"], timeout=60)
        assert reading.hits == ((Hit(6, 1),),)

    def test_bad_filter(self, either: WiresharkJudge | TsharkJudge) -> None:
        for bad in ("x25s.nothing#{k} == 1", "x25s.type#{k} ==", ""):
            with pytest.raises(JudgeError) as caught:
                either.read(CAPTURES["call"], ["tcp", bad], timeout=60)
            assert (caught.value.kind, caught.value.place) == ("filter", 1)
        self._still_fit(either)

    def test_unknown_field(self, either: WiresharkJudge | TsharkJudge) -> None:
        with pytest.raises(JudgeError) as caught:
            either.read(CAPTURES["call"], [], ["x25s.type", "x25s.nothing"], timeout=60)
        assert (caught.value.kind, caught.value.place) == ("field", 1)
        self._still_fit(either)

    @pytest.mark.parametrize("content", [b"", b"not a capture at all, just words" * 10])
    def test_no_capture(self, either: WiresharkJudge | TsharkJudge, content: bytes) -> None:
        with pytest.raises(JudgeError) as caught:
            either.read(content, timeout=60)
        assert caught.value.kind == "file"
        self._still_fit(either)

    def test_truncated_capture(self, either: WiresharkJudge | TsharkJudge) -> None:
        whole = CAPTURES["records"]
        reading = either.read(whole[:-30], fields=["x25s.type"], timeout=60)
        assert reading.file_error
        assert reading.frames == either.read(whole, timeout=60).frames - 1
        self._still_fit(either)


def test_damaged_captures_never_take_the_judge_down(one_process: WiresharkJudge) -> None:
    """Every octet of a capture inverted once: an error or a reading, from the same process."""
    judge = one_process
    whole = CAPTURES["four-octet clear first"]
    process = judge.process_id
    for place in range(0, len(whole), 3):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        try:
            assert judge.read(bytes(damaged), FILTERS).lua_errors == ()
        except JudgeError as error:
            assert error.kind == "file"
    assert judge.process_id == process


def test_a_crash_costs_one_reading() -> None:
    with WiresharkJudge() as judge:
        before = judge.process_id
        assert before is not None
        os.kill(before, signal.SIGSTOP)
        with pytest.raises(JudgeError) as caught:
            judge.read(CAPTURES["call"], timeout=0.3)
        assert caught.value.kind == "timeout"
        assert judge.read(CAPTURES["call"], timeout=60).frames == 9
        after = judge.process_id
        assert after is not None and after != before
        os.kill(after, signal.SIGKILL)
        os.waitid(os.P_PID, after, os.WEXITED | os.WNOWAIT)
        assert judge.read(CAPTURES["call"], timeout=60).frames == 9


def test_a_program_that_dies_while_reading_is_a_crash(tmp_path: Path) -> None:
    """A stand-in for the C program that says ready and dies on its first request."""
    stand_in = tmp_path / "judge"
    stand_in.write_text(
        "#!/usr/bin/env python3\n"
        "import os, socket, sys\n"
        "s = socket.socket(fileno=int(sys.argv[2]))\n"
        's.sendall(b\'{"ready": "stand-in"}\\n\')\n'
        "s.recv(1)\n"
        "print('dissector bug', file=sys.stderr, flush=True)\n"
        "os.kill(os.getpid(), 11)\n"
    )
    stand_in.chmod(0o755)
    with WiresharkJudge(stand_in) as judge:
        for _ in range(2):
            with pytest.raises(JudgeError, match="status -11: dissector bug") as caught:
                judge.read(CAPTURES["call"], timeout=60)
            assert caught.value.kind == "crash"


# Each is the answer to a request for x25s.octets and x25s.user_data.
NONSENSE = {
    "nothing of an answer": b"[]",
    "no JSON": b"{",
    "too deep": b"[" * 100_000 + b"]" * 100_000,
    "too long a number": b'{"load":' + b"9" * 10_000 + b"}",
    "part of what is not there": b"[1,1,0,0,1,[0,0,8]]",
    "part of no octets": b"[1,1,0,0,0,5,1,[0,0,8]]",
    "part of no field": b'[1,1,0,0,0,"00",1,[7,0,8]]',
    "a part without its length": b'[1,1,0,0,0,"00",1,[0,0]]',
}


@pytest.mark.parametrize("nonsense", NONSENSE.values(), ids=NONSENSE)
def test_a_program_that_answers_nonsense_is_replaced(nonsense: bytes, tmp_path: Path) -> None:
    answer = tmp_path / "answer"
    whole = (
        b'{"load":1,"frames":1,"octets":[0,1],"ends":[[0,"",0,"",0]],"packets":[%s],"tcp":[],'
        b'"hits":[],"experts":[],"differences":[],"lua_errors":[],"malformed_file":null,"us":1}'
    )
    answer.write_bytes(whole % nonsense if nonsense.startswith(b"[1,") else nonsense)
    stand_in = tmp_path / "judge"
    stand_in.write_text(
        "#!/usr/bin/env python3\n"
        "import os, socket, sys\n"
        "s = socket.socket(fileno=int(sys.argv[2]))\n"
        's.sendall(b\'{"ready": "stand-in"}\\n\')\n'
        "while not s.recv(1 << 20).endswith(b'\\n'): pass\n"
        f"s.sendall(open({str(answer)!r}, 'rb').read() + b'\\n')\n"
        "s.recv(1)\n"
    )
    stand_in.chmod(0o755)
    with WiresharkJudge(stand_in) as judge:
        before = judge.process_id
        with pytest.raises(JudgeError) as caught:
            judge.read(CAPTURES["call"], fields=["x25s.octets", "x25s.user_data"], timeout=60)
        assert caught.value.kind == "crash"
        assert before is not None and judge.process_id is None


def test_the_judge_is_not_root() -> None:
    with WiresharkJudge() as judge:
        status = Path(f"/proc/{judge.process_id}/status").read_text()
    assert status.split("Uid:")[1].split()[1] != "0"


def test_the_judge_works_in_a_user_namespace_of_one_id() -> None:
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "from xot_captures import CAPTURES\n"
        "from x25shark.judges.wireshark import WiresharkJudge\n"
        "from x25shark.judges.tshark import TsharkJudge\n"
        "with WiresharkJudge() as fast, TsharkJudge() as slow:\n"
        "    capture = CAPTURES['call']\n"
        "    assert fast.read(capture, timeout=60) == slow.read(capture, timeout=60)\n"
        "    print(fast.read(capture).frames)\n"
    )
    command = ["unshare", "-Urn", sys.executable, "-c", code, str(Path(__file__).parent), *sys.path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "unshare failed" in done.stderr:
        pytest.skip("this system gives no user namespaces")
    assert done.stdout == "9\n", done.stderr


def test_the_judge_refuses_without_the_strict_dissector(tmp_path: Path) -> None:
    empty = tmp_path / "empty.lua"
    empty.write_text("-- nothing\n")
    tmp_path.chmod(0o755)
    ours, theirs = socket.socketpair()
    sandbox = Sandbox()
    copy = sandbox.folder / "empty.lua"
    copy.write_text("-- nothing\n")
    try:
        done = subprocess.run(
            [program.find(), "--socket", str(theirs.fileno()), "--lua", copy],
            pass_fds=[theirs.fileno()],
            env=sandbox.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        sandbox.close()
        ours.close()
        theirs.close()
    assert done.returncode == 3
    assert "was not loaded" in done.stderr


def test_a_capture_may_come_as_a_descriptor(judge: WiresharkJudge) -> None:
    with tempfile.TemporaryFile() as file:
        file.write(CAPTURES["call"])
        file.flush()
        assert judge.read(file.fileno()) == judge.read(CAPTURES["call"])
    first, second = os.pipe()
    try:
        with pytest.raises(JudgeError, match="not a regular file"):
            judge.read(first)
    finally:
        os.close(first)
        os.close(second)


def test_without_the_program_tshark_judges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X25SHARK_JUDGE", "/nonexistent/judge")
    with open_judge() as judge:
        assert isinstance(judge, TsharkJudge)
    monkeypatch.setenv("X25SHARK_TSHARK", "/nonexistent/tshark")
    with pytest.raises(JudgeError) as caught:
        open_judge()
    assert caught.value.kind == "start"
    assert "/nonexistent/judge" in str(caught.value)


def test_out_of_order_segments_are_put_in_order(judge: WiresharkJudge) -> None:
    made = Connection().open().send(A, CALL).send(A, unit("100100aa")).send(A, unit("100102bb"))
    frames = made.frames
    frames[-1], frames[-2] = frames[-2], frames[-1]
    reading = judge.read(pcapng(frames), fields=["x25s.p_s"])
    assert [(p.offset, p.fields.get("x25s.p_s")) for p in reading.packets] == [
        (0, None),
        (len(CALL), (0,)),
        (len(CALL) + 8, (1,)),
    ]


@pytest.mark.parametrize("kind", [WiresharkJudge, TsharkJudge])
def test_further_ports(kind: type[WiresharkJudge] | type[TsharkJudge]) -> None:
    made = Connection(ports=(40000, 2001)).open().send(A, CALL)
    with kind(xot_ports=[2001]) as judge:
        assert [p.dport for p in judge.read(pcapng(made.frames)).packets] == [2001]
    with kind() as judge:
        assert judge.read(pcapng(made.frames)).packets == ()


def test_a_snap_length_is_told_and_takes_nothing_down(judge: WiresharkJudge) -> None:
    """Frames of which the capture holds only the first octets, as a snap length leaves them."""
    whole = bytearray(pcapng(Connection().open().send(A, CALL).frames))
    last = whole.rfind(b"\x06\x00\x00\x00")
    size = int.from_bytes(whole[last + 20 : last + 24], "little")
    cut = 12
    block = whole[last : last + 28 + size - cut]
    block[20:24] = (size - cut).to_bytes(4, "little")
    block += b"\0" * (-len(block) % 4)
    length = (len(block) + 4).to_bytes(4, "little")
    block[4:8] = length
    reading = judge.read(bytes(whole[:last] + block + length))
    assert reading.packets == ()
    assert [e.id for e in reading.experts] == ["xots.captured.short"]
    assert reading.lua_errors == ()
