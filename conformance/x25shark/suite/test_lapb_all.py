# SPDX-License-Identifier: GPL-2.0-or-later
"""Everything that a link does, wherever the link may come from (X.25 2.4)."""

from __future__ import annotations

from .clearing import end
from .language import Bench, Data, LapbI, LapbREJ, LapbRR, LineSide, Packet, Raw, Side, purpose
from .link_walks.all_of_it import OWN, does_all
from .link_walks.link import Link
from .link_walks.walk import ACTIONS, recover
from .links import at_the_line, by_t1, calls_lines, expect_poll, is_polled, opened, respond
from .test_all_of_it import values

#: What is left open on a link, what ends it, and what it is called.
ENDS: tuple[tuple[tuple[tuple[str, int], ...], tuple[str, int], str], ...] = (
    (
        (("ask", 1), ("skip-one", 0), ("not-ready", 0)),
        ("reset", 1),
        "behind a reset of a busy tester",
    ),
    ((("ask", 2), ("skip-one", 0)), ("rejected", 0), "behind FRMR of the tester"),
    ((("skip-one", 0), ("ask", 0)), ("reject", 0x2C), "behind FRMR of the router"),
)


@purpose("LAPB-I-16")
def test_on_links_of_every_kind(bench: Bench) -> None:
    """New, behind each end of the one before, and behind timer recovery, which is of all lines at
    once."""
    links = []
    for at in sorted(bench.lines):
        line = bench.line(at)
        line.link.bring_up()
        links.append(Link(line))
    for link in links:
        link.fresh()
    for link in links:
        does_all(link, 0, "on a new link", links)
        for number, (left, (last, value), where) in enumerate(ENDS, 1):
            for action, how in left:
                ACTIONS[action](link, how)
            ACTIONS[last](link, value)
            does_all(link, number, where, links)
    # More waits than the window takes, all of which F=1 acknowledges.
    for link in links:
        OWN["overfill"](link, 0)
    recover(links, 0x20)
    for link in links:
        does_all(link, len(ENDS) + 1, "behind timer recovery", links)


#: What makes the router send I frames again: REJ, or the answer to its poll; and how many of them
#: have arrived.
AGAIN: tuple[tuple[type[Packet], int, str], ...] = (
    (LapbREJ, 0, "for REJ"),
    (LapbREJ, 1, "for REJ behind the first"),
    (LapbRR, 0, "for the answer to a poll"),
    (LapbRR, 1, "for an answer that acknowledges the first"),
)


@purpose("LAPB-REC-21")
def test_what_comes_again_is_what_came(bench: Bench) -> None:
    """Data of a call, each packet another."""
    for at in calls_lines(bench):
        call = bench.place_call(options=values(bench, 128, 7))
        line, near, far = at_the_line(bench, call, at)
        for kind, arrived, name in AGAIN:
            call.fence()
            line.link_fence()
            near.withholding = line.by_hand = True
            first, begin = line.station.v_r, line.connection.received_octets
            messages = _sent_by(far, min(line.profile.k, near.window_in))
            packets = _opened_by(line, first, begin, len(messages))
            begin = line.connection.received_octets
            if kind is LapbRR:
                expect_poll(line)
            respond(line, kind, first + arrived)
            for number in range(arrived, len(packets)):
                _comes_again(line, first + number, packets[number], begin, name)
                respond(line, LapbRR, first + number + 1)
            line.by_hand = near.withholding = False
            respond(line, LapbRR, line.station.v_r)
            # A router may keep what comes next until then, whatever the window is.
            near.acknowledge()
            for message in messages:
                near.expect(Data(user_data=message))
        end(call)
    bench.fence()


def _sent_by(far: Side, most: int) -> list[bytes]:
    """Data of the far end: as many as its window takes, each another."""
    messages = [b"number %d" % nth + bytes(nth) for nth in range(min(most, far.window))]
    for message in messages:
        far.wait_for_window()
        far.send_data(message)
    return messages


def _opened_by(line: LineSide, first: int, begin: int, number: int) -> list[bytes]:
    """The packets of the I frames that the router has open from this N(S) on, up to so many.

    It may have fewer open than it might (X.25 2.4.8.6), so the others are not waited for long.
    """
    line.wait_until(lambda: opened(line, first, begin) > 0)
    line.wait_until(lambda: opened(line, first, begin) >= number, line.profile.t1 / 2)
    frames = [u.octets for u in line.line.log.received if u.offset >= begin and u.valid]
    packets = {octets[1] >> 1 & 7: octets[2:-2] for octets in frames if not octets[1] & 1}
    return [packets[(first + nth) % 8] for nth in range(opened(line, first, begin))]


def _comes_again(line: LineSide, n_s: int, packet: bytes, begin: int, why: str) -> None:
    """This packet with this N(S), and no other; a router that polls meanwhile is told what is
    missing."""
    n_s %= 8

    def came() -> list[bytes]:
        frames = [u.octets for u in line.line.log.received if u.offset >= begin and u.valid]
        return [f[2:-2] for f in frames if not f[1] & 1 and f[1] >> 1 & 7 == n_s]

    for _ in range(line.profile.n2):
        line.wait_until(lambda: bool(came()) or is_polled(line), by_t1(line))
        if came() or not is_polled(line):
            break
        respond(line, LapbRR, n_s)
    line.expect_count(LapbI(n_s=n_s) / Raw(packet), 1, start=begin, note=f"again, {why}")
    for other in {carried for carried in came() if carried != packet}:
        line.expect_count(LapbI(n_s=n_s) / Raw(other), 0, 0, start=begin, note=f"again, {why}")
