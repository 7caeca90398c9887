"""Many sessions with many runs, written as fast as a disk takes them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

from app.core.session import event_codec
from app.core.session.events import LoggedEvent
from tests.core import sessions

DAY = 86_400.0


def write_sessions(root: Path, count: int, runs: int, *, seed: int = 1) -> None:
    """So many sessions of so many runs each, a session a day."""
    random = Random(seed)
    for number in range(count):
        begun = 1_700_000_000.0 + number * DAY
        events: list[LoggedEvent] = [replace(sessions.started(), at=begun), sessions.seen()]
        for run in range(runs):
            settings = {"read_ahead_kb": str(128 << (number // 100 % 3)), "scheduler": "mq-deadline"}
            iops = 1e5 * random.lognormvariate(0, 0.02)
            events += sessions.run(f"r{run + 1}", iops=iops, settings=settings, at=begun + 60 + run * 75)
        folder = root / f"day-{number:05d}"
        folder.mkdir(parents=True)
        (folder / "session.jsonl").write_text("".join(f"{event_codec.encode(event)}\n" for event in events))
