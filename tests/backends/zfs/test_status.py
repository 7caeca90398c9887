"""`zpool status` read: devices and what they do, how the pool is, what goes on."""

from __future__ import annotations

import pytest

from backends.model import State, Task
from backends.vendors.zfs.facts import parse_arcstats, parse_datasets, rows
from backends.vendors.zfs.status import PoolDevice, PoolStatus, parse_status
from tests.backends.zfs.texts import (
    DISCARDING,
    DRAID,
    ERROR_SCRUB,
    EVACUATING,
    EXPANDED,
    EXPANDING,
    EXPANSION_WAITS,
    NONE,
    PAUSED,
    REMOVED,
    REPLACED_ALONE,
    RESILVERING,
    SCRUBBING,
    SEQUENTIAL,
    SUSPENDED,
    TRIMMING,
)
from tests.case_loop import loop_over


def one(text: str) -> PoolStatus:
    (found,) = parse_status(text)
    return found


def test_every_device_is_found_with_what_it_does() -> None:
    assert {leaf.name: leaf.role for leaf in one(RESILVERING).leaves()} == {
        "/dev/sdb1": "",
        "/dev/sdi1": "",
        "/dev/sdd1": "",
        "/dev/sde1": "",
        "/dev/sdf1": "",
        "/dev/nvme0n1p1": "special",
        "/dev/nvme1n1p1": "special",
        "/dev/nvme0n1p2": "log",
        "/dev/nvme1n1p2": "cache",
        "/dev/sdg1": "spare",
        "/dev/sdh1": "spare",
    }


@pytest.mark.parametrize(
    ("device", "words"),
    [
        ("/dev/sdb1", "online"),
        ("/dev/sdi1", "unavail, 3 read errors, 1.2K write errors (was /dev/sdc1)"),
        ("/dev/sdd1", "online (resilvering)"),
        ("/dev/sde1", "faulted, 12 read errors, 7 checksum errors (too many errors)"),
        ("/dev/sdg1", "avail"),
        ("/dev/sdh1", "inuse (currently in use)"),
    ],
)
def test_a_device_says_how_it_is(device: str, words: str) -> None:
    assert [leaf.condition for leaf in one(RESILVERING).leaves() if leaf.name == device] == [words]


@pytest.mark.parametrize(
    ("text", "state", "tasks", "why"),
    [
        (
            RESILVERING,
            State.REBUILDING,
            (Task(kind="resync", progress=0.2479),),
            "One or more devices is currently being resilvered",
        ),
        (SCRUBBING, State.OPTIMAL, (Task(kind="consistency-check", progress=0.125),), ""),
        (PAUSED, State.OPTIMAL, (), ""),
        (SUSPENDED, State.FAILED, (), "One or more devices are faulted in response to IO failures"),
    ],
)
def test_a_pool_says_how_it_is_and_what_goes_on(text: str, state: State, tasks: tuple[Task, ...], why: str) -> None:
    found = one(text)
    assert (found.state, found.tasks, found.why) == (state, tasks, why)


@loop_over(
    ("text", "tasks"),
    [
        (SEQUENTIAL, {"resync": 0.4979}),
        (EXPANDING, {"reshape": 0.25}),
        (EXPANSION_WAITS, {}),
        (EXPANDED, {}),
        (EVACUATING, {"removal": 0.75}),
        (REMOVED, {}),
        (DISCARDING, {"checkpoint-discard": None}),
        (TRIMMING, {"trim": None, "initialisation": None}),
        (ERROR_SCRUB, {"consistency-check": 0.05}),
    ],
)
def test_all_that_moves_data_is_a_task_while_it_goes_on(text: str, tasks: dict[str, float | None]) -> None:
    assert {task.kind: task.progress for task in one(text).tasks} == tasks


def test_a_resilver_in_sequence_makes_a_degraded_pool_a_rebuilding_one() -> None:
    assert one(SEQUENTIAL).state is State.REBUILDING


def test_a_checkpoint_and_a_removal_are_kept_in_words() -> None:
    texts = one(EVACUATING).texts
    assert texts["checkpoint"] == "created Sat Nov 21 07:00:00 2026, consumes 1.00G"
    assert texts["remove"].endswith("1.2K memory used for removed device mappings")


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("draid1:4d:11c:1s-0", "draid1", "4 data drives per stripe, 11 disks, 1 distributed spare"),
        ("draid3:16d:90c:4s-12", "draid3", "16 data drives per stripe, 90 disks, 4 distributed spares"),
        ("draid:8d:10c:0s-0", "draid1", "8 data drives per stripe, 10 disks, 0 distributed spares"),
        ("raidz2-0", "raidz2", ""),
        ("draid2-0-0", "draid2-0", ""),
    ],
)
def test_a_draid_of_any_width_says_what_it_is(name: str, kind: str, words: str) -> None:
    vdev = PoolDevice(name=name, state="ONLINE", depth=1)
    assert (vdev.kind, vdev.draid) == (kind, words)


def test_a_missing_device_is_a_device_and_a_distributed_spare_is_none() -> None:
    known = {vdev.name: (vdev.is_leaf, vdev.is_distributed_spare) for vdev in one(DRAID).vdevs}
    assert known["6781234567890123456"] == (True, False)
    assert known["draid2-0-0"] == (False, True)
    assert known["spare-1"] == (False, False)


def test_what_takes_over_from_a_lone_disk_is_a_disk() -> None:
    assert one(REPLACED_ALONE).layout == "disk"


@pytest.mark.parametrize(("text", "layout"), [(RESILVERING, "raidz2"), (SCRUBBING, "2 x mirror"), (SUSPENDED, "disk")])
def test_what_the_data_lie_on(text: str, layout: str) -> None:
    assert one(text).layout == layout


def test_several_pools_are_told_apart() -> None:
    assert [pool.name for pool in parse_status(f"{RESILVERING}\n{SUSPENDED}\n{SCRUBBING}")] == ["big", "usb", "rpool"]


def test_no_pool_is_none() -> None:
    assert parse_status(NONE) == ()


def test_a_pool_may_be_called_like_a_part_or_have_blanks() -> None:
    text = SCRUBBING.replace("rpool", "my pool")
    assert one(text).name == "my pool"
    assert [leaf.name for leaf in one(text).leaves()] == ["/dev/sda3", "/dev/sdb3", "/dev/sdc", "/dev/sdd"]


def test_lines_of_another_width_are_passed_over() -> None:
    assert list(rows("a\tb\nc\n\td\ne\tf\tg\n", 2)) == [("a", "b")]
    assert parse_datasets("tank\tfilesystem\t/tank\tyes\t-\n") == ()


def test_a_filesystem_that_is_not_mounted_has_no_folder() -> None:
    text = (
        "tank\tfilesystem\t/tank\tno\t-\t-\ntank/a\tfilesystem\tlegacy\tyes\t-\t-\ntank/b\tfilesystem\t/b\tyes\t-\t-\n"
    )
    assert [found.mountpoint for found in parse_datasets(text)] == [None, None, "/b"]


def test_counters_of_the_cache_are_numbers() -> None:
    assert parse_arcstats("9 1 0x01 1\nname type data\nc_max  4    77\nbad 4 x\n") == {"c_max": 77}
