"""Samples and figures turned into curves, progress and sentences."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.analysis.pair_design import RULE
from app.core.presentation.events import run_end_texts
from app.core.presentation.run import advice_facts, figure_facts, result_line, stall_text
from app.core.session.event_types import SteadyPlan
from app.core.session.events import (
    ChangeEnded,
    ChangeIntended,
    ExperimentMark,
    ExperimentStarted,
    RunEnded,
    RunStarted,
    RunTarget,
)
from app.core.session.results import Advice, DirectionSample, Phase, RunResult, RunStatus, Sample, SteadyStateResult
from app.core.session.state import ActiveRun, ChangeRecord, ExperimentRecord, RunRecord, Session
from app.tui.bench.curves import CurveFigures, Curves, change_marks, marks_of
from app.tui.bench.large_figures import ended_figures, running_figures
from app.tui.bench.live_view import (
    advice_line,
    baseline_references,
    chart_seconds,
    heat_chart,
    latency_chart,
    machine_line,
    progress,
    short_progress,
    target_line,
    throughput_chart,
)
from backends.change import Change
from backends.model import Inventory, Target
from tests.tui.stage import figures
from widgets.text_utils import units


def direction(iops: float = 100.0, p99: int | None = 1000) -> DirectionSample:
    return DirectionSample(iops=iops, bytes_per_second=iops * 4096, ios=25, p50_ns=500, p99_ns=p99)


def sample(at: float, *, iops: float = 100.0, phase: Phase = Phase.MEASURING, write: int | None = None) -> Sample:
    writes = None if write is None else direction(p99=write)
    return Sample(at=at, seconds=0.25, phase=phase, read=direction(iops), write=writes)


def curves(*samples: Sample, ramp: float = 0.0) -> Curves:
    made = Curves()
    made.take(samples, ramp)
    return made


def changed(at: float) -> Session:
    """A session in which one setting was changed."""
    target = Target(backend="block", address="sda")
    made = Change(
        target=target, key="read_ahead_kb", label="Read-ahead", before="128", after="4096", writes=(), undo=()
    )
    intent = ChangeIntended(at=at, id="c1", change=made)
    return Session(
        changes=(ChangeRecord(intent=intent, end=ChangeEnded(at=at, id="c1", result="verified", now="4096")),)
    )


def active(phase: Phase = Phase.MEASURING, *, planned: float = 70.0, seconds: float | None = 60.0) -> ActiveRun:
    start = RunStarted(
        at=0.0,
        id="r1",
        target="/t",
        device=None,
        profile="randread-4k",
        job={},
        title="4k random read",
        planned_seconds=planned,
    )
    return ActiveRun(start=start, phase=phase, phase_since=100.0, phase_seconds=seconds)


def finished(run: RunResult | None = None) -> RunRecord:
    """A run that is over."""
    return RunRecord(start=active().start, end=RunEnded(at=70.0, id="r1", figures=run or figures(), folder="runs/r1"))


def test_only_new_samples_are_added() -> None:
    made = curves(sample(1.0))
    made.take((sample(1.0), sample(2.0)), 0.0)
    assert [at for at, _ in made.points("read iops")] == [1.0, 2.0]


def test_fewer_samples_begin_anew() -> None:
    made = curves(sample(1.0), sample(2.0))
    made.take((sample(5.0),), 0.0)
    assert [at for at, _ in made.points("read iops")] == [5.0]


def test_the_measured_phase_is_drawn_after_the_ramp() -> None:
    made = curves(sample(3.0, phase=Phase.RAMP), sample(1.0), ramp=10.0)
    assert [at for at, _ in made.points("read iops")] == [3.0, 11.0]


def test_the_slower_direction_is_the_latency() -> None:
    assert curves(sample(1.0, write=9000)).points("p99_ns") == ((1.0, 9000.0),)


def test_a_percentile_nobody_can_know_is_a_gap() -> None:
    assert curves(sample(1.0)).points("p99_9_ns") == ((1.0, None),)


def test_the_baseline_is_a_line_of_its_own_until_its_spread_is_known() -> None:
    (line,) = baseline_references(finished(), Curves(), rate=False)
    assert (line.value, line.label, line.half) == (85_400.0, "baseline r1", 0.0)


def test_the_band_of_the_baseline_is_a_deviation_of_its_intervals() -> None:
    known = curves(sample(1.0, iops=90.0), sample(2.0, iops=100.0), sample(3.0, iops=110.0))
    (line,) = baseline_references(finished(), known, rate=False)
    assert line.half == pytest.approx(10.0)


def test_of_a_baseline_that_reads_and_writes_each_has_its_line() -> None:
    both = replace(figures(), write=figures().read)
    found = baseline_references(finished(both), Curves(), rate=True)
    assert [line.label for line in found] == ["baseline r1 read", "baseline r1 write"]


def test_bytes_are_drawn_when_asked_for() -> None:
    chart = throughput_chart(curves(sample(1.0, iops=100.0)), rate=True, total=60.0)
    assert chart.series[0].points == ((1.0, 409_600.0),)


def test_the_latency_graph_has_three_percentiles_and_the_largest() -> None:
    assert [series.name for series in latency_chart(Curves(), total=None).series] == ["max", "p50", "p99", "p99.9"]


def test_figures_of_the_ramp_do_not_count() -> None:
    seen = CurveFigures()
    for value, measured in ((5.0, False), (10.0, True), (20.0, True)):
        seen.add(value, measured=measured)
    assert (seen.mean, seen.low, seen.high, seen.now) == (15.0, 10.0, 20.0, 20.0)


def test_nothing_measured_yet_is_not_zero() -> None:
    assert CurveFigures().mean is None


def test_figures_stand_only_of_directions_there_are() -> None:
    assert [row.name for row in running_figures(curves(sample(1.0)))] == [""]
    assert [row.name for row in running_figures(curves(sample(1.0, write=9)))] == ["read", "write"]


def test_beside_the_figure_of_the_interval_stands_the_mean() -> None:
    (row,) = running_figures(curves(sample(1.0, iops=100.0), sample(2.0, iops=300.0)))
    assert row.cells[0] == ("300", "200")


def test_the_largest_latency_is_told_with_its_second() -> None:
    slow = replace(sample(7.0), read=replace(direction(), max_ns=5_930_000))
    (row,) = running_figures(curves(sample(1.0), slow, sample(8.0)))
    assert row.cells[-1] == ("5.93 ms", "0:07")


def test_a_finished_run_has_its_own_totals_and_no_mean() -> None:
    names, (row,) = ended_figures(figures())
    assert (names, [value for value, _ in row.cells]) == (
        ("read",), ["85.4k", "334", "310 µs", "1.20 ms", "3.60 ms", "9.00 ms"],
    )  # fmt: skip
    assert not any(beside for _, beside in row.cells)


def test_until_the_ramp_is_over_the_latency_says_what_it_waits_for() -> None:
    ramp = curves(sample(1.0, phase=Phase.RAMP))
    assert [latency_chart(made, total=None).waiting for made in (ramp, curves(sample(1.0)))] == [
        "latencies are shown after the ramp",
        "waiting for the first sample",
    ]


def test_progress_counts_ramp_and_measuring() -> None:
    state = progress(active(), now=130.0)
    assert (state.elapsed, state.total, state.eta) == (40.0, 70.0, 30.0)


def test_a_job_without_a_run_time_has_no_end_to_count_to() -> None:
    running = active(planned=0.0, seconds=None)
    state = progress(running, now=130.0)
    assert (state.fraction, state.total, state.eta) == (None, None, None)
    assert chart_seconds(running) is None


def test_progress_never_passes_the_end() -> None:
    assert progress(active(), now=1000.0).fraction == 1.0


def test_a_clock_set_back_does_not_go_below_nothing() -> None:
    assert progress(active(Phase.RAMP, seconds=None), now=0.0).elapsed == 0.0


def test_laying_out_has_no_end_to_count_to() -> None:
    assert progress(active(Phase.LAYOUT, seconds=None), now=130.0).fraction is None


@pytest.mark.parametrize(
    ("phase", "words"),
    [(Phase.MEASURING, "randread-4k 57 % ETA 30 s"), (Phase.LAYOUT, "randread-4k: laying out file")],
)
def test_the_header_says_how_far_it_is(phase: Phase, words: str) -> None:
    run = active(phase, seconds=60.0 if phase is Phase.MEASURING else None)
    assert short_progress(Session(), run, 130.0) == words


def test_the_header_counts_all_runs_of_an_ab() -> None:
    mark = ExperimentMark(experiment="e1", pair=1, letter="B")
    first = replace(active().start, mark=replace(mark, letter="A"))
    run = replace(active(), start=replace(first, id="r2", mark=mark))
    started = ExperimentStarted(
        at=0.0, id="e1", target=Target(backend="block", address="sda"), key="read_ahead_kb", label="Read-ahead",
        a="128", b="4096", order=tuple("ABBAAB"), title="4k random read", measured="sda", rest_seconds=5.0,
        rule=RULE,
    )  # fmt: skip
    session = Session(
        runs=(RunRecord(start=first), RunRecord(start=run.start)), experiments=(ExperimentRecord(start=started),)
    )
    left = 4 * (70 + 5 + 70 / 6) + 30
    assert short_progress(session, run, 130.0) == f"A/B 2/6 ETA {units.duration(round(left))}"


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (figures(), "done: read 85.4k IOPS, 334 MiB/s, p50 310 µs, p99 1.20 ms, p99.9 3.60 ms, max 9.00 ms"),
        (RunResult(status=RunStatus.FAILED, reason="The disk is gone."), "failed: The disk is gone."),
        (RunResult(status=RunStatus.OK), "done: nothing was measured"),
    ],
)
def test_a_run_in_one_line(run: RunResult, words: str) -> None:
    assert result_line(run) == words


def test_a_stopped_run_keeps_its_figures() -> None:
    assert result_line(figures(RunStatus.STOPPED, "stopped on request")).startswith("stopped on request read")


def test_after_a_failure_comes_what_to_do_and_what_else_happened() -> None:
    run = RunResult(status=RunStatus.FAILED, reason="It is gone.", hint="Plug it in.", warnings=("sdb went away",))
    assert run_end_texts(run) == ("Plug it in.", "sdb went away")


def test_after_a_good_run_nothing_else_is_said() -> None:
    assert run_end_texts(RunResult(status=RunStatus.OK)) == ()


def test_all_figures_have_their_group() -> None:
    assert [group.heading for group in figure_facts(figures())] == ["Read", "Processor"]


ADVICE = (
    Advice(key="governor", message="The frequency governor is powersave.", do="Set it."),
    Advice(key="too-short", message="Too short."),
)


def test_the_advisors_line_says_the_worst_and_how_much_there_is() -> None:
    assert advice_line(ADVICE, 80) == "▲ 2 (i) The frequency governor is powersave."


def test_the_advisors_line_fits() -> None:
    assert advice_line(ADVICE, 20, ascii=True) == "! 2 (i) The frequen…"


def test_nothing_to_say_is_no_line() -> None:
    assert advice_line((), 80) == ""


def test_advice_stands_under_its_key_with_what_to_do() -> None:
    groups = [(group.heading, [fact.value for fact in group.facts]) for group in advice_facts(ADVICE)]
    assert groups == [
        ("Frequency governor (governor)", ["The frequency governor is powersave.", "Set it."]),
        ("Too short", ["Too short."]),
    ]


SETTLED = SteadyStateResult(
    attained=True, range_share=0.05, slope_share=0.02, rounds=7, window=5, round_s=10, waited_s=70.0
)


def test_waiting_for_the_steady_state_is_neither_ramp_nor_measured() -> None:
    made = curves(sample(10.0, phase=Phase.RAMP), sample(70.0, iops=9.0, phase=Phase.SETTLING), sample(1.0), ramp=10.0)
    assert [at for at, _ in made.points("read iops")] == [10.0, 80.0, 81.0]
    assert made.spreads["read iops"].low == 100.0


def test_the_graph_of_a_fill_is_not_that_of_the_job_after_it() -> None:
    made = curves(sample(1.0, phase=Phase.FILLING), sample(2.0, phase=Phase.FILLING))
    made.take((sample(0.5), sample(1.0), sample(1.5)), 0.0)
    assert [at for at, _ in made.points("read iops")] == [0.5, 1.0, 1.5]


def test_how_long_it_waits_is_shown_against_the_cap() -> None:
    shown = progress(active(Phase.SETTLING, seconds=1800.0), 140.0)
    assert (shown.phase, shown.fraction, shown.elapsed, shown.total) == ("settling", None, 40.0, 1800.0)


def test_a_fill_is_shown_by_what_is_written() -> None:
    run = replace(active(Phase.FILLING, seconds=None), moved_bytes=25.0, total_bytes=100)
    shown = progress(run, 110.0)
    assert (shown.fraction, shown.eta) == (0.25, 30.0)


def test_the_axis_follows_until_it_is_known_when_measuring_begins() -> None:
    start = replace(active().start, steady=SteadyPlan(until=True))
    ramp = replace(active(Phase.RAMP), start=start)
    assert chart_seconds(ramp) is None
    assert chart_seconds(replace(ramp, phase=Phase.MEASURING, settled=70.0)) == 140.0
    assert chart_seconds(active()) == 70.0


def test_the_state_stands_before_the_processors() -> None:
    assert (
        machine_line(SETTLED, 26.0, None) == "steady: yes, range 5.0 %, slope 2.0 % (round 7) · CPU: fio 26 % of a core"
    )


def test_a_result_says_how_long_it_waited() -> None:
    assert "steady after 70 s, then measured (range" in result_line(replace(figures(), steady=SETTLED))


def test_measured_at_the_cap_it_is_called_not_steady() -> None:
    capped = replace(SETTLED, attained=False, capped=True)
    groups = figure_facts(replace(figures(), steady=capped))
    (fact,) = next(group.facts for group in groups if group.heading == "Steady state")
    assert fact.value.startswith("NOT STEADY after waiting 70 s, measured anyway")


def still(at: float, seconds: float = 0.25) -> Sample:
    """A sample in which nothing was completed."""
    return Sample(
        at=at, seconds=seconds, phase=Phase.MEASURING, read=DirectionSample(iops=0.0, bytes_per_second=0.0, ios=0)
    )


def told(made: Curves) -> str:
    return stall_text(made.still, made.measured_from)


def test_a_second_without_an_io_is_a_stall_that_is_told_while_it_lasts() -> None:
    made = curves(sample(10.0), *(still(10.0 + 0.25 * part) for part in range(1, 6)))
    assert told(made) == "No I/O completed for 1.2 s, since 0:10."


def test_a_stall_that_is_over_is_told_with_its_second_and_its_length() -> None:
    made = curves(sample(10.0), *(still(10.0 + 0.25 * part) for part in range(1, 9)), sample(12.25))
    assert told(made) == "No I/O completed for 2.0 s at 0:10."


def test_less_than_a_second_is_no_stall() -> None:
    assert told(curves(sample(10.0), *(still(10.0 + 0.25 * part) for part in range(1, 4)), sample(11.0))) == ""


def test_of_several_stalls_the_longest_is_named() -> None:
    made = curves(sample(1.0), still(3.0, 2.0), sample(4.0), still(9.0, 5.0), sample(10.0))
    assert told(made) == "2 stalls, the longest 5.0 s at 0:04."


def test_a_stall_is_marked_at_its_second_and_named() -> None:
    made = curves(sample(1.0), still(3.0, 2.0), sample(4.0))
    assert [(mark.at, mark.text, mark.bad) for mark in marks_of(made, ascii=False)] == [(1.0, "stall 2.0 s", True)]


def test_the_end_of_the_ramp_and_the_beginning_of_measuring_are_marked() -> None:
    made = curves(sample(10.0, phase=Phase.RAMP), sample(70.0, phase=Phase.SETTLING), sample(1.0), ramp=10.0)
    assert [(mark.at, mark.bad) for mark in marks_of(made, ascii=False)] == [(10.0, False), (80.0, False)]


def test_marks_are_told_apart_without_utf_8() -> None:
    made = curves(sample(10.0, phase=Phase.RAMP), sample(1.0), still(3.0, 2.0), ramp=10.0)
    assert [mark.sign for mark in marks_of(made, ascii=True)] == ["|", "!"]


def test_a_setting_changed_in_a_run_is_marked_at_its_second() -> None:
    (found,) = change_marks(changed(at=130.0), active().start, 40.0, 150.0, ascii=False)
    assert (found.at, found.text) == (20.0, "Read-ahead 4096")


@pytest.mark.parametrize("at", [-5.0, 160.0])
def test_what_was_changed_before_or_after_a_run_is_not_marked(at: float) -> None:
    assert change_marks(changed(at=at), active().start, 40.0, 150.0, ascii=False) == ()


def test_the_largest_latency_of_an_interval_is_on_the_graph() -> None:
    slow = replace(sample(1.0), read=replace(direction(), max_ns=5_930_000))
    found = next(series for series in latency_chart(curves(slow), total=None).series if series.name == "max")
    assert found.points == ((1.0, 5_930_000.0),)


def test_the_heat_map_adds_reads_and_writes() -> None:
    read = replace(direction(), spread_from=40, spread=(5, 1))
    write = replace(direction(), spread_from=42, spread=(7,))
    both = Sample(at=1.0, seconds=0.25, phase=Phase.MEASURING, read=read, write=write)
    [found] = heat_chart(curves(both), total=None).heat
    assert (found.first, found.counts) == (40, (5, 1, 7))


def test_a_stall_does_not_widen_the_band_of_the_baseline() -> None:
    known = curves(sample(1.0, iops=90.0), sample(2.0, iops=110.0), still(3.0, 1.0), still(4.0, 1.0))
    assert baseline_references(finished(), known, rate=False)[0].half == pytest.approx(200**0.5)


def test_an_interval_without_io_that_is_no_stall_belongs_to_the_band() -> None:
    known = curves(sample(1.0, iops=100.0), still(1.25), sample(1.5, iops=100.0))
    assert baseline_references(finished(), known, rate=False)[0].half > 50.0


def test_the_heat_map_shades_the_ramp_as_the_graph_above_it_does() -> None:
    made = curves(sample(10.0, phase=Phase.RAMP), sample(1.0), ramp=10.0)
    assert heat_chart(made, total=70.0).shaded_until == throughput_chart(made, rate=False, total=70.0).shaded_until


def test_flushes_have_figures_and_set_the_latency_of_a_job_that_waits_for_them() -> None:
    drawn = curves(replace(sample(0.25, write=2000), read=None, sync=direction(p99=9000)))
    assert [row.name for row in running_figures(drawn)] == ["write", "sync"]
    assert drawn.points("p99_ns") == ((0.25, 9000.0),)


def test_settings_without_room_are_left_out_of_the_line_and_none_loses_its_name() -> None:
    targets, values = (RunTarget(target="md:md0"),), {"write_cache": "write-back", "read_ahead": "none"}
    whole = target_line(Inventory(), targets, values, 200)
    assert whole.startswith("md:md0 · write back · ")
    assert target_line(Inventory(), targets, values, len(whole)) == whole
    assert target_line(Inventory(), targets, values, len(whole) - 1) == "md:md0 · write back"
    assert target_line(Inventory(), targets, values, 6) == "md:md0"
