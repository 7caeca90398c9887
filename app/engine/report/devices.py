"""The machine and what was measured or changed on it, as tables. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from app.engine.report.blocks import DefinitionList, Grid, grid
from app.engine.session.state import Session
from app.engine.view.device_table import devices_table
from backends.model import Array, Controller, Drive, Inventory, Target
from widgets.plain import units


def machine_facts(session: Session) -> DefinitionList:
    """Where it was measured, and with what."""
    return DefinitionList(pairs=tuple(_machine(session)))


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
    """All that was found, each thing once."""
    return grid(devices_table(inventory).only("address", "kind", "size", "state", "model", "firmware", "use", "name"))


def under_test(session: Session) -> Grid:
    """What was measured or changed, what it hangs from and what it is made of: identity, firmware, shape."""
    wanted = {str(target) for target in _concerned(session)}
    shown = devices_table(session.inventory)
    rows = tuple(row for row in shown.rows if row.key in wanted)
    columns = ("address", "kind", "model", "serial", "firmware", "size", "state", "device", "more", "name")
    return grid(replace(shown, rows=rows).only(*columns))


def _concerned(session: Session) -> set[Target]:
    """Targets by name or device, then their controllers and members, however deep."""
    measured = [each for run in session.runs for each in run.start.each]
    names = {name for each in measured for name in (each.target, each.device) if name}
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
