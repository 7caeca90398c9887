"""Latency as it is told: in all and by its parts, of flushes, and how far it may be off."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

from app.core.presentation import json_schema
from app.core.presentation.run import direction_line, figure_facts, figures_table
from app.core.session.events import RunEnded
from app.core.session.results import DirectionStats, LatencyStats, RunResult, RunStatus
from app.core.session.state import Session, replay
from app.features.report.csv import runs_csv
from app.features.report.runs import results
from tests.core import sessions

FLUSHES = DirectionStats(
    iops=30.0,
    bytes_per_second=0.0,
    total_ios=1800,
    total_bytes=0,
    runtime_s=60.0,
    latency_ns=LatencyStats(mean=878_000.0, p50=800_000, p95=2_000_000, p99=8_000_000),
    bins=((800_000, 1000), (2_000_000, 760), (8_000_000, 40)),
)
WRITES = replace(
    FLUSHES,
    bytes_per_second=120_000.0,
    completion_ns=LatencyStats(mean=40_000.0, p99=70_000),
    submission_ns=LatencyStats(mean=5_000.0),
)
FIGURES = RunResult(status=RunStatus.OK, seconds=60.0, write=WRITES, sync=FLUSHES)


def flushed(figures: RunResult = FIGURES) -> Session:
    """A session with one run that wrote and flushed."""
    events = [replace(one, figures=figures) if isinstance(one, RunEnded) else one for one in sessions.run()]
    return replay([sessions.started(), *events])


def test_flushes_have_a_row_of_their_own_without_throughput() -> None:
    rows = [row.cells for row in figures_table(flushed().runs).rows]
    assert [str(row[1]) for row in rows] == ["write", "sync"]
    assert (rows[1][2], rows[1][3], rows[1][4]) == ("30.0", "", "878 µs")


def test_flushes_are_told_by_their_mean() -> None:
    assert direction_line("sync", FLUSHES) == "sync 30.0 flushes/s, mean 878 µs, p50 800 µs, p99 8.00 ms, p99.9 -"


def test_the_sheet_of_a_run_has_the_parts_of_its_latency() -> None:
    (write, sync, *_) = figure_facts(FIGURES)
    assert {("Submission", "5.00 µs"), ("Completion", "40.0 µs")} <= {(fact.label, fact.value) for fact in write.facts}
    assert not {"Submission", "Completion", "Bandwidth"} & {fact.label for fact in sync.facts}


def test_nothing_is_said_of_how_far_a_percentile_may_be_off_within_one_run() -> None:
    """Its I/Os are not independent of each other: only repeats tell."""
    assert not [fact for facts in figure_facts(FIGURES) for fact in facts.facts if " to " in fact.value]


def test_the_json_of_a_run_has_flushes_and_parts() -> None:
    told = json_schema.run(flushed().runs[0], session="s")
    assert told["sync"]["latency_ns"]["mean"] == 878_000.0
    assert (told["write"]["completion_ns"]["p99"], told["write"]["submission_ns"]["mean"]) == (70_000, 5_000.0)
    assert told["sync"]["completion_ns"] is None


def test_the_csv_of_a_run_has_flushes_and_parts() -> None:
    (row,) = csv.DictReader(io.StringIO(runs_csv(flushed())))
    assert (row["sync_latency_mean_ns"], row["write_completion_p99_ns"], row["write_submission_mean_ns"]) == (
        "878000", "70000", "5000"
    )  # fmt: skip
    assert row["write_latency_p99_99_ns"] == ""


def test_a_report_with_flushes_has_columns_for_them_and_one_without_has_none() -> None:
    assert results(flushed().runs).columns[1:3] == ("Sync mean", "Sync p99")
    assert "Sync mean" not in results(replay([sessions.started(), *sessions.run()]).runs).columns


TRIMS = replace(WRITES, latency_ns=LatencyStats(mean=1e6, p50=900_000, p99=2_000_000, p99_999=7_000_000))
TRIMMED = RunResult(status=RunStatus.OK, seconds=60.0, trim=TRIMS)


def test_trims_are_shown_wherever_writes_are() -> None:
    session = flushed(TRIMMED)
    assert [str(row.cells[1]) for row in figures_table(session.runs).rows] == ["trim"]
    assert figure_facts(TRIMMED)[0].heading == "Trim"
    assert {"Trim IOPS", "Trim p99"} <= set(results(session.runs).columns)
    assert json_schema.run(session.runs[0], session="s")["trim"]["iops"] == 30.0
    row = next(csv.DictReader(io.StringIO(runs_csv(session))))
    assert (row["trim_iops"], row["trim_latency_p99_999_ns"], row["read_iops"]) == ("30", "7000000", "")


def test_no_trims_add_no_columns() -> None:
    assert "Trim IOPS" not in results(flushed().runs).columns
    assert json_schema.run(flushed().runs[0], session="s")["trim"] is None


def test_rare_percentiles_are_shown_only_where_they_are_known() -> None:
    def titles(figures: RunResult) -> set[str]:
        return {column.title for column in figures_table(flushed(figures).runs).columns}

    assert {"p99.999", "p99.9999"} & titles(FIGURES) == set()
    assert {"p99.999", "p99.9999"} & titles(TRIMMED) == {"p99.999"}
    assert "p99.999 7.00 ms" in direction_line("trim", TRIMS)
    assert "p99.999" not in direction_line("write", WRITES)
    labels = [fact.label for group in figure_facts(TRIMMED) for fact in group.facts]
    assert ("P99.999" in labels, "P99.9999" in labels) == (True, False)
