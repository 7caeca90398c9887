"""`devices` and `show`."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.cli.devices import all_settings
from backends.errors import ToolFailedError
from backends.host import Command, Completed, Host
from backends.registry import MachineBackends
from backends.system.wrapped import HostWrapper
from backends.vendors import lvm
from tests.backends.lvm.machines import KINDS as LVM_KINDS
from tests.backends.lvm.machines import host as lvm_host
from tests.cli.conftest import Cli
from tests.cli.machine import HOSTILE
from tests.cli.machine import machine as recorded


@pytest.fixture
def disk(cli: Cli, machine: str) -> dict[str, object]:
    """The only disk of the recorded machine as JSON, with the settings of its queue."""
    drives = cli("--machine", machine, "devices", "--json").json["drives"]
    drive = next(dict(drive) for drive in drives if "block:sda" in drive["addresses"])
    return {**drive, "settings": [*drive["settings"], *drive["queue"]["settings"]]}


def test_the_document_says_its_schema(cli: Cli, machine: str) -> None:
    assert cli("--machine", machine, "devices", "--json").json["schema"] == 1


def test_each_device_is_there_once_with_all_its_addresses_and_settings(cli: Cli, machine: str) -> None:
    told = cli("--machine", machine, "devices", "--json").json
    (disk,) = told["drives"]
    assert (disk["name"], disk["addresses"]) == ("sda", ["scsi:sda", "block:sda"])
    assert (disk["address"], disk["queue"]["address"]) == ("scsi:sda", "block:sda")
    assert disk["settings"]
    assert disk["queue"]["settings"]


def test_a_recorded_machine_is_marked_as_simulated(cli: Cli, machine: str) -> None:
    assert cli("--machine", machine, "devices", "--json").json["simulated"] is True


def test_a_drive_has_every_documented_field(disk: dict[str, object]) -> None:
    documented = (
        "address controller array model serial firmware media interface size_bytes state device in_use settings"
    )
    assert set(documented.split()) <= set(disk)


def test_a_setting_has_every_documented_field(disk: dict[str, object]) -> None:
    documented = "key label now raw effective choices span effect persistence risk available why_not"
    settings = disk["settings"]
    assert isinstance(settings, list)
    assert all(set(documented.split()) <= set(setting) for setting in settings)


def test_a_setting_of_choices_has_no_span(disk: dict[str, object]) -> None:
    settings = disk["settings"]
    assert isinstance(settings, list)
    assert next(each["span"] for each in settings if each["key"] == "scheduler") is None


def test_a_numeric_setting_has_its_range(disk: dict[str, object]) -> None:
    settings = disk["settings"]
    assert isinstance(settings, list)
    assert next(each["span"]["minimum"] for each in settings if each["key"] == "read_ahead_kb") == 0


def test_sizes_are_bytes(disk: dict[str, object]) -> None:
    assert disk["size_bytes"] == 7814037168 * 512


def test_the_table_has_each_disk_once_by_the_address_of_the_drive(cli: Cli, machine: str) -> None:
    table = cli("--machine", machine, "devices").out
    assert "scsi:sda" in table
    assert "block:sda" not in table


@pytest.mark.parametrize("words", [("devices",), ("devices", "--json"), ("show", "sda"), ("show", "sda", "--json")])
def test_no_escape_of_a_device_reaches_the_terminal(cli: Cli, tmp_path: Path, words: tuple[str, ...]) -> None:
    folder = recorded(tmp_path / "hostile", model=HOSTILE)
    outcome = cli("--machine", str(folder), *words)
    assert not {"\x1b", "\x07", "\u202e"} & set(outcome.out + outcome.err)


@pytest.mark.parametrize(
    ("name", "address"),
    [("block:sda", "block:sda"), ("scsi:sda", "scsi:sda"), ("/dev/sda", "scsi:sda"), ("sda", "scsi:sda")],
)
def test_a_target_may_be_named_in_several_ways(cli: Cli, machine: str, name: str, address: str) -> None:
    assert cli("--machine", machine, "show", name, "--json").json["target"]["address"] == address


def test_a_vendors_drive_is_shown_with_its_queue(cli: Cli, machine: str) -> None:
    shown = cli("--machine", machine, "show", "scsi:sda", "--json").json["queue"]
    assert (shown["address"], "scheduler" in {one["key"] for one in shown["settings"]}) == ("block:sda", True)


def test_show_lists_legal_values(cli: Cli, machine: str) -> None:
    assert "none, mq-deadline" in cli("--machine", machine, "show", "sda").out


def test_show_says_why_nothing_may_be_changed(cli: Cli, tmp_path: Path) -> None:
    folder = recorded(tmp_path / "user", root=False)
    assert "needs root" in cli("--machine", str(folder), "show", "sda").out


def test_an_unknown_target_is_wrong_usage(cli: Cli, machine: str) -> None:
    assert cli("--machine", machine, "show", "sdq").status == 2


def test_an_unknown_target_is_answered_with_those_there_are(cli: Cli, machine: str) -> None:
    assert "scsi:sda" in cli("--machine", machine, "show", "sdq").err


def test_a_folder_without_a_recording_is_wrong_usage(cli: Cli, tmp_path: Path) -> None:
    assert cli("--machine", str(tmp_path), "devices").status == 2


class _Loaded(HostWrapper):
    """A machine on which lvs cannot be started each time that `fails` says so; the first call is number 0."""

    def __init__(self, inner: Host, *fails: int) -> None:
        super().__init__(inner)
        self.fails, self.calls = fails, 0

    async def run(self, command: Command) -> Completed:
        if command.argv[0].endswith("lvs"):
            self.calls += 1
            if self.calls - 1 in self.fails:
                raise ToolFailedError("/usr/sbin/lvs could not be started: no answer.")
        return await super().run(command)


async def test_settings_that_could_not_be_read_are_not_none_at_all() -> None:
    machine = MachineBackends(_Loaded(lvm_host(*LVM_KINDS), 1), (lvm.VENDOR,))
    inventory = await machine.probe()
    settings, problems = await all_settings(machine, inventory)
    unread = [address for address, found in settings.items() if found is None]
    assert len(unread) == 1
    assert [(one.where, one.message) for one in problems] == [
        (unread[0], "/usr/sbin/lvs could not be started: no answer.")
    ]


async def test_a_volume_found_without_lvs_has_its_settings_once_lvs_answers() -> None:
    machine = MachineBackends(_Loaded(lvm_host(*LVM_KINDS), 0), (lvm.VENDOR,))
    inventory = await machine.probe()
    settings, problems = await all_settings(machine, inventory)
    assert inventory.problems
    assert settings["lvm:vg0/db"]
    assert {address for address, found in settings.items() if found is None} == {one.where for one in problems}
