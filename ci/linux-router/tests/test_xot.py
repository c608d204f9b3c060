# SPDX-License-Identifier: GPL-2.0-or-later
"""The octet functions of the gateway (RFC 1613 4.1, 6.1, 6.4), run under the sanitizers."""

import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
Run = Callable[[list[str]], list[str]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Hand lines to the driver; returns its answers."""
    program = tmp_path_factory.mktemp("xot") / "driver"
    warnings = ["-Wall", "-Wextra", "-Werror", "-std=gnu11", "-g"]
    checks = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    sources = [str(HERE / "xot_driver.c"), str(HERE.parent / "vm" / "xot.c")]
    subprocess.run(["gcc", *warnings, *checks, "-o", str(program), *sources], check=True)

    def answers(lines: list[str]) -> list[str]:
        done = subprocess.run(
            [str(program)],
            input="\n".join(lines) + "\n",
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return answers


@pytest.mark.parametrize(
    ("header", "length"),
    [
        ("00000003", 3),
        ("00001004", 4100),
        ("00001005", 0),
        ("0000ffff", 0),
        ("00000002", 0),
        ("00000000", 0),
        ("00010005", 0),
        ("01000005", 0),
    ],
)
def test_header(run: Run, header: str, length: int) -> None:
    assert run([f"length {header}"]) == [str(length)]


def test_local_significance_modulo_8(run: Run) -> None:
    local = {0xFB, 0xFF, 0xF1, 0xF3, 0xF7} | {0x09 + 0x20 * p_r for p_r in range(8)}
    answers = run([f"local8 1001{octet:02x}" for octet in range(256)])
    assert {octet for octet in range(256) if answers[octet] == "1"} == local


def test_local_significance_modulo_128(run: Run) -> None:
    answers = run([f"local128 2001{octet:02x}00" for octet in range(256)])
    local = {0xFB, 0xFF, 0xF1, 0xF3, 0xF7, 0x09}
    assert {octet for octet in range(256) if answers[octet] == "1"} == local


BOTH = "420707430202"


@pytest.mark.parametrize(
    ("call", "complete"),
    [
        ("10010b441111310000c0", "10010b441111310006" + BOTH + "c0"),
        ("10010b441111310006420808430303c0", "10010b441111310006420808430303c0"),
        ("10010b441111310003420808c0", "10010b441111310006430202420808c0"),
        ("10010b441111310003430303c0", "10010b441111310006420707430303c0"),
        # an odd number of digits has a filler
        ("10010b341111310000", "10010b341111310006" + BOTH),
        # address format with one length octet for each address (A bit)
        ("90010b06061113333144440000", "90010b060611133331444406" + BOTH + "00"),
        # behind a marker the same codes are not the network's: they do not count
        ("10010b00050f0f", "10010b00050f0f"),
        ("10010b0005000f420808", "10010b000b" + BOTH + "000f420808"),
        # facilities that do not parse, and addresses cut short, stay as they are
        ("10010b00024208", "10010b00024208"),
        ("10010b0002c9ff", "10010b0002c9ff"),
        ("10010b0001c9", "10010b0001c9"),
        ("10010bff1111", "10010bff1111"),
        ("10010b", "10010b"),
        ("90010b0f", "90010b0f"),
        ("10010b44111131", "10010b44111131"),
    ],
)
def test_complete_call(run: Run, call: str, complete: str) -> None:
    assert run([f"complete {call}"]) == [complete]


def test_facility_field_that_is_full(run: Run) -> None:
    """A length octet counts to 255: what does not fit is not added."""
    for octets, added in ((249, 6), (250, 3), (252, 3), (253, 0), (255, 0)):
        pad = "c6" + f"{octets - 2:02x}" + "00" * (octets - 2)
        answer = bytes.fromhex(run([f"complete 10010b00{octets:02x}{pad}"])[0])
        assert answer[4] == octets + added == len(answer) - 5


def test_any_octets(run: Run) -> None:
    """Nothing is read or written beyond the packet, whatever it says, and no user data is lost."""
    chance = random.Random(1613)
    packets = []
    for _ in range(3000):
        packet = bytearray(b"\x10\x01\x0b" + chance.randbytes(chance.randrange(40)))
        packet[0] = chance.choice((0x10, 0x90, 0x20))
        if len(packet) > 3 and chance.random() < 0.7:
            packet[3] = chance.choice((0, 0x11, 0x34, 0x44))
        packets.append(bytes(packet))
    answers = run([f"complete {packet.hex()}" for packet in packets])
    for sent, answer in zip(packets, answers, strict=True):
        complete = bytes.fromhex(answer)
        assert len(complete) - len(sent) in (0, 3, 6)
        assert complete[:3] == sent[:3]
        # Only the facility length changes; what follows the added facilities is the packet's own.
        same = sum(a == b for a, b in zip(reversed(complete), reversed(sent), strict=False))
        assert len(complete) > len(sent) or same == len(sent)
