"""What fio-status tells of ioMemory cards. Values only; None where it does not say."""

from __future__ import annotations

from backends.model import Problem
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class IoVolume:
    """A part of a module that is a block device (VSU): `fioa`."""

    name: str
    """Kernel name."""
    state: str | None = None
    """`Online`."""
    kind: str | None = None
    """`block device`."""
    size_bytes: int | None = None
    """Exact size, where it is told."""
    gigabytes: float | None = None
    """Size in units of 10^9 bytes."""
    sectors: int | None = None
    """Number of sectors."""
    sector_bytes: int | None = None
    """Size of a sector."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """An ioMemory module, a PCI function of its own: `fct0`."""

    name: str
    """Name of its control node."""
    state: str | None = None
    """`Attached`, `Detached`, `Minimal mode`, ..."""
    product: str | None = None
    """What it calls itself."""
    serial: str | None = None
    """Serial number."""
    pci: str | None = None
    """PCI address, often without its domain."""
    firmware: str | None = None
    """Version and revision."""
    gigabytes: float | None = None
    """Formatted size in units of 10^9 bytes."""
    sectors: int | None = None
    """Number of sectors it is formatted to."""
    sector_bytes: int | None = None
    """Size of a sector it is formatted to."""
    link: str | None = None
    """PCI Express link as told."""
    celsius: float | None = None
    """Internal temperature."""
    celsius_most: float | None = None
    """The highest it had."""
    protection: str | None = None
    """Power-loss protection: `protected`."""
    reserve_state: str | None = None
    """Of the spare flash: `Healthy`."""
    reserve_percent: float | None = None
    """What is left of the spare flash."""
    reserve_warns: float | None = None
    """Percent below which it warns."""
    rated_petabytes: float | None = None
    """What it is made to take, 10^15 bytes."""
    life_percent: float | None = None
    """What is left of that."""
    written_bytes: int | None = None
    """Physical bytes written in its life."""
    read_bytes: int | None = None
    """Physical bytes read in its life."""
    throttling: str | None = None
    """Why or how writes are slowed down: `None`."""
    trouble: tuple[str, ...] = ()
    """Warnings and errors in its own words."""
    volumes: tuple[IoVolume, ...] = ()
    """Its block devices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """A card with one or more modules."""

    kind: str | None = None
    """`Single Controller Adapter`."""
    product: str | None = None
    """Its name in the catalogue."""
    serial: str | None = None
    """Serial number."""
    external_power: str | None = None
    """`NOT connected`: then the slot's power limit holds."""
    power_limit: str | None = None
    """`24.75W`, or bare watts; `Disabled` where it is overridden."""
    power: str | None = None
    """What it draws, as told, or bare watts."""
    modules: tuple[str, ...] = ()
    """Names of its modules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cards:
    """All that one answer tells."""

    driver: str | None = None
    """Version of the driver."""
    adapters: tuple[Adapter, ...] = ()
    """Cards."""
    modules: tuple[Module, ...] = ()
    """Modules of all cards."""
    cut: tuple[Problem, ...] = ()
    """What is told of answers that are not whole."""

    def of(self, volume: str) -> tuple[Module, IoVolume] | None:
        """The module and the volume of a kernel name."""
        return next(((module, part) for module in self.modules for part in module.volumes if part.name == volume), None)

    def adapter_of(self, module: str) -> Adapter | None:
        """The card that a module is on."""
        return next((adapter for adapter in self.adapters if module in adapter.modules), None)
