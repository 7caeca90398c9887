"""Texts about controllers, arrays and drives: kind, state and all facts. No I/O."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from app.core.presentation.device_tree import DeviceTreeNode, current_task_text, state_reason, tasks_text
from app.core.presentation.labels import field_name, key_value, with_value
from app.core.presentation.table import Cell, FactLine, Facts, StatusSymbol, Tone, facts_group
from backends import raid, sizes
from backends.health import HealthFault, faults_of, worst_fault
from backends.model import UNRECOVERABLE, Array, Controller, Device, Drive, Health, Inventory, Media, Protection, State
from backends.settings import IN_FORCE, Reading
from widgets.text_utils import units

if TYPE_CHECKING:
    from app.core.session.events import RunStarted

_STATES: dict[State, tuple[Tone, StatusSymbol]] = {
    State.OPTIMAL: (Tone.GOOD, StatusSymbol.WELL),
    State.ONLINE: (Tone.GOOD, StatusSymbol.WELL),
    State.SPARE: (Tone.PLAIN, StatusSymbol.SPARE),
    State.UNASSIGNED: (Tone.DIM, StatusSymbol.UNUSED),
    State.DEGRADED: (Tone.ATTENTION, StatusSymbol.ATTENTION),
    State.REBUILDING: (Tone.ATTENTION, StatusSymbol.BUSY),
    State.FOREIGN: (Tone.ATTENTION, StatusSymbol.ATTENTION),
    State.FAILED: (Tone.BAD, StatusSymbol.FAILED),
    State.OFFLINE: (Tone.BAD, StatusSymbol.FAILED),
    State.MISSING: (Tone.BAD, StatusSymbol.FAILED),
    State.UNKNOWN: (Tone.DIM, StatusSymbol.UNKNOWN),
}

_ROLES = {
    "failed": State.FAILED,
    "faulty": State.FAILED,
    "spare": State.SPARE,
    "rebuilding": State.REBUILDING,
}
"""States of members by their role (its part before a comma), which is more specific than the drive's own state."""


def problem_facts(inventory: Inventory, where: str) -> tuple[Facts, ...]:
    """Return the problems that occurred while the device or source `where` was read; () if there were none."""
    problems = (problem for problem in inventory.problems if problem.where == where)
    return facts_group(
        "Problem", (FactLine("", f"{problem.message} {problem.hint}".strip(), Tone.BAD) for problem in problems)
    )


def count_texts(inventory: Inventory) -> tuple[str, ...]:
    """Return a phrase for each number of controllers, arrays and drives that is not 0: `4 drives`."""
    twins = inventory.twins
    kinds = (
        (len(inventory.controllers), "controller"),
        (len(inventory.arrays), "array"),
        (sum(drive.target not in twins for drive in inventory.drives), "drive"),
    )
    return tuple(units.plural(count, word) for count, word in kinds if count)


def kind_text(device: Device) -> str:
    """Return the kind of a device: `controller`, `raid5`, `sata ssd`."""
    match device:
        case Controller():
            return "controller"
        case Array():
            return device.level.value
        case Drive():
            media = "" if device.media in (Media.UNKNOWN, Media.VIRTUAL) else device.media.value
            return " ".join(dict.fromkeys(filter(None, (device.interface, media)))) or device.media.value


def paths_text(device: Array | Drive) -> str:
    """Return a phrase with the paths to a multipath disk: `2 paths: sdk, sdl`; "" for a single path."""
    paths = device.paths if isinstance(device, Drive) else ()
    names = ", ".join(path.removeprefix("/dev/") for path in paths)
    return f"{units.plural(len(paths), 'path')}: {names}" if paths else ""


def node_text(device: Array | Drive) -> str:
    """Return the device node without /dev: `sdb`, `vg0/db`. A path that does not change at a reboot is preferred."""
    return ((device.link if isinstance(device, Array) else None) or device.device or "").removeprefix("/dev/")


def capacity_text(device: Device) -> str:
    """Return the capacity; "" for a controller."""
    return "" if isinstance(device, Controller) else sizes.size_words(device.size_bytes)


def state_cell(branch: DeviceTreeNode) -> Cell:
    """Return the state of a device as a cell.

    For a rebuilding array it is the running task, for a member its role, for a controller the state of its battery.
    """
    device = branch.device
    match device:
        case Controller():
            return protection_cell(device.protection)
        case Array():
            under_way = current_task_text(device) if device.state in (State.DEGRADED, State.REBUILDING) else ""
            cell = _state_cell(device.state, under_way or ": ".join(filter(None, (device.state.value, branch.why))))
            return replace(cell, mark=StatusSymbol.BUSY) if under_way else cell
        case Drive():
            cell = _state_cell(state_of(device, branch.role), branch.role or device.state.value)
            return _with_fault(cell, worst_fault(device))


def _with_fault(cell: Cell, fault: HealthFault | None) -> Cell:
    """Return a drive's worst fault and then its state: `predicts failure, spare`.

    Return the fault alone if the state is normal, and the state alone if the drive has failed or has no fault.
    """
    if fault is None or cell.mark is StatusSymbol.FAILED:
        return cell
    text = fault.value if cell.mark is StatusSymbol.WELL or cell.text == fault.value else f"{fault.value}, {cell.text}"
    return Cell(text, Tone.BAD if fault.is_grave else Tone.ATTENTION, StatusSymbol.ATTENTION)


def state_of(drive: Drive, role: str) -> State:
    """Return the state of a drive; its role in the array may give a more specific state than the drive itself."""
    return _ROLES.get(role.partition(",")[0], drive.state)


def _state_cell(state: State, text: str) -> Cell:
    tone, mark = _STATES[state]
    return Cell(text, tone, mark)


_GUARDS = {"bbu": "battery", "cachevault": "CacheVault"}
_LOST = ("failed", "missing")


def protection_text(protection: Protection | None) -> str:
    """Return the protection of the write cache and its state; "" if unknown."""
    if protection is None:
        return ""
    if protection.kind == "none":
        return "no battery"
    state = "ok" if protection.state == "optimal" else protection.state
    return f"{_GUARDS.get(protection.kind, protection.kind)} {state}"


def protection_cell(protection: Protection | None) -> Cell:
    """Return the protection of the write cache as a cell, with a sign if the protection is missing or failed."""
    text = protection_text(protection)
    return Cell(text, Tone.BAD, StatusSymbol.ATTENTION) if protection_missing(protection) else Cell(text)


def protection_missing(protection: Protection | None) -> bool:
    """Return whether a controller's battery failed or is missing; False for a model without a battery."""
    return protection is not None and protection.kind != "none" and protection.state in _LOST


_GROUPS = {
    "Identity": (
        "Address, Name, Model, Serial, WWN, World wide name, Firmware, Firmware package, Device, Paths, Path, "
        "Media, Driver, PCI address, SCSI address, Member of, Controller, Backing file, Namespace, Slot"
    ),
    "State": "State, Access, RAID-on-chip, Written",
    "Health": (
        "SMART health, Failure predicted, Predicted failures, Warning, Media errors, Other errors, Errors, "
        f"{UNRECOVERABLE}, Endurance used, Life left, Spare, Temperature, Throttled, Locked, "
        "Foreign configuration, Copyback"
    ),
    "Geometry": (
        "Level, Size, Strip, Full stripe, Data drives, Spans, Members, Sectors, Partitions, Strip sizes, "
        "Rotational, Zoned"
    ),
    "Protection": "Cache, Protection, Battery, CacheVault, Encrypted, CacheCade",
    "Tool": "Tool, Source, Reported as, Tool's words, Tool's word, Inquiry, Not supported, Safe id",
}
"""Groups of facts with their labels. Facts with other labels form the group `More`, before `Tool`."""

_OTHERS = "More"
_PLACES = {label: group for group, labels in _GROUPS.items() for label in labels.split(", ")}
_ORDER = ("Identity", "State", "Health", "Geometry", "Protection", _OTHERS, "Tool")


def device_facts(device: Device, *, excluded: Collection[str] = ()) -> tuple[Facts, ...]:
    """Return all facts of a device in groups, without empty facts and facts with a label in `excluded`.

    `excluded`: labels of settings, whose current values are shown next to the facts.
    """
    condition = tuple(_health_lines(device)) if isinstance(device, Drive) else ()
    replaced = {label for _, labels in condition for label in labels}
    others = (FactLine(fact.label, fact.value) for fact in device.facts if fact.label not in {"PCI address", *replaced})
    identity_lines = (
        FactLine(label, text or "") for label, text in (("Address", str(device.target)), *_identity_rows(device))
    )
    groups: dict[str, list[FactLine]] = {group: [] for group in _ORDER}
    for line in (*identity_lines, *(line for line, _ in condition), *others):
        if line.value and line.label not in excluded:
            groups[_group_of(line.label)].append(line)
    shown = tuple(facts for group, lines in groups.items() for facts in facts_group(group, lines))
    return shown if isinstance(device, Controller) else (*shown, *_content_facts(device), *_use_facts(device))


def _group_of(label: str) -> str:
    part = label.partition(":")[0]
    return _PLACES.get(label) or _PLACES.get(part[:1].upper() + part[1:], _OTHERS)


def _identity_rows(device: Device) -> Iterator[tuple[str, str | None]]:
    match device:
        case Drive():
            return _drive_rows(device)
        case Array():
            return _array_rows(device)
        case Controller():
            return _controller_rows(device)


def _drive_rows(drive: Drive) -> Iterator[tuple[str, str | None]]:
    sectors = ((drive.logical_block, "logical"), (drive.physical_block, "physical"))
    yield "Model", drive.model
    yield "Serial", drive.serial
    yield "WWN", drive.wwn
    yield "Firmware", drive.firmware
    yield "Device", drive.device
    yield "Paths", paths_text(drive).partition(": ")[2]
    yield "Size", _size_text(drive.size_bytes)
    yield "Sectors", ", ".join(f"{sizes.size_words(size)} {word}" for size, word in sectors if size)
    yield "Media", kind_text(drive)
    yield "State", "" if drive.state is State.UNKNOWN else drive.state.value
    yield "Scheduler", drive.scheduler
    yield "Backing file", drive.backing
    yield "Access", "read-only" if drive.read_only else ""
    yield "Member of", _text(drive.array)
    yield "Controller", _text(drive.controller)
    yield "Partitions", ", ".join(drive.partitions)


def _health_lines(drive: Drive) -> Iterator[tuple[FactLine, tuple[str, ...]]]:
    """Yield the lines of a drive's health, each with the labels of the facts that it replaces.

    If there is a fact with the same label, its text is used. It may say more, such as the highest temperature so far.
    """
    health, faults = drive.health, faults_of(drive)
    facts = {fact.label: fact.value for fact in drive.facts}
    for label, also, text, fault in (
        ("Failure predicted", ("SMART health",), _yes_or_no(health.predicts_failure), HealthFault.PREDICTS_FAILURE),
        ("Predicted failures", ("Errors",), _text(health.predictive_errors), HealthFault.PREDICTS_FAILURE),
        ("Media errors", ("Errors",), _text(health.media_errors), HealthFault.MEDIA_ERRORS),
        ("Other errors", ("Errors",), _text(health.other_errors), HealthFault.OTHER_ERRORS),
        ("Endurance used", ("Life left",), _percent(health.wear_percent), HealthFault.WORN),
        ("Temperature", (), _temperature(health), HealthFault.HOT),
        ("Locked", (), "yes" if health.locked else "", HealthFault.LOCKED),
        ("Foreign configuration", (), "yes" if health.foreign else "", HealthFault.FOREIGN),
        ("Copyback", (), "yes" if health.copyback else "", None),
    ):
        if text:
            tone = Tone.PLAIN if fault not in faults else Tone.BAD if fault.is_grave else Tone.ATTENTION
            yield FactLine(label, facts.get(label, text), tone), (label, *also)


def _yes_or_no(value: bool | None) -> str:
    return "" if value is None else "yes" if value else "no"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:g} %"


def _temperature(health: Health) -> str:
    if health.temperature is None:
        return ""
    limit = f" (warns at {health.temperature_limit:g} °C)" if health.temperature_limit else ""
    return f"{health.temperature:g} °C{limit}"


def _array_rows(array: Array) -> Iterator[tuple[str, str | None]]:
    node = (array.device or "").removeprefix("/dev/")
    yield "Name", array.name
    yield "Level", array.level.value
    yield "State", ": ".join(filter(None, (array.state.value, state_reason(array))))
    if not any(fact.label == "Task" for fact in array.facts):
        yield "Task", tasks_text(array)
    yield "Size", _size_text(array.size_bytes)
    yield "Strip", _size_text(array.strip_bytes) or ("none at this level" if array.level in raid.STRIPLESS else "")
    yield "Full stripe", _full_stripe(array.strip_bytes, array.data_drives)
    yield "Data drives", str(array.data_drives or "")
    yield "Device", f"{array.link} (now {node})" if array.link else array.device
    yield "Members", ", ".join(map(str, array.members))


def _full_stripe(strip: int | None, drives: int | None) -> str:
    """Return the size of the full stripe, `192 KiB (3 x 64 KiB)`; "" if unknown."""
    stripe = raid.full_stripe(strip, drives)
    return f"{sizes.exact_text(stripe)} ({drives} x {sizes.exact_text(strip)})" if strip and stripe else ""


def _controller_rows(controller: Controller) -> Iterator[tuple[str, str | None]]:
    yield "Model", controller.model
    yield "Serial", controller.serial
    yield "Firmware", controller.firmware
    yield "Driver", controller.driver
    yield "PCI address", controller.pci
    yield "Cache", _size_text(controller.cache_bytes)
    yield "Protection", protection_text(controller.protection)
    yield from ((feature.name, feature.state) for feature in controller.features)


def _size_text(count: int | None) -> str:
    return sizes.size_words(count) if count else ""


def _text(value: object | None) -> str:
    return "" if value is None else str(value)


def _content_facts(device: Array | Drive) -> tuple[Facts, ...]:
    return facts_group(
        "Content",
        (
            FactLine(sign.kind, " ".join(filter(None, (sign.part, sign.label, _size_text(sign.size_bytes)))))
            for sign in (device.signatures if isinstance(device, Drive) else ())
        ),
    )


def _use_facts(device: Array | Drive) -> tuple[Facts, ...]:
    lines = [
        FactLine(use.kind, f"{use.part}: {use.detail}" if use.part else use.detail, Tone.ATTENTION)
        for use in device.uses
    ]
    unused = [FactLine("", "no use found")] if isinstance(device, Drive) else []
    return facts_group("In use", lines or unused)


# -- targets in one line ----------------------------------------------------------------------------------------------

# A line contains a target's name, its kind and its most informative settings in force.

TELLING = (
    ("cache_mode", "cache"),
    ("write_cache", "write"),
    ("read_ahead", "read-ahead"),
    ("strip_size", "strip"),
    ("chunk_size", "chunk"),
    ("bitmap", "bitmap"),
    ("scheduler", "scheduler"),
    ("nr_requests", "requests"),
)
"""The most informative settings with their short names. The first three that a device has are shown."""

_MOST = 3
_MOST_CHANGED = 2
_CACHE = {
    "write-through": "through",
    "write-back": "back",
    "write-around": "around",
    "write through": "through",
    "write back": "back",
}
_SIZES = ("strip_size", "chunk_size")


def values_in_force(readings: Mapping[str, tuple[str, Reading]]) -> dict[str, str]:
    """Return the effective values of settings by key, without unknown ones."""
    return {
        key: value
        for key, (_, reading) in readings.items()
        if (value := reading.effective or reading.now) not in (None, "unknown")
    }


def settings_in_force(start: RunStarted) -> dict[str, str]:
    """Return the effective values of settings at the start of a run."""
    effective = {key: start.provenance.get(f"in_force_{key}") for key in start.settings}
    return {key: effective[key] or value for key, value in start.settings.items()}


def settings_since_text(start: RunStarted, now: Mapping[str, str]) -> str:
    """Return a sentence with the settings that changed since a run: `Measured with bitmap none; now internal.`

    `now`: present effective values of the same target by key; "" if none differs.
    """
    then = settings_in_force(start)
    keys = [key for key in then if key in now and now[key] != then[key]]
    shown = keys[:_MOST_CHANGED]
    more = f" and {units.plural(len(keys) - len(shown), 'more setting')}" if len(keys) > len(shown) else ""
    before, after = (
        [with_value(field_name(key), key_value(key, values[key])) for key in shown] for values in (then, now)
    )
    if len(keys) == 1:
        after = [key_value(keys[0], now[keys[0]])]
    return f"Measured with {', '.join(before)}; now {', '.join(after)}{more}." if keys else ""


def run_setting_cell(start: RunStarted, key: str) -> Cell:
    """Return the effective value of a setting at the start of a run, with a sign if another value was configured."""
    value, in_force_value = start.settings.get(key), settings_in_force(start).get(key)
    if value is None or in_force_value in (None, value, IN_FORCE):
        return Cell("" if value is None else key_value(key, value))
    return Cell(
        f"{key_value(key, in_force_value)}, set: {key_value(key, value)}", Tone.ATTENTION, StatusSymbol.ATTENTION
    )


def informative_settings(values: Mapping[str, str]) -> tuple[str, ...]:
    """Return the most informative settings with their values: `write through`, `read-ahead none`, `strip 64K`."""
    pairs = [(key, name) for key, name in TELLING if key in values][:_MOST]
    shown = [(name, _short_value(key, values[key])) for key, name in pairs]
    return tuple(f"{name} {'on' if value == name else value}" for name, value in shown)


def _short_value(key: str, value: str) -> str:
    """Return a setting's value in its shortest form. If it joins the values of several targets, each is shortened."""
    return ", ".join(_short_part(key, part) for part in value.split(", "))


def _short_part(key: str, value: str) -> str:
    if key in _SIZES and value.isdigit():
        return sizes.brief_text(int(value))
    return _CACHE.get(value, value)


def target_texts(inventory: Inventory, device: str | None, name: str) -> tuple[str, ...]:
    """Return the name, the level or kind, and the device node of a target: `ssd`, `raid5`, `sdb`.

    For a file, return its name and its device node.
    """
    node = (device or "").removeprefix("/dev/")
    if name.startswith("/") and not name.startswith("/dev/"):
        return (f"file {name}", *((f"on {node}",) if node else ()))
    devices = inventory.at(device) if device is not None else ()
    item = next((device for device in devices if isinstance(device, Array)), next(iter(devices), None))
    if item is None:
        return (name,)
    if not isinstance(item, Array):
        return (name, kind_text(item), *((node,) if node else ()))
    # If an array has a name of its own in /dev, that is its display name, and the device node adds nothing.
    return tuple(filter(None, (item.name or name, kind_text(item), "" if item.called else node)))
