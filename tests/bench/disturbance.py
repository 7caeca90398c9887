"""fio under the workbench against fio alone: the same job, the same file, in alternating pairs."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.core.fio.document import Counters, FioDocument
from app.core.fio.job import JobTarget, TargetKind
from app.core.fio.render import render
from app.core.fio.stream import FioJsonDocument, StreamParser
from tests.bench.figures import Figure, ratio
from tests.bench.place import Place
from tests.bench.terminal import Terminal
from tests.bench.workbench import job

_SIZE = 256 << 20
_RAMP = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of fio."""

    counted: Counters
    """Its reads."""
    cpu: float
    """Seconds of processor time it took."""


def measure(place: Place) -> Iterator[Figure]:
    """IOPS and p99 at queue depth 1 and 64, one job: a core is free for the workbench only if there are two."""
    pairs, seconds = (2, 2) if place.quick else (10, 4)
    scratch = place.memory / "scratch.dat"
    with scratch.open("wb") as file:
        for _ in range(_SIZE >> 20):
            file.write(os.urandom(1 << 20))
    for depth in (1, 64):
        under: list[Run] = []
        alone: list[Run] = []
        for number in range(pairs):
            for which in ((True, False), (False, True))[number % 2]:
                if which:
                    under.append(_under(place, scratch, depth, seconds))
                else:
                    alone.append(_alone(place, scratch, depth, seconds))
        rates = [[run.counted.completed / run.counted.runtime_ms for run in side] for side in (under, alone)]
        tails = [[float(run.counted.histogram.percentile(99.0) or 1) for run in side] for side in (under, alone)]
        effort = [[run.counted.completed / run.cpu for run in side] for side in (under, alone)]
        middle = sorted(rates[1])[pairs // 2]
        yield ratio(
            f"fio IOPS under the workbench / alone, QD {depth}",
            *rates,
            goal=0.99,
            at_least=True,
            note=f"{pairs} pairs of {seconds} s, {middle:.0f}k IOPS alone",
        )
        yield ratio(
            f"fio I/Os per CPU second under / alone, QD {depth}",
            *effort,
            goal=0.99,
            at_least=True,
            note="what counts on a machine that others use, too",
        )
        middle = sorted(tails[1])[pairs // 2] / 1000
        yield ratio(f"fio p99 under / alone, QD {depth}", *tails, goal=1.02, note=f"{middle:.1f} us alone")


def _under(place: Place, scratch: Path, depth: int, seconds: int) -> Run:
    result = place.folder / "result"
    result.unlink(missing_ok=True)
    words = (str(result), str(scratch), str(depth), "1", str(_RAMP), str(seconds))
    with Terminal(place.workbench(*words), place.environment()) as terminal:
        deadline = time.monotonic() + seconds + 60
        while terminal.read(0.5) is not None and time.monotonic() < deadline:
            pass
    return last_of(Path(result.read_text()) / "fio.out")


def _alone(place: Place, scratch: Path, depth: int, seconds: int) -> Run:
    """The very words and job file, its reports into a file."""
    file = place.folder / "alone.fio"
    out = place.folder / "alone.out"
    target = JobTarget(path=str(scratch), name="scratch", kind=TargetKind.FILE, size=_SIZE)
    rendering = render(job(depth, 1, _RAMP, seconds), [target], jobfile=str(file))
    file.write_text(rendering.text)
    with out.open("wb") as sink:
        subprocess.run(rendering.argv, stdout=sink, stdin=subprocess.DEVNULL, check=True, cwd=place.folder)
    return last_of(out)


def last_of(file: Path) -> Run:
    """What the last document says of reads."""
    parser = StreamParser()
    documents = [event for event in parser.feed(file.read_bytes()) if isinstance(event, FioJsonDocument)]
    last = FioDocument(documents[-1].data)
    counted = last.counters("read")
    if counted is None or not counted.runtime_ms:
        raise RuntimeError(f"nothing was measured: {json.dumps(documents[-1].data)[:400]}")
    return Run(counted=counted, cpu=counted.runtime_ms / 1000 * (last.cpu_percent_of_core or 100.0) / 100)
