"""What would make a volume in a group's free extents, and what stands against it. Pure, but for the rack's pvs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.array_planning import ArrayPlan, ArrayRequest, Candidate
from backends.change import ChangeStep
from backends.errors import InvalidValueError, RefusedError
from backends.model import Level, Media, Target
from backends.vendors.lvm.creation import GroupRoom, plan_volume, removal_step, require_steps
from backends.vendors.lvm.groups import PvFacts, no_volume_reason
from tests.case_loop import loop_over

GROUP = Target(backend="lvm", address="data")
MIB = 1 << 20
ROOM = GroupRoom(name="data", uuid="G", extent_bytes=4 * MIB, volumes=("mail",), before=("U",))
CREATE, REMOVE = "/usr/sbin/lvcreate", "/usr/sbin/lvremove"


def drive(number: int, free: int = 100, **more: object) -> Candidate:
    one = Candidate(
        drive=Target(backend="lvm", address=f"data:nvme{number}n1"),
        controller=GROUP,
        place=f"/dev/nvme{number}n1",
        serial=f"UUID{number}",
        media=Media.NVME,
        interface="nvme",
        size_bytes=free * 4 * MIB,
        free_extents=free,
        sector_bytes=512,
    )
    return replace(one, **more)  # type: ignore[arg-type]


def planned(level: Level, count: int, *, assume_clean: bool = False, **more: object) -> ArrayPlan:
    wish = ArrayRequest(level=level, drives=tuple(map(drive, range(count))), name="rb-1", token="0" * 32)
    wish = replace(wish, **more)  # type: ignore[arg-type]
    return plan_volume(wish, ROOM, lvcreate=CREATE, assume_clean=assume_clean)


@pytest.mark.parametrize(
    ("level", "count", "words", "extents"),
    [
        (Level.RAID0, 4, "--type striped --stripes 4 --stripesize 64k", 400),
        (Level.RAID1, 3, "--type raid1 --mirrors 2", 99),
        (Level.RAID5, 3, "--type raid5 --stripes 2 --stripesize 64k", 198),
        (Level.RAID6, 5, "--type raid6 --stripes 3 --stripesize 64k", 297),
        (Level.RAID10, 4, "--type raid10 --mirrors 1 --stripes 2 --stripesize 64k", 198),
    ],
)
def test_a_level_takes_all_that_is_free_on_as_many_stripes_as_there_are_physical_volumes(
    level: Level, count: int, words: str, extents: int
) -> None:
    plan = planned(level, count)
    places = " ".join(f"/dev/nvme{number}n1" for number in range(count))
    assert plan.steps[0].shown() == (
        f"{CREATE} --yes --config global/wait_for_locks=0 --alloc normal {words} --wipesignatures y --zero y "
        f"--extents {extents} --addtag raidbench-{'0' * 32} --name rb-1 data {places}"
    )
    assert plan.size_bytes == extents * 4 * MIB
    assert (plan.uuids, plan.before, plan.locks) == (("G", f"raidbench-{'0' * 32}"), ("U",), ("lvm-G",))


def test_a_size_is_rounded_up_to_whole_extents_on_each() -> None:
    plan = planned(Level.RAID0, 3, size_bytes=100 * MIB + 1, strip_bytes=256 << 10)
    assert plan.size_bytes == 27 * 4 * MIB
    assert plan.full_stripe_bytes == 768 << 10
    assert "--stripesize 256k" in plan.steps[0].shown()


def test_it_says_what_is_wiped_and_what_cannot_be_brought_back() -> None:
    told = " ".join(planned(Level.RAID0, 2).warnings)
    assert "wipes signatures" in told
    assert "vgcfgrestore" in told


def test_unsynchronised_copies_are_said_to_be_that() -> None:
    plan = planned(Level.RAID5, 3, assume_clean=True)
    assert "--nosync" in plan.steps[0].argv
    assert "The volume is not synchronised" in plan.initialising
    with pytest.raises(InvalidValueError, match="a RAID6 without the initial synchronisation"):
        planned(Level.RAID6, 5, assume_clean=True)


@loop_over(
    ("level", "count", "more", "why"),
    [
        (Level.RAID0, 1, {}, "at least 2 physical volumes"),
        (Level.RAID6, 4, {}, "at least 5 physical volumes"),
        (Level.RAID50, 6, {}, "LVM does not support RAID50"),
        (Level.RAID10, 4, {"spans": 2}, "has no spans"),
        (Level.RAID10, 5, {}, "cannot be divided into 2 spans"),
        (Level.RAID0, 2, {"strip_bytes": 8 * MIB}, "stripe size of 8388608"),
        (Level.RAID0, 2, {"strip_bytes": 2048}, "stripe size of 2048"),
        (Level.RAID0, 2, {"strip_bytes": 96 << 10}, "stripe size of 98304"),
        (Level.RAID0, 2, {"size_bytes": 1 << 40}, "131072 are needed on each of 2 .* for 1 TiB, and /dev/nvme0n1"),
        (Level.RAID5, 3, {"size_bytes": 200 * 4 * MIB}, "101 are needed on each of 3 .* has 100"),
        (Level.RAID0, 2, {"policies": {"write_cache": "write-back"}}, "no policies at creation"),
        (Level.RAID0, 2, {"drives": (drive(0), drive(1, media=Media.HDD))}, "different media"),
    ],
)
def test_what_it_does_not_make_is_a_sentence(level: Level, count: int, more: dict[str, object], why: str) -> None:
    with pytest.raises(InvalidValueError, match=why):
        planned(level, count, **more)  # type: ignore[arg-type]


def test_a_raid_needs_an_extent_of_metadata_on_each() -> None:
    with pytest.raises(InvalidValueError, match=r"2 are needed on each of 3 physical volumes, and .* has 1"):
        planned(Level.RAID5, 3, drives=tuple(drive(number, 1) for number in range(3)))


def test_a_name_that_is_taken_is_refused() -> None:
    with pytest.raises(RefusedError, match="already has a volume named mail"):
        planned(Level.RAID0, 2, name="mail")


@loop_over(
    ("told", "why"),
    [
        ({"vg_missing_pv_count": "1", "vg_partial": "partial"}, "the group data lacks 1 of its physical volumes"),
        ({"vg_partial": "partial"}, "the group data lacks some of its physical volumes"),
        ({"vg_exported": "exported"}, "is exported"),
        ({"vg_lock_type": "sanlock", "vg_shared": "shared"}, "shared with other hosts .sanlock."),
        ({"vg_clustered": "clustered"}, "shared with other hosts"),
        ({"vg_permissions": "read-only"}, "is read-only"),
        ({"vg_permissions": ""}, "is read-only"),
        ({"vg_extent_size": "-1"}, "how large an extent"),
    ],
)
def test_what_stands_against_a_group_is_said(told: dict[str, str], why: str) -> None:
    usual = {"vg_permissions": "writeable", "vg_extent_size": "4194304", "vg_missing_pv_count": "0"}
    pv = PvFacts(name="/dev/sdb", uuid="P", group="data", group_uuid="G", columns=usual)
    assert no_volume_reason(pv) == ()
    (reason,) = no_volume_reason(replace(pv, columns={**usual, **told}))
    assert why.replace(".", "") in reason.replace("(", "").replace(")", "").replace(".", "")


UUID = "fkVpqU-BGEj-3ntk-ty1j-ZVg4-OUS3-hze1Iv"


@pytest.mark.parametrize("level", [Level.RAID0, Level.RAID1, Level.RAID5, Level.RAID10])
def test_the_steps_that_are_planned_may_be_taken(level: Level) -> None:
    made = planned(level, 4, assume_clean=True)
    require_steps((*made.steps, removal_step(REMOVE, "data/rb-1", UUID, made.uuids[1])), "data", (CREATE, REMOVE))


@loop_over(
    "argv",
    [
        ("/bin/rm", "-rf", "/"),
        ("/bin/lvcreate", *planned(Level.RAID0, 2).steps[0].argv[1:]),
        (*planned(Level.RAID0, 2).steps[0].argv, "extra"),
        tuple(word.replace("data", "other") for word in planned(Level.RAID0, 2).steps[0].argv),
        (REMOVE, "--yes", "data/mail"),
        (REMOVE, "--yes", "--force", "data"),
        tuple(removal_step(REMOVE, "other/rb-1", UUID, f"raidbench-{'0' * 32}").argv),
        tuple(removal_step(REMOVE, "data/rb-1", UUID, "mine").argv),
        (CREATE, *removal_step(REMOVE, "data/rb-1", UUID, f"raidbench-{'0' * 32}").argv[1:]),
    ],
)
def test_no_other_step_is_taken(argv: tuple[str, ...]) -> None:
    with pytest.raises(RefusedError, match="neither creates nor removes"):
        require_steps((ChangeStep(argv=argv),), "data", (CREATE, REMOVE))
