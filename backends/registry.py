"""Finds the vendors and asks all of them at once; a broken one is a problem, never a crash."""

from __future__ import annotations

import asyncio
import importlib
import pkgutil
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points

import backends.vendors
from backends.errors import NotFoundError, RaidbenchError
from backends.host import Host
from backends.joining import joined
from backends.model import Inventory, Problem, Target
from backends.protocol import Backend, CompletesInventory, TellsParts, Told, Vendor
from backends.text import clean

GROUP = "raidbench.vendors"
"""Entry-point group under which other packages offer a `Vendor`."""


EMPTY = Inventory()
"""What is known before anything was found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The vendors there are."""

    vendors: tuple[Vendor, ...]
    """Ours in the order of their names, then others'."""
    problems: tuple[Problem, ...] = ()
    """Modules and packages that could not be used."""


def find_vendors(*, plugins: Iterable[EntryPoint] | None = None) -> Found:
    """Every `VENDOR` of the modules in backends.vendors, then of the entry points; the first of a name counts."""
    vendors: dict[str, Vendor] = {}
    problems: list[Problem] = []
    for source, load in (*_modules(), *_plugins(plugins)):
        try:
            vendor = load()
            name = vendor.name
        except Exception as error:  # whatever a plugin does wrong, the rest must start
            problems.append(_broken(source, f"{type(error).__name__}: {error}"))
            continue
        if not name or not callable(getattr(vendor, "backend", None)):
            problems.append(_broken(source, "it exports no vendor"))
        elif name in vendors:
            problems.append(_broken(source, f"there is a vendor {name} already"))
        else:
            vendors[name] = vendor
    return Found(vendors=tuple(vendors.values()), problems=tuple(problems))


def _modules() -> list[tuple[str, Callable[[], Vendor]]]:
    names = sorted(module.name for module in pkgutil.iter_modules(backends.vendors.__path__))
    return [(name, lambda name=name: _load(name)) for name in names if not name.startswith("_")]  # type: ignore[misc]


def _load(name: str) -> Vendor:
    """The vendor of a module."""
    module = importlib.import_module(f"{backends.vendors.__name__}.{name}")
    vendor: Vendor = module.VENDOR
    return vendor


def _plugins(points: Iterable[EntryPoint] | None) -> list[tuple[str, Callable[[], Vendor]]]:
    known = entry_points(group=GROUP) if points is None else points
    return [(f"{GROUP}: {point.name}", point.load) for point in known]


def _broken(source: str, reason: str) -> Problem:
    return Problem(
        where=clean(source),
        message=f"The vendor module {clean(source)} cannot be used: {clean(reason, 300)}.",
        hint="The other vendors work without it; update or remove it.",
    )


class Machine:
    """All backends of one host."""

    def __init__(self, host: Host, vendors: Iterable[Vendor], problems: Iterable[Problem] = ()) -> None:
        """Backends of `vendors` on `host`; `problems` are those of finding the vendors."""
        self.host = host
        """The host they all work on."""
        self.backends: dict[str, Backend] = {}
        """Backends by vendor name."""
        self._problems = list(problems)
        for vendor in vendors:
            try:
                self.backends[vendor.name] = vendor.backend(host)
            except Exception as error:
                self._problems.append(_broken(vendor.name, f"{type(error).__name__}: {error}"))

    @classmethod
    def of(cls, host: Host) -> Machine:
        """The machine with every vendor found."""
        found = find_vendors()
        return cls(host, found.vendors, found.problems)

    def backend(self, target: Target) -> Backend:
        """The backend a target belongs to. Raises NotFoundError."""
        try:
            return self.backends[target.backend]
        except KeyError:
            raise NotFoundError(
                f"There is no backend {clean(target.backend)}.", hint=f"There are: {', '.join(self.backends)}."
            ) from None

    async def probe(self, told: Told | None = None) -> Inventory:
        """Everything that all backends find, asked concurrently.

        `told` hears of each vendor's inventory as it comes in, and of its parts where it tells them, for a screen that
        fills up; the merged inventory is in the order of the vendors, whoever answered first, and joined.
        """

        async def ask(name: str, backend: Backend) -> Inventory:
            if told is not None and isinstance(backend, TellsParts):
                return await guarded(name, backend.inventory_in_parts(told))
            inventory = await probe(name, backend)
            if told is not None:
                told(name, inventory)
            return inventory

        answers = await asyncio.gather(*(ask(name, backend) for name, backend in self.backends.items()))
        merged = Inventory(problems=tuple(self._problems))
        for answer in answers:
            merged = merged.merge(answer)
        return await self._completed(joined(merged))

    async def _completed(self, inventory: Inventory) -> Inventory:
        """What those backends add that wait for the others; one that fails adds a problem."""
        for name, backend in self.backends.items():
            if isinstance(backend, CompletesInventory):
                inventory = joined(await guarded(name, backend.complete(inventory), otherwise=inventory))
        return inventory


async def probe(name: str, backend: Backend) -> Inventory:
    """One backend's inventory; its failure becomes a problem of an empty one."""
    return await guarded(name, backend.inventory())


async def guarded(name: str, looking: Awaitable[Inventory], otherwise: Inventory = EMPTY) -> Inventory:
    """What a backend finds; its failure becomes a problem of the inventory that there is otherwise."""
    try:
        return await looking
    except RaidbenchError as error:
        return otherwise.merge(Inventory(problems=(Problem(where=name, message=error.message, hint=error.hint),)))
    except Exception as error:
        message = f"{name} stopped with {type(error).__name__}: {clean(str(error), 300)}."
        hint = "This is a defect of raidbench or of the vendor module; `raidbench capture` makes a report of it."
        return otherwise.merge(Inventory(problems=(Problem(where=name, message=message, hint=hint),)))
