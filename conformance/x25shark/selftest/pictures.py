# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures of what x25shark shows: python -m x25shark.selftest.pictures [NAME ...] (make pictures).

Those of the documents go to docs/pictures, the rest to x25shark-report-pictures:

    report            the report of the run that README shows               (Chromium)
    report-narrow     a failed case of it, 400 pixels wide                  (and ImageMagick)
    report-dark       the same report in dark colours
    report-printed    its first pages on paper                              (and poppler-utils)
    site              x25shark site: five routers beside each other
    matrix            matrix.html of x25shark matrix                        (the load engine)
    sweep             load.html of a sweep                                  (the load engine)
    overload          load.html of a ramp and floods                        (the load engine)
    bench             load.html of Bradner's router tests                   (the load engine)
    wireshark         a failed case by x25shark open           (Wireshark, Xvfb, ImageMagick)
    wireshark-window  another one, in which the window of a call is too large
    wireshark-line    another one, on a serial line
    wireshark-foreign a capture that is none of x25shark's
    circuits, ladder  the windows of Tools > X.25 on it                     (and xdotool)

Without a name those that the programs of this machine can make.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import x25shark

Picture = Callable[[Path, Path], None]
"""Makes one: from a folder to work in, to the file."""

ROOT = Path(__file__).parents[3]
FOLDER = Path(x25shark.__file__).parent / "docs" / "pictures"
BESIDE = ROOT / "x25shark-report-pictures"
SHOWN = frozenset({"report", "wireshark", "sweep", "overload", "bench", "ladder", "site"})
"""What a document shows; the rest is to be looked at, and not kept."""
CASE = "XOT-HDR-05"
README_RUN = ("--fault", "BUG-XOT-01", "--select", "XOT-HDR,PLP-RST-0*,PLP-INT")
SITE_RUNS = (
    ("release 1", "reference", "BUG-XOT-01"),
    ("release 2", "reference", ""),
    ("end to end", "reference-e2e", "BUG-INT-01"),
    ("splice", "reference-splice", ""),
    ("basic", "reference-basic", "BUG-RST-01"),
)
"""Label, profile and fault of the routers of the page."""
FOREIGN = ROOT / "pcaps" / "PLP-RST-08.pcapng"
_WIDE = (1200, 900)
# A telephone; a browser makes no window that is as narrow, so the page is in a frame.
_NARROW = (400, 1600)
_FRAME = """<!doctype html><body style="margin:0">
<iframe src="{source}" style="border:0;width:{width}px;height:{height}px"></iframe>
"""
DARK = "--blink-settings=preferredColorScheme=0"
LIGHT = "--blink-settings=preferredColorScheme=1"
_SHEETS = 4
# The window that Wireshark opens where it has not been open before: no more of the screen is shown.
_OF_WIRESHARK = (960, 768)
_SCREEN_SECONDS = 60.0
# A screen with a program on it; an empty one has less.
_DRAWN_OCTETS = 20_000
_BROWSERS = ("chromium", "chromium-browser")
_X11 = ("wireshark", "Xvfb", "import")
_ENGINE = ("matrix", "sweep", "overload", "bench")


class PictureError(Exception):
    """A picture that cannot be made; the message says why."""


def _x25shark(*arguments: str) -> None:
    """Run a command; exit status 1 is a finding and no trouble."""
    done = subprocess.run([sys.executable, "-m", "x25shark", *arguments], check=False)
    if done.returncode not in (0, 1):
        raise PictureError(f"x25shark {arguments[0]} ended with status {done.returncode}")


def browser() -> str | None:
    """The program that shows pages; None: there is none."""
    return next(filter(None, map(shutil.which, _BROWSERS)), None)


def _browse(page: str, *options: str) -> None:
    program = browser()
    if program is None:
        raise PictureError("chromium is missing")
    with tempfile.TemporaryDirectory() as home:
        subprocess.run(
            [
                program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                f"--user-data-dir={home}", *options, page,
            ],
            check=True, capture_output=True,
        )  # fmt: skip


def page_picture(
    page: Path, picture: Path, *options: str, size: tuple[int, int] = _WIDE, at: str = ""
) -> None:
    """A page as a browser shows it. Raises PictureError, OSError and CalledProcessError."""
    window = f"--window-size={size[0]},{size[1]}"
    _browse(page.absolute().as_uri() + at, window, f"--screenshot={picture}", *options)


def _run_of_readme(work: Path) -> Path:
    _x25shark("run", *README_RUN, "--output", str(work / "report"))
    return work / "report" / "report.html"


def _report(work: Path, picture: Path) -> None:
    page_picture(_run_of_readme(work), picture)


def _report_dark(work: Path, picture: Path) -> None:
    page_picture(_run_of_readme(work), picture, DARK, at=f"#case-{CASE}")


def _report_narrow(work: Path, picture: Path) -> None:
    width, height = _NARROW
    source = f"{_run_of_readme(work).as_uri()}#case-{CASE}"
    frame = work / "frame.html"
    frame.write_text(_FRAME.format(source=source, width=width, height=height))
    page_picture(frame, picture, "--allow-file-access-from-files", size=(2 * width, height))
    _imagemagick("mogrify", "-crop", f"{width}x{height}+0+0", "+repage", str(picture))


def _report_printed(work: Path, picture: Path) -> None:
    paper = work / "report.pdf"
    report = _run_of_readme(work).as_uri()
    _browse(report, "--no-pdf-header-footer", f"--print-to-pdf={paper}")
    sheets = work / "sheet"
    subprocess.run(
        ["pdftoppm", "-r", "60", "-l", str(_SHEETS), "-png", str(paper), str(sheets)], check=True
    )
    found = sorted(map(str, work.glob("sheet-*.png")))
    tiles = ["-tile", f"{_SHEETS}x", "-geometry", "+6+6", "-background", "gray"]
    _imagemagick("montage", *found, *tiles, str(picture))


def _imagemagick(program: str, *arguments: str) -> None:
    subprocess.run([program, *arguments], check=True, capture_output=True)


def _site(work: Path, picture: Path) -> None:
    given = []
    for number, (label, profile, fault) in enumerate(SITE_RUNS):
        report = str(work / str(number))
        faulty = ("--fault", fault) if fault else ()
        selected = ("--select", "XOT-HDR,PLP-CLR,PLP-RST-0*,PLP-INT")
        _x25shark("run", "--router", profile, *faulty, *selected, "--output", report)
        given.append(f"{label}={report}")
    _x25shark("site", *given, "--output", str(work / "site"))
    page = work / "site" / "index.html"
    # A page without a script: what a reader opens is open.
    text = page.read_text(encoding="utf-8")
    for closed in ('<details class="group', f'id="case-{CASE}"'):
        if closed not in text:
            raise PictureError(f"no {closed} on the page of x25shark site")
    text = text.replace('<details class="group"', '<details open class="group"', 1)
    text = text.replace(f' id="case-{CASE}"', f' id="case-{CASE}" open', 1)
    page.write_text(text, encoding="utf-8")
    page_picture(page, picture, size=(1200, 1500))


def _matrix(work: Path, picture: Path) -> None:
    _x25shark("matrix", "--quick", "--output", str(work / "matrix"))
    pages = sorted((work / "matrix").glob("*.html"))
    if not pages:
        raise PictureError("x25shark matrix left no page")
    page_picture(pages[0], picture, size=(1200, 1500))


def _sweep(work: Path, picture: Path) -> None:
    _x25shark("sweep", "-T", "1", "--control", "0.3", "--output", str(work / "sweep"))
    page_picture(work / "sweep" / "load.html", picture)


def _overload(work: Path, picture: Path) -> None:
    _x25shark("overload", "--output", str(work / "overload"))
    page_picture(work / "overload" / "load.html", picture)


def _bench(work: Path, picture: Path) -> None:
    _x25shark("bench", "--skip", "errors", "--output", str(work / "bench"))
    page_picture(work / "bench" / "load.html", picture)


def _case_in_wireshark(case: str, fault: str, router: str = "reference") -> Picture:
    """A case that a fault fails, as x25shark open shows it."""

    def make(work: Path, picture: Path) -> None:
        output = str(work / "one")
        _x25shark("run", "--router", router, "--fault", fault, "--select", case, "--output", output)
        _wireshark((case, "--output", output), picture)

    return make


def _foreign(work: Path) -> Path:
    """A capture as another program leaves it: pcap has no comments."""
    capture = work / "foreign.pcap"
    subprocess.run(["tshark", "-r", FOREIGN, "-F", "pcap", "-w", capture], check=True)
    return capture


def _wireshark_foreign(work: Path, picture: Path) -> None:
    _wireshark((str(_foreign(work)),), picture)


def _circuits(work: Path, picture: Path) -> None:
    _wireshark((str(_foreign(work)),), picture, _Window("X.25 circuits", 1))


def _ladder(work: Path, picture: Path) -> None:
    _wireshark((str(_foreign(work)),), picture, _Window("X.25 ladder", 3, "1"))


@dataclass(frozen=True)
class _Window:
    """A window of Tools > X.25: its title, which entry of the menu, what its dialog is answered.

    Wireshark sorts the entries by their names.
    """

    title: str
    entry: int
    answer: str = ""

    def show(self, display: str) -> None:
        """Open it by the keyboard; the menu is the last one of Tools."""

        def do(*words: str) -> None:
            try:
                subprocess.run(
                    ["xdotool", *words], env=os.environ | {"DISPLAY": display}, check=True,
                    stdout=subprocess.DEVNULL, timeout=_SCREEN_SECONDS,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                raise PictureError(f"no window: {' '.join(words)}") from None

        # There is no window manager that would say which window has the keyboard.
        do("search", "--sync", "--onlyvisible", "--name", "foreign", "windowfocus", "--sync")
        do("key", "--delay", "400", "alt+t", "Up", "Right", *["Down"] * self.entry, "Return")
        if self.answer:
            asked = ["search", "--sync", "--onlyvisible", "--name", "Ladder of a circuit"]
            do(*asked, "windowfocus", "--sync")
            # Past OK and Cancel to what is asked for, and back to OK.
            do("key", "--delay", "200", "Tab", "Tab", self.answer, "Tab", "Return")
        width, height = _OF_WIRESHARK
        shown = ["search", "--sync", "--onlyvisible", "--name", self.title]
        do(*shown, "windowmove", "0", "0", "windowsize", str(width), str(height))


def _wireshark(opened: Sequence[str], picture: Path, window: _Window | None = None) -> None:
    """What x25shark open shows, or a window of the menu above it."""
    reading, writing = os.pipe()
    width, height = _OF_WIRESHARK
    screen = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{width}x{height}x24"],
        pass_fds=[writing], stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(writing)
    try:
        with os.fdopen(reading) as told:
            display = f":{told.readline().strip()}"
        with tempfile.TemporaryDirectory() as home:
            surroundings = os.environ | {
                "DISPLAY": display, "HOME": home, "XDG_RUNTIME_DIR": home,
                "QT_QPA_PLATFORM": "xcb",
            }  # fmt: skip
            shown = subprocess.Popen(
                [sys.executable, "-m", "x25shark", "open", *opened],
                env=surroundings, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
            try:
                _when_still(display, picture)
                if window:
                    window.show(display)
                    _when_still(display, picture)
            finally:
                os.killpg(shown.pid, 15)
                shown.wait()
    finally:
        screen.terminate()
        screen.wait()


def _when_still(display: str, picture: Path) -> None:
    """The screen, once something is on it that stays as it is."""
    before, end = b"", time.monotonic() + _SCREEN_SECONDS
    while time.monotonic() < end:
        subprocess.run(["import", "-display", display, "-window", "root", picture], check=True)
        now = picture.read_bytes()
        if len(now) > _DRAWN_OCTETS and now == before:
            return
        before = now
        time.sleep(2)
    raise PictureError("nothing stood still on the screen")


PICTURES: dict[str, Picture] = {
    "report": _report,
    "report-narrow": _report_narrow,
    "report-dark": _report_dark,
    "report-printed": _report_printed,
    "site": _site,
    "wireshark": _case_in_wireshark(CASE, "BUG-XOT-01"),
    "wireshark-window": _case_in_wireshark("PLP-FLOW-01", "BUG-FLOW-01"),
    "wireshark-line": _case_in_wireshark("LAPB-SET-10", "BUG-LAPB-05", "reference-serial"),
    "wireshark-foreign": _wireshark_foreign,
    "circuits": _circuits,
    "ladder": _ladder,
    "matrix": _matrix,
    "sweep": _sweep,
    "overload": _overload,
    "bench": _bench,
}
_NEEDS = {
    "report-narrow": ("mogrify",),
    "report-printed": ("pdftoppm", "montage"),
    "wireshark": _X11,
    "wireshark-window": _X11,
    "wireshark-line": _X11,
    "wireshark-foreign": (*_X11, "tshark"),
    "circuits": (*_X11, "tshark", "xdotool"),
    "ladder": (*_X11, "tshark", "xdotool"),
}


def missing(name: str) -> list[str]:
    """The programs and modules that a picture needs and this machine lacks."""
    needs = _NEEDS.get(name, ())
    lacking = [one for one in needs if shutil.which(one) is None]
    if "Xvfb" not in needs and not any(map(shutil.which, _BROWSERS)):
        lacking.append("chromium")
    if name in _ENGINE and importlib.util.find_spec("x25shark_engine") is None:
        lacking.append("the load engine")
    return lacking


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the pictures; 2: one that was named needs what is not there, 1: one failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", choices=[*PICTURES, []], metavar="NAME")
    parser.add_argument("--into", type=Path, help="one folder for all of them")
    options = parser.parse_args(arguments)
    status = 0
    for name in options.names or PICTURES:
        if lacking := missing(name):
            print(f"{name}: left out, not there: {', '.join(lacking)}")
            status = 2 if options.names else status
            continue
        folder: Path = options.into or (FOLDER if name in SHOWN else BESIDE)
        folder.mkdir(parents=True, exist_ok=True)
        picture = folder / f"{name}.png"
        with tempfile.TemporaryDirectory(prefix="x25shark-pictures-") as work:
            new = Path(work) / "new.png"
            try:
                PICTURES[name](Path(work), new)
            except (PictureError, OSError, subprocess.CalledProcessError) as error:
                print(f"{name}: {error}")
                status = 1
                continue
            if shutil.which("mogrify"):
                # A screen has few colours: half of the octets.
                _imagemagick("mogrify", "-strip", "+dither", "-colors", "128", str(new))
            shutil.copyfile(new, picture)
        print(f"{picture}: {picture.stat().st_size:,} octets")
    return status


if __name__ == "__main__":
    sys.exit(main())
