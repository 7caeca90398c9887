"""Controllers, arrays and drives as they are shown: a row of a table, and all that is known of one. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from app.engine.view.arrangement import Branch, Thing, arranged, reason
from app.engine.view.table import Align, Cell, Column, FactLine, Facts, Mark, Row, Table, Tone
from backends.identity import Use
from backends.model import Array, Controller, Drive, Inventory, Media, Protection, State, Task
from widgets.plain import units

COLUMNS = (
    Column(key="address", title="Address"),
    Column(key="kind", title="Kind"),
    Column(key="size", title="Size", align=Align.POINT),
    Column(key="state", title="State"),
    Column(key="device", title="Device", priority=1),
    Column(key="model", title="Model", priority=2, shrinks=True),
    Column(key="use", title="In use", priority=1, shrinks=True),
    Column(key="serial", title="Serial number", priority=3),
    Column(key="firmware", title="Firmware", priority=3),
    Column(key="more", title="More", priority=4, shrinks=True),
)

_STATES: dict[State, tuple[Tone, Mark]] = {
    State.OPTIMAL: (Tone.GOOD, Mark.WELL),
    State.ONLINE: (Tone.GOOD, Mark.WELL),
    State.SPARE: (Tone.PLAIN, Mark.SPARE),
    State.UNASSIGNED: (Tone.DIM, Mark.UNUSED),
    State.DEGRADED: (Tone.ATTENTION, Mark.ATTENTION),
    State.REBUILDING: (Tone.ATTENTION, Mark.BUSY),
    State.FOREIGN: (Tone.ATTENTION, Mark.ATTENTION),
    State.FAILED: (Tone.BAD, Mark.FAILED),
    State.OFFLINE: (Tone.BAD, Mark.FAILED),
    State.MISSING: (Tone.BAD, Mark.FAILED),
    State.UNKNOWN: (Tone.DIM, Mark.UNKNOWN),
}

_ROLES = {
    "failed": State.FAILED,
    "faulty": State.FAILED,
    "spare": State.SPARE,
    "rebuilding": State.REBUILDING,
}
"""First words of what a member does that say more of it than that the kernel has it."""


def devices_table(inventory: Inventory) -> Table:
    """All that was found, each thing once, in the order of the tree; the row's key is the address."""
    rows = (row for branch in arranged(inventory) for row in _rows(branch, 0))
    return Table(columns=COLUMNS, rows=tuple(rows))


def counts(inventory: Inventory) -> tuple[str, ...]:
    """How many of each kind there are; those of which there are none are left out."""
    twins = inventory.twins
    found = (
        (len(inventory.controllers), "controller"),
        (len(inventory.arrays), "array"),
        (sum(drive.target not in twins for drive in inventory.drives), "drive"),
    )
    return tuple(units.plural(count, word) for count, word in found if count)


def _rows(branch: Branch, depth: int) -> Iterator[Row]:
    thing = branch.thing
    yield Row(
        key=str(thing.target),
        depth=depth,
        cells=(
            str(thing.target),
            kind_words(thing),
            size_words(thing),
            state_cell(branch),
            "" if isinstance(thing, Controller) else paths_words(thing) or thing.device or "",
            _name(thing),
            "" if isinstance(thing, Controller) else use_words(thing.uses),
            "" if isinstance(thing, Array) else thing.serial or "",
            "" if isinstance(thing, Array) else thing.firmware or "",
            ", ".join(filter(None, _more(thing))),
        ),
    )
    for below in branch.below:
        yield from _rows(below, depth + 1)


def kind_words(thing: Thing) -> str:
    """What kind of thing it is: `controller`, `raid5`, `sata ssd`."""
    match thing:
        case Controller():
            return "controller"
        case Array():
            return thing.level.value
        case Drive():
            media = "" if thing.media in (Media.UNKNOWN, Media.VIRTUAL) else thing.media.value
            return " ".join(dict.fromkeys(filter(None, (thing.interface, media)))) or thing.media.value


def paths_words(thing: Array | Drive) -> str:
    """The paths to a disk that the kernel has more than once, `2 paths: sdk, sdl`; "" where there is one."""
    paths = thing.paths if isinstance(thing, Drive) else ()
    names = ", ".join(path.removeprefix("/dev/") for path in paths)
    return f"{units.plural(len(paths), 'path')}: {names}" if paths else ""


def size_words(thing: Thing) -> str:
    """How much it holds; "" of a controller."""
    return "" if isinstance(thing, Controller) else units.size(thing.size_bytes)


def state_cell(branch: Branch) -> Cell:
    """How it is: an array with the reason, a member with what it does in its array, a controller with its battery."""
    thing = branch.thing
    match thing:
        case Controller():
            return Cell(protection_words(thing.protection))
        case Array():
            return _state(thing.state, ": ".join(filter(None, (thing.state.value, branch.why))))
        case Drive():
            state = _ROLES.get(branch.role.partition(",")[0], thing.state)
            return _state(state, branch.role or thing.state.value)


def _state(state: State, words: str) -> Cell:
    tone, mark = _STATES[state]
    return Cell(words, tone, mark)


def protection_words(protection: Protection | None) -> str:
    """What keeps its cache alive without power, and how that is; "" if nobody says."""
    if protection is None:
        return ""
    return "no battery" if protection.kind == "none" else f"{protection.kind} {protection.state}"


def use_words(uses: tuple[Use, ...]) -> str:
    """What uses it, each thing once."""
    return ", ".join(dict.fromkeys(use.detail for use in uses))


def _name(thing: Thing) -> str:
    match thing:
        case Controller():
            return thing.model or ""
        case Array():
            return thing.name or ""
        case Drive():
            return thing.model or thing.backing or ""


def _more(thing: Thing) -> Iterator[str]:
    """What else tells it from others, in a few words each."""
    match thing:
        case Controller():
            yield f"driver {thing.driver}" if thing.driver else ""
            yield f"{units.size(thing.cache_bytes)} cache" if thing.cache_bytes else ""
            yield from (f"{feature.name} {feature.state}" for feature in thing.features)
        case Array():
            yield f"{units.size(thing.strip_bytes)} strip" if thing.strip_bytes else ""
            yield units.plural(len(thing.members), "member") if thing.members else ""
            yield from map(_task, thing.tasks)
        case Drive():
            sectors = "/".join(str(size) for size in (thing.logical_block, thing.physical_block) if size)
            yield f"{sectors} B sectors" if sectors else ""


def _task(task: Task) -> str:
    return task.kind if task.progress is None else f"{task.kind} {units.fraction(task.progress)}"


def facts(thing: Thing) -> tuple[Facts, ...]:
    """All that is known of a thing, in groups; what nobody reports is left out."""
    pairs = (*_own(thing), *((fact.label, fact.value) for fact in thing.facts if fact.label != "PCI address"))
    known = Facts(heading=str(thing.target), facts=tuple(FactLine(label, text) for label, text in pairs if text))
    return (known,) if isinstance(thing, Controller) else (known, *_contents(thing), *_uses(thing))


def _own(thing: Thing) -> Iterator[tuple[str, str | None]]:
    match thing:
        case Drive():
            return _of_drive(thing)
        case Array():
            return _of_array(thing)
        case Controller():
            return _of_controller(thing)


def _of_drive(drive: Drive) -> Iterator[tuple[str, str | None]]:
    sectors = ((drive.logical_block, "logical"), (drive.physical_block, "physical"))
    yield "Model", drive.model
    yield "Serial", drive.serial
    yield "WWN", drive.wwn
    yield "Firmware", drive.firmware
    yield "Device", drive.device
    yield "Paths", paths_words(drive).partition(": ")[2]
    yield "Size", _size(drive.size_bytes)
    yield "Sectors", ", ".join(f"{units.size(size)} {word}" for size, word in sectors if size)
    yield "Media", kind_words(drive)
    yield "State", "" if drive.state is State.UNKNOWN else drive.state.value
    yield "Scheduler", drive.scheduler
    yield "Backing file", drive.backing
    yield "Access", "read-only" if drive.read_only else ""
    yield "Member of", _address(drive.array)
    yield "Controller", _address(drive.controller)
    yield "Partitions", ", ".join(drive.partitions)


def _of_array(array: Array) -> Iterator[tuple[str, str | None]]:
    yield "Name", array.name
    yield "Level", array.level.value
    yield "State", ": ".join(filter(None, (array.state.value, reason(array))))
    yield "Size", _size(array.size_bytes)
    yield "Strip", _size(array.strip_bytes)
    yield "Full stripe", _full_stripe(array.strip_bytes, array.data_drives)
    yield "Data drives", str(array.data_drives or "")
    yield "Device", array.device
    yield "Members", ", ".join(map(str, array.members))


def _full_stripe(strip: int | None, drives: int | None) -> str:
    """`192 KiB (3 x 64 KiB)`."""
    return f"{units.size(strip * drives)} ({drives} x {units.size(strip)})" if strip and drives else ""


def _of_controller(controller: Controller) -> Iterator[tuple[str, str | None]]:
    yield "Model", controller.model
    yield "Serial", controller.serial
    yield "Firmware", controller.firmware
    yield "Driver", controller.driver
    yield "PCI address", controller.pci
    yield "Cache", _size(controller.cache_bytes)
    yield "Protection", protection_words(controller.protection)
    yield from ((feature.name, feature.state) for feature in controller.features)


def _size(count: int | None) -> str:
    return units.size(count) if count else ""


def _address(target: object | None) -> str:
    return "" if target is None else str(target)


def _contents(thing: Array | Drive) -> tuple[Facts, ...]:
    found = tuple(
        FactLine(sign.kind, " ".join(filter(None, (sign.part, sign.label, _size(sign.size_bytes)))))
        for sign in (thing.signatures if isinstance(thing, Drive) else ())
    )
    return (Facts(heading="On it", facts=found),) if found else ()


def _uses(thing: Array | Drive) -> tuple[Facts, ...]:
    told = tuple(
        FactLine(use.kind, f"{use.part}: {use.detail}" if use.part else use.detail, Tone.ATTENTION)
        for use in thing.uses
    )
    if not told and isinstance(thing, Drive):
        told = (FactLine("", "not in use, as far as can be seen"),)
    return (Facts(heading="In use", facts=told),) if told else ()
