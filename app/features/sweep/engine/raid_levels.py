"""Plan the arrays of a sweep over RAID levels: their drives, commands and duration."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from app.core.changes.arrays.candidates import candidates_of, choose, controller_of, new_array_name, plan_array
from app.core.session.sweep_steps import SweepArray, SweepArrays, SweepDrive
from app.features.sweep.engine.plan import LevelAxis, PlanError
from backends.array_planning import (
    SYNC_RATE,
    ArrayPlan,
    ArrayRequest,
    ArrayShape,
    Candidate,
    confirm_labels,
    spans_that_fit,
)
from backends.device_label import DeviceLabel, confirm_token
from backends.errors import InvalidValueError, ToolFailedError
from backends.model import Level, Media, Target
from backends.text import clean
from backends.values import dataclass

if TYPE_CHECKING:
    from app.core.workbench import Workbench

LONG_SECONDS = 600.0
"""If creating and preparing one array takes longer than this time in seconds, each array is created only once."""

PARITY = (Level.RAID5, Level.RAID6, Level.RAID50, Level.RAID60)
"""Levels with parity, which is checked before measuring."""

WITHOUT_STRIP = (Level.RAID1, Level.JBOD)
"""RAID levels without striping, which have no strip size."""

SINGLE_DRIVE = "one drive"
"""Name of the set-up that measures the first drive alone, without an array."""

_WRITES = {Media.HDD: 150e6, Media.SSD: 400e6, Media.NVME: 1500e6}
"""Approximate sequential write speed of one drive in bytes per second, for the estimate."""

_POOL = re.compile(r"(?:unassigned\s+|free\s+)?(?P<media>\w+)\s+of\s+(?P<where>\S+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedArrays:
    """The arrays that a level axis creates on this machine."""

    role: str
    """Role by which the plan refers to the array that currently exists."""
    making: SweepArrays
    """The arrays that the sweep will create, their drives, and the confirmation token."""
    labels: tuple[DeviceLabel, ...] = ()
    """The labels of the drives, whose token confirms all arrays that the sweep creates and deletes on them."""
    controller: Target | None = None
    """The controller that creates them; None for md."""
    refused: tuple[tuple[ArrayShape, str], ...] = ()
    """Arrays that cannot be created, each with the reason as a sentence."""
    warnings: tuple[str, ...] = ()
    """Warnings about the chosen drives, and about controllers whose drives could not be listed."""


async def plan_levels(bench: Workbench, axis: LevelAxis) -> PlannedArrays:
    """Choose the drives and plan every array, without changing anything.

    Raises NotFoundError or InvalidValueError for unknown drives, RefusedError when a drive is not free, PlanError when
    no array can be created, BlockedError when this machine cannot create arrays of such drives.
    """
    inventory = bench.session.inventory
    candidates, problems = await candidates_of(bench.hardware.machine, inventory, axis.drives or None)
    drives = choose(candidates, axis.drives) if axis.drives else choose_from_pool(candidates, axis.pool, axis.members)
    controller = controller_of(drives)
    if drives[0].shared:
        raise PlanError(
            f"A sweep over levels creates its arrays on drives, not in {controller}.",
            hint="Create a volume there with `raidbench array create`, then measure it with a sweep.",
        )
    if controller is not None and axis.assume_clean:
        raise PlanError(
            f"assume_clean is only for md: {controller} initialises its arrays automatically.",
            hint="Remove assume_clean.",
        )
    arrays: list[SweepArray] = []
    refused: list[tuple[ArrayShape, str]] = []
    warnings: dict[str, None] = {problem.message: None for problem in problems if not axis.drives}
    for shape in shapes(axis):
        level = shape.level
        if level is Level.JBOD:
            if controller is not None:
                refused.append(
                    (shape, f"The drives are attached to {controller}, so the kernel cannot access them individually.")
                )
            else:
                arrays.append(
                    SweepArray(
                        id=f"a{len(arrays) + 1}",
                        level=Level.JBOD,
                        size_bytes=drives[0].size_bytes,
                        members=1,
                        prepared="no array: the drive is measured directly",
                    )
                )
            continue
        members = axis.members_of.get(level)
        request = array_request(shape, drives[:members], axis.policies)
        try:
            plan = await plan_array(bench.hardware.machine, request, assume_clean=axis.assume_clean)
        except (InvalidValueError, ToolFailedError) as error:
            refused.append((shape, error.full_text))
            continue
        if members is not None and len(request.drives) < members:
            raise PlanError(f"{level.value} needs {members} drives, but {len(drives)} are specified.")
        array = _array(f"a{len(arrays) + 1}", plan, shape, assume_clean=axis.assume_clean)
        arrays.append(replace(array, members=members))
        warnings |= dict.fromkeys(plan.warnings)
    if all(array.is_single_drive for array in arrays):
        raise PlanError(
            "None of the arrays of the plan can be created on these drives.",
            hint=" ".join(dict.fromkeys(reason for _, reason in refused)),
        )
    labels = confirm_labels(drives)
    making = SweepArrays(
        drives=tuple(
            SweepDrive(
                place=drive.place,
                serial=drive.serial,
                wwn=None if drive.identity is None else drive.identity.wwn,
                model=drive.model,
                size_bytes=drive.size_bytes,
                lies=drive.lies if drive.is_visible else ("unknown: only the controller sees it",),
            )
            for drive in drives
        ),
        arrays=tuple(arrays),
        word=confirm_token(labels),
        assume_clean=axis.assume_clean,
        policies=dict(axis.policies),
        once=any(array.making_seconds + array.preparing_seconds > LONG_SECONDS for array in arrays),
    )
    return PlannedArrays(
        role=axis.role,
        making=making,
        labels=labels,
        controller=controller,
        refused=tuple(refused),
        warnings=tuple(warnings),
    )


def shapes(axis: LevelAxis) -> Iterator[ArrayShape]:
    """Yield each combination of level, number of spans, layout and strip size, in the order of the result."""
    for level in axis.levels:
        named = axis.spans.get(level, (None,)) or spans_that_fit(level, axis.count(level)) or (None,)
        layouts = axis.layouts if level is Level.RAID10 and axis.layouts else (None,)
        for spans, layout in product(named, layouts):
            for strip in (None,) if level in WITHOUT_STRIP or not axis.strips else axis.strips:
                yield ArrayShape(level=level, strip_bytes=strip, spans=spans, layout=layout)


def array_request(shape: ArrayShape, drives: tuple[Candidate, ...], policies: Mapping[str, str]) -> ArrayRequest:
    """Return the request to create an array under a new name."""
    return ArrayRequest(
        level=shape.level,
        drives=drives,
        strip_bytes=shape.strip_bytes,
        spans=shape.spans,
        layout=shape.layout,
        name=new_array_name(),
        policies=dict(policies),
    )


def array_text(shape: ArrayShape) -> str:
    """Return the name of an array's set-up, such as `raid50, 3 spans, strip 64 KiB`."""
    return SINGLE_DRIVE if shape.level is Level.JBOD else f"{shape.level.value}{shape.options_text}"


def _array(array_id: str, plan: ArrayPlan, shape: ArrayShape, *, assume_clean: bool) -> SweepArray:
    level, software = plan.request.level, plan.request.drives[0].controller is None
    member = min((drive.size_bytes or 0 for drive in plan.request.drives), default=0)
    parity = level in PARITY
    seconds = 0.0
    if not software:
        prepared = "measured when the controller has finished its initialisation"
        prepared += ", which it starts automatically minutes after creation" if plan.begins_later else ""
        seconds = member / SYNC_RATE if plan.begins_later else 0.0
    elif assume_clean:
        rate = _WRITES.get(plan.request.drives[0].media, _WRITES[Media.HDD]) * max(1, plan.data_drives or 1)
        seconds = (plan.size_bytes or member) / rate + (member / SYNC_RATE if parity else 0.0)
        written = "parity" if parity else "copies" if level is not Level.RAID0 else "all of it"
        prepared = f"assume-clean, then {written} written in full stripes"
        prepared += ", then checked: mismatch_cnt has to be 0" if parity else ""
    elif level is Level.RAID0:
        prepared = "measured after creation"
    else:
        seconds = member / SYNC_RATE
        prepared = "measured after the sync"
    return SweepArray(
        id=array_id,
        level=level,
        strip_bytes=shape.strip_bytes,
        spans=shape.spans,
        layout=shape.layout,
        steps=tuple(step.shown() for step in plan.steps),
        size_bytes=plan.size_bytes,
        full_stripe_bytes=plan.full_stripe_bytes,
        making_seconds=plan.seconds,
        preparing_seconds=seconds,
        prepared=prepared,
    )


# -- drives of a pool -------------------------------------------------------------------------------------------------


def choose_from_pool(candidates: Sequence[Candidate], pool: str, members: int) -> tuple[Candidate, ...]:
    """Return `members` identical free drives of a pool, blank ones first. Raises PlanError when there are too few."""
    match = _POOL.fullmatch(pool.strip())
    kinds = {media.value: media for media in (Media.HDD, Media.SSD, Media.NVME)}
    if match is None or match["media"].lower() not in kinds:
        raise PlanError(
            f"{clean(pool, 60)!r} is not a valid pool.",
            hint='For example "unassigned ssd of c1" or "hdd of kernel": hdd, ssd or nvme, then a controller or'
            " `kernel`.",
        )
    media, where = kinds[match["media"].lower()], match["where"]
    free = [
        candidate
        for candidate in candidates
        if candidate.free and not candidate.shared and candidate.media is media and _is_at(candidate, where)
    ]
    groups: dict[tuple[object, ...], list[Candidate]] = {}
    for drive in sorted(free, key=lambda candidate: bool(candidate.lies)):
        groups.setdefault((drive.model, drive.interface, drive.size_bytes, drive.sector_bytes), []).append(drive)
    chosen_group = next((group for group in groups.values() if len(group) >= members), None)
    if chosen_group is None:
        most = max((len(group) for group in groups.values()), default=0)
        raise PlanError(
            f"The pool {clean(pool, 60)!r} has {most} free drives of one model, but {members} are needed.",
            hint="`raidbench array list` shows which drives are free, and why others are not.",
        )
    return tuple(chosen_group[:members])


def _is_at(drive: Candidate, where: str) -> bool:
    if drive.controller is None:
        return where.lower() == "kernel"
    return where in (str(drive.controller), drive.controller.address, drive.controller.address.lstrip("/"))
