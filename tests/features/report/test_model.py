"""What a report tells of an A/B, a sweep, the devices and what was put back."""

from __future__ import annotations

from dataclasses import replace

from app.core.analysis.pair_design import RULE
from app.core.session.events import (
    ExperimentEnded,
    ExperimentMark,
    ExperimentStarted,
    LoggedEvent,
    RunEnded,
    RunStarted,
)
from app.core.session.results import Advice, RunStatus, SteadyStateResult
from app.core.session.state import Session, replay
from app.core.session.sweep_record import SweepEnded
from app.core.session.sweep_steps import SweepResult
from app.features.report.blocks import Report, ReportTable, Section, Sentences
from app.features.report.experiments import experiment_graphs
from app.features.report.graph import HeatMap, IntervalGraph, LineGraph, Spacing
from app.features.report.model import report_of
from backends.model import Array, Controller, Drive, Inventory, Level, State, Target
from tests.core import sessions
from tests.features.sweep.making import design, measured

AHEAD = '[[axis]]\ntarget="array"\nsetting="ahead"\nvalues=["none","some","all"]\n'
PATTERNS = '[[axis]]\njob="rw"\nvalues=["randread","read"]\n'
DEPTHS = '[[axis]]\njob="iodepth"\nvalues=[1,8,64]\n'


def swept(plan: str, **iops: float) -> Session:
    """A session whose sweep is over."""
    record, runs = measured(design(plan, repeats=4), {key.replace("_", "="): value for key, value in iops.items()})
    ended = replace(record, end=SweepEnded(at=9.0, result=SweepResult.FINISHED), running=False)
    return replace(replay([sessions.started()]), sweep=ended, runs=tuple(runs))


def compared(*, restored: bool = True) -> Session:
    """A session with an A/B of three pairs; B is slower by a fifth."""
    start = ExperimentStarted(
        at=1002.0,
        id="e1",
        target=sessions.SDA,
        key="read_ahead_kb",
        label="Read-ahead",
        a="128",
        b="4096",
        order=("A", "B", "B", "A", "A", "B"),
        title="4k random read",
        measured="block:sda",
        rule=RULE,
    )
    events: list[LoggedEvent] = [sessions.started(), start]
    for at, letter in enumerate(start.order):
        begun, ended = sessions.run(f"r{at + 1}", iops=(1000.0 if letter == "A" else 800.0) + at)
        assert isinstance(begun, RunStarted)
        events += [replace(begun, mark=ExperimentMark(experiment="e1", letter=letter, pair=at // 2 + 1)), ended]
    return replay([*events, ExperimentEnded(at=1100.0, id="e1", status=RunStatus.OK, restored=restored)])


def part(report: Report, heading: str) -> Section:
    return next(section for section in report.sections if section.heading == heading)


def told(section: Section) -> str:
    return " ".join(item for block in section.blocks if isinstance(block, Sentences) for item in block.items)


def table(section: Section) -> ReportTable:
    return next(block for block in section.blocks if isinstance(block, ReportTable))


def test_the_verdict_comes_first() -> None:
    first = report_of(compared()).sections[0]
    assert (first.heading, "Slower with read-ahead 4096 KiB than with 128 KiB" in told(first)) == ("Summary", True)


def test_an_experiment_has_its_intervals_and_its_pairs_as_graphs() -> None:
    assert [graph.key for graph in report_of(compared()).graphs] == ["e1-differences", "e1-pairs"]


def test_runs_of_an_experiment_have_no_graphs_of_their_own() -> None:
    assert not any(graph.key.startswith("r1-") for graph in report_of(compared()).graphs)


def test_what_was_put_back_is_said() -> None:
    assert "Read-ahead of block:sda was restored" in told(part(report_of(compared()), "Restored"))


def test_what_was_not_put_back_is_said_as_loudly() -> None:
    assert "was NOT restored" in told(part(report_of(compared(restored=False)), "Restored"))


def test_a_sweep_over_two_axes_has_a_heat_map() -> None:
    graph = report_of(swept(AHEAD + PATTERNS, ahead_some=2000)).graphs[0]
    assert isinstance(graph, HeatMap)
    assert (graph.rows, graph.columns) == (
        ("ahead=none", "ahead=some", "ahead=all"),
        ("pattern randread", "pattern read"),
    )


def test_a_sweep_over_a_number_has_a_curve() -> None:
    graph = report_of(swept(DEPTHS)).graphs[0]
    assert isinstance(graph, LineGraph)
    assert [at for at, _ in graph.series[0].points] == [1.0, 8.0, 64.0]


def test_every_curve_of_a_sweep_has_the_intervals_of_its_points() -> None:
    graphs = [graph for graph in report_of(swept(DEPTHS)).graphs if isinstance(graph, LineGraph)]
    assert [graph.key for graph in graphs] == ["sweep-figure", "sweep-p99"]
    for graph in graphs:
        for (_, mean), ends in zip(graph.series[0].points, graph.series[0].spread, strict=True):
            assert ends is not None
            assert mean is not None
            assert ends[0] <= mean <= ends[1]


def test_pairs_are_points_without_a_line_between_them() -> None:
    pairs = next(graph for graph in experiment_graphs(compared()) if graph.key == "e1-pairs")
    assert isinstance(pairs, LineGraph)
    assert not any(series.joined for series in pairs.series)


def test_the_leader_of_a_sweep_is_named() -> None:
    assert "ahead=some has the most IOPS, 2.00k" in told(report_of(swept(AHEAD, ahead_some=2000)).sections[0])


def test_a_heat_map_frames_ties_together() -> None:
    graph = report_of(swept(AHEAD + PATTERNS, ahead_some=2000, ahead_all=2000)).graphs[0]
    assert isinstance(graph, HeatMap)
    assert graph.framed == {(1, 0), (1, 1), (2, 0), (2, 1)}


def test_a_sweep_that_put_everything_back_says_what_that_is() -> None:
    assert "Sweep: all settings were restored: ahead of fake:v1 none" in told(part(report_of(swept(AHEAD)), "Restored"))


def test_advice_comes_once_with_the_runs_it_concerns() -> None:
    events: list[LoggedEvent] = []
    for name in ("r1", "r2"):
        start, end = sessions.run(name)
        assert isinstance(end, RunEnded)
        advice = (Advice(key="fio-cpu-bound", message="fio takes a whole core.", do="Use more jobs."),)
        events += [start, replace(end, figures=replace(end.figures, advice=advice))]
    report = report_of(replay([sessions.started(), *events]))
    assert "r1, r2: fio takes a whole core. Use more jobs." in told(part(report, "Caveats"))


def array() -> Inventory:
    """An array of one disk behind a controller, and a disk that has nothing to do with it."""
    card, volume = Target(backend="block", address="c0"), Target(backend="block", address="sda")
    disk, other = Target(backend="block", address="e1s1"), Target(backend="block", address="sdz")
    return Inventory(
        controllers=(Controller(target=card, vendor="x", model="Card", firmware="1.2"),),
        arrays=(Array(target=volume, controller=card, level=Level.RAID5, state=State.OPTIMAL, members=(disk,)),),
        drives=(Drive(target=disk, controller=card, model="Disk", serial="S1", firmware="F1"), Drive(target=other)),
    )


def test_what_was_measured_is_shown_with_what_it_is_made_of() -> None:
    session = replace(replay([sessions.started(), *sessions.run()]), inventory=array())
    rows = table(part(report_of(session), "Test objects")).rows
    assert [row[0] for row in rows] == ["block:c0", "block:sda", "block:e1s1"]


def test_a_disk_is_shown_with_its_identity() -> None:
    session = replace(replay([sessions.started(), *sessions.run()]), inventory=array())
    assert table(part(report_of(session), "Test objects")).rows[2][3:6] == ("Disk", "S1", "F1")


def test_many_changes_are_a_table() -> None:
    many = [event for at in range(20) for event in sessions.change(f"c{at}")]
    assert len(table(part(report_of(replay([sessions.started(), *many])), "Changes")).rows) == 20


def test_a_run_that_waited_for_the_steady_state_says_how_long_and_how_it_stood() -> None:
    seen = SteadyStateResult(
        attained=True,
        range_share=0.12,
        slope_share=0.03,
        rounds=9,
        window=5,
        round_s=10.0,
        waited_s=90.0,
        ended_early=True,
    )
    said = told(part(report_of(replay([sessions.started(), *sessions.run("r1", steady=seen)])), "Steady state"))
    assert said.startswith("r1: waited 90 s: steady, ended early")
    assert "range 12 %, slope 3.0 %" in said


def test_a_run_that_did_not_wait_says_nothing_of_it() -> None:
    seen = SteadyStateResult(attained=True, range_share=0.1, slope_share=0.0, rounds=5, window=5, round_s=10.0)
    report = report_of(replay([sessions.started(), *sessions.run("r1", steady=seen)]))
    assert "Steady state" not in [section.heading for section in report.sections]


def differing(factor: float) -> IntervalGraph:
    """The graph of an A/B whose B has that many times the IOPS of A."""
    session = compared()
    runs = tuple(
        replace(run, end=replace(run.end, figures=replace(run.figures, read=replace(run.figures.read, iops=iops))))
        for run in session.runs
        if run.end is not None and run.figures.read is not None and run.start.mark is not None
        for iops in [(1000.0 * (factor if run.start.mark.letter == "B" else 1)) * (1 + run.start.mark.pair / 1000)]
    )
    graphs = experiment_graphs(replace(session, runs=runs))
    return next(graph for graph in graphs if isinstance(graph, IntervalGraph))


def test_a_huge_difference_puts_all_on_an_axis_of_ratios() -> None:
    assert differing(1000.0).axis.spacing is Spacing.RATIO
    assert differing(1.1).axis.spacing is Spacing.LINEAR


def test_that_an_axis_does_not_begin_at_nothing_is_said_only_where_it_does_not() -> None:
    pairs = next(graph for graph in experiment_graphs(compared()) if graph.key == "e1-pairs")
    assert "does not begin at 0" in pairs.about
    assert isinstance(pairs, LineGraph)
    far = next(graph for graph in experiment_graphs(spread_out(compared())) if graph.key == "e1-pairs")
    assert "does not begin at 0" not in far.about


def spread_out(session: Session) -> Session:
    """The session, B at a thousandth of A: both only fit on an axis from 0."""
    runs = []
    for run in session.runs:
        assert run.end is not None
        assert run.figures.read is not None
        assert run.start.mark is not None
        iops = 1.0 if run.start.mark.letter == "B" else 1000.0
        figures = replace(run.figures, read=replace(run.figures.read, iops=iops))
        runs.append(replace(run, end=replace(run.end, figures=figures)))
    return replace(session, runs=tuple(runs))
