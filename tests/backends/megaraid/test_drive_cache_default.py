"""The drive cache of a virtual drive that leaves it to the drives, with each tool."""

from __future__ import annotations

import pytest

from backends.errors import BlockedError
from backends.settings import Risk
from backends.simulator.host import SimulatedHost
from backends.vendors.megaraid.addresses import volume_target
from backends.vendors.megaraid.backend import MegaRaid
from tests.backends.simulator.asking import FAST, still_rack

WITH_STORCLI, WITH_MEGACLI = volume_target("/c0", 1), volume_target("/c3", 0)


def machine() -> MegaRaid:
    rack = still_rack()
    for card in rack.cards:
        for volume in card.volumes:
            volume.drive_cache = "default"
    return MegaRaid(SimulatedHost(rack, speed=FAST))


async def test_megacli_offers_what_it_can_set_and_says_that_nothing_puts_it_back() -> None:
    backend = machine()
    reading = (await backend.read(WITH_MEGACLI))["drive_cache"]
    assert (reading.now, reading.raw, reading.availability.why_not) == ("default", "Disk's Default", None)
    assert [choice.value for choice in reading.choices] == ["on", "off"]
    change = await backend.plan(WITH_MEGACLI, "drive_cache", "off")
    assert [step.argv[1:3] for step in change.writes] == [("-LDSetProp", "-DisDskCache")]
    assert (change.undo, change.risk) == ((), Risk.PERFORMANCE)
    assert change.risk_text.endswith("MegaCli64 has no command for default, so the change to off cannot be undone.")


async def test_a_worse_risk_keeps_its_own_words_and_gets_the_warning() -> None:
    change = await machine().plan(WITH_MEGACLI, "drive_cache", "on")
    assert change.risk is Risk.POWER_LOSS
    assert "power failure" in change.risk_text
    assert "cannot be undone" in change.risk_text


async def test_it_is_set_and_the_way_back_to_the_default_is_refused_in_words() -> None:
    backend = machine()
    await backend.apply(await backend.plan(WITH_MEGACLI, "drive_cache", "off"))
    assert (await backend.read(WITH_MEGACLI))["drive_cache"].now == "off"
    with pytest.raises(BlockedError, match="no command for it") as refused:
        await backend.back(WITH_MEGACLI, "drive_cache", "default", {})
    assert refused.value.hint == "Set on or off."


async def test_from_one_word_to_the_other_there_is_a_way_back() -> None:
    backend = machine()
    await backend.apply(await backend.plan(WITH_MEGACLI, "drive_cache", "off"))
    change = await backend.plan(WITH_MEGACLI, "drive_cache", "on")
    assert [step.argv[1:3] for step in change.undo] == [("-LDSetProp", "-DisDskCache")]


async def test_storcli_has_a_word_for_it_and_puts_it_back() -> None:
    backend = machine()
    change = await backend.plan(WITH_STORCLI, "drive_cache", "off")
    assert [step.argv[1:4] for step in change.undo] == [("/c0/v1", "set", "pdcache=default")]
    await backend.apply(change)
    await backend.apply(await backend.back(WITH_STORCLI, "drive_cache", "default", {}))
    assert (await backend.read(WITH_STORCLI))["drive_cache"].now == "default"
