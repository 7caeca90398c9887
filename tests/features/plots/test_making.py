"""What pictures are made of: groups by what differs, figures as the runs have them, a sentence where there are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.core.session.results import DirectionSample, Phase, RunStatus, Sample
from app.core.session.state import Session
from app.features.plots.builder import default_kind, picture
from app.features.plots.request import PlotOptions
from app.features.plots.selection import (
    PlacedRun,
    PlotSelection,
    select_experiment,
    select_runs_to_plot,
    select_sweep,
    select_sweep_parts,
)
from tests.case_loop import loop_over
from tests.features.plots import making
from tests.features.plots.making import NOWHERE, placed, run, session
from tests.features.sweep.making import after, design, started
from tests.features.sweep.making import run as swept_run
from widgets.plot_render.plot_data import (
    BoxData,
    CurveData,
    HistogramData,
    PercentileData,
    ScatterData,
    StaticPlot,
    StaticPlotKind,
    TimelineData,
    Unit,
)


def samples(one: PlacedRun) -> Sequence[Sample]:
    """Two seconds of ramp, four that count; the third of these stood still."""
    fast = DirectionSample(
        iops=1000.0, bytes_per_second=4e6, ios=1000, p50_ns=900_000, p99_ns=2_000_000, max_ns=3_000_000
    )
    phases = [(Phase.RAMP, 1), (Phase.RAMP, 2), *((Phase.MEASURING, at) for at in range(1, 5))]
    return [
        Sample(at=float(at), seconds=1.0, phase=phase, read=fast, stalled=phase is Phase.MEASURING and at == 3)
        for phase, at in phases
    ]


def none(_: PlacedRun) -> Sequence[Sample]:
    return ()


def made(subject: PlotSelection, kind: StaticPlotKind, wish: PlotOptions | None = None) -> StaticPlot:
    return picture(subject, kind, wish or PlotOptions(), samples)


def of(held: Session) -> PlotSelection:
    return select_runs_to_plot(placed(held))


TWO = session(run(1), run(2, ahead="4096", iops=800))


def test_runs_of_the_same_settings_are_one_group() -> None:
    assert [len(part.runs) for part in of(session(run(1), run(2), run(3, ahead="4096"))).parts] == [2, 1]


def test_a_legend_names_what_differs_and_no_run() -> None:
    assert [part.name for part in of(TWO).parts] == ["kernel read-ahead 128 KiB", "kernel read-ahead 4096 KiB"]


def test_where_only_the_job_differs_it_names_that() -> None:
    deeper = run(2, job={"iodepth": "64"}, title="4k random read · QD 64 · 1 job")
    subject = of(session(run(1), deeper))
    assert [part.name for part in subject.parts] == ["queue depth 16", "queue depth 64"]
    assert subject.about.startswith("different jobs: 4k random read, QD 16 / 4k random read, QD 64")


def test_all_ios_of_a_group_are_added_up() -> None:
    data = made(of(session(run(1), run(2), run(3, ahead="4096"))), StaticPlotKind.PERCENTILES).data
    assert isinstance(data, PercentileData)
    assert [sum(count for _, count in one.bins) for one in data.series] == [100_000, 50_000]


def test_of_reads_and_writes_the_slower_ones_are_compared_and_named() -> None:
    mixed = of(session(run(1, writes=3.0), run(2, writes=3.0, ahead="4096")))
    shown = made(mixed, StaticPlotKind.HISTOGRAM)
    assert isinstance(shown.data, HistogramData)
    assert ("latency of the writes" in shown.title, shown.data.series[0].bins[0][0]) == (True, 1_500_000)


def test_of_one_group_both_directions_are_shown() -> None:
    data = made(of(session(run(1, writes=3.0))), StaticPlotKind.PERCENTILES).data
    assert isinstance(data, PercentileData)
    assert [one.name for one in data.series] == ["reads", "writes"]


def test_an_ab_has_both_arms_by_their_values_and_its_verdict() -> None:
    held = session(making.experiment())
    subject = select_experiment(held, NOWHERE, held.experiments[0])
    assert subject is not None
    assert [part.name for part in subject.parts] == ["read-ahead 128 KiB", "read-ahead 4096 KiB"]
    assert (subject.counted, default_kind(subject), "Slower" in subject.verdict) == (
        "3 pairs",
        StaticPlotKind.PERCENTILES,
        True,
    )


def test_an_ab_without_a_whole_pair_is_no_subject() -> None:
    held = session(making.experiment()[:3])
    assert select_experiment(held, NOWHERE, held.experiments[0]) is None


def test_the_baseline_stands_beneath_unless_it_is_one_of_the_kind() -> None:
    other, same = (session(run(1, ahead=ahead), run(2)) for ahead in ("4096", "128"))
    names = [
        [part.baseline for part in select_runs_to_plot(placed(held)[1:], placed(held)[0]).parts]
        for held in (other, same)
    ]
    assert names == [[False, True], [False]]


def test_a_box_holds_a_figure_of_every_run_in_its_unit() -> None:
    data = [made(of(TWO), StaticPlotKind.BOX, PlotOptions(unit=unit)).data for unit in (Unit.IOPS, Unit.RATE)]
    assert [one.lots[0].values for one in data if isinstance(one, BoxData)] == [(1000.0,), (1000 * 4096 / 2**20,)]


def test_a_scatter_has_a_point_for_every_run() -> None:
    data = made(of(TWO), StaticPlotKind.SCATTER).data
    assert isinstance(data, ScatterData)
    assert [cloud.points for cloud in data.clouds] == [((1000.0, 2e6),), ((800.0, 2e6),)]


def test_a_timeline_counts_from_the_end_of_the_ramp_and_marks_a_standstill() -> None:
    data = made(of(session(run(1))), StaticPlotKind.TIMELINE).data
    assert isinstance(data, TimelineData)
    (course,) = data.courses
    assert [one.at for one in course.intervals] == [-1.0, 0.0, 1.0, 2.0, 3.0, 4.0]
    assert [one.at for one in course.intervals if one.stalled] == [3.0]


def swept(count: int | None = None) -> PlotSelection | None:
    """Three queue depths, twice each; of `count` steps."""
    plan = design('[[axis]]\njob = "iodepth"\nvalues = [1, 8, 64]\n')
    record, runs = started(plan), []
    for step in plan.steps[:count]:
        cell = plan.cell(step.cell)
        depth = int(cell.job["iodepth"])
        one = swept_run(f"r{step.number}", 1000.0 * depth, p99=100_000 * depth)
        runs.append(replace(one, start=replace(one.start, job=cell.job, title=f"4k random read · QD {depth} · 1 job")))
        record = after(record, step, one.id)
    return select_sweep(Session(sweep=record, runs=tuple(runs)), NOWHERE)


def test_a_curve_has_rate_and_latency_of_each_value() -> None:
    subject = swept()
    assert subject is not None
    data = made(subject, StaticPlotKind.CURVE).data
    assert isinstance(data, CurveData)
    assert (data.across, data.steps, default_kind(subject)) == ("queue depth", (1.0, 8.0, 64.0), StaticPlotKind.CURVE)
    assert [round(point.mean) for point in data.lines[0].rates] == [1000, 8000, 64_000]
    assert [round(point.mean) for point in data.lines[0].latencies] == [100_000, 800_000, 6_400_000]


def test_the_cells_of_a_sweep_are_named_in_words_in_their_order() -> None:
    subject = swept()
    assert subject is not None
    assert [part.name for part in subject.parts] == ["queue depth 1", "queue depth 8", "queue depth 64"]


def test_a_sweep_over_no_number_has_boxes_instead_and_says_so() -> None:
    plan = design('[[axis]]\ntarget = "array"\nsetting = "ahead"\nvalues = ["none", "some"]\n')
    record, runs = started(plan), []
    for step in plan.steps:
        one = swept_run(f"r{step.number}", 1000.0 + step.number)
        runs.append(one)
        record = after(record, step, one.id)
    subject = select_sweep(Session(sweep=record, runs=tuple(runs)), NOWHERE)
    assert subject is not None
    shown = made(subject, StaticPlotKind.CURVE)
    assert (isinstance(shown.data, BoxData), "no numeric setting with three or more values" in shown.why) == (
        True,
        True,
    )


FAILED = session(run(1, status=RunStatus.FAILED))


@loop_over(
    ("subject", "kind", "words"),
    [
        (of(FAILED), StaticPlotKind.PERCENTILES, "r1 has no results: it failed after 60 s: fio was killed."),
        (of(FAILED), StaticPlotKind.BOX, "r1 has no results: it failed after 60 s: fio was killed."),
        (
            of(session(run(1, bins=((1000, 20),)), run(2, bins=((2000, 3),), ahead="4096"))),
            StaticPlotKind.PERCENTILES,
            "Too few I/Os",
        ),
        (of(session(run(1, bins=()))), StaticPlotKind.HISTOGRAM, "r1 has no latency histogram"),
        (of(session(run(1, bins=((1000, 900),)))), StaticPlotKind.HISTOGRAM, "Nothing to draw: all I/Os took 1.00 µs"),
        (of(session(run(1))), StaticPlotKind.BOX, "One run has no spread."),
        (of(session(run(1), run(2))), StaticPlotKind.BOX, "All 2 runs have 1.00k IOPS"),
        (of(session(run(1), run(2))), StaticPlotKind.SCATTER, "There is only one data point."),
        (of(TWO), StaticPlotKind.CURVE, "A curve needs a sweep; the selection is not a sweep."),
        (of(TWO), StaticPlotKind.HISTORY, "Only one session is included."),
    ],
)
def test_where_there_is_nothing_to_show_a_sentence_says_why(
    subject: PlotSelection, kind: StaticPlotKind, words: str
) -> None:
    shown = made(subject, kind)
    assert (shown.data, words in shown.why) == (None, True), shown.why


def test_without_intervals_on_disk_there_is_nothing_over_time() -> None:
    shown = picture(of(session(run(1))), StaticPlotKind.TIMELINE, PlotOptions(), none)
    assert (shown.data, shown.why) == (None, "Nothing to draw over time: the intervals of r1 are not on disk.")


def test_a_run_that_failed_beside_others_is_told() -> None:
    shown = made(of(session(run(1), run(2, ahead="4096", status=RunStatus.FAILED))), StaticPlotKind.PERCENTILES)
    assert (shown.data is not None, "r2 is not drawn: it failed" in shown.why) == (True, True)


def test_one_value_makes_no_curve() -> None:
    subject = swept(1)
    assert subject is not None
    assert "Only one value was measured so far" in made(subject, StaticPlotKind.CURVE).why


TWO_WORKLOADS = """
[[axis]]
target = "array"
setting = "ahead"
values = ["none", "some"]
[[workload]]
name = "small"
rw = "randread"
bs = "4k"
[[workload]]
name = "large"
rw = "read"
bs = "4M"
"""


def swept_workloads() -> Session:
    """Two set-ups of two workloads, of which one has a hundredth of the IOPS of the other."""
    plan = design(TWO_WORKLOADS)
    record, runs = started(plan), []
    for step in plan.steps:
        one = swept_run(f"r{step.number}", (1000.0 if plan.cell(step.cell).column == "small" else 10.0) + step.number)
        runs.append(one)
        record = after(record, step, one.id)
    return Session(sweep=record, runs=tuple(runs))


@loop_over("workload", ["small", "large"])
def test_workloads_of_a_sweep_are_not_on_one_axis(workload: str) -> None:
    subject = select_sweep(swept_workloads(), NOWHERE, workload)
    assert subject is not None
    shown = made(subject, StaticPlotKind.CURVE)
    assert isinstance(shown.data, BoxData)
    other = {"small": "large", "large": "small"}[workload]
    values = [value for lot in shown.data.lots for value in lot.values]
    assert (len(shown.data.lots), max(values) / min(values) < 2) == (2, True)
    assert (workload in shown.title, f"Other workloads: {other}." in shown.why) == (True, True)


def test_every_workload_of_a_sweep_has_a_picture() -> None:
    parts = [*select_sweep_parts(swept_workloads(), NOWHERE)]
    assert [part.heading for part in parts] == ["Sweep: t, small", "Sweep: t, large"]


def test_depths_of_one_workload_share_an_axis() -> None:
    subject = swept()
    assert subject is not None
    assert (subject.other_workloads, len(subject.parts)) == ((), 3)
