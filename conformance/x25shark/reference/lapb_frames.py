# SPDX-License-Identifier: GPL-2.0-or-later
"""LAPB frames, modulo 8, as octets without FCS (X.25 2.3).

Octet 1 address, octet 2 control: I is N(R) P N(S) 0, a supervisory frame N(R) P/F S S 0 1, an
unnumbered one M M M P/F M M 1 1. Commands to the DTE and responses from the DTE have address A,
commands to the DCE and responses from the DCE address B (X.25 2.4.2).
"""

from typing import Final, NamedTuple

ADDRESS_A: Final = 0x03
ADDRESS_B: Final = 0x01
P_F: Final = 0x10


class Control:
    """Control octet without N(S), N(R) and P/F (X.25 Table 2-5)."""

    I: Final = 0x00  # noqa: E741 - the standard's name
    RR: Final = 0x01
    RNR: Final = 0x05
    REJ: Final = 0x09
    SABM: Final = 0x2F
    SABME: Final = 0x6F
    DISC: Final = 0x43
    UA: Final = 0x63
    DM: Final = 0x0F
    FRMR: Final = 0x87


NAMES: Final[dict[int, str]] = {
    value: name for name, value in vars(Control).items() if isinstance(value, int)
}
SUPERVISORY: Final = frozenset({Control.RR, Control.RNR, Control.REJ})
#: Unnumbered frames by whether they are commands.
COMMANDS: Final = frozenset({Control.SABM, Control.SABME, Control.DISC})
RESPONSES: Final = frozenset({Control.UA, Control.DM, Control.FRMR})


class Reason:
    """Why a frame is rejected: octet 3 of the information field of FRMR (X.25 2.3.4.9)."""

    W: Final = 0x01
    X: Final = 0x02
    Y: Final = 0x04
    Z: Final = 0x08


class Frame(NamedTuple):
    """A frame as received. control is the octet as it came, kind without its numbers."""

    command: bool
    kind: int
    p_f: bool
    n_s: int
    n_r: int
    control: int
    information: bytes


def kind_of(control: int) -> int:
    """The control octet without numbers and P/F."""
    if not control & 1:
        return Control.I
    return control & 0x0F if control & 3 == 1 else control & ~P_F


def name_of(control: int) -> str:
    """Name of a frame for the counters."""
    return NAMES.get(kind_of(control), "undefined")


def parse(octets: bytes, own: int) -> Frame:
    """A frame of at least two octets, whose address is A or B.

    own: the address of commands to this station.
    """
    control = octets[1]
    return Frame(
        command=octets[0] == own,
        kind=kind_of(control),
        p_f=control & P_F != 0,
        n_s=control >> 1 & 7,
        n_r=control >> 5,
        control=control,
        information=octets[2:],
    )


def information(address: int, n_s: int, n_r: int, packet: bytes) -> bytes:
    """An I frame with P = 0."""
    return bytes((address, n_r << 5 | n_s << 1)) + packet


def supervisory(address: int, kind: int, n_r: int, p_f: bool) -> bytes:
    """RR, RNR or REJ."""
    return bytes((address, n_r << 5 | p_f << 4 | kind))


def unnumbered(address: int, kind: int, p_f: bool, field: bytes = b"") -> bytes:
    """SABM, DISC, UA, DM or FRMR."""
    return bytes((address, kind | p_f << 4)) + field


def rejection(frame: Frame, v_s: int, v_r: int, reasons: int) -> bytes:
    """Information field of FRMR: the control octet; V(R), C/R, V(S); W X Y Z (X.25 2.3.4.9)."""
    c_r = not frame.command
    return bytes((frame.control, v_r << 5 | c_r << 4 | v_s << 1, reasons))
