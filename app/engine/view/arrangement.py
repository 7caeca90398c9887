"""How what was found belongs together: each thing once, members under their arrays, trouble first. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from backends.model import Array, Controller, Drive, Inventory, State, Target

Thing = Controller | Array | Drive
_Part = TypeVar("_Part", Array, Drive)

TROUBLE = (
    State.FAILED,
    State.OFFLINE,
    State.MISSING,
    State.DEGRADED,
    State.REBUILDING,
    State.FOREIGN,
)
"""States that want attention, the gravest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A thing and what belongs to it."""

    thing: Thing
    """The thing."""
    role: str = ""
    """What it does in the array above it, in words; "" if that is not told."""
    why: str = ""
    """Why an array is not as it should be, in a few words; "" if it is, or nobody knows."""
    below: tuple[Branch, ...] = ()
    """What hangs from it."""


def arranged(inventory: Inventory) -> tuple[Branch, ...]:
    """Arrays of no controller, controllers with what is behind them, drives of neither.

    A member of an array is under the array, wherever it hangs; twins are left out (see `Inventory.twins`).
    """
    return _Arranging(inventory).all()


class _Arranging:
    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._done: set[Target] = set(inventory.twins)
        self._arrays = {array.target: array for array in inventory.arrays}
        shown = (drive for drive in inventory.drives if drive.target not in self._done)
        places = _places(inventory)
        self._drives = {
            drive.target: drive for drive in sorted(shown, key=lambda one: places.get(one.device, len(places)))
        }
        self._nested = {member for array in inventory.arrays for member in array.members if member in self._arrays}

    def all(self) -> tuple[Branch, ...]:
        owners = {controller.target for controller in self._inventory.controllers}
        free = [
            one for one in self._inventory.arrays if one.controller not in owners and one.target not in self._nested
        ]
        top = [self._array(array) for array in _worst_first(free)]
        placed = [self._controller(controller) for controller in self._inventory.controllers]
        top += sorted(placed, key=_gravest)
        left = [array for array in self._inventory.arrays if array.target not in self._done]  # members of each other
        top += [self._array(array) for array in left if array.target not in self._done]
        loose = (drive for drive in self._drives.values() if drive.target not in self._done)
        return (*top, *(self._drive(drive) for drive in _worst_first(loose)))

    def _controller(self, controller: Controller) -> Branch:
        mine = [one for one in self._inventory.arrays if one.controller == controller.target]
        below = [self._array(one) for one in _worst_first(mine) if one.target not in self._done]
        here = [one for one in self._drives.values() if one.controller == controller.target]
        loose = [one for one in here if one.target not in self._done and one.array not in self._arrays]
        below += [self._drive(drive) for drive in _worst_first(loose)]
        return Branch(thing=controller, below=tuple(below))

    def _array(self, array: Array, role: str = "") -> Branch:
        self._done.add(array.target)
        inner = [self._arrays[one] for one in array.members if one in self._arrays and one not in self._done]
        below = [self._array(one, role_of(one, array)) for one in _worst_first(inner)]
        named = [self._drives[one] for one in array.members if one in self._drives]
        named += [one for one in self._drives.values() if one.array == array.target and one not in named]
        fresh = [one for one in named if one.target not in self._done]
        below += [self._drive(one, role_of(one, array)) for one in _worst_first(fresh)]
        return Branch(thing=array, role=role, why=reason(array), below=tuple(below))

    def _drive(self, drive: Drive, role: str = "") -> Branch:
        self._done.add(drive.target)
        return Branch(thing=drive, role=role)


def troubles(inventory: Inventory) -> int:
    """How many arrays and drives want attention, and how much else backends had to say."""
    things: tuple[Array | Drive, ...] = (*inventory.arrays, *inventory.drives)
    return sum(thing.state in TROUBLE for thing in things) + len(inventory.problems)


def _places(inventory: Inventory) -> dict[str | None, int]:
    """The order in which the nodes are first named: the kernel's, whichever vendor has the drive."""
    nodes = dict.fromkeys(drive.device for drive in inventory.drives if drive.device is not None)
    return {node: place for place, node in enumerate(nodes)}


def role_of(member: Array | Drive, array: Array) -> str:
    """What a member does, as the array's facts say it beside its node: `in sync`, `failed`, `spare`."""
    paths, parts = (member.paths, member.partitions) if isinstance(member, Drive) else ((), ())
    nodes = {member.device, *paths, *(f"/dev/{part}" for part in parts)}
    for fact in array.facts:
        node, comma, words = fact.value.partition(",")
        if comma and node in nodes:
            return words.strip()
    return ""


def reason(array: Array) -> str:
    """Why an array is not as it should be: what is under way, else what is missing."""
    if array.state not in TROUBLE:
        return ""
    for task in array.tasks:
        return task.kind if task.progress is None else f"{task.kind} {task.progress:.0%}"
    return array.why


def _gravest(branch: Branch) -> int:
    """Place of a controller's worst array or drive in TROUBLE; those without trouble come last, in their order."""
    return min((_grade(one.thing.state) for one in branch.below if not isinstance(one.thing, Controller)), default=99)


def _grade(state: State) -> int:
    return TROUBLE.index(state) if state in TROUBLE else 99


def _worst_first(things: Iterable[_Part]) -> list[_Part]:
    """What needs attention first, the rest in the order found."""
    return sorted(things, key=lambda thing: _grade(thing.state))
