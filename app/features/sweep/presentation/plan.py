"""The plan of a sweep before it starts as facts and tables: steps, data loss, risks, time and order. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from app.core.analysis.stats import THRESHOLD_PERCENT
from app.core.fio.job import Job
from app.core.presentation.labels import (
    cell_with_labels,
    design_with_labels,
    key_name,
    key_value,
    setting_text,
    workload_label,
)
from app.core.presentation.noise_text import cells_noise_text
from app.core.presentation.table import Column, FactLine, Facts, Row, Table, Tone
from app.core.session.sweep_steps import Design, Purpose, Step, SweepCell
from app.features.sweep.engine.estimate import later_runs, switches
from app.features.sweep.engine.risk_assessment import RiskAssessment
from app.features.sweep.engine.verdicts import UnderpoweredSetups, underpowered_setups
from app.features.sweep.presentation.arrays import array_plan_facts
from app.features.sweep.presentation.findings import left_out_facts, sentence_lines
from backends.model import Target
from widgets.text_utils import units


def time_text(design: Design, speed: float | None) -> str:
    """Return a string such as `36 steps, about 47 min`; `speed` is the speed-up of a simulation."""
    extra_runs = later_runs(design)
    searched = "the saturation and the curve" if design.curve is not None else "the saturation"
    more = f", then up to {extra_runs} more for {searched}" if extra_runs else ""
    duration = f"{units.plural(len(design.steps), 'step')}{more}, about {units.duration(design.seconds)}"
    return duration if speed in (None, 1.0) else f"{duration} (simulated {speed:g} times as fast)"


def plan_facts(assessment: RiskAssessment, speed: float | None = None) -> tuple[Facts, ...]:
    """Return the plan without the order of its steps, the most important facts first."""
    design = assessment.design
    groups = (
        Facts(heading="Plan", facts=tuple(_plan(design, speed))),
        Facts(heading="Noise", facts=tuple(_noise(assessment))),
        Facts(heading="REFUSED", facts=sentence_lines((*assessment.refused, assessment.hint), Tone.BAD)),
        *array_plan_facts(design),
        Facts(heading="DESTROYS DATA (asked once)", facts=tuple(_data_loss_lines(design))),
        Facts(heading="Wear", facts=sentence_lines(assessment.wear, Tone.ATTENTION)),
        Facts(heading="Risks", facts=sentence_lines(assessment.risks, Tone.ATTENTION)),
        Facts(heading="Changes, all restored", facts=tuple(_changes(design))),
        Facts(heading="Not active", facts=tuple(_inactive_lines(design))),
        left_out_facts(design_with_labels(design)),
    )
    return tuple(group for group in groups if group.facts)


def cells_table(design: Design) -> Table:
    """Return a table of the measured combinations with their runs.

    The rows are set-ups or workloads, whichever there are more of.
    """
    design = design_with_labels(design)
    rows, columns = _axis_names(design)
    turned = len(columns) > len(rows)
    down, across = (columns, rows) if turned else (rows, columns)
    measured = {(cell.column, cell.row) if turned else (cell.row, cell.column) for cell in design.cells}
    runs = units.plural(design.repeats, "run")
    return Table(
        columns=(Column(title="Workload" if turned else "Configuration"), *(Column(title=head) for head in across)),
        rows=tuple(
            Row(cells=(side, *(runs if (side, head) in measured else units.NOTHING for head in across)))
            for side in down
        ),
    )


def _axis_names(design: Design) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return two tuples: the names of all set-ups, and the names of all workloads."""
    rows = dict.fromkeys(cell.row for cell in design.cells)
    columns = dict.fromkeys(cell.column for cell in design.cells)
    return tuple(rows), tuple(columns)


def order_facts(design: Design, most: int | None = None) -> tuple[Facts, ...]:
    """Return the steps in their order, grouped by block; with `most`, only the first `most` steps."""
    cells = {cell.id: cell_with_labels(cell) for cell in design.cells}
    groups = []
    for number, grouped in groupby(design.steps[:most], key=lambda step: step.block):
        steps = list(grouped)
        count = sum(step.block == number for step in design.steps)
        facts = tuple(FactLine(str(step.number), _step_text(step, cells)) for step in steps)
        groups.append(Facts(heading=f"Block {number + 1}: {_block_text(count, cells[steps[0].cell])}", facts=facts))
    left = len(design.steps) - len(design.steps[:most])
    if left:
        groups.append(Facts(facts=(FactLine("", f"... and {left} more", Tone.DIM),)))
    return tuple(groups)


def _plan(design: Design, speed: float | None) -> Iterator[FactLine]:
    yield from (FactLine(role, address) for role, address in design.targets.items())
    rows, columns = _axis_names(design)
    sides = f"{units.plural(len(rows), 'set-up')}, {units.plural(len(columns), 'workload')}"
    yield FactLine("Cells", f"{len(design.cells)}: {sides}")
    recreation = ", each on a re-created array if two arrays are compared" if design.making is not None else ""
    more = f", then up to {2 * design.pairs} more for each winner{recreation}" if design.pairs else ""
    yield FactLine("Steps", f"{time_text(design, speed)}{more}")
    threshold = design.threshold_percent or THRESHOLD_PERCENT
    within = "" if threshold == THRESHOLD_PERCENT else f", differences within +-{threshold:g} % count as no difference"
    yield FactLine("Each", f"{units.plural(design.repeats, 'run')}, best by {design.rank}, seed {design.seed}{within}")
    if groups := underpowered_setups(design):
        yield FactLine("Verdicts", _blind_text(groups, design.pairs), Tone.ATTENTION)


def _blind_text(groups: Sequence[UnderpoweredSetups], pairs: int) -> str:
    """Return a message that says how many set-ups the matrix cannot distinguish, how many rounds would be enough, and
    how many `pairs` confirm the winner.
    """
    sizes = [str(setups) for setups in sorted({group.setups for group in groups})]
    listed = " or ".join(filter(None, (", ".join(sizes[:-1]), sizes[-1])))
    enough = max(group.enough for group in groups)
    runs = units.plural(groups[0].rounds, "run")
    text = f"{runs} of each of {listed} configurations cannot show a difference: {enough} can (repeats = {enough})"
    return f"{text}; the winner is confirmed by {pairs} fresh pairs" if pairs else text


def _noise(assessment: RiskAssessment) -> Iterator[FactLine]:
    """Yield a line for each workload with the scatter of its earlier runs, and one for the number of workloads with too
    few earlier runs.
    """
    design = assessment.design
    columns = dict.fromkeys(cell.column for cell in design.cells)
    for column in columns:
        noise = assessment.noise.get(column)
        if noise is not None:
            yield FactLine(workload_label(column), cells_noise_text(noise, design.repeats, design.pairs))
    left = len(columns) - len(assessment.noise)
    if left:
        subject = "" if not assessment.noise else f"{units.plural(left, 'other workload')}: "
        yield FactLine("", f"{subject}unknown; measure the run-to-run noise with `raidbench ab TARGET --null`")


def _changes(design: Design) -> Iterator[FactLine]:
    for setting, count in switches(design):
        slow = ", created again or reshaped" if setting.slow else ""
        times = f"{units.plural(count, 'time')} on {setting.target}{slow}"
        yield FactLine(
            key_name(setting.key), f"{times}; restored to {key_value(setting.key, setting.value)} at the end"
        )


def _inactive_lines(design: Design) -> Iterator[FactLine]:
    for feature in design.features:
        if not feature.active:
            how = (
                "the simulated host restarts to activate it"
                if feature.key
                else ("it needs a key and a restart during the sweep")
            )
            yield FactLine(feature.name, f"{feature.target}: {how}", Tone.ATTENTION)


def _data_loss_lines(design: Design) -> Iterator[FactLine]:
    by = _destroying_steps_text(design)
    for destroy in design.destroys:
        yield FactLine(destroy.shown, f"ALL DATA WILL BE LOST: {by}", Tone.BAD)
        yield from (FactLine("", f"  {value}") for value in destroy.found)


def _destroying_steps_text(design: Design) -> str:
    """Return a phrase that names the steps that destroy data, such as `by every step`."""
    cells = {cell.id: cell for cell in design.cells}
    before = {(original.target, original.key): original.value for original in design.originals}
    steps = [step.number for step in design.steps if _destroys_data(cells[step.cell], before)]
    if len(steps) == len(design.steps):
        return "by every step"
    shown = ", ".join(map(str, steps[:6])) + (", ..." if len(steps) > 6 else "")
    return f"by steps {shown}" if steps else "during the sweep"


def _destroys_data(cell: SweepCell, before: Mapping[tuple[Target, str], str]) -> bool:
    return Job.from_fields(cell.job).writes or any(
        setting.slow and before.get((setting.target, setting.key)) != setting.value for setting in cell.settings
    )


def _step_text(step: Step, cells: Mapping[str, SweepCell]) -> str:
    cell = cells[step.cell]
    again = f" ({step.purpose})" if step.purpose is not Purpose.SCREEN else ""
    return f"{cell.row}; {cell.column}{again}, round {step.round}"


def _block_text(steps: int, first: SweepCell) -> str:
    """Return the heading of a block: its number of steps, and their slow settings and features."""
    slow = [setting_text(setting.key, setting.value) for setting in first.settings if setting.slow]
    return ", ".join([units.plural(steps, "step"), *slow, *first.needs])
