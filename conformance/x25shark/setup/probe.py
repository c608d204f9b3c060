# SPDX-License-Identifier: GPL-2.0-or-later
"""What a router answers to a TCP connection and one call, in words; nothing is judged here."""

from __future__ import annotations

from scapy_x25 import CallRequest, ClearRequest, PacketSize, WindowSize, summary_line
from scapy_x25.x25 import CALL_ACCEPTED, packet_type

from ..links import xot
from ..links.loop import Loop
from ..links.xot import Connection, LinkError, Listener
from ..profile import Profile
from ..sides.side import unit

SECONDS = 4.0


def probe(profile: Profile) -> tuple[bool, list[str]]:
    """Whether the router did what a profile like this expects, and what was seen."""
    loop = Loop()
    listener: Listener | None = None
    said: list[str] = []
    try:
        if profile.xot_end.b is not None:
            listener = Listener(loop, profile.xot_end.b)
        return _call(profile, loop, listener, said), said
    except LinkError as error:
        return False, [*said, str(error)]
    finally:
        if listener is not None:
            listener.close()
        loop.close()


def _call(profile: Profile, loop: Loop, listener: Listener | None, said: list[str]) -> bool:
    arrived: list[Connection] = []
    if listener is not None:
        listener.on_accept = arrived.append
    side_a = xot.connect(loop, profile.xot_end.router, profile.xot_a[0], SECONDS)
    host, port = profile.xot_end.router
    said.append(f"TCP connection to {host}:{port}: accepted")
    called = profile.addresses.b if listener is not None else profile.addresses.echo
    request = CallRequest(
        lcn=1,
        called_address=called,
        calling_address=profile.addresses.a,
        facilities=[PacketSize(called=7, calling=7), WindowSize(called=2, calling=2)],
        user_data=b"\xc0\0\0\0",
    )
    side_a.send(unit(bytes(request)))

    def answered() -> bool:
        far = bool(arrived and arrived[0].received)
        return far or bool(side_a.received) or side_a.end is not None

    loop.wait(answered, SECONDS)
    for connection in arrived[:1]:
        came = [summary_line(u.packet) for u in connection.received[:1]] or ["no packet yet"]
        said.append(f"side B was called: {came[0]}")
    for received in side_a.received[:1]:
        said.append(f"answer to the call: {summary_line(received.packet)}")
    if not arrived and not side_a.received:
        ended = f"; the router ended the connection ({side_a.end})" if side_a.end else ""
        said.append(f"no answer to the call to {called} within {SECONDS:g} s{ended}")
    good = bool(arrived) if listener is not None else _connected(side_a)
    side_a.send(unit(bytes(ClearRequest(lcn=1, cause=0, diagnostic=0))))
    loop.wait(lambda: side_a.end is not None or len(side_a.received) > 1, 1.0)
    for connection in (side_a, *arrived):
        connection.close()
    return good


def _connected(side: Connection) -> bool:
    return bool(side.received) and packet_type(side.received[0].packet) == CALL_ACCEPTED
