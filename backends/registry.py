"""Vendor registry and concurrent scans of all backends. A broken vendor becomes a problem; all others still work."""

from __future__ import annotations

import asyncio
import importlib
import math
import os
import pkgutil
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import backends.vendors
from backends.errors import NotFoundError, RaidbenchError, ToolTimeoutError
from backends.host import Host
from backends.merge_inventory import join_views
from backends.model import KERNEL, Controller, Device, Drive, Inventory, Problem, Target
from backends.protocol import (
    CachedInventory,
    CachedReadings,
    IncrementalInventory,
    InventoryBackend,
    InventoryEnricher,
    InventoryListener,
    SettingsBackend,
    Vendor,
    load_object,
)
from backends.settings import Reading, Setting
from backends.system.caching import CachingHost, cached_since
from backends.system.timeout_memory import with_timeout_memory
from backends.text import clean
from backends.values import dataclass

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "raidbench.vendors"
"""Entry-point group under which other packages offer a `Vendor`."""


PROGRAMS = "programs"
"""`Problem.where` of a problem that belongs to no vendor and no disk."""

EMPTY = Inventory()
"""Inventory before the first scan."""

DeviceReadings = dict[Target, Mapping[str, Reading]]
"""Readings by target and key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorRegistry:
    """The available vendors."""

    vendors: tuple[Vendor, ...]
    """Built-in vendors in the order of their names, then plugins."""
    problems: tuple[Problem, ...] = ()
    """One problem for each module or package that cannot be used."""


def find_vendors(*, plugins: Iterable[EntryPoint] | None = None) -> VendorRegistry:
    """Return every `VENDOR` of backends.vendors, then those of the entry points.

    If several have the same name, the first is used.
    """
    vendors: dict[str, Vendor] = {}
    problems: list[Problem] = []
    for source, load in (*_modules(), *_plugins(plugins)):
        try:
            vendor = load()
        except Exception as error:  # a broken plugin must not prevent the start
            problems.append(_broken_problem(source, f"{type(error).__name__}: {error}"))
            continue
        if not isinstance(vendor, Vendor) or not vendor.name:
            problems.append(_broken_problem(source, "it defines no vendor"))
        elif vendor.name in vendors:
            problems.append(_broken_problem(source, f"a vendor {vendor.name} exists already"))
        else:
            vendors[vendor.name] = vendor
    return VendorRegistry(vendors=tuple(vendors.values()), problems=tuple(problems))


@cache
def declared_settings() -> Mapping[str, Setting]:
    """Return every setting that any vendor declares, by key, without reading a machine.

    If several have the same key, the one with the shortest label is used: the others add the kind of device to the
    label.
    """
    settings: dict[str, Setting] = {}
    for path in (path for vendor in find_vendors().vendors for path in vendor.declares):
        for setting in load_object(path):
            settings[setting.key] = min(settings.get(setting.key, setting), setting, key=lambda item: len(item.label))
    return settings


def own_vendors() -> Iterator[Vendor]:
    """Yield the vendors of the modules next to `backends/vendors/__init__.py`, and no others.

    Entry points and folders added to the package's search path are ignored. Raises any error of an import, and
    ImportError for a module that is loaded from another path.
    """
    folder = os.path.dirname(str(backends.vendors.__file__))
    for name in sorted(module.name for module in pkgutil.iter_modules([folder])):
        if name.startswith("_"):
            continue
        module = importlib.import_module(f"{backends.vendors.__name__}.{name}")
        file = str(module.__file__)
        stem, ending = os.path.splitext(file)  # a packaged program may contain only bytecode
        stems = (os.path.join(folder, name), os.path.join(folder, name, "__init__"))
        if stem not in stems or ending not in (".py", ".pyc"):
            raise ImportError(f"{name} was loaded from {file}, not from {folder}", name=name)
        assert isinstance(module.VENDOR, Vendor)
        yield module.VENDOR


def _modules() -> list[tuple[str, Callable[[], object]]]:
    names = sorted(module.name for module in pkgutil.iter_modules(backends.vendors.__path__))
    return [(name, lambda name=name: _load(name)) for name in names if not name.startswith("_")]  # type: ignore[misc]


def _load(name: str) -> object:
    """Return the vendor that a module exports."""
    return importlib.import_module(f"{backends.vendors.__name__}.{name}").VENDOR


def _plugins(points: Iterable[EntryPoint] | None) -> list[tuple[str, Callable[[], object]]]:
    if points is None:
        points = ()
        if any(map(_may_offer, sys.path)):
            from importlib.metadata import entry_points

            points = entry_points(group=GROUP)
    return [(f"{GROUP}: {point.name}", point.load) for point in points]


def _may_offer(folder: str) -> bool:
    """Return whether a package in a folder may offer vendors, without the slow import of importlib.metadata."""
    try:
        files = Path(folder).glob("*-info/entry_points.txt")
        return Path(folder).is_file() or any(GROUP.encode() in path.read_bytes() for path in files)
    except OSError:
        return True


def _broken_problem(source: str, reason: str) -> Problem:
    return Problem(
        where=clean(source),
        message=f"Cannot load the vendor module {clean(source)}: {clean(reason, 300)}.",
        hint="The other vendors are not affected. Update or remove the module.",
    )


class Backends(Mapping[str, InventoryBackend]):
    """The backends of one host by vendor name, each created on first use."""

    def __init__(self, host: Host, vendors: Iterable[Vendor]) -> None:
        """Use `vendors` on `host`."""
        self._host = host
        self._vendors = {vendor.name: vendor for vendor in vendors}
        self._backends: dict[str, InventoryBackend] = {}
        self.drivers: Mapping[str, tuple[str, ...]] = {vendor.name: vendor.drivers for vendor in self._vendors.values()}
        """Kernel drivers of each vendor's controllers."""

    def __getitem__(self, name: str) -> InventoryBackend:
        """Return the backend of a vendor. If it cannot be created, return a substitute that reports the problem."""
        if name not in self._backends:
            try:
                self._backends[name] = self._vendors[name].backend(self._host)
            except KeyError:
                raise
            except Exception as error:  # a broken vendor must not affect the others
                self._backends[name] = UnusableBackend(_broken_problem(name, f"{type(error).__name__}: {error}"))
        return self._backends[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the vendors' names."""
        return iter(self._vendors)

    def __len__(self) -> int:
        """Return the number of vendors."""
        return len(self._vendors)

    async def present(self) -> Mapping[str, InventoryBackend]:
        """Return the backends that may have devices on this host. Other backends are not created."""
        asked = [vendor for vendor in self._vendors.values() if vendor.name not in self._backends]
        answers = await asyncio.gather(*(vendor.present(self._host) for vendor in asked), return_exceptions=True)
        absent = {vendor.name for vendor, answer in zip(asked, answers, strict=True) if answer is False}
        return {name: self[name] for name in self._vendors if name not in absent}


class UnusableBackend:
    """Substitute for a backend that cannot be created."""

    def __init__(self, problem: Problem) -> None:
        """Store `problem`, the reason why the backend cannot be created."""
        self._problem = problem

    async def inventory(self) -> Inventory:
        """Return an inventory with only the problem."""
        return Inventory(problems=(self._problem,))

    async def diagnose(self) -> tuple[Problem, ...]:
        """Return the problem."""
        return (self._problem,)


class MachineBackends:
    """All backends of one host."""

    def __init__(self, host: Host, vendors: Iterable[Vendor], problems: Iterable[Problem] = ()) -> None:
        """Use `vendors` on `host`. `problems`: problems of the vendor registry."""
        self._remembering_host = with_timeout_memory(host)
        self.host = CachingHost(self._remembering_host)
        """Host that all backends use."""
        self.backends = Backends(self.host, vendors)
        """Backends by vendor name."""
        self._problems = tuple(problems)
        self._answers: Mapping[str, Inventory] = {}
        self._scanned_at = time.monotonic()
        self.last_readings: dict[Target, Mapping[str, Reading]] = {}
        """Last readings of each target."""
        self._read_since_scan: set[Target] = set()
        self._read_problems: dict[Target, Problem] = {}
        self.waited_for: frozenset[str] = frozenset()
        """Vendors that have not answered in the current scan, or in the last one if it was abandoned."""

    @classmethod
    def of(cls, host: Host) -> MachineBackends:
        """Return the backends of a host, with all available vendors."""
        registry = find_vendors()
        return cls(host, registry.vendors, registry.problems)

    def backend(self, target: Target) -> InventoryBackend:
        """Return the backend of a target. Raises NotFoundError if there is none."""
        try:
            return self.backends[target.backend]
        except KeyError:
            raise NotFoundError(
                f"No backend is named {clean(target.backend)}.", hint=f"Available backends: {', '.join(self.backends)}."
            ) from None

    def setter(self, target: Target) -> SettingsBackend:
        """Return the backend that sets a target's settings. Raises NotFoundError if it has no settings."""
        backend = self.backend(target)
        if not isinstance(backend, SettingsBackend):
            raise NotFoundError(
                f"{clean(str(target))} has no settings.",
                hint="`raidbench doctor` shows whether a tool is missing.",
            )
        return backend

    def settings(self, target: Target) -> tuple[Setting, ...]:
        """Return the declared settings of a target; () if it has none. Raises NotFoundError like `backend`."""
        backend = self.backend(target)
        return backend.settings(target) if isinstance(backend, SettingsBackend) else ()

    async def read(self, target: Target) -> Mapping[str, Reading]:
        """Return a target's present readings. Raises NotFoundError, DeviceGoneError, ToolFailedError if unreadable."""
        backend = self.backend(target)
        readings = await backend.read(target) if isinstance(backend, SettingsBackend) else {}
        self._keep(target, readings)
        return readings

    async def read_cached(self, target: Target) -> Mapping[str, Reading]:
        """Return the readings that the last scan cached; if there are none, read the target. Raises as `read` does."""
        backend = self.backend(target)
        if not isinstance(backend, CachedReadings):
            return await self.read(target)
        readings = await backend.readings(target)
        self._keep(target, readings)
        return readings

    def _keep(self, target: Target, readings: Mapping[str, Reading]) -> None:
        self.last_readings[target] = readings
        self._read_since_scan.add(target)
        self._read_problems.pop(target, None)

    def mark_unread(self, targets: Iterable[Target]) -> None:
        """Let `read_remaining_devices` read these targets again, because they were changed."""
        self._read_since_scan.difference_update(targets)

    async def read_devices(self, inventory: Inventory) -> tuple[DeviceReadings, tuple[Problem, ...]]:
        """Return the readings of all devices, cached ones if available, and the problems of unreadable devices."""
        self._read_since_scan.clear()
        return await self.read_remaining_devices(inventory)

    async def read_remaining_devices(self, inventory: Inventory) -> tuple[DeviceReadings, tuple[Problem, ...]]:
        """Return what `read_devices` returns, but read only the devices that were not read since the last scan."""

        async def ask(target: Target) -> None:
            try:
                await self.read_cached(target)
            except Exception as error:  # a broken vendor must not affect the others
                self._read_problems[target] = _failure(str(target), error)
                self._read_since_scan.add(target)

        targets = [device.target for device in inventory.devices]
        await asyncio.gather(*(ask(target) for target in targets if target not in self._read_since_scan))
        problems = {target: self._read_problems[target] for target in targets if target in self._read_problems}
        readable = [target for target in targets if target not in problems and target in self.last_readings]
        return {target: self.last_readings[target] for target in readable}, tuple(problems.values())

    async def quick_settings(self, device: Device, inventory: Inventory) -> dict[str, tuple[Setting, Reading]]:
        """Return those settings of an array or a drive that can be read without delay, by key.

        These are cached settings and settings of the kernel. A drive's own settings that need a program are left out.
        If an array and its kernel disk have the same key, the array's setting is returned.
        """
        if isinstance(device, Controller):
            return {}
        twin = inventory.twin(device)
        slow = isinstance(device, Drive) and device.target.backend != KERNEL
        asked = [twin.target] if twin is not None else []
        asked += [] if slow and not isinstance(self.backend(device.target), CachedReadings) else [device.target]
        values: dict[str, tuple[Setting, Reading]] = {}
        for target in asked:
            readings = await self.read_cached(target)
            values |= {
                setting.key: (setting, readings[setting.key])
                for setting in self.settings(target)
                if setting.key in readings
            }
        return values

    def using_last_scan(self, seconds: float = math.inf) -> AbstractContextManager[None]:
        """Return a context in which program output is reused instead of running the program again.

        Only output since the last scan is reused, and none older than `seconds`.

        Output from before a change is not reused. Use it only for display: before any action, everything is read again.
        """
        return cached_since(max(self._scanned_at, time.monotonic() - seconds))

    async def probe(self, listener: InventoryListener | None = None) -> Inventory:
        """Scan all backends concurrently and return the joined inventory in the order of the vendors.

        `listener` receives each vendor's inventory when it arrives, and its parts if the backend reports them, so that
        a screen can show them at once.
        """
        self._scanned_at = time.monotonic()
        self._read_since_scan.clear()
        present = await self.backends.present()
        self.waited_for = frozenset(present)

        async def ask(name: str, backend: InventoryBackend) -> Inventory:
            parts: set[str] = set()

            def forward(part: str, inventory: Inventory) -> None:
                parts.add(part)
                if listener is not None:
                    listener(part, inventory)

            if listener is not None and isinstance(backend, IncrementalInventory):
                inventory = await inventory_or_problem(name, backend.inventory_in_parts(forward))
            else:
                inventory = await inventory_or_problem(name, backend.inventory())
            self.waited_for -= {name}
            if listener is not None and not parts:
                listener(name, inventory)
            return inventory

        answers = await asyncio.gather(*(ask(name, backend) for name, backend in present.items()))
        self._answers = dict(zip(present, answers, strict=True))
        return await self._merged(present)

    async def rescan_after_change(self, vendors: Iterable[str]) -> Inventory:
        """Return the inventory after a change of devices of these vendors.

        Only these vendors and the backends that read the kernel are scanned. Vendors that cache their readings return
        their cached inventory. The inventories of all other vendors are those of the last scan.
        """
        wanted = {*vendors, KERNEL}
        if not wanted <= self._answers.keys():
            return await self.probe()
        names = [name for name in self._answers if name in wanted]
        with self.using_last_scan():
            inventories = await asyncio.gather(
                *(inventory_or_problem(name, _cached_or_read(self.backends[name])) for name in names)
            )
            self._answers = {**self._answers, **dict(zip(names, inventories, strict=True))}
            return await self._merged({name: self.backends[name] for name in self._answers})

    async def _merged(self, present: Mapping[str, InventoryBackend]) -> Inventory:
        merged = Inventory(problems=self._problems)
        for answer in self._answers.values():
            merged = merged.merge(answer)
        inventory = join_views(merged)
        for name, backend in present.items():
            if isinstance(backend, InventoryEnricher):  # these backends add facts to the inventories of the others
                inventory = join_views(
                    await inventory_or_problem(name, backend.complete(inventory), otherwise=inventory)
                )
        return inventory.merge(
            Inventory(problems=tuple(_unreported_timeouts(self._remembering_host.silences(), inventory.problems)))
        )


def _unreported_timeouts(silences: Iterable[ToolTimeoutError], problems: Iterable[Problem]) -> Iterator[Problem]:
    """Yield one problem for each disk that caused a timeout, unless a backend has reported the timeout."""
    messages = [problem.message for problem in problems]
    reported: set[tuple[str, ...]] = set()
    for error in silences:
        if error.devices not in reported and not any(error.message in message for message in messages):
            from backends.topology.tree import node_path  # Commands that look at no device start without the topology.

            where = ", ".join(map(node_path, error.devices)) or PROGRAMS
            yield Problem(where=where, message=error.message, hint=error.hint)
        reported |= {error.devices} if error.devices else set()


def _cached_or_read(backend: InventoryBackend) -> Awaitable[Inventory]:
    return backend.cached_inventory() if isinstance(backend, CachedInventory) else backend.inventory()


async def inventory_or_problem(name: str, scan: Awaitable[Inventory], otherwise: Inventory = EMPTY) -> Inventory:
    """Return a backend's inventory. If the scan fails, return `otherwise` with a problem that describes the failure."""
    try:
        return await scan
    except Exception as error:
        return otherwise.merge(Inventory(problems=(_failure(name, error),)))


def _failure(where: str, error: Exception) -> Problem:
    """Return the problem that describes why a backend or a device could not be read."""
    if isinstance(error, RaidbenchError):
        return Problem(where=where, message=error.message, hint=error.hint)
    return Problem(
        where=where,
        message=f"{where} stopped with {type(error).__name__}: {clean(str(error), 300)}.",
        hint="This is a defect of raidbench or of the vendor module. Run `raidbench capture` and report it.",
    )
