"""Runs of fio made up by hand, and what is beneath a folder."""

from __future__ import annotations

from typing import Any

from app.features.fit.assessment import FitResult, Foundation, assess
from app.features.fit.demands import Demands
from app.features.fit.profiles import fit_profile, limits_of
from app.features.fit.runs import FitInterval, FitRun
from app.features.fit.safety import Safety, SafetyJudgement
from backends.model import Media

NO_FINDING = SafetyJudgement(safety=Safety.NO_FINDING)
UNSAFE = SafetyJudgement(safety=Safety.UNSAFE, reasons=("flushes-off: The kernel sends no flushes.",))

MS = 1_000_000


def run(
    flush_ms: float = 1.0, *, pause_ms: float = 0.0, iops: float = 1000.0, mean_ms: float = 1.0, mb: float = 100.0
) -> FitRun:
    """A run of 18 s with a thousand equal flushes a second, and a pause of a write in each quarter."""
    flushes = ((int(flush_ms * MS), 250),)
    waits = (*flushes, (int(pause_ms * MS), 1)) if pause_ms else flushes
    return FitRun(
        intervals=(FitInterval(seconds=0.25, flushes=flushes, waits=waits),) * 72,
        longest_s=max(flush_ms, pause_ms) / 1000,
        flushes_per_s=iops,
        iops=iops,
        bytes_per_s=mb * 1e6,
        mean_s=mean_ms / 1000,
        written=75_000_000,
    )


def assessed(
    name: str, run: FitRun, *, media: Media = Media.SSD, demands: Demands | None = None, **more: Any
) -> FitResult:
    """The answer to eight equal runs."""
    profile = fit_profile(name)
    foundation = Foundation(**{"safety": NO_FINDING, **more})
    runs = [run] * 8 if profile.workload else []
    return assess(profile, limits_of(profile, demands or Demands(), media), runs, foundation)
