"""Two experiments of one report that were judged at different levels: each figure says its own."""

from __future__ import annotations

from dataclasses import replace

from app.core.analysis.pair_design import RULE, one_look
from app.core.session.event_types import InterimAnalysis
from app.core.session.events import ExperimentEnded, ExperimentMark, ExperimentStarted, LoggedEvent, RunStarted
from app.core.session.results import RunStatus
from app.core.session.state import Session, replay
from app.features.report.experiments import experiment_graphs, experiments_table
from app.features.report.graph import IntervalGraph
from app.features.report.markdown import to_markdown
from app.features.report.model import report_of
from tests.core import sessions

LOOKS = {"e1": (InterimAnalysis(pairs=3, level=0.01),), "e2": one_look(3)}
COVERS = {"e1": "99 %", "e2": "95 %"}


def two() -> Session:
    """Three pairs of each; the second asks for another value, so that it is judged alone."""
    events: list[LoggedEvent] = [sessions.started()]
    for at, (name, looks) in enumerate(LOOKS.items()):
        start = ExperimentStarted(
            at=1002.0 + 50 * at,
            id=name,
            target=sessions.SDA,
            key="read_ahead_kb",
            label="Read-ahead",
            a="128",
            b=("4096", "512")[at],
            order=("A", "B", "B", "A", "A", "B"),
            title="4k random read",
            measured="block:sda",
            looks=looks,
            seed=1,
            rule=RULE,
        )
        events.append(start)
        for place, letter in enumerate(start.order):
            begun, ended = sessions.run(f"r{6 * at + place + 1}", iops=(1000.0 if letter == "A" else 700.0) + 7 * place)
            assert isinstance(begun, RunStarted)
            mark = ExperimentMark(experiment=name, letter=letter, pair=place // 2 + 1)
            events += [replace(begun, mark=mark), ended]
        events.append(ExperimentEnded(at=1040.0 + 50 * at, id=name, status=RunStatus.OK, restored=True))
    return replay(events)


def test_every_row_of_the_table_has_the_level_of_its_experiment() -> None:
    table = experiments_table(two())
    shown = {(str(row[0]), str(row[table.columns.index("Interval")])) for row in table.rows}
    assert shown == set(COVERS.items())


def test_an_interval_of_99_percent_of_the_same_pairs_is_wider_than_one_of_95() -> None:
    graphs = [each for each in experiment_graphs(two()) if isinstance(each, IntervalGraph)]
    wide, narrow = ((row.high or 0.0) - (row.low or 0.0) for row in (graphs[0].rows[0], graphs[1].rows[0]))
    assert wide > 1.5 * narrow


def test_each_graph_says_the_level_of_its_intervals() -> None:
    graphs = [each for each in experiment_graphs(two()) if isinstance(each, IntervalGraph)]
    assert [f"intervals of {COVERS[name]}." in each.about for name, each in zip(COVERS, graphs, strict=True)] == [
        True
    ] * 2


def test_the_report_in_markdown_has_both_levels() -> None:
    text = to_markdown(report_of(two()))
    lines = [line for line in text.splitlines() if line.startswith(("| e1 |", "| e2 |")) and "IOPS" in line]
    assert [COVERS[line[2:4]] in line for line in lines] == [True] * len(LOOKS)
