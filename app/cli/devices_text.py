"""Devices and settings as text for people."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence

from app.cli.options import is_terminal
from app.cli.output import lines, say
from app.cli.render import DIM_MARK, fact_lines, table_lines
from app.engine.view import device, setting
from app.engine.view.arrangement import Thing
from backends.model import Inventory, Scope
from backends.settings import Reading, Setting
from backends.text import clean

_TREE = ("address", "kind", "size", "state", "device", "model", "use")
"""Columns of the table of devices."""

_SETTINGS = ("setting", "key", "now", "may-be", "effect", "risk")
"""Columns of the table of settings: nothing is staged on the command line."""


def terminal_width() -> int | None:
    """Columns of the terminal standard output goes to, None when it goes elsewhere: then nothing is cut."""
    import sys

    return shutil.get_terminal_size().columns if is_terminal(sys.stdout) else None


def devices_table(inventory: Inventory, host: str, *, simulated: bool) -> None:
    """The tree: controllers, their arrays, their drives."""
    say(" · ".join([*(["SIMULATED"] if simulated else []), clean(host), *device.counts(inventory)]))
    rows = table_lines(device.devices_table(inventory).only(*_TREE), terminal_width())
    if rows:
        lines(rows)
    else:
        say("Nothing was found. `raidbench doctor` says why.")


Page = tuple[str, tuple[Setting, ...], Mapping[str, Reading]]
"""A heading, settings and their values."""


def target_page(found: Thing, parts: Sequence[Page]) -> None:
    """Facts first, then the settings, then why some cannot be changed: its own, then those of its queue."""
    for at, group in enumerate(device.facts(found)):
        lines([*([""] if at else []), *fact_lines(group)])
    shown = [part for part in parts if any(each.key in part[2] for each in part[1])]
    for heading, declared, readings in shown:
        _settings_page(heading, declared, readings, found.target.scope)
    if not shown:
        lines(["", "It has no settings that raidbench can change."])


def _settings_page(heading: str, declared: tuple[Setting, ...], readings: Mapping[str, Reading], scope: Scope) -> None:
    shown = setting.settings_table(declared, readings, scope, heading=heading)
    lines(["", *table_lines(shown.only(*_SETTINGS), terminal_width())])
    reasons = setting.why_not(declared, readings)
    if reasons:
        told = [f"{DIM_MARK} {', '.join(keys)}: {clean(reason, 300)}" for reason, keys in reasons]
        lines(["", "Cannot be changed:", *told])
