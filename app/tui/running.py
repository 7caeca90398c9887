"""Opens the workbench on a terminal; whatever ends it, the session is closed and a sentence says what happened."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
import traceback
from pathlib import Path

from app.engine.workbench import Workbench
from app.tui.app import WorkbenchApp
from app.tui.options import ScreenOptions
from app.tui.terminal import SteadyDriver
from backends.errors import RaidbenchError
from backends.text import clean


def run(workbench: Workbench, options: ScreenOptions | None = None) -> int:
    """Open the workbench on this terminal; returns the exit status."""
    return run_app(WorkbenchApp(workbench, options))


def run_app(app: WorkbenchApp) -> int:
    """Open an app on this terminal; whatever ends it, the session is closed and the person told in a sentence."""
    workbench = app.workbench
    app.driver_class = SteadyDriver
    code: int | None = None
    try:
        code = app.run(mouse=True)
    except Exception as error:  # on the way in or out: the screen is gone, the session is not
        app.crash = app.crash or error
    try:
        asyncio.run(workbench.end_watching())
    except RaidbenchError as error:
        _say(f"What was on trial was not taken back: {error.message}")
    if app.crash is not None:
        workbench.close(clean(f"{type(app.crash).__name__}: {app.crash}", 300))
        where = _write_crash(app.crash, workbench)
        _say(f"raidbench stopped: {type(app.crash).__name__}. Nothing that was recorded is lost.")
        if where is not None:
            _say(f"What happened is in {where}.")
        return 1
    workbench.close(app.end_reason)
    if workbench.folder is not None:
        _say(f"The session is in {workbench.folder}.")
    return code if code is not None else (app.return_code or 0)


def _say(sentence: str) -> None:
    """A last word, if anybody is left to hear it."""
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
