"""Read-only screen of a remote host: the list of its devices, and details of the selected device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, ClassVar

from textual import on

from app.core.presentation.device import count_texts, device_facts, problem_facts
from app.core.presentation.setting import TuningCells, tuning_cells
from app.core.presentation.table import Facts
from app.features.fleet.hosts.failure_causes import MissingHost, interpret
from app.features.fleet.hosts.remote_devices import WORDS, RemoteDevices, parse_devices
from app.tui.devices.detail import DeviceDetail, FactsPane
from app.tui.devices.list_detail import ListDetailScreen
from app.tui.devices.settings_panel import (
    SettingPosition,
    SettingsPanel,
    TargetSettings,
    changeable_first,
    settings_by_key,
)
from backends.display_names import addresses, name_of
from backends.errors import RaidbenchError
from backends.model import Device, Inventory, Target
from widgets.keyed_table import KeyedTable

if TYPE_CHECKING:
    from app.features.check.entries import FindingEntry
    from app.features.fleet.hosts.overview import HostOverview
    from app.features.fleet.hosts.query import Fleet
    from app.tui.feature_hooks import FileDifference


class RemoteSettingsPanel(SettingsPanel):
    """Shows the settings of a remote host. They cannot be changed."""

    def staged_at(self, target: str) -> Mapping[str, str]:
        """Return no values. Staged values belong to this machine, whose targets may have the same addresses."""
        return {}

    def drifts_at(self, target: str) -> Mapping[str, FileDifference]:
        """Return no differences, because the settings file is for this machine."""
        return {}

    def _require_changeable(self) -> SettingPosition | None:
        self._app.notify_transient(
            "Settings of other hosts cannot be changed here. Run raidbench there, or use Ansible."
        )
        return None


class RemoteDeviceDetail(DeviceDetail):
    """Shows a device of a remote host: its settings and its facts."""

    @property
    def tabs(self) -> tuple[str, ...]:
        """Return the tabs. The history is left out, because it comes from this machine's session."""
        return "settings", "facts"

    def make_panel(self) -> SettingsPanel:
        """Return a settings panel that cannot stage changes."""
        return RemoteSettingsPanel()


class HostScreen(ListDetailScreen):
    """The list of a host's devices, and the selected device."""

    NAME: ClassVar[str] = "host"

    def __init__(self, fleet: Fleet, host: str, overview: HostOverview, entry: FindingEntry | None = None) -> None:
        """`overview`: overview of all hosts, which provides the findings. `entry`: finding to whose device to go."""
        super().__init__()
        self._fleet, self._host, self._overview, self._wanted = fleet, host, overview, entry
        self._devices = RemoteDevices(inventory=Inventory(), settings={})
        self._tuned: Mapping[Target, TuningCells] = {}
        self._shown: str | None = None

    @property
    def severities(self) -> Sequence[str]:
        """The severities of the findings of the host."""
        return self._overview.severities_of(self._host)

    @property
    def list_title(self) -> str:
        """Return the title with the host's name."""
        return f"Devices of {self._host}"

    def make_detail(self) -> DeviceDetail:
        """Return a detail view that cannot stage changes."""
        return RemoteDeviceDetail()

    def on_mount(self) -> None:
        """Query the host."""
        self._header.of_host = self._host
        self.action_ask()

    def action_findings(self) -> None:
        """List the findings of the host."""
        from app.features.fleet.screen.findings import HostFindingsScreen

        if isinstance(self.app.screen_stack[-2], HostFindingsScreen):
            self.dismiss()  # the list is below this screen
        else:
            screen = HostFindingsScreen(self._fleet, lambda: self._overview, self._open_finding, self._host)
            self.app.push_screen(screen)

    def _open_finding(self, host: str, entry: FindingEntry) -> None:
        self.app.push_screen(HostScreen(self._fleet, host, self._overview, entry))

    def apply_filter(self, text: str) -> None:
        """Show only the rows with all words of `text`."""
        self.devices.filter(text)
        self.note(self.devices.count or self._counts_text())

    def action_ask(self) -> None:
        """Query the host again. The previous devices stay visible until it answers."""
        if not self._devices.inventory.drives:
            self._say_empty(f"querying {self._host} ...")
        self.note(f"querying {self._host} ...")
        self.run_worker(self._ask, group="hosts", exclusive=True)  # type: ignore[arg-type]  # Textual calls it

    def _say_empty(self, text: str) -> None:
        self.devices.empty = self.panel.table.empty = text

    async def _ask(self) -> None:
        try:
            async with aclosing(self._fleet.ask((self._host,), WORDS)) as answers:  # type: ignore[type-var]
                outcomes = [interpret(raw) async for raw in answers if raw.host == self._host]
        except RaidbenchError as error:
            self.workbench_app.show_error(error, title=f"Cannot query {self._host}")
            self.note("query failed")
            self._say_empty(error.full_text)
            return
        for outcome in outcomes:
            if isinstance(outcome, MissingHost):
                self.note("missing")
                self._say_empty(" ".join(filter(None, (outcome.message, outcome.hint, outcome.evidence))))
                if self._devices.inventory.drives:
                    self.say(f"{outcome.message} The previous data is shown.", severity="warning")
                return
            self._take(parse_devices(outcome.document))

    def _take(self, remote_devices: RemoteDevices) -> None:
        inventory = remote_devices.inventory
        self._devices = remote_devices
        self._tuned = {
            device.target: tuning_cells(settings_by_key(self._parts(device))) for device in inventory.block_devices
        }
        self._say_empty(
            "the host reported no devices" if not (inventory.drives or inventory.arrays) else "no settings here"
        )
        self.devices.show(inventory, self._tuned, ())
        self.note(self.devices.count or self._counts_text())
        self._shown = None
        self._show_selected()
        if self._wanted is not None:
            entry, self._wanted = self._wanted, None
            self._go_to(entry)

    def _counts_text(self) -> str:
        return " · ".join(count_texts(self._devices.inventory)) or "nothing"

    def _go_to(self, entry: FindingEntry) -> None:
        """Go to the setting that a finding is about, or else to the facts of its device."""
        self.devices.go_to(entry.device)
        if self.devices.selected != entry.device:
            self.say(f"{entry.where} is not in the list of devices.")
            return
        self._show_selected()
        self.detail.show_tab("facts" if entry.setting is None else "settings")
        self.go_inside()
        if entry.setting is not None:
            self.panel.point_at(*entry.setting)

    def _parts(self, device: Device) -> list[TargetSettings]:
        """Return the settings of a device, and those of its queue in Linux if it has one."""
        queue = self._devices.inventory.twin(device)
        headed = [(device, "")] if queue is None else [(device, ""), (queue, f"Queue of {queue.device}")]
        return [
            TargetSettings(
                target=str(target_device.target),
                heading=heading,
                settings=settings,
                readings=dict(readings),
                scope=target_device.target.scope,
            )
            for target_device, heading in headed
            for settings, readings in (self._devices.settings.get(target_device.target, ((), {})),)
        ]

    @on(KeyedTable.RowHighlighted, "#devices")
    def _show_selected(self) -> None:
        """Show the device under the cursor. This needs no new query of the host."""
        selected = self.devices.selected
        if selected is None or selected == self._shown:
            return
        self._shown = selected
        device = self._devices.inventory.find(selected)
        parts = changeable_first(self._parts(device)) if device is not None else ()
        self.panel.show(parts, of=selected)
        self.show_title(device, selected)
        self.query_one(FactsPane).show(
            (*problem_facts(self._devices.inventory, selected), *self._facts_of(device, parts)), is_new=True
        )
        self.show_hidden_cells()

    def _facts_of(self, device: Device | None, parts: tuple[TargetSettings, ...]) -> tuple[Facts, ...]:
        if device is None:
            return ()
        places = {name_of(device), *addresses(self._devices.inventory, device)}
        labels = {setting.label for part in parts for setting in part.settings}
        return (*self._overview.findings_at(self._host, places), *device_facts(device, excluded=labels))

    def leave_list(self) -> None:
        """Return to the list of hosts."""
        self.dismiss()
