"""The command line on a pseudo-terminal, with somebody who answers."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import time
from collections.abc import Mapping

from tests.cli.conftest import ROOT, argv

_LIMIT = 180.0


def on_terminal(
    *words: str,
    answers: Mapping[str, str | signal.Signals] | None = None,
    env: Mapping[str, str] | None = None,
    all_streams: bool = False,
) -> tuple[int, str, str]:
    """Exit status, standard output, and what stood on the terminal.

    `answers` maps the end of a question to what is typed then, or to a signal that is sent instead. Standard output is
    a pipe unless `all_streams`.
    """
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", **(env or {})}
    process = subprocess.Popen(
        argv(*words),
        cwd=ROOT,
        env=environment,
        stdin=theirs,
        stderr=theirs,
        stdout=theirs if all_streams else subprocess.PIPE,
        start_new_session=True,
    )
    os.close(theirs)
    shown = _talk(process, ours, dict(answers or {}))
    out = process.stdout.read().decode() if process.stdout is not None else ""
    status = process.wait(_LIMIT)
    if process.stdout is not None:
        process.stdout.close()
    os.close(ours)
    return status, out, shown


def _talk(process: subprocess.Popen[bytes], ours: int, waiting: dict[str, str | signal.Signals]) -> str:
    shown = ""
    end = time.monotonic() + _LIMIT
    while time.monotonic() < end:
        if not select.select([ours], [], [], 0.1)[0]:
            continue
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # the other side is closed
            break
        if not chunk:
            break
        shown += chunk.decode("utf-8", "replace")
        for question, answer in list(waiting.items()):
            if shown.rstrip().endswith(f"{question}:"):  # the colon says that it listens
                if isinstance(answer, str):
                    os.write(ours, answer.encode())
                else:
                    process.send_signal(answer)
                del waiting[question]
    else:
        process.kill()
        process.wait()
        raise AssertionError(f"it did not end within {_LIMIT:.0f} s; on the terminal stands:\n{shown}")
    return shown
