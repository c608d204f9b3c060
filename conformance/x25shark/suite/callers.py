# SPDX-License-Identifier: GPL-2.0-or-later
"""Calling addresses that are not the caller's own.

A network may check what a DTE says of itself: it clears a Call whose calling address is none of
that DTE's (X.25 Annex E, 68), or puts in the right one (5.2.1). Which it does only the network
knows, so it is asked by a call with an address of the same length, and nothing else wrong in it.
"""

from __future__ import annotations

from ..sides.arriving import as_its_caller_arrives
from .calls import numbers, other_end
from .clearing import generic, give_up, refused
from .language import Bench, CallRequest, ClearIndication


def takes_any_caller(bench: Bench, *, at: str = "a") -> bool:
    """Whether the network passes on a calling address that is none of the side's; else a remark."""
    there, named = other_end(at), numbers(bench)
    own, other = named[at], named[there]
    if not own or not other or not bench.two_sided:
        return True
    strange = "".join(str((int(digit) + 5) % 10) for digit in own)
    x = bench.connect(at=at)
    x.send(bench.call_request(called=other, calling=strange))
    if not bench.went_on(x, at=there):
        wrong = bench.cause(0x13, 0x0B, 0x0D)
        refused(bench, x, ClearIndication(cause=wrong, diagnostic=bench.diagnostic(*generic(68))))
        bench.remark("calls with a calling address that is not the caller's own are refused")
        return False
    y = bench.incoming(
        *(CallRequest(calling_address=digits) for digits in (strange, own)), at=there
    )
    right = as_its_caller_arrives(bench.profile.addresses, y.name, own)
    passed = y.call is None or y.call.calling_address != right
    if not passed:
        bench.remark("the router puts the caller's own address in the place of another one")
    give_up(x, y)
    return passed
