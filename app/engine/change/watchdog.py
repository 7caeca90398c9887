"""The process that takes a trial back at its deadline: alone, deaf to hang-ups, working from the journal."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from pathlib import Path

from app.engine.change.changer import Changer
from app.engine.session.journal import Journal, OpenChange, boot_clock
from app.engine.session.paths import Paths, keep_private
from backends.errors import RaidbenchError, RefusedError
from backends.hosts.local import LocalHost
from backends.registry import Machine

LOOK_EVERY = 0.5
"""Seconds between two looks at the journal."""

TRIES = 20
"""How often a restore that somebody's lock prevents is tried again, a second apart."""


async def watch(paths: Paths, session: str, until: float) -> str:
    """Wait for the end of a set of trials; returns how it ended: `kept`, `restored`, `conflict`, `failed`."""
    journal = Journal(paths.journal)
    while (left := until - boot_clock()) > 0:
        if not _open(journal, session, until):
            return "kept"
        await asyncio.sleep(min(LOOK_EVERY, left))
    result = "kept"
    while trials := _open(journal, session, until):  # newest first: a later change may rest on an earlier one
        result = await _take_back(paths, journal, trials[0])
        if result == "conflict":  # somebody else's value is never touched; nothing waits for it any more
            journal.outcome(trials[0].id, Path(session), "conflict")
        elif result != "restored":
            return result
    return result


def _open(journal: Journal, session: str, until: float) -> list[OpenChange]:
    """Trials of the set that are not decided, newest first."""
    return [trial for trial in journal.trials() if (trial.session, trial.until) == (session, until)]


async def _take_back(paths: Paths, journal: Journal, intent: OpenChange) -> str:
    for _ in range(TRIES):
        try:
            return await _restore(paths, journal, intent)
        except RefusedError:
            await asyncio.sleep(1.0)
        except RaidbenchError:
            break
    return "failed"


async def _restore(paths: Paths, journal: Journal, intent: OpenChange) -> str:
    changer = Changer(
        backends=Machine.of(LocalHost()).backends,
        journal=journal,
        locks=paths.locks,
        folder=Path(intent.session),
        emit=lambda _event: None,
        next_id=lambda: f"{intent.id}-back",
    )
    return await changer.recover(intent)


def main() -> int:
    """Read the order from standard input, say `armed`, watch."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    keep_private()
    order = json.loads(sys.stdin.readline())
    paths = Paths(**{name: Path(order[name]) for name in ("sessions", "journal", "locks", "config")})
    if os.fork():  # whoever asked waits for this process and is told the rest by the journal
        return 0
    with contextlib.suppress(OSError):
        print("armed", flush=True)
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
    asyncio.run(watch(paths, order["session"], float(order["until"])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
