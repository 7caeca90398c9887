"""The lines of mdadm that make arrays."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.array_planning import ArrayPlan, ArrayRequest, Candidate
from backends.errors import InvalidValueError
from backends.model import Level, Media, Target
from backends.vendors.mdraid.creation import plan_array, uuid_text

UUIDS = tuple(uuid_text(f"{number:032x}") for number in range(9))


def wish(level: Level, count: int, **more: object) -> ArrayRequest:
    drives = tuple(
        Candidate(
            drive=Target(backend="block", address=f"sd{letter}"),
            place=f"/dev/sd{letter}",
            media=Media.SSD,
            interface="sata",
            size_bytes=960 * 10**9,
            sector_bytes=512,
            is_visible=True,
        )
        for letter in "bcdefghijk"[:count]
    )
    return replace(ArrayRequest(level=level, drives=drives, name="rb-1a2b"), **more)  # type: ignore[arg-type]


def planned(level: Level, count: int, *, assume_clean: bool = False, **more: object) -> ArrayPlan:
    taken = ("md0", "md100")
    return plan_array(wish(level, count, **more), mdadm="mdadm", taken=taken, uuids=UUIDS, assume_clean=assume_clean)


def lines(plan: ArrayPlan) -> list[str]:
    return [step.shown() for step in plan.steps]


def test_a_raid_5_has_its_uuid_its_name_and_no_bitmap() -> None:
    plan = planned(Level.RAID5, 4, strip_bytes=256 << 10)
    assert lines(plan) == [
        "mdadm --create /dev/md101 --run --homehost=any --name=rb-1a2b --uuid=00000000:00000000:00000000:00000000 "
        "--metadata=1.2 --level=raid5 --raid-devices=4 --chunk=256K --bitmap=none /dev/sdb /dev/sdc /dev/sdd /dev/sde"
    ]
    assert (plan.data_drives, plan.cost, plan.full_stripe_bytes) == (3, 1, 768 << 10)
    assert "degraded until then, which takes 1.3 h" in plan.initialising


def test_copies_have_no_chunk_and_stripes_without_copies_no_bitmap_option() -> None:
    (mirror,) = lines(planned(Level.RAID1, 2, strip_bytes=64 << 10))
    (stripes,) = lines(planned(Level.RAID0, 2))
    assert "--chunk" not in mirror
    assert "--chunk=512K" in stripes
    assert "--bitmap" not in stripes


def test_of_a_nested_array_the_inner_ones_come_first_and_the_outer_chunk_is_their_full_stripe() -> None:
    plan = planned(Level.RAID50, 8, strip_bytes=64 << 10, assume_clean=True)
    first, second, outer = lines(plan)
    assert "/dev/md102 " in first
    assert first.endswith("--level=raid5 --raid-devices=4 --chunk=64K --bitmap=none --assume-clean "
                          "/dev/sdb /dev/sdc /dev/sdd /dev/sde")  # fmt: skip
    assert second.endswith("/dev/sdf /dev/sdg /dev/sdh /dev/sdi")
    assert "--create /dev/md101 " in outer
    assert outer.endswith("--level=raid0 --raid-devices=2 --chunk=192K /dev/md102 /dev/md103")
    assert len({word for line in lines(plan) for word in line.split() if word.startswith("--uuid")}) == 3
    assert (plan.data_drives, plan.cost, plan.full_stripe_bytes) == (6, 2, 384 << 10)


def test_parity_that_is_not_computed_is_said_not_to_be_right() -> None:
    plan = planned(Level.RAID6, 4, assume_clean=True)
    assert "--assume-clean" in lines(plan)[0]
    assert "before you store data on it" in plan.initialising


@pytest.mark.parametrize("strip", [1000, 2048, 96 << 10])
def test_a_chunk_that_md_refuses_is_not_planned(strip: int) -> None:
    with pytest.raises(InvalidValueError, match="does not support a chunk"):
        planned(Level.RAID0, 2, strip_bytes=strip)


def test_md_has_no_policies_at_birth() -> None:
    with pytest.raises(InvalidValueError, match="no policies"):
        planned(Level.RAID0, 2, policies={"write_cache": "write-back"})


@pytest.mark.parametrize(
    ("layout", "count", "data", "members"),
    [("f2", 2, 1, 2.0), ("f2", 4, 2, 2.0), ("o2", 3, None, 2.0), ("n3", 4, None, 3.0), ("n3", 3, 1, 3.0)],
)
def test_a_raid_10_has_the_layout_that_is_wished_for(layout: str, count: int, data: int | None, members: float) -> None:
    plan = planned(Level.RAID10, count, layout=layout, strip_bytes=64 << 10)
    (line,) = lines(plan)
    assert f" --level=raid10 --layout={layout} --raid-devices={count} --chunk=64K " in line
    assert plan.data_drives == data
    assert plan.size_bytes == pytest.approx((960 * 10**9 - (128 << 20)) * count / members, rel=1e-6)
    assert (plan.full_stripe_bytes is None, plan.cost is None) == (data is None, data is None)
    assert plan.created_array().layout == layout


def test_a_raid_10_without_a_layout_is_made_as_ever() -> None:
    assert "--layout" not in lines(planned(Level.RAID10, 4))[0]


@pytest.mark.parametrize(
    ("level", "count", "layout", "says"),
    [
        (Level.RAID10, 2, "f3", "at least 3 drives"),
        (Level.RAID5, 4, "f2", "RAID5 has no selectable layout"),
        (Level.RAID10, 4, "f1", "not a RAID10 layout"),
        (Level.RAID10, 4, "f2 --zero-superblock", "not a RAID10 layout"),
    ],
)
def test_a_layout_that_md_does_not_make_is_not_planned(level: Level, count: int, layout: str, says: str) -> None:
    with pytest.raises(InvalidValueError, match=says):
        planned(level, count, layout=layout)


def test_a_layout_has_no_spans() -> None:
    with pytest.raises(InvalidValueError, match="no spans"):
        planned(Level.RAID10, 4, layout="n2", spans=2)
