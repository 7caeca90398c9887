"""Arrays, and drives for new arrays, as tables, sentences and JSON. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from app.core.changes.arrays.array_journal import ArrayJournalEntry, ArrayStage
from app.core.presentation import json_schema
from app.core.presentation.table import Align, Cell, Column, FactLine, Facts, Row, Table, Tone
from backends.array_planning import ArrayPlan, Candidate, confirm_labels
from backends.device_label import confirm_token
from backends.model import Array, Inventory, Target
from backends.raid import ARRANGEMENTS, LAYOUT
from backends.sizes import exact_text, size_words
from backends.text import clean


def arrays_table(inventory: Inventory) -> Table:
    """Return a table with one row per array, which lists the serial numbers of its members."""
    columns = (
        Column(title="Array", key="array"),
        Column(title="Level", key="level"),
        Column(title="Strip", key="strip", align=Align.RIGHT, priority=2),
        Column(title="Size", key="size", align=Align.RIGHT),
        Column(title="State", key="state", priority=1),
        Column(title="Members", key="members"),
    )
    serials = serials_of(inventory)
    rows = tuple(
        Row(
            key=str(array.target),
            cells=(
                str(array.target),
                array.level.value,
                "" if array.strip_bytes is None else exact_text(array.strip_bytes),
                size_words(array.size_bytes),
                array.state.value,
                ", ".join(serials.get(member, str(member)) for member in array.members),
            ),
        )
        for array in inventory.arrays
    )
    return Table(columns=columns, rows=rows, heading="Arrays")


def serials_of(inventory: Inventory) -> Mapping[Target, str]:
    """Return the serial numbers of drives by address, for drives that report one."""
    return {drive.target: drive.serial for drive in inventory.drives if drive.serial}


def drives_table(candidates: Sequence[Candidate]) -> Table:
    """Return a table with one row per drive, which shows that the drive is free, or the first reason why it cannot be
    used.
    """
    columns = (
        Column(title="Drive", key="drive"),
        Column(title="Model", key="model", priority=2),
        Column(title="Serial number", key="serial"),
        Column(title="Size", key="size", align=Align.RIGHT),
        Column(title="Available", key="free", most=60),
    )
    rows = tuple(
        Row(
            key=str(candidate.drive),
            dim=not candidate.free,
            cells=(
                str(candidate.drive),
                candidate.model or "",
                candidate.serial or "",
                size_words(candidate.size_bytes),
                _availability_cell(candidate),
            ),
        )
        for candidate in candidates
    )
    return Table(columns=columns, rows=rows, heading="Drives")


def _availability_cell(drive: Candidate) -> Cell:
    if drive.why_not:
        more = f" (and {len(drive.why_not) - 1} more)" if len(drive.why_not) > 1 else ""
        return Cell(f"no: {drive.why_not[0].rstrip('.')}{more}")
    if drive.free_extents is not None:
        return Cell(f"{drive.free_extents} free extents of {drive.controller}", Tone.GOOD)
    if drive.cautions:
        lost = (f"data will be lost: {'; '.join(drive.lies)}",) if drive.lies else ()
        return Cell(f"free, but {'; '.join((*drive.cautions, *lost))}", Tone.ATTENTION)
    if drive.lies:
        return Cell(f"free; data will be lost: {'; '.join(drive.lies)}", Tone.ATTENTION)
    return Cell("free, blank" if drive.is_visible else "free (reported by the controller); content unknown", Tone.GOOD)


def candidate(drive: Candidate) -> json_schema.Json:
    """Return a drive as JSON."""
    return {
        "address": str(drive.drive),
        **json_schema.pick(
            drive, "controller", "place", "model", "serial", "media", "interface", "size_bytes", "free_extents"
        ),
        "logical_block_bytes": drive.sector_bytes,
        "free": drive.free,
        "why_not": list(drive.why_not),
        "cautions": list(drive.cautions),
        "lies_on_it": list(drive.lies),
        "content_known": drive.is_visible,
    }


def array(device: Array, serials: Mapping[Target, str]) -> json_schema.Json:
    """Return an array as JSON, with members by address and serial number."""
    return {
        "address": str(device.target),
        **json_schema.pick(
            device, "controller", "name", "level", "state", "size_bytes", "strip_bytes", "data_drives", "device"
        ),
        "members": [{"address": str(member), "serial": serials.get(member)} for member in device.members],
    }


def array_entry_json(entry: ArrayJournalEntry) -> json_schema.Json:
    """Return, as JSON, an array in the journal."""
    made = entry.array
    return {
        **json_schema.pick(made, "name", "level", "controller", "strip_bytes", "spans", "layout"),
        "stage": entry.stage.value,
        "at": entry.at,
        "uuid": made.uuid,
        "members": [{"place": drive.place, "serial": drive.serial} for drive in made.members],
    }


def made_here_text(entry: ArrayJournalEntry) -> str:
    """Return a description of an array in the journal: `Created by raidbench: rb-1a2b: raid5 of 4 drives (S1, ...)`."""
    made = entry.array
    serials = ", ".join(drive.serial or drive.place for drive in made.members)
    front = "Created by raidbench" if entry.stage is ArrayStage.MADE else "Incomplete"
    return f"{front}: " + clean(f"{made.name}: {made.level.value} of {len(made.members)} drives ({serials})", 1000)


def made_here_sentence(entry: ArrayJournalEntry) -> str:
    """Return `made_here_text` with the command that deletes or recovers the array."""
    if entry.stage is ArrayStage.MADE:
        return f"{made_here_text(entry)}. Delete it with `raidbench array delete {entry.array.name}`."
    return f"{made_here_text(entry)}. Check it with `raidbench recover`."


def plan_facts(plan: ArrayPlan) -> Facts:
    """Return the properties of a planned array as labelled lines."""
    heading = f"{plan.request.level.value} {plan.request.name}, created by {plan.maker}"
    return Facts(facts=tuple(_plan_lines(plan)), heading=heading)


def layout_text(layout: str) -> str:
    """Return a layout of RAID 10 in words: `2 far copies`."""
    match = LAYOUT.fullmatch(layout)
    return layout if match is None else f"{match[2]} {ARRANGEMENTS[match[1]]} copies"


def _plan_lines(plan: ArrayPlan) -> Iterator[FactLine]:
    request = plan.request
    drives = ", ".join(f"{drive.place} ({drive.serial or 'no serial number'})" for drive in request.drives)
    yield FactLine("Drives", f"{len(request.drives)}: {drives}")
    if request.spans is not None:
        count = len(request.drives) // request.spans
        yield FactLine("Spans", f"{request.spans}, each of {count} drives, in this order")
    if request.layout is not None:
        yield FactLine("Layout", f"{layout_text(request.layout)} ({request.layout})")
    carry = "" if plan.data_drives is None else f", {plan.data_drives} data drives"
    yield FactLine("Capacity", f"about {size_words(plan.size_bytes)}{carry}")
    if plan.cost is not None:
        yield FactLine("Redundancy", f"{plan.cost} of {len(request.drives)} drives")
    if request.strip_bytes is not None:
        full = plan.full_stripe_bytes
        yield FactLine("Strip", exact_text(request.strip_bytes))
        yield FactLine("Full stripe", "-" if full is None else exact_text(full))
    if request.policies:
        yield FactLine("Policies", ", ".join(f"{key}={value}" for key, value in request.policies.items()))
    takes = f"{plan.seconds:.1f} s, then" if plan.seconds < 600 else f"about {plan.seconds / 3600:.1f} h"
    yield FactLine("Duration", f"{takes}: {plan.initialising}")
    if not plan.by_hand:
        yield FactLine("Confirm with", confirm_token(confirm_labels(request.drives)))


def plan_sentences(plan: ArrayPlan) -> tuple[str, ...]:
    """Return sentences about warnings and the data that would be lost."""
    lines = [*filter(None, (plan.by_hand,)), *plan.warnings]
    lies = [line for drive in plan.request.drives for line in drive.lies]
    lines += [f"Data that will be lost: {line}." for line in lies]
    if lies:
        lines.append(
            "The old signature may remain. After you delete the array, the drive looks as before, but its data is lost."
        )
    unknown = [drive for drive in plan.request.drives if not drive.is_visible and not drive.shared]
    if unknown:
        serials = ", ".join(candidate.serial or candidate.place for candidate in unknown)
        lines.append(
            "The controller reports that no array uses these drives, but raidbench cannot read their content. Data"
            f" from another machine would be lost: {serials}."
        )
    return tuple(lines)


def plan(array_plan: ArrayPlan) -> json_schema.Json:
    """Return the planned array as JSON."""
    request = array_plan.request
    return {
        "level": request.level.value,
        "name": request.name,
        "made_by": array_plan.maker,
        "drives": [candidate(drive) for drive in request.drives],
        "spans": request.spans,
        "layout": request.layout,
        "strip_bytes": request.strip_bytes,
        "full_stripe_bytes": array_plan.full_stripe_bytes,
        "size_bytes": array_plan.size_bytes,
        "data_drives": array_plan.data_drives,
        "costs_drives": array_plan.cost,
        "policies": dict(request.policies),
        "seconds": array_plan.seconds,
        "initialising": array_plan.initialising,
        "by_hand": array_plan.by_hand or None,
        "steps": [list(step.argv) for step in array_plan.steps],
        "warnings": list(plan_sentences(array_plan)),
    }
