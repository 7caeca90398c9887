"""Inventory objects from the data of fio-status. No I/O."""

from __future__ import annotations

from collections.abc import Iterable

from backends.model import Controller, Drive, Fact, Health, Media, Problem, Scope, State, Target
from backends.vendors.fusionio.facts import Adapter, Cards, IoVolume, Module
from backends.vendors.fusionio.text import MODULE, VOLUME

NAME = "fusionio"
"""Prefix of the targets of this backend."""


def controller_target(name: str) -> Target:
    """Return the target of a module, by the name of its control node."""
    return Target(backend=NAME, address=name, scope=Scope.CONTROLLER)


def drive_target(name: str) -> Target:
    """Return the target of a block device, by its kernel name."""
    return Target(backend=NAME, address=name)


def is_drive(address: str) -> bool:
    """Return whether `address` is the name of a block device. Any other string would be unsafe as part of a path."""
    return VOLUME.fullmatch(address) is not None


def is_controller(address: str) -> bool:
    """Return whether this is the name of a control node."""
    return MODULE.fullmatch(address) is not None


def controller(module: Module, cards: Cards) -> Controller:
    """Return a module as a controller of the inventory."""
    adapter = cards.adapter_of(module.name) or Adapter()
    facts = [("State", module.state if module.state != "Attached" else None)]
    facts += [("Adapter", adapter.kind), ("External power", adapter.external_power)]
    facts += [("Power limit", _watts(adapter.power_limit)), ("Power", _watts(adapter.power))]
    facts += [("PCIe link", module.link)]
    return Controller(
        target=controller_target(module.name),
        vendor=NAME,
        model=adapter.product or (None if cards.cut else module.product),
        serial=module.serial or adapter.serial,
        firmware=module.firmware,
        driver=None if cards.driver is None else f"iomemory-vsl {cards.driver}",
        pci=f"0000:{module.pci}" if module.pci is not None and module.pci.count(":") == 1 else module.pci,
        facts=Fact.from_rows(facts),
    )


def drive(volume: IoVolume, module: Module, cards: Cards) -> Drive:
    """Return a block device of a module as a drive of the inventory."""
    adapter = cards.adapter_of(module.name) or Adapter()
    return Drive(
        target=drive_target(volume.name),
        controller=controller_target(module.name),
        model=adapter.product or (None if cards.cut else module.product),
        serial=module.serial or adapter.serial,
        firmware=module.firmware,
        media=Media.SSD,
        interface="pcie",
        size_bytes=_size(volume),
        logical_block=sector(volume, module),
        state=_state(volume, module),
        health=_health(module),
        device=f"/dev/{volume.name}",
        facts=Fact.from_rows(_condition(module)),
    )


def _watts(text: str | None) -> str | None:
    """Return the power with its unit. The JSON has only a number, because its key names the unit."""
    return f"{text}W" if text is not None and text.replace(".", "", 1).isdigit() else text


def problems(module: Module) -> tuple[Problem, ...]:
    """Return the warnings and errors of the module as problems."""
    where = f"{NAME}:{module.name}"
    return tuple(Problem(where=where, message=f"{module.name}: {text}") for text in module.trouble)


def sector(volume: IoVolume, module: Module) -> int | None:
    """Return the sector size of a volume in bytes, or None if unknown.

    If fio-status does not report it for the only volume of a module, the size in the module's format is used.
    """
    if volume.sector_bytes is not None:
        return volume.sector_bytes
    return module.sector_bytes if len(module.volumes) == 1 else None


def _size(volume: IoVolume) -> int | None:
    if volume.size_bytes is not None:
        return volume.size_bytes
    if volume.sectors is not None and volume.sector_bytes is not None:
        return volume.sectors * volume.sector_bytes
    return None if volume.gigabytes is None else round(volume.gigabytes * 10**9)


def _state(volume: IoVolume, module: Module) -> State:
    if module.reserve_state not in (None, "Healthy"):
        return State.DEGRADED
    return {"online": State.ONLINE, "offline": State.OFFLINE}.get((volume.state or "").lower(), State.UNKNOWN)


def _health(module: Module) -> Health:
    """Return the module's health. Low spare flash predicts failure: without it a module stops accepting writes."""
    life = module.life_percent
    return Health(
        predicts_failure=None if module.reserve_state is None else module.reserve_state != "Healthy",
        wear_percent=None if life is None else round(100 - life, 2),
        temperature=module.celsius,
    )


def _condition(module: Module) -> Iterable[tuple[str, str | None]]:
    """Yield label and value of each fact about wear, temperature and power; a value of None if it is not reported."""
    if module.celsius is not None:
        most = "" if module.celsius_most is None else f" (at most {module.celsius_most:.0f} °C)"
        yield "Temperature", f"{module.celsius:.0f} °C{most}"
    if module.life_percent is not None:
        yield "Endurance used", f"{100 - module.life_percent:.2f} %"
    if module.rated_petabytes is not None:
        yield "Rated endurance", f"{module.rated_petabytes * 1000:g} TB"
    if module.written_bytes is not None:
        yield "Flash written", f"{module.written_bytes / 10**12:.1f} TB"
    if module.reserve_percent is not None:
        warns = "" if module.reserve_warns is None else f" (warns at {module.reserve_warns:g} %)"
        yield "Spare", f"{module.reserve_percent:g} %{warns}"
    yield "Reserve space", module.reserve_state if module.reserve_state != "Healthy" else None
    yield "Power-loss protection", module.protection
    yield "Write throttling", module.throttling if module.throttling != "None" else None
