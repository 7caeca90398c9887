"""Text helpers for setting labels within a sentence, and for values with the units that vendors declare. No I/O."""

from __future__ import annotations

from collections import Counter
from functools import cache

from backends.model import KERNEL
from backends.protocol import load_object
from backends.registry import declared_settings, find_vendors
from backends.units import text_in_unit


def within_sentence(label: str) -> str:
    """Return a label for use within a sentence: `Read-ahead` as `read-ahead`; `FastPath` and `I/O policy` unchanged."""
    return f"{label[:1].lower()}{label[1:]}" if label.split(" ")[0][1:].islower() else label


def setting_label(key: str) -> str:
    """Return the label of a setting by its key; the key if no vendor declares it.

    For example, `Read-ahead` for `read_ahead`, `Kernel read-ahead` for `read_ahead_kb`, and `Write-mostly, sda1` for
    `write_mostly.sda1`.
    """
    settings, (kind, _, member) = declared_settings(), key.partition(".")
    if kind not in settings:
        return key
    label = settings[kind].label
    if kind in _kernel_setting_keys():
        label = f"Kernel {label[:1].lower()}{label[1:]}"
    return f"{label}, {member}" if member else label


@cache
def _kernel_setting_keys() -> frozenset[str]:
    """Return the keys of the kernel's queue settings that have the same label as another setting.

    A device may have both settings, so the label of the kernel's setting is extended to distinguish the two.
    """
    declarations = (
        declaration for vendor in find_vendors().vendors if vendor.name == KERNEL for declaration in vendor.declares
    )
    keys = {setting.key for declaration in declarations for setting in load_object(declaration)}
    labels = Counter(setting.label for setting in declared_settings().values())
    return frozenset(key for key in keys if labels[declared_settings()[key].label] > 1)


def value_text(key: str, value: str) -> str:
    """Return a recorded value of a setting by its label, such as `no merges`, or with its unit, such as `4096 KiB`.

    Return it unchanged if no vendor declares either.
    """
    setting = declared_settings().get(key)
    if setting is None or not value:
        return value
    labels = {choice.value: choice.label for choice in setting.choices}
    return labels.get(value) or text_in_unit(value, setting.unit)
