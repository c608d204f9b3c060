# SPDX-License-Identifier: GPL-2.0-or-later
"""The pictures of the documents: python -m x25shark.selftest.pictures [NAME ...] (make pictures).

    report     the report of the run that README shows       (Chromium)
    wireshark  its failure in Wireshark, by x25shark open    (Wireshark, Xvfb, ImageMagick)
    sweep      load.html of a sweep                          (Chromium, the load engine)
    overload   load.html of a ramp and floods                (Chromium, the load engine)
    bench      load.html of Bradner's router tests           (Chromium, the load engine)

Without a name those that the programs of this machine can make. They go to .github/pictures.
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
from pathlib import Path

FOLDER = Path(__file__).parents[3] / ".github" / "pictures"
CASE = "XOT-HDR-05"
README_RUN = ("--fault", "BUG-XOT-01", "--select", "XOT-HDR,PLP-RST-0*,PLP-INT")
_WIDE = (1200, 900)
# The window that Wireshark opens where it has not been open before: no more of the screen is shown.
_OF_WIRESHARK = (960, 768)
_SCREEN_SECONDS = 60.0
# A screen with a program on it; an empty one has less.
_DRAWN_OCTETS = 20_000
_BROWSERS = ("chromium", "chromium-browser")
_ENGINE = ("sweep", "overload", "bench")


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


def page_picture(
    page: Path, picture: Path, *, size: tuple[int, int] = _WIDE, dark: bool = False
) -> None:
    """A page as the browser shows it. Raises PictureError, OSError and CalledProcessError."""
    program = browser()
    if program is None:
        raise PictureError("chromium is missing")
    width, height = size
    with tempfile.TemporaryDirectory() as home:
        subprocess.run(
            [
                program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                f"--user-data-dir={home}", f"--window-size={width},{height}",
                f"--blink-settings=preferredColorScheme={0 if dark else 1}",
                f"--screenshot={picture}", page.absolute().as_uri(),
            ],
            check=True, capture_output=True,
        )  # fmt: skip


def _report(work: Path, picture: Path) -> None:
    _x25shark("run", *README_RUN, "--output", str(work / "report"))
    page_picture(work / "report" / "report.html", picture)


def _sweep(work: Path, picture: Path) -> None:
    _x25shark("sweep", "-T", "1", "--control", "0.3", "--output", str(work / "sweep"))
    page_picture(work / "sweep" / "load.html", picture)


def _overload(work: Path, picture: Path) -> None:
    _x25shark("overload", "--output", str(work / "overload"))
    page_picture(work / "overload" / "load.html", picture)


def _bench(work: Path, picture: Path) -> None:
    _x25shark("bench", "--skip", "errors", "--output", str(work / "bench"))
    page_picture(work / "bench" / "load.html", picture)


def _wireshark(work: Path, picture: Path) -> None:
    _x25shark("run", "--fault", "BUG-XOT-01", "--select", CASE, "--output", str(work / "one"))
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
                [sys.executable, "-m", "x25shark", "open", CASE, "--output", str(work / "one")],
                env=surroundings, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
            try:
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


PICTURES: dict[str, Callable[[Path, Path], None]] = {
    "report": _report,
    "wireshark": _wireshark,
    "sweep": _sweep,
    "overload": _overload,
    "bench": _bench,
}


def missing(name: str) -> list[str]:
    """The programs and modules that a picture needs and this machine lacks."""
    if name == "wireshark":
        return [one for one in ("wireshark", "Xvfb", "import") if shutil.which(one) is None]
    lacking = [] if browser() else ["chromium"]
    if name in _ENGINE and importlib.util.find_spec("x25shark_engine") is None:
        lacking.append("the load engine")
    return lacking


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the pictures; 2: one that was named needs what is not there, 1: one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*PICTURES, []], metavar="NAME")
    parser.add_argument("--into", type=Path, default=FOLDER, help="another folder")
    options = parser.parse_args(arguments)
    status = 0
    for name in options.names or PICTURES:
        if lacking := missing(name):
            print(f"{name}: left out, not there: {', '.join(lacking)}")
            status = 2 if options.names else status
            continue
        options.into.mkdir(parents=True, exist_ok=True)
        picture = options.into / f"{name}.png"
        with tempfile.TemporaryDirectory(prefix="x25shark-pictures-") as work:
            new = Path(work) / "new.png"
            try:
                PICTURES[name](Path(work), new)
            except (PictureError, OSError, subprocess.CalledProcessError) as error:
                print(f"{name}: {error}")
                status = 1
                continue
            shutil.copyfile(new, picture)
        print(f"{picture}: {picture.stat().st_size:,} octets")
    return status


if __name__ == "__main__":
    sys.exit(main())
