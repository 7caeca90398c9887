"""Tables and texts about comparisons, and about experiments that measure two values of a setting in pairs. No I/O."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from app.core.analysis.comparison import Comparison, MetricComparison
from app.core.analysis.verdict import BETTER, WORSE, Verdict, VerdictResult
from app.core.benchmark.idle_wait import mean_pause
from app.core.presentation.change import moved_name, movement_text
from app.core.presentation.comparison_text import comparison_sentence, count_text, row_difference, row_name
from app.core.presentation.labels import key_heading, key_value
from app.core.presentation.noise_text import null_texts
from app.core.presentation.percent import covers_text
from app.core.presentation.run import figure_text
from app.core.presentation.table import Align, Cell, Column, Row, Table, Tone
from app.core.presentation.verdict_text import further_text, judgement_word
from app.core.session.state import ExperimentRecord, Session
from app.core.session.unit_labels import value_text
from backends.values import dataclass
from widgets.text_utils import units
from widgets.text_utils.symbols import LESS, MORE, SAME

NO_PAIR = "No pair was completed, so there is nothing to compare."
"""Result of an experiment that ended before its first complete pair."""


_SIGNS = {
    Verdict.FASTER: MORE.char,
    Verdict.HIGHER: MORE.char,
    Verdict.SLOWER: LESS.char,
    Verdict.LOWER: LESS.char,
    Verdict.NO_DIFFERENCE: SAME.char,
}
"""Signs for the direction of a difference. The verdict and its colour show whether the difference is good."""


def verdict_sign(judgement: VerdictResult | None) -> str:
    """Return the sign of a verdict: an arrow for a difference, `=` for no difference, "" for any other verdict."""
    return "" if judgement is None else _SIGNS.get(judgement.verdict, "")


def verdict_tone(judgement: VerdictResult | None) -> Tone:
    """Return the tone of a verdict, which shows whether the difference is good."""
    if judgement is None:
        return Tone.DIM
    if judgement.verdict in WORSE or judgement.verdict is Verdict.STOPPED_ANSWERING:
        return Tone.BAD
    return Tone.GOOD if judgement.verdict in BETTER else Tone.DIM


def ab_headings(record: ExperimentRecord) -> tuple[str, str]:
    """Return the headings of both sides of an experiment, with their values: `A 128 KiB`, `B 4096 KiB`."""
    start = record.start
    return f"A {value_text(start.key, start.a)}", f"B {value_text(start.key, start.b)}"


def comparison_table(comparison: Comparison, a: str = "A", b: str = "B") -> Table:
    """Return a table of all metrics with differences, intervals and verdicts.

    The headline metric comes first, then metrics that differ, then the rest. `a`, `b`: headings of the sides.
    """
    rows = [row for row in comparison.rows if not row.same_as]
    judged = any(row.interval is not None for row in rows)
    columns = (
        Column(title="Metric", key="figure"),
        Column(title=a, key="a", align=Align.RIGHT),
        Column(title=b, key="b", align=Align.RIGHT),
        Column(title="", key="sign"),
        Column(title=f"Difference [{covers_text(comparison.level)}]" if judged else "Difference", key="difference"),
        Column(title=f"In {count_text(comparison.sides)}" if judged else "", key="verdict", priority=1),
    )
    rows.sort(key=lambda row: (not row.headline, row.judgement is None or not row.judgement.differs))
    return Table(columns=columns, rows=tuple(_figure_row(row, judged, comparison.level) for row in rows))


def _figure_row(row: MetricComparison, judged: bool, level: float) -> Row:
    """Return the row of a metric. `level`: the level in the heading; the row names its own level if that differs."""
    judgement, tone = row.judgement, verdict_tone(row.judgement)
    row_level = level if row.interval is None else row.interval.level
    difference = f"{row_difference(row)}{f' ({covers_text(row_level)})' if row_level != level else ''}"
    text = further_text(judgement) if judgement is not None and (judged or judgement.decided) else ""
    return Row(
        key=row_name(row),
        cells=(
            row_name(row),
            figure_text(row.figure, row.a),
            figure_text(row.figure, row.b),
            Cell(verdict_sign(judgement), tone),
            Cell(difference, tone) if judgement is not None and judgement.differs else difference,
            Cell(text, tone),
        ),
    )


def sides_table(comparison: Comparison, a: str, b: str) -> Table:
    """Return a table of both sides' targets and jobs, and of everything else that differs between the sides."""
    started, other = comparison.a.start, comparison.b.start
    facts = (("Target", started.target, other.target), ("Job", started.title, other.title))
    differing = ((key_heading(key), key_value(key, x), key_value(key, y)) for key, x, y in comparison.differing)
    columns = (Column(title=""), Column(title=a, key="a"), Column(title=b, key="b"))
    return Table(columns=columns, rows=tuple(Row(cells=cells) for cells in (*facts, *differing)))


def differing_table(comparison: Comparison, a: str, b: str) -> Table:
    """Return the table of `sides_table` with only the rows whose values differ."""
    shown = sides_table(comparison, a, b)
    return replace(shown, rows=tuple(row for row in shown.rows if row.cells[1] != row.cells[2]))


def experiment_lines(record: ExperimentRecord, comparison: Comparison | None) -> Iterator[str]:
    """Yield sentences about an experiment: result, early end, restored value, and other settings that changed."""
    yield NO_PAIR if comparison is None else " ".join(shown_lines(record, comparison))
    yield from experiment_ending(record)


def shown_lines(record: ExperimentRecord, comparison: Comparison) -> Iterator[str]:
    """Yield sentences with the result of an experiment.

    If both sides have the same value, the sentences say which effects such pairs can show.
    """
    if record.start.is_null:
        yield from null_texts(comparison)
    else:
        yield comparison_sentence(comparison)


def experiment_brief(record: ExperimentRecord, comparison: Comparison | None) -> str:
    """Return a short result of an experiment: `▼ slower: read IOPS -17.9 % [-19.7, -16.1], 3 pairs.`"""
    row = None if comparison is None else comparison.headline
    if comparison is None or row is None or record.start.is_null:
        return " ".join(experiment_lines(record, comparison))
    verdict = f"{verdict_sign(row.judgement)} {judgement_word(row.judgement)}".strip()
    shown = f"{verdict}: {row_name(row)} {row_difference(row)}, {count_text(comparison.sides)}."
    return " ".join((shown, *experiment_ending(record)))


def experiment_ending(record: ExperimentRecord) -> Iterator[str]:
    """Yield sentences about the end of an experiment, without its result."""
    end = record.end
    if end is None:
        yield f"{record.id} has not ended."
        return
    if end.reason:
        yield f"{record.id} {end.status}: {end.reason.rstrip('.')}."
    if not record.start.is_null:
        value = value_text(record.start.key, record.start.a)
        again = f"was restored to {value}" if end.restored else f"WAS NOT RESTORED TO {value}"
        yield f"{record.start.label} {again}."
    for key, movement in end.moved.items():
        yield f"{moved_name(key)} also changed ({movement_text(key, movement)}), so A and B differ in both settings."


# -- progress of an experiment ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class AbProgress:
    """Progress of a running experiment."""

    begun: int
    """Number of runs that have started."""
    planned: int
    """Maximum number of runs."""
    left: float | None
    """Remaining time in seconds if the experiment lasts until its last interim analysis; None before the first run."""

    @property
    def left_text(self) -> str:
        """Return a clause about the remaining time, `at most 6 min left`; "" if unknown."""
        return "" if self.left is None else f"at most {units.duration(round(self.left))} left"


def ab_progress(session: Session, record: ExperimentRecord, left_of_run: float) -> AbProgress:
    """Return the progress of an experiment. The remaining time assumes the mean length for each random pause.

    `left_of_run`: remaining seconds of the current run; 0 between two runs.
    """
    starts = [
        run.start for run in session.runs if run.start.mark is not None and run.start.mark.experiment == record.id
    ]
    planned = len(record.start.order)
    if not starts:
        return AbProgress(begun=0, planned=planned, left=None)
    length, rest = starts[-1].planned_seconds, record.start.rest_seconds
    pause = mean_pause(rest, length) if rest else 0.0
    left = (planned - len(starts)) * (length + pause) + left_of_run
    return AbProgress(begun=len(starts), planned=planned, left=max(0.0, left))
