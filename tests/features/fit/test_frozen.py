"""A filesystem that is frozen again and again: fio's own percentile does not show it, and `fit` does."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.core.workbench import Workbench
from app.features.fit import engine
from app.features.fit.assessment import FitResult
from app.features.fit.decision import FitAnswer
from app.features.fit.demands import Demands
from app.features.fit.engine import judge_fit, measure_fit, plan_fit
from app.features.fit.profiles import fit_profile
from app.features.fit.runs import FitRun
from backends.system.local import LocalHost
from tests.backends.loops import ext4, loop, needs_loops, run
from tests.packages import needs

pytestmark = [pytest.mark.fio, pytest.mark.root, pytest.mark.long, needs("fio"), needs_loops()]

_FREEZE, _THAW = 0xC0045877, 0xC0045878
"""FIFREEZE and FITHAW (linux/fs.h)."""

_SHM = Path("/dev/shm")

_LIMIT_S = 0.03
"""A limit that flushes in memory keep even if all processors are busy."""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """An ext4 filesystem in memory, behind a loop device of our own."""
    point = tmp_path / "fs"
    point.mkdir()
    with loop(_SHM / f"raidbench-fit-{os.getpid()}", size=3 << 30) as made:
        ext4(made.sure())
        run("mount", made.sure(), str(point))
        try:
            yield point
        finally:
            run("umount", str(point))


@contextmanager
def frozen(point: Path, *, seconds: float, every: float) -> Iterator[None]:
    """Freeze a filesystem of our own for `seconds` in each `every` seconds. It is never left frozen."""
    over = threading.Event()
    descriptor = os.open(point, os.O_RDONLY)

    def freeze() -> None:
        while not over.wait(every - seconds):
            fcntl.ioctl(descriptor, _FREEZE, 0)
            try:
                time.sleep(seconds)
            finally:
                fcntl.ioctl(descriptor, _THAW, 0)

    thread = threading.Thread(target=freeze)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        os.close(descriptor)


async def _answer(folder: Path) -> tuple[FitResult, list[FitRun]]:
    bench = Workbench(LocalHost())
    try:
        plan = await plan_fit(bench, fit_profile("etcd"), str(folder), Demands(limit=_LIMIT_S), runs=6, seconds=2)
        await bench.open(None, fresh=True)
        await bench.hardware.probe()
        runs = await measure_fit(bench, plan)
        return await judge_fit(bench, plan, runs, None), runs
    finally:
        bench.close()


async def test_pauses_that_fio_does_not_show_make_a_folder_unfit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "PAUSE_S", (0.1, 0.2))
    with frozen(folder, seconds=0.1, every=1.0):
        result, runs = await _answer(folder)
    assert result.answer is FitAnswer.NO
    assert result.latency is not None
    assert 0.03 < result.latency.stuck.mean < 0.2
    assert max(run.flush_histogram.percentile(99.0) or 0 for run in runs) < 1e9 * _LIMIT_S
    assert not list(folder.glob("raidbench*"))
