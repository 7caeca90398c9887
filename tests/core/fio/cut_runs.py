"""A run whose program is killed, ended, frozen or loses its reader: nothing of fio is left."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from tests.tally import Tally

ROOT = Path(__file__).parents[3]
SIZE = 8 << 20
SIDE_BY_SIDE = 2
LATE = 2.0
"""Seconds after which nothing of fio may run."""

PROGRAM = """
import asyncio, sys
from contextlib import aclosing
from pathlib import Path
from app.core.fio.job import Job
from app.core.fio.load import FioLoad
from app.core.fio.job import JobTarget, TargetKind
from app.core.session.event_types import SampleTaken
from backends.system.local import LocalHost

async def main(path, size, folder):
    target = JobTarget(path=path, name=path, kind=TargetKind.FILE, size=int(size))
    job = Job(runtime=60, ramp=0, numjobs=4)
    async with aclosing(FioLoad(LocalHost()).run(job, [target], Path(folder), asyncio.Event())) as events:
        async for event in events:
            if isinstance(event, SampleTaken):
                print("running", flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


def _killed(parent: subprocess.Popen[str]) -> None:
    parent.send_signal(signal.SIGKILL)


def _ended(parent: subprocess.Popen[str]) -> None:
    parent.send_signal(signal.SIGTERM)


def _frozen(parent: subprocess.Popen[str]) -> None:
    parent.send_signal(signal.SIGSTOP)
    time.sleep(0.5)
    parent.send_signal(signal.SIGKILL)


def _unread(parent: subprocess.Popen[str]) -> None:
    assert parent.stdout is not None
    parent.stdout.close()


WAYS: tuple[Callable[[subprocess.Popen[str]], None], ...] = (_killed, _ended, _frozen, _unread)


def cut(folder: Path, way: Callable[[subprocess.Popen[str]], None], moment: float, late: float = LATE) -> str:
    """Cut a run so many seconds after its first sample; what was left of fio `late` after that, "" for nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scratch").write_bytes(bytes(SIZE))
    parent = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder / "scratch"), str(SIZE), str(folder)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert parent.stdout is not None
    try:
        if parent.stdout.readline() != "running\n":
            return "it did not run"
        started = psutil.Process(parent.pid).children(recursive=True)
        if not started:
            return "there was no fio"
        time.sleep(moment)
        way(parent)
        end = time.monotonic() + late
        while (alive := [process for process in started if _runs(process)]) and time.monotonic() < end:
            time.sleep(0.02)
        return ", ".join(str(process) for process in alive)
    finally:
        parent.kill()
        parent.wait()
        parent.stdout.close()


def _runs(process: psutil.Process) -> bool:
    """Whether it is at work: one that has ended may wait long for process 1 to take notice."""
    try:
        return process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.NoSuchProcess:
        return False


def run(folder: Path, tries: int, seed: int) -> Tally:
    """So many cuts at random moments, each way in turn."""
    tally = Tally()
    chance = random.Random(seed)
    cuts = [(folder / str(number), WAYS[number % len(WAYS)], chance.random()) for number in range(tries)]
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        for (_, way, moment), left in zip(cuts, pool.map(lambda one: cut(*one), cuts), strict=True):
            tally.expect(not left, f"{way.__name__} after {moment:.2f} s: {left}")
    return tally
