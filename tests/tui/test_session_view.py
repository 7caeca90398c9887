"""Runs and events turned into rows and log lines."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from app.core.analysis.pair_design import RULE
from app.core.analysis.sample_groups import Replicates
from app.core.presentation.events import EventChoice
from app.core.presentation.run_list import ListedRun, runs_table
from app.core.presentation.table import text_of, without_empty_columns
from app.core.session.event_types import PreconditionWritten, RecordedVerdict
from app.core.session.events import (
    BaselineMarked,
    ChangeEnded,
    ChangeIntended,
    CommandRan,
    ExperimentEnded,
    ExperimentStarted,
    InventorySeen,
    LoggedEvent,
    MachineChecked,
    NoteAdded,
    PreconditionEnded,
    ProblemRecorded,
    RecordedFinding,
    RulePersisted,
    RunEnded,
    RunStarted,
    SessionEnded,
    SessionStarted,
)
from app.core.session.results import RunStatus
from app.core.session.state import RunRecord, replay
from app.core.session.sweep_record import (
    SweepArrayRefused,
    SweepEnded,
    SweepExtended,
    SweepResumed,
    SweepStarted,
    SweepStepEnded,
    SweepStepStarted,
)
from app.core.session.sweep_steps import Purpose, StepResult, SweepResult
from app.tui.log.screen import log_entry
from backends.change import Change, ChangeStep
from backends.model import Drive, Inventory, Problem, Target
from tests.case_loop import loop_over
from tests.features.sweep.making import design
from tests.tui.stage import MACHINE, figures

SDA = Target(backend="block", address="sda")
STEP = ChangeStep(path="/sys/block/sda/queue/scheduler", text="bfq")
BACK = ChangeStep(path="/sys/block/sda/queue/scheduler", text="none")


def started(run: str = "r1", **settings: str) -> RunStarted:
    return RunStarted(
        at=0.0,
        id=run,
        target="block:sda",
        device="/dev/sda",
        profile="randread-4k",
        job={"bs": "4k"},
        title="4k random read",
        planned_seconds=60.0,
        settings=settings,
    )


def record(run: str = "r1", **settings: str) -> RunRecord:
    ended = RunEnded(at=1.0, id=run, figures=figures(), folder=f"runs/{run}")
    return RunRecord(start=started(run, **settings), end=ended)


def intended(*, undoes: str | None = None) -> ChangeIntended:
    return ChangeIntended(
        at=0.0,
        id="c1",
        undoes=undoes,
        change=Change(
            target=SDA,
            key="scheduler",
            label="Scheduler",
            before="none",
            after="bfq",
            writes=(STEP,),
            undo=(BACK,),
        ),
    )


def tried() -> ExperimentStarted:
    return ExperimentStarted(
        at=0.0,
        id="e1",
        target=SDA,
        key="scheduler",
        label="Scheduler",
        a="none",
        b="bfq",
        order=("A", "B", "B", "A"),
        title="4k random read",
        measured="block:sda",
        rule=RULE,
    )


FILLED = PreconditionWritten(at=0.0, device="/dev/sda", size_bytes=100, filled_bytes=70)
FLAW = RecordedFinding(rule="x", severity="warn", where="sda", message="It is so.", evidence="a: 1", mends="Mend it.")
TWICE = PreconditionWritten(
    at=0.0, device="/dev/sda", size_bytes=100, filled_bytes=200, workload="4k random write", steady=True
)
SWEEP = design('[[axis]]\ntarget = "array"\nsetting = "cache"\nvalues = ["off", "on"]\n')

EVENTS: list[tuple[LoggedEvent, str, str]] = [
    (
        SessionStarted(at=0.0, id="s", version="1.0", simulated=True, machine=MACHINE),
        "session",
        "raidbench 1.0 on tea SIMULATED",
    ),
    (InventorySeen(at=0.0, inventory=Inventory(drives=(Drive(target=SDA),))), "devices", "found 1 drive"),
    (
        CommandRan(at=0.0, line="nvme list", mutates=False, seconds=0.5, returncode=1, output="no"),
        "command",
        "nvme list  failed with exit status 1  0.500 s",
    ),
    (CommandRan(at=0.0, line="echo 1 > /x", mutates=True, seconds=0.0, returncode=0), "write", "echo 1 > /x"),
    (intended(), "change", "c1 Scheduler of block:sda: none -> bfq"),
    (intended(undoes="c0"), "change", "c1 undoes c0: Scheduler"),
    (ChangeEnded(at=0.0, id="c1", result="verified", now="bfq"), "change", "c1 verified: now bfq"),
    (ChangeEnded(at=0.0, id="c1", result="failed", now=None, message="EIO"), "change", "c1 failed"),
    (started(), "run", "r1 4k random read on block:sda"),
    (RunEnded(at=0.0, id="r1", figures=figures(), folder="runs/r1"), "run", "r1 done: read 85.4k IOPS"),
    (
        PreconditionEnded(at=0.0, id="r1", target="block:sda", written=TWICE, remembered=True),
        "run",
        "r1 block:sda: written 2.0x, then 4k random write, until steady",
    ),
    (
        PreconditionEnded(at=0.0, id="r1", target="block:sda", written=FILLED, remembered=False),
        "run",
        "r1 block:sda: written 0.7x",
    ),
    (tried(), "run", "e1 2 pairs: Scheduler of block:sda, A none, B bfq"),
    (ExperimentEnded(at=0.0, id="e1", status=RunStatus.OK, restored=True), "run", "e1 all runs done; the old value"),
    (
        ExperimentEnded(at=0.0, id="e1", status=RunStatus.FAILED, restored=False, reason="EIO"),
        "run",
        "VALUE WAS NOT RESTORED",
    ),
    (BaselineMarked(at=0.0, run="r1"), "run", "baseline: r1"),
    (BaselineMarked(at=0.0, run=None), "run", "baseline: none"),
    (NoteAdded(at=0.0, text="hot today\nfan is loud"), "note", "hot today"),
    (MachineChecked(at=0.0, findings=(FLAW,), rules=48), "session", "1 finding"),
    (MachineChecked(at=0.0, findings=(), rules=48), "session", "no findings"),
    (RulePersisted(at=0.0, target=SDA, path="/etc/x.rules", values={"a": "1"}), "change", "/etc/x.rules keeps"),
    (RulePersisted(at=0.0, target=SDA, path="/etc/x.rules", values={}), "change", "/etc/x.rules no longer persists"),
    (ProblemRecorded(at=0.0, problem=Problem(where="mega", message="No answer.", hint="Wait.")), "problem", "mega: No"),
    (SweepStarted(at=0.0, design=SWEEP), "run", "sweep t: 4 steps for 2 cells, seed 1"),
    (SweepResumed(at=0.0), "run", "sweep continues"),
    (SweepExtended(at=0.0, purpose=Purpose.CONFIRM, steps=SWEEP.steps), "run", "4 more steps for confirmation"),
    (SweepStepStarted(at=0.0, step=3), "run", "step 3"),
    (SweepStepEnded(at=0.0, step=3, result=StepResult.DONE, run="r3"), "run", "step 3 done, r3"),
    (SweepStepEnded(at=0.0, step=3, result=StepResult.FAILED, reason="EIO"), "run", "step 3 failed"),
    (SweepArrayRefused(at=0.0, array="a2", reason="no"), "run", "the array a2 was refused and is left out"),
    (SweepEnded(at=0.0, result=SweepResult.FINISHED), "run", "sweep finished: the old settings were restored"),
    (SweepEnded(at=0.0, result=SweepResult.FAILED, left=("cache",)), "run", "NOT ALL OLD SETTINGS WERE RESTORED"),
    (SessionEnded(at=0.0, reason="SIGTERM"), "session", "SIGTERM"),
]


def test_every_kind_of_event_is_tried_here() -> None:
    assert {type(event) for event, _, _ in EVENTS} == set(get_args(LoggedEvent))


@loop_over(("event", "kind", "words"), EVENTS, ids=lambda value: type(value).__name__)
def test_every_event_has_its_line(event: LoggedEvent, kind: str, words: str) -> None:
    entry = log_entry(0, event)
    assert (entry.kind, words in entry.head) == (kind, True)


def test_the_output_of_a_command_is_folded_away_below_it() -> None:
    entry = log_entry(0, CommandRan(at=0.0, line="x", mutates=False, seconds=0.0, returncode=0, output="a\nb"))
    assert entry.body == ("$ x", "a", "b")


def test_a_change_says_below_how_it_is_taken_back() -> None:
    assert "undo: echo none > /sys/block/sda/queue/scheduler" in log_entry(0, intended()).body


def test_an_experiment_ends_with_its_verdict_in_words() -> None:
    iops = RecordedVerdict(
        direction="read",
        figure="iops",
        verdict="slower",
        headline=True,
        mean=-0.224,
        low=-0.236,
        high=-0.213,
        level=0.05,
    )
    event = ExperimentEnded(at=0.0, id="e1", status=RunStatus.OK, restored=True, verdicts=(iops,))
    shown = "slower, read IOPS -20.1 % [-21.0, -19.2]"
    assert log_entry(0, event).head.endswith(f"  e1 {shown}; the old value was restored")


def test_a_change_ends_with_the_unit_of_its_value() -> None:
    sized = replace(intended(), change=replace(intended().change, unit="bytes"))
    ended = ChangeEnded(at=0.0, id="c1", result="verified", now="262144")
    assert log_entry(1, ended, replay([sized, ended])).head.endswith("c1 verified: now 256 KiB")


@pytest.mark.parametrize(
    ("choice", "kinds"),
    [
        (EventChoice.ALL, {"command", "write", "change", "run", "note", "problem"}),
        (EventChoice.EVENTS, {"write", "change", "run", "note", "problem"}),
        (EventChoice.CHANGES, {"write", "change"}),
        (EventChoice.RUNS, {"run"}),
    ],
)
def test_what_was_only_read_is_shown_to_whoever_asks_for_everything(choice: EventChoice, kinds: set[str]) -> None:
    assert {kind for kind in ("command", "write", "change", "run", "note", "problem") if choice.shows(kind)} == kinds


def test_a_failed_change_is_not_in_the_colour_of_a_good_one() -> None:
    assert log_entry(0, ChangeEnded(at=0.0, id="c1", result="failed", now=None)).tone == "bad"


def listed(*runs: RunRecord, baseline: bool = False) -> list[dict[str, str]]:
    """The list of runs, by heading."""
    known = Replicates(runs)
    rows = [ListedRun(record=run, name=run.id, repeats=known, baseline=baseline) for run in runs]
    shown = without_empty_columns(runs_table(rows, full=False))
    names = [column.title for column in shown.columns]
    return [dict(zip(names, map(text_of, row.cells), strict=True)) for row in shown.rows]


def test_only_settings_that_differ_become_columns_and_stand_behind_the_figures() -> None:
    runs = [record("r1", scheduler="none", nomerges="0"), record("r2", scheduler="bfq", nomerges="0")]
    names = list(listed(*runs)[0])
    assert ("Merging" in names, names.index("I/O scheduler") > names.index("Read IOPS")) == (False, True)


def test_a_run_shows_its_settings_and_figures() -> None:
    shown = listed(record("r1", scheduler="bfq"), record("r2", scheduler="none"))[0]
    assert (shown["I/O scheduler"], shown["Read IOPS"], shown["Read p99"]) == ("bfq", "85.4k", "1.20 ms")


def test_values_that_are_codes_for_the_kernel_are_words_in_the_list() -> None:
    runs = [record("r1", nomerges="0", rq_affinity="1"), record("r2", nomerges="2", rq_affinity="2")]
    shown = [(row["Merging"], row["Completion CPU"]) for row in listed(*runs)]
    assert shown == [("all merges", "same group"), ("no merges", "same CPU")]


def test_the_baseline_says_so() -> None:
    assert listed(record(), baseline=True)[0]["Against r1"] == "baseline"


def test_a_run_under_way_is_not_called_failed() -> None:
    assert listed(RunRecord(start=started(), running=True))[0]["Status"] == "running"
