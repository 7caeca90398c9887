"""The settings of a selected device as they are read: its own, and those of the queue that it is to the kernel."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from app.engine.view.arrangement import Thing
from app.engine.workbench import Workbench
from app.tui.screens.devices.settings_panel import Part
from backends.errors import RaidbenchError
from backends.model import Inventory, Target
from backends.settings import Reading, Setting

Read = Callable[[Target], Awaitable[Mapping[str, Reading]]]
"""Asks for the settings of a target."""


async def parts_of(workbench: Workbench, inventory: Inventory, thing: Thing, read: Read) -> list[Part]:
    """Its own settings and those of its queue. Raises RaidbenchError."""
    queue = inventory.twin(thing)
    parts = [await _part(workbench, thing, read)]
    return parts if queue is None else [*parts, await _part(workbench, queue, read, f"Queue of {queue.device}")]


async def _part(workbench: Workbench, thing: Thing, read: Read, heading: str = "") -> Part:
    return Part(
        target=str(thing.target),
        heading=heading,
        settings=workbench.settings(thing.target),
        readings=dict(await read(thing.target)),
        scope=thing.target.scope,
    )


def pairs(parts: Sequence[Part]) -> dict[str, tuple[Setting, Reading]]:
    """Settings of a device by key: its own before the queue's."""
    return {
        one.key: (one, part.readings[one.key])
        for part in sorted(parts, key=lambda part: not part.heading.startswith("Queue"))
        for one in part.settings
        if one.key in part.readings
    }


def defect(thing: Thing, error: Exception) -> RaidbenchError:
    """Of a vendor module of somebody else's, which must not end the workbench."""
    return RaidbenchError(
        f"{thing.target} cannot be read: its backend stopped with {type(error).__name__}: {error}",
        hint="This is a defect of raidbench or of the vendor module.",
    )


def able_first(parts: Sequence[Part]) -> tuple[Part, ...]:
    """The queue's settings before the drive's own where none of these can be changed: a tool is missing."""
    if len(parts) < 2 or _able(parts[0]) or not _able(parts[1]):
        return tuple(parts)
    own, queue = parts
    return queue, replace(own, heading=f"Of {own.target} itself")


def _able(part: Part) -> bool:
    return any(reading.availability.available for reading in part.readings.values())
