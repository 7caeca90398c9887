"""Cache for shell completion: addresses, setting keys and legal values, as of the last scan since boot.

Completion must be fast and must not run any tool, so this module imports almost nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.core.session.trusted_file import read_own

if TYPE_CHECKING:
    from backends.model import Inventory
    from backends.registry import MachineBackends
    from backends.settings import Reading, Setting

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_LARGEST = 8 << 20


def completion_cache_path(state: Path) -> Path:
    """Return the path of the cache file in the state folder `state`."""
    return state / "looked.json"


def load_completion_cache(file: Path) -> Mapping[str, Any]:
    """Return the saved addresses and settings; an empty mapping if nothing was saved since boot. Never raises."""
    try:
        match = json.loads(read_own(file))
        if match["boot"] != _boot_id() or not match["boot"]:
            return {}
        return {"things": dict(match["things"]), "settings": dict(match["settings"])}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def save_completion_cache(file: Path, machine: MachineBackends, inventory: Inventory) -> None:
    """Save the devices of an inventory and their settings. Settings of devices not read now are kept. Never raises.

    A failure to write the file is not reported, because only shell completion uses it.
    """
    from app.core.session.paths import write_private

    earlier_settings = load_completion_cache(file).get("settings", {})
    devices: tuple[Any, ...] = (*inventory.arrays, *inventory.drives, *inventory.controllers)
    things = {str(device.target): _device_entry(device, inventory) for device in devices}
    settings = {target: values for target, values in earlier_settings.items() if target in things}
    settings |= {
        str(target): _settings(machine.settings(target), readings)
        for target, readings in machine.last_readings.items()
        if str(target) in things
    }
    text = json.dumps({"boot": _boot_id(), "things": things, "settings": settings}, separators=(",", ":"))
    if not things or len(text) > _LARGEST:
        return
    write_private(file, text)


def _device_entry(device_record: Any, inventory: Inventory) -> dict[str, Any]:
    """Return the name and description of a device as JSON.

    The field `twin` marks a device that is shown with another one, such as the kernel disk of a vendor's drive.
    """
    from backends.display_names import name_of
    from backends.text import clean

    device = getattr(device_record, "device", None)
    label = getattr(device_record, "name", None) or getattr(device_record, "model", None) or ""
    fields = {
        "name": name_of(device_record),
        "device": device,
        "words": clean(label, 40),
        "twin": device_record.target in inventory.twins,
    }
    return {key: value for key, value in fields.items() if value}


def _settings(declared: Iterable[Setting], readings: Mapping[str, Reading]) -> dict[str, Any]:
    """Return the label, current value and legal values of each setting that can be changed, by its key."""
    read = ((setting, readings[setting.key]) for setting in declared if setting.key in readings)
    return {
        setting.key: {
            "label": setting.label,
            "now": reading.now,
            "values": [choice.value for choice in reading.choices],
        }
        for setting, reading in read
        if reading.availability.why_not is None
    }


def _boot_id() -> str:
    try:
        return _BOOT.read_text("ascii").strip()
    except (OSError, ValueError):
        return ""
