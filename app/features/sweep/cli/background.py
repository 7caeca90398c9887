"""Hand a sweep over to a background process that outlives this process and its terminal."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli.privileges import helper_connection
from backends.errors import StorageError

if TYPE_CHECKING:
    from app.cli.options import Options

HURRY = 250.0
"""Factor by which the clock of a simulation runs faster than real time, because there is no real disk to wait for."""

OUTPUT = "sweep.out"
"""Name of the file in the session's folder that receives the output of the background process."""

START_SECONDS = 20.0
"""Maximum time in seconds until the background process reports that it started."""

_BEGIN_SECONDS = 30.0
"""Maximum time in seconds until the started process takes over the session."""

_KEPT = ("HOME", "PATH", "RAIDBENCH_STATE_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "TZ", "LANG", "LC_ALL")
"""Environment variables that the background process inherits. They set folders, time zone and language."""


def screen_options(options: Options, nice: int | None) -> dict[str, Any]:
    """Return two fields of `ScreenOptions` by name: the function with which the TUI starts sweeps, which is None in
    read-only mode, and the speed-up of a simulation.
    """
    return {
        "hand_over": None if options.read_only else partial(hand_over, options=options, nice=nice),
        "sweep_speed": options.demo_speed or HURRY,
    }


async def hand_over(folder: Path, options: Options, nice: int | None = None) -> int:
    """Continue the sweep of a closed session in a background process; return its PID once it has taken over.

    `nice` is the priority of the new process, by default that of this process. Raises StorageError when the new process
    does not take over.
    """
    pid = await start(folder, options, nice)
    for _ in range(round(_BEGIN_SECONDS / 0.1)):
        if _runs_in(folder, pid):
            return pid
        await asyncio.sleep(0.1)
    raise StorageError("The sweep did not start in the background.", hint=f"Its output is in {folder / OUTPUT}.")


def _runs_in(folder: Path, pid: int) -> bool:
    """Return whether the session's log names process `pid` as the one that continues or finished the sweep."""
    from app.core.session import store

    record = store.load(folder).session.sweep
    return record is not None and record.pid == pid


async def start(folder: Path, options: Options, nice: int | None = None) -> int:
    """Start the background process for the sweep of a session; return its PID.

    Raises StorageError when it cannot be started.
    """
    from backends.self_exec import CONNECTED
    from backends.system.local import start_detached

    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
    lasting = replace(options, config=options.config and options.config.absolute())
    before = lasting.argv_of("no_helper", "demo", "demo_speed", "machine", "config")
    order = {
        "argv": [*before, "sweep", "--resume", str(folder), "--handed-over"],
        "environment": environment,
        "output": str(folder / OUTPUT),
        "nice": nice,
    }
    with contextlib.ExitStack() as stack:
        side = await helper_connection()  # to the root helper: the present connection ends with this process
        keep: tuple[int, ...] = ()
        if side is not None:
            keep = (stack.enter_context(side).fileno(),)
            environment[CONNECTED] = str(side.fileno())
        try:
            answer = await start_detached(
                "app.features.sweep.cli.daemon", json.dumps(order) + "\n", START_SECONDS, keep
            )
        except OSError as error:
            raise StorageError(f"The sweep could not be started in the background: {error.strerror}.") from error
    word, _, pid = answer.partition(" ")
    if word != "started" or not pid.isdigit():
        raise StorageError(f"The sweep did not start in the background: {answer or 'the process printed nothing'}.")
    return int(pid)
