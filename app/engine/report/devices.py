"""The machine and what was measured or changed on it, as tables. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from app.engine.report.blocks import Facts, Grid
from app.engine.session.state import Session
from backends.model import Array, Controller, Drive, Inventory, Target
from widgets.plain import units


def machine_facts(session: Session) -> Facts:
    """Where it was measured, and with what."""
    return Facts(pairs=tuple(_machine(session)))


def _machine(session: Session) -> Iterator[tuple[str, str]]:
    machine = session.machine
    yield "Session", f"{session.id}, begun {units.moment(session.started)}"
    if machine is not None:
        yield "Host", machine.host
        yield "Processor", f"{machine.cpu}, {units.plural(machine.cores, 'logical CPU')}"
        yield "Memory", units.size(machine.memory_bytes)
        yield "Kernel", machine.kernel
        yield "System", machine.system
        yield "Rights", "root" if machine.root else "not root"
    versions = dict.fromkeys(run.start.fio_version for run in session.runs if run.start.fio_version)
    yield "Programs", ", ".join([f"raidbench {session.version}", *(f"fio {version}" for version in versions)])


def devices(inventory: Inventory) -> Grid:
    """All that was found."""
    rows: list[tuple[str, ...]] = []
    for controller in inventory.controllers:
        firmware = f"firmware {controller.firmware}" if controller.firmware else ""
        rows.append((str(controller.target), "controller", "", "", controller.model or "", firmware))
    things: tuple[Array | Drive, ...] = (*inventory.arrays, *inventory.drives)
    for thing in things:
        if isinstance(thing, Array):
            kind, name = thing.level.value, thing.name or ""
        else:
            kind, name = thing.media.value, thing.model or thing.backing or ""
        use = ", ".join(dict.fromkeys(use.detail for use in thing.uses))
        rows.append((str(thing.target), kind, units.size(thing.size_bytes), thing.state.value, name, use))
    return Grid(columns=("Address", "Kind", "Size", "State", "Model", "In use"), rows=tuple(rows))


def under_test(session: Session) -> Grid:
    """What was measured or changed, what it hangs from and what it is made of: identity, firmware, shape."""
    inventory = session.inventory
    wanted = _concerned(session)
    rows = [_controller(each) for each in inventory.controllers if each.target in wanted]
    rows += [_array(each) for each in inventory.arrays if each.target in wanted]
    rows += [_drive(each) for each in inventory.drives if each.target in wanted]
    columns = ("Address", "What", "Model", "Serial number", "Firmware", "Size", "State", "More")
    return Grid(columns=columns, rows=tuple(rows))


def _concerned(session: Session) -> set[Target]:
    """Targets by name or device, then their controllers and members, however deep."""
    names = {name for run in session.runs for name in (run.start.target, run.start.device) if name}
    names |= {str(record.change.target) for record in session.changes}
    names |= {str(each.start.target) for each in session.experiments}
    inventory = session.inventory
    things: tuple[Controller | Array | Drive, ...] = (*inventory.controllers, *inventory.arrays, *inventory.drives)
    arrays = {array.target: array for array in inventory.arrays}
    blocks: tuple[Array | Drive, ...] = (*inventory.arrays, *inventory.drives)
    found = {each.target for each in things if str(each.target) in names}
    found |= {each.target for each in blocks if each.device in names}
    found -= set(inventory.twins)  # the kernel's view of something else that is in the list
    waiting = list(found)
    while waiting:
        array = arrays.get(waiting.pop())
        fresh = set(array.members) - found if array is not None else set()
        found |= fresh
        waiting += fresh
    above = {each.controller for each in blocks if each.target in found and each.controller is not None}
    return found | above


def _controller(found: Controller) -> tuple[str, ...]:
    protection = found.protection
    more = (
        f"driver {found.driver}" if found.driver else "",
        f"{units.size(found.cache_bytes)} cache" if found.cache_bytes else "",
        f"{protection.kind} {protection.state}" if protection is not None else "",
        *(f"{feature.name} {feature.state}" for feature in found.features),
    )
    told = (found.model or "", found.serial or "", found.firmware or "", "", "")
    return (str(found.target), "controller", *told, _joined(more))


def _array(found: Array) -> tuple[str, ...]:
    more = (
        f"{units.size(found.strip_bytes)} strip" if found.strip_bytes else "",
        units.plural(len(found.members), "member") if found.members else "",
        found.device or "",
        *(f"{task.kind} {units.fraction(task.progress) if task.progress is not None else ''}" for task in found.tasks),
    )
    told = (found.name or "", "", "", units.size(found.size_bytes), found.state.value)
    return (str(found.target), found.level.value, *told, _joined(more))


def _drive(found: Drive) -> tuple[str, ...]:
    sectors = "/".join(str(size) for size in (found.logical_block, found.physical_block) if size)
    blocks = f"{sectors} B sectors" if sectors else ""
    kind = " ".join(dict.fromkeys(filter(None, (found.media.value, found.interface))))
    told = (found.model or found.backing or "", found.serial or "", found.firmware or "")
    more = _joined((found.device or "", blocks))
    return (str(found.target), kind, *told, units.size(found.size_bytes), found.state.value, more)


def _joined(parts: tuple[str, ...]) -> str:
    return ", ".join(part.strip() for part in parts if part.strip())
