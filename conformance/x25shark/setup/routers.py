# SPDX-License-Identifier: GPL-2.0-or-later
"""Kinds of routers: what a profile of one starts from, and the router's side of the set-up.

Only what is known is said; where a product's own manual has to be asked, the text says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass

from ..endpoints import XOT_PORT

# The X.121 addresses of sides A and B, and of what answers in the router, unless others are given.
A_ADDRESS, B_ADDRESS, ECHO = "3100001", "2100001", "1111"


@dataclass(frozen=True)
class Plan:
    """Who is where. router, a and b: IPv4 addresses, perhaps with ":port"; b None: T2.

    model: the relay model of the profile.
    """

    router: str
    a: str
    b: str | None
    a_address: str
    b_address: str
    echo: str
    model: str

    @property
    def called(self) -> str:
        """The X.121 address that the tester calls."""
        return self.b_address if self.b else self.echo


@dataclass(frozen=True)
class Kind:
    """model: relay model to start from. two_sided: whether it can switch calls (T1)."""

    text: str
    model: str
    two_sided: bool
    pics: tuple[str, ...]
    configuration: Callable[[Plan], str]


def host(endpoint: str) -> str:
    return endpoint.partition(":")[0]


# A prefix of one digit would take half of a network along.
_SHORTEST = 2


def _prefix(plan: Plan, address: str) -> str:
    """The shortest prefix of an address that fits none of the others; where the address is itself
    the beginning of another, all of it."""
    others = {plan.a_address, plan.called} - {address}
    for length in range(_SHORTEST, len(address)):
        if not any(other.startswith(address[:length]) for other in others):
            return address[:length]
    return address


def _routes(plan: Plan) -> list[tuple[str, str]]:
    """Prefixes, and where calls for them go: the longest first.

    So they lead to the same places by the longest match as by the first in their order.
    """
    ends = [(plan.b_address, plan.b)] if plan.b else []
    routes = [(_prefix(plan, x121), to) for x121, to in [*ends, (plan.a_address, plan.a)]]
    return sorted(routes, key=lambda route: -len(route[0]))


def _reference(plan: Plan) -> str:
    listen = plan.router if ":" in plan.router else f"{plan.router}:1998"
    lines = [f'listen = "{listen}"', f'source = "{host(plan.router)}"']
    lines += [f'model = "{plan.model}"', ""]
    for prefix, target in _routes(plan):
        where = target if ":" in target else f"{target}:1998"
        lines += ["[[route]]", f'prefix = "{prefix}"', f'to = "{where}"', ""]
    if plan.echo not in (plan.a_address, plan.called) or not plan.b:
        lines += ["[[route]]", f'prefix = "{plan.echo}"', 'to = "echo"']
    return (
        "The reference router. Save as router-side.toml, and start it with\n"
        "    x25shark router --config router-side.toml\n\n" + "\n".join(lines)
    )


def _cisco(plan: Plan) -> str:
    acknowledge = "" if plan.model == "splice" else f" acknowledge {plan.model}"
    lines = [f"x25 routing{acknowledge}"]
    lines += [f"x25 route ^{prefix} xot {host(to)}" for prefix, to in _routes(plan)]
    text = (
        "Cisco IOS, in global configuration mode. The first command turns X.25 switching and XOT\n"
        "(TCP port 1998) on; a route's pattern is a regular expression over the called address:\n\n"
        + "\n".join(lines)
        + "\n\nThe router has to reach the tester with the address "
        f"{host(plan.router)}: if it has several, the\nroute option xot-source INTERFACE names "
        "the one. show x25 xot and show x25 vc list the\nconnections. Which sizes, windows and "
        "moduli XOT accepts depends on the release; since 12.2(8)T\nan X.25 profile can be bound "
        "to XOT with xot access-group. The relay model of the profile\nis what acknowledge says; "
        "releases before 12.0(7)T do not have the keyword and are\nend-to-end, and those before "
        "11.3 say ip in place of xot in a route."
    )
    if not plan.b:
        text += (
            f"\nWithout a side B the address {plan.echo} has to lead to something on the router "
            "that answers\ncalls and sends data back; IOS has no echo of its own that we know of."
        )
    return text


def _jh_xotd(plan: Plan) -> str:
    return (
        "jh-xotd, an XOT gateway for the X.25 of the Linux kernel. Its configuration file\n"
        "(option -f) has one line for each peer: TUN device (= for any), the peer's address, a\n"
        "script that sets the device up, and the number of circuits:\n\n"
        f"=  {host(plan.a)}  /etc/xotd/xotd-setup  256\n\n"
        "The script is run with the name of the device, and has to set the link up and route X.25\n"
        'to it, for instance: ip link set "$1" up; route --x25 add 0/0 "$1"\n'
        "The gateway does not switch calls: the tester calls a program on the Linux machine. The\n"
        f"address {plan.echo} needs an AF_X25 program that accepts calls and sends data back."
    )


def _linux(plan: Plan) -> str:
    return (
        "Linux: the kernel module x25 has the packet layer, but no XOT. A gateway between XOT\n"
        "and a TUN device of type X.25 is needed (jh-xotd is one; x25shark's source has another\n"
        "in ci/linux-router, with a virtual machine around it: ci/linux-router/start, and the\n"
        "profile linux that comes with x25shark). On the machine:\n\n"
        "modprobe x25\n"
        "ip link set tun0 up\n"
        f"route --x25 add {plan.echo}/{len(plan.echo)} tun0\n\n"
        "(the names of the device and the tools depend on the gateway and the distribution). The\n"
        f"address {plan.echo} needs an AF_X25 program that accepts calls and sends data back."
    )


def _goxot(plan: Plan) -> str:
    servers = []
    for prefix, end in _routes(plan):
        port = int(end.partition(":")[2] or XOT_PORT)
        servers.append({"prefix": f"{prefix}/{len(prefix)}", "ip": host(end), "port": port})
    text = (
        "goxot: the servers of its JSON configuration. A prefix is digits/length. Keep the order:\n"
        "one version takes the longest prefix that fits, another the first in the file; in this\n"
        "order both lead to the same side:\n\n" + json.dumps({"servers": servers}, indent=2)
    )
    if not plan.b:
        text += (
            f"\n\nCalls to {plan.echo} have to reach something that answers and sends data back."
        )
    return text


def _other(plan: Plan) -> str:
    return "Configure the router as follows:\n\n" + _facts(plan)


def _facts(plan: Plan) -> str:
    lines = [
        f"- accept XOT (TCP) at {plan.router}, from {host(plan.a)}",
        *(f"- calls to {prefix}... go by XOT to {to}" for prefix, to in _routes(plan)),
    ]
    if plan.b:
        lines.append(f"- take calls from {host(plan.b)} as well")
    else:
        lines.append(f"- calls to {plan.echo} are answered by something that sends data back")
    lines.append("- port 1998 wherever none is given; packet sizes up to 1024, windows up to 7")
    return "\n".join(lines)


# What is for the ends to agree on, if nothing between them reads it.
_PASSED_ON = ("N-TRUST", "P-MOD128", "P-DBIT", "F-FS", "F-RC", "F-TD", "F-THR")

KINDS: dict[str, Kind] = {
    "reference": Kind(
        "x25shark's reference router", "local", True, ("R-STE", "P-MOD128", "F-FS"), _reference
    ),
    "goxot": Kind("goxot", "splice", True, _PASSED_ON, _goxot),
    "cisco-ios": Kind("Cisco IOS", "local", True, (), _cisco),
    "jh-xotd": Kind("jh-xotd before the Linux kernel", "local", False, ("R-DTE",), _jh_xotd),
    "linux": Kind("the Linux kernel behind a gateway", "local", False, ("R-DTE",), _linux),
    "other": Kind("any other", "local", True, (), _other),
}
MODELS = {
    "local": "each side has its own sequence numbers, window and packet size",
    "end-to-end": "sequence numbers and windows pass through; the router follows the call",
    "splice": "after call set-up packets pass unread",
}


def profile_text(name: str, kind: Kind, plan: Plan, items: Collection[str] | None = None) -> str:
    """A profile in about ten lines, with comments. items: PICS items; None: the kind's usual."""
    pics = ", ".join(f'"{item}"' for item in (kind.pics if items is None else items))
    both = (
        f'b = "{plan.b}"            # where the router sends calls for side B\n' if plan.b else ""
    )
    called = f'b = "{plan.b_address}"' if plan.b else f'echo = "{plan.echo}"'
    why = "routed to xot.b" if plan.b else "answered by the router, which sends data back"
    return (
        f"# Router profile for x25shark ({kind.text}). Check it with: x25shark check FILE\n"
        f'name = "{name}"\n'
        f'relay_model = "{plan.model}"  # {MODELS[plan.model]}\n'
        f"# What the router can do besides what is mandatory; the rest is NOT APPLICABLE.\n"
        f"pics = [{pics}]\n\n"
        "[xot]\n"
        f'router = "{plan.router}"\n'
        f'a = "{plan.a}"            # from where the tester calls, and where it listens\n'
        f"{both}\n"
        "[addresses]  # X.121\n"
        f'a = "{plan.a_address}"  # calling address, routed back to xot.a\n'
        f"{called}  # {why}\n"
        "# [control] start = ..., stop = ..., restart = ...: commands, so that a router that dies\n"
        "# can be started again.\n"
    )
