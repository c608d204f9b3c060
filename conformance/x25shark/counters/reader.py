# SPDX-License-Identifier: GPL-2.0-or-later
"""The counters of a router as one JSON document, over HTTP.

The router may be slow, silent or hostile: an answer has at most LONGEST octets, a reading as a
whole takes no longer than it is given, and what is wrong is said in one line. The request runs in
a thread of its own, so that the tester goes on serving its connections meanwhile.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

LONGEST = 4 << 20


class ReadError(Exception):
    """There is no reading; the message says of what, and why."""


class Reading:
    """One request under way. on_done is called in its thread when there is an answer or none."""

    def __init__(
        self, url: str, seconds: float, on_done: Callable[[], None] = lambda: None
    ) -> None:
        self._url = url
        self._seconds = seconds
        self._on_done = on_done
        self._done = threading.Event()
        self._given_up = False
        self._connection: http.client.HTTPConnection | None = None
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
        self._given_up = True
        connection = self._connection
        if connection is not None and connection.sock is not None:
            # close() alone would not wake a thread that reads.
            with contextlib.suppress(OSError):
                connection.sock.shutdown(socket.SHUT_RDWR)

    def _run(self) -> None:
        try:
            self._document = decode(self._fetch())
        except ReadError as error:
            self._problem = str(error)
        except TimeoutError:
            self._problem = f"no whole answer within {self._seconds:g} s"
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._problem = f"no answer: {_words(error)}"
        finally:
            self._done.set()
            self._on_done()

    def _fetch(self) -> bytes:
        parts = urlsplit(self._url)
        connection = http.client.HTTPConnection(
            parts.hostname or "", parts.port or 80, timeout=self._seconds
        )
        self._connection = connection
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        try:
            connection.request("GET", target, headers={"Accept": "application/json"})
            answer = connection.getresponse()
            if answer.status != http.client.OK:
                raise ReadError(f"status {answer.status} in place of 200")
            body = answer.read(LONGEST + 1)
            if len(body) > LONGEST:
                raise ReadError(f"the answer has more than {LONGEST} octets")
            if answer.length:
                raise ReadError("the answer is shorter than its Content-Length says")
            return body
        finally:
            connection.close()


def decode(body: bytes) -> Any:
    """A JSON document. Raises ReadError."""
    try:
        return json.loads(body)
    except RecursionError:
        raise ReadError("the answer is not JSON that can be read: too deep") from None
    except ValueError as error:
        raise ReadError(f"the answer is not JSON: {_words(error)}") from None


def _words(error: BaseException) -> str:
    """What an exception says, without what a router could put into it."""
    text = (error.strerror if isinstance(error, OSError) else "") or str(error)
    shown = "".join(c if c.isascii() and c.isprintable() else "?" for c in text[:200])
    return shown or type(error).__name__
