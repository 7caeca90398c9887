"""What `array create` plans makes on the rack what was planned, and deleting it leaves nothing behind."""

from __future__ import annotations

import pytest

from app.core.changes.arrays.candidates import candidates_of
from backends.array_planning import ArrayPlan
from backends.errors import InvalidValueError
from backends.host import FileStat
from backends.model import Array, Level, State
from backends.registry import MachineBackends
from backends.simulator.diskstats import shares
from backends.simulator.host import SimulatedHost
from backends.simulator.md_array import MdArray, MdMember
from backends.simulator.performance import md_target
from backends.simulator.queueing_model import IoPattern, predict
from backends.simulator.state_file import rack_data
from backends.simulator.volume import Content
from backends.simulator.workload_target import WorkloadTarget
from tests.backends.simulator.asking import ask, megacli, storcli
from tests.backends.simulator.making import (
    BY_MEGACLI_AND_MD,
    MD,
    MEGACLI,
    SHAPES,
    STORCLI,
    new_host,
    planned,
    seen,
    serials,
    taken,
)

_CASES = [
    *(pytest.param(STORCLI[:count], level, spans, id=f"storcli-{level}-{count}") for level, count, spans in SHAPES),
    *(
        pytest.param(drives[:count], level, spans, id=f"{maker}-{level}-{count}")
        for maker, drives in (("megacli", MEGACLI), ("md", MD))
        for level, count, spans in BY_MEGACLI_AND_MD
    ),
]


async def made(host: SimulatedHost, plan: ArrayPlan) -> Array:
    """The array that the steps of a plan made, as the real backends read it."""
    for done in await taken(host, plan.steps):
        assert done.returncode == 0, done.stdout
    found = await seen(host)
    (array,) = [one for one in found.arrays if (one.name or "").removeprefix("any:") == plan.request.name]
    assert serials(found, array) == [drive.serial for drive in plan.request.drives]
    return array


@pytest.mark.parametrize(("drives", "level", "spans"), _CASES)
async def test_what_is_planned_is_what_is_there_then(drives: tuple[str, ...], level: Level, spans: int | None) -> None:
    host = new_host()
    plan = await planned(host, level, drives, strip=64 << 10, spans=spans)
    array = await made(host, plan)
    nested = drives[0] in MD and spans is not None
    assert array.level is (Level.RAID0 if nested else level)
    strip = None if level is Level.RAID1 and drives[0] in MD else 64 << 10
    assert array.strip_bytes == ((plan.data_drives or 0) // 2 * (64 << 10) if nested else strip)
    assert plan.size_bytes is not None
    assert array.size_bytes is not None
    assert plan.size_bytes * 0.99 < array.size_bytes <= plan.size_bytes
    assert array.device is not None
    name = array.device.removeprefix("/dev/")
    assert int(await host.read(f"/sys/block/{name}/size") or 0) * 512 == array.size_bytes
    assert (await host.stat(array.device) or FileStat(kind="file", size=0)).kind == "block"
    if plan.uuids:
        assert {fact.value for fact in array.facts if fact.label == "UUID"} == {plan.uuids[0]}


@pytest.mark.parametrize(("drives", "spans"), [(STORCLI[:6], 3), (STORCLI[:6], None), (MEGACLI[:8], 2)])
async def test_the_order_of_the_drives_makes_the_spans(drives: tuple[str, ...], spans: int | None) -> None:
    host = new_host()
    order = drives[::-1]
    plan = await planned(host, Level.RAID10, order, spans=spans)
    await made(host, plan)
    volume = host.rack.cards[0 if drives[0] in STORCLI else 1].volumes[-1]
    assert (volume.places, volume.spans, volume.per_span) == (order, spans or 3, len(drives) // (spans or 3))


@pytest.mark.parametrize("drives", [STORCLI[:3], MEGACLI[:3]], ids=["storcli", "megacli"])
async def test_policies_at_birth_are_those_of_the_plan(drives: tuple[str, ...]) -> None:
    host = new_host()
    ways = {"write_cache": "write-back", "read_ahead": "read-ahead", "io_policy": "cached", "drive_cache": "off"}
    await made(host, await planned(host, Level.RAID5, drives, **ways))  # type: ignore[arg-type]
    volume = host.rack.cards[0 if drives[0] in STORCLI else 1].volumes[-1]
    assert {key: getattr(volume, key) for key in ways} == ways


@pytest.mark.parametrize("assume_clean", [False, True])
async def test_a_raid_5_of_md_is_born_degraded_unless_it_is_told_that_it_is_clean(assume_clean: bool) -> None:
    host = new_host()
    array = await made(host, await planned(host, Level.RAID5, MD[:4], assume_clean=assume_clean))
    assert array.state is (State.OPTIMAL if assume_clean else State.REBUILDING)
    assert [task.kind for task in array.tasks] == ([] if assume_clean else ["rebuild"])
    assert await host.read("/sys/block/md100/md/degraded") == ("0" if assume_clean else "1")
    host.rack.clock = lambda: 1_700_000_000.0 + 24 * 3600
    assert await host.read("/sys/block/md100/md/degraded") == "0"
    assert await host.read("/sys/block/md100/md/dev-sde/state") == "in_sync"


@pytest.mark.parametrize("level", [Level.RAID1, Level.RAID6, Level.RAID10])
async def test_other_levels_of_md_are_resynchronised(level: Level) -> None:
    host = new_host()
    array = await made(host, await planned(host, level, MD[:4]))
    assert [task.kind for task in array.tasks] == ["resync"]
    assert await host.read("/sys/block/md100/md/degraded") == "0"


# -- deleting ---------------------------------------------------------------------------------------------------------


async def _free(host: SimulatedHost) -> dict[str, tuple[str, ...]]:
    """What lies on each free drive, by address."""
    machine = MachineBackends.of(host)
    found, _ = await candidates_of(machine, await machine.probe())
    return {str(one.drive): one.lies for one in found if one.free}


@pytest.mark.parametrize("level", [Level.RAID5, Level.RAID50])
async def test_a_volume_of_storcli_that_is_deleted_leaves_free_drives(level: Level) -> None:
    host = new_host()
    before = await _free(host)
    array = await made(host, await planned(host, level, STORCLI))
    assert array.device == "/dev/sdj"
    assert not set(STORCLI) & {address.rpartition("/")[2] for address in await _free(host)}
    await host.write("/sys/block/sdj/queue/nr_requests", "64")
    done = await storcli(host, "/c0/v1 del force")
    assert done["Command Status"]["Description"] == "Delete VD succeeded"
    assert await _free(host) == before
    assert await host.stat("/dev/sdj") is None
    assert await host.read("/sys/block/sdj/size") is None
    await made(host, await planned(host, level, STORCLI))
    assert await host.read("/sys/block/sdj/queue/nr_requests") != "64"


async def test_a_volume_of_megacli_that_is_deleted_leaves_free_drives() -> None:
    host = new_host()
    before = await _free(host)
    await made(host, await planned(host, Level.RAID10, MEGACLI))
    text = await megacli(host, "-CfgLdDel -L0 -a1", mutates=True)
    assert "Adapter 1: Deleted Virtual Drive-0(target id-0)" in text
    assert await _free(host) == before


@pytest.mark.parametrize("level", [Level.RAID0, Level.RAID6])
async def test_an_array_of_md_leaves_its_marks_until_they_are_taken_away(level: Level) -> None:
    host = new_host()
    before = await _free(host)
    await made(host, await planned(host, level, MD))
    assert not any(one.startswith("scsi:") for one in await _free(host))
    assert (await ask(host, "mdadm", "--stop /dev/md100", mutates=True)).stdout == "mdadm: stopped /dev/md100\n"
    assert await host.read("/sys/block/md100/md/level") is None
    assert await host.stat("/dev/md100") is None
    assert "TYPE=linux_raid_member" in (await ask(host, "blkid", "-p -o export /dev/sdb")).stdout
    assert '"linux_raid_member"' in (await ask(host, "wipefs", "--no-act --json /dev/sdb")).stdout
    assert "Array UUID" in (await ask(host, "mdadm", "--examine /dev/sdb")).stdout
    nodes = " ".join(f"/dev/{name}" for name in MD)
    done = await ask(host, "mdadm", f"--zero-superblock {nodes}", mutates=True)
    assert (done.returncode, done.stdout) == (0, "")
    assert await _free(host) == before
    assert (await ask(host, "mdadm", "--examine /dev/sdb")).stdout == "mdadm: No md superblock detected on /dev/sdb.\n"


async def test_a_nested_array_is_taken_apart_from_outside() -> None:
    host = new_host()
    before = await _free(host)
    await made(host, await planned(host, Level.RAID50, MD[:6]))
    held = await ask(host, "mdadm", "--stop /dev/md101", mutates=True)
    assert (held.returncode, "Cannot get exclusive access to /dev/md101" in held.stdout) == (1, True)
    held = await ask(host, "mdadm", "--zero-superblock /dev/md101", mutates=True)
    assert (held.returncode, "not zeroing" in held.stdout) == (2, True)
    for line in (
        "--stop /dev/md100",
        "--zero-superblock /dev/md101 /dev/md102",
        "--stop /dev/md101 ",
        "--stop /dev/md102",
    ):
        assert (await ask(host, "mdadm", line, mutates=True)).returncode == 0
    nodes = " ".join(f"/dev/{name}" for name in MD[:6])
    assert (await ask(host, "mdadm", f"--zero-superblock {nodes}", mutates=True)).returncode == 0
    assert await _free(host) == before
    assert host.rack.stopped == {}


async def test_marks_of_a_stopped_array_outlive_another_of_the_same_node() -> None:
    host = new_host()
    for drives in (MD[:2], MD[2:4]):
        await made(host, await planned(host, Level.RAID1, drives, name=f"rb-{drives[0]}"))
        await ask(host, "mdadm", "--stop /dev/md100", mutates=True)
    told = [(await ask(host, "mdadm", f"--examine /dev/{name}")).stdout for name in MD[:4]]
    assert ["any:rb-sdb" in text for text in told] == [True, True, False, False]
    assert ["any:rb-sdd" in text for text in told] == [False, False, True, True]


async def test_what_was_counted_of_a_disk_is_not_counted_of_the_next_one() -> None:
    host = new_host()
    await made(host, await planned(host, Level.RAID0, MD[:2]))
    host.rack.totals["md100"] = [1.0] * 6
    await ask(host, "mdadm", "--stop /dev/md100", mutates=True)
    await made(host, await planned(host, Level.RAID0, MD[2:4]))
    assert " md100 0 0 0 0 0" in (await host.read("/proc/diskstats") or "")


# -- speed ------------------------------------------------------------------------------------------------------------

READS, WRITES = IoPattern(depth=64), IoPattern(depth=64, read_share=0.0)


async def iops(level: Level, drives: tuple[str, ...], work: IoPattern, **more: object) -> float:
    host = new_host()
    array = await made(host, await planned(host, level, drives, **more))  # type: ignore[arg-type]
    layout = host.rack.layout((array.device or "").removeprefix("/dev/"))
    assert layout is not None
    return predict(layout, work).iops


@pytest.mark.parametrize("drives", [STORCLI, MD[:6]], ids=["storcli", "md"])
async def test_a_new_array_is_as_fast_as_its_level_lets_it_be(drives: tuple[str, ...]) -> None:
    levels = (Level.RAID0, Level.RAID10, Level.RAID50, Level.RAID5, Level.RAID6)
    clean = {"assume_clean": True} if drives[0] in MD else {}
    writes = {level: await iops(level, drives, WRITES, **clean) for level in levels}
    assert writes[Level.RAID0] > writes[Level.RAID10] > writes[Level.RAID5] > writes[Level.RAID6]
    assert writes[Level.RAID50] == pytest.approx(writes[Level.RAID5], rel=0.01)


STREAM, STREAMED = (
    IoPattern(sizes=((1 << 20, 1.0),), sequential=True, depth=64, read_share=share) for share in (1.0, 0.0)
)


async def test_far_copies_are_read_as_raid_0_and_near_ones_as_raid_10() -> None:
    drives = MD[:4]
    stripes = await iops(Level.RAID0, drives, STREAM)
    clean = {"assume_clean": True, "strip": 64 << 10}
    near, far, offset = [await iops(Level.RAID10, drives, STREAM, layout=one, **clean) for one in ("n2", "f2", "o2")]
    assert far == pytest.approx(stripes, rel=0.05)
    assert near == pytest.approx(stripes / 2, rel=0.1)
    assert near < offset <= far
    three = await iops(Level.RAID10, MD[:3], STREAM, layout="n3", **clean)
    assert three == pytest.approx(await iops(Level.RAID0, MD[:1], STREAM), rel=0.1)


async def test_every_copy_of_a_layout_is_written() -> None:
    found = [await iops(Level.RAID10, MD[:6], WRITES, layout=one, assume_clean=True) for one in ("n2", "n3")]
    assert found[0] == pytest.approx(1.5 * found[1], rel=0.05)


async def test_two_drives_with_far_copies_are_read_as_two_and_with_near_ones_as_one() -> None:
    near, far = [await iops(Level.RAID10, MD[:2], STREAM, layout=one, assume_clean=True) for one in ("n2", "f2")]
    assert far == pytest.approx(await iops(Level.RAID0, MD[:2], STREAM), rel=0.05)
    assert near < 0.65 * far


def hdds(arrangement: str, chunk: int = 512 << 10) -> WorkloadTarget:
    """Return md's RAID 10 of four HDDs."""
    array = MdArray(
        name="md9",
        label="h:9",
        uuid="",
        level="raid10",
        members=[MdMember(name=f"sd{letter}") for letter in "bcde"],
        component_kib=488 << 20,
        chunk=chunk,
        layout={"near": 0x102, "far": 0x201, "offset": 0x10201}[arrangement],
    )
    return md_target(array, "ST3500630NS")


def test_heads_pay_for_far_copies_when_they_write_and_gain_when_they_read() -> None:
    reads = {one: predict(hdds(one), READS).iops for one in ("near", "far", "offset")}
    writes = {one: predict(hdds(one), STREAMED).iops for one in ("near", "far", "offset")}
    assert reads["far"] > 1.05 * reads["near"]
    assert reads["offset"] == pytest.approx(reads["near"])
    assert writes["far"] < writes["offset"] < writes["near"]
    small, large = (predict(hdds("offset", chunk), STREAM).iops for chunk in (64 << 10, 512 << 10))
    assert small < 0.8 * large
    assert predict(hdds("far", 64 << 10), STREAM).iops == pytest.approx(large, rel=0.01)


@pytest.mark.parametrize(
    ("layout", "count", "words", "printed"),
    [
        ("f2", 3, "far", "far=2"),
        ("o2", 4, "offset", "offset=2"),
        ("n3", 3, "near", "near=3"),
        ("n2", 4, "near", "near=2"),
    ],
)
async def test_the_layout_of_a_raid_10_is_told_by_kernel_and_mdadm(
    layout: str, count: int, words: str, printed: str
) -> None:
    host = new_host()
    plan = await planned(host, Level.RAID10, MD[:count], layout=layout)
    array = await made(host, plan)
    assert array.data_drives == plan.data_drives
    assert array.size_bytes == pytest.approx(plan.size_bytes, rel=0.01)
    assert f"{layout[1]} {words}-copies" in (await host.read("/proc/mdstat") or "")
    assert f"Layout : {printed}" in (await ask(host, "mdadm", f"--examine /dev/{MD[0]}")).stdout
    assert next(fact.value for fact in array.facts if fact.label == "Layout") == printed


async def test_a_card_makes_no_layout() -> None:
    with pytest.raises(InvalidValueError, match="does not support RAID10 layouts"):
        await planned(new_host(), Level.RAID10, STORCLI[:4], layout="f2")


async def test_a_raid_5_of_md_reads_slower_while_it_is_degraded() -> None:
    whole, degraded = [await iops(Level.RAID5, MD[:3], READS, assume_clean=clean) for clean in (True, False)]
    assert degraded < 0.8 * whole


@pytest.mark.parametrize(
    ("level", "count", "operations"),
    [(Level.RAID5, 7, (2, 2)), (Level.RAID6, 7, (3, 3)), (Level.RAID50, 6, (2, 2)), (Level.RAID10, 4, (0, 2))],
)
async def test_members_are_asked_for_what_a_small_write_costs(
    level: Level, count: int, operations: tuple[int, int]
) -> None:
    host = new_host()
    await made(host, await planned(host, level, MD[:count], assume_clean=True))
    layout = host.rack.layout("md100")
    assert layout is not None
    parts = shares("md100", host.rack.members, layout, WRITES, predict(layout, WRITES))
    members = [part for part in parts if part.name.startswith("sd")]
    assert [part.name for part in members] == list(MD[:count])
    assert sum(part.fetches for part in members) == pytest.approx(operations[0])
    assert sum(part.writes for part in members) == pytest.approx(operations[1])
    assert sum(part.reads for part in members) == pytest.approx(1)


async def test_a_degraded_raid_5_of_md_reads_what_is_lost_from_all_others() -> None:
    host = new_host()
    await made(host, await planned(host, Level.RAID5, MD[:7]))
    layout = host.rack.layout("md100")
    assert layout is not None
    parts = shares("md100", host.rack.members, layout, READS, predict(layout, READS))
    assert sum(part.reads for part in parts[1:]) == pytest.approx(2 * 6 / 7)


# -- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("add vd r10 drives=252:0-3 wt nora", 3, "Cannot create configuration with 1 span"),
        ("add vd r5 drives=252:0-1 wt nora", 3, "number of drives"),
        ("add vd r6 drives=252:0-1 wt nora", 3, "number of drives"),
        ("add vd r50 drives=252:0-3 pdperarray=2 wt nora", 3, "number of drives"),
        ("add vd r1 drives=252:0,252:6 wt nora", 38, "does not have the appropriate attributes"),
        ("add vd r1 drives=252:0,252:7 wt nora", 38, "does not have the appropriate attributes"),
        ("add vd r1 drives=252:0,252:8 wt nora", 59, "Incomplete foreign configuration"),
        ("add vd r1 drives=252:0,252:10 wt nora", 38, "does not have the appropriate attributes"),
        ("add vd r0 size=800gb drives=252:0 wt nora", 13, "disk doesn't have enough capacity"),
        ("add vd r0 drives=252:0 wt nora strip=8", 3, "strip size"),
        ("v7 del force", 255, "Invalid VD number"),
    ],
)
async def test_storcli_refuses_in_its_own_words_and_makes_nothing(line: str, code: int, words: str) -> None:
    host = new_host()
    before = rack_data(host.rack)
    where = "/c0/" if line.startswith("v") else "/c0 "
    answer = (await storcli(host, f"{where}{line}"))["Command Status"]
    assert answer["Status"] == "Failure"
    assert answer["Detailed Status"][0]["ErrCd"] == code
    assert words in answer["Detailed Status"][0]["ErrMsg"]
    assert rack_data(host.rack) == before


async def test_a_pinned_cache_stands_against_both_cards_tools() -> None:
    host = new_host()
    for card in host.rack.cards:
        card.pinned = True
    before = rack_data(host.rack)
    answer = (await storcli(host, "/c0 add vd r0 drives=252:0 wt nora"))["Command Status"]
    assert answer["Detailed Status"][0]["ErrCd"] == 84
    text = await megacli(host, "-CfgLdAdd -R0[245:0] WT NORA Direct -a1", mutates=True)
    assert "Adapter 1: Configure Adapter Failed" in text
    assert "the controller has data in cache for offline or missing virtual drives." in text
    assert text.rstrip().endswith("Exit Code: 0x54")
    assert rack_data(host.rack) == before


async def test_a_card_takes_sixty_four_volumes() -> None:
    host = new_host()
    card = host.rack.cards[0]
    card.volumes = [card.volumes[0]] * 64
    answer = (await storcli(host, "/c0 add vd r0 drives=252:0 wt nora"))["Command Status"]
    assert answer["Detailed Status"][0]["ErrCd"] == 26


@pytest.mark.parametrize("state", ["jbod", "spare", "online"])
async def test_megacli_says_of_an_unfit_drive_only_that(state: str) -> None:
    host = new_host()
    host.rack.cards[1].disks[2].state = state
    before = rack_data(host.rack)
    text = await megacli(host, "-CfgLdAdd -R5[245:0,245:1,245:2] WT NORA Direct -a1", mutates=True)
    words = "The specified physical disk does not have the appropriate attributes to complete the requested command."
    assert [line for line in text.splitlines() if line] == [words, "Exit Code: 0x26"]
    assert rack_data(host.rack) == before


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("-CfgLdAdd -R5[245:0,245:1] WT NORA Direct", "0x03", "Configure Adapter Failed"),
        ("-CfgSpanAdd -R10 -Array0[245:0,245:1] WT NORA Direct", "0x03", "Configure Adapter Failed"),
        ("-CfgLdDel -L9", "0x0c", "Virtual Drive doesn't exist"),
        ("-LDSetProp -Name rb-1 -L9", "0x0c", "Virtual Drive doesn't exist"),
    ],
)
async def test_megacli_refuses_with_its_codes_and_makes_nothing(line: str, code: str, words: str) -> None:
    host = new_host()
    before = rack_data(host.rack)
    text = await megacli(host, f"{line} -a1", mutates=True)
    assert words in text
    assert text.rstrip().endswith(f"Exit Code: {code}")
    assert rack_data(host.rack) == before


PAIR = "/dev/sdb /dev/sdc"


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        (
            "--run --level=6 --raid-devices=3 /dev/sdb /dev/sdc /dev/sdd",
            1,
            "at least 4 raid-devices needed for level 6",
        ),
        (f"--run --level=5 --raid-devices=3 {PAIR}", 1, "You haven't given enough devices (real or missing)"),
        (f"--run --level=0 --raid-devices=1 {PAIR}", 1, "You have listed more devices (2) than are in the array(1)!"),
        (f"--run --level=0 --chunk=3K --raid-devices=2 {PAIR}", 2, "invalid chunk/rounding value: 3K"),
        (f"--run --level=7 --raid-devices=2 {PAIR}", 2, "invalid raid level: 7"),
        ("--run --level=0 --raid-devices=2 /dev/sdb /dev/sdb", 2, "cannot open /dev/sdb: Device or resource busy"),
        ("--run --level=0 --raid-devices=2 /dev/sdb /dev/sdz", 2, "cannot open /dev/sdz: No such file or directory"),
        (f"--run --level=5 --layout=f2 --raid-devices=2 {PAIR}", 2, "layout f2 not understood for raid5."),
        (f"--run --level=10 --layout=f3 --raid-devices=2 {PAIR}", 1, "that layout requires at least 3 devices"),
        (
            f"--run --level=10 --layout=far --raid-devices=2 {PAIR}",
            2,
            "layout for raid10 must be 'nNN', 'oNN' or 'fNN' where NN is a number, not far",
        ),
        ("--level=1 --raid-devices=2 /dev/sdb /dev/sdc", 1, "may not be suitable as a boot device"),
    ],
)
async def test_mdadm_refuses_in_its_own_words_and_makes_nothing(line: str, code: int, words: str) -> None:
    host = new_host()
    before = rack_data(host.rack)
    done = await ask(host, "mdadm", f"--create /dev/md100 {line}", mutates=True)
    assert done.returncode == code
    assert words in done.stdout
    assert rack_data(host.rack) == before


async def test_a_node_and_members_that_are_taken_are_refused() -> None:
    host = new_host()
    await made(host, await planned(host, Level.RAID1, MD[:2]))
    before = rack_data(host.rack)
    tries = {"/dev/md100": "/dev/sdd /dev/sde", "/dev/md101": PAIR}
    told = [
        await ask(host, "mdadm", f"--create {node} --run --level=0 --raid-devices=2 {drives}", mutates=True)
        for node, drives in tries.items()
    ]
    assert "/dev/md100 is already in use." in told[0].stdout
    assert (told[1].returncode, told[1].stdout) == (2, "mdadm: cannot open /dev/sdb: Device or resource busy\n")
    assert rack_data(host.rack) == before


async def test_a_mounted_member_is_not_suitable() -> None:
    host = new_host()
    host.rack.lying["nvme0n1"] = Content(filesystem="xfs", mount="/srv")
    before = rack_data(host.rack)
    line = "--create /dev/md100 --run --level=0 --raid-devices=2 /dev/sdb /dev/nvme0n1"
    done = await ask(host, "mdadm", line, mutates=True)
    assert done.returncode == 1
    assert done.stdout.startswith("mdadm: super1.x cannot open /dev/nvme0n1: Device or resource busy\n")
    assert done.stdout.endswith("mdadm: create aborted\n")
    assert rack_data(host.rack) == before


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("ext4", "mdadm: /dev/nvme0n1 appears to contain an ext2fs file system\n"),
        ("LVM2_member", None),
        ("crypto_LUKS", None),
        ("btrfs", None),
    ],
)
async def test_mdadm_asks_before_it_overwrites_what_it_knows_and_knows_little(kind: str, words: str | None) -> None:
    host = new_host()
    host.rack.lying["nvme0n1"] = Content(filesystem=kind)
    line = "--create /dev/md100 --level=0 --raid-devices=2 /dev/nvme0n1 /dev/sdb"
    done = await ask(host, "mdadm", line, mutates=True)
    if words is None:
        assert (done.returncode, done.stdout) == (0, "mdadm: array /dev/md100 started.\n")
        assert "nvme0n1" not in host.rack.lying
        return
    assert (done.returncode, host.rack.md) == (1, {})
    assert done.stdout.startswith(words)
    assert done.stdout.endswith("Continue creating array? mdadm: create aborted.\n")
    done = await ask(host, "mdadm", f"{line} --run", mutates=True)
    assert done.returncode == 0
    assert "TYPE=linux_raid_member" in (await ask(host, "blkid", "-p -o export /dev/nvme0n1")).stdout


async def test_mdadm_asks_before_it_takes_members_of_another_array() -> None:
    host = new_host()
    await made(host, await planned(host, Level.RAID5, MD[:3]))
    await ask(host, "mdadm", "--stop /dev/md100", mutates=True)
    before = rack_data(host.rack)
    line = f"--create /dev/md101 --level=0 --raid-devices=2 {PAIR}"
    done = await ask(host, "mdadm", line, mutates=True)
    assert (done.returncode, rack_data(host.rack)) == (1, before)
    assert "/dev/sdb appears to be part of a raid array:\n       level=raid5 devices=3 ctime=" in done.stdout
    done = await ask(host, "mdadm", f"{line} --run", mutates=True)
    assert done.returncode == 0
    told = [(await ask(host, "mdadm", f"--examine /dev/{name}")).stdout for name in MD[:3]]
    assert ["raid0" in text for text in told] == [True, True, False]
    assert "raid5" in told[2]


async def test_zeroing_says_of_a_disk_that_is_none_of_mds_that_it_is_none() -> None:
    host = new_host()
    done = await ask(host, "mdadm", "--zero-superblock /dev/sdb", mutates=True)
    assert (done.returncode, done.stdout) == (0, "mdadm: Unrecognised md component device - /dev/sdb\n")


async def test_md_takes_a_check_and_settings_of_its_stripes() -> None:
    host = new_host()
    await made(host, await planned(host, Level.RAID6, MD[:4], assume_clean=True))
    await host.write("/sys/block/md100/md/stripe_cache_size", "4096")
    assert await host.read("/sys/block/md100/md/stripe_cache_size") == "4096"
    await host.write("/sys/block/md100/md/sync_action", "check")
    assert await host.read("/sys/block/md100/md/sync_action") == "check"
    await host.write("/sys/block/md100/md/sync_action", "idle")
    assert await host.read("/sys/block/md100/md/sync_action") == "idle"
