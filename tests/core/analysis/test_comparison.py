"""Two runs side by side."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest

from app.core.analysis.comparison import Comparison, compare, compare_experiment, tail_row, varying_keys
from app.core.analysis.pair_design import STANDARD
from app.core.analysis.verdict import Verdict, VerdictResult, chance_of_silence
from app.core.presentation.comparison_text import (
    NOT_INTERLEAVED,
    SINGLE_RUNS,
    caveat_texts,
    comparison_sentence,
    count_text,
    interim_text,
    row_difference,
    row_name,
    row_percent,
)
from app.core.presentation.percent import covers_text
from app.core.session.event_types import InterimAnalysis
from app.core.session.events import LoggedEvent, RunEnded, RunStarted
from app.core.session.results import DirectionStats, LatencyStats, RunResult, RunStatus
from app.core.session.state import RunRecord, Session, replay
from tests.case_loop import loop_over
from tests.core import sessions
from tests.core.presentation.test_comparison import measured


def compared(*runs: list[object]) -> Comparison:
    session = replay([event for run in runs for event in run])  # type: ignore[misc]
    return compare(session.runs[0], session.runs[1])


def test_the_difference_is_in_percent_of_the_first() -> None:
    both = compared([*sessions.run("r1", iops=1000)], [*sessions.run("r2", iops=1100)])
    assert round(both.rows[0].percent or 0, 6) == 10.0


def test_a_missing_percentile_has_no_row() -> None:
    both = compared([*sessions.run("r1")], [*sessions.run("r2")])
    assert "latency_p99_9_ns" not in [row.figure.key for row in both.rows]


def test_settings_that_differ_are_named() -> None:
    both = compared([*sessions.run("r1", settings={"a": "1"})], [*sessions.run("r2", settings={"a": "2", "b": "1"})])
    assert both.settings == (("a", "1", "2"), ("b", None, "1"))


def test_single_runs_are_always_called_so() -> None:
    other = sessions.run("r2", settings={"read_ahead_kb": "4096"})
    assert caveat_texts(compared([*sessions.run("r1")], [*other])) == (SINGLE_RUNS,)


def test_a_run_that_was_stopped_is_said() -> None:
    both = compared([*sessions.run("r1", status=RunStatus.STOPPED)], [*sessions.run("r2")])
    assert caveat_texts(both)[0].startswith("r1 is not a complete run")


def test_different_targets_are_said() -> None:
    both = compared([*sessions.run("r1")], [*sessions.run("r2", target="block:sdb")])
    assert "The targets differ: block:sda and block:sdb." in caveat_texts(both)


def test_different_jobs_are_said() -> None:
    both = compared([*sessions.run("r1")], [*sessions.run("r2", job={"rw": "read", "bs": "4k"})])
    assert both.job == (("rw", "randread", "read"),)


def test_only_keys_that_vary_are_columns() -> None:
    assert varying_keys([{"a": "1", "b": "1"}, {"a": "1", "b": "2"}]) == ["b"]


def test_what_one_run_does_not_have_varies() -> None:
    assert varying_keys([{"a": "1", "b": "1"}, {"a": "1"}]) == ["b"]


def test_runs_without_figures_are_compared_without_rows_and_the_interval_that_would_be_covered() -> None:
    nothing = RunResult(status=RunStatus.FAILED)
    ended = [
        replace(event, figures=nothing) if isinstance(event, RunEnded) else event
        for name in ("r1", "r2")
        for event in sessions.run(name, settings={"a": name})
    ]
    both = compared(ended, [])  # type: ignore[arg-type]
    assert (both.rows, both.headline, covers_text(both.level)) == ((), None, "95 %")


def runs(*settings: str, iops: tuple[float, ...] = (1000, 1001, 999, 1002, 998)) -> tuple[RunRecord, ...]:
    """One after another, each with the value of a setting."""
    events: list[LoggedEvent] = []
    for at, value in enumerate(settings):
        events += sessions.run(f"r{at + 1}", settings={"a": value}, iops=iops[at], at=1000.0 + at)
    return replay(events).runs


def told(*settings: str) -> Comparison:
    """The first run of each value against the first of the other, among all of them."""
    all_runs = runs(*settings)
    other = next(run for run in all_runs if run.start.settings["a"] != settings[0])
    return compare(all_runs[0], other, all_runs, all_runs)


@pytest.mark.parametrize(
    ("order", "shown"),
    [
        ("1122", {NOT_INTERLEAVED}),
        ("1221", set()),  # in turn
        ("12", {SINGLE_RUNS}),
        ("11222", {NOT_INTERLEAVED}),
        ("1121", set()),  # the first side once more after the second
    ],
)
def test_what_stands_under_a_comparison_is_how_it_was_measured(order: str, shown: set[str]) -> None:
    assert {NOT_INTERLEAVED, SINGLE_RUNS} & set(caveat_texts(told(*order))) == shown


def test_the_figure_of_a_side_is_the_geometric_mean_of_its_runs() -> None:
    both = compare_experiment(measured((1000, 900), (4000, 1600)), "e1")
    assert both is not None
    assert both.headline is not None
    assert (round(both.headline.a or 0), round(both.headline.b or 0)) == (2000, 1200)


def test_a_run_without_io_has_no_logarithm_and_its_pair_is_left_out() -> None:
    both = compare_experiment(measured((0, 900), (4000, 1600), (4000, 1600)), "e1")
    assert both is not None
    assert both.headline is not None
    assert both.headline.judgement is not None
    assert (round(both.headline.a or 0), both.headline.judgement.verdict) == (4000, Verdict.NOT_DECIDED)
    assert count_text(both.sides) == "2 of 3 pairs"


@pytest.mark.parametrize("which", [0, 1])
def test_one_simulated_side_is_said_in_capitals(which: int) -> None:
    names = ("r1", "r2")
    both = [
        replace(event, simulated=True) if isinstance(event, RunStarted) and event.id == names[which] else event
        for name in names
        for event in sessions.run(name, settings={"a": name})
    ]
    assert [one for one in caveat_texts(compared(both, [])) if one.startswith("SIMULATED")]  # type: ignore[arg-type]


def test_nothing_is_called_simulated_that_was_measured() -> None:
    assert not [one for one in caveat_texts(told(*"12")) if "SIMULATED" in one]


NEAR = [(1000 + at % 3, 800 + at % 2) for at in range(11)]


def test_a_pair_far_from_the_others_is_named_behind_the_verdict() -> None:
    both = compare_experiment(measured(*NEAR, (1000, 700)), "e1")
    assert both is not None
    assert comparison_sentence(both).startswith("Slower with read-ahead 4096 KiB than with 128 KiB: read IOPS")
    assert "; pair 12 (-30.0 %) is far from the others." in comparison_sentence(both)


def headline_of(session: Session) -> VerdictResult:
    both = compare_experiment(session, "e1")
    assert both is not None
    assert both.headline is not None
    assert both.headline.judgement is not None
    return both.headline.judgement


def test_figures_beside_the_headline_are_judged_by_student_where_ranks_cannot_reach_their_share() -> None:
    """Eight signs reach 0.8 %; of several figures each has to reach less."""
    both = compare_experiment(measured(*NEAR[:8]), "e1")
    assert both is not None
    judged = {row.figure.key: row.judgement for row in both.rows}
    assert judged["iops"].interval.p == 2 / 256  # type: ignore[union-attr]
    assert judged["bytes_per_second"].verdict is Verdict.SLOWER  # type: ignore[union-attr]


def test_a_verdict_without_one_ends_with_its_own_words() -> None:
    both = compare_experiment(measured((1000, 800), (1001, 803), (999, 798)), "e1")
    assert both is not None
    assert "; ." not in comparison_sentence(both)
    assert comparison_sentence(both).split(" in 3 pairs")[1].startswith(".")


def judged_by(figures: RunResult, job: dict[str, str] | None = None) -> tuple[str, ...]:
    """What a comparison of two runs with these figures is about."""
    events = [sessions.run(name, job=job, settings={"a": name}) for name in ("r1", "r2")]
    ended = [
        replace(event, figures=figures) if isinstance(event, RunEnded) else event for run in events for event in run
    ]
    headline = compared(ended, []).headline  # type: ignore[arg-type]
    return () if headline is None else (headline.direction, headline.figure.key)


def figured(*, ios: int = 100_000, **times: int) -> DirectionStats:
    latency = LatencyStats(mean=1000.0, **times)
    return DirectionStats(
        iops=ios / 10, bytes_per_second=ios * 409.6, total_ios=ios, total_bytes=0, runtime_s=10, latency_ns=latency
    )


def test_a_job_that_flushes_is_about_its_flushes() -> None:
    figures = RunResult(status=RunStatus.OK, write=figured(), sync=figured(ios=100))
    assert judged_by(figures) == ("sync", "latency_mean_ns")


def test_a_job_at_a_fixed_rate_is_about_its_tail() -> None:
    figures = RunResult(status=RunStatus.OK, read=figured(p50=1, p95=2, p99=3))
    assert judged_by(figures, {"rw": "randread", "rate_iops": "100"}) == ("read", "latency_p99_ns")


def test_a_tail_that_too_few_i_os_carry_gives_way_to_the_next() -> None:
    figures = RunResult(status=RunStatus.OK, read=figured(p50=1, p95=2))
    assert judged_by(figures, {"rw": "randread", "rate": "1M"}) == ("read", "latency_p95_ns")


def test_flushes_have_no_throughput() -> None:
    figures = RunResult(status=RunStatus.OK, write=figured(), sync=figured(ios=100))
    events = [
        replace(event, figures=figures) if isinstance(event, RunEnded) else event
        for name in ("r1", "r2")
        for event in sessions.run(name)
    ]
    rows = [(row.direction, row.figure.key) for row in compared(events, []).rows]  # type: ignore[arg-type]
    assert ("sync", "iops") in rows
    assert ("sync", "bytes_per_second") not in rows


def test_latencies_with_and_without_submission_are_not_compared() -> None:
    old, new = RunResult(status=RunStatus.OK, read=figured(p99=3)), figured(p99=3)
    later = replace(old, read=replace(new, completion_ns=new.latency_ns))
    events = [
        replace(event, figures=figures) if isinstance(event, RunEnded) else event
        for name, figures in (("r1", old), ("r2", later))
        for event in sessions.run(name)
    ]
    both = compared(events, [])  # type: ignore[arg-type]
    assert {row.figure.key: row.judgement is None for row in both.rows if row.figure.judged} == {
        "iops": False, "bytes_per_second": False, "latency_mean_ns": True, "latency_p99_ns": True
    }  # fmt: skip
    assert any("exclude submission" in caveat for caveat in caveat_texts(both))


def latencies(*p99s: tuple[int, int | None], reads: int = 100_000, writes: int = 100_000) -> Comparison:
    """Pairs of a mixed job; the p99 of reads and writes of each second run, 1 ms in each first one."""
    session = measured(*((1000, 1000 + at) for at in range(len(p99s))))
    runs = []
    for at, run in enumerate(session.runs):
        assert run.end is not None
        read, write = p99s[at // 2] if at % 2 else (1_000_000, 1_000_000)
        figures = RunResult(
            status=RunStatus.OK,
            read=figured(ios=reads, p99=read + at),
            write=None if write is None else figured(ios=writes, p99=write + 2_000_000 + at),
        )
        runs.append(replace(run, end=replace(run.end, figures=figures)))
    both = compare_experiment(replace(session, runs=tuple(runs)), "e1")
    assert both is not None
    return both


def test_the_tail_of_the_slower_direction_stands_beside_the_headline() -> None:
    both = latencies(*[(1_000_000, 1_000_000)] * 3)
    tail = tail_row(both.rows)
    assert tail is not None
    assert (tail.direction, tail.figure.key) == ("write", "latency_p99_ns")
    assert f"{row_name(tail).capitalize()} {row_difference(tail)}: no difference." in comparison_sentence(both)


def test_beside_flushes_the_tail_is_theirs() -> None:
    """Of a job that flushes, however slow its writes are."""
    session = measured((1000, 1000), (1000, 1000), (1000, 1000))
    figures = RunResult(status=RunStatus.OK, write=figured(p99=9_000_000), sync=figured(p99=1000))
    runs = tuple(replace(run, end=replace(run.end, figures=figures)) for run in session.runs if run.end is not None)
    both = compare_experiment(replace(session, runs=runs), "e1")
    assert both is not None
    tail = tail_row(both.rows)
    assert tail is not None
    assert (tail.direction, tail.figure.key) == ("sync", "latency_p99_ns")


def test_a_headline_that_is_the_tail_is_not_told_twice() -> None:
    session = measured((1000, 1000), (1000, 1000), (1000, 1000))
    runs = tuple(
        replace(
            run,
            start=replace(run.start, job={"rw": "randread", "rate_iops": "100"}),
            end=replace(run.end, figures=RunResult(status=RunStatus.OK, read=figured(p50=1, p95=2, p99=3))),
        )
        for run in session.runs
        if run.end is not None
    )
    both = compare_experiment(replace(session, runs=runs), "e1")
    assert both is not None
    assert both.headline is not None
    assert (row_name(both.headline), tail_row(both.rows)) == ("read p99", None)


def test_single_runs_have_no_tail_beside_the_headline() -> None:
    assert tail_row(told(*"12").rows) is None


def test_repeats_of_the_same_have_no_tail_either() -> None:
    all_runs = runs(*"11")
    assert "P99" not in comparison_sentence(compare(all_runs[0], all_runs[1], all_runs, all_runs))


def test_a_side_without_the_figure_has_no_percentage() -> None:
    row = latencies((1, 1), (1, 1), (1, 1)).rows[0]
    assert [replace(row, **one).percent for one in ({"a": None}, {"b": None}, {"a": 0.0})] == [None, None, None]


def test_the_difference_alone_is_that_of_its_interval_where_there_is_one() -> None:
    both = compare_experiment(measured((1000, 800), (1001, 803), (999, 798)), "e1")
    assert both is not None
    assert both.headline is not None
    assert row_percent(both.headline) == "-20.0 %"
    assert row_percent(replace(both.headline, judgement=None, a=1000.0, b=850.0)) == "-15.0 %"


def test_only_the_headline_is_called_so() -> None:
    rows = told(*"12").rows
    assert [row.headline for row in rows] == [True, *[False] * (len(rows) - 1)]


@pytest.mark.parametrize(("order", "words"), [("12", "two single runs"), ("112", "2 and 1 run"), ("1221", "2 pairs")])
def test_how_many_were_measured_is_counted(order: str, words: str) -> None:
    assert count_text(told(*order).sides) == words


def test_a_figure_that_one_side_does_not_have_cannot_be_compared() -> None:
    """The sentence begins with a capital, whatever the figure is called."""
    without = RunResult(status=RunStatus.OK, write=figured())
    ended = [
        replace(event, figures=without) if isinstance(event, RunEnded) and event.id == "r2" else event
        for name in ("r1", "r2")
        for event in sessions.run(name, settings={"a": name})
    ]
    assert comparison_sentence(compared(ended, [])).startswith("Read IOPS cannot be compared: one side has no value.")  # type: ignore[arg-type]


def test_a_row_of_zeros_has_no_verdict_and_no_interval() -> None:
    both = compare_experiment(measured((0, 0), (0, 0), (0, 0)), "e1")
    assert both is not None
    assert both.headline is not None
    assert both.headline.judgement is None


def test_a_figure_below_one_is_judged_as_well() -> None:
    """As few I/Os a second as a slow device does."""
    both = compare_experiment(measured((0.2, 0.2), (0.8, 0.8)), "e1")
    assert both is not None
    assert both.headline is not None
    assert (both.headline.judgement is not None, round(both.headline.a or 0, 6)) == (True, 0.4)


def test_a_running_experiment_without_figures_tells_nothing() -> None:
    session = measured((1000, 800), (1000, 800))
    nothing = RunResult(status=RunStatus.OK)
    runs = tuple(replace(run, end=replace(run.end, figures=nothing)) for run in session.runs if run.end is not None)
    assert interim_text(replace(session, runs=runs), "e1") == ""


@pytest.mark.parametrize("verdict", ["faster", "no difference"])
def test_a_threshold_of_ones_own_is_named_once(verdict: str) -> None:
    factor = 1.2 if verdict == "faster" else 1.01
    session = measured(*((1000 + at, (1000 + at) * factor) for at in range(3)))
    start = replace(session.experiments[0].start, threshold_percent=6.0)
    both = compare_experiment(replace(session, experiments=(replace(session.experiments[0], start=start),)), "e1")
    assert both is not None
    assert comparison_sentence(both).count("+-6 %") == 1


def still() -> Comparison:
    """One pair, whose second run failed as the device stopped answering: it ended the experiment."""
    session = measured((1000, 0))
    a, b = session.runs
    assert b.end is not None
    failed = RunResult(status=RunStatus.FAILED, still_s=60.0)
    both = compare_experiment(replace(session, runs=(a, replace(b, end=replace(b.end, figures=failed)))), "e1")
    assert both is not None
    return both


def test_a_device_that_stopped_answering_once_is_told_and_is_no_verdict() -> None:
    assert comparison_sentence(still()) == (
        "STOPPED ANSWERING in 1 of 1 run with read-ahead 4096 KiB (r2): too few runs to show the cause. Not "
        "decided between read-ahead 128 KiB and 4096 KiB: no two comparable runs completed I/O."
    )


def silent_runs(a: int, b: int, pairs: int = 6, looks: tuple[InterimAnalysis, ...] = STANDARD) -> VerdictResult:
    """The verdict of so many pairs, where so many runs of each side, the last ones, completed no I/O."""
    values = [(1000.0 + at % 3, 1000.0 + at % 2) for at in range(pairs)]
    made = [(0.0 if at >= pairs - a else one, 0.0 if at >= pairs - b else two) for at, (one, two) in enumerate(values)]
    both = compare_experiment(measured(*made, looks=looks), "e1")
    assert both is not None
    assert both.headline is not None
    assert both.headline.judgement is not None
    return both.headline.judgement


@loop_over(
    ("a", "b", "pairs", "verdict"),
    [
        (0, 6, 6, Verdict.STOPPED_ANSWERING),  # 2 / 924
        (6, 0, 6, Verdict.STOPPED_ANSWERING),
        (0, 5, 6, Verdict.NOT_DECIDED),  # 2 * 6 / 792, the level is 0.0044
        (0, 2, 6, Verdict.NO_DIFFERENCE),
        (1, 1, 6, Verdict.NO_DIFFERENCE),
        (0, 3, 10, Verdict.NOT_DECIDED),  # the seven others are alike, and yet B is none to choose
        (3, 3, 10, Verdict.NO_DIFFERENCE),
        (0, 7, 12, Verdict.STOPPED_ANSWERING),  # 2 * 792 / 346104 = 0.0046, the level is 0.0122
        (1, 7, 12, Verdict.NOT_DECIDED),
        (1, 3, 12, Verdict.NO_DIFFERENCE),
        (0, 7, 11, Verdict.NOT_DECIDED),  # between two looks
    ],
)
def test_silent_runs_are_a_verdict_where_chance_does_not_put_them_on_one_side(
    a: int, b: int, pairs: int, verdict: Verdict
) -> None:
    assert silent_runs(a, b, pairs).verdict is verdict


def test_the_chance_that_all_silent_runs_are_on_one_side() -> None:
    """Counted over all ways to choose the silent ones of 2 x 4 runs."""
    for silent in range(1, 5):
        ways = list(combinations(range(8), silent))
        one_side = sum(max(way) < 4 or min(way) >= 4 for way in ways)
        assert chance_of_silence(silent, 4, 8) == pytest.approx(one_side / len(ways))


def test_a_forecast_beside_silent_runs_counts_the_pairs_that_are_missing() -> None:
    """Seven of eight pairs are judged: the look at twelve is four pairs ahead, not five."""
    ratios = [1.03, 1.01, 1.05, 1.02, 1.045, 1.03, 1.02]
    both = compare_experiment(measured(*((1000.0, 1000.0 * one) for one in ratios), (1000.0, 0.0), looks=LATER), "e1")
    assert both is not None
    assert both.headline is not None
    assert both.headline.judgement is not None
    assert both.headline.judgement.further_pairs == 12 - 8


LATER = (InterimAnalysis(pairs=8, level=0.0005), InterimAnalysis(pairs=12, level=0.03))


def test_a_run_that_failed_by_itself_is_no_side() -> None:
    session = measured((1000, 0))
    a, b = session.runs
    assert b.end is not None
    failed = replace(b, end=replace(b.end, figures=RunResult(status=RunStatus.FAILED)))
    assert compare_experiment(replace(session, runs=(a, failed)), "e1") is None


@loop_over(
    ("job_a", "job_b", "repeated"),
    [
        ({"bs": "4k"}, {"bs": "4k"}, True),
        ({"bs": "4k"}, {"bs": "8k"}, False),
        ({}, {}, False),
        ({"bs": "4k"}, {}, False),
        ({"bs": "4k", "bssplit": "4k/50:8k/50"}, {"bs": "4k"}, False),
        ({"bs": "4k"}, {"bs": "4k", "bsrange": "4k-8k"}, False),
        ({"bs": "4k", "bs_write": "8k"}, {"bs": "4k", "bs_write": "8k"}, False),
    ],
)
def test_bytes_repeat_the_verdict_of_the_i_os_only_where_all_i_os_have_one_known_size(
    job_a: dict[str, str], job_b: dict[str, str], repeated: bool
) -> None:
    rw = {"rw": "randread"}
    rows = compared([*sessions.run("r1", job=rw | job_a)], [*sessions.run("r2", job=rw | job_b, iops=1500)]).rows
    (row,) = [row for row in rows if row.figure.key == "bytes_per_second"]
    assert (row.same_as == "iops") is repeated
