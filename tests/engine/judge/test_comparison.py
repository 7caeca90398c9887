"""Two runs side by side."""

from __future__ import annotations

from app.engine.judge.comparison import SINGLE_RUNS, Comparison, compare, varying
from app.engine.session.figures import RunStatus
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
