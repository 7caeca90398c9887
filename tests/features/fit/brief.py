"""raidbench whose `fit` is short: three runs of a second, in small files, however busy the disk is."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from typing import Any

from app.__main__ import main as raidbench
from app.core.fio.job import Job
from app.features.fit import engine, profiles


def _small(*given: Any) -> Job:
    return replace(profiles.job_of(*given), size=16 << 20)


def main() -> int:
    """The command line, with a short `fit`."""
    changed: dict[str, object] = {
        "job_of": _small,
        "BUSY_SHARE": 2.0,
        "plan_fit": partial(engine.plan_fit, runs=3, seconds=1),
    }
    for name, value in changed.items():
        setattr(engine, name, value)
    return raidbench()


if __name__ == "__main__":
    sys.exit(main())
