"""Formats and prints devices and their settings as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.cli.output import lines, say, terminal_width
from app.cli.render import DIM_MARK, fact_lines, fitted_lines, is_wider, table_lines
from app.core.presentation import device, setting
from app.core.presentation.device_table import ADDRESS_PRIORITY, USUAL, WHOLE, DeviceListOptions
from app.core.presentation.device_table import devices_table as devices_list
from app.core.presentation.setting import TuningCells
from app.core.presentation.table import Cell, FactLine, Facts, Row, Table, Tone, text_of
from backends.model import Device, Inventory, Scope, Target
from backends.settings import Reading, Setting
from backends.text import clean

_SETTINGS = ("setting", "key", "now", "may-be", "effect", "risk")
"""Columns of the settings table. The column of staged values is left out: only the screens have such values."""


def list_heading(host: str, *, simulated: bool) -> str:
    """Return the heading of the device list, which names the machine."""
    return " · ".join([*(["SIMULATED"] if simulated else []), clean(host)])


def print_device_list(
    inventory: Inventory,
    head: str,
    tuned: Mapping[Target, TuningCells],
    columns: Sequence[str] = (),
    *,
    wide: bool = False,
) -> None:
    """Print the device list of the workbench, with addresses.

    `wide`: print every column and every member.
    """
    say(" · ".join([head, *device.count_texts(inventory)]))
    rows = fitted_lines(device_table(inventory, tuned, columns, wide=wide), None if wide else terminal_width())
    if rows:
        lines(rows)
    else:
        say("No devices were found. `raidbench doctor` shows why.")


def device_table(
    inventory: Inventory, tuned: Mapping[Target, TuningCells], columns: Sequence[str] = (), *, wide: bool = False
) -> Table:
    """Return the device list as a table."""
    shown = devices_list(inventory, WHOLE if wide else DeviceListOptions(), tuned)
    if columns or not wide:
        shown = shown.only(*(columns or (*USUAL, "address")))
    return replace(
        shown,
        columns=tuple(
            replace(column, priority=0)
            if columns
            else replace(column, priority=ADDRESS_PRIORITY)
            if column.key == "address"
            else column
            for column in shown.columns
        ),
        rows=tuple(_with_address(row, whole=not columns) for row in shown.rows),
    )


def _with_address(row: Row, *, whole: bool) -> Row:
    """Return the row of a controller with its address. `whole`: whether it spans the table (no columns were chosen)."""
    address = (Cell(row.key, Tone.DIM),) if row.banner and row.cells[0] != row.key else ()
    return replace(row, banner=(*row.banner, *address) if whole else ())


Page = tuple[str, tuple[Setting, ...], Mapping[str, Reading]]
"""A part of the output of `show`: heading, settings, and their readings by key."""


def print_target(subject: Device, parts: Sequence[Page]) -> None:
    """Print a device's facts, its settings and those of its kernel queue, and why some are fixed or not effective."""
    for at, group in enumerate(device.device_facts(subject)):
        lines([*([""] if at else []), *fact_lines(group)])
    shown = [part for part in parts if any(setting.key in part[2] for setting in part[1])]
    for heading, declared, readings in shown:
        _print_settings(heading, declared, readings, subject.target.scope)
    if not shown:
        lines(["", "raidbench can change no settings of this target."])


def _print_settings(heading: str, declared: tuple[Setting, ...], readings: Mapping[str, Reading], scope: Scope) -> None:
    shown = setting.settings_table(declared, readings, scope, heading=heading).only(*_SETTINGS)
    lines(["", *(_narrow_lines(shown) if is_wider(shown, terminal_width()) else table_lines(shown))])
    fixed = (item for item in declared if item.key in readings and not readings[item.key].follows)
    explanations = ((item.key, setting.effective_reason_text(item, readings[item.key])) for item in fixed)
    other = [f"{key}: {clean(why, 300)}" for key, why in explanations if why is not None]
    if other:
        lines(["", "Configured but not effective:", *other])
    reasons = setting.unavailable_reasons(declared, readings)
    if reasons:
        blocked = [f"{DIM_MARK} {', '.join(keys)}: {clean(reason, 300)}" for reason, keys in reasons]
        lines(["", "Cannot be changed:", *blocked])


def _narrow_lines(shown: Table) -> list[str]:
    """Return the table of settings without the legal values, and these below it."""
    narrow = shown.only(*(key for key in _SETTINGS if key != "may-be"))
    narrow = replace(narrow, columns=tuple(replace(column, priority=0) for column in narrow.columns))
    legal = (FactLine(row.key, text_of(*row.cells)) for row in shown.only("may-be").rows)
    values = Facts(heading="May be", facts=tuple(fact for fact in legal if fact.value))
    return [*table_lines(narrow), "", *fact_lines(values)]
