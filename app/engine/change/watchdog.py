"""The process that takes a trial back at its deadline: alone, deaf to hang-ups, working from the journal."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import os
import pkgutil
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

import app.engine.change
import app.engine.session
import backends
from app.engine.change.changer import Changer
from app.engine.doors import opened
from app.engine.session.journal import Journal, OpenChange, boot_clock
from app.engine.session.paths import Paths, keep_private
from backends.errors import HeldError, RaidbenchError, RefusedError
from backends.host import Command
from backends.hosts.local import LocalHost
from backends.hosts.local.detached import STAY
from backends.protocol import Finds, Sets
from backends.registry import Machine

LOOK_EVERY = 0.5
"""Seconds between two looks at the journal."""

TRY_EVERY = 1.0
"""Seconds between two tries of a restore that is refused."""

TRIES = 20
"""How often a restore is tried that is refused for another reason than that somebody is at it."""

LONGEST_WAIT = 3600.0
"""Seconds after the deadline that a program which still sets the value is waited for."""

_NEVER_NEEDED = ("backends.conformance", "app.engine.change.watchdog")
_OTHER_HOSTS = ("backends.hosts.simulated", "backends.hosts.recorded", "backends.hosts.streams")
_LATE = ("cattrs", "encodings.ascii", "importlib.metadata", "tomllib")
"""What modules of ours import when they first need it, or open a file with."""


async def watch(paths: Paths, session: str, until: float, found: Mapping[str, Finds | Sets]) -> str:
    """Wait for the end of a set of trials; returns how it ended: `kept`, `restored`, `conflict`, `failed`."""
    journal = Journal(paths.journal)
    while (left := until - boot_clock()) > 0:
        if not journal.trials_of(Path(session), until):
            return "kept"
        await asyncio.sleep(min(LOOK_EVERY, left))
    result = "kept"
    changer = Changer(
        backends=found,
        journal=journal,
        locks=paths.locks,
        folder=Path(session),
        emit=lambda _event: None,
        next_id=lambda: f"{trials[0].id}-back",
    )
    while trials := journal.trials_of(Path(session), until):  # newest first: a later change may rest on an earlier one
        result = await _take_back(changer, journal, trials[0])
        if result == "conflict":  # somebody else's value is never touched; nothing waits for it any more
            journal.outcome(trials[0].id, Path(session), "conflict")
        elif result == "failed":
            return result
    return result


async def _take_back(changer: Changer, journal: Journal, intent: OpenChange) -> str:
    refusals = 0
    last = boot_clock() + LONGEST_WAIT
    while refusals < TRIES and boot_clock() < last:
        try:
            return await changer.recover(intent)
        except RefusedError as error:
            # As long as somebody is at it, what is read now is not yet what is to be taken back.
            refusals += not isinstance(error, HeldError)
            await asyncio.sleep(TRY_EVERY)
            if not any(one.id == intent.id for one in journal.trials_of(Path(intent.session), intent.until or 0.0)):
                return "kept"  # somebody decided meanwhile
        except RaidbenchError:
            break
    return "failed"


def load_all() -> None:
    """Import whatever may be needed at the deadline: by then the program may be upgraded, moved or removed."""
    for package in (app.engine.session, app.engine.change, backends):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name not in _NEVER_NEEDED and not module.name.startswith(_OTHER_HOSTS):
                importlib.import_module(module.name)
    for name in _LATE:
        importlib.import_module(name)


async def rehearse(paths: Paths, session: str, until: float) -> Mapping[str, Finds]:
    """Do once what the deadline takes, short of setting anything; the backends that it was done with.

    Raises RaidbenchError when what is on trial cannot be read.
    """
    host = opened(LocalHost(), paths.config)
    found = Machine.of(host).backends
    everyone = dict(found)  # each made now
    for trial in Journal(paths.journal).trials_of(Path(session), until):
        backend = found[trial.change.target.backend]
        if isinstance(backend, Sets):
            await backend.read(trial.change.target)
    with contextlib.suppress(RaidbenchError):  # what only starting a program and writing a file import
        await host.run(Command(argv=(host.which(("true",)) or "",), mutates=True))
        await host.write(os.devnull, "")
    return everyone


async def _live(paths: Paths, session: str, until: float) -> None:
    try:
        load_all()
        found = await rehearse(paths, session, until)
    except Exception as error:  # told to whoever asked, who then sets nothing
        _say(f"{type(error).__name__}: {error}")
        return
    _say("armed")
    await watch(paths, session, until, found)


def _say(word: str) -> None:
    """The one line for whoever asked; after it nobody listens."""
    with contextlib.suppress(OSError):
        print(word, flush=True)
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)


def main() -> int:
    """Read the order from standard input, say `armed`, watch."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    keep_private()
    order = json.loads(sys.stdin.readline())
    paths = Paths(**{name: Path(order[name]) for name in ("sessions", "journal", "locks", "config")})
    if STAY not in sys.argv and os.fork():  # whoever asked waits for this process and is told the rest by the journal
        return 0
    asyncio.run(_live(paths, order["session"], float(order["until"])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
