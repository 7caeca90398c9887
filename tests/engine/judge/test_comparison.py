"""Two runs side by side."""

from __future__ import annotations

from dataclasses import replace

from app.engine.judge.comparison import SINGLE_RUNS, Comparison, compare, varying
from app.engine.session.events import RunEnded
from app.engine.session.figures import DirectionFigures, LatencyFigures, RunFigures, RunStatus
from app.engine.session.state import replay
from tests.engine import sessions


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
    assert compared([*sessions.run("r1")], [*other]).caveats == (SINGLE_RUNS,)


def test_a_run_that_was_stopped_is_said() -> None:
    both = compared([*sessions.run("r1", status=RunStatus.STOPPED)], [*sessions.run("r2")])
    assert both.caveats[0].startswith("r1 is not a whole run")


def test_different_targets_are_said() -> None:
    both = compared([*sessions.run("r1")], [*sessions.run("r2", target="block:sdb")])
    assert "The targets differ: block:sda and block:sdb." in both.caveats


def test_different_jobs_are_said() -> None:
    both = compared([*sessions.run("r1")], [*sessions.run("r2", job={"rw": "read", "bs": "4k"})])
    assert both.job == (("rw", "randread", "read"),)


def test_only_keys_that_vary_are_columns() -> None:
    assert varying([{"a": "1", "b": "1"}, {"a": "1", "b": "2"}, {"a": "1"}]) == ["b"]


def judged_by(figures: RunFigures, job: dict[str, str] | None = None) -> tuple[str, ...]:
    """What a comparison of two runs with these figures is about."""
    events = [sessions.run(name, job=job, settings={"a": name}) for name in ("r1", "r2")]
    ended = [
        replace(event, figures=figures) if isinstance(event, RunEnded) else event for run in events for event in run
    ]
    headline = compared(ended, []).headline  # type: ignore[arg-type]
    return () if headline is None else (headline.direction, headline.figure.key)


def figured(*, ios: int = 100_000, **times: int) -> DirectionFigures:
    latency = LatencyFigures(mean=1000.0, **times)
    return DirectionFigures(
        iops=ios / 10, bytes_per_second=ios * 409.6, total_ios=ios, total_bytes=0, runtime_s=10, latency_ns=latency
    )


def test_a_job_that_flushes_is_about_its_flushes() -> None:
    figures = RunFigures(status=RunStatus.OK, write=figured(), sync=figured(ios=100))
    assert judged_by(figures) == ("sync", "latency_mean_ns")


def test_a_job_at_a_fixed_rate_is_about_its_tail() -> None:
    figures = RunFigures(status=RunStatus.OK, read=figured(p50=1, p95=2, p99=3))
    assert judged_by(figures, {"rw": "randread", "rate_iops": "100"}) == ("read", "latency_p99_ns")


def test_a_tail_that_too_few_i_os_carry_gives_way_to_the_next() -> None:
    figures = RunFigures(status=RunStatus.OK, read=figured(p50=1, p95=2))
    assert judged_by(figures, {"rw": "randread", "rate": "1M"}) == ("read", "latency_p95_ns")


def test_flushes_have_no_throughput() -> None:
    figures = RunFigures(status=RunStatus.OK, write=figured(), sync=figured(ios=100))
    events = [
        replace(event, figures=figures) if isinstance(event, RunEnded) else event
        for name in ("r1", "r2")
        for event in sessions.run(name)
    ]
    rows = [(row.direction, row.figure.key) for row in compared(events, []).rows]  # type: ignore[arg-type]
    assert ("sync", "iops") in rows
    assert ("sync", "bytes_per_second") not in rows


def test_latencies_with_and_without_submission_are_not_compared() -> None:
    old, new = RunFigures(status=RunStatus.OK, read=figured(p99=3)), figured(p99=3)
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
    assert any("without submission" in caveat for caveat in both.caveats)
