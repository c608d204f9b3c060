# SPDX-License-Identifier: GPL-2.0-or-later
"""Whole runs of the command: exit statuses, messages, and equal verdicts whichever way."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

import pytest
from x25shark.setup import doctor, wireshark_files

from .conftest import environment, x25shark

pytestmark = pytest.mark.usefixtures("namespaces")

# Some of each: framing, a call, data, a connection from the router, the whole run.
FEW = "XOT-HDR-01,PLP-CALL-01,PLP-CALL-22,PLP-DATA-01,PLP-RST-01,PLP-CLR-17,PLP-MOD-01"
OWN = "--own-namespace"
PACKAGES = sysconfig.get_paths()["platlib"]


def verdicts(directory: Path) -> dict[str, str]:
    document = json.loads((directory / "results.json").read_text())
    return {case["id"]: case["verdict"] for case in document["cases"]}


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("few")
    done = x25shark("run", OWN, "--select", FEW, "--output", str(directory))
    assert done.returncode == 0, done.stdout + done.stderr
    return directory


def test_a_run_leaves_report_and_evidence(few: Path) -> None:
    for name in ("results.json", "report.html", "junit.xml"):
        assert (few / name).stat().st_size > 100
    for identifier, verdict in verdicts(few).items():
        evidence = few / "cases" / f"{identifier}.pcapng"
        # What looks at the whole run has the evidence of the cases.
        assert evidence.exists() is (verdict == "PASS" and identifier != "PLP-CLR-17")


def test_what_the_whole_run_showed_is_run_again_with_its_case(tmp_path: Path) -> None:
    options = ("--output", str(tmp_path), "--fault", "BUG-FORM-03")
    x25shark("run", OWN, "--select", "PLP-FORM-01,PLP-RST-01,PLP-CLR-01", *options)
    document = json.loads((tmp_path / "results.json").read_text())
    failed = next(case for case in document["cases"] if case["id"] == "PLP-FORM-01")
    assert failed["shown_in"] == "PLP-CLR-01"
    assert "--select PLP-FORM-01,PLP-CLR-01" in failed["rerun"]
    done = x25shark("run", OWN, "--last-failed", *options)
    assert done.returncode == 1, done.stdout + done.stderr
    assert verdicts(tmp_path) == {"PLP-FORM-01": "FAIL", "PLP-CLR-01": "PASS"}


def plain_pytest(report: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull]
    command += ["--rootdir", "/", "--import-mode=importlib", OWN, *options]
    command += ["--x25shark-output", str(report), "--pyargs", "x25shark.suite"]
    return subprocess.run(
        command, env=environment(), capture_output=True, text=True, check=False, timeout=180
    )


def test_plain_pytest_gives_the_same_verdicts(few: Path, tmp_path: Path) -> None:
    done = plain_pytest(tmp_path / "report", "--select", FEW)
    assert done.returncode == 0, done.stdout
    found = verdicts(few)
    assert verdicts(tmp_path / "report") == found
    passed = sum(v == "PASS" for v in found.values())
    assert f"{passed} passed" in done.stdout


def test_pytest_selects_a_case_by_its_name(tmp_path: Path) -> None:
    done = plain_pytest(tmp_path / "report", "-k", "PLP-INT-01")
    assert "1 passed" in done.stdout
    assert verdicts(tmp_path / "report") == {"PLP-INT-01": "PASS"}


@pytest.mark.parametrize(
    ("expression", "found"), [("plp-int-01", 1), ("PLP-INT-01 or XOT-HDR-01", 2), ("PLP-X-01", 0)]
)
def test_pytest_finds_a_case_by_its_name_where_no_path_is_given(
    expression: str, found: int, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--collect-only"]
    done = subprocess.run(
        [*command, "-k", expression],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert done.stdout.count("::test_") == found


def test_what_could_not_be_judged_is_no_success(tmp_path: Path) -> None:
    """A profile that does not say that the router has permanent circuits."""
    profile = profile_of(tmp_path)
    profile.write_text('embedded = "reference.router"\n' + profile.read_text())
    report = tmp_path / "report"
    options = ["--router", str(profile), "--select", "XOT-HDR-01,XOT-PVC-16"]
    why = "the router answers a PVC setup: its profile should declare X-PVC"
    done = x25shark("run", OWN, *options, "--output", str(report))
    assert done.returncode == 5, done.stdout + done.stderr
    assert re.search(rf"INCONCLUSIVE: 1\n +1  {why}\n", done.stdout)
    done = x25shark("run", OWN, "--inconclusive-ok", *options, "--output", str(report))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "INCONCLUSIVE: 1" in done.stdout
    done = plain_pytest(report, *options)
    assert done.returncode == 5, done.stdout
    assert f"1 INCONCLUSIVE: 1 x {why}" in done.stdout
    assert plain_pytest(report, "--inconclusive-ok", *options).returncode == 0


def test_the_judge_by_tshark_gives_the_same_verdicts(few: Path, tmp_path: Path) -> None:
    done = x25shark("run", OWN, "--judge", "tshark", "--select", FEW, "--output", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((tmp_path / "results.json").read_text())["run"]["judge"] == "tshark"
    assert verdicts(tmp_path) == verdicts(few)


def test_a_broken_router_fails(tmp_path: Path) -> None:
    done = x25shark(
        "run", OWN, "--null", "clear", "--select", "PLP-CALL-01,PLP-DATA-01", "--output",
        str(tmp_path),
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    assert "FAIL" in verdicts(tmp_path).values()
    shown = x25shark("show", "PLP-CALL-01", "--output", str(tmp_path))
    assert "FAIL" in shown.stdout
    assert "run again" in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--router", "referense"], 2, "did you mean 'reference'"),
        (["--select", "PLP-NONE-01"], 2, "names no case"),
        (["--select", "PLP-INTT"], 2, "did you mean PLP-INT, "),
        (["--select", "PLP-CALL-01,!PLP-CALL-01"], 3, "no case was selected"),
        (["--fault", "no-such-fault"], 2, "no-such-fault"),
        (["--output", "/proc/x25shark"], 2, "cannot write the report there"),
        (["--deadline", "nan"], 2, "'nan' is not a number"),
    ],
)
def test_bad_usage_gets_one_message(
    arguments: list[str], status: int, message: str, tmp_path: Path
) -> None:
    where = [] if "--output" in arguments else ["--output", str(tmp_path)]
    done = x25shark("run", OWN, *where, *arguments)
    assert done.returncode == status, done.stdout + done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def profile_of(directory: Path, **xot: str) -> Path:
    """A router that some other process would be, on loopback."""
    ends = {"router": "127.0.25.1", "a": "127.0.25.2", "b": "127.0.25.3"} | xot
    lines = [f'{name} = "{value}"' for name, value in ends.items()]
    path = directory / "own.toml"
    path.write_text(
        "[xot]\n" + "\n".join(lines) + '\n[addresses]\nb = "21"\n[control]\nstart = "true"\n'
    )
    return path


def test_one_address_for_both_sides(tmp_path: Path) -> None:
    router = str(profile_of(tmp_path, b="127.0.25.2"))
    done = x25shark("run", OWN, "--router", router, "--output", str(tmp_path / "report"))
    assert done.returncode == 2, done.stdout + done.stderr
    assert "xot.a is 127.0.25.2:1998, as xot.b is" in done.stderr


def test_a_side_at_the_address_of_the_router(tmp_path: Path) -> None:
    router = str(profile_of(tmp_path, b="127.0.25.1"))
    done = x25shark("run", OWN, "--router", router, "--output", str(tmp_path / "report"))
    assert done.returncode == 2, done.stdout + done.stderr
    assert "xot.b is 127.0.25.1:1998, as xot.router is: the tester would call itself" in done.stderr


def test_one_packet_for_which_several_purposes_fail_is_said_to_be_one(tmp_path: Path) -> None:
    options = ("--output", str(tmp_path), "--fault", "BUG-XOT-34")
    x25shark("run", OWN, "--select", "XOT-FORB-06,XOT-FORB-07", *options)
    document = json.loads((tmp_path / "results.json").read_text())
    reasons = {case["id"]: case["reason"] for case in document["cases"]}
    # What of the tester is named last depends on what came with it in one segment.
    sent = r"(had sent|and) REJ LCI=1 P\(R\)=0 \(frame \d+\)"
    assert re.search(sent, reasons["XOT-FORB-06"]), reasons["XOT-FORB-06"]
    assert reasons["XOT-FORB-07"].endswith(
        "the same packet for which XOT-FORB-06 fails: one fault, not two"
    )


def test_an_unreachable_router(tmp_path: Path) -> None:
    router = str(profile_of(tmp_path))
    done = x25shark("run", OWN, "--router", router, "--output", str(tmp_path / "report"))
    assert done.returncode == 2, done.stdout + done.stderr
    assert "the router does not answer" in done.stderr
    assert "own.toml" in done.stderr


@pytest.mark.parametrize("option", ["fault", "variant"])
def test_an_unknown_switch_is_told_before_anything_runs(tmp_path: Path, option: str) -> None:
    report = tmp_path / "report"
    done = x25shark("run", OWN, f"--{option}", "BUG-NONE", "--output", str(report))
    assert done.returncode == 2, done.stdout + done.stderr
    assert f"--{option}: no {option} 'BUG-NONE'" in done.stderr
    assert not done.stdout and not report.exists()


def test_a_port_in_use(tmp_path: Path) -> None:
    """The profile gives both listening sides the same address."""
    router = str(profile_of(tmp_path, a="127.0.25.3"))
    done = x25shark("run", OWN, "--router", router, "--output", str(tmp_path / "report"))
    assert done.returncode == 2, done.stdout + done.stderr
    assert "127.0.25.3" in done.stderr
    assert "Traceback" not in done.stderr


def test_no_dumpcap(tmp_path: Path) -> None:
    """Every other program is there."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("tshark", "make", "pkg-config", "gcc", "sh", "true", "unshare"):
        found = shutil.which(name)
        assert found is not None
        (programs / name).symlink_to(found)
    done = x25shark(
        "run", OWN, "--select", "PLP-CALL-01", "--output", str(tmp_path / "report"),
        env=environment(PATH=str(programs)),
    )  # fmt: skip
    assert done.returncode == 3, done.stdout + done.stderr
    assert "dumpcap is not installed" in done.stderr


@pytest.mark.parametrize(
    ("there", "said"),
    [([], "not installed: pkg-config"), (["pkg-config"], "not installed: make, cc")],
)
def test_doctor_says_what_to_type(tmp_path: Path, there: list[str], said: str) -> None:
    """Without what builds the judge; tshark judges in its place."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("tshark", "dumpcap", "sh", "true", *there):
        found = shutil.which(name)
        assert found is not None
        (programs / name).symlink_to(found)
    done = x25shark(
        "doctor",
        env=environment(PATH=str(programs), XDG_CACHE_HOME=str(tmp_path / "cache"), CC="cc"),
    )
    assert said in done.stdout
    assert "sudo apt-get install gcc make pkg-config libwireshark-dev" in done.stdout
    assert "sudo apt-get install wireshark" in done.stdout
    assert "--  wireshark    not installed" in done.stdout


@pytest.mark.parametrize("what", ["x25shark_engine", "MLRsearch", "pyftpdlib"])
def test_doctor_marks_a_module_that_cannot_be_imported(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only some commands need it, so it does not spoil the exit status."""
    (tmp_path / what).mkdir()
    (tmp_path / what / "__init__.py").write_text("raise ImportError('built for another Python')")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
    name = "load engine" if what == "x25shark_engine" else what
    (found,) = [f for f in doctor.findings() if f[0] == name]
    assert found[2] is None
    assert "cannot be imported: ImportError: built for another Python" in found[1]
    assert "ci/setup engine" in found[1]
    assert ("pipx inject x25shark x25shark_engine-*.whl" in found[1]) == (name == "load engine")


def test_doctor_does_not_call_well_that_nobody_may_capture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "may_capture", lambda: False)
    (found,) = [f for f in doctor.findings() if f[0] == "capture"]
    assert found[2] is None
    assert "sudo dpkg-reconfigure wireshark-common" in found[1]


def test_doctor_names_the_packages_of_programs_that_are_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, **_: None if name == "ping" else name)
    (found,) = [f for f in doctor.findings() if f[0] == "ip programs"]
    assert found[2] is None
    assert found[1].startswith("not installed: ping;")
    assert found[1].endswith("sudo apt-get install iputils-ping")


def test_doctor_looks_at_the_users_own_wireshark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    def said() -> tuple[str, str, bool | None]:
        (found,) = [f for f in doctor.findings() if f[0] == "dissector"]
        return found

    assert said()[1].endswith("x25shark wireshark install")
    assert said()[2] is None
    wireshark_files.install(wireshark_files.places())
    assert said()[2] is True
    wireshark_files.places().script.write_text("another")
    assert said()[1].endswith("x25shark wireshark status")


def test_two_serial_runs_at_once(tmp_path: Path) -> None:
    """Both routers listen on the same port: each run has a network namespace of its own."""
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", "from x25shark.cli import main; main()", "run", "--router",
             "reference-serial", "--select", "LAPB-SET-0*", "--output", str(tmp_path / name)],
            env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        for name in ("one", "two")
    ]  # fmt: skip
    for run in runs:
        said, _ = run.communicate()
        assert run.returncode == 0, said


def run_in_background(tmp_path: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", "from x25shark.cli import main; main()", "run", OWN, "--output",
         str(tmp_path), *arguments],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip


def await_evidence(directory: Path, process: subprocess.Popen[str], count: int) -> None:
    """Until that many cases have left evidence."""
    deadline = time.monotonic() + 120
    while len(list(directory.glob(".run-*/cases/*.pcapng"))) < count:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_interrupted_runs_leave_a_report(tmp_path: Path) -> None:
    process = run_in_background(tmp_path)
    await_evidence(tmp_path, process, 5)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=120)
    assert process.returncode == 130, out + error
    assert "Traceback" not in out + error
    found = verdicts(tmp_path)
    assert list(found.values()).count("PASS") >= 4
    assert (tmp_path / "report.html").exists()


def test_two_runs_into_one_folder(few: Path, tmp_path: Path) -> None:
    """The second is told, and disturbs neither the first nor the report that is there."""
    shutil.copytree(few, tmp_path / "report")
    process = run_in_background(tmp_path / "report")
    await_evidence(tmp_path / "report", process, 1)
    done = x25shark("run", OWN, "--select", FEW, "--output", str(tmp_path / "report"))
    assert done.returncode == 2, done.stdout + done.stderr
    assert "another run is writing its report there" in done.stderr
    assert verdicts(tmp_path / "report") == verdicts(few)
    process.send_signal(signal.SIGTERM)
    out, error = process.communicate(timeout=120)
    assert process.returncode == 143, out + error
    assert verdicts(tmp_path / "report") != verdicts(few)
    assert [verdicts(kept) for kept in (tmp_path / "report" / "earlier").iterdir()] == [
        verdicts(few)
    ]


# A file system with so little room, or none to write at all; then the command.
ON_A_DISK = (
    'mount -t tmpfs -o size=$1 none "$2" && shift 2 && "$@"; echo "status $?"; ls -A "$DISK"'
)


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user may not mount")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("60k", "the report cannot be written: {}: No space left on device"),
        ("20k", "{}: cannot write the report there: No space left on device"),
        ("60k,ro", "{}: cannot write the report there: Read-only file system"),
    ],
)
def test_a_full_disk_and_one_that_cannot_be_written(
    tmp_path: Path, options: str, message: str
) -> None:
    run = [sys.executable, "-m", "x25shark.start", "run", OWN, "--select", "PLP-CALL-0*"]
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", ON_A_DISK, "sh", options, str(tmp_path), *run,
         "--output", str(tmp_path)],
        env=environment(DISK=str(tmp_path)), capture_output=True, text=True, check=False,
        timeout=180,
    )  # fmt: skip
    assert message.format(tmp_path) in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert "report: " not in done.stdout
    assert done.stdout.endswith("status 2\n" if options != "60k" else "status 4\n")


def children(pid: int) -> list[tuple[int, str]]:
    """Processes below one, with their names."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue
        match = re.match(r"(\d+) \((.*)\) . (\d+)", text)
        if match and int(match[3]) == pid:
            found += [(int(match[1]), match[2]), *children(int(match[1]))]
    return found


def test_a_judge_that_is_killed_costs_little(tmp_path: Path) -> None:
    process = run_in_background(tmp_path, "--judge", "libwireshark", "--select", "PLP-FAC,PLP-MALF")
    await_evidence(tmp_path, process, 3)
    judges = [pid for pid, name in children(process.pid) if name.startswith("x25shark-judge")]
    assert judges
    for pid in judges:
        os.kill(pid, signal.SIGKILL)
    out, error = process.communicate(timeout=170)
    assert "Traceback" not in out + error
    found = list(verdicts(tmp_path).values())
    # The reading that was under way is an ERROR; if none was, nothing is lost at all.
    assert found.count("ERROR") <= 2
    assert found.count("PASS") > 10
    assert process.returncode == (4 if "ERROR" in found else 0)


def test_a_dumpcap_that_is_killed_is_no_pass(tmp_path: Path) -> None:
    process = run_in_background(tmp_path, "--select", "PLP-CALL,PLP-CLR")
    await_evidence(tmp_path, process, 5)
    captures = [pid for pid, name in children(process.pid) if name == "dumpcap"]
    assert captures
    for pid in captures:
        os.kill(pid, signal.SIGKILL)
    out, error = process.communicate(timeout=170)
    assert process.returncode == 4, out + error
    document = json.loads((tmp_path / "results.json").read_text())
    assert "PASS" not in {case["verdict"] for case in document["cases"]}
    reasons = " ".join(case["reason"] for case in document["cases"])
    assert "the capture ended" in reasons or "no sure evidence" in reasons


def python_for_nobody() -> str | None:
    """A Python of this version that user nobody may execute: this one may lie in root's home.

    The packages are those of this one.
    """
    for python in (sys.executable, "/usr/bin/python3"):
        with contextlib.suppress(OSError):
            said = subprocess.run(
                [python, "-c", "import click, sys; print(sys.version_info[:2])"],
                env=environment(PYTHONPATH=PACKAGES),
                user=65534, group=65534, extra_groups=[], cwd="/", check=False,
                capture_output=True, text=True,
            )  # fmt: skip
            if said.stdout == f"{sys.version_info[:2]}\n":
                return python
    return None


@pytest.mark.skipif(os.geteuid() != 0, reason="the other user is made by leaving root")
def test_an_ordinary_user_needs_nothing_but_a_namespace(tmp_path: Path) -> None:
    """User nobody, without any right to capture: x25shark makes a namespace by itself."""
    probe = subprocess.run(
        ["unshare", "-Urn", "true"], user=65534, group=65534, extra_groups=[], check=False,
        capture_output=True,
    )  # fmt: skip
    if probe.returncode != 0:
        pytest.skip("this system gives no user namespaces to ordinary users")
    python = python_for_nobody()
    if python is None:
        pytest.skip("user nobody may not use Python and packages of this installation")
    root = Path(__file__).parents[3]
    copy = tmp_path / "tree"
    for name in ("conformance/x25shark", "scapy_layers/scapy_x25", "dissectors"):
        shutil.copytree(root / name, copy / name)
    above = [p for p in tmp_path.parents if p.is_relative_to(tempfile.gettempdir())]
    for parent in [copy, *copy.rglob("*"), *above, tmp_path]:
        if parent.owner() == "root":
            parent.chmod(parent.stat().st_mode | (0o555 if parent.is_dir() else 0o444))
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, 65534, 65534)
    paths = [str(copy / "conformance"), str(copy / "scapy_layers"), PACKAGES]
    done = subprocess.run(
        [python, "-c", "from x25shark.cli import main; main()", "run", "--select",
         "PLP-CALL-01,PLP-DATA-01", "--output", str(home / "report")],
        env=environment(HOME=str(home), PYTHONPATH=os.pathsep.join(paths), XDG_CACHE_HOME=""),
        cwd=home,
        user=65534,
        group=65534,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(verdicts(home / "report").values()) == {"PASS"}
