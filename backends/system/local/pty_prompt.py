"""A terminal for a program that asks before it changes something: one known question is answered, no other."""

from __future__ import annotations

import contextlib
import errno
import os
import termios
import time
from types import TracebackType

from backends.host import PromptReply

PROMPT_LIMIT = 65536
"""Bytes in which the question has to come."""

PATIENCE = 10.0
"""Seconds of silence after which something else that was printed counts as a question that nobody answers."""

SILENCE = 60.0
"""The same of a program that has printed nothing: it may think before it asks."""

_END = b"\x04"
"""What ends the input of a terminal (VEOF)."""


class Terminal(contextlib.AbstractContextManager["Terminal"]):
    """Both ends of a pseudo terminal. Through a pipe most programs show a question only once they have ended."""

    def __init__(self, reply: PromptReply) -> None:
        self._reply = reply
        self._answered = False
        self._since = time.monotonic()
        self.ours, self.programs = os.openpty()
        """Descriptors: what is read and typed here, and what the program gets."""
        modes = termios.tcgetattr(self.programs)
        modes[1] &= ~termios.OPOST
        modes[3] &= ~termios.ECHO
        termios.tcsetattr(self.programs, termios.TCSANOW, modes)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.began()
        os.close(self.ours)

    def began(self) -> None:
        """The program has its end: let go of it here, or its output would never end."""
        if self.programs >= 0:
            os.close(self.programs)
            self.programs = -1

    def read(self) -> bytes:
        """What the program printed; b"" at the end, which Linux tells of a terminal as EIO."""
        try:
            return os.read(self.ours, 65536)
        except OSError as error:
            if error.errno == errno.EIO:
                return b""
            raise

    def heard(self, printed: bytes, *, more: bool) -> None:
        """Answer, where the program has asked; end its input where it waits for something else, also afterwards.

        `printed`: all of it so far. `more`: whether some of that came just now.
        """
        if more:
            self._since = time.monotonic()
        patience = PATIENCE if printed.strip() else SILENCE
        if not self._answered and self._reply.fits(printed.decode("utf-8", "replace")):
            self._answered = True
            self._type(f"{self._reply.answer}\n".encode())
        elif time.monotonic() - self._since > patience:
            self._since = time.monotonic()
            self._type(_END)

    def _type(self, text: bytes) -> None:
        with contextlib.suppress(OSError):  # it has ended meanwhile
            os.write(self.ours, text)
