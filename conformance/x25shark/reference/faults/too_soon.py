# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults of a router that does not wait as long as its timers say."""

from dataclasses import replace
from typing import Any

from .. import codec
from ..call_setup import CallSetup
from ..clearing import Clearing
from ..codec import Call, Clear
from ..resets import Resets
from ..tables import D, P
from .registry import Patch, fault

SECONDS = 1.2


@fault("BUG-CALL-64")
def call_again(patch: Patch) -> None:
    @patch.wrap(CallSetup, "call")
    def call(original: Any, setup: CallSetup, request: Call, octets: bytes = b"") -> None:
        original(setup, request, octets)
        channel = setup.channel

        def again() -> None:
            if channel.p is P.CALL_SENT:
                channel.send(octets or setup.encode_call(request))

        channel.start_timer("again", SECONDS, again)


@fault("BUG-CALL-65")
def late_answer_without_user_data(patch: Patch) -> None:
    late = [False]

    @patch.wrap(CallSetup, "call")
    def call(original: Any, setup: CallSetup, request: Call, octets: bytes = b"") -> None:
        late[0] = False
        setup.channel.start_timer("late", SECONDS, lambda: late.__setitem__(0, True))
        original(setup, request, octets)

    @patch.wrap(codec, "parse_accept")
    def parse_accept(original: Any, octets: bytes) -> Call:
        accept: Call = original(octets)
        return replace(accept, user_data=b"") if late[0] else accept


@fault("BUG-RST-43")
def reset_again(patch: Patch) -> None:
    @patch.wrap(Resets, "send")
    def send(original: Any, resets: Resets, cause: int, diagnostic: int) -> None:
        original(resets, cause, diagnostic)
        channel = resets.channel

        def again() -> None:
            if channel.d is D.RESET_SENT:
                resets.emit(cause, diagnostic)

        channel.start_timer("again", SECONDS, again)


@fault("BUG-CLR-32")
def clear_again(patch: Patch) -> None:
    @patch.wrap(Clearing, "send")
    def send(original: Any, clearing: Clearing, clear: Clear) -> None:
        original(clearing, clear)
        channel = clearing.channel

        def again() -> None:
            if channel.p is P.CLEAR_SENT:
                clearing.emit(clear)

        channel.start_timer("again", SECONDS, again)
