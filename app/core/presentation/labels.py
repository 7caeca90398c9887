"""What settings, fields of a job and facts beneath a run are called, wherever a recorded one is told of. No I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import TypeVar

from app.core.session.sweep_record import SweepRecord
from app.core.session.sweep_steps import Design, PublishedFigure, SkippedCell, SweepCell
from app.core.session.unit_labels import value_text, within_sentence
from backends.model import KERNEL
from backends.protocol import load_object
from backends.registry import declared_settings, find_vendors
from widgets.text_utils import units

_IN_FORCE = "in_force_"
_Named = TypeVar("_Named", SweepCell, SkippedCell, PublishedFigure)
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
"""Facts beneath a run in words, where their keys are none."""


@cache
def _fields() -> dict[str, str]:
    """Fields of a job: not there before one is asked for, as a list of devices has none."""
    from app.core.fio.fields import FIELDS

    return {field.key: field.label for field in FIELDS}


def key_name(key: str) -> str:
    """`Read-ahead` of `read_ahead`, `Kernel read-ahead` of `read_ahead_kb`, `Write-mostly, sda1` of
    `write_mostly.sda1`, `Queue depth` of `iodepth`.
    """
    settings, (kind, _, member) = declared_settings(), key.partition(".")
    if kind in settings:
        label = settings[kind].label
        if kind in _kernel_setting_keys():
            label = f"Kernel {label[:1].lower()}{label[1:]}"
        return f"{label}, {member}" if member else label
    if key.startswith(_IN_FORCE):
        return f"{key_name(key.removeprefix(_IN_FORCE))} in force"
    return _fields().get(key) or _BENEATH.get(key) or key.replace("_", " ")


@cache
def _kernel_setting_keys() -> frozenset[str]:
    """Settings of the kernel's queue that are called as those of a card are: both are told of one device."""
    places = (
        declaration for vendor in find_vendors().vendors if vendor.name == KERNEL for declaration in vendor.declares
    )
    keys = {setting.key for declaration in places for setting in load_object(declaration)}
    labels = Counter(setting.label for setting in declared_settings().values())
    return frozenset(key for key in keys if labels[declared_settings()[key].label] > 1)


def key_heading(key: str) -> str:
    """The same where it stands by itself."""
    name = key_name(key)
    return f"{name[:1].upper()}{name[1:]}"


def with_value(name: str, value: str) -> str:
    """`read-ahead 128 KiB`; a value that begins with the name stands alone."""
    return value if value.casefold().startswith(name.casefold()) else f"{name} {value}"


def key_value(key: str, value: str | None) -> str:
    """With its unit, `4096 KiB`; a dash for what was not recorded."""
    return value_text(key.removeprefix(_IN_FORCE).partition(".")[0], value or "") or units.NOTHING


def field_name(key: str) -> str:
    """`read-ahead`, `queue depth`, but `FastPath`: a key within a line."""
    return within_sentence(key_name(key))


def setting_text(key: str, value: str | None) -> str:
    """`read-ahead none`, `queue depth 64`, as it stands within a line."""
    if value and key in _fields():
        from app.core.fio.fields import field_text

        return field_text(key, value)
    return f"{field_name(key)} {key_value(key, value)}"


def setup_label(row: str) -> str:
    """A set-up of a sweep by its settings: `Read-ahead none, Strip size 256 KiB`; its own name stays as it is."""
    return ", ".join(_setup_part_label(part) for part in row.split(", "))


def _setup_part_label(part: str) -> str:
    key, equals, value = part.partition("=")
    return with_value(key_name(key), key_value(key, value)) if equals and key in declared_settings() else part


def workload_label(column: str) -> str:
    """A workload of a sweep by the fields of its job: `mixed-4k, queue depth 8`; its own name stays as it is."""
    return ", ".join(_workload_part_label(part) for part in column.split(", "))


def _workload_part_label(part: str) -> str:
    key, equals, value = part.partition("=")
    return setting_text(key, value) if equals and key in _fields() else part


def with_labels(record: SweepRecord) -> SweepRecord:
    """The same sweep, its set-ups and workloads named as people read them."""
    return replace(record, design=design_with_labels(record.design), cells=tuple(map(cell_with_labels, record.cells)))


def design_with_labels(design: Design) -> Design:
    """The same of what a sweep will do."""
    cells, skipped = tuple(map(cell_with_labels, design.cells)), tuple(map(cell_with_labels, design.skipped))
    return replace(design, cells=cells, skipped=skipped, published=tuple(map(cell_with_labels, design.published)))


def cell_with_labels(cell: _Named) -> _Named:
    """The same of a cell, or of what is left out."""
    return replace(cell, row=setup_label(cell.row), column=workload_label(cell.column))


def headed_values(values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Headings with their values, in their order."""
    return ((key_heading(key), key_value(key, value)) for key, value in values.items())
