"""The terminal that may go away while somebody works on it: a dropped connection is no reason to hang."""

from __future__ import annotations

import contextlib
import os
import signal
import termios
from typing import IO, Any, cast

from textual.app import App
from textual.drivers.linux_driver import LinuxDriver


class _Patient:
    """A stream whose writes fail silently once nobody reads it: a writer that died would block the whole program."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """As the stream; what cannot be encoded or delivered is lost."""
        with contextlib.suppress(OSError, ValueError):
            return self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """As the stream."""
        with contextlib.suppress(OSError, ValueError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class SteadyDriver(LinuxDriver):
    """Textual's driver, that takes a lost terminal for a hang-up instead of waiting for it."""

    def __init__(
        self, app: App[object], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._file = cast("Any", _Patient(cast("IO[str]", self._file)))

    def run_input_thread(self) -> None:
        """Read keys until the end; a terminal that is gone hangs up, whether or not the kernel says so as well."""
        try:
            super().run_input_thread()
        except OSError:
            os.kill(os.getpid(), signal.SIGHUP)

    def stop_application_mode(self) -> None:
        """Give the terminal back, if it is still there."""
        with contextlib.suppress(OSError, termios.error):
            super().stop_application_mode()
