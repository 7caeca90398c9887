"""A sweep before it begins, as the Sweep screen shows it: what may be ticked, the plan it makes, the question. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from app.engine.session.sweep_steps import Design, Purpose, SweepCell
from app.engine.sweep.estimate import switches
from app.engine.sweep.plan import JobAxis, SweepPlan
from app.engine.sweep.survey import Survey
from app.engine.view.effects import risk_cell, tier
from app.engine.view.sweep_findings import left_out
from app.tui import render
from app.tui.screens.devices.rows import TIERS
from app.tui.screens.sweep.draft import Draft, DraftAxis
from backends.model import Target
from backends.settings import Risk
from widgets.confirm import Confirmation, PlannedChange
from widgets.details import Detail, FactGroup
from widgets.keyed_table import TableCell as TableCell
from widgets.keyed_table import TableColumn, TableRow
from widgets.plain import units
from widgets.table_layout import Tone

AXIS_COLUMNS = (TableColumn(key="name", label="Axis"), TableColumn(key="values", label="Values"))
"""Of the list of what may be ticked."""

JOINT = "|"
"""Between an axis and one of its values in the key of a row."""

OTHER = "|other"
"""Ends the key of the row that takes typed values."""

STEPS_SHOWN = 40
"""Steps of the order that are listed."""


def axis_rows(axes: Sequence[DraftAxis], draft: Draft, opened: frozenset[str]) -> tuple[TableRow, ...]:
    """A row for every axis, below an opened one a row for every value."""
    rows: list[TableRow] = []
    for group, members in groupby(axes, key=lambda axis: axis.group):
        rows.append(TableRow(key=f"group:{group}", cells=(group,), separator=True))
        for axis in members:
            rows.append(_axis_row(axis, draft, opened=axis.key in opened))
            if axis.key in opened and not axis.why_not:
                rows += _value_rows(axis, draft)
    return tuple(rows)


def _axis_row(axis: DraftAxis, draft: Draft, *, opened: bool) -> TableRow:
    chosen = draft.chosen(axis)
    labels = {one.value: one.label for one in axis.values}
    sign = "-" if opened and not axis.why_not else "+"
    if axis.why_not:
        return TableRow(key=axis.key, cells=(f"  {axis.label}", "not here"), dim=True)
    words = ", ".join(labels.get(value, value) for value in chosen)
    now = next((one.label for one in axis.values if one.now), "")
    told = TableCell(text=words, tone="accent") if words else TableCell(text=now, tone="muted")
    return TableRow(key=axis.key, cells=(f"{sign} {axis.label}", told))


def _value_rows(axis: DraftAxis, draft: Draft) -> list[TableRow]:
    typed = [value for value in draft.chosen(axis) if value not in {one.value for one in axis.values}]
    listed = [(one.value, one.label, one.now, one.risk) for one in axis.values]
    listed += [(value, value, False, Risk.NONE) for value in typed]
    rows = []
    for value, label, now, risk in listed:
        on, off = ("(x)", "( )") if axis.single else ("[x]", "[ ]")
        box = on if draft.has(axis, value) else off
        words = [*(["now"] if now else []), *([risk_cell(risk).text] if risk is not Risk.NONE else [])]
        tone: Tone = render.TONES[risk_cell(risk).tone] or "muted"
        rows.append(
            TableRow(
                key=f"{axis.key}{JOINT}{value}",
                cells=(f"  {box} {label}", TableCell(text=", ".join(words), tone=tone)),
            )
        )
    if axis.free:
        rows.append(
            TableRow(key=f"{axis.key}{OTHER}", cells=("  ... others", TableCell(text="enter types", tone="muted")))
        )
    return rows


def file_rows(plan: SweepPlan, named: Mapping[str, str]) -> tuple[TableRow, ...]:
    """A plan that was opened: its targets, which may be named here, and what it combines."""
    rows = [TableRow(key="group:targets", cells=("Targets (enter names one)",), separator=True)]
    for role, address in plan.targets.items():
        given = named.get(role, address)
        told = TableCell(text=given or "not named", tone="accent" if given else "warning")
        rows.append(
            TableRow(key=f"role:{role}", cells=(f"{role}{' (measured)' if role == plan.measure else ''}", told))
        )
    groups = (
        ("Set-ups", [(one.name, ", ".join(f"{key}={value}" for _, key, value in one.settings)) for one in plan.setups]),
        ("Workloads", [(one.name, one.profile or "") for one in plan.workloads]),
        (
            "Axes",
            [(axis.job if isinstance(axis, JobAxis) else axis.setting, ", ".join(axis.values)) for axis in plan.axes],
        ),
    )
    for heading, listed in groups:
        if listed:
            rows.append(TableRow(key=f"group:{heading}", cells=(heading,), separator=True))
            rows += [TableRow(key=f"fact:{heading}:{name}", cells=(name, words)) for name, words in listed]
    return tuple(rows)


def time_words(design: Design, speed: float | None) -> str:
    """`36 steps, about 47 min`."""
    took = f"{units.plural(len(design.steps), 'step')}, about {units.duration(design.seconds)}"
    return took if speed in (None, 1.0) else f"{took} (simulated {speed:g} times as fast)"


def plan_facts(surveyed: Survey, speed: float | None = None) -> tuple[FactGroup, ...]:
    """All that will be done, the most important first."""
    design = surveyed.design
    rows = len({cell.row for cell in design.cells})
    columns = len({cell.column for cell in design.cells})
    more = f", then up to {2 * design.pairs} more for each winner" if design.pairs else ""
    plan = [
        Detail(
            label="Cells",
            value=f"{len(design.cells)}: {units.plural(rows, 'set-up')}, {units.plural(columns, 'workload')}",
        ),
        Detail(label="Steps", value=f"{time_words(design, speed)}{more}"),
        Detail(label="Each", value=f"{units.plural(design.repeats, 'run')}, best by {design.rank}, seed {design.seed}"),
    ]
    groups = [FactGroup(heading="Plan", facts=tuple(plan)), *_danger(surveyed)]
    changes = tuple(
        Detail(
            label=one.setting.key,
            value=f"{units.plural(one.times, 'time')} on {one.setting.target}"
            + (", created again or reshaped" if one.setting.slow else "")
            + f"; at the end {one.setting.value} again",
        )
        for one in switches(design)
    )
    if changes:
        groups.append(FactGroup(heading="Changes, all put back", facts=changes))
    for feature in design.features:
        if not feature.active:
            how = "the simulated host restarts for it" if feature.key else "a key and a restart on the way"
            groups.append(FactGroup(facts=(Detail(label=feature.name, value=f"not active: {how}", tone="warning"),)))
    if design.skipped:
        groups += render.groups((left_out(design),))
    groups.append(FactGroup(heading="Order", facts=_order(design)))
    return tuple(groups)


def _danger(surveyed: Survey) -> list[FactGroup]:
    """What is refused, what is destroyed, what is risked."""
    groups = []
    if surveyed.refused:
        facts = [
            Detail(label="", value=sentence, tone="bad") for sentence in (*surveyed.refused, surveyed.hint) if sentence
        ]
        groups.append(FactGroup(heading="REFUSED", facts=tuple(facts)))
    if surveyed.design.destroys:
        lost = [
            Detail(label=one.device, value=f"ALL DATA LOST: {_destroying(surveyed.design)}", tone="bad")
            for one in surveyed.design.destroys
        ]
        lost += [Detail(label="", value=f"  {found}") for one in surveyed.design.destroys for found in one.found]
        groups.append(FactGroup(heading="DESTROYS DATA (asked once)", facts=tuple(lost)))
    if surveyed.risks:
        groups.append(
            FactGroup(
                heading="Risks", facts=tuple(Detail(label="", value=each, tone="warning") for each in surveyed.risks)
            )
        )
    return groups


def _destroying(design: Design) -> str:
    """Which steps destroy."""
    known = {cell.id: cell for cell in design.cells}
    before = {(one.target, one.key): one.value for one in design.originals}
    steps = [step.number for step in design.steps if _destroys(known[step.cell], before)]
    if len(steps) == len(design.steps):
        return "by every step"
    shown = ", ".join(map(str, steps[:6])) + (", ..." if len(steps) > 6 else "")
    return f"by steps {shown}" if steps else "on the way"


def _destroys(cell: SweepCell, before: Mapping[tuple[Target, str], str]) -> bool:
    writes = "write" in cell.job.get("rw", "") or cell.job.get("rw") in ("rw", "randrw")
    return writes or any(one.slow and before.get((one.target, one.key)) != one.value for one in cell.settings)


def _order(design: Design) -> tuple[Detail, ...]:
    """Block by block what is done, as far as anybody reads."""
    known = {cell.id: cell for cell in design.cells}
    facts = []
    for step in design.steps[:STEPS_SHOWN]:
        cell = known[step.cell]
        again = f" ({step.purpose})" if step.purpose is not Purpose.SCREEN else ""
        where = f"block {step.block + 1}, " if design.steps[-1].block else ""
        facts.append(
            Detail(label=f"{step.number:>3}", value=f"{cell.row}; {cell.column}{again}  {where}round {step.round}")
        )
    if len(design.steps) > STEPS_SHOWN:
        facts.append(Detail(label="", value=f"... and {len(design.steps) - STEPS_SHOWN} more", tone="muted"))
    return tuple(facts)


def question(surveyed: Survey, commands: Sequence[tuple[str, ...] | str], speed: float | None = None) -> Confirmation:
    """The dialog before it begins; the strictest that any of its steps asks for."""
    design = surveyed.design
    title = f"Sweep: {design.title}"
    if surveyed.refused:
        reasons = tuple(filter(None, (*surveyed.refused, surveyed.hint)))
        return Confirmation(title=title, tier="refused", reasons=reasons)
    destroys = surveyed.risk is Risk.DESTROYS_DATA
    lost = tuple(f"{one.device}: {found}" for one in design.destroys for found in one.found)
    blank = tuple(f"{one.device}: nothing is known to lie on it" for one in design.destroys if not one.found)
    return Confirmation(
        title=title,
        tier=TIERS[tier(surveyed.risk)],
        summary=f"{time_words(design, speed)}. It runs in the background, whatever becomes of this terminal; "
        "every setting is put back at the end, also after a stop or a failure.",
        changes=tuple(
            _change(design, one.setting.key, str(one.setting.target), one.setting.value) for one in switches(design)
        ),
        commands=tuple(commands),
        risks=(*(f"{one.device} is overwritten. There is no undo." for one in design.destroys), *surveyed.risks),
        evidence=(*lost, *blank) if destroys else (),
        required=surveyed.name if destroys else "",
        apply_label="Begin",
    )


def _change(design: Design, key: str, target: str, before: str) -> PlannedChange:
    values = dict.fromkeys(
        one.value for cell in design.cells for one in cell.settings if (one.key, str(one.target)) == (key, target)
    )
    return PlannedChange(setting=key, before=before, after=", ".join(values), undo="by itself at the end")
