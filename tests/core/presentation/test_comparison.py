"""What is told of a comparison: one vocabulary, whatever words a session was written with."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.cli.render import table_lines
from app.core.analysis.comparison import compare, compare_experiment
from app.core.analysis.pair_design import RULE
from app.core.analysis.stored_verdicts import stored_comparison, verdicts_of, without_stored_verdicts
from app.core.presentation.comparison import comparison_table, experiment_brief, experiment_lines, sides_table
from app.core.presentation.comparison_text import caveat_texts, comparison_sentence
from app.core.presentation.json_schema_compare import figure
from app.core.presentation.table import Cell, Tone, text_of
from app.core.session import event_codec
from app.core.session.event_types import InterimAnalysis
from app.core.session.events import ExperimentEnded, ExperimentMark, ExperimentStarted, LoggedEvent, RunEnded
from app.core.session.results import RunResult, RunStatus
from app.core.session.state import Session, replay
from app.features.report.blocks import report_table
from tests.core import sessions


def measured(
    *iops: tuple[float, float], ended: ExperimentEnded | None = None, looks: tuple[InterimAnalysis, ...] = ()
) -> Session:
    """A session with an A/B of these pairs."""
    order = ("A", "B") * len(iops)
    start = ExperimentStarted(
        at=1002.0,
        id="e1",
        target=sessions.SDA,
        key="read_ahead_kb",
        label="Read-ahead",
        a="128",
        b="4096",
        order=order,
        title="4k random read",
        measured="block:sda",
        looks=looks,
        rule=RULE,
    )
    events: list[LoggedEvent] = [sessions.started(), start]
    for at, letter in enumerate(order):
        begun, over = sessions.run(f"r{at + 1}", iops=iops[at // 2][at % 2])
        mark = ExperimentMark(experiment="e1", letter=letter, pair=at // 2 + 1)
        events += [replace(begun, mark=mark), over]  # type: ignore[arg-type]
    return replay([*events, *([ended] if ended else [])])


FASTER = ((1000, 1200), (1001, 1203), (999, 1198))
SLOWER = ((1000, 800), (1001, 803), (999, 798))
SAME = ((1000, 1001), (1001, 1000), (999, 1000))
FAR = (*((1000 + at % 3, 800 + at % 2) for at in range(11)), (1000, 700))
OPEN = ((1000, 1200), (1001, 950), (999, 1100))


@pytest.mark.parametrize(
    ("pairs", "word", "tone"),
    [
        (FASTER, "faster", Tone.GOOD),
        (SLOWER, "slower", Tone.BAD),
        (SAME, "no difference", Tone.DIM),
        (OPEN, "not decided", Tone.DIM),
    ],
)
def test_a_verdict_is_the_same_word_in_the_table_in_json_and_in_the_sentence(
    pairs: tuple[tuple[float, float], ...], word: str, tone: Tone
) -> None:
    both = compare_experiment(measured(*pairs), "e1")
    assert both is not None
    cell = comparison_table(both).rows[0].cells[-1]
    assert isinstance(cell, Cell)
    assert (cell.text.startswith(word), cell.tone) == (True, tone)
    assert figure(both.rows[0])["verdict"] == word.rstrip(", ").replace(" ", "-")
    assert word.rstrip(", ") in comparison_sentence(both).lower()


def test_less_latency_is_lower_and_welcome() -> None:
    session = measured(*SAME)
    runs = [
        replace(run, end=replace(run.end, figures=_latency(run.end, 500_000 if at % 2 else 900_000)))
        for at, run in enumerate(session.runs)
        if run.end is not None
    ]
    both = compare_experiment(replace(session, runs=tuple(runs)), "e1")
    assert both is not None
    p99 = next(row for row in comparison_table(both).rows if row.key == "read p99")
    assert p99.cells[-1] == Cell("lower", Tone.GOOD)


def _latency(end: RunEnded, p99: int) -> RunResult:
    read = end.figures.read
    assert read is not None
    return replace(end.figures, read=replace(read, latency_ns=replace(read.latency_ns, p99=p99)))


def test_the_command_line_and_the_report_have_the_same_table() -> None:
    both = compare_experiment(measured(*SLOWER), "e1")
    assert both is not None
    shown = comparison_table(both)
    assert all(cell in "\n".join(table_lines(shown)) for row in report_table(shown).rows for cell in row)


@pytest.mark.parametrize("pairs", [FASTER, SLOWER, SAME, OPEN, FAR])
def test_what_was_recorded_is_told_as_it_was_told_when_the_experiment_ended(
    pairs: tuple[tuple[float, float], ...],
) -> None:
    judged = compare_experiment(measured(*pairs), "e1")
    assert judged is not None
    over = ExperimentEnded(at=1.0, id="e1", status=RunStatus.OK, restored=True, verdicts=verdicts_of(judged))
    line = event_codec.decode(event_codec.encode(over))
    assert isinstance(line, ExperimentEnded)
    both = stored_comparison(measured(*pairs, ended=line), "e1")
    assert both is not None
    assert (comparison_sentence(both), both.rows) == (comparison_sentence(judged), judged.rows)


def of_another_rule(verdict: str) -> Session:
    """Three pairs that nothing is decided by, and a version that decided by them."""
    judged = compare_experiment(measured(*SLOWER), "e1")
    assert judged is not None
    kept = tuple(replace(one, verdict=verdict) for one in verdicts_of(judged))
    over = ExperimentEnded(at=1.0, id="e1", status=RunStatus.OK, restored=True, verdicts=kept)
    session = measured(*OPEN, ended=over)
    record = session.experiments[0]
    return replace(session, experiments=(replace(record, start=replace(record.start, rule=9)),))


def test_a_recorded_verdict_stands_whatever_the_rule_says_now() -> None:
    both = stored_comparison(of_another_rule("slower"), "e1")
    assert both is not None
    assert comparison_sentence(both).startswith("Slower with")
    words = f"Judged by rule 9 when the experiment ended. To judge by the current rule {RULE}, use `--judge-again`."
    assert words in caveat_texts(both)


def test_on_request_it_is_judged_again() -> None:
    both = stored_comparison(without_stored_verdicts(of_another_rule("slower")), "e1")
    assert both is not None
    assert comparison_sentence(both).startswith("Not decided between")
    assert not [told for told in caveat_texts(both) if told.startswith("Judged by")]


def test_a_verdict_that_this_version_does_not_know_is_judged_anew() -> None:
    both = stored_comparison(of_another_rule("sideways"), "e1")
    assert both is not None
    assert comparison_sentence(both).startswith("Not decided between")


def test_what_an_older_log_says_of_a_run_is_read_though_it_names_nothing() -> None:
    told = '{"key":"background-task","message":"Background work goes on: a rebuild.","do":"Wait."}'
    line = (
        '{"event":"run-ended","at":2.0,"id":"r1","folder":"runs/r1","figures":{"status":"ok","advice":[' + told + "]}}"
    )
    event = event_codec.decode(line)
    assert isinstance(event, RunEnded)
    assert event.figures.advice[0].about == ()


def test_in_a_line_or_two_stand_verdict_figure_and_whether_it_was_put_back() -> None:
    over = ExperimentEnded(at=1100.0, id="e1", status=RunStatus.OK, restored=False, moved={"x": "1"})
    session = measured(*SAME, ended=over)
    record = session.experiments[0]
    shown = experiment_brief(record, stored_comparison(session, "e1"))
    assert "IOPS" in shown
    assert " pairs. Read-ahead WAS NOT RESTORED TO 128 KiB. x also changed" in shown
    assert len(shown) < len(" ".join(experiment_lines(record, stored_comparison(session, "e1"))))
    assert experiment_brief(record, None) == " ".join(experiment_lines(record, None))


def test_an_experiment_that_was_not_put_back_says_so_loudly() -> None:
    over = ExperimentEnded(
        at=1100.0,
        id="e1",
        status=RunStatus.FAILED,
        restored=False,
        reason="EIO",
        moved={"fastpath of megaraid:/c0/v1": "preset -> off"},
    )
    session = measured(*SAME, ended=over)
    assert list(experiment_lines(session.experiments[0], None))[1:] == [
        "e1 failed: EIO.",
        "Read-ahead WAS NOT RESTORED TO 128 KiB.",
        "FastPath of megaraid:/c0/v1 also changed (preset -> off), so A and B differ in both settings.",
    ]


def test_what_differs_between_the_sides_stands_beside_each_other() -> None:
    runs = replay([*sessions.run("r1"), *sessions.run("r2", settings={"a": "2"})]).runs
    shown = sides_table(compare(runs[0], runs[1]), "r1", "r2")
    assert [tuple(map(text_of, row.cells)) for row in shown.rows][-1] == ("A", "-", "2")
