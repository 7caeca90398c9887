"""Table of all metrics, each with its name, help text, labels and the function that returns its values. No I/O."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field

from app.features.check.finding import Severity
from app.features.check.runner import CheckResult
from app.features.check.snapshot import fact, fact_limit, fact_number
from backends.model import Array, Controller, Drive, Inventory, Target, kind_of
from backends.pci import Link
from backends.settings import Reading, Setting
from backends.values import dataclass

PREFIX = "raidbench_"

Device = Controller | Array | Drive

Sample = tuple[tuple[str, ...], float]
"""The label values, in the order of `Metric.labels`, and the value of the metric."""

PROTECTIONS = ("optimal", "learning", "charging", "degraded", "failed", "missing", "unknown")
"""States of the battery or capacitor that protects a cache against power loss."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsSnapshot:
    """Result of a scan of the machine, from which all metrics are computed."""

    inventory: Inventory = field(default_factory=Inventory)
    """All devices of the machine."""
    settings: Mapping[Target, tuple[Setting, ...]] = field(default_factory=dict)
    """Settings that each target has."""
    readings: Mapping[Target, Mapping[str, Reading]] = field(default_factory=dict)
    """Values of each target's settings, by key."""
    checked: CheckResult = field(default_factory=CheckResult)
    """Result of the check rules."""
    links: Mapping[Target, Link] = field(default_factory=dict)
    """PCI Express links of controllers and drives."""
    version: str = ""
    """Version of raidbench."""
    at: float = 0.0
    """Time of the scan, in seconds since 1970."""
    seconds: float = 0.0
    """Duration of the scan in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A metric. All metrics are gauges, which both OpenMetrics and the textfile collector of node_exporter accept."""

    name: str
    """Full name with prefix and unit."""
    help: str
    """Description in one line."""
    labels: tuple[str, ...]
    """Names of the labels. Values of labels must rarely change, because each new value begins a new time series."""
    samples: Callable[[MetricsSnapshot], Iterable[Sample]]
    """Function that returns the samples from a snapshot."""


def _arrays_and_drives(snapshot: MetricsSnapshot) -> Iterator[Array | Drive]:
    """Yield the arrays and drives. A disk that appears several times, such as by several paths, is included once."""
    yield from snapshot.inventory.arrays
    yield from (drive for drive in snapshot.inventory.drives if not drive.shown_elsewhere)


def _devices(snapshot: MetricsSnapshot) -> Iterator[Device]:
    yield from snapshot.inventory.controllers
    yield from _arrays_and_drives(snapshot)


def _of_devices(read: Callable[[Device], float | None]) -> Callable[[MetricsSnapshot], Iterator[Sample]]:
    """Return a function that yields a sample for each device for which `read` returns a number."""

    def samples(snapshot: MetricsSnapshot) -> Iterator[Sample]:
        for device in _devices(snapshot):
            value = read(device)
            if value is not None:
                yield (str(device.target),), round(value, 6)

    return samples


def _info(snapshot: MetricsSnapshot) -> Iterator[Sample]:
    for item in _devices(snapshot):
        model = None if isinstance(item, Array) else item.model
        firmware = None if isinstance(item, Array) else item.firmware
        serial = None if isinstance(item, Array) else item.serial
        wwn = item.wwn if isinstance(item, Drive) else None
        device = None if isinstance(item, Controller) else item.device
        kind = kind_of(item)
        level = item.level.value if isinstance(item, Array) else None
        media = item.media.value if isinstance(item, Drive) else None
        controller = item.target if isinstance(item, Controller) else item.controller
        array = item.target if isinstance(item, Array) else item.array if isinstance(item, Drive) else None
        owners = (str(controller or ""), str(array or ""))
        texts = (kind, *owners, model, firmware, level, media, device, serial, wwn)
        yield (str(item.target), *(text or "" for text in texts)), 1.0


def _states(snapshot: MetricsSnapshot) -> Iterator[Sample]:
    for device in _arrays_and_drives(snapshot):
        yield (str(device.target), device.state.value), 1.0


def _protection(snapshot: MetricsSnapshot) -> Iterator[Sample]:
    for controller in snapshot.inventory.controllers:
        if controller.protection is not None and controller.protection.kind != "none":
            state = controller.protection.state if controller.protection.state in PROTECTIONS else "unknown"
            yield (str(controller.target), controller.protection.kind, state), 1.0


def _protection_value(name: str) -> Callable[[MetricsSnapshot], Iterator[Sample]]:
    """Return a function that yields a sample of `Protection`'s field `name` for each controller that reports it."""

    def samples(snapshot: MetricsSnapshot) -> Iterator[Sample]:
        for controller in snapshot.inventory.controllers:
            value = None if controller.protection is None else getattr(controller.protection, name)
            if value is not None:
                yield (str(controller.target),), float(value)

    return samples


def _settings(snapshot: MetricsSnapshot) -> Iterator[tuple[Target, Setting, Reading]]:
    for target, readings in snapshot.readings.items():
        for setting in snapshot.settings.get(target, ()):
            reading = readings.get(setting.key)
            if reading is not None and reading.now is not None and not setting.secret:
                yield target, setting, reading


def _set_words(snapshot: MetricsSnapshot) -> Iterator[Sample]:
    for target, setting, reading in _settings(snapshot):
        if not _is_number(now := reading.now or ""):
            yield (str(target), setting.key, now), 1.0


def _set_numbers(snapshot: MetricsSnapshot) -> Iterator[Sample]:
    for target, setting, reading in _settings(snapshot):
        if _is_number(now := reading.now or ""):
            yield (str(target), setting.key), float(now)


def _in_force(snapshot: MetricsSnapshot) -> Iterator[Sample]:
    for target, setting, reading in _settings(snapshot):
        yield (str(target), setting.key), float(not reading.overruled)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19


def _percent_fact(label: str, *, limit: bool = False) -> Callable[[MetricsSnapshot], Iterator[Sample]]:
    """Return a function that yields the percentage in the fact `label` of each device, as a ratio from 0 to 1.

    With `limit`, the function yields the second number in that fact, which is a limit.
    """
    read = fact_limit if limit else fact_number
    return _of_devices(lambda device: None if (value := read(device, label)) is None else value * 0.01)


def _health(name: str, label: str = "", scale: float = 1.0) -> Callable[[MetricsSnapshot], Iterator[Sample]]:
    """Return a function that yields the field `name` of `Health` for each device, multiplied by `scale`.

    If a device does not report the field, the number in its fact `label` is used.
    """

    def read(device: Device) -> float | None:
        value = getattr(device.health, name) if isinstance(device, Drive) else None
        if value is None and label:
            value = fact_number(device, label)
        return None if value is None else float(value) * scale

    return _of_devices(read)


_GIGABITS = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?Gb(?:/s|ps|it/s)", re.IGNORECASE)
"""Matches the speed of a SAS or SATA link as tools print it."""
_PCIE = re.compile(r"([0-9]+(?:\.[0-9]+)?) GT/s(?: PCIe)? x([0-9]+)")
"""Matches the speed and the number of lanes of a PCI Express link."""


def _size(device: Device) -> float | None:
    return None if isinstance(device, Controller) or device.size_bytes is None else float(device.size_bytes)


def _link_rate(device: Device) -> float | None:
    match = _GIGABITS.search(fact(device, "Link") or "")
    return round(float(match[1]) * 1e9 / 8) if match is not None and isinstance(device, Drive) else None


def _pcie(at: int, scale: float) -> Callable[[MetricsSnapshot], Iterator[Sample]]:
    def samples(snapshot: MetricsSnapshot) -> Iterator[Sample]:
        for device in _devices(snapshot):
            link = snapshot.links.get(device.target)
            shown = None if link is None else link.shown
            match = _PCIE.search(shown or fact(device, "PCIe link") or "")
            if match is not None:
                yield (str(device.target),), round(float(match[at]) * scale)

    return samples


def _controllers_and_arrays(snapshot: MetricsSnapshot) -> Iterator[Controller | Array]:
    yield from snapshot.inventory.controllers
    yield from snapshot.inventory.arrays


def _tasks(snapshot: MetricsSnapshot) -> Iterator[Sample]:
    for owner in _controllers_and_arrays(snapshot):
        for task in owner.tasks:
            yield (str(owner.target), task.kind), 1.0


def _progress(snapshot: MetricsSnapshot) -> Iterator[Sample]:
    for owner in _controllers_and_arrays(snapshot):
        for task in owner.tasks:
            if task.progress is not None:
                yield (str(owner.target), task.kind), round(task.progress, 6)


def _counts(snapshot: MetricsSnapshot) -> Iterator[Sample]:
    for severity in Severity:
        yield (severity.value,), float(snapshot.checked.count(severity))


def _findings(snapshot: MetricsSnapshot) -> Iterator[Sample]:
    fields = dict.fromkeys(
        (finding.rule.id, finding.rule.severity.value, finding.outcome.where) for finding in snapshot.checked.findings
    )
    for labels in fields:
        yield labels, 1.0


def _metric(
    name: str, help: str, labels: tuple[str, ...], samples: Callable[[MetricsSnapshot], Iterable[Sample]]
) -> Metric:
    return Metric(name=PREFIX + name, help=help, labels=labels, samples=samples)


_AT = ("target",)
_IDENTITY = ("target", "kind", "controller", "array", "model", "firmware", "level", "media", "device", "serial", "wwn")

METRICS: tuple[Metric, ...] = (
    _metric(
        "build_info",
        "1, with the version of raidbench as a label",
        ("version",),
        lambda snapshot: [((snapshot.version,), 1.0)],
    ),
    _metric(
        "last_look_timestamp_seconds",
        "Time of the last scan, in seconds since 1970",
        (),
        lambda snapshot: [((), snapshot.at)],
    ),
    _metric("look_seconds", "Duration of the last scan", (), lambda snapshot: [((), snapshot.seconds)]),
    _metric(
        "problems",
        "Number of devices and tools that did not respond or reported a problem",
        (),
        lambda snapshot: [((), float(len(snapshot.checked.problems)))],
    ),
    _metric("target_info", "1, with the details of a controller, array or drive as labels", _IDENTITY, _info),
    _metric("target_state", "1, with the state of an array or drive as a label", ("target", "state"), _states),
    _metric("target_size_bytes", "Size of an array or a drive", _AT, _of_devices(_size)),
    _metric(
        "cache_protection",
        "1, with the state of the battery or capacitor of a controller as a label",
        ("target", "kind", "state"),
        _protection,
    ),
    _metric(
        "cache_protection_temperature_celsius",
        "Temperature of the battery or capacitor of a controller",
        _AT,
        _protection_value("temperature"),
    ),
    _metric(
        "cache_protection_volts",
        "Voltage of the battery or capacitor of a controller",
        _AT,
        _protection_value("voltage"),
    ),
    _metric(
        "setting_info", "1, with the configured value of a setting as a label", ("target", "key", "value"), _set_words
    ),
    _metric("setting_value", "Configured value of a numeric setting", ("target", "key"), _set_numbers),
    _metric(
        "setting_in_force", "0 if the effective value differs from the configured value", ("target", "key"), _in_force
    ),
    _metric("temperature_celsius", "Temperature", _AT, _health("temperature", "Temperature")),
    _metric(
        "temperature_limit_celsius",
        "Temperature limit that a drive reports",
        _AT,
        _health("temperature_limit"),
    ),
    _metric(
        "endurance_used_ratio",
        "Used share of the rated endurance; may exceed 1",
        _AT,
        _health("wear_percent", "Endurance used", 0.01),
    ),
    _metric("spare_ratio", "Remaining share of the spare blocks of a flash drive", _AT, _percent_fact("Spare")),
    _metric(
        "spare_limit_ratio",
        "Remaining share of spare blocks at which the drive warns",
        _AT,
        _percent_fact("Spare", limit=True),
    ),
    _metric("media_errors", "Media errors of a drive", _AT, _health("media_errors", "Media errors")),
    _metric("other_errors", "Errors of a drive other than media errors", _AT, _health("other_errors")),
    _metric(
        "predictive_errors",
        "Number of predicted failures that a drive reported to its controller",
        _AT,
        _health("predictive_errors"),
    ),
    _metric("predicts_failure", "1 if a drive predicts a failure", _AT, _health("predicts_failure")),
    _metric("drive_locked", "1 if a drive is encrypted and locked", _AT, _health("locked")),
    _metric("drive_foreign", "1 if a drive has a foreign configuration", _AT, _health("foreign")),
    _metric("link_bytes_per_second", "Line rate of the SAS or SATA link of a drive", _AT, _of_devices(_link_rate)),
    _metric(
        "pcie_link_transfers_per_second",
        "Speed per lane of the PCI Express link of a controller or a drive",
        _AT,
        _pcie(1, 1e9),
    ),
    _metric("pcie_link_lanes", "Lanes of the PCI Express link of a controller or a drive", _AT, _pcie(2, 1)),
    _metric("pool_full_ratio", "Used share of a pool", _AT, _percent_fact("Full")),
    _metric("pool_data_full_ratio", "Used share of the data area of a thin pool", _AT, _percent_fact("Used, data")),
    _metric(
        "pool_metadata_full_ratio", "Used share of the metadata of a thin pool", _AT, _percent_fact("Used, metadata")
    ),
    _metric("task_running", "1 while a background task is running", ("target", "task"), _tasks),
    _metric("task_progress_ratio", "Completed share of a background task", ("target", "task"), _progress),
    _metric("findings", "Number of findings of `raidbench check`, by severity", ("severity",), _counts),
    _metric("finding", "1 for each finding of `raidbench check`", ("rule", "severity", "where"), _findings),
    _metric(
        "unknowns",
        "Number of rules without the data they need",
        (),
        lambda snapshot: [((), float(len(snapshot.checked.unknown)))],
    ),
)
"""All metrics, in the order in which they are printed."""


def rows() -> list[str]:
    """Return the lines of the table in docs/metrics.md."""
    head = ["| metric | labels | description |", "| --- | --- | --- |"]
    return head + [
        f"| `{metric.name}` | {' '.join(f'`{label}`' for label in metric.labels)} | {metric.help} |"
        for metric in METRICS
    ]
