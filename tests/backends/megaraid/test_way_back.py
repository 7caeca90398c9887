"""What brings a virtual drive back: what it was made with comes from the log, its drives from the card itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from backends.change import Change, ChangeStep
from backends.errors import (
    AnotherDeviceError,
    BlockedError,
    DeviceGoneError,
    InvalidValueError,
    RefusedError,
    ToolFailedError,
)
from backends.model import State, Target
from backends.settings import Risk
from backends.simulator.host import SimulatedHost
from backends.vendors._cards import BackgroundOperation
from backends.vendors.megaraid.addresses import card_target, volume_target
from backends.vendors.megaraid.backend import MegaRaid
from backends.vendors.megaraid.dialect import CardSnapshot
from backends.vendors.megaraid.facts import Card, PhysicalDrive, VirtualDrive
from backends.vendors.megaraid.geometry import members_of
from backends.vendors.megaraid.running import places_of
from tests.backends.megaraid import cards
from tests.backends.megaraid.cards import PlayedCard
from tests.backends.simulator.asking import ask, still_host
from tests.backends.taking_back import take_back, way_back
from tests.case_loop import loop_over

V1 = volume_target("/c0", 1)
ARCHIVE = volume_target("/c3", 0)
"""Of a card that only MegaCli sees: a RAID 10 of eight drives, with a name and a policy for its drives' caches."""

STRIPS = [(V1, "262144"), (ARCHIVE, "65536")]
CARDS = {V1: "/c0", ARCHIVE: "/c3"}
MEGACLI = "/opt/MegaRAID/MegaCli/MegaCli64"


async def made(host: SimulatedHost, target: Target, strip: str) -> Change:
    """A change of the strip size, made."""
    change = await MegaRaid(host).plan(target, "strip_size", strip)
    await MegaRaid(host).apply(change)
    return change


async def values(host: SimulatedHost, target: Target) -> dict[str, str | None]:
    return {key: reading.now for key, reading in (await MegaRaid(host).read(target)).items()}


async def delete(host: SimulatedHost, target: Target) -> None:
    """As a change that is cut short leaves it: deleted, and not made."""
    if target == V1:
        await ask(host, "storcli64", "/c0/v1 del force", mutates=True)
    else:
        await ask(host, "MegaCli64", "-CfgLdDel -L0 -a3 -NoLog", mutates=True)


@pytest.mark.parametrize(("target", "strip"), STRIPS)
async def test_a_volume_of_another_strip_comes_back_with_the_policies_and_the_name_of_before(
    target: Target, strip: str
) -> None:
    host = still_host()
    backend = MegaRaid(host)
    before = await values(host, target)
    changes = await backend.plan_together(target, {"strip_size": strip, "read_ahead": "none", "io_policy": "cached"})
    for change in changes:
        await backend.apply(change)
    remade = next(change for change in changes if change.key == "strip_size")

    back = await way_back(MegaRaid(host), remade)
    assert back.writes == remade.undo
    assert back.risk is Risk.DESTROYS_DATA
    await MegaRaid(host).apply(back)

    assert await values(host, target) == before


@pytest.mark.parametrize(("target", "strip"), STRIPS)
async def test_what_it_was_made_of_is_kept_by_serial_number(target: Target, strip: str) -> None:
    host = still_host()
    change = await MegaRaid(host).plan(target, "strip_size", strip)
    card = next(one for one in host.rack.cards if f"/c{one.number}" == CARDS[target])
    volume = next(one for one in card.volumes if target.address.endswith(f"v{one.number}"))
    by_place = {disk.place: disk.serial for disk in card.disks}
    assert change.members == tuple(by_place[place] for place in volume.places)


@pytest.mark.parametrize(
    ("companions", "words"),
    [
        ({"level": "raid0"}, "level=raid0"),
        ({"drives_per_span": "2"}, "drives_per_span=2"),
        ({"name": "other"}, "name=other"),
        ({"write_cache": "wb force"}, "write_cache=wb force"),
        ({"drives": "245:4"}, "drives=245:4"),
    ],
)
async def test_companions_of_another_volume_are_refused(companions: dict[str, str], words: str) -> None:
    host = still_host()
    change = await made(host, V1, "262144")
    with pytest.raises(RefusedError, match=f"^{words} cannot be restored together with strip_size"):
        await MegaRaid(host).back(V1, "strip_size", "65536", {**change.companions, **companions})


async def test_a_volume_whose_policies_cannot_be_read_comes_back_with_those_of_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(cards._LETTERS, "unheard", "XX")
    played = PlayedCard()
    change = await MegaRaid(played).plan(V1, "strip_size", "262144")
    await MegaRaid(played).apply(change)
    played.volume["rdcache"] = "unheard"
    assert (await MegaRaid(played).read(V1))["read_ahead"].now == "unknown"
    back = await way_back(MegaRaid(played), change)
    assert back.writes == change.undo


async def test_the_way_back_reads_the_card_once() -> None:
    played = PlayedCard()
    backend = MegaRaid(played)
    await backend.inventory()
    change = await backend.plan(V1, "read_ahead", "read-ahead")
    await backend.apply(change)
    await backend.read(V1)
    asked = len(played.ran)
    await backend.read_for(V1, "read_ahead")
    assert len(played.ran) - asked == 1  # no battery has a say in it
    await backend.back(V1, "read_ahead", "none", {})
    assert len(played.ran) - asked == 2


async def test_policies_that_are_no_preset_come_back_though_they_are_offered_no_more() -> None:
    played = PlayedCard(wrcache="wb", rdcache="ra", iopolicy="cached")
    change = await MegaRaid(played).plan(V1, "fastpath", "preset")
    await MegaRaid(played).apply(change)
    assert change.before == "write-back + read-ahead + cached"
    assert change.companions == {"write_cache": "write-back", "read_ahead": "read-ahead", "io_policy": "cached"}
    back = await way_back(MegaRaid(played), change)
    assert back.writes == change.undo
    await MegaRaid(played).apply(back)
    assert (await MegaRaid(played).read(V1))["fastpath"].now == change.before


async def test_a_preset_that_is_taken_back_bears_the_risk_of_its_policies() -> None:
    played = PlayedCard(wrcache="awb")
    change = await MegaRaid(played).plan(V1, "fastpath", "preset")
    await MegaRaid(played).apply(change)
    back = await way_back(MegaRaid(played), change)
    assert (change.risk, back.risk) == (Risk.NONE, Risk.POWER_LOSS)
    assert "power failure" in back.risk_text


@pytest.mark.parametrize("value", ["write-back", "write-back + read-ahead", "write-back + ra + direct", "a + b + c"])
async def test_what_is_no_three_policies_is_no_value_of_before(value: str) -> None:
    with pytest.raises(InvalidValueError):
        await MegaRaid(PlayedCard()).back(V1, "fastpath", value, {})


async def test_companions_that_contradict_the_value_are_refused() -> None:
    value = "write-back + read-ahead + cached"
    with pytest.raises(RefusedError, match=r"^io_policy=direct cannot be restored together with fastpath"):
        await MegaRaid(PlayedCard()).back(V1, "fastpath", value, {"io_policy": "direct"})


async def test_what_an_activation_key_activated_does_not_come_back() -> None:
    with pytest.raises((BlockedError, InvalidValueError)):
        await MegaRaid(PlayedCard()).back(card_target("/c0"), "activation_key", "key number 1", {})


# Deleted and made again


async def change_of(host: SimulatedHost, target: Target, strip: str) -> Change:
    return await MegaRaid(host).plan(target, "strip_size", strip)


@pytest.mark.parametrize(
    "argv",
    [
        ("/c0/v0", "del", "force"),
        ("/c0", "add", "vd", "r0", "size=all", "drives=245:4", "wt", "ra", "direct", "strip=64"),
        ("/c0", "add", "vd", "r5", "size=all", "drives=245:4,245:11-12", "wt", "nora", "direct", "strip=256"),
        ("/c0", "add", "vd", "r5", "size=all", "wt", "nora", "direct", "strip=256"),
        ("/c0", "add", "vd", "r5", "size=all", "drives=245:1-3", "wt", "nora", "direct", "strip=64"),
    ],
)
async def test_a_step_of_another_volume_is_refused_before_anything_is_deleted(argv: tuple[str, ...]) -> None:
    host = still_host()
    change = await change_of(host, V1, "262144")
    tool = change.writes[0].argv[0]
    for steps in (
        (ChangeStep(argv=(tool, *argv, "J", "nolog")),),
        (change.writes[0], ChangeStep(argv=(tool, *argv, "J", "nolog"))),
        (*change.writes, ChangeStep(argv=(tool, *argv, "J", "nolog"))),
    ):
        with pytest.raises(RefusedError):
            await MegaRaid(host).apply(replace(change, writes=steps))
    assert (await values(host, V1))["strip_size"] == "65536"


async def test_a_volume_of_other_drives_than_planned_is_left_alone() -> None:
    host = still_host()
    change = await change_of(host, V1, "262144")
    with pytest.raises(AnotherDeviceError, match=r"The drives of .* have changed"):
        await MegaRaid(host).apply(replace(change, members=(*change.members[:2], "4711")))


# Deleted, and not made again


@pytest.mark.parametrize(("target", "strip"), STRIPS)
async def test_what_was_deleted_and_not_made_is_made_of_its_drives(target: Target, strip: str) -> None:
    host = still_host()
    before = await values(host, target)
    change = replace((await change_of(host, target, strip)), writes=(), undo=())
    await delete(host, target)

    planned = await MegaRaid(host).plan_remake(change)
    assert (planned.risk, planned.before, planned.members) == (Risk.DESTROYS_DATA, "missing", change.members)
    assert not any("del" in step.argv or "-CfgLdDel" in step.argv for step in planned.writes)
    await MegaRaid(host).apply(planned)

    assert await values(host, target) == {**before, "strip_size": strip}


async def test_drives_that_moved_to_other_slots_are_found_by_their_serial_numbers() -> None:
    host = still_host()
    change = await change_of(host, V1, "262144")
    await delete(host, V1)
    card = host.rack.cards[0]
    one, other = (next(disk for disk in card.disks if disk.place == place) for place in ("245:1", "245:4"))
    one.slot, other.slot = other.slot, one.slot
    assert "drives=245:4,245:2-3" in (await MegaRaid(host).plan_remake(change)).writes[0].argv


async def test_a_volume_that_is_there_is_not_made_again() -> None:
    host = still_host()
    change = await change_of(host, V1, "262144")
    with pytest.raises(RefusedError, match="exists, so it is not re-created"):
        await MegaRaid(host).plan_remake(change)


@pytest.mark.parametrize("state", ["spare", "foreign", "online", "failed"])
async def test_a_drive_that_is_not_free_any_more_is_not_taken(state: str) -> None:
    host = still_host()
    change = await change_of(host, V1, "262144")
    await delete(host, V1)
    planned = await MegaRaid(host).plan_remake(change)
    next(disk for disk in host.rack.cards[0].disks if disk.place == "245:2").state = state
    for attempt in (MegaRaid(host).plan_remake(change), MegaRaid(host).apply(planned)):
        with pytest.raises(RefusedError, match="at 245:2 is not free"):
            await attempt


async def test_a_drive_of_another_array_is_not_taken() -> None:
    host = still_host()
    change = await change_of(host, V1, "262144")
    await delete(host, V1)
    system = next(disk for disk in host.rack.cards[0].disks if disk.place == "245:8")
    with pytest.raises(RefusedError, match="at 245:8 is not free"):
        await MegaRaid(host).plan_remake(replace(change, members=(*change.members[:2], system.serial)))


async def test_a_drive_that_is_gone_is_named() -> None:
    host = still_host()
    change = await change_of(host, V1, "262144")
    await delete(host, V1)
    with pytest.raises(DeviceGoneError, match="The drive 4711 is not on the controller"):
        await MegaRaid(host).plan_remake(replace(change, members=(*change.members[:2], "4711")))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"members": ()}, "the journal does not list its drives"),
        ({"companions": {}}, "does not support the level"),
        ({"after": "100"}, "cannot be re-created by raidbench: The tool does not support a strip of 100 bytes"),
        ({"after": "; rm"}, "its strip size was ; rm"),
    ],
)
async def test_a_journal_that_does_not_say_enough_makes_nothing(wrong: dict[str, object], words: str) -> None:
    host = still_host()
    change = await change_of(host, V1, "262144")
    await delete(host, V1)
    with pytest.raises(BlockedError, match=words):
        await MegaRaid(host).plan_remake(replace(change, **wrong))  # type: ignore[arg-type]


async def test_what_makes_it_again_may_not_be_exchanged() -> None:
    host = still_host()
    change = await change_of(host, V1, "262144")
    await delete(host, V1)
    planned = await MegaRaid(host).plan_remake(change)
    tool = planned.writes[0].argv[0]
    for step in (
        ChangeStep(argv=(tool, "/c0/v0", "del", "force", "J", "nolog")),
        ChangeStep(line=planned.writes[0].shown()),
    ):
        with pytest.raises(RefusedError):
            await MegaRaid(host).apply(replace(planned, writes=(step,)))


async def test_it_is_made_behind_no_other_card() -> None:
    host = still_host()
    change = await change_of(host, V1, "262144")
    await delete(host, V1)
    planned = await MegaRaid(host).plan_remake(change)
    assert planned.identity is not None
    other = replace(planned.identity, serial="SV1")
    with pytest.raises(AnotherDeviceError, match="serial was SV1"):
        await MegaRaid(host).apply(replace(planned, identity=other))


@loop_over(
    ("own", "free"),
    [
        ({"state_raw": "UGood"}, True),
        ({"state_raw": "UConf/Good"}, True),
        ({"state_raw": "Unconfigured(good), Spun Up"}, True),
        ({"state_raw": "UGShld"}, False),
        ({"state_raw": "UGUnsp"}, False),
        ({"state_raw": "UConfShld"}, False),
        ({"state_raw": ""}, False),
        ({"state_raw": "UGood", "state": State.UNKNOWN}, False),
        ({"state_raw": "UGood", "group": 0}, False),
        ({"state_raw": "UGood", "foreign": True}, False),
        ({"state_raw": "UGood", "volumes": (3,)}, False),
        ({"state_raw": "UGood", "jobs": (BackgroundOperation(kind="erase"),)}, False),
    ],
)
def test_only_a_good_drive_of_nobody_is_free(own: dict[str, Any], free: bool) -> None:
    one = PhysicalDrive(**{"card": 0, "enclosure": 252, "slot": 1, "serial": "A", "state": State.UNASSIGNED, **own})
    contents = CardSnapshot(card=Card(number=0), drives=(one,))
    if free:
        assert places_of(contents, ("A",)) == ("252:1",)
        return
    with pytest.raises(RefusedError, match="is not free"):
        places_of(contents, ("A",))


def test_a_member_of_a_listed_volume_is_not_free_whatever_is_said_of_itself() -> None:
    one = PhysicalDrive(card=0, enclosure=252, slot=1, serial="A", state=State.UNASSIGNED, state_raw="UGood")
    volume = VirtualDrive(card=0, number=5, drives=("252:1",))
    with pytest.raises(RefusedError, match="is not free"):
        places_of(CardSnapshot(card=Card(number=0), drives=(one,), volumes=(volume,)), ("A",))


def test_two_drives_of_one_serial_number_are_none_for_certain() -> None:
    one = PhysicalDrive(card=0, enclosure=252, slot=1, serial="A", state=State.UNASSIGNED, state_raw="UGood")
    contents = CardSnapshot(card=Card(number=0), drives=(one, replace(one, slot=2)))
    with pytest.raises(RefusedError, match="Several drives"):
        places_of(contents, ("A",))
    assert members_of(contents, ("252:1",)) == ()


async def test_a_log_alone_makes_nothing_that_is_not_there() -> None:
    host = still_host()
    change = await change_of(host, V1, "262144")
    await delete(host, V1)
    with pytest.raises((DeviceGoneError, ToolFailedError)):
        await take_back(MegaRaid(host), change)
    with pytest.raises(DeviceGoneError):
        await MegaRaid(host).apply(change)
