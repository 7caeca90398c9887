"""Which drives of a card are free by its own words, and the lines that make an array of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from backends.array_planning import ArrayPlan, ArrayRequest, Candidate
from backends.errors import BlockedError, DeviceGoneError, InvalidValueError, RefusedError
from backends.model import Level, Media, State
from backends.simulator import firmware_rules
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.lsi import demo_rack
from backends.simulator.rack import Rack
from backends.simulator.state_file import RackFile
from backends.vendors._cards import BackgroundOperation
from backends.vendors.megaraid.addresses import card_target, volume_target
from backends.vendors.megaraid.backend import MegaRaid
from backends.vendors.megaraid.creation import card_exclusion_reasons, drive_exclusion_reasons
from backends.vendors.megaraid.dialect import CardSnapshot
from backends.vendors.megaraid.facts import PRESERVED, Card, PhysicalDrive, VirtualDrive
from tests.backends.simulator.asking import FAST, NOW
from tests.case_loop import loop_over

GOOD = PhysicalDrive(
    card=0, enclosure=252, slot=3, state=State.UNASSIGNED, state_raw="UGood", serial="S3", media=Media.SSD
)


def alone(drive: PhysicalDrive, **more: object) -> CardSnapshot:
    return replace(CardSnapshot(card=Card(number=0), drives=(drive,)), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("raw", ["UGood", "UConf/Online", "Unconfigured(good), Spun Up", "Unconfigured(good)"])
def test_a_drive_that_the_card_calls_good_and_nobody_uses_is_free(raw: str) -> None:
    one = replace(GOOD, state_raw=raw)
    assert drive_exclusion_reasons(alone(one), one) == ()


@loop_over(
    ("other", "why"),
    [
        ({"foreign": True, "state": State.FOREIGN}, "foreign configuration"),
        ({"foreign": True}, "foreign configuration"),
        ({"state": State.SPARE, "state_raw": "GHS"}, "hot spare"),
        ({"state": State.ONLINE, "state_raw": "JBOD"}, "the controller reports it as online (JBOD)"),
        ({"state_raw": "UGShld"}, "the controller reports it as unassigned (UGShld)"),
        ({"state_raw": "UGUnsp"}, "the controller reports it as unassigned (UGUnsp)"),
        ({"state": State.FAILED, "state_raw": "UBad"}, "the controller reports it as failed (UBad)"),
        ({"group": 4}, "in drive group 4"),
        ({"volumes": (2,)}, "in virtual drive 2"),
        ({"jobs": (BackgroundOperation(kind="rebuild"),)}, "rebuild is running on it"),
        ({"errors": {"predictive": 1}}, "it predicts failure"),
        ({"alert": True}, "it predicts failure"),
        ({"locked": True}, "locked"),
        ({"serial": None}, "serial number is missing or not unique"),
    ],
)
def test_every_other_drive_is_not_and_it_is_said_why(other: dict[str, object], why: str) -> None:
    one = replace(GOOD, **other)  # type: ignore[arg-type]
    assert why in " ".join(drive_exclusion_reasons(alone(one), one))


def test_a_serial_number_that_two_drives_report_means_none_of_them() -> None:
    both = alone(GOOD, drives=(GOOD, replace(GOOD, slot=4)))
    assert "missing or not unique" in drive_exclusion_reasons(both, GOOD)[0]


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"cut": "The answer was cut."}, "The answer was cut"),
        ({"volumes": (VirtualDrive(card=0, number=1, jobs=(BackgroundOperation(kind="migration"),)),)}, "migration"),
        ({"card": Card(number=0, problems=(PRESERVED,))}, "preserved cache"),
        ({"volumes": tuple(VirtualDrive(card=0, number=number) for number in range(64))}, "64 virtual drives"),
    ],
)
def test_what_stands_against_the_whole_card_stands_against_all_its_drives(other: dict[str, object], why: str) -> None:
    assert why in " ".join(card_exclusion_reasons(alone(GOOD, **other)))


class Bed:
    """The first rack, with the arrays of its cards 1 and 3 deleted: free drives for storcli and for MegaCli."""

    def __init__(self) -> None:
        self.rack: Rack = demo_rack(lambda: NOW)
        for number in (1, 3):
            card = next(one for one in self.rack.cards if one.number == number)
            firmware_rules.delete(self.rack, card, 0, force=True)
        self.backend = MegaRaid(SimulatedHost(RackFile(None, make=lambda: self.rack), speed=FAST))

    async def free(self, card: str) -> tuple[Candidate, ...]:
        await self.backend.inventory()
        return tuple(
            one for one in await self.backend.candidates() if str(one.controller) == f"megaraid:{card}" and one.free
        )

    async def plan(self, card: str, level: Level, count: int, **more: object) -> ArrayPlan:
        drives = (await self.free(card))[:count]
        wish = replace(ArrayRequest(level=level, drives=drives, name="rb-1a2b"), **more)  # type: ignore[arg-type]
        return await self.backend.plan_array(wish, card_target(card), assume_clean=False)


@pytest.fixture
def bed() -> Bed:
    return Bed()


def lines(plan: ArrayPlan) -> list[str]:
    return [step.shown().partition(" ")[2] for step in plan.steps]


async def test_storcli_gets_the_drives_in_order_the_spans_and_no_size(bed: Bed) -> None:
    plan = await bed.plan("/c1", Level.RAID10, 6, strip_bytes=256 << 10, policies={"drive_cache": "off"})
    assert lines(plan) == [
        "/c1 add vd r10 name=rb-1a2b drives=252:0-5 pdperarray=2 pdcache=off wt nora direct strip=256 J nolog"
    ]
    assert (plan.request.spans, plan.data_drives, plan.cost, plan.full_stripe_bytes) == (3, 3, 3, 768 << 10)


async def test_megacli_names_every_span_and_gives_the_name_afterwards(bed: Bed) -> None:
    plan = await bed.plan("/c3", Level.RAID10, 4, strip_bytes=64 << 10)
    first, *rest = lines(plan)
    assert first.startswith("-CfgSpanAdd -R10 '-Array0[28:0,28:1]' '-Array1[28:2,28:3]' WT NORA Direct -strpsz64 -a3")
    assert any("rb-1a2b" in line for line in rest)


async def test_background_initialisation_is_said_to_begin_where_it_does(bed: Bed) -> None:
    assert "starts automatically" in (await bed.plan("/c1", Level.RAID5, 5)).initialising
    assert "does not start automatically" in (await bed.plan("/c1", Level.RAID5, 4)).initialising
    assert "No initialisation is needed before a benchmark." in (await bed.plan("/c1", Level.RAID0, 4)).initialising


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"strip_bytes": 8 << 10}, "does not support strips of 8 KiB"),
        ({"policies": {"access_policy": "blocked"}}, "cannot be set when creating an array"),
        (
            {"policies": {"write_cache": "sometimes"}},
            "write_cache must be write-through or write-back or always-write-back",
        ),
        ({"policies": {"io_policy": ""}}, "io_policy must be direct or cached when creating an array"),
        ({"name": "two words"}, "is not a valid array name"),
    ],
)
async def test_what_the_card_would_refuse_is_not_planned(bed: Bed, more: dict[str, object], why: str) -> None:
    with pytest.raises(InvalidValueError, match=why):
        await bed.plan("/c1", Level.RAID0, 2, **more)


def _spare(rack: Rack) -> None:
    rack.cards[1].disks[0].state = "spare"


def _foreign(rack: Rack) -> None:
    rack.cards[1].disks[0].state = "foreign"


def _swapped(rack: Rack) -> None:
    rack.cards[1].disks[0].serial = "ANOTHER"


@pytest.mark.parametrize(
    ("meanwhile", "error", "why"),
    [
        (_spare, RefusedError, "hot spare"),
        (_foreign, RefusedError, "foreign"),
        (_swapped, DeviceGoneError, "gone|does not exist|no longer"),
    ],
)
async def test_a_drive_that_became_something_else_meanwhile_is_refused(
    bed: Bed, meanwhile: Callable[[Rack], None], error: type[Exception], why: str
) -> None:
    wish = ArrayRequest(level=Level.RAID0, drives=(await bed.free("/c1"))[:2], name="rb-1a2b")
    meanwhile(bed.rack)
    with pytest.raises(error, match=why):
        await bed.backend.plan_array(wish, card_target("/c1"), assume_clean=False)


@pytest.mark.parametrize("card", ["/c1", "/c3"])
async def test_while_a_card_keeps_data_of_a_missing_array_nothing_is_made_and_nothing_deleted(
    bed: Bed, card: str
) -> None:
    """Both tools, storcli and MegaCli, tell it; the card itself refuses with code 84, or 0x54."""
    rack = demo_rack(lambda: NOW)
    next(one for one in rack.cards if f"/c{one.number}" == card).pinned = True
    backend = MegaRaid(SimulatedHost(RackFile(None, make=lambda: rack), speed=FAST))
    await backend.inventory()
    mine = [one for one in await backend.candidates() if str(one.controller) == f"megaraid:{card}"]
    assert all("preserved cache" in " ".join(one.why_not) for one in mine)
    strip = (await backend.read(volume_target(card, 0)))["strip_size"]
    assert "preserved cache" in (strip.availability.why_not or "")


async def test_a_card_is_never_told_that_its_parity_is_right(bed: Bed) -> None:
    wish = ArrayRequest(level=Level.RAID5, drives=(await bed.free("/c1"))[:3], name="rb-1a2b")
    with pytest.raises(InvalidValueError, match="--assume-clean is not supported"):
        await bed.backend.plan_array(wish, card_target("/c1"), assume_clean=True)


async def test_nothing_is_made_while_the_card_rebuilds(bed: Bed) -> None:
    found = await bed.backend.candidates() if await bed.backend.inventory() else ()
    assert not any(one.free for one in found if str(one.controller) == "megaraid:/c2")
    wish = ArrayRequest(level=Level.RAID0, drives=(await bed.free("/c0"))[:1], name="rb-1a2b")
    contents = alone(GOOD, volumes=(VirtualDrive(card=0, number=1, jobs=(BackgroundOperation(kind="rebuild"),)),))
    from backends.vendors.megaraid.creation import plan_array

    with pytest.raises(BlockedError, match="a rebuild is running on the controller"):
        plan_array(wish, contents, None)  # type: ignore[arg-type]
