"""raidbench whose `fit` is short: three runs of a second, in small files, however busy the disk is."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial

from app.__main__ import main as raidbench
from app.core.fio.job import Job
from app.features.fit import engine
from app.features.fit.profiles import Demands, FitProfile, job_of


def _small(profile: FitProfile, demands: Demands, seconds: int) -> Job:
    return replace(job_of(profile, demands, seconds), size=16 << 20)


def main() -> int:
    """The command line, with a short `fit`."""
    engine.job_of = _small
    engine.BUSY_SHARE = 2.0
    engine.plan_fit = partial(engine.plan_fit, runs=3, seconds=1)  # type: ignore[assignment]
    return raidbench()


if __name__ == "__main__":
    sys.exit(main())
