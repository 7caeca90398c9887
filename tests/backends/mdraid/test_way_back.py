"""What brings an array back: what it was made with comes from the log, its members and its UUID from the array."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from backends.change import Change
from backends.errors import BlockedError, InvalidValueError, RefusedError
from backends.settings import Risk
from backends.vendors.mdraid.backend import MdRaid
from tests.backends.mdraid.machines import MD0, MDADM_UUID, MdHost, array, reshaping
from tests.backends.taking_back import way_back

BITMAP: Mapping[str, Any] = {"bitmap__location": "+8", "bitmap__chunksize": "16777216", "consistency_policy": "bitmap"}
SYSFS = "/sys/block/md0/md"


async def remade(host: MdHost, key: str = "layout", value: str = "f2") -> Change:
    """A change that made the array anew."""
    change = await MdRaid(host).plan(MD0, key, value)
    await MdRaid(host).apply(change)
    return change


async def test_an_array_made_anew_comes_back_with_all_that_it_was_made_with() -> None:
    host = MdHost(array("raid10", **BITMAP))
    host.files["/run/udev/data/b9:0"] = "E:MD_NAME=srv:data\nE:MD_UUID=x"
    change = await remade(host)
    assert change.companions == {
        "chunk": "65536",
        "bitmap": "internal",
        "size": "267386880",
        "data_offset": "1048576",
        "name": "srv:data",
    }
    back = await way_back(MdRaid(host), change)
    assert back.writes == change.undo
    assert back.risk is Risk.DESTROYS_DATA


@pytest.mark.parametrize(
    "companions",
    [
        {"name": "other:data"},
        {"layout": "f2"},
        {"bitmap": "/var/lib/bitmap"},
        {"size": "0"},
        {"size": "-1"},
        {"chunk": "64K"},
        {"data_offset": "1 --assume-clean"},
        {"members": "/dev/sdx"},
        {"uuid": MDADM_UUID},
    ],
)
async def test_companions_that_are_none_of_this_array_are_refused(companions: dict[str, str]) -> None:
    host = MdHost(array("raid10"))
    host.files["/run/udev/data/b9:0"] = "E:MD_NAME=srv:data\nE:MD_UUID=x"
    change = await remade(host)
    with pytest.raises(RefusedError, match="cannot be restored together with layout of md:md0"):
        await MdRaid(host).back(MD0, "layout", "n2", {**change.companions, **companions})


async def test_a_bitmap_comes_back_with_the_chunks_of_the_log() -> None:
    host = MdHost(array(**BITMAP))
    change = await remade(host, "bitmap", "none")
    assert change.companions == {"chunk": "16777216"}
    assert (await way_back(MdRaid(host), change)).writes == change.undo


async def test_no_bitmap_has_no_chunks() -> None:
    with pytest.raises(RefusedError, match="chunk=16777216 cannot be restored together with bitmap of md:md0"):
        await MdRaid(MdHost(array(**BITMAP))).back(MD0, "bitmap", "none", {"chunk": "16777216"})


async def test_a_set_is_taken_back_to_what_was_there_before_all_of_it() -> None:
    host = MdHost(array("raid10"))
    bitmap, layout = await MdRaid(host).plan_together(MD0, {"layout": "f2", "bitmap": "internal"})
    assert (bitmap.companions, layout.companions["bitmap"]) == ({}, "none")


@pytest.mark.parametrize(("key", "value"), [("chunk_size", "4096"), ("layout", "ddf-N-restart")])
async def test_a_geometry_that_is_not_offered_may_have_been_there(key: str, value: str) -> None:
    host = MdHost(array("raid6"))
    back = await MdRaid(host).back(MD0, key, value, {})
    word = {"chunk_size": "--chunk=4K", "layout": "--layout=ddf-N-restart"}[key]
    assert [step.argv[1:] for step in back.writes] == [("--grow", word, "/dev/md0")]


@pytest.mark.parametrize("value", ["65K", "-4096", "1", "99999999999", "n2 --force"])
async def test_what_is_no_chunk_never_was_one(value: str) -> None:
    with pytest.raises(InvalidValueError):
        await MdRaid(MdHost(array())).back(MD0, "chunk_size", value, {})


async def test_nothing_comes_back_while_the_data_are_moved() -> None:
    host = MdHost(array())
    reshaping(host)
    with pytest.raises(BlockedError, match="Wait until it ends"):
        await MdRaid(host).back(MD0, "chunk_size", "65536", {})
    there = await MdRaid(host).back(MD0, "chunk_size", "131072", {})
    assert (there.before, there.after, there.writes) == ("131072", "131072", ())


async def test_what_uses_it_now_stands_against_making_it_anew() -> None:
    host = MdHost(array("raid10"))
    change = await remade(host)
    host.files["/sys/block/md0/holders/dm-0"] = ""
    with pytest.raises(RefusedError, match="/dev/dm-0 is built on it"):
        await way_back(MdRaid(host), change)


async def test_remains_are_told_by_what_the_journal_says_without_its_steps() -> None:
    host = MdHost(array("raid10"))
    change = replace(await MdRaid(host).plan(MD0, "layout", "f2"), writes=(), undo=())
    assert change.members == ("/dev/sda", "/dev/sdb", "/dev/sdc", "/dev/sdd")
    gone(host)
    first = await MdRaid(host).remains(change)
    assert first is not None
    assert first.endswith("mdadm --assemble /dev/md0 /dev/sda /dev/sdb /dev/sdc /dev/sdd")
    assert "in its old form, with its data" in first


@pytest.mark.parametrize(
    "last", ["--zero-superblock", "sdd", "/dev/../etc/passwd", "/dev/a/../../etc/passwd", "/dev/sd d"]
)
async def test_what_is_no_node_is_not_examined(last: str) -> None:
    host = MdHost(array("raid10"))
    change = await MdRaid(host).plan(MD0, "layout", "f2")
    gone(host)
    assert await MdRaid(host).remains(change) is not None
    assert await MdRaid(host).remains(replace(change, members=())) is None
    assert await MdRaid(host).remains(replace(change, members=(*change.members[:3], last))) is None


def gone(host: MdHost) -> None:
    from tests.backends.mdraid.test_changing import take_apart

    take_apart(host, "near=2", "64K")
