"""LVM on the rack as a maker: volumes in a group made, found by what they are known by, removed; others' left alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from app.core.changes.arrays.candidates import candidates_of, choose, plan_array
from backends.array_planning import ArrayMatch, ArrayMatchState, ArrayPlan, ArrayRequest, CreatedArray
from backends.errors import InvalidValueError, NotFoundError, RefusedError, ToolFailedError
from backends.host import Command, Completed
from backends.model import Level, Scope, Target
from backends.protocol import ArrayCreator
from backends.registry import MachineBackends
from backends.simulator.lvm.volumes import LvmGroup, LvmVolume
from backends.simulator.volume import Content
from backends.topology import scan_topology
from backends.vendors.lvm.creation import ask_pvs, find_volume
from backends.vendors.lvm.groups import PvFacts
from backends.vendors.lvm.lvs import ask_lvs
from tests.backends.simulator.making import drives_of, new_host, planned, seen

GROUP = Target(backend="lvm", address="data", scope=Scope.CONTROLLER)
SHAPES = ((Level.RAID0, 4), (Level.RAID1, 2), (Level.RAID5, 3), (Level.RAID6, 5), (Level.RAID10, 4))
SIZE = 1 << 30


class Bench:
    """The rack with its group."""

    def __init__(self) -> None:
        self.host = new_host()

    @property
    def group(self) -> LvmGroup:
        return self.host.rack.lvm["data"]

    def volume(self, name: str = "rb-1") -> LvmVolume:
        return next(one for one in self.group.volumes if one.name == name)

    @property
    def builder(self) -> ArrayCreator:
        backend = MachineBackends.of(self.host).backends["lvm"]
        assert isinstance(backend, ArrayCreator)
        return backend

    async def plan(self, level: Level = Level.RAID0, count: int = 3, name: str = "rb-1") -> ArrayPlan:
        names = ("data", *(f"nvme{number}n1" for number in range(2, 2 + count)))
        wish = ArrayRequest(level=level, drives=await drives_of(self.host, names), name=name, size_bytes=SIZE)
        return await plan_array(MachineBackends.of(self.host), wish)

    async def made(self, level: Level = Level.RAID0, count: int = 3) -> CreatedArray:
        plan = await self.plan(level, count)
        await self.builder.run_making(GROUP, plan.steps)
        return plan.created_array()

    async def find(self, array: CreatedArray) -> ArrayMatch:
        return await self.builder.find_made(array)

    async def by_hand(self, *words: str) -> Completed:
        return await self.host.run(Command(argv=(f"/usr/sbin/{words[0]}", *words[1:]), mutates=True))


@pytest.mark.parametrize(("level", "count"), SHAPES, ids=lambda one: getattr(one, "value", one))
async def test_what_is_made_is_listed_found_and_removed_without_a_trace(level: Level, count: int) -> None:
    bench = Bench()
    plan = await bench.plan(level, count)
    assert (await bench.find(plan.created_array())).state is ArrayMatchState.ABSENT
    await bench.builder.run_making(GROUP, plan.steps)
    (listed,) = [one for one in (await seen(bench.host)).arrays if one.name == "data/rb-1"]
    assert (listed.level, len(listed.members), listed.size_bytes) == (level, count, plan.size_bytes)
    assert listed.strip_bytes == (None if level is Level.RAID1 else 64 << 10)
    found = await bench.find(plan.created_array())
    assert (found.state, found.device, found.looked_at) == (
        ArrayMatchState.COMPLETE,
        listed.device,
        (listed.device,),
    ), found.sentence
    assert found.uuids == (*plan.uuids, bench.volume().uuid)
    known = replace(plan.created_array(), uuids=found.uuids)
    await bench.builder.run_making(GROUP, (await bench.find(known)).remove)
    assert (await bench.find(known)).state is ArrayMatchState.ABSENT
    assert [one.name for one in bench.group.volumes] == ["mail"]


async def test_all_physical_volumes_with_free_extents_are_meant_by_the_group_alone() -> None:
    drives = await drives_of(new_host(), ("data",))
    assert [one.place for one in drives] == [f"/dev/nvme{number}n1" for number in range(2, 7)]
    assert [one.free for one in drives] == [True] * 5
    with pytest.raises(RefusedError, match="holds a physical volume"):
        await drives_of(new_host(), ("nvme2n1",))
    with pytest.raises(NotFoundError):
        await drives_of(new_host(), ("data", "sdb"))


async def test_only_a_group_has_a_size_to_choose() -> None:
    host = new_host()
    wish = ArrayRequest(level=Level.RAID0, drives=await drives_of(host, ("sdb",)), name="rb-1", size_bytes=SIZE)
    with pytest.raises(InvalidValueError, match="a size is not supported here"):
        await plan_array(MachineBackends.of(host), wish)


@pytest.mark.parametrize(
    ("refuses", "why"),
    [
        ({"vg_exported": "exported"}, "the group data is exported"),
        ({"vg_partial": "partial", "vg_missing_pv_count": "1"}, "the group data lacks 1 of its physical volumes"),
        ({"vg_lock_type": "dlm"}, "shared with other hosts"),
        ({"vg_permissions": "read-only"}, "is read-only"),
        ({"pv_allocatable": ""}, "its extents are not allocatable"),
        ({"pv_duplicate": "duplicate"}, "another device has the same LVM identifier"),
        ({"pv_missing": "missing"}, "it is missing"),
    ],
)
async def test_a_group_that_takes_no_volume_says_why_and_lvcreate_is_not_asked(
    refuses: dict[str, str], why: str
) -> None:
    bench = Bench()
    plan = await bench.plan()
    bench.group.refuses.update(refuses)
    with pytest.raises(RefusedError, match=why):
        await drives_of(bench.host, ("data",))
    with pytest.raises(RefusedError, match=why):
        await plan_array(MachineBackends.of(bench.host), plan.request)


async def test_a_group_that_another_command_holds_is_refused_in_its_words() -> None:
    bench = Bench()
    plan = await bench.plan()
    bench.group.busy = True
    with pytest.raises(ToolFailedError, match="Can't get lock for data"):
        await bench.builder.run_making(GROUP, plan.steps)
    assert (await bench.find(plan.created_array())).state is ArrayMatchState.ABSENT


async def test_a_signature_of_a_former_volume_is_wiped_and_nothing_waits_for_an_answer() -> None:
    bench = Bench()
    bench.group.former["nvme2n1"] = "ext4"
    asked = await bench.by_hand(
        *("lvcreate", "--type", "striped", "--stripes", "2", "--extents", "8", "--name", "x", "data"),
        *("/dev/nvme2n1", "/dev/nvme3n1"),
    )
    assert (asked.returncode, "Wipe it? [y/n]" in asked.stdout) == (5, True)
    array = await bench.made()
    assert (await bench.find(array)).state is ArrayMatchState.COMPLETE
    assert bench.group.former == {}


def _rename(bench: Bench) -> None:
    bench.volume().name = "mine"


def _no_tag(bench: Bench) -> None:
    bench.volume().tag = ""


def _longer(bench: Bench) -> None:
    bench.volume().size_bytes += 3 * (4 << 20)


def _elsewhere(bench: Bench) -> None:
    bench.volume().places[0] = "nvme6n1"


def _fewer(bench: Bench) -> None:
    del bench.volume().places[0]


def _strips(bench: Bench) -> None:
    bench.volume().stripe_bytes = 128 << 10


def _linear(bench: Bench) -> None:
    bench.volume().kind = "linear"


def _snapshot(bench: Bench) -> None:
    bench.volume().snapshot = True


def _twin(bench: Bench) -> None:
    bench.group.volumes.append(
        replace(bench.volume(), name="twin", number=60, uuid="twinaa-bbbb-cccc-dddd-eeee-ffff-gggggg")
    )


def _again(bench: Bench) -> None:
    bench.volume().uuid = "aaaaaa-bbbb-cccc-dddd-eeee-ffff-gggggg"


def _renamed_group(bench: Bench) -> None:
    bench.group.name = "moved"  # its UUID in the rack goes with its name


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_rename, "data/rb-1 is now named data/mine"),
        (_no_tag, "does not have its tag"),
        (_longer, "is now 1.02 GiB"),
        (_elsewhere, "not where it was created"),
        (_fewer, "stripes or images, not 3"),
        (_strips, "stripes of 128 KiB"),
        (_linear, "is now linear, not RAID0"),
        (_snapshot, "now has dependents"),
        (_twin, "Several volumes have its tag"),
        (_again, "has the tag of the created volume"),
        (_renamed_group, "group data does not exist"),
    ],
)
async def test_what_is_not_as_it_was_made_is_left_alone(change: Callable[[Bench], None], why: str) -> None:
    bench = Bench()
    array = await bench.made()
    found = await bench.find(array)
    change(bench)
    again = await bench.find(replace(array, uuids=found.uuids))
    assert (again.state, again.remove) == (ArrayMatchState.UNKNOWN, ())
    assert why in again.sentence


async def test_one_that_was_there_before_is_not_it() -> None:
    bench = Bench()
    array = await bench.made()
    found = await bench.find(replace(array, before=(bench.volume().uuid,)))
    assert (found.state, "existed before" in found.sentence) == (ArrayMatchState.UNKNOWN, True)


async def test_one_of_its_name_by_somebody_else_is_never_removed() -> None:
    bench = Bench()
    plan = await bench.plan()
    words = [word for word in plan.steps[0].argv[1:] if word not in ("--addtag", plan.uuids[1])]
    assert (await bench.by_hand("lvcreate", *words)).returncode == 0
    found = await bench.find(plan.created_array())
    assert (found.state, found.remove) == (ArrayMatchState.UNKNOWN, ())


@pytest.mark.parametrize("change", [_again, _no_tag, _snapshot])
async def test_lvremove_itself_leaves_what_has_become_another_since_the_look(
    change: Callable[[Bench], None],
) -> None:
    bench = Bench()
    found = await bench.find(await bench.made())
    change(bench)
    await bench.builder.run_making(GROUP, found.remove)
    assert [one.name for one in bench.group.volumes] == ["mail", "rb-1"]


async def test_one_that_is_not_active_is_its_own_and_nothing_is_said_to_remove_it() -> None:
    bench = Bench()
    array = await bench.made()
    told = [replace(one, columns={**one.columns, "lv_active": ""}) for one in (await ask_lvs(bench.host)).volumes]
    found = find_volume(array, told, await ask_pvs(bench.host), await scan_topology(bench.host), "/usr/sbin/lvremove")
    assert (found.state, found.device, found.remove) == (ArrayMatchState.COMPLETE, None, ())
    assert "It is not active (`lvchange --activate y data/rb-1`)." in found.sentence


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda disks: [replace(one, group="moved") for one in disks], "The volume group data is now named moved"),
        (
            lambda disks: [*disks, replace(disks[0], uuid="other", group_uuid="other")],
            "Several volume groups are named data",
        ),
    ],
)
async def test_a_group_that_was_renamed_or_whose_name_another_has_is_left_alone(
    change: Callable[[Sequence[PvFacts]], Sequence[PvFacts]], why: str
) -> None:
    bench = Bench()
    array = await bench.made()
    volumes, disks = (await ask_lvs(bench.host)).volumes, await ask_pvs(bench.host)
    found = find_volume(array, volumes, change(disks), await scan_topology(bench.host), "/usr/sbin/lvremove")
    assert (found.state, found.remove, why in found.sentence) == (ArrayMatchState.UNKNOWN, (), True), found.sentence


@pytest.mark.parametrize("other", [{"controller": None}, {"uuids": ("G",)}, {"uuids": ()}])
async def test_a_journal_that_does_not_say_its_group_and_tag_means_no_volume(other: dict[str, object]) -> None:
    bench = Bench()
    array = await bench.made()
    found = await bench.find(replace(array, **other))  # type: ignore[arg-type]
    assert (found.state, found.remove) == (ArrayMatchState.UNKNOWN, ())


async def test_where_lvm_does_not_tell_all_nothing_is_found_or_planned() -> None:
    bench = Bench()
    array = await bench.made()
    bench.group.refuses["vg_uuid"] = "torn"
    with pytest.raises(ToolFailedError, match="lines of the output of pvs cannot be parsed"):
        await bench.find(array)


async def test_a_volume_that_lvm_uses_is_not_removed() -> None:
    bench = Bench()
    found = await bench.find(await bench.made())
    bench.host.rack.lying[bench.volume().device] = Content(filesystem="ext4", mount="/data")
    with pytest.raises(ToolFailedError, match="contains a filesystem in use"):
        await bench.builder.run_making(GROUP, found.remove)


async def test_candidates_beside_drives_are_told_by_group_and_free_extents() -> None:
    machine = MachineBackends.of(new_host())
    found, problems = await candidates_of(machine, await machine.probe())
    own = [one for one in found if one.shared]
    assert problems == ()
    assert {one.controller for one in own} == {GROUP}
    assert [one.free_extents for one in own] == [228928] * 4 + [203328]
    assert choose(found, ("data", "lvm:data:nvme3n1"))[0].place == "/dev/nvme3n1"


async def test_a_group_without_a_volume_is_found_as_well() -> None:
    bench = Bench()
    bench.group.volumes.clear()
    assert len(await drives_of(bench.host, ("data",))) == 5


async def test_a_plan_by_the_shared_helper_is_the_same_as_of_any_maker() -> None:
    plan = await planned(new_host(), Level.RAID0, ("data", "nvme2n1", "nvme3n1"), strip=128 << 10)
    assert (plan.maker, plan.data_drives, plan.cost, plan.full_stripe_bytes) == ("lvcreate", 2, 0, 256 << 10)
