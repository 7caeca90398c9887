"""A program that does nothing before its process id has been told: held between fork and exec."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from collections.abc import Callable
from threading import Thread
from types import TracebackType

_PR_SET_PDEATHSIG = 1
# Loaded here, not in the child: between fork and exec nothing may take a lock.
_LIBC = ctypes.CDLL(None, use_errno=True)

_NOT_RUN = 127
"""Exit status of a process that ended before its program began."""


class StartGate:
    """Round the start of one program; `in_child` runs between fork and exec.

    Whoever dies before the id is told takes the child along, so a program that runs has been told of.
    """

    def __init__(self, told: Callable[[int], None]) -> None:
        self._told = told
        self._starter = os.getpid()
        self._ids, self._says = os.pipe()
        self._waits, self._go = os.pipe()
        self._teller = Thread(target=self._tell, name="gate", daemon=True)
        self.refusal: Exception | None = None
        """What `told` raised; then nothing was run."""

    def __enter__(self) -> StartGate:
        self._teller.start()  # starting the program returns only when it runs, so somebody else has to open
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._says)  # the end of file, if no process came to say its id
        self._teller.join()
        os.close(self._ids)
        os.close(self._waits)

    def in_child(self) -> None:
        """Say the own id and wait. Ends the process if nobody is there any more who lets it through."""
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != self._starter:  # it died before the line above
            os._exit(_NOT_RUN)
        os.close(self._go)  # or the own copy would keep the end of file away
        os.write(self._says, b"%d" % os.getpid())
        if not os.read(self._waits, 1):
            os._exit(_NOT_RUN)
        _LIBC.prctl(_PR_SET_PDEATHSIG, 0, 0, 0, 0)

    def _tell(self) -> None:
        try:
            if said := os.read(self._ids, 32):
                self._told(int(said))
                with contextlib.suppress(BrokenPipeError):  # it was killed meanwhile
                    os.write(self._go, b"g")
        except Exception as refusal:  # handed to whoever starts the program
            self.refusal = refusal
        finally:
            os.close(self._go)
