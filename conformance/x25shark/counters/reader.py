# SPDX-License-Identifier: GPL-2.0-or-later
"""One reading of a router's counters, in a thread of its own.

The tester goes on serving its connections meanwhile. A reading as a whole takes no longer than it
is given, and what is wrong is said in one line; how it is done is a reader's business (readers/).
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from typing import Any

from .readers import BY_NAME, ReadError
from .readers.errors import printable

__all__ = ["ReadError", "Reading"]


class Reading:
    """One request under way. on_done is called in its thread when there is an answer or none.

    reader: the name of the way it is read, as in a profile.
    """

    def __init__(
        self,
        url: str,
        seconds: float,
        on_done: Callable[[], None] = lambda: None,
        *,
        reader: str = "http-json",
    ) -> None:
        self._url = url
        self._seconds = seconds
        self._on_done = on_done
        self._reader = BY_NAME[reader]
        self._done = threading.Event()
        self._sock: socket.socket | None = None
        self._document: Any = None
        self._problem = ""
        threading.Thread(target=self._run, name="counters", daemon=True).start()

    @property
    def done(self) -> bool:
        return self._done.is_set()

    def result(self) -> Any:
        """The document. Raises ReadError; one that is not there yet is given up."""
        if not self.done:
            self._give_up()
            raise ReadError(f"{self._url}: no whole answer within {self._seconds:g} s")
        if self._problem:
            raise ReadError(f"{self._url}: {self._problem}")
        return self._document

    def wait(self) -> Any:
        """Wait for the document. Raises ReadError."""
        self._done.wait(self._seconds)
        return self.result()

    def _give_up(self) -> None:
        if self._sock is not None:
            # close() alone would not wake a thread that reads.
            with contextlib.suppress(OSError):
                self._sock.shutdown(socket.SHUT_RDWR)

    def _opened(self, sock: socket.socket) -> None:
        self._sock = sock

    def _run(self) -> None:
        try:
            self._document = self._reader.read(self._url, self._seconds, self._opened)
        except ReadError as error:
            self._problem = str(error)
        except TimeoutError:
            self._problem = f"no whole answer within {self._seconds:g} s"
        except (OSError, ValueError) as error:
            self._problem = f"no answer: {printable(error)}"
        finally:
            self._done.set()
            self._on_done()
