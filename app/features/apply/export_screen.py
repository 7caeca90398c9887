"""Writing the settings of devices to a file of settings, as `raidbench export` does."""

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

if TYPE_CHECKING:
    from app.features.apply.exporting import ExportedTarget
    from app.tui.app_interface import AppInterface

HELP = "`raidbench apply` takes it. A file of settings that is there keeps its comments and gets the values of now."


def chosen(inventory: Inventory, device: Device | None, matches: Collection[str]) -> tuple[Device, ...]:
    """What is exported: all that a filter has `matches`; without one the `device`, of a card with all behind it.

    A disk that is also an array or a vendor's drive comes with the settings of its queue.
    """
    if matches:
        roots = [root for root in map(inventory.find, matches) if root is not None]
    elif isinstance(device, Controller):
        roots = list(_all_of(next(node for node in build_device_tree(inventory) if node.device == device)))
    else:
        roots = [] if device is None else [device]
    twins = {root.target: inventory.twin(root) for root in roots}
    both = (part for root in roots for part in (root, twins[root.target]) if part is not None)
    return tuple({part.target: part for part in both}.values())


def _all_of(branch: DeviceTreeNode) -> Iterator[Device]:
    yield branch.device
    for node in branch.below:
        yield from _all_of(node)


def export_settings(
    app: AppInterface, inventory: Inventory, device: Device | None, matches: Collection[str], say: Callable[[str], None]
) -> None:
    """Ask where the settings of what a filter has `matches`, else of the `device` under the cursor, are written to."""
    things = chosen(inventory, device, matches)
    if things:
        twins = {twin.target for twin in map(inventory.twin, things) if twin is not None}
        SettingsExport(app, things, sum(device.target not in twins for device in things)).ask()
    else:
        say("There is no device under the cursor.")


class SettingsExport:
    """Asks for the file, reads what is not at hand, writes."""

    def __init__(self, app: AppInterface, things: Sequence[Device], rows: int) -> None:
        """`rows`: how many devices that are, as the list counts them."""
        self._app, self._things, self._rows = app, things, rows

    def ask(self) -> None:
        """Ask where to."""
        first = self._things[0]
        subject = f"{clean(name_of(first), 40)} ({first.target})" if self._rows == 1 else plural(self._rows, "device")
        dialog = TextDialog(f"Write the settings of {subject} to", "settings.toml", help=HELP)
        self._app.push_screen(dialog, self._named)

    def _named(self, name: str | None) -> None:
        if name:
            self._app.run_worker(self._export(Path(name).expanduser()), group="export")

    async def _export(self, file: Path) -> None:
        from app.features.apply.exporting import export_targets

        bench = self._app.workbench
        self._app.notify_transient(f"Reading {plural(self._rows, 'device')} ...")  # a card may take seconds for a drive
        try:
            with bench.hardware.machine.using_last_scan():
                targets, troubles = await export_targets(bench, self._things)
        except Exception as error:  # a vendor module of somebody else's must not end the workbench
            self._failed(RaidbenchError(f"Reading stopped with {type(error).__name__}: {error}"))
            return
        for trouble in troubles:
            self._app.notify(trouble, severity="warning")
        if not targets:
            self._app.notify_transient("Nothing of it can be set: there is nothing to write.")
            return
        self._app.run_worker(lambda: self._write(file, targets), thread=True, group="export")

    def _write(self, file: Path, targets: Sequence[ExportedTarget]) -> None:
        from app.features.apply.exporting import write_settings

        try:
            write_settings(file, targets)
        except RaidbenchError as error:
            self._app.call_from_thread(self._failed, error)
        else:
            path = file.absolute()
            self._app.call_from_thread(self._app.notify_copyable, f"The settings are in {path}.", str(path))

    def _failed(self, error: RaidbenchError) -> None:
        self._app.show_error(error, title="No settings were written")
