"""The Sweep screen before a sweep: rows of the axes, the plan, and the confirmation dialog. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from app.core.presentation.risk_text import ConfirmationLevel, confirmation_level, risk_cell
from app.core.session.sweep_steps import Assignment, Design
from app.features.sweep.engine.estimate import switches
from app.features.sweep.engine.plan import JobAxis, SweepPlan
from app.features.sweep.engine.risk_assessment import RiskAssessment
from app.features.sweep.presentation.plan import order_facts, plan_facts, time_text
from app.features.sweep.screen.draft import Draft, DraftAxis, DraftValue
from app.tui import render
from app.tui.devices.staged_changes import TIERS
from backends.device_label import confirm_token, labels_title
from backends.settings import Risk
from backends.units import text_in_unit
from widgets.confirm import Confirmation, PlannedChange
from widgets.details import FactGroup
from widgets.keyed_table import TableCell, TableColumn, TableRow
from widgets.text_utils.symbols import CLOSED, OPENED

AXIS_COLUMNS = (TableColumn(key="name", label="Axis"), TableColumn(key="values", label="Values"))
"""Columns of the list of axes."""

JOINT = "|"
"""Separator between an axis and a value in the key of a row."""

OTHER = "|other"
"""Suffix that makes an axis key the key of the row that asks for other values."""

STEPS_SHOWN = 40
"""Maximum number of steps that the plan lists."""


def axis_rows(
    axes: Sequence[DraftAxis], draft: Draft, opened: frozenset[str], *, folded: bool = False
) -> tuple[TableRow, ...]:
    """Return a row for every axis, and a row for every value of the axes in `opened`; `folded` hides unchosen axes."""
    rows: list[TableRow] = []
    shown = [axis for axis in axes if not folded or axis.key in draft.ticked]
    for group, members in groupby(shown, key=lambda axis: axis.group):
        rows.append(TableRow(key=f"group:{group}", cells=(group,), separator=True))
        for axis in members:
            rows.append(_axis_row(axis, draft, opened=axis.key in opened))
            if axis.key in opened and not axis.why_not:
                rows += _value_rows(axis, draft)
    return tuple(rows)


BY_LIST = "Choose one in the list of targets."
"""How a user of the screens names the target of a role."""


def fold_text(axes: Sequence[DraftAxis], draft: Draft, *, folded: bool) -> str:
    """Return a note that says how many axes are selected, and which key hides or shows the others; "" if none are."""
    chosen = sum(axis.key in draft.ticked for axis in axes)
    others = len(axes) - chosen
    if not chosen:
        return ""
    return (
        f"{others} not selected, <sweep.fold> shows them"
        if folded
        else (f"{chosen} of {len(axes)} selected, <sweep.fold> hides the others")
    )


def _axis_row(axis: DraftAxis, draft: Draft, *, opened: bool) -> TableRow:
    chosen = draft.chosen(axis)
    labels = {value.value: value.label for value in axis.values}
    sign = (OPENED if opened and not axis.why_not else CLOSED).char
    if axis.why_not:
        return TableRow(key=axis.key, cells=(f"  {axis.label}", "not available"), dim=True)
    text = ", ".join(labels.get(value, text_in_unit(value, axis.unit)) for value in chosen)
    now = next((value.label for value in axis.values if value.now), "")
    cell = TableCell(text=text, tone="accent") if text else TableCell(text=now, tone="muted")
    return TableRow(key=axis.key, cells=(f"{sign} {axis.label}", cell))


def _value_rows(axis: DraftAxis, draft: Draft) -> list[TableRow]:
    offered = {value.value for value in axis.values}
    typed = (
        DraftValue(value=text, label=text_in_unit(text, axis.unit))
        for text in draft.chosen(axis)
        if text not in offered
    )
    on, off = ("(x)", "( )") if axis.single else ("[x]", "[ ]")
    rows = []
    for value in (*axis.values, *typed):
        risk = risk_cell(value.risk)
        parts = [*(["now"] if value.now else []), *([risk.text] if value.risk is not Risk.NONE else [])]
        cell = TableCell(text=", ".join(parts), tone=render.TONES[risk.tone] or "muted")
        box = on if draft.has(axis, value.value) else off
        rows.append(TableRow(key=f"{axis.key}{JOINT}{value.value}", cells=(f"  {box} {value.label}", cell)))
    if axis.free:
        rows.append(
            TableRow(key=f"{axis.key}{OTHER}", cells=("  ... others", TableCell(text="Enter to edit", tone="muted")))
        )
    return rows


def file_rows(plan: SweepPlan, named: Mapping[str, str]) -> tuple[TableRow, ...]:
    """Return the rows of an opened plan: its targets, whose addresses the user can set, and its combinations."""
    rows = [TableRow(key="group:targets", cells=("Targets (enter sets one)",), separator=True)]
    for role, address in plan.targets.items():
        given = named.get(role, address)
        cell = TableCell(text=given or "not set", tone="accent" if given else "warning")
        rows.append(
            TableRow(key=f"role:{role}", cells=(f"{role}{' (measured)' if role == plan.measure else ''}", cell))
        )
    groups = (
        (
            "Configurations",
            [(setup.name, ", ".join(f"{key}={value}" for _, key, value in setup.settings)) for setup in plan.setups],
        ),
        ("Workloads", [(workload.name, workload.profile or "") for workload in plan.workloads]),
        (
            "Axes",
            [(axis.job if isinstance(axis, JobAxis) else axis.setting, ", ".join(axis.values)) for axis in plan.axes],
        ),
    )
    for heading, listed in groups:
        if listed:
            rows.append(TableRow(key=f"group:{heading}", cells=(heading,), separator=True))
            rows += [TableRow(key=f"fact:{heading}:{name}", cells=(name, text)) for name, text in listed]
    return tuple(rows)


def plan_groups(assessment: RiskAssessment, speed: float | None = None) -> tuple[FactGroup, ...]:
    """Return the facts of the plan, the most important ones first, and the first `STEPS_SHOWN` steps."""
    return render.groups((*plan_facts(assessment, speed), *order_facts(assessment.design, STEPS_SHOWN)))


def question(
    assessment: RiskAssessment, commands: Sequence[tuple[str, ...] | str], speed: float | None = None
) -> Confirmation:
    """Return the confirmation dialog, with the strictest confirmation that any step needs."""
    design = assessment.design
    title = f"Sweep: {design.title}"
    if assessment.refused:
        reasons = tuple(filter(None, (*assessment.refused, assessment.hint)))
        return Confirmation(title=title, tier="refused", reasons=reasons)
    destroys = assessment.risk is Risk.DESTROYS_DATA
    lost = tuple(f"{destroy.shown}: {value}" for destroy in design.destroys for value in destroy.found)
    blank = tuple(f"{destroy.shown}: no known data" for destroy in design.destroys if not destroy.found)
    overwritten = tuple(f"{destroy.shown} is overwritten. There is no undo." for destroy in design.destroys)
    if design.making is not None:
        lost += tuple(f"{drive.place}: {mark}" for drive in design.making.drives for mark in drive.lies)
        overwritten += ("Arrays are created on these drives and deleted again. There is no undo.",)
        commands = (*commands, *(line for array in design.making.arrays for line in array.steps))
    return Confirmation(
        title=title,
        tier=TIERS[confirmation_level(assessment.risk)],
        summary=f"{time_text(design, speed)}. The sweep runs in the background, even if this terminal closes. All"
        " settings are restored at the end, also after a stop or a failure.",
        changes=tuple(_change(design, setting) for setting, _ in switches(design)),
        commands=tuple(commands),
        risks=(*overwritten, *assessment.wear, *assessment.risks),
        evidence=(*lost, *blank) if destroys else (),
        devices=()
        if confirmation_level(assessment.risk) is ConfirmationLevel.HARMLESS
        else tuple(sentence for plate in assessment.plates for sentence in plate.sentences),
        devices_title=labels_title(assessment.plates),
        required=confirm_token(assessment.plates) if destroys else "",
        apply_label="Start",
    )


def _change(design: Design, before: Assignment) -> PlannedChange:
    values = dict.fromkeys(
        setting.value
        for cell in design.cells
        for setting in cell.settings
        if (setting.key, setting.target) == (before.key, before.target)
    )
    return PlannedChange(setting=before.key, before=before.value, after=", ".join(values), undo="automatic at the end")
