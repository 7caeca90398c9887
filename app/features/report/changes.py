"""The machine, devices, changes and commands of a session as report blocks. No I/O."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from app.core.presentation import change as view
from app.core.presentation.device_table import devices_table
from app.core.presentation.labels import headed_values, key_name, key_value, with_value
from app.core.session.events import CommandRan, ProblemRecorded, RulePersisted, last_check
from app.core.session.state import ChangeRecord, Session
from app.core.session.unit_labels import value_text
from app.features.report.blocks import (
    Code,
    DefinitionList,
    Paragraph,
    ReportTable,
    Section,
    report_table,
    section,
)
from backends.model import Inventory, Target
from backends.sizes import size_words
from widgets.text_utils import units

# -- machine, findings and tested devices -----------------------------------------------------------------------------


def machine_facts(session: Session) -> DefinitionList:
    """Return the host, its operating system, and the versions of the programs that the session used."""
    return DefinitionList(pairs=tuple(_machine(session)))


def _machine(session: Session) -> Iterator[tuple[str, str]]:
    machine = session.machine
    yield "Session", f"{session.id}, begun {units.moment(session.started)}"
    if machine is not None:
        yield "Host", machine.host
        yield "Processor", f"{machine.cpu}, {units.plural(machine.cores, 'logical CPU')}"
        yield "Memory", size_words(machine.memory_bytes)
        yield "Kernel", machine.kernel
        yield "System", machine.system
        yield "Privileges", "root" if machine.root else "not root"
    versions = dict.fromkeys(run.start.fio_version for run in session.runs if run.start.fio_version)
    yield "Programs", ", ".join([f"raidbench {session.version}", *(f"fio {version}" for version in versions)])


def findings(session: Session) -> ReportTable | None:
    """Return a table with the findings of the session's last check, the most severe first; None without a check."""
    last = last_check(session.events)
    if last is None:
        return None
    rows = tuple(
        (finding.severity, finding.rule, finding.where, finding.message, finding.mends) for finding in last.findings
    )
    return ReportTable(columns=("Severity", "Rule", "Where", "Finding", "Fix"), rows=rows)


def devices(inventory: Inventory) -> ReportTable:
    """Return a table with each device of the inventory once."""
    return report_table(
        devices_table(inventory).only("address", "level", "kind", "size", "state", "model", "firmware", "use", "name")
    )


def tested_devices_table(session: Session) -> ReportTable:
    """Return a table with the identity, firmware and layout of the devices that the session measured or changed.

    The controllers and the members of these devices are included.
    """
    wanted = {str(target) for target in _concerned_targets(session)}
    shown = devices_table(session.inventory)
    rows = tuple(row for row in shown.rows if row.key in wanted)
    columns = ("address", "level", "kind", "model", "serial", "firmware", "size", "state", "device", "more", "name")
    return report_table(replace(shown, rows=rows).only(*columns))


def _concerned_targets(session: Session) -> set[Target]:
    """Return the targets that the session measured or changed, with their controllers and all nested members."""
    measured = [item for run in session.runs for item in run.start.all_targets]
    names = {name for item in measured for name in (item.target, item.device) if name}
    names |= {str(record.change.target) for record in session.changes}
    names |= {str(item.start.target) for item in session.experiments}
    inventory = session.inventory
    arrays = {array.target: array for array in inventory.arrays}
    targets = {item.target for item in inventory.devices if str(item.target) in names}
    targets |= {item.target for item in inventory.block_devices if item.device in names}
    targets -= set(inventory.twins)  # omit the kernel's second entry of a device
    waiting = list(targets)
    while waiting:
        array = arrays.get(waiting.pop())
        fresh = set(array.members) - targets if array is not None else set()
        targets |= fresh
        waiting += fresh
    members = (item for item in inventory.block_devices if item.target in targets)
    return targets | {item.controller for item in members if item.controller is not None}


# -- changes, reverts, and all commands that changed something --------------------------------------------------------

DETAILED = 12
"""Maximum number of changes that are listed with their commands. If there are more, a table is shown instead."""


def change_sections(session: Session) -> Iterator[Section]:
    """Yield a section for each change with its commands, or one section with a table if there are many changes."""
    changes = session.changes
    if len(changes) > DETAILED:
        yield from section("Changes", report_table(view.changes_table(changes)))
        return
    sections = [part for record in changes for part in _change(record)]
    yield from section(
        "Changes", Paragraph(text=units.plural(len(sections), "change") if sections else ""), always=True
    )
    yield from sections


def _change(record: ChangeRecord) -> tuple[Section, ...]:
    shown = view.change_facts(record)
    return section(
        shown.heading,
        DefinitionList(pairs=tuple((fact.label, fact.value) for fact in shown.facts)),
        Code(lines=view.command_lines(record.change.writes)),
        Code(label="To undo:", lines=view.command_lines(record.change.undo)),
        level=3,
    )


def restored_sentences(session: Session) -> Iterator[str]:
    """Yield sentences about settings that were restored to their old values, or could not be restored."""
    fields: dict[tuple[str, str], list[ChangeRecord]] = {}
    for record in session.changes:
        if record.undone_by is not None:
            fields.setdefault((str(record.change.target), record.change.label), []).append(record)
    for (target, label), records in fields.items():
        times = f", {len(records)} times" if len(records) > 1 else ""
        yield f"{label} of {target} was restored to {view.old_text(records[-1].change)}{times}."
    for experiment in session.experiments:
        if experiment.end is not None:
            start = experiment.start
            done = "was restored" if experiment.end.restored else "was NOT restored"
            yield f"{experiment.id}: {start.label} of {start.target} {done} to {value_text(start.key, start.a)}."
    if session.sweep is not None and session.sweep.end is not None:
        yield from session.sweep.end.left
        if not session.sweep.end.left:
            before = [
                f"{key_name(original.key)} of {original.target} {key_value(original.key, original.value)}"
                for original in session.sweep.design.originals
            ]
            yield (
                f"Sweep: all settings were restored: {', '.join(before)}."
                if before
                else "Sweep: no settings were changed."
            )


def problems(session: Session) -> Iterator[str]:
    """Yield a sentence for each error, and for each file that keeps settings over a reboot."""
    for problem in session.inventory.problems:
        yield " ".join(filter(None, (f"{problem.where}: {problem.message}", problem.hint)))
    for event in session.events:
        match event:
            case ProblemRecorded():
                yield f"{units.moment(event.at)} {event.problem.where}: {event.problem.message}"
            case RulePersisted():
                kept = ", ".join(with_value(*pair) for pair in headed_values(event.values)) or "none"
                yield f"{units.moment(event.at)} {event.path} keeps settings of {event.target} over a reboot: {kept}"
            case _:
                pass


def commands(session: Session) -> ReportTable:
    """Return a table of all commands that changed something, with their exit status."""
    ran = [event for event in session.events if isinstance(event, CommandRan) and event.mutates]
    rows = tuple(
        (
            units.moment(event.at),
            event.line,
            units.NOTHING if event.returncode is None else str(event.returncode),
            units.duration(event.seconds),
        )
        for event in ran
    )
    return ReportTable(columns=("When", "Command", "Status", "Took"), rows=rows)
