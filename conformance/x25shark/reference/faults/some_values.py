# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults at some lengths of user data in call set-up and clearing, and at some facility codes."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .. import codec
from .. import facilities as fields
from ..codes import Type
from ..facilities import FAST_SELECT, PACKET_SIZE, WINDOW_SIZE, Facilities, Pair
from .facilities import strip_unknown
from .registry import Patch, fault


def _change_user_data(patch: Patch, kind: int, change: Callable[[bytes], bytes]) -> None:
    """User data of Call or Call Accepted as it goes out."""

    @patch.wrap(codec, "encode_call")
    def encode_call(original: Any, packet_type: int, call: codec.Call) -> bytes:
        if packet_type == kind:
            call = replace(call, user_data=change(call.user_data))
        octets: bytes = original(packet_type, call)
        return octets


@fault("BUG-FS-13")
def call_user_data_below_128(patch: Patch) -> None:
    _change_user_data(patch, Type.CALL, lambda data: data if len(data) == 128 else data[:16])


@fault("BUG-FS-14")
def clear_user_data_up_to_16(patch: Patch) -> None:
    @patch.wrap(codec, "encode_clear")
    def encode_clear(original: Any, modulo: int, lcn: int, clear: codec.Clear) -> bytes:
        if len(clear.user_data) <= 16:
            clear = replace(clear, user_data=b"")
        octets: bytes = original(modulo, lcn, clear)
        return octets


@fault("BUG-FS-15")
def called_user_data_of_one_octet(patch: Patch) -> None:
    _change_user_data(patch, Type.ACCEPT, lambda data: data if len(data) > 1 else b"")


def _wrong_length(patch: Patch, length_of: Callable[[int, int], int]) -> None:
    """Unknown facilities are skipped, by a length made of the code and the right one."""

    @patch.wrap(fields, "parameter_length")
    def parameter_length(original: Any, code: int, field: bytes, at: int) -> tuple[int, int]:
        extra, length = original(code, field, at)
        return extra, length_of(code, length)

    strip_unknown(patch)


@fault("BUG-FAC-44")
def class_d_of_one_octet(patch: Patch) -> None:
    _wrong_length(patch, lambda code, length: max(length, 2) if code >> 6 == 3 else length)


@fault("BUG-FAC-45")
def class_c_by_three_bits(patch: Patch) -> None:
    _wrong_length(patch, lambda code, length: 2 if code >> 5 == 0b100 else length)


@fault("BUG-FAC-46")
def class_b_by_three_bits(patch: Patch) -> None:
    known = (PACKET_SIZE, WINDOW_SIZE)
    _wrong_length(
        patch, lambda code, length: 1 if code >> 5 == 0b010 and code not in known else length
    )


@fault("BUG-FAC-47")
def behind_fast_select(patch: Patch) -> None:
    @patch.wrap(Facilities, "pair")
    def pair(original: Any, facilities: Facilities, code: int) -> Pair | None:
        codes = [item.code for item in facilities.items]
        if code == WINDOW_SIZE and codes[:3] == [PACKET_SIZE, FAST_SELECT, WINDOW_SIZE]:
            return None
        found: Pair | None = original(facilities, code)
        return found
