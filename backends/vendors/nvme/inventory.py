"""Conversion of the kernel's and the drive's values to the inventory. No I/O."""

from __future__ import annotations

from backends.model import Controller, Drive, Fact, Health, Media, State
from backends.text import clean
from backends.topology.device_identity import identity, model, serial, wwn
from backends.values import dataclass
from backends.vendors.nvme.facts import ControllerId, NamespaceId, NvmeHealth
from backends.vendors.nvme.identify import ZERO_CELSIUS
from backends.vendors.nvme.sysfs import (
    LIVE,
    NAME,
    KernelController,
    KernelNamespace,
    controller_target,
    namespace_target,
)

_DRIVERS = {"pcie": "nvme", "tcp": "nvme_tcp", "rdma": "nvme_rdma", "fc": "nvme_fc", "loop": "nvme_loop"}
"""Kernel driver by transport (drivers/nvme/host, drivers/nvme/target/loop.c)."""

_GONE = ("dead", "deleting", "deleting (no IO)")
_WARNINGS = (
    "spare capacity low",
    "temperature out of range",
    "reliability degraded",
    "read-only",
    "backup of volatile memory failed",
    "persistent memory region unreliable",
)
"""Meanings of the bits of Critical Warning, from bit 0 (NVMe base specification, SMART / Health Information)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerAnswers:
    """Replies of one controller. A value is None if it was not queried or the query failed."""

    about: ControllerId | None = None
    """Result of Identify Controller."""
    health: NvmeHealth | None = None
    """Result of the SMART / Health log."""
    celsius: int | None = None
    """Temperature in degrees Celsius from the kernel (hwmon)."""


def controller(
    device: KernelController, answers: ControllerAnswers, namespaces: tuple[KernelNamespace, ...]
) -> Controller:
    """Return the `Controller` for the inventory."""
    facts = [Fact(label="State", value=device.state)] if device.state not in (None, LIVE) and device.state else []
    if device.transport != "pcie" and device.transport:
        facts.append(Fact(label="Transport", value=clean(f"{device.transport} {device.place or ''}")))
    if len(namespaces) != 1:
        names = ", ".join(space.name for space in namespaces) or "none"
        facts.append(Fact(label="Namespaces", value=names))
    return Controller(
        target=controller_target(device.name),
        vendor=NAME,
        model=device.model,
        serial=device.serial,
        firmware=device.firmware,
        driver=_DRIVERS.get(device.transport or ""),
        pci=device.pci,
        facts=(*facts, *condition(answers)),
    )


def drive(space: KernelNamespace, ident: NamespaceId | None, alone: ControllerAnswers | None) -> Drive:
    """Return the `Drive` for the inventory.

    `alone`: the replies of its controller if the controller has no other namespace; otherwise None.
    """
    node = space.node
    facts = [Fact(label="Namespace", value=str(space.nsid))] if space.nsid is not None else []
    if len(space.controllers) > 1:
        paths = ", ".join(f"{controller.name} {controller.state or 'unknown'}" for controller in space.controllers)
        facts.append(Fact(label="Paths", value=paths))
    if ident is not None and ident.current is not None:
        facts.append(Fact(label="LBA format", value=f"{ident.current.sizes_text} (format {ident.in_use})"))
    if ident is not None and ident.protection:
        facts.append(Fact(label="Protection information", value=f"type {ident.protection}"))
    if alone is not None:
        facts += condition(alone)
    return Drive(
        target=namespace_target(space.name),
        controller=controller_target(space.controller.name),
        model=model(node) or space.controller.model,
        serial=serial(node) or space.controller.serial,
        firmware=clean(node.attributes.get("device/firmware_rev", "")) or space.controller.firmware,
        wwn=wwn(node),
        media=Media.NVME,
        interface="nvme",
        size_bytes=node.size_bytes,
        logical_block=space.logical_block,
        physical_block=space.physical_block,
        state=_state(space),
        health=Health() if alone is None else health_of(alone),
        device=space.device,
        read_only=node.read_only,
        identity=identity(node),
        facts=tuple(facts),
    )


def condition(answers: ControllerAnswers) -> tuple[Fact, ...]:
    """Return facts about temperature, wear and write cache of a drive. Values that are not reported are left out."""
    about, health = answers.about or ControllerId(), answers.health or NvmeHealth()
    cache = {None: None, True: "yes", False: "none: writes are safe when reported done"}[about.has_cache]
    rows = (
        ("Temperature", _temperature(answers.celsius, about, health)),
        ("Endurance used", None if health.percent_used is None else f"{health.percent_used} %"),
        ("Spare", _spare(health)),
        ("Media errors", None if health.media_errors is None else str(health.media_errors)),
        ("Warning", _warnings(health.critical_warning)),
        ("Throttled", _throttled_text(health)),
        ("Volatile write cache", cache),
    )
    return Fact.from_rows(rows)


_FAILING = 0b1101
"""Bit mask of the bits of Critical Warning that predict a failure: spare, reliability, read-only."""


def health_of(answers: ControllerAnswers) -> Health:
    """Return the health of the drive."""
    about, health = answers.about or ControllerId(), answers.health or NvmeHealth()
    now = _celsius(answers.celsius, health)
    return Health(
        predicts_failure=None if health.critical_warning is None else bool(health.critical_warning & _FAILING),
        media_errors=health.media_errors,
        wear_percent=None if health.percent_used is None else float(health.percent_used),
        temperature=None if now is None else float(now),
        temperature_limit=None if about.warning_kelvin is None else float(about.warning_kelvin - ZERO_CELSIUS),
    )


def _state(space: KernelNamespace) -> State:
    """Return ONLINE if all controllers of the namespace are live, DEGRADED if some are, OFFLINE if all are gone."""
    states = [controller.state for controller in space.controllers]
    live = states.count(LIVE)
    if live:
        return State.ONLINE if live == len(states) else State.DEGRADED
    return State.OFFLINE if all(state in _GONE for state in states) else State.UNKNOWN


def _temperature(celsius: int | None, about: ControllerId, health: NvmeHealth) -> str | None:
    now = _celsius(celsius, health)
    if now is None:
        return None
    limit = about.warning_kelvin
    return f"{now} °C" if limit is None else f"{now} °C (warns at {limit - ZERO_CELSIUS} °C)"


def _celsius(celsius: int | None, health: NvmeHealth) -> int | None:
    """Return the temperature in degrees Celsius; None without a sensor. Drives in clouds then report 0 kelvin."""
    now = celsius if health.kelvin is None else health.kelvin - ZERO_CELSIUS
    return None if now is None or now <= -ZERO_CELSIUS else now


def _spare(health: NvmeHealth) -> str | None:
    """Return the spare capacity, such as `100 % (warns at 10 %)`; None if not reported, or if both are 0 (QEMU)."""
    if health.spare is None or (not health.spare and not health.spare_threshold):
        return None
    limit = f" (warns at {health.spare_threshold} %)" if health.spare_threshold is not None else ""
    return f"{health.spare} %{limit}"


def _warnings(bits: int | None) -> str | None:
    if not bits:
        return None
    parts = [text for bit, text in enumerate(_WARNINGS) if bits >> bit & 1]
    return ", ".join(parts) or f"unknown (0x{bits:02x})"


def _throttled_text(health: NvmeHealth) -> str | None:
    """Return how often and how long the drive was too warm (`3 times lightly, 5 min too warm`); None if never."""
    parts = [
        f"{count} times {how}"
        for count, how in ((health.throttled_light, "lightly"), (health.throttled_heavy, "heavily"))
        if count
    ]
    if health.warning_minutes:
        parts.append(f"{health.warning_minutes} min too warm")
    return ", ".join(parts) or None
