# SPDX-License-Identifier: GPL-2.0-or-later
"""What the profile lets a router answer: how soon, and with which causes and diagnostics.

The rules are those of docs/verdicts.md, "How verdicts are decided".
"""

from __future__ import annotations

from ..catalogue import Purpose
from ..judges.values import Matcher, Named, OneOf, one_of
from ..profile import Profile
from .causes import with_those_of_a_dte
from .diagnostics import Diagnostics
from .outcomes import NotApplicable

# X.25 5.2.4: what the network says of a Clear.
NETWORK_CAUSES = (0x01, 0x03, 0x05, 0x09, 0x0B, 0x0D, 0x11, 0x13, 0x15, 0x19, 0x21, 0x29, 0x39)
# Of these, what it says where the other end was lost: none that is for what this end asked or did.
_OF_A_LOST_END = (0x01, 0x05, 0x09, 0x0D, 0x11, 0x15, 0x21)

# X.25 Table E-1: a network's own diagnostics.
_NETWORK_SPECIFIC = range(128, 256)


class Answers:
    """The part of a bench that is the profile's and the purpose's alone."""

    def __init__(self, profile: Profile, purpose: Purpose) -> None:
        self.profile = profile
        self.purpose = purpose
        tested = set(purpose.configurations).intersection(profile.configurations)
        #: Whether the router under test places the calls of the case (T6).
        self.dials = tested == {"T6"}

    @property
    def reaction_limit(self) -> float:
        """How long a reaction may take before it does not count as one: twice TR."""
        return 2 * self.profile.times.reaction

    @property
    def two_sided(self) -> bool:
        """Whether the tester plays both ends of a call."""
        return self.profile.two_sided

    @property
    def is_a_dte(self) -> bool:
        """Whether the router under test is a DTE that ends the calls itself, with no side B."""
        return not self.two_sided and self.declared("R-DTE")

    @property
    def model(self) -> str:
        """The relay model of the path: local, end-to-end or splice. T2: local."""
        return self.profile.relay_model if self.two_sided else "local"

    def declared(self, item: str) -> bool:
        """Whether a PICS item holds."""
        return item in self.profile.declared

    @property
    def dte_on_xot(self) -> bool:
        """Whether the router is a DTE on XOT: what its lines say by their role is said of those."""
        if self.profile.line.by_side():
            return "R-DTE" in self.profile.pics
        return self.declared("R-DTE")

    def clause(self, clause: str | None) -> str:
        return clause or self.purpose.clause

    def diagnostic(self, *codes: int) -> Matcher:
        """The diagnostics that stand for these ones at the profile's level.

        Those of states are as a DCE has them; each side takes what is right on its link.
        """
        if self.profile.diagnostics == "any":
            return OneOf((*range(256), None))
        generic = [*(code // 16 * 16 for code in codes), 0, *_NETWORK_SPECIFIC]
        added = generic if self.profile.diagnostics == "group" else []
        return Diagnostics(tuple(dict.fromkeys((*codes, *added))), codes)

    def cause(self, network: int, *others: int) -> Matcher:
        """The clearing causes for an error that the router found itself.

        Where it is a DTE it sends one of a DTE instead (causes.py); each side takes what is right
        on its link. 0x01 of a DTE is a remark (postamble.py).
        """
        return self._or_of_a_dte(one_of(network, *others), 1)

    def _or_of_a_dte(self, causes: OneOf, *others: int) -> OneOf:
        return with_those_of_a_dte(causes, *others) if self.declared("R-DTE") else causes

    def _reset_cause(self, network: int) -> Matcher:
        return self._or_of_a_dte(one_of(network))

    @property
    def local_clear(self) -> Matcher:
        """Clearing cause towards the side that made the error."""
        return self.cause(0x13)

    @property
    def remote_clear(self) -> Matcher:
        """Clearing cause towards the other side."""
        return self.cause(0x11)

    @property
    def local_reset(self) -> Matcher:
        """Resetting cause towards the side that made the error."""
        return self._reset_cause(0x05)

    @property
    def remote_reset(self) -> Matcher:
        """Resetting cause towards the other side."""
        return self._reset_cause(0x03)

    @property
    def network_clear(self) -> Matcher:
        """Any clearing cause of the network that X.25 defines, or a DTE's where it is one."""
        return self._or_of_a_dte(Named(NETWORK_CAUSES, "any of a network"))

    @property
    def lost_clear(self) -> Matcher:
        """The cause of a Clear where the other end of the call, or the way to it, was lost."""
        return self._or_of_a_dte(Named(_OF_A_LOST_END, "of a network, for the other end"))

    def need(self, condition: object, what: str) -> None:
        """Demand something of the profile that PICS items do not name. Raises NotApplicable."""
        if not condition:
            raise NotApplicable(what)
