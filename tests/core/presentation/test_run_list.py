"""The list of runs shows what differs, and what each run shows against the baseline."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.analysis.sample_groups import Replicates
from app.core.presentation.run_list import ListedRun, against_cell, runs_table, runs_title
from app.core.presentation.table import Cell, Tone, text_of, without_empty_columns
from app.core.session.results import RunStatus
from app.core.session.state import RunRecord, replay
from app.tui import render
from tests.core import sessions
from tests.core.presentation.test_comparison import SAME, SLOWER, measured
from widgets.table_layout import TableLayout

WRITES = {"rw": "randwrite", "bs": "4k"}


def made(*, target: str = "block:sda", job: dict[str, str] | None = None, iops: float = 1000.0) -> RunRecord:
    return replay(sessions.run("r1", target=target, job=job, iops=iops)).runs[0]


def headings(*runs: RunRecord, whole: bool = False) -> set[str]:
    listed = [ListedRun(record=run, name=run.id, repeats=Replicates(runs)) for run in runs]
    return {column.title for column in runs_table(listed, full=whole).columns}


def title(*runs: RunRecord) -> str:
    return runs_title([ListedRun(record=run, name=run.id, repeats=Replicates(runs)) for run in runs])


def against(pairs: tuple[tuple[float, float], ...], run: int) -> Cell | None:
    """What a run of an A/B shows against its first one."""
    session = measured(*pairs)
    return against_cell(session.runs[0], session.runs[run], Replicates(session.runs), session.experiments)


def test_what_is_the_same_in_all_runs_has_no_column() -> None:
    assert headings(made(), made()).isdisjoint({"Target", "Job"})


def test_what_is_the_same_in_all_runs_stands_in_the_title() -> None:
    assert title(made(), made()) == "Runs: randread-4k, block:sda"


def test_a_target_that_differs_has_a_column() -> None:
    runs = made(), made(target="block:sdb")
    assert ("Target" in headings(*runs), title(*runs)) == (True, "Runs: randread-4k")


def test_settings_of_other_targets_and_settings_that_were_not_read_are_no_difference() -> None:
    first, other, unread = (
        replay(sessions.run("r1", target=target, settings=settings)).runs[0]
        for target, settings in (
            ("block:sda", {"scheduler": "none", "nomerges": "0"}),
            ("block:sdb", {"scheduler": "bfq", "nomerges": "2"}),
            ("block:sda", {"scheduler": "kyber"}),
        )
    )
    assert ("I/O scheduler" in headings(first, other), "Merging" in headings(first, other, unread)) == (False, False)
    assert "I/O scheduler" in headings(first, unread)


def test_the_whole_table_has_every_column() -> None:
    assert {"Target", "Job", "When"} <= headings(made(), whole=True)


def test_the_time_is_never_left_out() -> None:
    columns = runs_table([], full=False).columns
    assert next(column for column in columns if column.key == "time").priority == 0


@pytest.mark.parametrize(("width", "graph"), [(76, False), (120, True)])
def test_on_a_narrow_terminal_the_setting_that_differs_stays_and_the_graph_goes(width: int, graph: bool) -> None:
    runs = [
        replay(sessions.run(id, settings={"read_ahead_kb": size})).runs[0] for id, size in (("r1", "4"), ("r2", "8"))
    ]
    listed = [ListedRun(record=run, name=run.id, repeats=Replicates(runs), spark="▃" * 12) for run in runs]
    table = without_empty_columns(runs_table(listed, full=False))
    layout = TableLayout(render.columns(table), render.rows(table))
    places = {place.column.key for place in layout.place(width)}
    assert ("read_ahead_kb" in places, "spark" in places) == (True, graph)


def test_a_slower_run_says_so_with_its_sign_its_word_and_its_colour() -> None:
    assert against(SLOWER, 1) == Cell("↓ slower -20.0 %", Tone.BAD)


def test_no_difference_is_not_in_colour() -> None:
    found = against(SAME, 1)
    assert found is not None
    assert (found.text.startswith("= no difference "), found.tone) == (True, Tone.DIM)


def test_another_run_of_the_same_is_a_repeat() -> None:
    runs = replay([*sessions.run("r1", iops=1000.0), *sessions.run("r2", iops=1010.0)]).runs
    assert against_cell(runs[0], runs[1], Replicates(runs)) == Cell("repeat +1.0 %", Tone.DIM)


@pytest.mark.parametrize("other", [made(target="block:sdb"), made(job=WRITES)])
def test_another_target_or_job_is_not_compared(other: RunRecord) -> None:
    assert against_cell(made(), other, Replicates((made(), other))) is None


def test_a_run_that_was_stopped_is_compared_as_far_as_it_went() -> None:
    stopped = sessions.run("r2", iops=500.0, settings={"x": "1"}, status=RunStatus.STOPPED)
    runs = replay([*sessions.run("r1", iops=1000.0), *stopped]).runs
    assert against_cell(runs[0], runs[1], Replicates(runs)) == Cell("not decided -50.0 %", Tone.DIM)


def test_only_a_simulated_run_is_marked_as_one() -> None:
    real = made()
    simulated = replace(real, start=replace(real.start, simulated=True))
    listed = [ListedRun(record=run, name="r1", repeats=Replicates((run,))) for run in (real, simulated)]
    marked = ["SIMULATED" in map(text_of, row.cells) for row in runs_table(listed, full=False).rows]
    assert marked == [False, True]
