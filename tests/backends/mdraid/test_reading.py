"""What sysfs and /proc/mdstat tell, parsed; and what the inventory makes of it."""

from __future__ import annotations

import pytest

from backends.errors import BlockedError, InvalidValueError
from backends.model import Array, Level, State
from backends.protocol import TaskReporter
from backends.vendors.mdraid.backend import MdRaid
from backends.vendors.mdraid.details import parse_export, parse_unused
from backends.vendors.mdraid.facts import StatRow, parse_limit, parse_mdstat, parse_moving, parse_sync, parse_uuid
from backends.vendors.mdraid.layouts import layout_label, layout_word
from backends.vendors.mdraid.sysfs import count_cpus, time_text
from tests.backends.fakes import disk
from tests.backends.mdraid.machines import MD0, MDADM_UUID, MdHost, array, reshaping
from tests.case_loop import loop_over

STAT = """Personalities : [raid1] [raid6] [raid5] [raid4]
md6 : active raid1 sdb2[2](F) sdc[1](S) sda2[0]
      195310144 blocks [2/1] [U_]
      [=>...................]  recovery =  8.5% (16775552/195310144) finish=17.0min speed=259783K/sec

md9 : active (auto-read-only) raid1 sdc2[2](W) sdb2[1]
      523968 blocks super 1.2 [4/4] [UUUU]
      \tresync=PENDING
      bitmap: 1/30 pages [4KB], 65536KB chunk

md219 : inactive sdb[2](S) sdc[1](S) sda[0](S)
        7932 blocks super external:imsm

unused devices: <none>
"""


async def first(host: MdHost) -> Array:
    return (await MdRaid(host).inventory()).arrays[0]


def facts(found: Array) -> dict[str, str]:
    return {fact.label: fact.value for fact in found.facts}


def test_running_work_of_an_array_is_read_from_mdstat() -> None:
    row = parse_mdstat(STAT)["md6"]
    assert (row.action, row.progress, row.speed_kib, row.waiting) == ("recovery", 0.085, 259783, False)


def test_work_that_waits_is_no_progress() -> None:
    row = parse_mdstat(STAT)["md9"]
    assert (row.state, row.action, row.progress, row.waiting) == ("active (auto-read-only)", "resync", None, True)


def test_the_bitmaps_pages_and_the_members_marks_are_read() -> None:
    row = parse_mdstat(STAT)["md9"]
    assert (row.bitmap, row.members) == ("1/30 pages [4KB], 65536KB chunk", {"sdc2": "W", "sdb2": ""})


def test_an_inactive_array_has_no_level() -> None:
    assert (parse_mdstat(STAT)["md219"].state, parse_mdstat(STAT)["md219"].level) == ("inactive", None)


@pytest.mark.parametrize(
    ("text", "now", "old"), [("65536", 65536, None), ("131072 (65536)", 131072, 65536), ("-1", -1, None)]
)
def test_a_number_that_a_reshape_changes_is_new_and_old(text: str, now: int, old: int | None) -> None:
    found = parse_moving(text)
    assert found is not None
    assert (found.now, found.old) == (now, old)


@pytest.mark.parametrize(
    ("text", "found"),
    [("200000 (system)", (200000, False)), ("5000 (local)", (5000, True)), ("5000", None), ("", None)],
)
def test_a_speed_limit_is_the_machines_or_the_arrays_own(text: str, found: tuple[int, bool] | None) -> None:
    assert parse_limit(text) == found


@loop_over(
    ("level", "code", "word"),
    [
        ("raid5", 2, "left-symmetric"),
        ("raid6", 10, "ddf-N-continue"),
        ("raid10", 0x102, "n2"),
        ("raid10", 0x201, "f2"),
        ("raid10", 0x10201, "o2"),
        ("raid10", 0x202, "n2f2"),
        ("raid5", 99, "unknown"),
        ("raid10", -1, "unknown"),
        ("raid1", 0, None),
    ],
)
def test_layouts_have_mdadms_words(level: str, code: int, word: str | None) -> None:
    assert layout_word(level, code) == word


def test_a_layout_is_labelled_as_mdadm_prints_it() -> None:
    assert [layout_label(word) for word in ("n2", "o3", "left-symmetric")] == ["near=2", "offset=3", "left-symmetric"]


def test_the_kernels_uuid_becomes_mdadms() -> None:
    assert parse_uuid("6689836f-97e6-caec-c09b-0e7b40aefd16") == MDADM_UUID
    assert parse_uuid("00000000-0000-0000-0000-000000000000") is None


def test_what_only_mdadm_knows_is_read_from_its_export() -> None:
    assert parse_export("MD_LEVEL=raid5\nMD_NAME=srv:da\x1b[1mta\nrubbish\nPATH=/x") == {
        "MD_LEVEL": "raid5",
        "MD_NAME": "srv:da�[1mta",
    }


def test_the_room_on_a_member_is_the_larger_of_both_sides() -> None:
    assert parse_unused("   Unused Space : before=1968 sectors, after=391168 sectors\n") == 391168 * 512


def test_times_and_cpus_in_words() -> None:
    assert (time_text(0.2), time_text(600), time_text(9000), time_text(200_000)) == (
        "1 s",
        "10 min",
        "2.5 h",
        "2.3 days",
    )
    assert (count_cpus("0-3,8"), count_cpus("0"), count_cpus("x")) == (5, 1, None)


@pytest.mark.parametrize(
    ("level", "layout", "members", "data"),
    [
        ("raid0", "0", "abcd", 4),
        ("raid1", "0", "ab", 1),
        ("raid4", "0", "abcd", 3),
        ("raid5", "2", "abcd", 3),
        ("raid6", "2", "abcd", 2),
        ("raid10", "258", "abcd", 2),
        ("raid10", "513", "abcd", 2),
        ("raid10", "258", "abc", None),
    ],
)
async def test_members_that_carry_data_in_a_stripe(level: str, layout: str, members: str, data: int | None) -> None:
    found = await first(MdHost(array(level, tuple(f"sd{one}" for one in members), layout=layout)))
    assert (found.level, found.data_drives) == (Level(level), data)


async def test_an_array_is_known_without_mdadm_and_without_root() -> None:
    found = await first(MdHost(array(), root=False, mdadm=False))
    assert (str(found.target), found.device, found.strip_bytes, found.state) == (
        "md:md0",
        "/dev/md0",
        65536,
        State.OPTIMAL,
    )
    assert [str(member) for member in found.members] == ["block:sda", "block:sdb", "block:sdc", "block:sdd"]


async def test_facts_name_layout_metadata_and_members() -> None:
    shown = facts(await first(MdHost(array(flags={"sdb": "in_sync,failfast"}))))
    assert shown["Layout"] == "left-symmetric"
    assert (shown["Metadata"], shown["UUID"]) == ("1.2", MDADM_UUID)
    assert shown["Member 1"] == "/dev/sdb, in sync, failfast"


async def test_a_member_that_is_a_partition_belongs_to_its_disk() -> None:
    host = MdHost(array("raid1", ("sda1", "sdb1")))
    host.files |= {"/sys/block/sda/sda1/partition": "1", "/sys/block/sda/sda1/dev": "8:1"}
    host.files |= {"/sys/block/sdb/sdb1/partition": "1", "/sys/block/sdb/sdb1/dev": "8:17"}
    assert [str(member) for member in (await first(host)).members] == ["block:sda", "block:sdb"]


async def test_an_array_of_arrays_names_them_and_its_level() -> None:
    host = MdHost(array(), array(name="md1"), array("raid0", ("md0", "md1"), "md2"))
    found = (await MdRaid(host).inventory()).arrays[2]
    assert [str(member) for member in found.members] == ["md:md0", "md:md1"]
    assert facts(found)["Built on"] == "2 x raid5 (RAID 50)"


@pytest.mark.parametrize(
    ("own", "state"),
    [
        ({"degraded": "1"}, State.DEGRADED),
        ({"degraded": "1", "sync_action": "recover", "sync_completed": "10 / 100"}, State.REBUILDING),
        ({"degraded": "2"}, State.FAILED),
        ({"array_state": "broken", "degraded": "2"}, State.FAILED),
        ({"array_state": "inactive"}, State.OFFLINE),
        ({"sync_action": "resync", "sync_completed": "10 / 100"}, State.OPTIMAL),
    ],
)
async def test_states_of_a_raid5(own: dict[str, str], state: State) -> None:
    assert (await first(MdHost(array(more=own)))).state is state


async def test_a_raid0_without_a_member_has_failed() -> None:
    found = await first(MdHost(array("raid0", ("sda", "sdb"), flags={"sdb": "faulty"})))
    assert found.state is State.FAILED


async def test_a_rebuild_tells_progress_speed_and_what_is_left() -> None:
    own = {"degraded": "1", "sync_action": "recover", "sync_completed": "97944 / 522240", "sync_speed": "56380"}
    found = await first(MdHost(array(more=own)))
    assert [(task.kind, round(task.progress or 0, 3)) for task in found.tasks] == [("rebuild", 0.188)]
    assert facts(found)["Task"] == "recover, 18.8 %, 56380 KiB/s on each member, 4 s left"


@pytest.mark.parametrize(
    ("action", "kind"), [("check", "consistency-check"), ("repair", "repair"), ("reshape", "reshape")]
)
async def test_background_work_has_the_models_words(action: str, kind: str) -> None:
    found = await first(MdHost(array(sync_action=action, sync_completed="1 / 2")))
    assert [(task.kind, task.progress) for task in found.tasks] == [(kind, 0.5)]


async def test_a_reshape_says_from_what_to_what() -> None:
    host = MdHost(array())
    reshaping(host)
    assert facts(await first(host))["Reshape"] == "chunk 64 KiB becomes 128 KiB"


async def test_an_array_says_how_many_members_are_missing() -> None:
    assert (await first(MdHost(array(degraded="1")))).why == "1 of 4 members missing"


async def test_a_raid0_in_a_reshape_is_not_called_degraded() -> None:
    own = {"degraded": "1", "layout": "5", "sync_action": "reshape", "sync_completed": "1 / 100", "raid_disks": "5"}
    found = await first(MdHost(array("raid4", more=own)))
    assert found.state is State.OPTIMAL
    assert "RAID 0" in facts(found)["Kind"]


async def test_failed_and_spare_members_are_named() -> None:
    shown = facts(await first(MdHost(array(flags={"sdc": "faulty", "sdd": "spare"}, degraded="2"))))
    assert (shown["Failed sdc"], shown["Spare sdd"]) == ("/dev/sdc, failed", "/dev/sdd, spare")


async def test_a_node_without_array_is_none() -> None:
    host = MdHost(disk("md5", devno="9:5", size=0) | {"/sys/block/md5/md/array_state": "clear"})
    assert (await MdRaid(host).inventory()).arrays == ()


async def test_a_machine_without_md_finds_nothing_and_complains_of_nothing() -> None:
    host = MdHost()
    assert (await MdRaid(host).inventory()).arrays == ()
    assert await MdRaid(host).diagnose() == ()


async def test_without_mdadm_the_doctor_says_what_is_missing() -> None:
    (problem,) = await MdRaid(MdHost(array(), mdadm=False)).diagnose()
    assert "chunk, layout, bitmap" in problem.message


async def test_the_doctor_finds_a_raid0_that_was_left_half_way() -> None:
    (problem,) = await MdRaid(MdHost(array("raid4", degraded="1", layout="5", raid_disks="5"))).diagnose()
    assert "--level=0 /dev/md0" in problem.hint


async def test_background_work_of_one_array_is_told_without_looking_at_the_rest() -> None:
    backend = MdRaid(MdHost(array(sync_action="check", sync_completed="1 / 4")))
    assert isinstance(backend, TaskReporter)
    assert [(task.kind, task.progress) for task in await backend.tasks(MD0)] == [("consistency-check", 0.25)]


@pytest.mark.parametrize("share", ["995.3", "٣.5"])
def test_a_share_that_cannot_be_is_unknown(share: str) -> None:
    text = f"md0 : active raid1 sda[0] sdb[1]\n      [=>...]  recovery = {share}% (1/2) finish=1.0min speed=100K/sec\n"
    assert parse_mdstat(text)["md0"].progress is None


# -- a bitmap that lies in a file -------------------------------------------------------------------------------------

IN_A_FILE = """md0 : active raid1 sdb[1] sda[0]
      261120 blocks super 1.2 [2/2] [UU]
      bitmap: 1/1 pages [4KB], 65536KB chunk, file: /var/lib/md/r1.bitmap

unused devices: <none>
"""
"""As the kernel prints one (drivers/md/md-bitmap.c, md_bitmap_status)."""


def with_file(level: str = "raid1", members: tuple[str, ...] = ("sda", "sdb")) -> MdHost:
    more = {"bitmap/location": "file", "bitmap/chunksize": "67108864", "consistency_policy": "bitmap"}
    host = MdHost(array(level, members, more=more))
    host.files["/proc/mdstat"] = IN_A_FILE
    return host


async def test_a_bitmap_in_a_file_is_told_with_the_file() -> None:
    told = facts(await first(with_file()))["Bitmap"]
    assert told == "file, 1/1 pages [4KB], 65536KB chunk, file: /var/lib/md/r1.bitmap"


async def test_a_bitmap_in_a_file_reads_as_neither_of_those_that_can_be_set() -> None:
    reading = (await MdRaid(with_file()).read(MD0))["bitmap"]
    assert (reading.now, reading.raw) == ("unknown", "file")
    assert reading.availability.why_not == "its bitmap is in a file"


@pytest.mark.parametrize("value", ["none", "internal"])
async def test_a_bitmap_in_a_file_is_not_changed_since_no_way_back_would_bring_its_file(value: str) -> None:
    host = with_file()
    with pytest.raises(BlockedError, match="its bitmap is in a file"):
        await MdRaid(host).plan(MD0, "bitmap", value)
    with pytest.raises(BlockedError, match="RAID 5 only"):
        await MdRaid(host).plan(MD0, "consistency_policy", "resync")


@pytest.mark.parametrize(
    ("level", "key", "value"), [("raid10", "layout", "f2"), ("raid5", "consistency_policy", "ppl")]
)
async def test_nothing_is_planned_that_would_lose_the_file_of_a_bitmap(level: str, key: str, value: str) -> None:
    with pytest.raises(BlockedError, match="bitmap"):
        await MdRaid(with_file(level, ("sda", "sdb", "sdc", "sdd"))).plan(MD0, key, value)


# -- bitmaps of Linux 6.18 --------------------------------------------------------------------------------------------

WITHOUT_FOLDER = ("bitmap/location", "bitmap/chunksize", "bitmap/metadata")
LLBITMAP = {"bitmap_type": "none bitmap [llbitmap] ", "consistency_policy": "bitmap"}


def lockless() -> MdHost:
    return MdHost(array("raid1", ("sda", "sdb"), drop=WITHOUT_FOLDER, more=LLBITMAP))


async def test_a_lockless_bitmap_is_shown_and_nothing_else_is_offered_but_none() -> None:
    (found,) = (await MdRaid(lockless()).inventory()).arrays
    assert {fact.label: fact.value for fact in found.facts}["Bitmap"] == "lockless"
    reading = (await MdRaid(lockless()).read(MD0))["bitmap"]
    assert (reading.now, [choice.value for choice in reading.choices]) == ("lockless", ["none", "lockless"])


async def test_a_lockless_bitmap_that_is_removed_cannot_come_back_and_that_is_said() -> None:
    change = await MdRaid(lockless()).plan(MD0, "bitmap", "none")
    assert [step.argv[1:] for step in change.writes] == [("--grow", "--bitmap=none", "/dev/md0")]
    assert change.undo == ()
    assert change.risk_text.endswith("A lockless bitmap cannot be restored: only a new array can have one.")


async def test_a_lockless_bitmap_is_not_added_by_a_way_back() -> None:
    host = MdHost(array("raid1", ("sda", "sdb"), more={"bitmap_type": "[none] bitmap llbitmap"}))
    with pytest.raises((BlockedError, InvalidValueError)):
        await MdRaid(host).back(MD0, "bitmap", "lockless", {})


@pytest.mark.parametrize(
    ("told", "now"),
    [
        ({"bitmap_type": "[none] bitmap llbitmap", "consistency_policy": "resync"}, "none"),
        ({"bitmap_type": "none [bitmap] llbitmap", "consistency_policy": "resync"}, "none"),
        ({"bitmap_type": "none [bitmap] llbitmap", "consistency_policy": "bitmap"}, None),
        ({"bitmap_type": "none [bitmap] llbitmap", "bitmap/location": "+8", "bitmap/metadata": "internal"}, "internal"),
        ({"consistency_policy": "resync"}, None),
    ],
)
async def test_an_array_without_the_folder_of_a_bitmap_has_none_where_the_kernel_says_so(
    told: dict[str, str], now: str | None
) -> None:
    host = MdHost(array("raid1", ("sda", "sdb"), drop=tuple(set(WITHOUT_FOLDER) - told.keys()), more=told))
    assert (await MdRaid(host).read(MD0))["bitmap"].now == now


async def test_an_array_that_is_frozen_says_that_nothing_is_rebuilt() -> None:
    host = MdHost(array("raid1", ("sda", "sdb"), sync_action="frozen"))
    (found,) = (await MdRaid(host).inventory()).arrays
    task = next(fact.value for fact in found.facts if fact.label == "Task")
    assert task == "frozen: no rebuild, resync or check starts until sync_action is idle"
    assert found.tasks == ()


@pytest.mark.parametrize(
    ("flags", "state", "why"),
    [
        ("journal", State.OPTIMAL, ""),
        ("journal,faulty", State.DEGRADED, "its journal device has failed, so it accepts no writes"),
        ("spare", State.DEGRADED, "its journal device has failed, so it accepts no writes"),
    ],
)
async def test_an_array_whose_journal_has_failed_is_not_well(flags: str, state: State, why: str) -> None:
    files = array(
        "raid5", ("sda", "sdb", "sdc", "sdd"), flags={"sdd": flags}, raid_disks="3", consistency_policy="journal"
    )
    (found,) = (await MdRaid(MdHost(files)).inventory()).arrays
    assert (found.state, found.why) == (state, why)


@pytest.mark.parametrize(("action", "kind"), [("recovery", "recover"), ("resync", "resync"), ("reshape", "reshape")])
def test_work_that_waits_for_another_array_has_the_name_that_sysfs_gives_it(action: str, kind: str) -> None:
    sync = parse_sync({"sync_action": "idle"}, StatRow(state="active", action=action, waiting=True))
    assert sync is not None
    assert (sync.action, sync.waiting) == (kind, True)
