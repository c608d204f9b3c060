# SPDX-License-Identifier: GPL-2.0-or-later
"""tshark -z x25,circuits, findings, ladder and cases, on captures of any origin."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from capture_builder import pcapng
from strict_tshark import strict_tshark
from test_link import CALL, OUTBOUND, SET_UP, USER0, Frame, out
from test_link import CAPTURES as LINES
from x25shark.judges.sandbox import Sandbox
from x25shark.selftest.dissector_speed import write_dense
from xot_captures import CAPTURES

GOLDEN = Path(__file__).parents[2] / "pcaps"
View = Callable[..., list[str]]


@pytest.fixture(scope="module")
def view() -> Iterator[View]:
    sandbox = Sandbox()

    def lines(capture: Path | bytes, *names: str, options: Sequence[str] = ()) -> list[str]:
        views = [word for name in names for word in ("-z", f"x25,{name}")]
        done = strict_tshark(sandbox, capture, "-q", *views, *options)
        return [line for line in done.stdout.splitlines() if not line.startswith("====")]

    yield lines
    sandbox.close()


def test_each_call_of_a_connection_is_a_circuit(view: View) -> None:
    """Two connections with the same ports are two, and a call that is up is in data transfer."""
    rows = view(CAPTURES["reused ports"], "circuits")[3:-1]
    assert [row.split()[:3] for row in rows] == [["1", "TCP", "0"], ["2", "TCP", "1"]]
    assert all("98765" in row and "12345" in row and "data transfer" in row for row in rows)


def _without_preferences(sandbox: Sandbox, capture: bytes, *options: str) -> list[str]:
    (sandbox.folder / "config" / "preferences").unlink(missing_ok=True)
    return strict_tshark(sandbox, capture, "-q", *options).stdout.splitlines()


@pytest.mark.parametrize("name", ["circuits", "findings", "ladder,1"])
def test_a_view_takes_port_1998_whatever_the_preferences_say(view: View, name: str) -> None:
    """As an installed dissector is used without the profile."""
    sandbox = Sandbox()
    try:
        found = _without_preferences(sandbox, CAPTURES["bad headers"], "-z", f"x25,{name}")
        elsewhere = _without_preferences(
            sandbox, CAPTURES["bad headers"], "-z", f"x25,{name}", "-o", "xots.ports:1997"
        )
    finally:
        sandbox.close()
    assert [line for line in found if "====" not in line] == view(CAPTURES["bad headers"], name)
    said = "\n".join(elsewhere)
    assert "No X.25 in this capture: looked for XOT on TCP port 1997" in said
    assert "-o xots.ports:" in said and "-C x25shark" in said


# Wireshark's windows, as far as the views use them; a button is pressed when a text is shown.
_WINDOWS = """
local entries = {}
function _G.gui_enabled() return true end
function _G.register_menu(name, act) entries[name] = act end
function _G.new_dialog(title, act, label) print("asked: " .. label) act("17") end
function _G.set_filter(text) print("filter: " .. text) end
function _G.apply_filter() print("applied") end
function _G.retap_packets() print("retap") end
function _G.reload_packets() print("reload") end
local window = {}
function window:set(text)
  print(text)
  for _, name in ipairs({ "Go to frame", "All frames" }) do self.buttons[name]() end
end
function window:add_button(label, act) self.buttons[label] = act end
function window.set_atclose() end
_G.TextWindow = { new = function() return setmetatable({ buttons = {} }, { __index = window }) end }
"""


@pytest.mark.parametrize("entry", ["Circuits", "Findings", "Cases and verdicts"])
def test_a_window_goes_to_a_frame(entry: str) -> None:
    """By a filter, and another button takes it away: the frame stays selected."""
    sandbox = Sandbox()
    try:
        lines = _WINDOWS + sandbox.lua.read_text() + f'\nentries["X.25/{entry}"]()\n'
        sandbox.lua.chmod(0o644)
        sandbox.lua.write_text(lines)
        shown = _without_preferences(sandbox, CAPTURES["call"])
    finally:
        sandbox.close()
    assert shown[0] == ("retap" if entry.startswith("Cases") else "reload")
    frame = "filter: frame.number == 17"
    assert shown[-5:] == ["asked: Number of the frame", frame, "applied", "filter: ", "applied"]


def test_a_clearing_says_who_and_why(view: View) -> None:
    (row,) = view(CAPTURES["call"], "circuits")[3:-1]
    assert "clearing" in row
    assert row.endswith("by the caller, cause 0x00 (DTE originated), diagnostic 0")


def test_findings_name_frame_and_rule(view: View) -> None:
    lines = view(CAPTURES["bad headers"], "findings")
    found = [line.split()[3] for line in lines[2:-1] if " circuit " in line]
    assert "x25s.malformed" in found
    assert any("xots.version.bad" in line and "version 1" in line for line in lines)
    assert any("xots.length.bad" in line and "length 0" in line for line in lines)


def test_two_views_see_the_same(view: View) -> None:
    """Neither takes the packets from the other."""
    lines = view(CAPTURES["records"], "circuits", "ladder,1")
    assert sum("X.25 " in line for line in lines) == 2
    assert sum("---->" in line for line in lines) == 5  # call, three Data with two in one segment
    assert sum("<----" in line for line in lines) == 3


def test_a_ladder_that_is_not_there_is_said(view: View) -> None:
    assert view(CAPTURES["call"], "ladder,7")[1] == "no circuit 7 in this capture; it has 1"


def test_circuits_of_a_line_are_by_channel(view: View) -> None:
    (row,) = view(LINES["call"], "circuits")[3:-1]
    assert row.split()[:5] == ["1", "line", "0", "LCN", "1"]
    assert "data transfer" in row or "clearing" in row


def over_ethernet(frames: tuple[Frame, ...]) -> bytes:
    """Frames of a line as Linux's lapbether sends them, with padding."""
    ends = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")
    sent = []
    for flags, octets in frames:
        source, destination = ends if flags == OUTBOUND else reversed(ends)
        frame = octets[:-2]
        whole = destination + source + b"\x60\0" + len(frame).to_bytes(2, "little") + frame
        sent.append(whole.ljust(60, b"\0"))
    # With flags of the capturing machine: the addresses say more.
    return pcapng(sent, flags=[OUTBOUND for _ in sent])


def test_circuits_of_lapb_over_ethernet(view: View) -> None:
    capture = over_ethernet((*SET_UP, *CALL, out("014410010068")))
    assert view(capture, "circuits")[-1] == "circuits: 0, findings: 0"
    asked = view(capture, "circuits", options=("-o", "lapbs.frames:TRUE"))
    (row,) = asked[3:-1]
    assert row.split()[:5] == ["1", "line", "1", "LCN", "1"]
    assert "210000" in row and "data transfer" in row
    assert asked[-1] == "circuits: 1, findings: 0"


def test_circuits_of_link_type_lapb(view: View, tmp_path: Path) -> None:
    frames = (*SET_UP, *CALL, out("014410010068"))
    plain, there = tmp_path / "plain.pcapng", tmp_path / "lapb.syc"
    plain.write_bytes(pcapng([octets[:-2] for _, octets in frames], USER0))
    subprocess.run(["editcap", "-T", "lapb", "-F", "ngsniffer", plain, there], check=True)
    assert view(there, "circuits")[-1].startswith("circuits: 0")
    (row,) = view(there, "circuits", options=("-o", "lapbs.frames:TRUE"))[3:-1]
    assert "line 0 LCN 1" in row and "210000" in row


def test_frames_that_do_not_count_are_findings(view: View) -> None:
    lines = view(LINES["invalid frames"], "findings")
    found = {line.split()[2] for line in lines[2:-1]}
    assert {"hdlcs.fcs.bad", "hdlcs.runt", "hdlcs.giant", "hdlcs.bits.odd"} <= found


def test_cases_of_evidence_with_verdicts(view: View) -> None:
    lines = view(GOLDEN / "PLP-INT-01+BUG-INT-01.pcapng", "cases")
    assert lines[1].startswith("FAIL  PLP-INT-01")
    assert lines[2].lstrip().startswith("frame 17: packet 1: side A expected Data")
    lines = view(GOLDEN / "STATE-C4-d1-reset_confirmation.pcapng", "cases")
    assert lines[1].startswith("PASS  STATE-C4-d1-reset_confirmation")
    assert view(CAPTURES["call"], "cases")[1] == "no verdicts of x25shark in this capture"


def _verdicts(golden: str) -> list[str]:
    """The frames of a golden capture that have a verdict, each with it."""
    sandbox = Sandbox()
    try:
        fields = ["-T", "fields", "-e", "frame.number", "-e", "x25v.verdict"]
        done = strict_tshark(sandbox, GOLDEN / f"{golden}.pcapng", "-Y", "x25v", *fields)
    finally:
        sandbox.close()
    return done.stdout.splitlines()


def test_the_verdict_of_a_frame_is_a_word() -> None:
    """For the column of the profile, which is seen whole."""
    assert _verdicts("PLP-INT-01+BUG-INT-01") == [
        *(f"{number}\tmet PLP-INT-01" for number in (9, 13, 16)),
        "17\tFAIL PLP-INT-01",
    ]
    assert _verdicts("STATE-C4-d1-reset_confirmation")[0] == (
        "9\tmet STATE-C4-d1-reset_confirmation"
    )


def test_verdict_and_clause_come_first_in_the_details() -> None:
    """The pane of Wireshark is narrow."""
    sandbox = Sandbox()
    try:
        golden = GOLDEN / "PLP-INT-01+BUG-INT-01.pcapng"
        done = strict_tshark(sandbox, golden, "-Y", "frame.number == 17", "-O", "x25v")
    finally:
        sandbox.close()
    assert "\nFAIL PLP-INT-01 (X.25 4.3.7; RFC 1613 6.3): packet 1: side A expected" in done.stdout


@pytest.mark.parametrize("packets", [1, 2])
def test_a_dense_capture_is_one_circuit(view: View, tmp_path: Path, packets: int) -> None:
    """What selftest.dissector_speed measures."""
    capture = tmp_path / "dense.pcap"
    write_dense(capture, 105, packets)
    (row,) = view(capture, "circuits")[3:-1]
    assert "data transfer" in row
    assert row.split()[9:] == [str(50 * packets + 1), "51", str(5000 * packets), "0", "0"]
