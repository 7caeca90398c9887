"""Handing a sweep over to a process of its own, which outlives this one and its terminal."""

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
"""How many times as fast the simulated rack's time runs: there is no disk to wait for."""

OUTPUT = "sweep.out"
"""What it says, in the session's folder."""

START_SECONDS = 20.0
"""How long it may take to say that it began."""

_BEGIN_SECONDS = 30.0
"""How long it may then take to take the session over."""

_KEPT = ("HOME", "PATH", "RAIDBENCH_STATE_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "TZ", "LANG", "LC_ALL")
"""Variables that decide where things lie."""


def screen_options(options: Options, nice: int | None) -> dict[str, Any]:
    """Return how the workbench starts sweeps: fields of its `ScreenOptions`."""
    return {
        "hand_over": None if options.read_only else partial(hand_over, options=options, nice=nice),
        "sweep_speed": options.demo_speed or HURRY,
    }


async def hand_over(folder: Path, options: Options, nice: int | None = None) -> int:
    """Let a process of its own go on with the sweep of a session that nobody writes; returns its id once it has it.

    `nice`: its priority where it is not to be ours. Raises StorageError when it does not begin.
    """
    pid = await start(folder, options, nice)
    for _ in range(round(_BEGIN_SECONDS / 0.1)):
        if _runs_in(folder, pid):
            return pid
        await asyncio.sleep(0.1)
    raise StorageError("The sweep did not begin in the background.", hint=f"What it said is in {folder / OUTPUT}.")


def _runs_in(folder: Path, pid: int) -> bool:
    """Whether the log says that this process goes on with the sweep, or went on with it to its end."""
    from app.core.session import store

    record = store.load(folder).session.sweep
    return record is not None and record.pid == pid


async def start(folder: Path, options: Options, nice: int | None = None) -> int:
    """Go on with the sweep of a session in the background; returns the process id.

    Raises StorageError when it cannot be started.
    """
    from backends.system.local import start_detached
    from backends.system.local.elevated import CONNECTED

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
        side = await helper_connection()  # ours ends with us
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
        raise StorageError(f"The sweep did not start in the background: {answer or 'it said nothing'}.")
    return int(pid)
