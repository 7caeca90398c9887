"""The device tree: each device once, members below their arrays, ordered by address. No I/O."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from backends.model import BROKEN, Array, Controller, Device, Drive, Inventory, Scope, State, Target, Task
from backends.values import dataclass
from widgets.text_utils import units

Order = Callable[[Array | Drive], Any]
"""Function that returns the sort key of an array or drive on its level; equal keys are sorted by address."""

_Part = TypeVar("_Part", Array, Drive)

TROUBLE = (*BROKEN, State.FOREIGN)
"""States that need attention, the most severe first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceTreeNode:
    """A device with its children."""

    device: Device
    """The device."""
    role: str = ""
    """Role of the device in the array that it belongs to; "" if unknown."""
    why: str = ""
    """Why the state of an array needs attention; "" if it does not, or if the reason is unknown."""
    below: tuple[DeviceTreeNode, ...] = ()
    """Children: arrays and drives of a controller, members of an array."""


def build_device_tree(inventory: Inventory, order: Order | None = None) -> tuple[DeviceTreeNode, ...]:
    """Return controllers with their devices, then software arrays, then other drives, by address or by `order`.

    A member is below its array, even if another controller connects it. Twins (`Inventory.twins`) are left out.
    """
    return _TreeBuilder(inventory, order).all()


def address_sort_key(target: Target) -> tuple[Any, ...]:
    """Return a sort key that orders addresses naturally: `s9` before `s10`, `sdz` before `sdaa`."""
    kernels = _LETTERED.fullmatch(target.address)
    if kernels is not None:  # kernel names come before other addresses, in the order of lsblk
        return (_by_node(target), 0, kernels[1], (len(kernels[2]), kernels[2]))
    if _PCI.fullmatch(target.address):  # hexadecimal numbers of fixed width, so they sort as text
        return (_by_node(target), 1, target.address)
    parts = re.split(r"(\d+)", target.address)
    numbered = ((int(number), text) for number, text in zip(parts[1::2], parts[2::2], strict=True))
    return (_by_node(target), 1, parts[0], *numbered)


def _by_node(target: Target) -> str:
    """Return the backend as a sort key; "" for drives, so that drives of all vendors are sorted together."""
    return "" if target.scope is Scope.DRIVE and not target.address.startswith("/") else target.backend


_LETTERED = re.compile(r"(xvd|sd|vd|hd)([a-z]+)")
_PCI = re.compile(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]")


class _TreeBuilder:
    def __init__(self, inventory: Inventory, order: Order | None) -> None:
        self._inventory = inventory
        self._order = order
        self._done: set[Target] = set(inventory.twins)
        self._arrays = {array.target: array for array in inventory.arrays}
        self._drives = {drive.target: drive for drive in inventory.drives if drive.target not in self._done}
        self._parts: dict[Target, list[Drive]] = {}
        self._behind: dict[Target, list[Drive]] = {}
        for drive in self._drives.values():
            if drive.array is not None:
                self._parts.setdefault(drive.array, []).append(drive)
            if drive.controller is not None:
                self._behind.setdefault(drive.controller, []).append(drive)
        self._nested = {member for array in inventory.arrays for member in array.members if member in self._arrays}

    def all(self) -> tuple[DeviceTreeNode, ...]:
        controllers = sorted(self._inventory.controllers, key=lambda controller: address_sort_key(controller.target))
        owners = {controller.target for controller in controllers}
        free = [
            array
            for array in self._inventory.arrays
            if array.controller not in owners and array.target not in self._nested
        ]
        arrays = [self._array(array) for array in self._sorted(free)]  # first, because a member is below its array
        top = [*map(self._controller, controllers), *arrays]
        left = [
            array for array in self._inventory.arrays if array.target not in self._done
        ]  # only arrays that contain each other are left
        top += [self._array(array) for array in left if array.target not in self._done]
        drives = (drive for drive in self._drives.values() if drive.target not in self._done)
        return (*top, *map(self._drive, self._sorted(drives)))

    def _sorted(self, devices: Iterable[_Part]) -> list[_Part]:
        by_address = sorted(devices, key=lambda array: address_sort_key(array.target))
        return by_address if self._order is None else sorted(by_address, key=self._order)

    def _controller(self, controller: Controller) -> DeviceTreeNode:
        arrays = [array for array in self._inventory.arrays if array.controller == controller.target]
        below = [self._array(array) for array in self._sorted(arrays) if array.target not in self._done]
        connected = self._behind.get(controller.target, ())
        drives = [drive for drive in connected if drive.target not in self._done and drive.array not in self._arrays]
        below += [self._drive(drive) for drive in self._sorted(drives)]
        return DeviceTreeNode(device=controller, below=tuple(below))

    def _array(self, array: Array, role: str = "") -> DeviceTreeNode:
        self._done.add(array.target)
        inner_arrays = [
            self._arrays[member] for member in array.members if member in self._arrays and member not in self._done
        ]
        below = [self._array(inner_array, role_of(inner_array, array)) for inner_array in self._sorted(inner_arrays)]
        named = {member: self._drives[member] for member in array.members if member in self._drives}
        named |= {drive.target: drive for drive in self._parts.get(array.target, ())}
        drives = [drive for target, drive in named.items() if target not in self._done]
        below += [self._drive(drive, role_of(drive, array)) for drive in self._sorted(drives)]
        return DeviceTreeNode(device=array, role=role, why=state_reason(array), below=tuple(below))

    def _drive(self, drive: Drive, role: str = "") -> DeviceTreeNode:
        self._done.add(drive.target)
        return DeviceTreeNode(device=drive, role=role)


def members_by_array(inventory: Inventory) -> Mapping[Target, tuple[Array | Drive, ...]]:
    """Return the members of each array. Drives that the array itself does not list as members come last."""
    by_target = {device.target: device for device in inventory.block_devices}
    twins = inventory.twins
    targets = {
        array.target: dict.fromkeys(member for member in array.members if member in by_target)
        for array in inventory.arrays
    }
    for drive in inventory.drives:
        if drive.array in targets and drive.target not in twins:
            targets[drive.array][drive.target] = None
    return {array: tuple(by_target[target] for target in members) for array, members in targets.items()}


def role_of(member: Array | Drive, array: Array) -> str:
    """Return the role of a member, from the array's facts: `in sync`, `failed`, `spare`; "" if unknown."""
    paths, parts = (member.paths, member.partitions) if isinstance(member, Drive) else ((), ())
    nodes = {member.device, *paths, *(f"/dev/{part}" for part in parts)}
    for fact in array.facts:
        node, comma, text = fact.value.partition(",")
        if comma and node in nodes:
            return text.strip()
    return ""


def state_reason(array: Array) -> str:
    """Return why the state of an array needs attention: the running task, or else `Array.why`."""
    return (current_task_text(array) or array.why) if array.state in TROUBLE else ""


def current_task_text(array: Array) -> str:
    """Return the first task of an array with its progress, `rebuild 37 %`; "" if there is none."""
    return tasks_text(array).partition(", ")[0]


def tasks_text(array: Array) -> str:
    """Return all tasks of an array, `trim, consistency-check 12 %`; "" if there are none."""
    return ", ".join(map(task_text, array.tasks))


def task_text(task: Task) -> str:
    """Return a background task and its progress: `rebuild 37 %`."""
    return task.kind if task.progress is None else f"{task.kind} {units.fraction(task.progress)}"


def severity_rank(state: State) -> int:
    """Return the rank of a state in `TROUBLE`: 0 for the most severe one. All other states have the highest rank."""
    return TROUBLE.index(state) if state in TROUBLE else len(TROUBLE)
