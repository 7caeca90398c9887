"""Writes the settings of devices to a settings file from the TUI, like the command `raidbench export`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.presentation.device_tree import DeviceTreeNode, build_device_tree
from backends.display_names import name_of
from backends.errors import RaidbenchError
from backends.model import Controller, Device, Inventory
from backends.text import clean
from widgets.field_dialog import TextDialog
from widgets.text_utils.units import plural
from widgets.thread_work import in_thread

if TYPE_CHECKING:
    from app.features.apply.exporting import ExportedTarget
    from app.tui.app_interface import AppInterface

HELP = (
    "Apply the file with `raidbench apply`. An existing settings file keeps its comments and gets the current values."
)


def devices_to_export(inventory: Inventory, device: Device | None, matches: Collection[str]) -> tuple[Device, ...]:
    """Return the devices whose addresses are in `matches`, the result of a filter. Without matches, return `device`; if
    that is a controller, also all devices below it.

    An array or a vendor's drive is returned together with its disk in Linux, which has the queue settings.
    """
    if matches:
        roots = [root for root in map(inventory.find, matches) if root is not None]
    elif isinstance(device, Controller):
        roots = list(_all_of(next(node for node in build_device_tree(inventory) if node.device == device)))
    else:
        roots = [] if device is None else [device]
    twins = {root.target: inventory.twin(root) for root in roots}
    with_twins = (part for root in roots for part in (root, twins[root.target]) if part is not None)
    return tuple({part.target: part for part in with_twins}.values())


def _all_of(branch: DeviceTreeNode) -> Iterator[Device]:
    yield branch.device
    for node in branch.below:
        yield from _all_of(node)


def export_settings(
    app: AppInterface, inventory: Inventory, device: Device | None, matches: Collection[str], say: Callable[[str], None]
) -> None:
    """Ask for a file name, and write the settings of the devices that `devices_to_export` returns to it."""
    things = devices_to_export(inventory, device, matches)
    if not things:
        say("Move the cursor to a device first.")
        return
    twins = {twin.target for twin in map(inventory.twin, things) if twin is not None}
    rows = sum(device.target not in twins for device in things)  # the list has one row for a device and its disk
    first = things[0]
    subject = f"{clean(name_of(first), 40)} ({first.target})" if rows == 1 else plural(rows, "device")

    def named(name: str | None) -> None:
        if name:
            app.run_worker(_export(app, things, rows, Path(name).expanduser()), group="export")

    app.push_screen(TextDialog(f"Write the settings of {subject} to", "settings.toml", help=HELP), named)


async def _export(app: AppInterface, things: Sequence[Device], rows: int, file: Path) -> None:
    from app.features.apply.exporting import export_targets

    bench = app.workbench
    app.notify_transient(f"Reading {plural(rows, 'device')} ...")  # a controller may take seconds per drive
    try:
        with bench.hardware.machine.using_last_scan():
            targets, troubles = await export_targets(bench, things)
    except Exception as error:  # a crash in a third-party vendor module must not end the TUI
        _report_failure(app, RaidbenchError(f"Reading failed: {type(error).__name__}: {error}"))
        return
    for trouble in troubles:
        app.notify(trouble, severity="warning")
    if targets:
        app.run_worker(in_thread(_write, app, file, targets), group="export")
    else:
        app.notify_transient("No settings to write: the device has none that can be changed.")


def _write(app: AppInterface, file: Path, targets: Sequence[ExportedTarget]) -> None:
    from app.features.apply.exporting import write_settings

    try:
        write_settings(file, targets)
    except RaidbenchError as error:
        app.call_from_thread(_report_failure, app, error)
    else:
        path = file.absolute()
        app.call_from_thread(app.notify_copyable, f"Settings written to {path}.", str(path))


def _report_failure(app: AppInterface, error: RaidbenchError) -> None:
    app.show_error(error, title="Cannot write the settings")
