# SPDX-License-Identifier: GPL-2.0-or-later
"""A DTE of a few lines as the router under test: it takes calls, and says no more than a prompt.

dte.py ADDRESS PIDFILE [FAULT]: on port 1998 of that address, modulo 8. Faults, each a slip that an
author of a PAD could make: test_dte.py names them, and the case that finds each. Three are none,
but habits of a right DTE: interrupts, looks-at-numbers-first, and interrupts-of-one-octet.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

FAULT = sys.argv[3] if len(sys.argv) > 3 else ""
CALL, ACCEPTED, CLEAR, CLEARED = 0x0B, 0x0F, 0x13, 0x17
INTERRUPT, INTERRUPTED, RESET, RESETTED = 0x23, 0x27, 0x1B, 0x1F
# Restart, registration and Diagnostic have no place on XOT (RFC 1613 6.4).
LOCAL = (0xFB, 0xFF, 0xF3, 0xF7, 0xF1)
PROMPT = [b"welcome", b"", b"user name:"]
# What a fault adds to packets of a type, and how often it sends them.
CHANGED = {
    ("clear-confirmed-with-cause", CLEARED): (b"\0\0", 1),
    ("clear-confirmed-twice", CLEARED): (b"", 2),
    ("reset-confirmed-with-cause", RESETTED): (b"\0\0", 1),
    ("reset-confirmed-twice", RESETTED): (b"", 2),
    ("interrupt-confirmed-with-data", INTERRUPTED): (b"x", 1),
    ("accepts-with-user-data", ACCEPTED): (b"hello", 1),
    ("accepts-twice", ACCEPTED): (b"", 2),
}
# Address block and facilities of Call Accepted.
ANSWERS = {
    "accepts-with-no-digit": b"\x01\xa0\x06\x42\x07\x07\x43\x02\x02",
    "accepts-as-another": b"\x01\x30\x06\x42\x07\x07\x43\x02\x02",
    "accepts-a-larger-size": b"\0\x06\x42\x0a\x0a\x43\x02\x02",
    "accepts-a-larger-window": b"\0\x06\x42\x07\x07\x43\x07\x07",
    "accepts-reverse-charging": b"\0\x08\x01\x01\x42\x07\x07\x43\x02\x02",
    "accepts-with-a-wrong-length": b"\0\x07\x42\x07\x07\x43\x02\x02",
}


class Stumbled(Exception):
    """The caller made an error that ends the connection."""


def check_call(octets: bytes) -> None:
    """The fields of a Call behind its type; IndexError, or ValueError with a diagnostic."""
    digits = (octets[0] >> 4) + (octets[0] & 15)
    end = 1 + (digits + 1) // 2
    nibbles = [n for octet in octets[1:end] for n in (octet >> 4, octet & 15)]
    length = octets[end]
    if any(n > 9 for n in nibbles):
        raise ValueError(67 if any(n > 9 for n in nibbles[: octets[0] & 15]) else 68)
    facilities, user_data = octets[end + 1 : end + 1 + length], octets[end + 1 + length :]
    if length > 109 or len(facilities) < length:
        raise ValueError(69 if length > 109 else 38)
    fast_select = refuse_bad(facilities)
    if len(user_data) > (128 if fast_select else 16):
        raise ValueError(39)


def refuse_bad(facilities: bytes) -> bool:
    """Whether fast select is asked for; the codes of X.25 Table 7-1 are what a DTE has to know."""
    fast_select = False
    while facilities and facilities[0] not in (0x00, 0x0F, 0xFF):
        code, size = facilities[0], 2 + (facilities[0] >> 6)
        if size == 5:
            size = 2 + facilities[1] if len(facilities) > 1 else 99
        value, facilities = facilities[1:size], facilities[size:]
        if len(value) < size - 1:
            raise ValueError(69)
        if code == 0x42 and not all(4 <= v <= 12 for v in value):
            raise ValueError(66)
        if code == 0x43 and not all(1 <= v <= 127 for v in value):
            raise ValueError(66)
        fast_select |= code == 0x01 and value[0] >= 0x80
    return fast_select


class Call:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.lcn = b"\x10\x01"
        self.state = "ready"
        self.restart()

    def restart(self) -> None:
        self.next_in = self.next_out = self.acknowledged = 0
        self.interrupting = False
        self.waiting = list(PROMPT)

    def send(self, kind: int, *octets: int) -> None:
        further, times = CHANGED.get((FAULT, kind), (b"", 1))
        packet = bytes((*self.lcn, kind, *octets)) + further
        self.writer.write((b"\0\0" + len(packet).to_bytes(2, "big") + packet) * times)

    def prompt(self) -> None:
        """As much of it as the window of 2 lets through."""
        window = 8 if FAULT == "ignores-window" else 2
        while self.waiting and (self.next_out - self.acknowledged) % 8 < window:
            octets = self.waiting.pop(0)
            if FAULT == "prompts-too-large":
                octets += bytes(129)
            self.send(self.next_in << 5 | self.next_out << 1, *octets)
            self.next_out = (self.next_out + (2 if FAULT == "skips-a-number" else 1)) % 8

    def error(self, diagnostic: int) -> None:
        """An error in data transfer: a reset by the DTE (X.25 Table C-4)."""
        if FAULT != "answers-errors-with-nothing":
            self.state = "resetting"
            self.send(RESET, 0, diagnostic)

    def data(self, kind: int, octets: bytes) -> None:
        if (kind >> 1 & 7) != self.next_in and FAULT != "takes-any-number":
            self.error(1)
        elif FAULT == "looks-at-numbers-first" and not self.takes(kind >> 5):
            return
        elif len(octets) > 128:
            self.error(39)
        elif self.takes(kind >> 5):
            self.next_in = (self.next_in + 1) % 8
            if FAULT != "acknowledges-nothing":
                wrong = {"acknowledges-too-much": 1, "acknowledges-too-little": -1}.get(FAULT, 0)
                self.send((self.next_in + wrong) % 8 << 5 | 0x01)
            self.prompt()

    def takes(self, p_r: int) -> bool:
        if (p_r - self.acknowledged) % 8 > (self.next_out - self.acknowledged) % 8:
            self.error(2)
            return False
        self.acknowledged = p_r
        return True

    def connected(self, kind: int, octets: bytes) -> None:
        if not kind & 1:
            self.data(kind, octets)
        elif kind & 0x1F in (0x01, 0x05):
            if octets:
                self.error(39)
            elif self.takes(kind >> 5):
                self.prompt()
        elif kind == INTERRUPT:
            if not 1 <= len(octets) <= (1 if FAULT == "interrupts-of-one-octet" else 32):
                self.error(39 if octets else 38)
            elif FAULT != "confirms-no-interrupt":
                self.send(INTERRUPTED)
                if FAULT == "interrupts" and not self.interrupting:
                    self.interrupting = True
                    self.send(INTERRUPT, 7)
        elif kind == INTERRUPTED and self.interrupting:
            self.interrupting = False
        elif kind == INTERRUPTED:
            self.error(43)
        elif kind == RESET and FAULT == "ignores-reset":
            return
        elif kind == RESET:
            if len(octets) in (1, 2):
                if FAULT != "keeps-numbers-after-reset":
                    self.restart()
                    self.waiting = []
                self.send(RESETTED)
            else:
                self.error(39 if octets else 38)
        elif kind == RESETTED:
            self.error(27)
        elif kind & 0x1F != 0x09:
            self.error(33)

    def take(self, packet: bytes) -> None:
        if len(packet) < 3:
            raise Stumbled
        kind, octets = packet[2], packet[3:]
        if self.state == "ready":
            if kind == CALL and packet[0] >> 4 == 1:
                self.lcn = packet[:2]
                self.call(octets)
        elif kind in LOCAL:
            return
        elif self.state == "connected" and packet[0] >> 4 & 3 != 1:
            self.error(40)
        elif kind == CLEAR:
            if self.state != "clearing" and FAULT != "confirms-no-clear":
                self.send(CLEARED)
            if FAULT == "acknowledges-behind-a-clear":
                self.send(self.next_in << 5 | 0x01)
            self.state = "ready"
            self.restart()
        elif self.state == "clearing":
            if kind == CLEARED:
                self.state = "ready"
        elif kind in (CALL, ACCEPTED) or kind == CLEARED:
            self.clear(23)
        elif self.state == "resetting":
            if kind in (RESET, RESETTED):
                self.state = "connected"
                self.restart()
                self.waiting = []
        else:
            self.connected(kind, octets)

    def clear(self, diagnostic: int) -> None:
        self.state = "clearing"
        self.restart()
        self.send(CLEAR, 9 if FAULT == "clears-as-out-of-order" else 0, diagnostic)

    def call(self, octets: bytes) -> None:
        """Takes a Call that is in order, with sizes and windows that every DTE has."""
        try:
            check_call(octets)
        except IndexError:
            self.clear(38)
        except ValueError as error:
            self.clear(int(str(error)))
        else:
            self.state = "connected"
            self.send(ACCEPTED, *ANSWERS.get(FAULT, b"\0\x06\x42\x07\x07\x43\x02\x02"))
            self.prompt()

    async def run(self) -> None:
        try:
            while True:
                header = await self.reader.readexactly(4)
                length = int.from_bytes(header[2:], "big")
                if header[:2] != b"\0\0" or not 3 <= length <= 1030:
                    break
                self.take(await self.reader.readexactly(length))
        except (asyncio.IncompleteReadError, ConnectionError, Stumbled):
            pass
        self.writer.close()


async def main() -> None:
    server = await asyncio.start_server(
        lambda reader, writer: Call(reader, writer).run(), sys.argv[1], 1998
    )
    Path(sys.argv[2]).write_text(str(os.getpid()))
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
