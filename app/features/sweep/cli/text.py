"""The plan and the results of a sweep as lines of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from app.cli.exit_status import DONE, FAILED, INTERRUPTED, REFUSED
from app.cli.output import lines, paint, print_json, say, terminal_width
from app.cli.render import fact_lines, fitted_lines, table_lines
from app.core.analysis.metric_kinds import SYNC
from app.core.presentation.labels import cell_with_labels, with_labels
from app.core.presentation.run import measured_directions
from app.core.session.state import Session
from app.core.session.sweep_record import SweepRecord
from app.core.session.sweep_steps import Design, StepResult, SweepResult
from app.doors import action
from app.features.sweep.engine.results import Results, results
from app.features.sweep.engine.risk_assessment import RiskAssessment
from app.features.sweep.presentation.findings import ending_text, finding_facts, short_facts
from app.features.sweep.presentation.json_schema import sweep_json
from app.features.sweep.presentation.load_curve import curve_table
from app.features.sweep.presentation.plan import cells_table, order_facts, plan_facts
from app.features.sweep.presentation.published_results import WIDTH, published_tables
from app.features.sweep.presentation.sweep import matrix_table, rankings
from backends.simulator.profiles import demo_text, rack_name
from backends.text import clean
from widgets.text_utils import units
from widgets.text_utils.text import wrap


def plan_lines(assessment: RiskAssessment, speed: float | None = None) -> list[str]:
    """Return the lines of the plan: duration, data loss, risks, changes and cells. `speed` is the speed-up of a
    simulation.
    """
    title = paint(clean(assessment.design.title, 200), "bold")
    cells = table_lines(cells_table(assessment.design))
    return [title, "", *_join_blocks(*map(fact_lines, plan_facts(assessment, speed)), cells)]


def order_lines(design: Design) -> list[str]:
    """Return lines that list the steps in their order, grouped by block."""
    return _join_blocks(*map(fact_lines, order_facts(design)))


def step_line(record: SweepRecord, session: Session) -> str:
    """Return one line about the last finished step."""
    ended = record.ended[-1]
    step = next(step for step in record.steps if step.number == ended.step)
    cell = cell_with_labels(record.cell(step.cell))
    subject = f"{step.number}/{len(record.steps)}  {cell.row}, {cell.column}"
    run = session.run(ended.run) if ended.run else None
    if run is None or ended.result is not StepResult.DONE:
        result = f"{ended.result}, retried once" if ended.again else ended.result
        return f"{subject}: {result}. {clean(ended.reason, 300)}".rstrip()
    parts = [
        f"{units.iops(figures.iops)} IOPS {name}" for name, figures in measured_directions(run.figures) if name != SYNC
    ]
    return f"{subject}: {', '.join(parts)}"


def result_lines(record: SweepRecord, outcome: Results, graph: Sequence[str] = ()) -> list[str]:
    """Return the results of a sweep as lines of text.

    These are the published tables, a summary, the matrix, the rankings, the lines of `graph`, and the combinations that
    were confirmed, failed or skipped.
    """
    width = terminal_width()
    tables = (
        *filter(None, (matrix_table(record, outcome),)),
        *rankings(outcome),
        *map(curve_table, outcome.load_curves),
    )
    short = [fact_lines(short_facts(record, outcome))] if any(cell.value is not None for cell in outcome.cells) else []
    figures = map(table_lines, tables)
    narrow = min(WIDTH, width or WIDTH)
    published = (
        [
            *(paint(line, "bold") for line in wrap(table.heading, narrow)),
            *fitted_lines(replace(table, heading=""), narrow),
        ]
        for table in published_tables(outcome)
    )
    shown = (*published, *short, *figures, list(graph), *map(fact_lines, finding_facts(record, outcome)))
    return _join_blocks(*(block for block in shown if block))


def _join_blocks(*blocks: list[str]) -> list[str]:
    """Return blocks of lines with an empty line between them."""
    return [row for block in blocks for row in (*block, "")][:-1]


# -- results of a sweep, for the commands that run or show it ---------------------------------------------------------


def report(session: Session, record: SweepRecord, folder: str, *, as_json: bool) -> None:
    """Print the results of a session's sweep and how it ended."""
    if as_json:
        print_json(sweep=sweep_json(record, results(record, session.runs), session=folder))
    else:
        labelled = with_labels(record)
        draw = action("plots.sweep_lines")
        graph = [] if draw is None else draw(session, Path(folder))
        lines(result_lines(labelled, results(labelled, session.runs), graph))
    say(_ending_text(record, folder, session))


def _ending_text(record: SweepRecord, folder: str, session: Session) -> str:
    """Return a sentence on how the sweep ended; if it is incomplete, with the command that continues it."""
    before = f" {demo_text(rack_name(session.machine.host))}" if session.simulated and session.machine else ""
    go_on = f"To continue: raidbench{before} sweep --resume {Path(folder).name}"
    return clean(ending_text(record)[0], 1000) + (f"\n{go_on}" if record.todo else "")


def status_of(record: SweepRecord) -> int:
    """Return the exit status of a finished sweep."""
    if record.end is None:
        return FAILED
    return {SweepResult.FINISHED: DONE, SweepResult.STOPPED: INTERRUPTED, SweepResult.WAITING: REFUSED}.get(
        record.end.result, FAILED
    )
