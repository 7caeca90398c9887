"""Texts and tables about changes that are planned, applied, in force, or undone. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from app.core.presentation.risk_text import effect_text, kept_text, outcome_cell, risk_cell
from app.core.presentation.setting import NOT_REPORTED
from app.core.presentation.table import Cell, Column, FactLine, Facts, Row, Table
from app.core.session.unit_labels import setting_label, value_text, within_sentence
from backends.settings import UNCONFIRMED, Risk, is_understood
from backends.units import text_in_unit
from widgets.text_utils import units

if TYPE_CHECKING:
    from app.core.session.event_types import MovedSetting
    from app.core.session.events import ChangeEnded
    from app.core.session.state import ChangeRecord
    from backends.change import Change, ChangeStep
    from backends.model import Target

_MOST_DEPENDENTS = 8
"""Maximum number of dependents that a sentence names."""

NOT_UNDOABLE = "cannot be undone"
"""Text shown instead of the undo command of a change that cannot be undone."""


def change_value_text(change: Change, text: str | None) -> str:
    """Return `text`, a value of the changed setting, for display: its label if it has one, else with its unit."""
    return NOT_REPORTED if text is None else change.words.get(text) or text_in_unit(text, change.unit)


def old_text(change: Change) -> str:
    """Return the value before the change."""
    return change_value_text(change, change.before)


def new_text(change: Change) -> str:
    """Return the value that the change sets."""
    return change_value_text(change, change.after)


def subject_text(change: Change) -> str:
    """Return the setting and its target: `Read-ahead of block:sda`."""
    return f"{change.label} of {change.target}"


def change_text(change: Change) -> str:
    """Return setting, target, and old and new value: `Read-ahead of block:sda: 128 KiB -> 512 KiB`."""
    return f"{subject_text(change)}: {old_text(change)} -> {new_text(change)}"


def change_clause(change: Change, names: Mapping[Target, str]) -> str:
    """Return a change as a clause, `read-ahead of ssd (none → adaptive)`. `names`: display names of the targets."""
    of = names.get(change.target, str(change.target))
    return f"{within_sentence(change.label)} of {of} ({old_text(change)} → {new_text(change)})"


def end_value_text(record: ChangeRecord) -> str:
    """Return the value that was read after a change; if the change has not ended, the requested value."""
    return new_text(record.change) if record.end is None else change_value_text(record.change, record.end.now)


def command_lines(change_steps: Iterable[ChangeStep]) -> tuple[str, ...]:
    """Return the steps of a change as command lines."""
    return tuple(write.shown() for write in change_steps)


def planned_table(changes: Sequence[Change]) -> Table:
    """Return the table of changes that are not applied yet."""
    columns = ("Target", "Setting", "Now", "New", "Takes effect", "Lasts", "Risk")
    return Table(
        columns=tuple(Column(title=title) for title in columns),
        rows=tuple(
            Row(
                cells=(
                    str(change.target),
                    change.label,
                    old_text(change),
                    new_text(change),
                    effect_text(change.effect, change.target.scope),
                    kept_text(change.persistence),
                    risk_cell(change.risk),
                )
            )
            for change in changes
        ),
    )


_NO_PRESENT = "The current value is not reported or not understood, so it cannot be restored afterwards."


def unknown_value_texts(changes: Iterable[Change]) -> tuple[str, ...]:
    """Return a sentence for each change whose current value is unknown."""
    return tuple(f"{subject_text(change)}: {_NO_PRESENT}" for change in changes if not is_understood(change.before))


def risk_texts(changes: Iterable[Change]) -> tuple[str, ...]:
    """Return a sentence for each risk of these changes, without duplicates.

    A change also gets a sentence if it is not confirmed on hardware, or if its current value is not understood.
    """
    lines = [
        f"{change.label}: {sentence}"
        for change in changes
        for sentence, holds in (
            (change.risk_text or risk_cell(change.risk).text, change.risk is not Risk.NONE),
            (UNCONFIRMED, not change.confirmed),
            (_NO_PRESENT, not is_understood(change.before)),
        )
        if holds
    ]
    return tuple(dict.fromkeys(lines))


def _labels_text(keys: Iterable[str]) -> str:
    return ", ".join(within_sentence(setting_label(key)) for key in keys)


def side_effect_texts(changes: Iterable[Change]) -> tuple[str, ...]:
    """Return a sentence for each change that may also change other settings."""
    lines = [
        f"Changing {change.label} may also change: {_labels_text(change.moves)}." for change in changes if change.moves
    ]
    lines += [
        f"Changing {change.label} may also change settings of the Linux block device:"
        f" {_labels_text(change.moves_disk)}."
        for change in changes
        if change.moves_disk
    ]
    lines += [
        f"{subject_text(change)} also changes on {', '.join(change.also)}, which inherit it."
        for change in changes
        if change.also
    ]
    return tuple(dict.fromkeys(lines))


def dependents_texts(changes: Iterable[Change]) -> tuple[str, ...]:
    """Return sentences that name the dependents of the targets of planned changes.

    Targets with equal dependents share a sentence.
    """
    targets_by_dependents: dict[tuple[str, ...], list[str]] = {}
    for change in changes:
        if change.above and str(change.target) not in targets_by_dependents.setdefault(change.above, []):
            targets_by_dependents[change.above].append(str(change.target))
    is_single = len(targets_by_dependents) == 1
    return tuple(
        f"Dependents{'' if is_single else ' of ' + ', '.join(addresses)}: {dependents_text(dependents)}."
        for dependents, addresses in targets_by_dependents.items()
    )


def dependents_text(dependents: Sequence[str]) -> str:
    """Return a list of dependents: `vg0/db, vg0/mail, mounted on /srv`.

    If there are many, the list names some and counts the rest.
    """
    return units.first_of(dependents, _MOST_DEPENDENTS)


def undoable_table(records: Iterable[ChangeRecord]) -> Table:
    """Return the table of changes that can be undone, in the order of `records`."""
    return _changes_table(
        records, {"Set to": _wanted_value_text, ("Old value"): lambda record: old_text(record.change)}
    )


def _wanted_value_text(record: ChangeRecord) -> str:
    """Return the value that a change put in force; if the controller may apply it later, the requested value."""
    return new_text(record.change) if record.may_apply_late else end_value_text(record)


def changes_table(records: Iterable[ChangeRecord]) -> Table:
    """Return the table of the changes of a session with their outcomes."""
    return _changes_table(
        records,
        {
            "Value": lambda record: f"{old_text(record.change)} to {new_text(record.change)}",
            "Outcome": lambda record: "no outcome" if record.end is None else outcome_cell(record.end.result),
            "Steps": lambda record: "; ".join(command_lines(record.change.writes)),
        },
    )


def _changes_table(
    records: Iterable[ChangeRecord], extra_columns: Mapping[str, Callable[[ChangeRecord], str | Cell]]
) -> Table:
    """Return a table with a row for each change: id, time, target, setting and `extra_columns`.

    `extra_columns`: a function for each further column, by its heading; it returns the cell of a change.
    """
    return Table(
        columns=tuple(Column(title=title) for title in ("Change", "When", "Target", "Setting", *extra_columns)),
        rows=tuple(
            Row(
                key=record.id,
                cells=(
                    record.id,
                    units.moment(record.intent.at),
                    str(record.change.target),
                    record.change.label,
                    *(cell_of(record) for cell_of in extra_columns.values()),
                ),
            )
            for record in records
        ),
    )


def change_facts(record: ChangeRecord) -> Facts:
    """Return all facts of a change that was applied."""
    intent, change, end = record.intent, record.change, record.end
    fact_lines = [FactLine("Started", units.moment(intent.at))]
    if end is None:
        fact_lines.append(FactLine("Outcome", "no outcome: raidbench ended before it could record the outcome"))
    else:
        outcome = outcome_cell(end.result)
        fact_lines += [
            FactLine("Ended", f"{units.moment(end.at)}, {units.duration(max(0.0, end.at - intent.at))} later"),
            FactLine("Outcome", outcome.text, outcome.tone),
            FactLine("Value afterwards", end_value_text(record)),
            *([FactLine("Message", end.message)] if end.message else []),
            *(FactLine("Also changed", text) for text in moved_texts(end, change.label)),
        ]
    risk = risk_cell(change.risk)
    fact_lines += [FactLine("Risk", risk.text, risk.tone)] if change.risk is not Risk.NONE else []
    fact_lines += [FactLine("Dependents", dependents_text(change.above))] if change.above else []
    fact_lines.append(FactLine("Lasts", kept_text(change.persistence)))
    fact_lines += [FactLine("Undoes", intent.undoes)] if intent.undoes else []
    if record.undone_by:
        fact_lines.append(FactLine("Undone by", "itself" if record.undone_by == record.id else record.undone_by))
    heading = f"{record.id}: {subject_text(change)}, {old_text(change)} to {new_text(change)}"
    return Facts(heading=heading, facts=tuple(fact_lines))


def change_outcome_cell(change: Change, ended: ChangeEnded, *, on_trial: bool = False) -> Cell:
    """Return the outcome of a change in a few words.

    `on_trial`: whether the change is reverted unless the user confirms it.
    """
    cell = outcome_cell(ended.result)
    match ended.result:
        case "verified" if on_trial:
            return replace(cell, text="verified, on trial")
        case "differs":
            return replace(cell, text=f"differs: now {change_value_text(change, ended.now)}")
        case _:
            return cell


def end_text(change: Change, ended: ChangeEnded) -> str:
    """Return the value that was read after the change, with the message of the tool or of raidbench if there is one."""
    now = change_value_text(change, ended.now)
    return f"{now}  ({ended.message})" if ended.message else now


def moved_texts(ended: ChangeEnded, cause: str = "") -> tuple[str, ...]:
    """Return a sentence for each setting that a change altered as a side effect.

    `cause`: key of the changed setting.
    """
    return tuple(_moved_text(setting, cause) for setting in ended.moved or ())


def moved_name(name: str) -> str:
    """Return the label of a moved setting, recorded as `KEY` or `KEY of TARGET`, such as `FastPath of megaraid:/c0`."""
    key, of, target = name.partition(" of ")
    return f"{setting_label(key)}{of}{target}"


def movement_text(name: str, movement: str) -> str:
    """Return the recorded movement `0 -> 2` of a setting, named `KEY` or `KEY of TARGET`, with readable values."""
    key = name.partition(" of ")[0]
    values = (NOT_REPORTED if value == str(None) else value_text(key, value) for value in movement.split(" -> "))
    return " -> ".join(values)


def _moved_text(setting: MovedSetting, cause: str) -> str:
    values = (NOT_REPORTED if text is None else value_text(setting.key, text) for text in (setting.before, setting.now))
    move = f"{setting_label(setting.key)} of {setting.target} also changed: {' -> '.join(values)}"
    if setting.restored:
        return f"{move} (restored)"
    if setting.explained:
        return f"{move} (a side effect of {cause or 'the change'})"
    return f"{move} (not a known side effect: another program changed it, so it is left unchanged)"


def kept_setting_text(change: Change, ended: ChangeEnded) -> str:
    """Return the label of a setting whose trial was confirmed; with its value if that differs from the trial value."""
    return f"{change.label} is now {end_text(change, ended)}" if ended.message else change.label


def trial_end_text(all_back: bool) -> str:
    """Return a clause about a trial that ended at its deadline. `all_back`: whether all old values were restored."""
    return (
        ("the old values were restored") if all_back else "not all old values were restored; see the log of the session"
    )


def in_force_text(record: ChangeRecord) -> str:
    """Return a sentence about a change that is still in force."""
    change = record.change
    was = f"{end_value_text(record)} (was {old_text(change)}), {kept_text(change.persistence)}"
    return f"{record.id}: {subject_text(change)} is {was}."
