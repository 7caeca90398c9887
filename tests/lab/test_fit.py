"""A disk with slow flushes is unfit, and one with faster flushes is fit, on a real ext4 above device-mapper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.workbench import Workbench
from app.features.fit import engine
from app.features.fit.assessment import FitResult
from app.features.fit.decision import FitAnswer
from app.features.fit.demands import Demands
from app.features.fit.profiles import fit_profile, job_of
from backends.system.local import LocalHost
from tests.lab.disks import Disk
from tests.lab.hardware import DISK_BYTES
from tests.lab.making import Dm
from tests.lab.results import Results
from tests.lab.running import run
from tests.lab.uses import mount

pytestmark = [pytest.mark.vendors("block"), pytest.mark.seconds(600)]

_SECTORS = DISK_BYTES // 512

_SLOWER = 20
"""The emulated processor is this much slower, so the limit of etcd and the delays are as much longer."""

_ATTEMPTS = 3


async def _answer(folder: Path, runs: int, seconds: int) -> FitResult:
    bench = Workbench(LocalHost())
    try:
        demands = Demands(limit=0.010 * _SLOWER)
        plan = await engine.plan_fit(bench, fit_profile("etcd"), str(folder), demands, runs=runs, seconds=seconds)
        await bench.open(None, fresh=True)
        await bench.hardware.probe()
        return await engine.judge_fit(bench, plan, await engine.measure_fit(bench, plan), None)
    finally:
        bench.close()


@pytest.mark.parametrize(
    ("delay_ms", "answer", "runs", "seconds"),
    # A yes has to exclude pauses in 1 % of the time, for which less than 46 s are too short.
    [(3 * _SLOWER, FitAnswer.YES, 5, 11), (15 * _SLOWER, FitAnswer.NO, 3, 6)],
    ids=["yes", "no"],
)
async def test_a_delay_of_flushes_decides_whether_a_disk_is_fit_for_etcd(
    blank: Callable[..., tuple[Disk, ...]],
    dm: Callable[[str], Dm],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    table: Results,
    delay_ms: int,
    answer: FitAnswer,
    runs: int,
    seconds: int,
) -> None:
    monkeypatch.setattr(engine, "PAUSE_S", (0.1, 0.2))
    monkeypatch.setattr(engine, "job_of", lambda *given: replace(job_of(*given), size=16 << 20))
    # A scratch file needs more space than one disk has. The tuples of a target are those of reads, writes and flushes
    # (Documentation/admin-guide/device-mapper/delay.rst).
    rows = [
        f"{number * _SECTORS} {_SECTORS} delay" + f" {disk.device} 0 0" * 2 + f" {disk.device} 0 {delay_ms}"
        for number, disk in enumerate(blank("nvme0", "nvme1", "nvme2"))
    ]
    made = dm("\n".join(rows))
    run("mkfs.ext4", "-q", made.device)
    with mount(made.device, tmp_path / "fs") as folder:
        result = await _answer(folder, runs, seconds)
        for _ in range(_ATTEMPTS - 1):
            if result.answer is FitAnswer.UNDECIDED:  # as after a pause of the machine that emulates this one
                result = await _answer(folder, runs, seconds)
    assert table.add(
        "Machine", "fit", f"flushes of {delay_ms} ms, limit {10 * _SLOWER} ms", answer.value, ok=result.answer is answer
    ), [condition.judgement for condition in result.conditions]
