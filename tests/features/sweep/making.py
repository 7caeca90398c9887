"""Plans, machines and finished sweeps for tests, made by hand."""

from __future__ import annotations

from collections.abc import Mapping

from app.core.session.events import RunEnded, RunStarted
from app.core.session.results import DirectionStats, LatencyStats, RunResult, RunStatus
from app.core.session.state import RunRecord
from app.core.session.sweep_record import (
    SweepRecord,
    SweepStarted,
    SweepStepEnded,
    SweepStepStarted,
    first_record,
    fold_sweep,
)
from app.core.session.sweep_steps import Design, NeededFeature, Step, StepResult, SweepCell
from app.features.sweep.engine.plan import SweepPlan
from app.features.sweep.engine.plan_expansion import expand
from app.features.sweep.engine.plan_file import parse_plan
from app.features.sweep.engine.targets import SettingOwner, TargetFacts
from backends.model import Scope, Target
from backends.settings import Availability, Choice, Effect, Reading, Risk, Setting

VOLUME = Target(backend="fake", address="v1", scope=Scope.ARRAY)
CARD = Target(backend="fake", address="c0", scope=Scope.CONTROLLER)

SETTINGS = {
    "cache": Setting(key="cache", label="Cache", help=""),
    "ahead": Setting(key="ahead", label="Read-ahead", help=""),
    "locked": Setting(key="locked", label="Locked", help=""),
    "unread": Setting(key="unread", label="Unread", help=""),
    "final": Setting(key="final", label="Final", help=""),
    "boot": Setting(key="boot", label="Boot", help="", effect=Effect.REBOOT),
    "strip": Setting(
        key="strip",
        unit="bytes",
        label="Strip",
        help="",
        effect=Effect.RECREATED,
        risk=Risk.DESTROYS_DATA,
        risk_text="All is lost.",
    ),
}


def _reading(now: str | None, *values: str, why_not: str | None = None) -> Reading:
    choices = tuple(Choice(value=value, label=value) for value in values)
    return Reading(now=now, choices=choices, availability=Availability(why_not=why_not))


READINGS = {
    "cache": _reading("off", "off", "on"),
    "ahead": _reading("none", "none", "some", "all"),
    "locked": _reading("a", "a", "b", why_not="the card says no"),
    "unread": _reading(None, "a", "b"),
    "final": _reading("not offered", "a", "b"),
    "boot": _reading("a", "a", "b"),
    "strip": _reading("65536", "8192", "65536", "524288"),
}

HEAD = """
title = "t"
[targets]
array = "fake:v1"
card = "fake:c0"
[measure]
target = "array"
repeats = 2
[job]
runtime = "5s"
ramp = "1s"
"""


def plan(text: str, *, head: str = HEAD) -> SweepPlan:
    """A plan on the array `fake:v1`."""
    return parse_plan((head + text).encode(), "plan.toml")


def known(*, active: bool = False, addresses: Mapping[str, str] | None = None) -> TargetFacts:
    """A machine with one array, /dev/sdx, and a controller with a feature called Turbo."""
    found = {"array": str(VOLUME), "card": str(CARD)} if addresses is None else addresses
    return TargetFacts(
        addresses=found,
        devices={role: "/dev/sdx" for role in found if role != "card"},
        holders={role: (SettingOwner(target=VOLUME, settings=SETTINGS, readings=READINGS),) for role in found},
        features={"Turbo": NeededFeature(name="Turbo", target=CARD, active=active, key="KEY")},
    )


def design(text: str, *, seed: int = 1, active: bool = False, repeats: int = 2) -> Design:
    """All that a plan makes on that machine."""
    head = HEAD.replace("repeats = 2", f"repeats = {repeats}")
    return expand(plan(text, head=head), known(active=active), seed)


def values(cell: SweepCell) -> dict[str, str]:
    """The cell's settings by key."""
    return {one.key: one.value for one in cell.settings}


def run(run_id: str, iops: float, *, p99: int = 1_000_000, status: RunStatus = RunStatus.OK) -> RunRecord:
    """A finished run that reads."""
    read = DirectionStats(
        iops=iops,
        bytes_per_second=iops * 4096,
        total_ios=100_000,
        total_bytes=100_000 * 4096,
        runtime_s=5.0,
        latency_ns=LatencyStats(mean=p99 / 2, p99=p99),
    )
    start = RunStarted(at=0.0, id=run_id, target="t", device=None, profile=None, job={}, title="", planned_seconds=6.0)
    figures = RunResult(status=status, read=read if status is RunStatus.OK else None)
    return RunRecord(start=start, end=RunEnded(at=1.0, id=run_id, figures=figures, folder=""))


def started(made: Design) -> SweepRecord:
    """A sweep that has just begun."""
    return first_record(SweepStarted(at=0.0, design=made, pid=1))


def after(record: SweepRecord, step: Step, run_id: str | None, result: StepResult = StepResult.DONE) -> SweepRecord:
    """The record after a step."""
    begun_step = fold_sweep(record, SweepStepStarted(at=1.0, step=step.number))
    ended = fold_sweep(begun_step, SweepStepEnded(at=3.0, step=step.number, result=result, run=run_id))
    assert ended is not None
    return ended


def measured(
    made: Design, iops: Mapping[str, float], p99: Mapping[str, int] | None = None
) -> tuple[SweepRecord, list[RunRecord]]:
    """A sweep with all steps done; figures by row, wobbling a little from round to round."""
    record, runs = started(made), []
    for step in record.steps:
        cell = record.cell(step.cell)
        wobble = 1.0 + 0.001 * (step.number % 3)
        name = f"r{step.number}"
        tail = (p99 or {}).get(cell.row, 1_000_000)
        runs.append(run(name, iops.get(cell.row, iops.get(cell.column, 1000.0)) * wobble, p99=tail))
        record = after(record, step, name)
    return record, runs
