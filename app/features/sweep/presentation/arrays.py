"""The arrays of a sweep as facts and JSON: drives, preparation, number and duration. No I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from app.core.presentation.json_schema import Json, pick
from app.core.presentation.table import FactLine, Facts, Tone
from app.core.session.sweep_record import SweepRecord
from app.core.session.sweep_steps import Design, SweepArrays
from app.features.sweep.engine.order import arrays_in_order
from app.features.sweep.engine.raid_levels import array_text
from backends.sizes import size_words
from backends.text import clean
from widgets.text_utils import units

ONCE = (
    "Creating an array takes more than 10 min. Each is created once, and the first again at the end, so comparisons"
    " between arrays have intervals but no verdict."
)


def array_name_of(record: SweepRecord, array_id: str) -> str:
    """Return the display name of the array with this id; the id itself if the design has no such array."""
    arrays = () if record.design.making is None else record.design.making.arrays
    return next((array_text(array) for array in arrays if array.id == array_id), array_id)


def array_plan_facts(design: Design) -> tuple[Facts, ...]:
    """Return facts about the arrays that the sweep will create: drives and their content, commands and times; () if it
    creates none.
    """
    if design.making is None:
        return ()
    return (
        Facts(heading="DESTROYS DATA (asked once)", facts=tuple(_drives(design.making))),
        Facts(heading="Arrays, created and deleted again", facts=tuple(_arrays(design))),
    )


def _drives(making: SweepArrays) -> Iterator[FactLine]:
    for drive in making.drives:
        text = ", ".join(
            filter(None, (drive.model, f"serial number {drive.serial or 'none'}", size_words(drive.size_bytes)))
        )
        yield FactLine(drive.place, f"ALL DATA WILL BE LOST: {clean(text, 200)}", Tone.BAD)
        yield from (FactLine("", f"  {mark}") for mark in drive.lies)
    yield FactLine("Confirm with", making.word)


def _arrays(design: Design) -> Iterator[FactLine]:
    making = design.making
    assert making is not None
    times = Counter(arrays_in_order(design.steps, {cell.id: cell for cell in design.cells}, making))
    for array in making.arrays:
        seconds = units.duration(array.making_seconds + array.preparing_seconds)
        size = size_words(array.size_bytes)
        often = units.plural(times[array.id], "time")
        part = "" if array.members is None else f" of {units.plural(array.members, 'drive')}"
        if array.is_single_drive:
            yield FactLine(array_text(array), f"{size}, {often}; {array.prepared}")
            continue
        yield FactLine(array_text(array), f"{size}{part}, created {often}, about {seconds} each; {array.prepared}")
        yield from (FactLine("", f"  {line}") for line in array.steps)
    yield FactLine("", "Names and UUIDs differ each time.", Tone.DIM)
    if making.policies:
        text = ", ".join(f"{key}={value}" for key, value in making.policies.items())
        yield FactLine("Policies", f"{clean(text, 300)}, verified on each array")
    if making.assume_clean:
        passes = units.plural(sum(times[array.id] for array in making.arrays if not array.is_single_drive), "time")
        yield FactLine("Wear", f"preparation writes each drive in full {passes}", Tone.ATTENTION)
    if making.once:
        yield FactLine("", ONCE, Tone.ATTENTION)


def array_result_facts(record: SweepRecord) -> Facts:
    """Return facts about the arrays that the sweep created: their drives, their preparation, and which arrays were
    refused.
    """
    making = record.design.making
    if making is None:
        return Facts(heading="Arrays", facts=())
    drives = ", ".join(f"{drive.place} ({drive.serial or 'no serial number'})" for drive in making.drives)
    facts = [FactLine("Drives", clean(drives, 2000))]
    for array in making.arrays:
        refused = record.refused.get(array.id)
        text = array.prepared if refused is None else f"skipped, because the controller or md refused it: {refused}"
        part = "" if array.members is None else f"the first {units.plural(array.members, 'drive')}; "
        facts.append(FactLine(array_text(array), part + text, Tone.PLAIN if refused is None else Tone.ATTENTION))
    if making.once:
        facts.append(FactLine("", ONCE))
    return Facts(heading="Arrays", facts=tuple(facts))


def making_json(design: Design) -> Json | None:
    """Return the drives and arrays of a sweep over levels as JSON; None for other sweeps."""
    making = design.making
    if making is None:
        return None
    times = Counter(arrays_in_order(design.steps, {cell.id: cell for cell in design.cells}, making))
    return {
        **pick(making, "word", "assume_clean", "once"),
        "policies": dict(making.policies),
        "drives": [
            {**pick(drive, "place", "serial", "wwn", "model", "size_bytes"), "lies_on_it": list(drive.lies)}
            for drive in making.drives
        ],
        "arrays": [
            {
                **pick(
                    array, "id", "level", "members", "spans", "layout", "strip_bytes", "size_bytes", "full_stripe_bytes"
                ),
                **pick(array, "making_seconds", "preparing_seconds", "prepared"),
                "made": times[array.id],
                "steps": list(array.steps),
            }
            for array in making.arrays
        ],
    }
