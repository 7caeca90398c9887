"""Lists the drives for a new array, with the reasons against those that cannot be used, and plans the array."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from backends.array_planning import ArrayPlan, ArrayRequest, ArrayShape, Candidate, require_free_drive
from backends.did_you_mean import suggestion_hint
from backends.errors import BlockedError, InvalidValueError, NotFoundError, RaidbenchError
from backends.free_drives import kernel_candidates, kernel_disks
from backends.health import FOREIGN, cautions, health_at, reasons_against
from backends.model import Drive, Inventory, Problem, State, Target
from backends.protocol import ArrayPlanner
from backends.text import clean
from backends.values import dataclass

if TYPE_CHECKING:
    from backends.registry import MachineBackends

SOFTWARE = "md"
"""Backend that creates arrays from drives that the kernel sees."""

_WHY_NOT = {
    State.UNASSIGNED: (
        "the controller reports it as free, but raidbench does not create arrays with this controller's tool"
    ),
    State.SPARE: "it is a hot spare",
    State.FOREIGN: FOREIGN,
}
"""Why no array can be created from a drive that its controller only lists, by the drive's state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedArrays(ArrayShape):
    """A request for arrays of several levels on the same drives. The inherited fields describe the first array."""

    drives: tuple[str, ...]
    """Addresses of the drives."""


async def candidates_of(
    machine: MachineBackends, inventory: Inventory, names: Sequence[str] | None = None
) -> tuple[tuple[Candidate, ...], tuple[Problem, ...]]:
    """Return every drive of an inventory, free or not, and the problems of backends that did not respond.

    `names`: the kernel disks to examine, named as for `choose`; None for all. Examining a disk runs three programs.
    """
    disks = kernel_disks(inventory)
    if names is not None:
        disks = tuple(
            disk for disk in disks if set(names).intersection(_accepted_names(disk.target, disk.device, disk.serial))
        )
    candidates: list[Candidate] = list(await kernel_candidates(machine.host, disks))
    problems: list[Problem] = []
    for name, backend in (await machine.backends.present()).items():
        if isinstance(backend, ArrayPlanner):
            try:
                candidates += await backend.candidates()
            except RaidbenchError as error:
                problems.append(Problem(where=name, message=error.message, hint=error.hint))
    listed = {candidate.drive for candidate in candidates}
    candidates += [
        _candidate_of_listed(drive) for drive in inventory.drives if drive.device is None and drive.target not in listed
    ]
    drives = {drive.target: drive for drive in inventory.drives}
    judged = (_with_health(candidate, inventory, drives.get(candidate.drive)) for candidate in candidates)
    return tuple(sorted(judged, key=lambda candidate: str(candidate.controller or ""))), tuple(problems)


def _with_health(candidate: Candidate, inventory: Inventory, drive: Drive | None) -> Candidate:
    """Return the candidate, with the reasons against its use that follow from its health. They hold for all vendors."""
    if drive is None:
        return candidate
    health = health_at(inventory, drive)
    reasons = (*candidate.why_not, *reasons_against(health))
    return replace(candidate, why_not=tuple(dict.fromkeys(reasons)), cautions=cautions(health))


def _candidate_of_listed(drive: Drive) -> Candidate:
    """Return a candidate for a drive that its controller lists, but that no array backend has examined."""
    used = f"it is in {drive.array}" if drive.array is not None else ""
    return Candidate(
        drive=drive.target,
        controller=drive.controller,
        place=drive.target.address,
        model=drive.model,
        serial=drive.serial,
        media=drive.media,
        interface=drive.interface,
        size_bytes=drive.size_bytes,
        sector_bytes=drive.logical_block,
        why_not=(used or _WHY_NOT.get(drive.state, f"it is {drive.state.value}"),),
    )


def choose(candidates: Sequence[Candidate], names: Sequence[str]) -> tuple[Candidate, ...]:
    """Return the drives that `names` lists, in the order given.

    A name is an address, a device node, a kernel name, a slot or a serial number.

    If the first name is a volume group, the other names are its physical volumes. Without other names, all of its
    physical volumes with free extents are used. Raises NotFoundError for an unknown name, InvalidValueError for an
    ambiguous one, RefusedError for a drive that is not free.
    """
    group = [
        candidate
        for candidate in candidates
        if candidate.shared and set(names[:1]).intersection(_group_names(candidate))
    ]
    if group:
        free = tuple(candidate for candidate in group if candidate.free) or tuple(group)
        picked = tuple(_find_candidate(group, name, in_group=True) for name in names[1:]) or free
    else:
        picked = tuple(_find_candidate(candidates, name) for name in names)
    for candidate in picked:
        require_free_drive(candidate)
    return picked


def _group_names(candidate: Candidate) -> tuple[str, ...]:
    return () if candidate.controller is None else (str(candidate.controller), candidate.controller.address)


def _find_candidate(candidates: Sequence[Candidate], name: str, *, in_group: bool = False) -> Candidate:
    """Return the drive with this name.

    The path of a physical volume stands for the disk that it is on. With `in_group`, because the first name was a
    volume group, it stands for the physical volume itself.
    """
    names_by_drive = {
        candidate.drive: _accepted_names(
            candidate.drive, candidate.place if in_group or not candidate.shared else None, candidate.serial
        )
        for candidate in candidates
    }
    matching = [candidate for candidate in candidates if name in names_by_drive[candidate.drive]]
    if len(matching) > 1:
        raise InvalidValueError(
            f"{clean(name, 60)} is ambiguous: {' and '.join(str(candidate.drive) for candidate in matching[:3])}.",
            hint="Use the address.",
        )
    if not matching:
        free = [str(candidate.drive) for candidate in candidates if candidate.free]
        hint = suggestion_hint(
            name,
            [word for parts in names_by_drive.values() for word in parts],
            f"Free drives: {', '.join(free[:12])}.",
        )
        raise NotFoundError(f"There is no drive {clean(name, 60)!r}.", hint=hint if free else "No drive is free.")
    return matching[0]


def _accepted_names(drive: Target, path: str | None, serial: str | None) -> tuple[str, ...]:
    """Return the names that a user may type for a drive with this device node (`path`) and serial number."""
    short = (path or "").removeprefix("/dev/")
    return tuple(filter(None, (str(drive), drive.address, path, short, serial)))


def controller_of(drives: Sequence[Candidate]) -> Target | None:
    """Return the controller to which all drives are attached; None for disks of the kernel.

    Raises InvalidValueError for drives of several controllers.
    """
    controllers = {drive.controller for drive in drives}
    if len(controllers) > 1:
        raise InvalidValueError(
            "The drives are not on the same controller.",
            hint="Use drives of one controller, drives without a RAID controller, or one volume group.",
        )
    return next(iter(controllers), None)


def new_array_name() -> str:
    """Return a new, unused array name, by which raidbench recognises the array later."""
    return f"rb-{secrets.token_hex(4)}"


async def plan_array(machine: MachineBackends, request: ArrayRequest, *, assume_clean: bool = False) -> ArrayPlan:
    """Return the plan for creating an array. Raises InvalidValueError, BlockedError, RefusedError, NotFoundError."""
    controller = controller_of(request.drives)
    if request.size_bytes is not None and not request.drives[0].shared:
        raise InvalidValueError(
            "An array always uses its drives completely: a size is not supported here.",
            hint="Leave out the size. Only a logical volume in a volume group can have one.",
        )
    if request.layout is not None and controller is not None:
        raise InvalidValueError(
            f"{controller} does not support RAID10 layouts.",
            hint="Leave out the layout, or create an md array on drives without a RAID controller.",
        )
    backend = machine.backends[SOFTWARE if controller is None else controller.backend]
    if not isinstance(backend, ArrayPlanner):
        raise BlockedError(f"raidbench does not create arrays on {controller}.")
    plan = await backend.plan_array(request, controller, assume_clean=assume_clean)
    lines = tuple(f"{drive.place}: {caution}." for drive in request.drives for caution in drive.cautions)
    return replace(plan, warnings=(*plan.warnings, *lines))
