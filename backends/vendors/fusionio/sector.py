"""Sector size of an ioMemory module, its only setting: the reading, and the steps that change it. No I/O."""

from __future__ import annotations

import re

from backends.change import ChangeStep
from backends.identity import Identity
from backends.reported_words import word_text
from backends.settings import (
    Availability,
    Effect,
    Reading,
    Risk,
    Setting,
    available_unless,
    check_value,
    offer,
    unconfirmed,
)
from backends.topology import Node
from backends.topology.device_identity import serial, wwn
from backends.topology.tree import number
from backends.values import dataclass
from backends.vendors.fusionio.facts import IoVolume, Module
from backends.vendors.fusionio.inventory import sector
from backends.vendors.fusionio.tool import FusionIoTools

SECTOR_SIZE = unconfirmed(
    key="sector_size",
    label="Sector size",
    help="Sector size of the device in bytes (fio-format -b). 4096 needs less host memory and suits writes of 4 KiB "
    "and more. To change it, the device is detached, formatted and attached again. Formatting restores the "
    "factory capacity: flash that an earlier format reserved is not reserved any longer.",
    risk=Risk.DESTROYS_DATA,
    risk_text="The device is formatted. All data on it is lost. Undo restores the old sector size, not the data.",
    effect=Effect.RECREATED,
    unit="bytes",
)

SECTORS = (512, 4096)
"""Sector sizes in bytes to which every version of the driver (VSL) can format."""

SETTINGS = (SECTOR_SIZE,)
"""All settings of a block device."""


_SIZE = re.compile(r"-b(\d{3,5})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class IoCardView:
    """The current state of a block device, as the kernel and fio-status report it."""

    node: Node
    """Its kernel disk."""
    programs: FusionIoTools
    """Paths of the programs."""
    blind: str | None = None
    """Why fio-status could not run; None if it ran."""
    module: Module | None = None
    """Its module; None if unknown."""
    volume: IoVolume | None = None
    """The volume as fio-status reports it; None if unknown."""
    uses: tuple[str, ...] = ()
    """Descriptions of the uses of the device, such as mounts."""
    frozen: str | None = None
    """Why nothing may be changed (needs root, read-only mode, incomplete output); None if changes are allowed."""

    @property
    def identity(self) -> Identity:
        """Return the identity without size and device number, which formatting and attaching may change."""
        serial_number = self.module.serial if self.module is not None else None
        return Identity(name=self.node.name, wwn=wwn(self.node), serial=serial_number or serial(self.node))

    @property
    def control(self) -> str:
        """Return the control node, which the programs take as an argument. The module must be known."""
        assert self.module is not None
        return f"/dev/{self.module.name}"


def reading(view: IoCardView) -> Reading:
    """Return the reading of the sector size, with the reason if it cannot be changed."""
    now = None if view.volume is None or view.module is None else sector(view.volume, view.module)
    kernel = number(view.node.attributes.get("queue/logical_block_size"))
    differs = now is not None and kernel is not None and kernel != now
    sizes = sorted({*SECTORS, *([now] if now is not None else [])})
    return Reading(
        now=None if now is None else str(now),
        effective=str(kernel) if differs else None,
        why_effective="the kernel uses a different sector size than the device reports" if differs else None,
        choices=tuple(
            offer(
                str(size),
                "The device is detached, formatted and attached again. All data on it is lost.",
                risk=Risk.DESTROYS_DATA,
            )
            for size in sizes
        ),
        availability=_availability(view, now),
    )


def _availability(view: IoCardView, now: int | None) -> Availability:
    """Return whether the device may be formatted, with the reason if not.

    An unknown current sector size prevents a change, but not an undo that restores an old size.
    """
    silent = now is None and view.module is not None and view.volume is not None
    unsettled = "fio-status does not report its sector size" if silent else None
    return available_unless(None, unsettled, _blocked_reason(view))


def _blocked_reason(view: IoCardView) -> str | None:
    """Return the first reason against formatting, or None. Reasons that a user cannot remove come first."""
    if view.blind is not None:
        return view.blind
    if view.module is None or view.volume is None:
        return "fio-status does not report it"
    if len(view.module.volumes) > 1:
        siblings = ", ".join(volume.name for volume in view.module.volumes if volume.name != view.volume.name)
        return f"{view.module.name} also has {siblings}, which would be formatted with it"
    if (view.module.state, view.volume.state) != ("Attached", "Online"):
        module, volume = (word_text(part.state) for part in (view.module, view.volume))
        return f"{view.module.name} is {module}, {view.volume.name} {volume}"
    if missing := view.programs.missing:
        return f"not installed: {', '.join(missing)}"
    if view.node.read_only:
        return "it is read-only"
    return f"it is in use: {view.uses[0]}" if view.uses else view.frozen


def steps(view: IoCardView, size: str) -> tuple[ChangeStep, ...]:
    """Return the steps to detach, format and attach.

    fio-detach is not forced, because detaching a module in use would harm the kernel.
    """
    tools = view.programs
    assert tools.detach is not None
    assert tools.format is not None
    assert tools.attach is not None
    return (
        ChangeStep(argv=(tools.detach, view.control)),
        ChangeStep(argv=(tools.format, "-y", f"-b{size}", view.control)),
        ChangeStep(argv=(tools.attach, view.control)),
    )


def value_before(setting: Setting, now: Reading, value: str) -> str:
    """Return an old sector size in canonical form, whether it is offered or not.

    Raises InvalidValueError for an illegal value.
    """
    return value if _SIZE.fullmatch(f"-b{value}") else check_value(setting, now, value)


def is_step(view: IoCardView, argv: tuple[str, ...]) -> bool:
    """Return whether a command is a step of formatting this module. Steps from journals are checked, not trusted."""
    size = _SIZE.fullmatch(argv[2]) if len(argv) == 4 else None
    return any(argv == step.argv for step in steps(view, size[1] if size else str(SECTORS[0])))
