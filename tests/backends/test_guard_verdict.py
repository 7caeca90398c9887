"""The verdict alone: facts in, words out, no device touched."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.errors import RefusedError
from backends.guard import (
    Intent,
    claim_device,
    judge,
    judge_device,
    require,
    require_confirmed_content,
    require_free,
)
from backends.host import FileStat
from backends.identity import Identity, Signature, Use
from backends.topology.facts import DeviceFacts
from tests.backends.fakes import MOUNTS, FakeHost, disk, machine
from tests.case_loop import loop_over

FREE = DeviceFacts(
    device="/dev/sdb",
    is_block=True,
    identity=Identity(name="sdb", serial="S1", devno="8:16", diskseq="4", size_bytes=1 << 30),
    interface="sata",
    size_bytes=1 << 30,
)
KINDS = ["root", "mount", "swap", "holder", "btrfs", "loop", "open", "exclusive", "unknown", "export", "zfs", "new"]
KINDS += ["lvm", "bcache", "md"]


def test_a_free_and_blank_disk_may_be_written() -> None:
    assert judge(FREE, Intent.WRITE).ok


@loop_over("kind", KINDS)
def test_every_kind_of_use_refuses_a_write_and_no_read(kind: str) -> None:
    used = replace(FREE, uses=(Use(kind=kind, detail="so and so", part="sdb1"),))
    verdict = judge(used, Intent.WRITE)
    assert not verdict.ok
    assert verdict.refused[0].startswith("/dev/sdb1")
    assert verdict.hint
    assert judge(used, Intent.READ).ok


@given(
    st.builds(
        DeviceFacts,
        device=st.just("/dev/sdb"),
        is_block=st.booleans(),
        identity=st.none() | st.just(FREE.identity),
        size_bytes=st.none() | st.integers(0, 9),
        read_only=st.booleans(),
        uses=st.lists(st.builds(Use, kind=st.sampled_from(KINDS), detail=st.text(max_size=5))).map(tuple),
        signatures=st.lists(st.builds(Signature, kind=st.sampled_from(["ext4", "unknown"]))).map(tuple),
        unknown=st.lists(st.text(max_size=5)).map(tuple),
    )
)
def test_a_write_goes_ahead_only_if_nothing_whatever_speaks_against_it(facts: DeviceFacts) -> None:
    verdict = judge(facts, Intent.WRITE)
    clean = facts.is_block and facts.size_bytes and facts.identity and not facts.read_only
    assert verdict.ok is bool(clean and not facts.uses and not facts.unknown)
    assert verdict.ok or (verdict.refused and verdict.hint)
    assert verdict.confirmed_by(None) is bool(verdict.ok and not facts.signatures)


@pytest.mark.parametrize("kind", ["linux_raid_member", "isw_raid_member", "ddf_raid_member", "mpath_member", "drbd"])
def test_members_of_a_set_are_refused_whatever_is_typed(kind: str) -> None:
    verdict = judge(replace(FREE, signatures=(Signature(kind=kind, part="sdb1"),)), Intent.WRITE)
    assert not verdict.confirmed_by("sdb")
    assert f"/dev/sdb1 is a member of a RAID or multipath set ({kind})." in verdict.refused


@loop_over(
    ("kind", "label", "words", "remove"),
    [
        ("LVM2_member", "vg0", "a physical volume of vg0", "pvremove"),
        ("LVM2_member", None, "a physical volume", "pvremove"),
        ("bcache", "L", "a backing or cache device of bcache", "wipefs"),
        ("zfs_member", "tank", "a part of the ZFS pool tank", "zpool labelclear"),
        ("zfs_member", None, "a part of a ZFS pool", "zpool labelclear"),
        ("stratis", None, "a part of a Stratis pool", "wipefs"),
        ("ceph_bluestore", None, "a part of a Ceph cluster", "ceph-volume lvm zap"),
        ("VMFS_volume_member", None, "a part of a VMFS volume", "wipefs"),
    ],
)
def test_a_part_of_a_stopped_layer_is_refused_whatever_is_typed(
    kind: str, label: str | None, words: str, remove: str
) -> None:
    verdict = judge(replace(FREE, signatures=(Signature(kind=kind, label=label, part="sdb1"),)), Intent.WRITE)
    assert not verdict.confirmed_by("sdb")
    assert verdict.refused == (f"/dev/sdb1 holds {words} ({kind}).",)
    assert verdict.hint == f"If it is no longer needed, remove the signature first ({remove})."


def test_a_layer_in_use_is_told_once() -> None:
    uses = (Use(kind="lvm", detail="a physical volume of vg0 (vg0/db)", part="sdb1"),)
    signatures = (Signature(kind="LVM2_member", part="sdb1"), Signature(kind="LVM2_member", part="sdb2"))
    assert judge(replace(FREE, uses=uses, signatures=signatures), Intent.WRITE).refused == (
        "/dev/sdb1 is a physical volume of vg0 (vg0/db).",
        "/dev/sdb2 holds a physical volume (LVM2_member).",
    )


@pytest.mark.parametrize("kind", ["ext4", "btrfs", "crypto_LUKS", "gpt", "swap", "unknown"])
def test_what_lies_idle_on_it_needs_the_typed_name(kind: str) -> None:
    verdict = judge(replace(FREE, signatures=(Signature(kind=kind, label="L"),)), Intent.WRITE)
    for typed in (None, "", "sd", "SDB", "/dev/sdb", "sdb "):
        with pytest.raises(RefusedError, match="contains data"):
            require(verdict, typed)
    require(verdict, "sdb")


def test_what_lies_on_it_needs_no_word_to_be_read() -> None:
    assert judge(replace(FREE, signatures=(Signature(kind="ext4"),)), Intent.READ).confirmed_by(None)


@loop_over(
    ("interface", "identity", "ok"),
    [
        ("sata", Identity(name="sdb", devno="8:16", diskseq="4"), False),
        ("sata", Identity(name="sdb", devno="8:16", wwn="naa.5"), True),
        ("sata", Identity(name="sdb", serial="S1"), False),
        ("loop", Identity(name="loop1", devno="7:1", diskseq="4", backing="/x"), True),
        ("loop", Identity(name="loop1", devno="7:1", diskseq="4"), False),
        ("loop", Identity(name="loop1", devno="7:1", backing="/x"), False),
        ("zram", Identity(name="zram1", devno="250:1", diskseq="4"), True),
        ("virtio", Identity(name="vdb", devno="254:1", diskseq="4"), True),
        ("virtio", Identity(name="vdb", devno="254:1"), False),
        ("bcache", Identity(name="bcache0", devno="251:0", diskseq="4"), True),
        ("bcache", Identity(name="bcache0", devno="251:0"), False),
        ("zvol", Identity(name="zd0", devno="230:0", diskseq="4"), True),
        (None, Identity(name="x", devno="1:1", diskseq="4"), False),
    ],
)
def test_a_device_without_serial_number_must_be_told_apart_otherwise(
    interface: str | None, identity: Identity, ok: bool
) -> None:
    assert judge(replace(FREE, interface=interface, identity=identity), Intent.WRITE).ok is ok


@pytest.mark.parametrize("facts", [replace(FREE, is_block=False), replace(FREE, size_bytes=0)])
def test_what_cannot_be_read_is_refused_for_reading_too(facts: DeviceFacts) -> None:
    assert not judge(facts, Intent.READ).ok


def test_the_kernels_claim_is_told_only_when_nothing_better_is_known() -> None:
    claim, mount = Use(kind="exclusive", detail="claimed"), Use(kind="mount", detail="mounted on /srv")
    assert judge(replace(FREE, uses=(mount, claim)), Intent.WRITE).refused == ("/dev/sdb is mounted on /srv.",)
    assert judge(replace(FREE, uses=(claim,)), Intent.WRITE).refused == ("/dev/sdb: claimed.",)


def test_a_member_of_a_set_is_answered_with_how_its_mark_is_removed() -> None:
    verdict = judge(replace(FREE, signatures=(Signature(kind="linux_raid_member"),)), Intent.WRITE)
    assert verdict.hint == "If it is no longer needed, remove the signature first (mdadm --zero-superblock, wipefs)."


def test_what_is_read_only_is_answered_with_another_device() -> None:
    assert judge(replace(FREE, read_only=True), Intent.WRITE).hint == "Choose another device or a scratch file."


def test_what_lies_there_is_told_with_its_size() -> None:
    large = Signature(kind="ext4", part="sdb1", label="data", size_bytes=1000 << 30)
    assert judge(replace(FREE, signatures=(large,)), Intent.WRITE).content == ("/dev/sdb1: ext4 'data', 1000 GiB",)


def test_of_what_lies_there_the_uuid_is_told_so_that_another_in_its_place_is_not_covered_by_the_answer() -> None:
    first, second = (replace(FREE, signatures=(Signature(kind="gpt", uuid=uuid),)) for uuid in ("1-2", "1-3"))
    shown = judge(first, Intent.WRITE).content
    assert shown == ("/dev/sdb: gpt, UUID 1-2",)
    with pytest.raises(RefusedError, match="changed after you confirmed it: /dev/sdb: gpt, UUID 1-3"):
        require_confirmed_content(judge(second, Intent.WRITE), shown)


def recorded(**more: str) -> FakeHost:
    """A machine out of a recording with the free disk sda: nothing can be opened there, and nothing is harmed."""
    host = FakeHost(machine(disk("sda", device__wwid="naa.5"), **more))
    host.stats["/dev/sda"] = FileStat(kind="block", size=0, devno="8:0")
    host.made_up = True
    return host


async def test_a_device_in_use_on_a_recorded_machine_is_in_use_there_too() -> None:
    mounted = f"{MOUNTS}\n40 25 8:0 / /srv rw - ext4 /dev/sda rw"
    verdict = (await judge_device(recorded(**{"/proc/self/mountinfo": mounted}), "/dev/sda", Intent.WRITE))[1]
    assert verdict.refused == ("/dev/sda is mounted on /srv.",)


async def test_what_cannot_be_opened_on_a_recorded_machine_does_not_stand_against_a_change() -> None:
    assert (await judge_device(recorded(), "/dev/sda", Intent.WRITE))[1].ok


async def test_what_was_not_shown_when_it_was_confirmed_is_not_destroyed() -> None:
    there = await require_free(recorded(), "/dev/sda")
    assert await require_free(recorded(), "/dev/sda", there) == there
    with pytest.raises(RefusedError, match="The content of /dev/sda changed after you confirmed it"):
        await require_free(recorded(), "/dev/sda", ())


async def test_what_cannot_be_found_is_not_free() -> None:
    with pytest.raises(RefusedError, match="does not know which block device"):
        await require_free(recorded(), None)


async def test_a_device_of_another_machine_is_not_held_for_reading_either() -> None:
    elsewhere = recorded()
    elsewhere.made_up = False
    with pytest.raises(RefusedError, match="cannot be opened exclusively: it is not on this host"):
        async with claim_device(elsewhere, "/dev/sda", Intent.READ):
            pass
