"""A sweep in words and tables: what it will do, and what it found."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from app.cli.devices_text import terminal_width
from app.cli.output import paint
from app.cli.render import fact_lines, fitted_lines
from app.cli.tables import Column, table
from app.engine.session.state import Session
from app.engine.session.sweep_record import SweepRecord
from app.engine.session.sweep_steps import Design, Purpose, Step, StepResult, SweepCell
from app.engine.sweep.estimate import switches
from app.engine.sweep.results import Results
from app.engine.sweep.survey import Survey
from app.engine.view.run import both_directions
from app.engine.view.sweep import matrix_table, rankings
from app.engine.view.sweep_findings import finding_facts, left_out
from backends.text import clean
from widgets.plain import units


def plan_lines(surveyed: Survey, speed: float | None = None) -> list[str]:
    """What a sweep will do: cells, changes, order, what is lost, time; `speed` is that of a simulation."""
    design = surveyed.design
    rows = [paint(clean(design.title, 200), "bold"), ""]
    rows += [f"{role}: {address}" for role, address in design.targets.items()]
    rows += ["", *_cells(design), ""]
    rows += [*fact_lines(left_out(design)), ""] if design.skipped else []
    rows += [_times(one.setting.key, str(one.setting.target), one.times, one.setting.slow) for one in switches(design)]
    for feature in design.features:
        if not feature.active:
            how = "the simulated host restarts for it" if feature.key else "it needs a key and a restart on the way"
            rows.append(f"{feature.name} of {feature.target} is not active: {how}.")
    rows += [f"Before: {one.key} of {one.target} = {one.value}; put back at the end." for one in design.originals]
    rows += [f"Risk: {clean(sentence, 400)}" for sentence in surveyed.risks]
    for one in design.destroys:
        rows.append(paint(f"ALL DATA ON {one.device} WILL BE LOST.", "red"))
        rows += [f"  {clean(each, 300)}" for each in one.found]
    rows += [paint(f"Refused: {clean(sentence, 300)}", "red") for sentence in surveyed.refused]
    more = " and more to confirm a winner" if design.pairs else ""
    took = f"about {units.duration(design.seconds)}"
    if speed is not None:
        took += f", simulated {speed:g} times as fast"
    rows.append(f"{units.plural(len(design.steps), 'step')}{more}, {took}, seed {design.seed}.")
    return rows


def order_lines(design: Design) -> list[str]:
    """The order of the steps, block by block."""
    known = {cell.id: cell for cell in design.cells}
    rows = []
    for number, grouped in groupby(design.steps, key=lambda step: step.block):
        steps = list(grouped)
        rows.append(f"Block {number + 1}: {_what(steps, known)}")
        rows += [
            f"  {step.number:>4}  round {step.round}  {known[step.cell].row}, {known[step.cell].column}"
            + (f"  ({step.purpose})" if step.purpose is not Purpose.SCREEN else "")
            for step in steps
        ]
    return rows


def _what(steps: Sequence[Step], known: dict[str, SweepCell]) -> str:
    cell = known[steps[0].cell]
    slow = [f"{one.key}={one.value}" for one in cell.settings if one.slow]
    return ", ".join([units.plural(len(steps), "step"), *slow, *cell.needs])


def _cells(design: Design) -> list[str]:
    columns = list(dict.fromkeys(cell.column for cell in design.cells))
    there = {(cell.row, cell.column) for cell in design.cells}
    rows = list(dict.fromkeys(cell.row for cell in design.cells))
    if len(columns) > len(rows):  # the longer side goes down
        headed = (Column(title="Workload"), *(Column(title=row) for row in rows))
        body = [(one, *(_runs(design, (row, one) in there) for row in rows)) for one in columns]
    else:
        headed = (Column(title="Set-up"), *(Column(title=column) for column in columns))
        body = [(row, *(_runs(design, (row, one) in there) for one in columns)) for row in rows]
    return table(headed, body)


def _runs(design: Design, there: bool) -> str:
    return units.plural(design.repeats, "run") if there else "-"


def _times(key: str, target: str, times: int, slow: bool) -> str:
    how = " (the array is created again, or reshaped)" if slow else ""
    return f"{key} of {target} changes {units.plural(times, 'time')}{how}."


def step_line(record: SweepRecord, session: Session) -> str:
    """The step that ended last, in one line."""
    ended = record.ended[-1]
    step = next(step for step in record.steps if step.number == ended.step)
    cell = record.cell(step.cell)
    what = f"{step.number}/{len(record.steps)}  {cell.row}, {cell.column}"
    run = session.run(ended.run) if ended.run else None
    if run is None or ended.result is not StepResult.DONE:
        return f"{what}: {ended.result}. {clean(ended.reason, 300)}".rstrip()
    parts = [f"{units.iops(figures.iops)} IOPS {name}" for name, figures in both_directions(run.figures)]
    return f"{what}: {', '.join(parts)}"


def result_lines(record: SweepRecord, found: Results) -> list[str]:
    """What was found: the matrix, a ranking of each workload, what was confirmed, failed or left out."""
    width = terminal_width()
    tables = (*filter(None, (matrix_table(record, found),)), *rankings(found))
    blocks = (*(fitted_lines(each, width) for each in tables), *map(fact_lines, finding_facts(record, found)))
    return [row for block in blocks for row in (*block, "")][:-1]
