"""What is known of a target's noise before an experiment on it begins."""

from __future__ import annotations

from app.engine.history.earlier_runs import job_words, thing_of
from app.engine.history.index import known_runs
from app.engine.history.noise import noise_on
from app.engine.judge.noise import RunNoise
from app.engine.measure.beginning import run_started
from app.engine.measure.measurer import Preparation
from app.engine.workbench import Workbench


def known_noise(bench: Workbench, ready: Preparation) -> RunNoise | None:
    """From runs of this job on this target in any session, this one included; None where too few are known."""
    start = run_started("", ready, {}, kept=False, simulated=bench.simulated)
    thing = thing_of(start, bench.session.inventory, bench.host.name)
    return noise_on((start.simulated, thing, job_words(start.work)), known_runs(bench.paths).runs)
