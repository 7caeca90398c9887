"""ioMemory cards: what is shown of them, and how their sector size is changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from backends.change import Change, ChangeStep
from backends.errors import BlockedError, DeviceGoneError, NotFoundError, RefusedError, ToolFailedError
from backends.host import Command, Completed
from backends.model import Controller, Drive, State
from backends.settings import Risk
from backends.simulator.fusionio import IoMemory
from backends.simulator.tool_output import SimulatedOutput
from backends.vendors.fusionio import VENDOR
from backends.vendors.fusionio.backend import FusionIo
from backends.vendors.fusionio.inventory import drive as drive_of
from backends.vendors.fusionio.inventory import drive_target
from backends.vendors.fusionio.text import parse_status
from tests.backends.fakes import FakeHost, machine
from tests.backends.fusionio.cards import PlayedCard

CARD = drive_target("fioa")
STEPS = ["fio-detach /dev/fct0", "fio-format -y -b4096 /dev/fct0", "fio-attach /dev/fct0"]


async def drive(host: PlayedCard) -> Drive:
    return (await FusionIo(host).inventory()).drives[0]


async def controller(host: PlayedCard) -> Controller:
    return (await FusionIo(host).inventory()).controllers[0]


async def why_not(host: PlayedCard) -> str | None:
    return (await FusionIo(host).read(CARD))["sector_size"].availability.why_not


async def planned(host: PlayedCard, size: str = "4096") -> Change:
    return await FusionIo(host).plan(CARD, "sector_size", size)


def said(thing: Drive | Controller, label: str) -> str | None:
    return next((fact.value for fact in thing.facts if fact.label == label), None)


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("Temperature", "51 °C (at most 58 °C)"),
        ("Endurance used", "0.90 %"),
        ("Rated endurance", "4000 TB"),
        ("Flash written", "35.9 TB"),
        ("Spare", "100 % (warns at 10 %)"),
        ("Power-loss protection", "protected"),
        ("Write throttling", None),
    ],
)
async def test_wear_and_heat_are_shown(label: str, words: str | None) -> None:
    assert said(await drive(PlayedCard()), label) == words


@pytest.mark.parametrize(
    ("label", "words"),
    [("External power", "NOT connected"), ("Power limit", "24.75W"), ("State", None)],
)
async def test_what_limits_its_power_is_shown(label: str, words: str | None) -> None:
    assert said(await controller(PlayedCard()), label) == words


async def test_the_block_device_hangs_from_its_module() -> None:
    one = await drive(PlayedCard())
    assert (str(one.controller), one.device, one.logical_block) == ("fusionio:fct0", "/dev/fioa", 512)


async def test_the_module_is_at_its_place_on_the_bus() -> None:
    assert (await controller(PlayedCard())).pci == "0000:07:00.0"


async def test_a_module_without_its_block_device_is_still_listed() -> None:
    host = PlayedCard()
    host.card.attached = False
    assert said(await controller(host), "State") == "Detached"


async def test_spare_flash_that_runs_out_is_trouble() -> None:
    host = PlayedCard()
    text = host.card.answer("fio-status", ("-a",)).text.replace(
        "Healthy; Reserves: 100.00%", "Warning; Reserves: 8.00%"
    )
    cards = parse_status(text)
    assert drive_of(cards.modules[0].volumes[0], cards.modules[0], cards).state is State.DEGRADED


async def test_nothing_is_run_without_the_driver() -> None:
    host = PlayedCard()
    host.files = {path: text for path, text in host.files.items() if "/sys/module" not in path}
    host.card.driver = False
    assert (await FusionIo(host).inventory()).controllers == ()
    assert not await VENDOR.present(host)


async def test_doctor_names_the_package_of_a_driver_without_its_program() -> None:
    host = FakeHost(machine(**{"/sys/module/iomemory_vsl4/version": "4.3"}))
    (problem,) = await FusionIo(host).diagnose()
    assert "fio-status is not installed" in problem.message


async def test_it_is_detached_before_it_is_formatted_and_attached_after() -> None:
    host = PlayedCard()
    await FusionIo(host).apply(await planned(host))
    assert host.ran == STEPS


async def test_a_format_destroys_data_and_no_hardware_has_confirmed_it() -> None:
    change = await planned(PlayedCard())
    assert (change.risk, change.confirmed) == (Risk.DESTROYS_DATA, False)


async def test_an_equal_value_is_not_sent() -> None:
    host = PlayedCard()
    await FusionIo(host).apply(await planned(host, "512"))
    assert host.ran == []


async def test_a_card_that_fio_detach_asks_about_is_left_alone() -> None:
    host = PlayedCard()
    change = await planned(host)
    host.card.in_use = True
    with pytest.raises(ToolFailedError, match="Please verify that the device is no longer in use"):
        await FusionIo(host).apply(change)
    assert host.ran == STEPS[:1]


class _StaysAttached(IoMemory):
    """fio-detach says that it went well and did nothing."""

    def answer(self, program: str, words: Sequence[str]) -> SimulatedOutput:
        return SimulatedOutput(text="") if program == "fio-detach" else super().answer(program, words)


async def test_nothing_is_formatted_that_is_not_detached() -> None:
    host = PlayedCard(_StaysAttached())
    with pytest.raises(ToolFailedError, match="does not confirm that fct0 is detached"):
        await FusionIo(host).apply(await planned(host))
    assert host.ran == STEPS[:1]


async def test_a_card_in_the_place_of_another_is_not_formatted() -> None:
    host = PlayedCard()
    change = await planned(host)
    host.card.serial = "another"
    with pytest.raises(DeviceGoneError, match="serial was 1149D0969"):
        await FusionIo(host).apply(change)


@pytest.mark.parametrize(
    "argv",
    [
        ("/usr/bin/fio-format", "-y", "-b4096", "/dev/fct1"),
        ("/usr/bin/fio-format", "-y", "-e", "/dev/fct0"),
        ("/bin/sh", "-y", "-b4096", "/dev/fct0"),
        ("/usr/bin/fio-format", "-y", "-b4096;reboot", "/dev/fct0"),
    ],
)
async def test_a_step_that_is_none_of_its_own_is_not_run(argv: tuple[str, ...]) -> None:
    host = PlayedCard()
    with pytest.raises(RefusedError, match="a step that does not belong to formatting /dev/fioa"):
        await FusionIo(host).apply(replace(await planned(host), writes=(ChangeStep(argv=argv),)))
    assert host.ran == []


class _TwoVolumes(IoMemory):
    def answer(self, program: str, words: Sequence[str]) -> SimulatedOutput:
        more = "fiob\tState: Online, Type: block device\n" if tuple(words) == ("-a",) else ""
        return SimulatedOutput(text=super().answer(program, words).text + more)


async def test_a_module_with_two_block_devices_is_not_formatted() -> None:
    why = await why_not(PlayedCard(_TwoVolumes()))
    assert why == "fct0 also has fiob, which would be formatted with it"


async def test_a_missing_program_blocks_it() -> None:
    host = PlayedCard()
    host.missing = ("fio-attach",)
    assert await why_not(host) == "not installed: fio-attach"


async def test_it_needs_root() -> None:
    host = PlayedCard(root=False)
    assert await why_not(host) == "needs root"
    with pytest.raises(BlockedError):
        await planned(host)


async def test_a_change_cut_short_says_how_the_card_comes_back() -> None:
    host = PlayedCard()
    change = await planned(host)
    host.card.attached = False
    assert await FusionIo(host).remains(change) == "fct0 is detached. Attach it with: fio-attach /dev/fct0"


class _Unnoticed(PlayedCard):
    """The kernel goes on with the sector size of before."""

    async def run(self, command: Command) -> Completed:
        done = await super().run(command)
        self.files["/sys/block/fioa/queue/logical_block_size"] = "512"
        return done


async def test_a_sector_size_that_the_kernel_does_not_have_is_told() -> None:
    reading = (await FusionIo(_Unnoticed(IoMemory(sector_bytes=4096))).read(CARD))["sector_size"]
    assert (reading.now, reading.effective) == ("4096", "512")


async def test_a_card_of_which_nothing_is_told_has_no_sector_size_and_is_left_alone() -> None:
    host = PlayedCard()
    host.missing = ("fio-status",)
    reading = (await FusionIo(host).read(CARD))["sector_size"]
    assert (reading.now, reading.effective) == (None, None)
    assert [choice.value for choice in reading.choices] == ["512", "4096"]
    assert reading.availability.why_not == "fio-status is not installed"


class _OfAnother(IoMemory):
    """fio-status tells of another card than the kernel has."""

    def answer(self, program: str, words: Sequence[str]) -> SimulatedOutput:
        return replace(super().answer(program, words), text=super().answer(program, words).text.replace("fioa", "fiob"))


async def test_a_device_that_fio_status_does_not_name_is_left_alone() -> None:
    reading = (await FusionIo(PlayedCard(_OfAnother())).read(CARD))["sector_size"]
    assert (reading.now, reading.effective) == (None, None)
    assert reading.availability.why_not == "fio-status does not report it"


async def test_a_card_in_use_is_not_formatted_and_says_by_what() -> None:
    host = PlayedCard()
    line = "36 35 252:0 / /srv rw,noatime shared:1 - ext4 /dev/fioa rw\n"
    host.files["/proc/self/mountinfo"] = host.files["/proc/1/mountinfo"] = line
    assert (await why_not(host) or "").startswith("it is in use: mounted on /srv")


async def test_a_module_has_no_settings_and_what_is_none_of_ours_has_none() -> None:
    backend = FusionIo(PlayedCard())
    module = (await backend.inventory()).controllers[0].target
    assert backend.settings(module) == ()
    assert await backend.read(module) == {}
    for other in (replace(module, backend="block"), replace(CARD, backend="block"), replace(CARD, address="sda")):
        assert backend.settings(other) == ()
        with pytest.raises(NotFoundError):
            await backend.read(other)


async def test_a_device_that_is_gone_is_told_as_such() -> None:
    with pytest.raises(DeviceGoneError):
        await FusionIo(PlayedCard()).read(drive_target("fiob"))


async def test_nothing_remains_of_a_change_whose_card_is_attached_or_not_known() -> None:
    host = PlayedCard()
    change = await planned(host)
    assert await FusionIo(host).remains(change) is None
    host.card.attached = False
    assert await FusionIo(host).remains(replace(change, identity=None)) is None
    host.card.serial = "another"
    assert await FusionIo(host).remains(change) is None


async def test_a_program_that_went_away_keeps_every_step_from_being_taken() -> None:
    host = PlayedCard()
    change = await planned(host)
    host.missing = ("fio-format",)
    with pytest.raises(RefusedError, match="a step that does not belong to formatting"):
        await FusionIo(host).apply(change)
    assert host.ran == []


@pytest.mark.parametrize("driver", [True, False])
async def test_doctor_has_nothing_to_say_of_a_driver_with_its_program_or_of_neither(driver: bool) -> None:
    host = PlayedCard()
    if not driver:
        host = PlayedCard()
        host.files = {path: text for path, text in host.files.items() if "/sys/module" not in path}
        host.missing = ("fio-status",)
    assert await FusionIo(host).diagnose() == ()


async def test_without_root_fio_status_is_not_run() -> None:
    class Silent(PlayedCard):
        async def run(self, command: Command) -> Completed:
            assert "fio-status" not in command.argv[0]
            return await super().run(command)

    assert (await FusionIo(Silent(root=False)).inventory()).drives == ()


class _Exchanged(IoMemory):
    """Another card is in its place once it was detached."""

    def answer(self, program: str, words: Sequence[str]) -> SimulatedOutput:
        answer = super().answer(program, words)
        self.serial = "another" if program == "fio-detach" else self.serial
        return answer


async def test_a_card_that_was_exchanged_while_it_was_detached_is_not_formatted() -> None:
    host = PlayedCard(_Exchanged())
    with pytest.raises(ToolFailedError, match="does not confirm that fct0 is detached"):
        await FusionIo(host).apply(await planned(host))
    assert host.ran == STEPS[:1]
