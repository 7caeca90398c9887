"""What goes on when a program has ended: the watchdogs of its trials."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]

MODULES = frozenset({"app.core.changes.watchdog", "app.cli.simulated_watchdog"})


def marked(sources: Path | str, mark: Path) -> str:
    """A PYTHONPATH by which `watchdogs` tells those of one test from all others: their environment is empty."""
    return f"{sources}:{mark}"


def watchdogs(mark: Path) -> list[psutil.Process]:
    """Those that run now of programs that were started with such a PYTHONPATH."""
    found = []
    for one in psutil.process_iter():
        with suppress(psutil.Error):
            words = one.cmdline()
            if not MODULES.isdisjoint(words) and str(mark) in words:
                found.append(one)
    return found
