"""Writes metrics as text in the OpenMetrics format, which the textfile collector of node_exporter can read."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from app.features.check.collector import gather
from app.features.check.runner import evaluate
from app.features.check.snapshot import SystemSnapshot
from app.features.metrics.definitions import METRICS, PREFIX, MetricsSnapshot
from backends.errors import RefusedError, storage_errors
from backends.host import Host
from backends.input_file import open_input
from backends.model import Media, Target
from backends.output_file import replace_file
from backends.pci import Link, address_of
from backends.registry import MachineBackends
from backends.text import clean
from backends.topology import kernel_name
from backends.version import program_version

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric as Family

HIDDEN = ("serial", "wwn")
"""Labels that identify the machine. Only the metric `target_info` has them, and `--no-serials` empties them."""

_FIRST = f"# HELP {PREFIX}"
"""Text with which every metrics file of raidbench begins."""


async def take_snapshot(machine: MachineBackends) -> MetricsSnapshot:
    """Scan all devices, and return the result. Each controller is queried only once."""
    began = time.monotonic()
    inventory = await machine.probe()
    readings, problems = await machine.read_devices(inventory)
    snapshot = await gather(machine.host, inventory, readings)
    return MetricsSnapshot(
        inventory=inventory,
        settings={target: machine.settings(target) for target in readings},
        readings=readings,
        checked=evaluate(snapshot, problems=problems),
        links=await _links(machine.host, snapshot),
        version=program_version(),
        at=round(time.time(), 3),
        seconds=round(time.monotonic() - began, 3),
    )


def metrics_text(snapshot: MetricsSnapshot, *, serials: bool = True) -> str:
    """Return all metrics in the OpenMetrics format. Without `serials`, the labels in `HIDDEN` have empty values."""
    from prometheus_client.openmetrics.exposition import generate_latest

    text: bytes = generate_latest(_Families(snapshot, serials=serials))
    return text.decode()


def metrics_json(snapshot: MetricsSnapshot, *, serials: bool = True) -> list[dict[str, object]]:
    """Return all metrics for JSON output: name, help text, and samples with their labels."""
    return [
        {
            "name": metric.name,
            "help": metric.help,
            "samples": [
                {"labels": dict(_label_pairs(metric.labels, values, serials=serials)), "value": figure}
                for values, figure in metric.samples(snapshot)
            ],
        }
        for metric in METRICS
    ]


def _label_pairs(labels: tuple[str, ...], values: tuple[str, ...], *, serials: bool) -> Iterator[tuple[str, str]]:
    for label, value in zip(labels, values, strict=True):
        yield label, "" if label in HIDDEN and not serials else clean(value, 300)


async def _links(host: Host, snapshot: SystemSnapshot) -> dict[Target, Link]:
    """Return the PCIe links of controllers and NVMe drives. An NVMe drive with several paths has no entry."""
    addresses = {controller.target: controller.pci for controller in snapshot.inventory.controllers}
    for drive in snapshot.inventory.drives:
        if drive.media is Media.NVME and drive.device is not None:
            addresses[drive.target] = address_of(await host.link(f"/sys/block/{kernel_name(drive.device)}"))
    return {
        target: snapshot.slots[pci].link
        for target, pci in addresses.items()
        if pci is not None and pci in snapshot.slots
    }


class _Families:
    """Collector that passes the metrics of a snapshot to prometheus_client."""

    def __init__(self, snapshot: MetricsSnapshot, *, serials: bool) -> None:
        self._looked, self._serials = snapshot, serials

    def collect(self) -> Iterator[Family]:
        """Yield each metric that has at least one sample."""
        from prometheus_client.metrics_core import GaugeMetricFamily

        for metric in METRICS:
            family = GaugeMetricFamily(metric.name, metric.help, labels=metric.labels)
            for values, figure in metric.samples(self._looked):
                shown = [value for _, value in _label_pairs(metric.labels, values, serials=self._serials)]
                family.add_metric(shown, figure)
            if family.samples:
                yield family


def write(file: Path, text: str) -> None:
    """Write a metrics file that all users can read. It replaces an earlier file of raidbench atomically.

    A concurrent reader sees either the old or the new text. Raises RefusedError if the existing file was not written by
    raidbench, StorageError if the file cannot be written.
    """
    shown = clean(str(file), 300)
    with storage_errors(f"{shown} cannot be written"):
        if file.is_symlink() or (file.exists() and not _is_ours(file)):
            raise RefusedError(
                f"{shown} exists and does not contain metrics of raidbench.", hint="Specify another file."
            )
        replace_file(file, text, mode=0o644, exact=True, durable=True)  # readable for the user of node_exporter


def _is_ours(file: Path) -> bool:
    if not file.is_file():
        return False
    with open_input(file) as handle:
        begin = handle.read(len(_FIRST))
    return begin in (b"", _FIRST.encode())
