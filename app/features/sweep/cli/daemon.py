"""Background process of a sweep: it has no terminal, ignores SIGHUP, and runs the ordinary command line."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys

from app.cli.main import cli


def main() -> int:
    """Read the command and its environment as JSON from stdin, print `started PID`, and run the command."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    order = json.loads(sys.stdin.readline())
    if os.fork():  # exit, so that only the child outlives the starter, which waits until this process exits
        return 0
    with contextlib.suppress(OSError):
        print(f"started {os.getpid()}", flush=True)
    if order["nice"] is not None:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, order["nice"])
    _leave_terminal(order["output"])
    os.environ.update(order["environment"])
    cli.main(order["argv"], prog_name="raidbench")
    return 0


def _leave_terminal(output: str) -> None:
    """Redirect stdin from /dev/null, and stdout and stderr to the file `output`."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
    with contextlib.suppress(OSError):
        descriptor = os.open(output, flags, 0o600)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)


if __name__ == "__main__":
    sys.exit(main())
