"""Data that fio-status reports about ioMemory modules. A field is None if it is not reported."""

from __future__ import annotations

from backends.model import Problem
from backends.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class IoVolume:
    """A block device of a module (virtual storage unit, VSU): `fioa`."""

    name: str
    """Kernel name."""
    state: str | None = None
    """State: `Online`."""
    size_bytes: int | None = None
    """Exact size in bytes, if reported."""
    gigabytes: float | None = None
    """Size in units of 10^9 bytes."""
    sectors: int | None = None
    """Number of sectors."""
    sector_bytes: int | None = None
    """Sector size in bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """An ioMemory module, which is a PCI function of its own: `fct0`."""

    name: str
    """Name of its control node below /dev."""
    state: str | None = None
    """State: `Attached`, `Detached`, `Minimal mode`, ..."""
    product: str | None = None
    """Product name."""
    serial: str | None = None
    """Serial number."""
    pci: str | None = None
    """PCI address, often without its domain."""
    firmware: str | None = None
    """Firmware version and revision."""
    sector_bytes: int | None = None
    """Sector size of its format in bytes."""
    link: str | None = None
    """PCI Express link, as printed."""
    celsius: float | None = None
    """Internal temperature in degrees Celsius."""
    celsius_most: float | None = None
    """Highest temperature so far in degrees Celsius."""
    protection: str | None = None
    """Power-loss protection: `protected`."""
    reserve_state: str | None = None
    """State of the spare flash: `Healthy`."""
    reserve_percent: float | None = None
    """Remaining spare flash in percent."""
    reserve_warns: float | None = None
    """Percentage of spare flash below which the module warns."""
    rated_petabytes: float | None = None
    """Rated endurance in units of 10^15 bytes."""
    life_percent: float | None = None
    """Remaining endurance in percent."""
    written_bytes: int | None = None
    """Physical bytes written so far."""
    throttling: str | None = None
    """Write throttling as fio-status reports it; the string `None` means that writes are not throttled."""
    trouble: tuple[str, ...] = ()
    """Warnings and errors as fio-status prints them."""
    volumes: tuple[IoVolume, ...] = ()
    """Its block devices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """An adapter with one or more modules."""

    kind: str | None = None
    """Kind: `Single Controller Adapter`."""
    product: str | None = None
    """Product name."""
    serial: str | None = None
    """Serial number."""
    external_power: str | None = None
    """External power: `NOT connected` means that the power limit of the slot applies."""
    power_limit: str | None = None
    """Power limit: `24.75W`, or a number of watts; `Disabled` if the limit is overridden."""
    power: str | None = None
    """Power draw as printed, or a number of watts."""
    modules: tuple[str, ...] = ()
    """Names of its modules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cards:
    """Everything that fio-status reports."""

    driver: str | None = None
    """Version of the driver."""
    adapters: tuple[Adapter, ...] = ()
    """Adapters."""
    modules: tuple[Module, ...] = ()
    """Modules of all adapters."""
    cut: tuple[Problem, ...] = ()
    """Problems about truncated output of fio-status."""

    def find_volume(self, volume: str) -> tuple[Module, IoVolume] | None:
        """Return the volume with this kernel name and its module, or None."""
        return next(((module, part) for module in self.modules for part in module.volumes if part.name == volume), None)

    def adapter_of(self, module: str) -> Adapter | None:
        """Return the adapter of a module, or None."""
        return next((adapter for adapter in self.adapters if module in adapter.modules), None)
