"""A virtual drive that was made here is found again by its drives, and nothing else is ever deleted for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from backends.array_planning import ArrayMatch, ArrayMatchState, ArrayPlan, CreatedArray, MemberDrive
from backends.change import ChangeStep
from backends.errors import InvalidValueError, RefusedError, ToolFailedError
from backends.host import Command, Completed
from backends.model import Level, State
from backends.simulator.firmware_rules import naa
from backends.simulator.host import SimulatedHost
from backends.simulator.volume import Volume
from backends.topology import scan_topology
from backends.vendors.megaraid.addresses import card_target
from backends.vendors.megaraid.backend import MegaRaid
from backends.vendors.megaraid.creation import find_made
from backends.vendors.megaraid.dialect import CardSnapshot
from backends.vendors.megaraid.facts import Card, PhysicalDrive, VirtualDrive
from backends.vendors.megaraid.megacli.dialect import MegaCli
from backends.vendors.megaraid.storcli.dialect import StorCli7, StorCli8
from tests.backends.fakes import FakeHost
from tests.backends.simulator.asking import megacli, storcli
from tests.backends.simulator.making import MEGACLI, STORCLI, new_host, planned

TOOLS = {"storcli": (0, STORCLI), "MegaCli": (1, MEGACLI)}
"""Card and free drives of each."""

BOTH = pytest.mark.parametrize("tool", TOOLS)


class Bench:
    """A rack, its backend, and an array of three drives that is planned on the card of one tool."""

    def __init__(self, tool: str) -> None:
        self.host: SimulatedHost = new_host()
        self.backend = MegaRaid(self.host)
        self.number, self.drives = TOOLS[tool]
        self.card = self.host.rack.cards[self.number]
        self.target = card_target(f"/c{self.number}")

    async def plan(self, level: Level = Level.RAID5, count: int = 3, **more: object) -> ArrayPlan:
        drives = self.drives[:count]
        found = await planned(self.host, level, drives, strip=64 << 10, **more)  # type: ignore[arg-type]
        assert found.locks == (f"megaraid-c{self.number}",)
        return found

    async def take(self, steps: Sequence[ChangeStep]) -> None:
        await self.backend.run_making(self.target, steps)

    async def find(self, array: CreatedArray) -> ArrayMatch:
        return await MegaRaid(self.host).find_made(array)

    async def made(self, **more: object) -> CreatedArray:
        plan = await self.plan(**more)  # type: ignore[arg-type]
        await self.take(plan.steps)
        return plan.created_array()

    @property
    def volume(self) -> Volume:
        """The last made."""
        return self.card.volumes[-1]


@BOTH
@pytest.mark.parametrize(
    ("level", "count"),
    [
        (Level.RAID0, 1),
        pytest.param(Level.RAID1, 2, marks=pytest.mark.long),
        (Level.RAID5, 3),
        pytest.param(Level.RAID6, 4, marks=pytest.mark.long),
        pytest.param(Level.RAID10, 6, marks=pytest.mark.long),
        (Level.RAID50, 6),
    ],
)
async def test_what_was_made_is_found_whole_and_deleted_without_a_trace(tool: str, level: Level, count: int) -> None:
    bench = Bench(tool)
    plan = await bench.plan(level, count)
    array = plan.created_array()
    none = await bench.find(array)
    assert (none.state, none.remove, none.device) == (ArrayMatchState.ABSENT, (), None)
    await bench.take(plan.steps)
    found = await bench.find(array)
    assert found.state is ArrayMatchState.COMPLETE, found.sentence
    number = bench.volume.number
    assert str(found.target) == f"megaraid:/c{bench.number}/v{number}"
    assert (found.device, found.looked_at) == (f"/dev/{bench.volume.device}", (f"/dev/{bench.volume.device}",))
    assert found.locks[0] < found.locks[1]
    assert f"megaraid-c{bench.number}" in found.locks
    (line,) = [step.shown() for step in found.remove]
    wanted = {"storcli": f"/c0/v{number} del force J nolog", "MegaCli": f"-CfgLdDel -L{number} -a1 -NoLog"}
    assert line.endswith(wanted[tool])
    await bench.take(found.remove)
    assert (await bench.find(array)).state is ArrayMatchState.ABSENT
    assert all(bench.card.disk(place).state == "good" for place in bench.drives[:count])  # type: ignore[union-attr]


@BOTH
async def test_its_number_is_not_what_it_is_known_by(tool: str) -> None:
    bench = Bench(tool)
    array = await bench.made()
    bench.volume.number = 7
    found = await bench.find(array)
    assert (found.state, str(found.target)) == (ArrayMatchState.COMPLETE, f"megaraid:/c{bench.number}/v7")
    assert ("v7" if tool == "storcli" else "-L7") in found.remove[0].shown()


@BOTH
async def test_drives_that_sit_in_other_places_are_the_same_drives(tool: str) -> None:
    bench = Bench(tool)
    array = await bench.made()
    moved = [disk for disk in bench.card.disks if disk.place in bench.volume.places]
    for disk in moved:
        disk.slot += 20
    bench.volume.places = tuple(disk.place for disk in moved)
    assert (await bench.find(array)).state is ArrayMatchState.COMPLETE


@BOTH
async def test_another_array_of_the_same_name_and_level_is_never_taken_for_it(tool: str) -> None:
    bench = Bench(tool)
    plan = await bench.plan()
    first, others = ",".join(bench.drives[:3]), ",".join(bench.drives[3:6])
    if tool == "storcli":
        await storcli(bench.host, f"/c0 add vd r5 name=rb-1a2b drives={others} wt nora direct strip=64")
    else:
        await megacli(bench.host, f"-CfgLDAdd -R5[{others}] WT NORA Direct -strpsz64 -a1", mutates=True)
        await megacli(bench.host, "-LDSetProp -Name rb-1a2b -L0 -a1", mutates=True)
    assert bench.volume.name == "rb-1a2b"
    found = await bench.find(plan.created_array())
    assert (found.state, found.remove) == (ArrayMatchState.ABSENT, ())
    again = await bench.plan()
    await bench.take(again.steps)
    found = await bench.find(again.created_array())
    assert found.state is ArrayMatchState.COMPLETE
    assert str(bench.volume.number) in found.remove[0].shown()
    assert set(bench.volume.places) == set(first.split(","))


async def test_an_array_of_megacli_that_never_got_its_name_is_a_part_of_it() -> None:
    bench = Bench("MegaCli")
    plan = await bench.plan()
    await bench.take(plan.steps[:1])
    found = await bench.find(plan.created_array())
    assert (found.state, found.target) == (ArrayMatchState.PARTIAL, None)
    assert "has no name yet" in found.sentence
    await bench.take(found.remove)
    assert (await bench.find(plan.created_array())).state is ArrayMatchState.ABSENT


async def test_one_without_a_name_that_was_there_before_is_not() -> None:
    bench = Bench("MegaCli")
    array = (await bench.plan()).created_array()
    await megacli(bench.host, f"-CfgLDAdd -R5[{','.join(MEGACLI[:3])}] WT NORA -strpsz64 -a1", mutates=True)
    seen = (await MegaRaid(bench.host).find_made(array)).state
    before = (await planned(bench.host, Level.RAID0, MEGACLI[5:6])).before
    assert before == (" ".join(sorted(member.serial or "" for member in array.members)),)
    found = await bench.find(replace(array, before=before))
    assert (seen, found.state, found.remove) == (ArrayMatchState.PARTIAL, ArrayMatchState.UNKNOWN, ())
    assert "existed before" in found.sentence


async def test_storcli_tells_what_was_there_before_by_world_wide_names() -> None:
    bench = Bench("storcli")
    assert (await bench.plan()).before == (f"naa.{bench.card.volumes[0].naa}",)


async def test_storcli_names_at_once_so_one_without_a_name_is_anothers() -> None:
    bench = Bench("storcli")
    array = (await bench.plan()).created_array()
    await storcli(bench.host, "/c0 add vd r5 drives=252:0-2 wt nora direct strip=64")
    found = await bench.find(array)
    assert (found.state, found.remove) == (ArrayMatchState.UNKNOWN, ())
    assert "has no name, not rb-1a2b" in found.sentence


@BOTH
@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"name": "mine"}, "is called mine"),
        ({"level": Level.RAID6}, "is RAID6, not RAID5"),
        ({"strip_bytes": 1 << 20}, "strips of 1 MiB"),
    ],
)
async def test_one_over_its_drives_that_differs_is_left_alone(tool: str, other: dict[str, object], why: str) -> None:
    bench = Bench(tool)
    array = await bench.made()
    for key, value in other.items():
        setattr(bench.volume, key, value)
    found = await bench.find(array)
    assert (found.state, found.remove, found.target) == (ArrayMatchState.UNKNOWN, (), None)
    assert why in found.sentence


@BOTH
async def test_other_spans_are_another_array(tool: str) -> None:
    bench = Bench(tool)
    array = await bench.made(level=Level.RAID10, count=4, spans=2)
    found = await bench.find(replace(array, spans=4))
    assert (found.state, "2 spans, not 4" in found.sentence) == (ArrayMatchState.UNKNOWN, True)


@BOTH
async def test_one_over_more_or_fewer_drives_is_another_array(tool: str) -> None:
    bench = Bench(tool)
    array = await bench.made(level=Level.RAID0, count=4)
    more = (await planned(bench.host, Level.RAID1, bench.drives[4:6])).created_array().members
    for members in (array.members[:3], (*array.members, *more)):
        found = await bench.find(replace(array, members=members))
        assert (found.state, found.remove) == (ArrayMatchState.UNKNOWN, ())
        assert "does not consist of exactly its drives" in found.sentence


@BOTH
async def test_two_over_its_drives_are_both_left_alone(tool: str) -> None:
    bench = Bench(tool)
    array = await bench.made()
    bench.card.volumes.append(replace(bench.volume, number=9, device="sdz", naa=naa(99)))
    found = await bench.find(array)
    assert (found.state, found.remove) == (ArrayMatchState.UNKNOWN, ())
    assert " and 9." in found.sentence


@BOTH
async def test_a_drive_that_is_gone_leaves_it_open_whose_the_rest_is(tool: str) -> None:
    bench = Bench(tool)
    array = await bench.made()
    bench.card.disks = [disk for disk in bench.card.disks if disk.place != bench.drives[0]]
    bench.volume.places = bench.volume.places[1:]
    found = await bench.find(array)
    assert (found.state, found.remove) == (ArrayMatchState.UNKNOWN, ())
    assert f"Its drive {array.members[0].serial} is not on the controller." in found.sentence


# -- what the rack cannot be made to say ------------------------------------------------------------------------------

CARD = Card(number=0)
DRIVES = tuple(
    PhysicalDrive(
        card=0,
        enclosure=252,
        slot=slot,
        serial=f"S{slot}",
        size_bytes=10,
        state=State.ONLINE,
        state_raw="Onln",
        group=1,
        volumes=(1,),
    )
    for slot in range(3)
)
VOLUME = VirtualDrive(
    card=0,
    number=1,
    group=1,
    name="rb-1",
    level=Level.RAID5,
    spans=1,
    strip_bytes=65536,
    wwn="600605b0",
    drives=("252:0", "252:1", "252:2"),
)
WHOLE = CardSnapshot(card=CARD, volumes=(VOLUME,), drives=DRIVES)
FREE = tuple(replace(one, state=State.UNASSIGNED, state_raw="UGood", group=None, volumes=()) for one in DRIVES)
GONE = CardSnapshot(card=CARD, drives=FREE)
ARRAY = CreatedArray(
    name="rb-1",
    level=Level.RAID5,
    controller=card_target("/c0"),
    members=tuple(MemberDrive(place=f"252:{slot}", serial=f"S{slot}", size_bytes=10) for slot in range(3)),
    strip_bytes=65536,
)


async def judged(contents: CardSnapshot, array: CreatedArray = ARRAY) -> ArrayMatch:
    host = FakeHost({})
    return find_made(
        array, contents, StorCli7(host, "storcli64"), await scan_topology(host), prefix="/c0", lock="megaraid-c0"
    )


async def test_without_a_disk_nobody_can_see_what_lies_on_it_so_it_stays() -> None:
    found = await judged(WHOLE)
    assert (found.state, found.device, found.remove) == (ArrayMatchState.COMPLETE, None, ())
    assert found.sentence.endswith("The kernel has no disk for it.")


def first(**other: object) -> tuple[PhysicalDrive, ...]:
    return (replace(FREE[0], **other), *FREE[1:])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("contents", "why"),
    [
        (replace(WHOLE, cut="The answer breaks off."), "The answer breaks off."),
        (replace(WHOLE, volumes=(replace(VOLUME, drives=()),)), "does not report which drives virtual drive 1 has"),
        (replace(WHOLE, drives=(*DRIVES, replace(DRIVES[0], slot=9, volumes=()))), "Several drives have the serial"),
        (replace(WHOLE, drives=(replace(DRIVES[0], size_bytes=11), *DRIVES[1:])), "has changed"),
        (
            replace(WHOLE, drives=(*DRIVES, replace(FREE[0], slot=9, serial="S9", group=1, state=State.SPARE))),
            "252:9 was added as spare",
        ),
        (replace(GONE, drives=first(foreign=True)), "carries a foreign configuration"),
        (replace(GONE, drives=first(group=4)), "No virtual drive uses its drive S0"),
        (replace(GONE, drives=first(state=State.UNKNOWN, state_raw="Xyz")), "which is in an unknown state (Xyz)"),
        (
            replace(GONE, volumes=(replace(VOLUME, drives=("252:9",)),), drives=first(volumes=(1,))),
            "does not consist of exactly its drives",
        ),
    ],
)
async def test_what_cannot_be_told_is_unknown_and_nothing_is_done_about_it(contents: CardSnapshot, why: str) -> None:
    found = await judged(contents)
    assert (found.state, found.remove) == (ArrayMatchState.UNKNOWN, ())
    assert why in found.sentence


@pytest.mark.parametrize("state", [State.UNASSIGNED, State.SPARE, State.FAILED])
async def test_drives_that_no_virtual_drive_has_any_more_bear_nothing_of_it(state: State) -> None:
    found = await judged(replace(GONE, drives=first(state=state)))
    assert (found.state, found.sentence) == (ArrayMatchState.ABSENT, "None of its 3 drives belongs to a virtual drive.")


async def test_a_member_without_a_serial_number_is_never_found() -> None:
    nameless = replace(ARRAY, members=(replace(ARRAY.members[0], serial=None), *ARRAY.members[1:]))
    drives = (replace(DRIVES[0], serial=None), *DRIVES[1:])
    assert (await judged(replace(WHOLE, drives=drives), nameless)).state is ArrayMatchState.UNKNOWN


# -- the steps --------------------------------------------------------------------------------------------------------


@pytest.mark.long
@BOTH
@pytest.mark.parametrize(
    "words",
    [
        ("/bin/rm", "-rf", "/"),
        ("TOOL", "/c1", "add", "vd", "r0"),
        ("TOOL", "/c0/v0", "set", "wrcache=wb"),
        ("TOOL", "/c0", "restart"),
        ("TOOL", "/c1/v0", "del", "force"),
        ("TOOL", "/c0/vall", "del", "force"),
        ("TOOL", "/c0/v0", "del", "discardcache"),
        ("TOOL", "-CfgClr", "-a1"),
        ("TOOL", "-CfgLdDel", "-L0", "-a0"),
        ("TOOL", "-AdpSetProp", "RebuildRate", "-30", "-a1"),
    ],
    ids=lambda words: " ".join(words),
)
async def test_a_step_that_neither_makes_nor_deletes_on_this_card_is_not_taken(
    tool: str, words: tuple[str, ...]
) -> None:
    bench = Bench(tool)
    plan = await bench.plan()
    strange = ChangeStep(argv=tuple(plan.steps[0].argv[0] if word == "TOOL" else word for word in words))
    count = len(bench.card.volumes)
    with pytest.raises(RefusedError):
        await bench.take((*plan.steps, strange))
    assert len(bench.card.volumes) == count


@BOTH
async def test_a_refusal_is_told_in_the_tools_words_and_ends_it(tool: str) -> None:
    bench = Bench(tool)
    plan = await bench.plan()
    bench.card.disks[1].state = "jbod"
    with pytest.raises(ToolFailedError, match="does not have the appropriate attributes"):
        await bench.take(plan.steps)
    assert (await bench.find(plan.created_array())).state is not ArrayMatchState.COMPLETE


async def test_a_name_is_not_given_to_an_array_that_came_between() -> None:
    bench = Bench("MegaCli")
    plan = await bench.plan()
    await megacli(bench.host, "-CfgLDAdd -R0[245:7] WT NORA -strpsz64 -a1", mutates=True)
    with pytest.raises(ToolFailedError, match=r"created as virtual drive 1, not 0. No further settings were changed"):
        await bench.take(plan.steps)
    assert [volume.name for volume in bench.card.volumes] == ["", ""]
    found = await bench.find(plan.created_array())
    assert (found.state, "-L1" in found.remove[0].shown()) == (ArrayMatchState.PARTIAL, True)


async def test_the_number_of_what_was_deleted_binds_nothing_that_is_made_later() -> None:
    cli = MegaCli(FakeHost({}), "/MegaCli64")
    delete = ("/MegaCli64", "-CfgLdDel", "-L1", "-a0", "-NoLog")
    add = ("/MegaCli64", "-CfgLDAdd", "-R0[245:1]", "WT", "-a0", "-NoLog")

    def ok(argv: tuple[str, ...], line: str) -> bool:
        done = Completed(returncode=0, stdout=f"{line}\n\nExit Code: 0x00\n", stderr="")
        return cli.judge(Command(argv=argv, mutates=True), done).ok

    cli.begin_making(0, [delete])
    assert ok(delete, "Adapter 0: Deleted Virtual Drive-1(target id-1)")
    cli.begin_making(0, ())
    assert ok(add, "Adapter 0: Created VD 5")


def test_each_tool_deletes_in_its_own_word() -> None:
    host = FakeHost({})
    words = [tool(host, "tool").delete(2, 5)[0].argv[:4] for tool in (StorCli7, StorCli8, MegaCli)]
    assert words == [
        ("tool", "/c2/v5", "del", "force"),
        ("tool", "/c2/v5", "delete", "force"),
        ("tool", "-CfgLdDel", "-L5", "-a2"),
    ]


async def test_without_a_card_there_is_nobody_to_ask() -> None:
    backend = MegaRaid(new_host())
    with pytest.raises(InvalidValueError):
        await backend.find_made(replace(ARRAY, controller=None))
    with pytest.raises(InvalidValueError):
        await backend.run_making(None, ())
