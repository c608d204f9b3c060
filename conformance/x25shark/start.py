# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the x25shark command begins: an interrupt while its modules load ends it without words."""

# The part of signal that is not Python code: nothing can be interrupted before the next line.
import _signal  # type: ignore[import-not-found]

_signal.signal(_signal.SIGINT, _signal.SIG_DFL)

import errno  # noqa: E402
import io  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
from typing import TextIO  # noqa: E402


class _Terminal(io.TextIOWrapper):
    """A terminal that may be closed under the command: what it takes no more goes nowhere.

    SIGHUP ends the command then, in its own time, and with what it has to write.
    """

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError as error:
            self._gone(error)
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            self._gone(error)

    def _gone(self, error: OSError) -> None:
        if error.errno != errno.EIO:
            raise error
        from .report.tell import print_nowhere

        print_nowhere(self.fileno())


def _tolerant(stream: TextIO) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper) or not stream.isatty():
        return stream
    encoding, errors = stream.encoding, stream.errors
    return _Terminal(stream.detach(), encoding, errors, line_buffering=True)


def main() -> None:
    """The x25shark command."""
    # Closed by the caller (>&-, <&-): Python has none then.
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stdout, sys.stderr = _tolerant(sys.stdout), _tolerant(sys.stderr)
    from .catalogue.data import told
    from .cli import main as command
    from .interrupts import interrupts

    try:
        interrupts.listen()
        try:
            with told():
                command(prog_name="x25shark")
        finally:
            interrupts.over()
    except KeyboardInterrupt:  # behind the command's last line
        interrupts.over()
        sys.exit(interrupts.status)


if __name__ == "__main__":
    main()
