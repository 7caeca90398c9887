"""What is measured in one line: its name, what it is, and the few settings in force that tell most about it. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from app.engine.session.events import RunStarted
from app.engine.view.device import kind_words
from backends.model import Array, Inventory
from backends.settings import Reading
from widgets.plain import units

TELLING = (
    ("cache_mode", "cache"),
    ("write_cache", "write"),
    ("read_ahead", "read-ahead"),
    ("strip_size", "strip"),
    ("chunk_size", "chunk"),
    ("bitmap", "bitmap"),
    ("scheduler", "scheduler"),
    ("nr_requests", "requests"),
)
"""Settings that tell most, and what they are called before their value; of a thing the first three that it has."""

_MOST = 3
_CACHE = {
    "write-through": "through",
    "write-back": "back",
    "write-around": "around",
    "write through": "through",
    "write back": "back",
}
_SIZES = ("strip_size", "chunk_size")


def in_force(readings: Mapping[str, tuple[str, Reading]]) -> dict[str, str]:
    """What counts of settings, by key."""
    return {
        key: value for key, (_, one) in readings.items() if (value := one.effective or one.now) not in (None, "unknown")
    }


def in_force_of(start: RunStarted) -> dict[str, str]:
    """The same of a run, as it was at its beginning."""
    effective = {key: start.provenance.get(f"in_force_{key}") for key in start.settings}
    return {key: effective[key] or value for key, value in start.settings.items()}


def settings_words(values: Mapping[str, str], *, named: bool) -> tuple[str, ...]:
    """The most telling settings: `through`, `none`, `64K`; `named` with what they are: `strip 64K`."""
    found = [(key, name) for key, name in TELLING if key in values][:_MOST]
    shown = [(name, _short(key, values[key])) for key, name in found]
    return tuple(f"{name} {'on' if value == name else value}" if named else value for name, value in shown)


def _short(key: str, value: str) -> str:
    """As short as it goes; of several targets each."""
    return ", ".join(_one(key, part) for part in value.split(", "))


def _one(key: str, value: str) -> str:
    if key in _SIZES and value.isdigit():
        return units.size(int(value)).removesuffix("iB").replace(" ", "")
    return _CACHE.get(value, value)


def target_words(inventory: Inventory, device: str | None, name: str) -> tuple[str, ...]:
    """`ssd`, `raid5`, `sdb`: what a device is called, its level or kind, its node; of a file its name and that."""
    node = (device or "").removeprefix("/dev/")
    if name.startswith("/") and not name.startswith("/dev/"):
        return (f"file {name}", *((f"on {node}",) if node else ()))
    things = inventory.at(device) if device is not None else ()
    thing = next((one for one in things if isinstance(one, Array)), next(iter(things), None))
    if thing is None:
        return (name,)
    own = thing.name if isinstance(thing, Array) else None
    return tuple(filter(None, (own or name, kind_words(thing), node)))
