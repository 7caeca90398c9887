"""Labels of settings, job fields and provenance facts. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from app.core.session.unit_labels import setting_label, value_text, within_sentence
from backends.registry import declared_settings
from widgets.text_utils import units

if TYPE_CHECKING:
    from app.core.session.sweep_record import SweepRecord
    from app.core.session.sweep_steps import Design, PublishedFigure, SkippedCell, SweepCell

_IN_FORCE = "in_force_"
_Named = TypeVar("_Named", "SweepCell", "SkippedCell", "PublishedFigure")
_BENEATH = {
    "backing_file": "path of the backing file",
    "backing_inode": "inode of the backing file",
    "backing_bytes": "size of the backing file",
    "size_bytes": "size",
    "boot_id": "boot",
    "cpu": "processor",
    "cores": "number of processors",
    "memory_bytes": "memory",
    "numa_node": "NUMA node",
    "pci": "PCI address",
    "pcie_link": "PCIe link",
    "pcie_link_max": "best PCIe link",
    "irq_affinity": "IRQ affinity",
}
"""Labels of those provenance facts whose keys are not readable as text, by key."""


@cache
def _fields() -> dict[str, str]:
    """Return the labels of job fields by key. They are imported on demand, because a device list does not need them."""
    from app.core.fio.fields import FIELDS

    return {field.key: field.label for field in FIELDS}


def key_name(key: str) -> str:
    """Return the label of a key of a setting, a job field or a provenance fact.

    For example, `Read-ahead` for `read_ahead`, `Kernel read-ahead` for `read_ahead_kb`, `Write-mostly, sda1` for
    `write_mostly.sda1`, and `Queue depth` for `iodepth`.
    """
    if key.partition(".")[0] in declared_settings():
        return setting_label(key)
    if key.startswith(_IN_FORCE):
        return f"{key_name(key.removeprefix(_IN_FORCE))} in force"
    return _fields().get(key) or _BENEATH.get(key) or key.replace("_", " ")


def key_heading(key: str) -> str:
    """Return the label of a key as a heading, with a capital letter."""
    name = key_name(key)
    return f"{name[:1].upper()}{name[1:]}"


def with_value(name: str, value: str) -> str:
    """Return a name with its value: `read-ahead 128 KiB`; only the value if the value begins with the name."""
    return value if value.casefold().startswith(name.casefold()) else f"{name} {value}"


def key_value(key: str, value: str | None) -> str:
    """Return the value of a key with its unit: `4096 KiB`; a dash if no value was recorded."""
    return value_text(key.removeprefix(_IN_FORCE).partition(".")[0], value or "") or units.NOTHING


def field_name(key: str) -> str:
    """Return the label of a key for use within a sentence: `read-ahead`, `queue depth`, but `FastPath`."""
    return within_sentence(key_name(key))


def setting_text(key: str, value: str | None) -> str:
    """Return a setting or job field with its value for use within a sentence: `read-ahead none`, `queue depth 64`."""
    if value and key in _fields():
        from app.core.fio.fields import field_text

        return field_text(key, value)
    return f"{field_name(key)} {key_value(key, value)}"


def setup_label(row: str) -> str:
    """Return the label of a configuration of a sweep: `Read-ahead none, Strip size 256 KiB`.

    A name that the user gave stays unchanged.
    """
    return ", ".join(_setup_part_label(part) for part in row.split(", "))


def _setup_part_label(part: str) -> str:
    key, equals, value = part.partition("=")
    return with_value(key_name(key), key_value(key, value)) if equals and key in declared_settings() else part


def workload_label(column: str) -> str:
    """Return the label of a workload of a sweep: `mixed-4k, queue depth 8`.

    A name that the user gave stays unchanged.
    """
    return ", ".join(_workload_part_label(part) for part in column.split(", "))


def _workload_part_label(part: str) -> str:
    key, equals, value = part.partition("=")
    return setting_text(key, value) if equals and key in _fields() else part


def with_labels(record: SweepRecord) -> SweepRecord:
    """Return a sweep with readable labels for its configurations and workloads."""
    return replace(record, design=design_with_labels(record.design), cells=tuple(map(cell_with_labels, record.cells)))


def design_with_labels(design: Design) -> Design:
    """Return the design of a sweep with readable labels for its configurations and workloads."""
    cells, skipped = tuple(map(cell_with_labels, design.cells)), tuple(map(cell_with_labels, design.skipped))
    return replace(design, cells=cells, skipped=skipped, published=tuple(map(cell_with_labels, design.published)))


def cell_with_labels(cell: _Named) -> _Named:
    """Return a cell of a sweep with readable labels for its configuration and workload."""
    return replace(cell, row=setup_label(cell.row), column=workload_label(cell.column))


def headed_values(values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the label and the formatted value of each key, in the order of `values`."""
    return ((key_heading(key), key_value(key, value)) for key, value in values.items())
