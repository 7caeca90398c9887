"""Inventory objects from PCI functions, and the assignment of drives to controllers. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from backends.model import Array, Controller, Drive, Fact, Inventory, Scope, Target
from backends.topology import Topology
from backends.vendors.hba.functions import BIOS, FIRMWARE, KINDS, LIMITS, SERIAL, Function
from backends.vendors.hba.names import FunctionNames, ids, model
from backends.vendors.hba.tools import tool_of

if TYPE_CHECKING:
    from backends.vendors.megaraid.dialect import CardSnapshot

NAME = "hba"
"""Prefix of the targets of this backend."""

FROM_FIRMWARE = "the controller's firmware, read only"
"""Text that names the source of facts from firmware queries."""

_LABELS = {
    "can_queue": "Queue depth",
    "cmd_per_lun": "Depth a device",
    "sg_tablesize": "Segments a command",
    "nr_hw_queues": "Hardware queues",
}


def target(address: str) -> Target:
    """Return the target of the controller at a PCI address."""
    return Target(backend=NAME, address=address, scope=Scope.CONTROLLER)


def controller(function: Function, named: FunctionNames, tool: str | None) -> Controller:
    """Return a controller. `tool`: path of the program that manages it; None if there is none."""
    return Controller(
        target=target(function.address),
        vendor=NAME,
        model=model(function, named),
        serial=function.attribute(SERIAL),
        firmware=function.attribute(FIRMWARE),
        driver=" ".join(filter(None, (function.driver, function.driver_version))) or None,
        pci=function.address,
        facts=Fact.from_rows(_facts(function, tool)),
    )


def _facts(function: Function, tool: str | None) -> Iterable[tuple[str, str | None]]:
    yield "Kind", KINDS[function.kind]
    yield "PCI ids", ids(function)
    yield "PCIe link", function.link.shown
    yield "NUMA node", None if function.numa_node is None else str(function.numa_node)
    yield "SCSI hosts", _span([host.number for host in function.hosts])
    for name in LIMITS:
        values = {host.attributes[name] for host in function.hosts if name in host.attributes}
        yield _LABELS[name], _range(values)
    yield "BIOS", function.attribute(BIOS)
    yield "Kernel driver", None if function.driver is not None else "no driver is bound"
    wanted = tool_of(function)
    if wanted is not None:
        yield "Managed by", tool or f"{wanted.name}, which was not found"


def _range(values: set[str]) -> str | None:
    """Return the range of numeric values as text: `32`, or `32 to 128` if they differ; None if there are none."""
    ordered = sorted(values, key=lambda text: (len(text), text))
    return " to ".join(dict.fromkeys((ordered[0], ordered[-1]))) if ordered else None


def _span(numbers: list[int]) -> str | None:
    """Return the names of SCSI hosts as text: `host0 to host5`, `host7` or `host0, host3`; None if there are none."""
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"host{numbers[0]} to host{numbers[-1]}"
    return ", ".join(f"host{number}" for number in numbers) or None


def place_drives(inventory: Inventory, functions: Iterable[Function], paths: Mapping[str, str]) -> Inventory:
    """Return the inventory with each drive assigned to the controller through which its sysfs path runs.

    `paths`: sysfs paths by device node.
    """
    owners = {controller.pci: controller.target for controller in reversed(inventory.controllers)}
    by_path = {f"{function.path}/": owners.get(function.address) for function in functions}

    def at(device: str | None) -> Target | None:
        path = paths.get(device or "", "")
        return next((owner for folder, owner in by_path.items() if path.startswith(folder)), None)

    def place_drive(drive: Drive) -> Drive:
        owner = at(drive.device) if drive.controller is None else None
        return drive if owner is None else replace(drive, controller=owner)

    return replace(inventory, drives=tuple(place_drive(drive) for drive in inventory.drives))


def add_firmware_facts(
    inventory: Inventory, function: Function, contents: CardSnapshot, why: str, picture: Topology
) -> Inventory:
    """Return the inventory with facts from one controller's firmware about the controller, its arrays and drives.

    `why`: reason why none of the settings can be changed.
    """
    from backends.vendors.megaraid.inventory import inventory as of_card

    from_firmware = of_card("/c0", contents, FROM_FIRMWARE, None, picture)
    owner = target(function.address)

    def rebase(original: Target) -> Target:
        return Target(
            backend=NAME, address=function.address + original.address.removeprefix("/c0"), scope=original.scope
        )

    reason = Fact(label="Settings", value=why)
    arrays = tuple(_array(array, owner, rebase, reason) for array in from_firmware.arrays)
    drives = tuple(
        replace(
            drive, target=rebase(drive.target), controller=owner, array=rebase(drive.array) if drive.array else None
        )
        for drive in from_firmware.drives
    )
    card = from_firmware.controllers[0]
    problems = tuple(replace(problem, where=str(owner)) for problem in from_firmware.problems)
    return Inventory(
        controllers=tuple(
            _merge(controller, card, reason) if controller.target == owner else controller
            for controller in inventory.controllers
        ),
        arrays=inventory.arrays + arrays,
        drives=inventory.drives + drives,
        problems=inventory.problems + problems,
    )


def _array(array: Array, owner: Target, rebase: Callable[[Target], Target], reason: Fact) -> Array:
    return replace(
        array,
        target=rebase(array.target),
        controller=owner,
        size_bytes=None if array.device is not None else array.size_bytes,  # the kernel's size is exact
        uses=(),  # the kernel's disk already has these
        members=tuple(rebase(member) for member in array.members),
        facts=(*array.facts, reason),
    )


def _merge(bus: Controller, card: Controller, reason: Fact) -> Controller:
    """Return the controller with facts from its firmware. Missing facts come from the PCI bus."""
    labels: Mapping[str, str] = {fact.label: fact.value for fact in card.facts if fact.label != "PCI address"}
    facts = tuple(Fact(label="Source" if label == "Tool" else label, value=value) for label, value in labels.items())
    return replace(
        bus,
        model=card.model or bus.model,
        serial=card.serial or bus.serial,
        firmware=card.firmware or bus.firmware,
        cache_bytes=card.cache_bytes,
        protection=card.protection,
        facts=(*bus.facts, *facts, reason),
    )
