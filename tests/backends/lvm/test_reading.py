"""What raidbench tells of logical volumes, out of what LVM and the kernel said of them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from backends.model import Level, State, Task
from backends.settings import Risk
from backends.topology import Topology, Tree
from backends.vendors.lvm.backend import Lvm
from backends.vendors.lvm.facts import LoadedTable, LvFacts, parse_lvs, parse_tables
from backends.vendors.lvm.inventory import array_of, group_volumes, health, tasks_of
from backends.vendors.lvm.readings import readings
from backends.vendors.lvm.settings import LvTraits, settings_of
from tests.backends.lvm.machines import CACHES, KINDS, done, host, target, view, volumes
from tests.case_loop import loop_over


async def test_every_volume_that_somebody_made_is_shown_once() -> None:
    found = await Lvm(host(*KINDS)).inventory()
    shown = {one.name: (one.level, one.state, len(one.members)) for one in found.arrays}
    assert shown == {
        "vg0/db": (Level.CONCAT, State.OPTIMAL, 1),
        "vg0/fastdb": (Level.CONCAT, State.OPTIMAL, 1),
        "vg0/lin": (Level.CONCAT, State.OPTIMAL, 1),
        "vg0/mail": (Level.CACHED, State.OPTIMAL, 2),
        "vg0/mir": (Level.RAID1, State.OPTIMAL, 2),
        "vg0/par": (Level.RAID5, State.OPTIMAL, 4),
        "vg0/pm": (Level.CONCAT, State.OPTIMAL, 1),
        "vg0/pool": (Level.THIN_POOL, State.OPTIMAL, 1),
        "vg0/str": (Level.RAID0, State.OPTIMAL, 2),
        "vg0/thin": (Level.THIN, State.OPTIMAL, 1),
    }
    assert found.problems == ()


async def test_the_parts_of_a_cache_are_told_with_the_disks_that_they_lie_on() -> None:
    found = await Lvm(host(*KINDS)).inventory()
    mail = next(one for one in found.arrays if one.name == "vg0/mail")
    facts = {one.label: one.value for one in mail.facts}
    assert facts["Slow part"] == "linear on /dev/nvme0n1"
    assert facts["Cache"] == "fastmail_cvol, 16 MiB, on /dev/nvme1n1"
    assert facts["Cache policy"] == "smq, in the kernel mq"
    assert facts["Volume group"] == "vg0, 810 MiB free"
    assert (mail.device, mail.size_bytes) == ("/dev/dm-18", 24 << 20)
    assert [str(one) for one in mail.members] == ["block:nvme0n1", "block:nvme1n1"]


async def test_the_stripes_of_a_raid5_are_counted_without_its_parity() -> None:
    found = await Lvm(host(*KINDS)).inventory()
    par, stripes = (next(one for one in found.arrays if one.name == f"vg0/{name}") for name in ("par", "str"))
    assert (par.strip_bytes, par.data_drives) == (65536, 3)
    assert (stripes.strip_bytes, stripes.data_drives) == (65536, 2)


def values(said: tuple[str, str], name: str, **told: str) -> dict[str, str | None]:
    return {key: one.now for key, one in readings(view(said, name, **told)).items()}


def test_what_was_never_set_is_the_default() -> None:
    assert values(CACHES, "db") == {
        "lv_read_ahead": "auto",
        "high_watermark": "default",
        "low_watermark": "default",
        "writeback_jobs": "default",
        "autocommit_blocks": "default",
        "autocommit_time": "default",
        "cleaner": "off",
    }
    assert values(CACHES, "mail") == {
        "lv_read_ahead": "auto",
        "cache_mode": "write-back",
        "cache_policy": "smq",
        "migration_threshold": "default",
    }


def test_a_mirror_has_a_setting_for_each_member_and_a_pool_has_none() -> None:
    assert values(KINDS, "mir") == {
        "lv_read_ahead": "auto",
        "write_behind": "default",
        "min_recovery_rate": "default",
        "max_recovery_rate": "default",
        "write_mostly.nvme0n1": "off",
        "write_mostly.nvme1n1": "off",
    }
    assert values(KINDS, "pool") == {}


def test_the_kernels_other_name_of_a_policy_is_no_difference_and_another_policy_is() -> None:
    assert readings(view(CACHES, "mail"))["cache_policy"].effective is None
    assert readings(view(CACHES, "pm"))["cache_policy"].effective is None
    other = readings(view(CACHES, "mail", kernel_cache_policy="cleaner"))["cache_policy"]
    assert (other.effective, other.now) == ("cleaner", "smq")
    kept = readings(view(CACHES, "mail", cache_policy="cleaner"))["cache_policy"]
    assert (kept.now, kept.effective) == ("cleaner", "smq")
    assert kept.availability.available


def test_a_policy_that_nothing_can_take_the_place_of_is_not_offered() -> None:
    reading = readings(view(CACHES, "mail"))["cache_policy"]
    assert reading.availability.why_not == "the kernel has no other policy"


def loaded(name: str, words: str, **told: str) -> dict[str, tuple[str | None, str | None]]:
    kind, _, rest = words.partition(" ")
    changed = replace(view(CACHES, name, **told), loaded=LoadedTable(kind=kind, words=tuple(rest.split())))
    return {key: (one.now, one.effective) for key, one in readings(changed).items()}


def test_what_the_kernel_has_loaded_is_told_where_it_is_something_else() -> None:
    table = "writecache s 254:2 254:1 4096 4 high_watermark 70 low_watermark 40"
    found = loaded("db", table, cache_settings="high_watermark=60,low_watermark=40")
    assert (found["high_watermark"], found["low_watermark"]) == (("60", "70"), ("40", None))
    assert loaded("db", f"{table} cleaner")["cleaner"] == ("off", "on")
    mode = loaded("mail", "cache 254:6 254:5 254:7 128 2 metadata2 writethrough mq 0")
    assert mode["cache_mode"] == ("write-back", "write-through")


def test_a_threshold_below_eight_chunks_is_told_as_raised() -> None:
    told = {"cache_settings": "migration_threshold=100", "kernel_cache_settings": "migration_threshold=1024"}
    reading = readings(view(CACHES, "mail", **told))["migration_threshold"]
    assert (reading.now, reading.effective) == ("100", "1024")
    assert reading.why_effective == "the minimum of LVM is 8 chunks"


def test_write_behind_that_the_kernel_does_not_heed_is_told() -> None:
    shown = replace(
        view(KINDS, "mir", raid_write_behind="256"),
        loaded=LoadedTable(kind="raid", words=("raid1", "7", "0", "write_mostly", "1", "max_write_behind", "0")),
    )
    reading = readings(shown)["write_behind"]
    assert (reading.now, reading.effective) == ("256", "0")


@pytest.mark.parametrize(
    ("raw", "kernel", "now", "effective"),
    [
        ("auto", "131072", "auto", None),
        ("none", "0", "none", None),
        ("0", "0", "none", None),
        ("524288", "524288", "512", None),
        ("524288", "32768", "512", "32"),
        ("junk", "131072", "unknown", None),
    ],
)
def test_read_ahead_is_lvms_and_what_the_queue_has(raw: str, kernel: str, now: str, effective: str | None) -> None:
    reading = readings(view(KINDS, "lin", lv_read_ahead=raw, lv_kernel_read_ahead=kernel))["lv_read_ahead"]
    assert (reading.now, reading.effective) == (now, effective)


AWAY = "a member was temporarily missing (fix: lvchange --refresh"
FLUSH = {"kernel_cache_policy": "cleaner", "cache_dirty_blocks": "300", "cache_used_blocks": "600"}


def test_a_flush_is_a_task_and_stands_against_every_change() -> None:
    flushed = view(CACHES, "mail", **FLUSH)
    assert tasks_of(flushed.volume, flushed.group) == (Task(kind="flush", progress=0.5),)
    told = {one.availability.why_not for one in readings(flushed).values()}
    assert told == {"its cache is being flushed, 18.8 MiB are left. Wait until it ends"}
    ended = view(CACHES, "mail", **FLUSH | {"cache_dirty_blocks": "0"})
    assert tasks_of(ended.volume, ended.group) == ()
    assert readings(ended)["cache_mode"].availability.available


@loop_over(
    ("name", "told", "state", "why"),
    [
        ("mir", {"lv_health_status": "partial"}, State.DEGRADED, "a physical volume is missing"),
        ("lin", {"lv_health_status": "partial"}, State.FAILED, "a physical volume is missing"),
        ("mail", {"lv_health_status": "partial"}, State.FAILED, "a physical volume is missing"),
        (
            "mir",
            {"lv_health_status": "refresh needed"},
            State.DEGRADED,
            "a member was temporarily missing (fix: lvchange --refresh vg0/mir)",
        ),
        (
            "mail",
            {"lv_check_needed": "check needed"},
            State.DEGRADED,
            "the metadata of its cache or pool needs a check",
        ),
        ("pool", {"data_percent": "93.40"}, State.DEGRADED, "the data are 93 % full"),
        ("pool", {"metadata_percent": "90.00"}, State.DEGRADED, "the metadata are 90 % full"),
        ("pool", {"data_percent": "89.99"}, State.OPTIMAL, ""),
        ("par", {"raid_sync_action": "recover", "sync_percent": "12.50"}, State.REBUILDING, ""),
        ("lin", {"lv_active": "", "lv_health_status": ""}, State.OFFLINE, "not active"),
        ("thin", {"lv_health_status": "failed"}, State.FAILED, "failed"),
        ("lin", {"lv_active": "locally exclusive"}, State.OPTIMAL, ""),
        ("lin", {"lv_active": "remotely"}, State.OFFLINE, "active on another host"),
        ("lin", {"lv_active": "", "lv_health_status": "partial"}, State.OFFLINE, "not active"),
        ("lin", {"lv_suspended": "suspended"}, State.DEGRADED, "its device is suspended: all I/O waits"),
    ],
)
def test_a_volume_that_needs_somebody_says_why(name: str, told: dict[str, str], state: State, why: str) -> None:
    shown = view(KINDS, name, **told)
    assert health(shown.volume, shown.group) == (state, why)


_SNAPSHOT = {
    "lv_role": "public,snapshot,thicksnapshot",
    "origin": "mail",
    "origin_size": str(64 << 20),
    "lv_size": str(16 << 20),
    "snap_percent": "12.50",
}


def test_a_snapshot_is_one_and_as_large_as_what_it_is_of() -> None:
    shown = view(KINDS, "lin", **_SNAPSHOT)
    one = array_of(shown.volume, shown.group, Topology(tree=Tree(nodes={}, numbers={})))
    facts = {fact.label: fact.value for fact in one.facts}
    assert (one.level, one.state, one.size_bytes) == (Level.SNAPSHOT, State.OPTIMAL, 64 << 20)
    assert (facts["Snapshot of"], facts["Store for changed data"]) == ("vg0/mail", "16 MiB, 12.5 % used")


@pytest.mark.parametrize(
    ("told", "state", "why"),
    [
        (
            {"lv_snapshot_invalid": "snapshot invalid", "snap_percent": "100.00"},
            State.FAILED,
            "no longer a valid snapshot of vg0/mail",
        ),
        ({"snap_percent": "94.00"}, State.DEGRADED, "its store is 94 % full"),
        ({"lv_snapshot_invalid": "", "snap_percent": "40.00"}, State.OPTIMAL, ""),
    ],
)
def test_a_snapshot_that_ran_full_is_lost_and_one_that_will_says_so(
    told: dict[str, str], state: State, why: str
) -> None:
    shown = view(KINDS, "lin", **(_SNAPSHOT | told))
    found, words = health(shown.volume, shown.group)
    assert (found, why in words) == (state, True)


def test_a_thin_volume_tells_of_its_full_pool() -> None:
    shown = view(KINDS, "pool", data_percent="97.00")
    assert health(shown.group["thin"], shown.group) == (State.DEGRADED, "the data of its pool are 97 % full")


def test_a_volume_that_is_not_whole_or_not_active_is_not_changed() -> None:
    whole = readings(view(KINDS, "mir", lv_health_status="partial"))
    assert {one.availability.why_not for one in whole.values()} == {"it is incomplete (partial)"}
    away = readings(view(KINDS, "lin", lv_active=""))
    assert away["lv_read_ahead"].availability.why_not == "it is not active: lvchange --activate y vg0/lin"


def test_a_volume_of_several_segments_is_one() -> None:
    lines = KINDS[0].split("\n")
    row = next(line for line in lines if '"lv_name":"lin"' in line)
    second = row.replace("/dev/nvme0n1(0)", "/dev/nvme3n1(7)").replace('"stripes":"1"', '"stripes":"2"')
    found = volumes(KINDS[0].replace(row, f"{row}\n{second}"))["lin"]
    assert (found.places, found.number("stripes")) == (("/dev/nvme0n1", "/dev/nvme3n1"), 2)


@loop_over("name", ["-rf", "a b", "\x1b[2J", "../x", "", "x" * 200, "a/b", "[red]"])
def test_a_name_that_lvm_does_not_give_is_told_and_not_shown(name: str) -> None:
    text = KINDS[0].replace('"lv_name":"lin"', f'"lv_name":{json.dumps(name)}')
    found, strange = parse_lvs(text)
    assert {one.name for one in found} == set(volumes(KINDS[0])) - {"lin"} | ({"red"} if name == "[red]" else set())
    assert strange == (0 if name == "[red]" else 1)


async def test_a_missing_volume_of_a_group_is_told_by_the_doctor() -> None:
    text = (
        CACHES[0]
        .replace('"vg_missing_pv_count":"0"', '"vg_missing_pv_count":"1"')
        .replace("/dev/nvme3n1(", "[unknown](")
    )
    problems = await Lvm(host(text, CACHES[1])).diagnose()
    assert "The volume group vg0 has 1 missing physical volume." in [one.message for one in problems]


async def test_where_lvm_says_nothing_the_kernels_names_are_shown() -> None:
    made = host(*KINDS, root=False)
    made.tools["lvs"] = done("", 5, "  /run/lock/lvm: permission denied\n")
    found = await Lvm(made).inventory()
    assert {one.name for one in found.arrays} >= {"vg0/mail", "vg0/lin"}
    assert [one.message for one in found.problems] == ["LVM reports logical volumes only to root."]


def test_a_table_is_read_by_its_kind() -> None:
    tables = parse_tables(CACHES[1])
    assert (tables["vg0-mail"].cache_mode, tables["vg0-db"].tunables) == ("writeback", {})
    assert (tables["vg0-fr"].write_behind, tables["vg0-fr"].cache_mode) == (None, None)


@pytest.mark.parametrize(
    ("raids", "risk"),
    [((), Risk.POWER_LOSS), (("cdata",), Risk.POWER_LOSS), (("cdata", "cmeta"), Risk.NONE)],
    ids=["neither", "only the data", "both"],
)
async def test_a_cache_whose_data_and_metadata_are_raids_makes_write_back_no_risk(
    raids: tuple[str, ...], risk: Risk
) -> None:
    rows = CACHES[0].split("\n")
    for part in raids:
        at = next(at for at, row in enumerate(rows) if f'"lv_name":"[cpool_cpool_{part}]"' in row)
        rows[at] = rows[at].replace('"lv_layout":"', '"lv_layout":"raid,raid1,')
    reading = (await Lvm(host("\n".join(rows), CACHES[1])).read(target("vg0/pm")))["cache_mode"]
    assert next(one.risk for one in reading.choices if one.value == "write-back") is risk


@pytest.mark.parametrize(("level", "risk"), [("raid1", Risk.NONE), ("raid0", Risk.POWER_LOSS)])
async def test_a_cache_on_an_array_is_as_safe_as_that(level: str, risk: Risk) -> None:
    made = host(*CACHES, files={"/sys/block/nvme3n1/md/level": level, "/sys/block/nvme1n1/md/level": level})
    reading = (await Lvm(made).read(target("vg0/pm")))["cache_mode"]
    assert next(one.risk for one in reading.choices if one.value == "write-back") is risk


def columns(name: str, kind: str, devices: str, **told: str) -> dict[str, str]:
    """A row of lvs."""
    hidden = name.startswith("[")
    plain = name.strip("[]")
    number = f"{sum(map(ord, name)):06d}"
    return {
        "lv_uuid": f"AAAAAA-aaaa-aaaa-aaaa-aaaa-aaaa-{number}",
        "vg_uuid": "BBBBBB-bbbb-bbbb-bbbb-bbbb-bbbb-bbbbbb",
        "vg_name": "vgd",
        "lv_name": name,
        "lv_dm_path": f"/dev/mapper/vgd-{plain}",
        "lv_layout": kind,
        "lv_role": "private" if hidden else "public",
        "lv_active": "active",
        "lv_size": str(100 << 30),
        "segtype": kind,
        "stripes": "1",
        "devices": devices,
        "vg_free": "0",
        "vg_missing_pv_count": "0",
        **told,
    }


def group_of(*rows: dict[str, str]) -> dict[str, LvFacts]:
    found, strange = parse_lvs(json.dumps({"report": [{"lv": list(rows)}]}))
    assert strange == 0
    return dict(group_volumes(found)["vgd"])


def deduplicating(percent: str = "94.10", active: str = "active", **told: str) -> dict[str, LvFacts]:
    """A VDO volume, its pool, of which LVM never says that it is active, and the data below."""
    return group_of(
        columns("mail", "vdo", "pool0(0)", pool_lv="pool0", data_percent=percent, lv_active=active),
        columns(
            "pool0", "vdo-pool", "pool0_vdata(0)", lv_active="", data_percent=percent, lv_layout="vdo,pool", **told
        ),
        columns("[pool0_vdata]", "linear", "/dev/sda(0)", lv_active=active),
    )


def shown(group: dict[str, LvFacts], name: str) -> tuple[Level, State, dict[str, str]]:
    array = array_of(group[name], group, Topology(tree=Tree(nodes={}, numbers={})))
    return array.level, array.state, {fact.label: fact.value for fact in array.facts}


def test_a_vdo_pool_is_in_use_with_its_volume_and_says_how_full_it_is() -> None:
    group = deduplicating(vdo_saving_percent="61.00", vdo_operating_mode="normal", vdo_index_state="online")
    level, state, facts = shown(group, "pool0")
    assert (level, state) == (Level.VDO_POOL, State.OPTIMAL)
    assert (facts["Used, data"], facts["On"]) == ("94.1 %", "/dev/sda")
    assert (facts["Saved"], facts["Index"]) == ("61 % by deduplication and compression", "online")
    level, state, facts = shown(group, "mail")
    assert (level, state) == (Level.VDO, State.OPTIMAL)
    assert facts["VDO pool"] == "pool0, 100 GiB, 94.1 % full, on /dev/sda"
    assert "Cache" not in facts


def test_a_vdo_pool_of_which_nothing_is_active_is_not_active() -> None:
    group = deduplicating(active="")
    assert health(group["pool0"], group) == (State.OFFLINE, "not active")


@pytest.mark.parametrize("name", ["mail", "pool0"])
def test_a_vdo_that_takes_no_writes_has_failed(name: str) -> None:
    group = deduplicating(vdo_operating_mode="read-only")
    assert health(group[name], group) == (State.FAILED, "VDO is read-only: it ran full, or its metadata is damaged")
    well = deduplicating(vdo_operating_mode="normal")
    assert health(well[name], well) == (State.OPTIMAL, "")


def test_a_vdo_pool_that_is_put_right_after_a_crash_has_a_task() -> None:
    group = deduplicating(vdo_operating_mode="recovering")
    assert tasks_of(group["pool0"], group) == (Task(kind="recovery"),)


def test_a_pool_without_a_device_of_its_own_is_in_use_with_its_volumes() -> None:
    rows = (
        columns("t", "thin", "", pool_lv="pool"),
        columns("pool", "thin-pool", "pool_tdata(0)", lv_active=""),
        columns("[pool_tdata]", "linear", "/dev/sda(0)"),
    )
    group = group_of(*rows)
    assert health(group["pool"], group) == (State.OPTIMAL, "")
    asleep = group_of(rows[0] | {"lv_active": ""}, *rows[1:])
    assert health(asleep["pool"], asleep) == (State.OFFLINE, "not active")


def test_a_volume_that_lacks_a_disk_says_so_while_it_is_not_active() -> None:
    group = group_of(columns("gone", "linear", "[unknown](0)", lv_active=""))
    assert health(group["gone"], group) == (State.OFFLINE, "not active, and a physical volume is missing")


def test_what_is_moved_to_another_disk_or_merged_has_a_task() -> None:
    group = group_of(
        columns("mail", "linear", "pvmove0(0)"),
        columns("[pvmove0]", "mirror", "/dev/sda(0),/dev/sdb(0)", copy_percent="40.00"),
        columns("back", "linear", "/dev/sdc(0)", lv_merging="merging"),
        columns("old", "mirror", "old_mimage_0(0)", copy_percent="25.00"),
        columns("done", "mirror", "done_mimage_0(0)", copy_percent="100.00"),
    )
    assert tasks_of(group["mail"], group) == (Task(kind="migration", progress=0.4),)
    assert tasks_of(group["back"], group) == (Task(kind="merge"),)
    assert tasks_of(group["old"], group) == (Task(kind="resync", progress=0.25),)
    assert tasks_of(group["done"], group) == ()


def test_a_volume_of_errors_has_failed_and_wrong_checksums_are_mismatches() -> None:
    group = group_of(
        columns("hole", "error", ""),
        columns(
            "sums",
            "raid1",
            "s_rimage_0(0)",
            lv_layout="raid,raid1",
            raidintegritymode="journal",
            integritymismatches="7",
        ),
    )
    assert health(group["hole"], group)[0] is State.FAILED
    facts = shown(group, "sums")[2]
    assert facts["Mismatches"] == "7 checksum errors in its images"
    assert facts["Integrity"] == "checksums of its images, journal"


def test_two_legs_on_one_physical_volume_have_one_setting() -> None:
    legs = LvTraits(level=Level.RAID1, members=("/dev/sda", "/dev/sda", "/dev/sdb"))
    keys = [setting.key for setting in settings_of(legs) if setting.key.startswith("write_mostly")]
    assert keys == ["write_mostly.sda", "write_mostly.sdb"]
