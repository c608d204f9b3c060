# SPDX-License-Identifier: GPL-2.0-or-later
"""A DTE of a few lines that calls: dte.py with a Call of its own.

calling.py ADDRESS DIGITS [FAULT]: calls port 1998 of that address, and ends with the call. Faults
are those of dte.py, and slips of an author of a calling terminal (test_calling.py).
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import dte
else:  # a program of its own, which knows no package
    import dte

FACILITIES = {
    "calls-without-window": b"\x03\x42\x07\x07",
    "calls-with-size-twice": b"\x09\x42\x07\x07\x42\x08\x08\x43\x02\x02",
    "calls-with-window-0": b"\x06\x42\x07\x07\x43\x00\x00",
    "calls-with-a-wrong-length": b"\x07\x42\x07\x07\x43\x02\x02",
}
PLAIN = b"\x06\x42\x07\x07\x43\x02\x02"


def check_answer(octets: bytes) -> None:
    """Facilities of an answer: nothing above 128 octets and window 2, and no user data."""
    length = octets[0] if octets else 0
    field, user_data = octets[1 : 1 + length], octets[1 + length :]
    if user_data:
        raise ValueError(39)
    while len(field) > 2:
        (code, *values), field = field[:3], field[3:]
        if (code == 0x42 and max(values) > 7) or (code == 0x43 and max(values) > 2):
            raise ValueError(66)


class Calling(dte.Call):
    def place(self, digits: str) -> None:
        self.state = "calling"
        block = bytes((len(digits),)) + bytes.fromhex(digits + "0" * (len(digits) % 2))
        facilities = FACILITIES.get(dte.FAULT, PLAIN)
        self.send(dte.CALL, *block, *facilities, *b"\xc0\0\0\0")
        if dte.FAULT == "prompts-ahead-of-the-answer":
            self.prompt()

    def take(self, packet: bytes) -> None:
        if self.state != "calling" or len(packet) < 3:
            super().take(packet)
            return
        kind, octets = packet[2], packet[3:]
        if kind in dte.LOCAL and dte.FAULT != "gives-up-for-a-restart":
            return
        if kind == dte.CLEAR:
            if dte.FAULT == "leaves-a-refusal":
                return
            self.send(dte.CLEARED)
            self.state = "ready"
        elif kind == dte.ACCEPTED:
            self.answered(octets)
        elif kind == dte.CALL and dte.FAULT == "accepts-while-it-calls":
            self.send(dte.ACCEPTED)
        elif not kind & 1 and dte.FAULT == "takes-early-data":
            self.next_in = (self.next_in + 1) % 8
        else:
            self.clear(21)

    def answered(self, octets: bytes) -> None:
        """Call Connected: its fields are checked as those of a Call, and the values against it."""
        block = 1 + (sum(divmod(octets[0], 16)) + 1) // 2 if octets else 0
        try:
            if octets and dte.FAULT != "connects-whatever-comes":
                # Behind the addresses nothing need follow (X.25 5.2.3).
                dte.check_call(octets if len(octets) != block else octets + b"\0")
                check_answer(octets[block:])
        except IndexError:
            self.clear(38)
        except ValueError as error:
            self.clear(int(str(error)))
        else:
            self.state = "connected"
            self.prompt()

    async def until_cleared(self) -> None:
        """As run(), up to the end of the call."""
        serving = asyncio.ensure_future(self.run())
        while not serving.done() and self.state != "ready":
            await asyncio.wait([serving], timeout=0.02)
        self.writer.close()
        serving.cancel()


async def main() -> None:
    reader, writer = await asyncio.open_connection(sys.argv[1], 1998)
    call = Calling(reader, writer)
    call.place(sys.argv[2])
    await call.until_cleared()


if __name__ == "__main__":
    asyncio.run(main())
