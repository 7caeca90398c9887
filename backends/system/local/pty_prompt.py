"""Pseudo-terminal on which raidbench answers one known prompt of a program, and no other prompt."""

from __future__ import annotations

import contextlib
import errno
import os
import termios
import time
from types import TracebackType

from backends.host import PromptReply

PROMPT_LIMIT = 65536
"""Number of bytes of output within which the known prompt must appear."""

PATIENCE = 10.0
"""Seconds without more output after which the output so far counts as an unknown prompt: the input is then ended."""

SILENCE = 60.0
"""Seconds after which the input of a program without any output is ended: a program may work before it asks."""

_END = b"\x04"
"""Character that ends the input at a terminal (VEOF)."""


class Terminal(contextlib.AbstractContextManager["Terminal"]):
    """Both ends of a pseudo-terminal. Most programs flush a prompt only to a terminal, not to a pipe."""

    def __init__(self, reply: PromptReply) -> None:
        self._reply = reply
        self._answered = False
        self._since = time.monotonic()
        self.ours, self.programs = os.openpty()
        """File descriptors of our end, and of the end that the program gets."""
        modes = termios.tcgetattr(self.programs)
        modes[1] &= ~termios.OPOST
        modes[3] &= ~termios.ECHO
        termios.tcsetattr(self.programs, termios.TCSANOW, modes)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close_program_side()
        os.close(self.ours)

    def close_program_side(self) -> None:
        """Close our copy of the program's end. While it is open, the program's output never reaches end of file."""
        if self.programs >= 0:
            os.close(self.programs)
            self.programs = -1

    def read(self) -> bytes:
        """Return the next bytes of output; b"" at the end, which Linux reports as EIO for a terminal."""
        try:
            return os.read(self.ours, 65536)
        except OSError as error:
            if error.errno == errno.EIO:
                return b""
            raise

    def answer(self, printed: bytes, *, more: bool) -> None:
        """Answer the known prompt. If the program waits for other input, before or after the prompt, end its input.

        `printed`: all output so far. `more`: whether new output has just arrived.
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
        with contextlib.suppress(OSError):  # the program has ended meanwhile
            os.write(self.ours, text)
