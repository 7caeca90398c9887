"""The settings and versions that a watch stores, so that the next watch can report changes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from app.core.session.paths import write_private
from app.core.session.trusted_file import read_own
from app.core.session.unit_labels import setting_label, value_text
from backends.formats import FORMATS, FileFormat
from backends.model import Controller, Drive, Inventory, Target
from backends.settings import Reading
from backends.text import clean
from backends.values import dataclass

_FORMAT = FORMATS[FileFormat.WATCH]
_LARGEST = 8 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchState:
    """Settings and versions of a machine at one moment."""

    kernel: str
    """Release of the kernel."""
    settings: Mapping[str, Mapping[str, str]]
    """Configured values of the settings, by address and key."""
    firmware: Mapping[str, str]
    """Firmware versions of controllers and drives, by address."""


def remember(kernel: str, inventory: Inventory, readings: Mapping[Target, Mapping[str, Reading]]) -> WatchState:
    """Return the state to store for the next watch, taken from a scan of the machine. No I/O."""
    devices: tuple[Controller | Drive, ...] = (*inventory.controllers, *inventory.drives)
    return WatchState(
        kernel=kernel,
        settings={
            str(target): {key: reading.now for key, reading in values.items() if reading.now is not None}
            for target, values in readings.items()
        },
        firmware={str(device.target): device.firmware for device in devices if device.firmware},
    )


def changes_since(before: WatchState, now: WatchState) -> Iterator[str]:
    """Yield a description of each change: versions first, then removed and added targets, then settings. No I/O."""
    if before.kernel != now.kernel:
        yield f"kernel {before.kernel or '?'} -> {now.kernel or '?'}"
    for address, version in now.firmware.items():
        if (old := before.firmware.get(address)) not in (None, version):
            yield f"firmware of {address} {old} -> {version}"
    yield from (f"{address} disappeared" for address in before.settings if address not in now.settings)
    yield from (f"{address} is new" for address in now.settings if address not in before.settings)
    for address, values in now.settings.items():
        for key, value in values.items():
            if (old := before.settings.get(address, {}).get(key)) not in (None, value):
                yield f"{setting_label(key)} of {address} {value_text(key, old)} -> {value_text(key, value)}"


def load(file: Path) -> WatchState | None:
    """Return the state that the last watch stored; None if there is none or it cannot be read. Never raises."""
    try:
        document = json.loads(read_own(file))
        if document["format"] != _FORMAT:
            return None
        settings = {str(name): {str(k): str(v) for k, v in item.items()} for name, item in document["settings"].items()}
        firmware = {str(name): str(item) for name, item in document["firmware"].items()}
        return WatchState(kernel=clean(str(document["kernel"]), 64), settings=settings, firmware=firmware)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def save(file: Path, now: WatchState) -> None:
    """Replace the stored state. Never raises: without a stored state, the next watch counts as the first."""
    fields = {"format": _FORMAT, "kernel": now.kernel, "settings": now.settings, "firmware": now.firmware}
    text = json.dumps(fields, separators=(",", ":"))
    if len(text) <= _LARGEST:
        write_private(file, text)
