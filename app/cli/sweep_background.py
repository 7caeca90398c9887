"""A sweep in a process of its own: no terminal, deaf to hang-ups, the ordinary command line otherwise."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from backends.errors import StorageError

if TYPE_CHECKING:
    from app.cli.options import Options

OUTPUT = "sweep.out"
"""What it says, in the session's folder."""

START_SECONDS = 20.0
"""How long it may take to say that it began."""

_KEPT = ("HOME", "PATH", "RAIDBENCH_STATE_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "TZ", "LANG", "LC_ALL")
"""Variables that decide where things lie."""


async def start(folder: Path, options: Options) -> int:
    """Go on with the sweep of a session in the background; returns the process id.

    Raises StorageError when it cannot be started.
    """
    from backends.local import start_detached

    order = {
        "argv": [*_before(options), "sweep", "--resume", str(folder), "--handed-over"],
        "environment": {name: os.environ[name] for name in _KEPT if name in os.environ},
        "output": str(folder / OUTPUT),
    }
    argv = (sys.executable, "-I", "-m", "app.cli.sweep_background")
    try:
        answer = await start_detached(argv, json.dumps(order) + "\n", START_SECONDS)
    except OSError as error:
        raise StorageError(f"The sweep could not be started in the background: {error.strerror}.") from error
    word, _, pid = answer.partition(" ")
    if word != "started" or not pid.isdigit():
        raise StorageError(f"The sweep did not start in the background: {answer or 'it said nothing'}.")
    return int(pid)


def _before(options: Options) -> list[str]:
    """The options before the command, as words."""
    words: list[str] = []
    if options.demo:
        words.append("--demo")
    if options.demo and options.demo_speed is not None:
        words += ["--demo-speed", str(options.demo_speed)]
    if options.machine is not None:
        words += ["--machine", str(options.machine)]
    if options.config is not None:
        words += ["--config", str(options.config.absolute())]
    return words


def main() -> int:
    """Read the order from standard input, say `started PID`, run the command."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    order = json.loads(sys.stdin.readline())
    if os.fork():  # whoever asked waits for this process, and is told the rest by the session
        return 0
    with contextlib.suppress(OSError):
        print(f"started {os.getpid()}", flush=True)
    _leave_terminal(order["output"])
    os.environ.update(order["environment"])
    from app.cli.main import cli

    cli.main(order["argv"], prog_name="raidbench")
    return 0


def _leave_terminal(output: str) -> None:
    """Standard input is empty, what is said goes to a file."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
    with contextlib.suppress(OSError):
        said = os.open(output, flags, 0o600)
        os.dup2(said, 1)
        os.dup2(said, 2)


if __name__ == "__main__":
    sys.exit(main())
