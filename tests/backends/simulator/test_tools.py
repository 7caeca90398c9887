"""storcli and MegaCli tell the same rack, in JSON and in text, to the real parsers."""

from __future__ import annotations

import pytest

from backends.host import Command, Completed
from backends.simulator.host import SimulatedHost
from backends.simulator.programs import PATHS
from backends.vendors.megaraid.addresses import volume_target
from backends.vendors.megaraid.backend import MegaRaid
from backends.vendors.megaraid.dialect import CardSnapshot
from backends.vendors.megaraid.facts import VirtualDrive
from backends.vendors.megaraid.megacli import MegaCli
from backends.vendors.megaraid.storcli import StorCli7
from tests.backends.simulator.asking import FAST, still_host, still_rack


class DeafHost(SimulatedHost):
    """Its storcli knows no J, as old builds."""

    async def run(self, command: Command) -> Completed:
        words = tuple(word for word in command.argv if word != "J")
        return await super().run(Command(argv=words, timeout=command.timeout, mutates=command.mutates))


def essence(volume: VirtualDrive) -> tuple[object, ...]:
    """What two tools must agree on."""
    return (
        volume.number,
        volume.name,
        volume.level,
        volume.spans,
        volume.strip_bytes,
        volume.state,
        volume.configured.write_cache and volume.configured.write_cache.value,
        volume.configured.io_policy and volume.configured.io_policy.value,
        volume.drive_cache and volume.drive_cache.value,
        volume.drives,
    )


async def by_storcli(host: SimulatedHost, card: int) -> CardSnapshot:
    return await StorCli7(host, PATHS["storcli64"]).read(card)


@pytest.mark.parametrize("card", [0, 1, 2])
async def test_both_tools_tell_the_same(card: int) -> None:
    host = still_host()
    one = await by_storcli(host, card)
    other = await MegaCli(host, PATHS["MegaCli64"]).read(card)
    assert [essence(volume) for volume in one.volumes] == [essence(volume) for volume in other.volumes]
    places = [(drive.place, drive.state, drive.model, drive.serial, drive.wwn) for drive in one.drives]
    assert places == [(drive.place, drive.state, drive.model, drive.serial, drive.wwn) for drive in other.drives]
    assert (one.card.model, one.card.serial, one.card.firmware) == (
        other.card.model,
        other.card.serial,
        other.card.firmware,
    )
    assert one.card.cache_bytes == other.card.cache_bytes
    assert {option.name: option.state.value for option in one.card.options} == {
        option.name: option.state.value for option in other.card.options
    }
    assert other.problems == ()


@pytest.mark.parametrize("card", [0, 1, 2])
async def test_text_tells_what_json_tells(card: int) -> None:
    told = await by_storcli(still_host(), card)
    text = await by_storcli(DeafHost(still_rack(), speed=FAST), card)
    assert [essence(volume) for volume in text.volumes] == [essence(volume) for volume in told.volumes]
    assert [(drive.place, drive.state, drive.size_bytes) for drive in text.drives] == [
        (drive.place, drive.state, drive.size_bytes) for drive in told.drives
    ]


async def test_the_84016e_is_told_by_megacli_alone() -> None:
    host = still_host()
    assert await StorCli7(host, PATHS["storcli64"]).cards() == (0, 1, 2)
    assert await MegaCli(host, PATHS["MegaCli64"]).cards() == (0, 1, 2, 3)
    old = await MegaCli(host, PATHS["MegaCli64"]).read(3)
    assert old.card.model == "MegaRAID SAS 84016E"
    assert old.volumes[0].level.value == "raid10"
    assert len(old.drives) == 8


async def test_write_back_without_a_battery_is_set_with_megacli_and_waits() -> None:
    host = still_host()
    next(card for card in host.rack.cards if card.number == 3).battery = None
    backend, target = MegaRaid(host), volume_target("/c3", 0)
    await backend.apply(await backend.plan(target, "write_cache", "write-through"))
    await backend.apply(await backend.plan(target, "write_cache", "write-back"))
    now = (await backend.read(target))["write_cache"]
    assert (now.now, now.effective) == ("write-back", "write-through")
    assert now.why_effective == "no battery or CacheVault is fitted (the controller reports WriteThrough)"
