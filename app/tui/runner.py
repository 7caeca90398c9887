"""Runs the workbench on a terminal that may disappear, and closes the session however the workbench ends."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import sys
import termios
import time
import traceback
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

from textual.app import App
from textual.drivers import linux_driver
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message
from textual.widgets import Input

from app.core.workbench import Workbench
from app.tui.app import WorkbenchApp
from app.tui.escape_keys import EscapeParser
from app.tui.options import ScreenOptions
from app.tui.suspension import is_shell_job
from backends.errors import RaidbenchError
from backends.text import clean

# -- a terminal that may disappear ------------------------------------------------------------------------------------


class _ForgivingStream:
    """A stream whose writes never fail, because an error would end the thread in which Textual writes to the terminal.

    Without the thread, its queue would fill up, and the next write to the queue would block raidbench.
    """

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write to the stream. Text that cannot be encoded or delivered is lost."""
        with contextlib.suppress(OSError, ValueError):
            return self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the stream."""
        with contextlib.suppress(OSError, ValueError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _HangUpParser(EscapeParser):
    """Detects the end of the terminal. Textual (8.2) would wait for a key forever."""

    def __init__(self, terminal: int, *options: bool, **settings: Any) -> None:
        super().__init__(*options, **settings)
        self._poll = select.poll()
        self._poll.register(terminal, 0)  # poll() reports a hang-up for any event mask.

    def tick(self) -> Iterable[Message]:
        """Continue parsing; Textual calls this ten times a second. Raises OSError if the terminal is gone."""
        if self._poll.poll(0):
            raise OSError("the terminal is gone")
        return super().tick()


class SteadyDriver(LinuxDriver):
    """Textual's driver, which treats a lost terminal as a hang-up instead of waiting for it."""

    def __init__(
        self, app: App[object], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._file = cast("Any", _ForgivingStream(cast("IO[str]", self._file)))

    def run_input_thread(self) -> None:
        """Read keys until the end. A lost terminal counts as a hang-up even if the kernel sends no SIGHUP.

        If the terminal is lost early, SIGHUP arrives before its handler is installed. A process that ignores the signal
        (nohup) never gets it.
        """
        app = cast("WorkbenchApp", self._app)
        bound = frozenset(key for keys in app.custom_keys.values() for key in keys.split(","))
        parser = partial(_HangUpParser, self.fileno, bound=bound, typing=lambda: isinstance(app.focused, Input))
        setattr(linux_driver, "XTermParser", parser)  # noqa: B010  # Textual creates its parser by this name.
        try:
            super().run_input_thread()
        except OSError:
            with contextlib.suppress(RuntimeError):  # The event loop is closed, so the app is ending.
                self._loop.call_soon_threadsafe(app.end_by_signal, signal.SIGHUP)

    def _sigtstp_application(self, *_: object) -> None:
        """Restore the terminal, then stop this process and the program that started it, such as make.

        A shell gets the terminal back only when its own child has stopped. Textual stops only this process.
        """
        if self._auto_restart:
            self.suspend_application_mode()
            self._must_signal_resume = True
        os.kill(0 if is_shell_job() else os.getpid(), signal.SIGSTOP)

    def stop_application_mode(self) -> None:
        """Restore the terminal if it still exists."""
        with contextlib.suppress(OSError, termios.error):
            super().stop_application_mode()


# -- running the app and closing the session --------------------------------------------------------------------------


def run(workbench: Workbench, options: ScreenOptions | None = None) -> int:
    """Run the workbench on this terminal and return the exit status."""
    return run_app(WorkbenchApp(workbench, options))


def run_app(app: WorkbenchApp) -> int:
    """Run an app on this terminal and return the exit status; close the session however the app ends."""
    workbench = app.workbench
    app.driver_class = SteadyDriver
    code: int | None = None
    try:
        code = app.run(mouse=True)
    except Exception as error:  # The session must be closed even if start or shutdown fails.
        app.crash = app.crash or error
    try:
        asyncio.run(workbench.changes.end_watching())
    except RaidbenchError as error:
        _say(f"The trial was not reverted: {error.message}")
    if app.crash is not None:
        workbench.close(clean(f"{type(app.crash).__name__}: {app.crash}", 300))
        where = _write_crash(app.crash, workbench)
        _say(f"raidbench stopped: {type(app.crash).__name__}. Nothing that was recorded is lost.")
        if where is not None:
            _say(f"The details are in {where}.")
        return 1
    workbench.close(app.end_reason)
    if workbench.folder is not None:
        _say(f"The session is in {workbench.folder}.")
    return code if code is not None else (app.return_code or 0)


def _say(sentence: str) -> None:
    """Print a final message if the terminal still exists."""
    with contextlib.suppress(OSError, ValueError):
        print(sentence, file=sys.stderr, flush=True)


def _write_crash(error: BaseException, workbench: Workbench) -> Path | None:
    folder = workbench.folder or workbench.paths.sessions
    file = folder / f"crash-{int(time.time())}-{os.getpid()}.txt"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
    except OSError:
        return None
    return file
