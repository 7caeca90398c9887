"""Settings of an array: what is written, what takes it back, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.change import Change, ChangeStep
from backends.change_steps import lock_of
from backends.errors import (
    BlockedError,
    DeviceGoneError,
    InvalidValueError,
    NotFoundError,
    RefusedError,
    ToolFailedError,
)
from backends.host import Completed, FileStat
from backends.identity import Identity, Signature
from backends.model import Target
from backends.settings import Choice, Effect, Persistence, Risk
from backends.vendors.mdraid import full_speed
from backends.vendors.mdraid.backend import MdRaid
from backends.vendors.mdraid.plans import present_identity
from tests.backends.mdraid.machines import MD0, MDADM_UUID, MdHost, array, reshaping

SYSFS = "/sys/block/md0/md"


async def plan(host: MdHost, key: str, value: str) -> Change:
    return await MdRaid(host).plan(MD0, key, value)


def steps(writes: tuple[ChangeStep, ...]) -> list[str]:
    return [write.shown() for write in writes]


@pytest.mark.parametrize(
    ("level", "key", "value", "line", "back"),
    [
        ("raid5", "stripe_cache_size", "4096", "echo 4096 > stripe_cache_size", "echo 256 > stripe_cache_size"),
        ("raid5", "skip_copy", "on", "echo 1 > skip_copy", "echo 0 > skip_copy"),
        ("raid1", "sync_speed_max", "123456", "echo 123456 > sync_speed_max", "echo system > sync_speed_max"),
        ("raid1", "safe_mode_delay", "1500", "echo 1.500 > safe_mode_delay", "echo 0.204 > safe_mode_delay"),
        (
            "raid1",
            "write_mostly.sdb",
            "on",
            "echo writemostly > dev-sdb/state",
            "echo -writemostly > dev-sdb/state",
        ),
        ("raid10", "write_mostly.sda", "on", "echo writemostly > dev-sda/state", "echo -writemostly > dev-sda/state"),
        ("raid10", "failfast.sda", "on", "echo failfast > dev-sda/state", "echo -failfast > dev-sda/state"),
    ],
)
async def test_settings_of_sysfs(level: str, key: str, value: str, line: str, back: str) -> None:
    change = await plan(MdHost(array(level)), key, value)
    assert [one.replace(f"{SYSFS}/", "") for one in steps(change.writes + change.undo)] == [line, back]


def journaled(mode: str = "[write-through] write-back") -> MdHost:
    """A RAID 5 of three with a journal."""
    four = ("sda", "sdb", "sdc", "sdd")
    return MdHost(array("raid5", four, flags={"sdd": "journal"}, raid_disks="3", journal_mode=mode))


async def test_the_cache_of_an_array_with_a_journal_is_set_and_taken_back() -> None:
    change = await plan(journaled(), "journal_mode", "write-back")
    told = [one.replace(f"{SYSFS}/", "") for one in steps(change.writes + change.undo)]
    assert told == ["echo write-back > journal_mode", "echo write-through > journal_mode"]
    assert (change.risk, "only on the journal device" in change.risk_text) == (Risk.POWER_LOSS, True)
    back = await plan(journaled("write-through [write-back]"), "journal_mode", "write-through")
    assert (back.before, back.risk) == ("write-back", Risk.NONE)


async def test_an_array_without_a_journal_has_no_mode_of_one() -> None:
    assert "journal_mode" not in await MdRaid(MdHost(array("raid5"))).read(MD0)
    gone = (await MdRaid(journaled("")).read(MD0))["journal_mode"]
    assert (gone.now, gone.availability.why_not) == ("unknown", "the array has no working journal")


async def test_the_lock_is_the_one_that_a_run_on_the_array_takes() -> None:
    host = MdHost(array("raid5"))
    assert (await plan(host, "stripe_cache_size", "4096")).lock == await lock_of(host, "md0")


async def test_a_limit_of_its_own_comes_back_as_a_number() -> None:
    change = await plan(MdHost(array(sync_speed_min="5000 (local)")), "sync_speed_min", "system")
    assert (change.before, change.after, change.undo[0].text) == ("5000", "system", "5000")


@pytest.mark.parametrize("value", ["0", "99999999999", "fast", "-1", "²"])
async def test_no_other_speeds(value: str) -> None:
    with pytest.raises(InvalidValueError):
        await plan(MdHost(array()), "sync_speed_max", value)


async def test_the_stripe_cache_says_what_memory_it_takes() -> None:
    change = await plan(MdHost(array()), "stripe_cache_size", "8192")
    assert change.risk_text == "The stripe cache uses 128 MiB of memory."


async def test_no_more_than_a_quarter_of_the_memory_is_offered_to_the_stripe_cache() -> None:
    host = MdHost(array())
    host.files["/proc/meminfo"] = "MemTotal: 524288 kB"
    with pytest.raises(InvalidValueError, match="stripe_cache_size"):
        await plan(host, "stripe_cache_size", "8193")
    assert (await plan(host, "stripe_cache_size", "8192")).after == "8192"


async def test_a_mirror_has_no_stripe_cache_and_a_raid5_no_write_mostly() -> None:
    for level, key in (("raid1", "stripe_cache_size"), ("raid5", "write_mostly.sda"), ("raid1", "chunk_size")):
        with pytest.raises(NotFoundError, match="has no setting"):
            await plan(MdHost(array(level)), key, "1")


async def test_level_and_number_of_members_are_no_settings() -> None:
    for key in ("level", "raid_disks", "array_state", "sync_action"):
        with pytest.raises(NotFoundError):
            await plan(MdHost(array()), key, "raid6")


async def test_a_bitmap_that_comes_back_has_the_chunks_it_had() -> None:
    host = MdHost(array(bitmap__location="+8", bitmap__chunksize="16777216", consistency_policy="bitmap"))
    change = await plan(host, "bitmap", "none")
    assert steps(change.writes) == ["/sbin/mdadm --grow --bitmap=none /dev/md0"]
    assert steps(change.undo) == ["/sbin/mdadm --grow --bitmap=internal --bitmap-chunk=16384K /dev/md0"]
    assert change.risk is Risk.PERFORMANCE
    assert "resync of the whole array" in change.risk_text
    assert change.persistence is Persistence.STORED


async def test_a_bitmap_stands_in_the_way_of_a_partial_parity_log_and_the_other_way_round() -> None:
    with pytest.raises(BlockedError, match="set bitmap to none first"):
        await plan(MdHost(array(bitmap__location="+8", consistency_policy="bitmap")), "consistency_policy", "ppl")
    with pytest.raises(BlockedError, match="excludes a bitmap"):
        await plan(MdHost(array(consistency_policy="ppl")), "bitmap", "internal")


async def test_only_raid5_has_a_partial_parity_log() -> None:
    with pytest.raises(BlockedError, match="RAID 5 only"):
        await plan(MdHost(array("raid6")), "consistency_policy", "ppl")


async def test_without_mdadm_what_needs_it_is_blocked_and_the_rest_is_not() -> None:
    host = MdHost(array(), mdadm=False)
    with pytest.raises(BlockedError, match="mdadm is not installed"):
        await plan(host, "bitmap", "internal")
    assert (await plan(host, "group_thread_cnt", "4")).after == "4"


async def test_without_root_nothing_can_be_changed() -> None:
    readings = await MdRaid(MdHost(array(), root=False)).read(MD0)
    assert {reading.availability.why_not for key, reading in readings.items() if key != "consistency_policy"} == {
        "needs root"
    }


async def test_mdadms_refusal_is_told_in_its_own_words() -> None:
    host = MdHost(array())
    change = await plan(host, "consistency_policy", "ppl")
    host.answers["--grow"] = Completed(returncode=254, stdout="", stderr="mdadm: Not enough space to add ppl\n")
    with pytest.raises(ToolFailedError, match="Not enough space to add ppl"):
        await MdRaid(host).apply(change)


async def test_a_name_that_passed_to_another_array_stops_the_change() -> None:
    host = MdHost(array())
    change = await plan(host, "skip_copy", "on")
    host.files[f"{SYSFS}/uuid"] = "11111111-97e6-caec-c09b-0e7b40aefd16"
    with pytest.raises(DeviceGoneError, match="a different device"):
        await MdRaid(host).apply(change)
    assert host.written == []


async def test_an_array_that_is_gone_is_said_to_be() -> None:
    with pytest.raises(DeviceGoneError):
        await MdRaid(MdHost()).read(MD0)
    with pytest.raises(NotFoundError):
        await MdRaid(MdHost(array())).read(Target(backend="md", address="../md0"))


@pytest.mark.parametrize(
    "step",
    [
        ChangeStep(path=f"{SYSFS}/level", text="raid6"),
        ChangeStep(path=f"{SYSFS}/chunk_size", text="100"),
        ChangeStep(path=f"{SYSFS}/raid_disks", text="5"),
        ChangeStep(path="/sys/block/md1/md/skip_copy", text="1"),
        ChangeStep(path="/etc/passwd", text="x"),
        ChangeStep(argv=("/sbin/mdadm", "--zero-superblock", "/dev/sda", "/dev/md0")),
        ChangeStep(argv=("/sbin/mdadm", "--stop", "/dev/md1")),
        ChangeStep(argv=("/bin/sh", "-c", "reboot", "/dev/md0")),
        ChangeStep(argv=("/sbin/mdadm", "--grow", "--force", "--chunk=64K", "/dev/md0")),
        ChangeStep(argv=("/sbin/mdadm", "--grow", "--level=6", "/dev/md0")),
    ],
)
async def test_steps_that_are_no_setting_are_refused_whatever_a_journal_says(step: ChangeStep) -> None:
    host = MdHost(array())
    change = replace(await plan(host, "skip_copy", "on"), writes=(step,))
    with pytest.raises(RefusedError, match="Refusing to"):
        await MdRaid(host).apply(change)
    assert host.written == []
    assert host.ran == []


class TestReshape:
    """Chunk and layout where the data can be moved."""

    @pytest.mark.parametrize("level", ["raid0", "raid4", "raid5", "raid6", "raid10"])
    async def test_another_chunk_is_a_reshape_there_and_back(self, level: str) -> None:
        change = await plan(MdHost(array(level)), "chunk_size", "131072")
        assert steps(change.writes + change.undo) == [
            "/sbin/mdadm --grow --chunk=128K /dev/md0",
            "/sbin/mdadm --grow --chunk=64K /dev/md0",
        ]
        assert (change.effect, change.risk, change.persistence) == (Effect.RESHAPE, Risk.OUTAGE, Persistence.STORED)

    async def test_how_long_it_takes_is_estimated_from_size_and_speed(self) -> None:
        host = MdHost(array(component_size=str(4_000_000_000), sync_speed_max="200000 (system)"))
        text = (await plan(host, "chunk_size", "131072")).risk_text
        assert "at least 11.1 h" in text
        assert "200000 KiB/s" in text

    async def test_a_raid0_becomes_a_raid4_meanwhile_and_that_is_said(self) -> None:
        text = (await plan(MdHost(array("raid0")), "chunk_size", "131072")).risk_text
        assert "RAID 4" in text
        assert "It takes" in text

    async def test_a_chunk_that_does_not_divide_the_members_is_not_offered(self) -> None:
        with pytest.raises(InvalidValueError):
            await plan(MdHost(array(component_size="261184")), "chunk_size", "524288")

    async def test_once_accepted_it_reads_the_new_value_with_the_old_still_in_force(self) -> None:
        host = MdHost(array())
        reshaping(host)
        reading = (await MdRaid(host).read(MD0))["chunk_size"]
        assert (reading.now, reading.effective) == ("131072", "65536")
        assert reading.why_effective == "the reshape is running, 40.0 % of it is done"

    async def test_a_layout_on_its_way_is_told_in_words(self) -> None:
        host = MdHost(array(layout="3 (2)", sync_action="reshape", sync_completed="1 / 2"))
        reading = (await MdRaid(host).read(MD0))["layout"]
        assert (reading.now, reading.effective) == ("right-symmetric", "left-symmetric")

    async def test_nothing_of_the_geometry_is_changed_while_it_runs(self) -> None:
        host = MdHost(array())
        reshaping(host)
        for key, value in (("chunk_size", "65536"), ("layout", "parity-last"), ("bitmap", "internal")):
            with pytest.raises(BlockedError, match="Wait until it ends"):
                await plan(host, key, value)

    @pytest.mark.parametrize(
        ("own", "words"),
        [
            ({"degraded": "1"}, "missing"),
            ({"array_state": "readonly"}, "readonly"),
            ({"metadata_version": "external:/md127/0"}, "that of the container md127"),
            ({"metadata_version": "external:imsm"}, "external metadata"),
            ({"consistency_policy": "ppl"}, "set consistency_policy to resync first"),
            ({"flags": {"sdd": "journal"}, "raid_disks": "3"}, "journal"),
        ],
    )
    async def test_what_stands_in_its_way_is_said(self, own: dict[str, str], words: str) -> None:
        with pytest.raises(BlockedError, match=words):
            await plan(MdHost(array(**own)), "chunk_size", "131072")  # type: ignore[arg-type]

    @pytest.mark.parametrize("action", ["check", "resync", "recover", "repair"])
    async def test_what_began_since_it_was_planned_is_not_broken_off(self, action: str) -> None:
        host = MdHost(array())
        change = await plan(host, "chunk_size", "131072")
        host.files |= {f"{SYSFS}/sync_action": action, f"{SYSFS}/sync_completed": "1000 / 100000"}
        with pytest.raises(BlockedError, match=f"a {action} is running"):
            await MdRaid(host).apply(change)
        assert host.ran == []

    @pytest.mark.parametrize(
        ("before", "words"),
        [
            (1968, ["--chunk=128K"]),
            (176, ["--chunk=128K", "--backup-file=/var/lib/raidbench-md0-reshape.backup"]),
        ],
    )
    async def test_a_backup_file_only_where_the_members_have_no_room(self, before: int, words: list[str]) -> None:
        host = MdHost(array())
        host.stats["/var/lib"] = FileStat(kind="directory", size=0)
        host.answers["--examine"] = room(before)
        change = await plan(host, "chunk_size", "131072")
        assert list(change.writes[0].argv[2:-1]) == words
        assert ("is needed to continue" in change.risk_text) == (len(words) > 1)

    async def test_a_backup_file_never_lies_on_the_array_itself(self) -> None:
        host = MdHost(array())
        host.stats["/var/lib"] = FileStat(kind="directory", size=0)
        host.files["/proc/self/mountinfo"] = "25 1 9:0 / / rw,relatime shared:1 - ext4 /dev/md0 rw"
        host.answers["--examine"] = room(0)
        with pytest.raises(BlockedError, match="is on the array itself"):
            await plan(host, "chunk_size", "131072")


class TestMadeAnew:
    """Copies of a RAID 10 that cannot be moved."""

    @pytest.mark.parametrize(
        ("code", "key", "value"),
        [
            ("513", "chunk_size", "131072"),
            ("66049", "chunk_size", "131072"),
            ("258", "layout", "f2"),
            ("258", "layout", "o2"),
        ],
    )
    async def test_it_is_taken_apart_and_made_of_the_same_members(self, code: str, key: str, value: str) -> None:
        change = await plan(MdHost(array("raid10", layout=code)), key, value)
        stop, create = steps(change.writes)
        assert stop == "/sbin/mdadm --stop /dev/md0"
        assert create.endswith("/dev/sda /dev/sdb /dev/sdc /dev/sdd")
        assert f"--uuid={MDADM_UUID}" in create
        assert "--run" in create
        assert "--assume-clean" not in create
        assert (change.risk, change.effect) == (Risk.DESTROYS_DATA, Effect.RECREATED)

    async def test_undoing_it_makes_it_anew_as_it_was(self) -> None:
        change = await plan(MdHost(array("raid10", layout="513")), "layout", "n2")
        assert "--layout=f2" in change.undo[1].argv
        assert "--chunk=64K" in change.undo[1].argv
        assert "an undo destroys all data again" in change.risk_text

    async def test_every_choice_says_that_data_are_lost(self) -> None:
        choices: tuple[Choice, ...] = (await MdRaid(MdHost(array("raid10"))).read(MD0))["layout"].choices
        assert {choice.risk for choice in choices} == {Risk.DESTROYS_DATA}

    async def test_what_lies_on_it_is_named(self) -> None:
        host = MdHost(array("raid10"))
        host.files["/run/udev/data/b9:0"] = "E:ID_FS_TYPE=ext4\nE:ID_FS_LABEL=payroll\nE:MD_NAME=srv:data\nE:MD_UUID=x"
        change = await plan(host, "layout", "f2")
        assert "ext4 payroll" in change.risk_text
        assert "--name=srv:data" in change.writes[1].argv

    @pytest.mark.parametrize(
        ("path", "text"),
        [
            ("/proc/self/mountinfo", "25 1 9:0 / /srv rw,relatime shared:1 - ext4 /dev/md0 rw"),
            ("/sys/block/md0/holders/dm-0", ""),
        ],
    )
    async def test_it_is_refused_while_in_use(self, path: str, text: str) -> None:
        host = MdHost(array("raid10"))
        change = await plan(host, "layout", "f2")
        host.files[path] = text
        with pytest.raises(RefusedError, match="/dev/md0"):
            await plan(host, "layout", "f2")
        with pytest.raises(RefusedError, match="/dev/md0"):
            await MdRaid(host).apply(change)
        assert host.ran == []

    async def test_other_members_than_planned_stop_it_before_anything_is_done(self) -> None:
        host = MdHost(array("raid10"))
        change = await plan(host, "layout", "f2")
        host.files[f"{SYSFS}/dev-sda/slot"], host.files[f"{SYSFS}/dev-sdb/slot"] = "1", "0"
        with pytest.raises(RefusedError, match="The members of"):
            await MdRaid(host).apply(change)
        assert host.ran == []

    async def test_an_array_of_another_uuid_is_not_made_whatever_a_journal_says(self) -> None:
        host = MdHost(array("raid10"))
        change = await plan(host, "layout", "f2")
        stop, create = change.writes
        words = [word.replace(MDADM_UUID, MDADM_UUID[::-1]) for word in create.argv]
        with pytest.raises(RefusedError, match="The members of"):
            await MdRaid(host).apply(replace(change, writes=(stop, replace(create, argv=tuple(words)))))
        assert host.ran == []

    @pytest.mark.parametrize(
        ("own", "words"),
        [
            ({"uuid": "none"}, "UUID is not known"),
            ({"metadata_version": "0.90"}, "metadata is 0.90"),
            ({"flags": {"sdb": "in_sync,failfast"}}, "Remove the marks first"),
        ],
    )
    async def test_what_cannot_be_made_again_exactly_is_not(self, own: dict[str, str], words: str) -> None:
        with pytest.raises(BlockedError, match=words):
            await plan(MdHost(array("raid10", **own)), "layout", "f2")  # type: ignore[arg-type]

    async def test_a_failure_after_the_stop_says_how_to_make_it_by_hand(self) -> None:
        host = MdHost(array("raid10"))
        change = await plan(host, "layout", "f2")
        host.answers["--create"] = Completed(returncode=1, stdout="", stderr="mdadm: cannot open /dev/sda: busy\n")
        with pytest.raises(ToolFailedError, match="was stopped, but cannot be re-created") as caught:
            await MdRaid(host).apply(change)
        assert caught.value.hint.startswith("Re-create it manually: /sbin/mdadm --create")

    @pytest.mark.parametrize(
        ("layout", "chunk", "words"),
        [
            ("near=2", "64K", "contain the array in its old form, with its data"),
            ("far=2", "64K", "contain the array with the new settings"),
        ],
    )
    async def test_members_that_still_hold_it_are_assembled_first(self, layout: str, chunk: str, words: str) -> None:
        host = MdHost(array("raid10"))
        change = await plan(host, "layout", "f2")
        take_apart(host, layout, chunk)
        first = await MdRaid(host).remains(change)
        assert first is not None
        assert words in first
        assert first.endswith("mdadm --assemble /dev/md0 /dev/sda /dev/sdb /dev/sdc /dev/sdd")

    @pytest.mark.parametrize(("layout", "chunk"), [("offset=2", "64K"), ("near=2", "128K")])
    async def test_members_that_hold_something_else_are_not(self, layout: str, chunk: str) -> None:
        host = MdHost(array("raid10"))
        change = await plan(host, "layout", "f2")
        take_apart(host, layout, chunk)
        assert await MdRaid(host).remains(change) is None

    async def test_members_of_another_array_are_not(self) -> None:
        host = MdHost(array("raid10"))
        change = await plan(host, "layout", "f2")
        take_apart(host, "near=2", "64K", uuid="1c2fc7f5:dbfd9072:dae6a836:f356e1e0")
        assert await MdRaid(host).remains(change) is None

    async def test_an_array_that_is_there_has_no_remains(self) -> None:
        host = MdHost(array("raid10"))
        change = await plan(host, "layout", "f2")
        host.answers["--examine"] = examined("near=2", "64K")
        assert await MdRaid(host).remains(change) is None

    async def test_a_creation_that_fails_before_it_wrote_says_how_to_assemble(self) -> None:
        host = MdHost(array("raid10"))
        change = await plan(host, "layout", "f2")
        host.answers["--create"] = Completed(returncode=-9, stdout="", stderr="")
        host.answers["--examine"] = examined("near=2", "64K")
        host.stopped = lambda: take_apart(host, "near=2", "64K")
        with pytest.raises(ToolFailedError, match="was stopped") as caught:
            await MdRaid(host).apply(change)
        assert "mdadm --assemble /dev/md0" in caught.value.hint

    async def test_the_same_value_makes_nothing_anew(self) -> None:
        host = MdHost(array("raid10"))
        await MdRaid(host).apply(await plan(host, "layout", "n2"))
        assert host.ran == []


def room(before: int) -> Completed:
    """What mdadm says of the room on a member, in sectors."""
    text = f"   Unused Space : before={before} sectors, after=0 sectors\n   Array State : AAAA ('A' == active)\n"
    return Completed(returncode=0, stdout=text, stderr="")


def examined(layout: str, chunk: str, uuid: str = MDADM_UUID) -> Completed:
    """What mdadm says of a member."""
    text = f"""/dev/sda:
     Array UUID : {uuid}
     Raid Level : raid10
   Raid Devices : 4
    Data Offset : 2048 sectors
         Layout : {layout}
     Chunk Size : {chunk}

    Array State : AAAA ('A' == active, '.' == missing, 'R' == replacing)
"""
    return Completed(returncode=0, stdout=text, stderr="")


def take_apart(host: MdHost, layout: str, chunk: str, uuid: str = MDADM_UUID) -> None:
    """Let the array be gone while its members say this of it."""
    host.answers["--examine"] = examined(layout, chunk, uuid)
    for path in [path for path in host.files if path.startswith("/sys/block/md0/")]:
        del host.files[path]


def test_signatures_without_a_label_are_named_by_kind() -> None:
    from backends.vendors.mdraid.plans import ReshapeContext, _loss

    assert "(swap)" in _loss(ReshapeContext(contents=(Signature(kind="swap"),)))


async def together(host: MdHost, **values: str) -> tuple[Change, ...]:
    return await MdRaid(host).plan_together(MD0, values)


async def test_an_array_made_anew_has_the_bitmap_of_the_same_set_and_goes_back_to_the_one_it_had() -> None:
    host = MdHost(array("raid10"))
    bitmap, layout = await together(host, layout="f2", bitmap="internal")
    assert (bitmap.key, "--bitmap=internal" in layout.writes[1].argv) == ("bitmap", True)
    assert "--bitmap=none" in layout.undo[1].argv


async def test_what_an_array_made_anew_does_not_keep_is_set_after_it() -> None:
    changes = await together(MdHost(array("raid10")), sync_speed_max="123456", layout="f2")
    assert [change.key for change in changes] == ["layout", "sync_speed_max"]


async def test_two_settings_that_move_every_byte_are_not_planned_together() -> None:
    with pytest.raises(BlockedError, match="each change moves all data"):
        await together(MdHost(array("raid10")), layout="f2", chunk_size="131072")


def told(change: Change) -> list[str]:
    return [one.replace(f"{SYSFS}/", "") for one in steps(change.writes)]


def told_back(change: Change) -> list[str]:
    return [one.replace(f"{SYSFS}/", "") for one in steps(change.undo)]


async def test_full_speed_sets_cache_and_both_limits_in_one_step_and_takes_them_back() -> None:
    change = await plan(MdHost(array("raid5", sync_speed_min="5000 (local)")), "resync_speed", "full")
    limits = ["echo 10000000 > sync_speed_max", "echo 10000000 > sync_speed_min"]
    assert told(change) == ["echo 8192 > stripe_cache_size", *limits]
    back = ["echo 256 > stripe_cache_size", "echo system > sync_speed_max", "echo 5000 > sync_speed_min"]
    assert (change.before, told_back(change)) == ("256 + system + 5000", back)
    assert "all other I/O on the members is slow" in change.risk_text
    assert "of memory" in change.risk_text


async def test_a_level_without_parity_has_no_stripe_cache_to_set() -> None:
    change = await plan(MdHost(array("raid1")), "resync_speed", "full")
    assert told(change) == ["echo 10000000 > sync_speed_max", "echo 10000000 > sync_speed_min"]
    assert change.before == "system + system"


async def test_full_speed_never_makes_a_stripe_cache_smaller() -> None:
    change = await plan(MdHost(array("raid5", stripe_cache_size="16384")), "resync_speed", "full")
    assert "echo 16384 > stripe_cache_size" in told(change)


async def test_full_speed_is_read_back_and_ends_with_the_old_values() -> None:
    host = MdHost(array("raid5"))
    change = await plan(host, "resync_speed", "full")
    await MdRaid(host).apply(change)
    assert (await MdRaid(host).read(MD0))["resync_speed"].now == "full"
    await MdRaid(host).apply(await MdRaid(host).back(MD0, "resync_speed", change.before or "", {}))
    now = await MdRaid(host).read(MD0)
    assert [now[key].now for key in ("resync_speed", "stripe_cache_size", "sync_speed_max", "sync_speed_min")] == [
        *("256 + system + system", "256", "system", "system"),
    ]


@pytest.mark.parametrize("wrong", ["fast", "system + system", "256 + system + -1", "1 + 2 + 3 + 4", ""])
async def test_a_way_back_to_no_value_of_the_preset_is_refused(wrong: str) -> None:
    with pytest.raises(InvalidValueError):
        await MdRaid(MdHost(array("raid5"))).back(MD0, "resync_speed", wrong, {})


async def test_the_preset_is_not_kept_over_a_reboot_and_says_what_is() -> None:
    with pytest.raises(BlockedError, match="cannot be persisted separately") as refused:
        await MdRaid(MdHost(array("raid5"))).persist(MD0, {"resync_speed": "full"})
    assert refused.value.hint == "Persist stripe_cache_size, sync_speed_max, sync_speed_min instead."


def test_the_stripe_cache_of_full_speed_stays_within_what_the_memory_allows() -> None:
    assert full_speed.full_parts(256, 1000)["stripe_cache_size"] == "1000"
    assert full_speed.full_parts(256, 32768)["stripe_cache_size"] == "8192"
    assert "stripe_cache_size" not in full_speed.full_parts(None, 32768)


def test_a_change_is_of_its_disk_and_its_undo_after_a_re_creation_of_what_lasts() -> None:
    now = Identity(name="md0", serial="1:2:3:4", size_bytes=1 << 30, diskseq="7")
    lasting = replace(now, size_bytes=None, diskseq=None)
    bitmap = Change(
        target=MD0, key="bitmap", label="", before="none", after="internal", writes=(), undo=(), identity=now
    )
    assert present_identity(bitmap, now) == now
    assert present_identity(replace(bitmap, key="layout", identity=lasting), now) == lasting
    after = replace(now, diskseq="9")
    assert present_identity(bitmap, after) == after  # another disk of the same name
    assert present_identity(replace(bitmap, identity=lasting), after) == lasting
