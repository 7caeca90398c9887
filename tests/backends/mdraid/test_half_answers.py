"""Half an answer of the kernel or of mdadm about arrays: nothing invented, every loss told, nothing planned on it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from backends.errors import BlockedError
from backends.host import Completed, FileStat, Host
from backends.model import State, Target
from backends.protocol import InventoryBackend
from backends.testing.truncation import TruncatedOutputTests, TruncatingHost, every_line, truncation_violations
from backends.vendors.mdraid.backend import MdRaid
from tests.backends.mdraid.machines import MD0, MdHost, array
from tests.backends.mdraid.test_changing import room
from tests.backends.mdraid.test_imsm import MD126, VROC
from tests.backends.mdraid.test_imsm import machine as container

STAT = """Personalities : [raid1] [raid6] [raid5] [raid4]
md0 : active (auto-read-only) raid1 sdb[1](W) sda[0]
      261120 blocks super 1.2 [2/2] [UU]
      \tresync=PENDING
      bitmap: 1/1 pages [4KB], 65536KB chunk

unused devices: <none>
"""


def parity() -> Host:
    host = MdHost(array("raid5", more={"consistency_policy": "bitmap", "bitmap/location": "+8"}))
    host.answers["--examine"] = room(1968)
    return host


def mirror() -> Host:
    flags = {"sdb": "in_sync,write_mostly"}
    return MdHost(array("raid1", ("sda", "sdb"), flags=flags, bitmap__location="+8"), {"/proc/mdstat": STAT})


def copies() -> Host:
    return MdHost(array("raid10", sync_action="check", sync_completed="1000 / 4000", sync_speed="100"))


def striped() -> Host:
    return MdHost(array("raid0", ("sda", "sdb")))


def nested() -> Host:
    return MdHost(array("raid5"), array("raid5", ("sde", "sdf", "sdg"), "md1"), array("raid0", ("md0", "md1"), "md2"))


def volumes() -> Host:
    """Of which udev knows all but one."""
    host = container(VROC)
    for number in ("125", "127"):
        host.files[f"/run/udev/data/b9:{number}"] = f"E:MD_UUID=d34ae9ba:11179edc:8f1ecb7a:814fe{number}"
    return host


MACHINES: dict[str, tuple[Callable[[], Host], tuple[Target, ...]]] = {
    "raid1": (mirror, (MD0,)),
    "raid5": (parity, (MD0,)),
    "container": (volumes, (MD126,)),
    "shown": (volumes, ()),
    "raid10": (copies, (MD0,)),
    "raid0": (striped, (MD0,)),
    "raid50": (nested, ()),
}
FILES = ("/proc/mdstat", "/sys/block/*/md/*")


@pytest.mark.parametrize("what", ["raid1", "shown"])
class TestHalfOfMd(TruncatedOutputTests):
    files = FILES[:1]

    @pytest.fixture
    def machine(self, what: str) -> Callable[[], Host]:
        return MACHINES[what][0]

    @pytest.fixture
    def make(self) -> Callable[[Host], InventoryBackend]:
        return MdRaid

    @pytest.fixture
    def targets(self, what: str) -> tuple[Target, ...]:
        return MACHINES[what][1]


@pytest.mark.exhaustive
@pytest.mark.parametrize("what", MACHINES)
class TestEveryLineOfMd(TruncatedOutputTests):
    places = staticmethod(every_line)
    files = FILES

    @pytest.fixture
    def machine(self, what: str) -> Callable[[], Host]:
        return MACHINES[what][0]

    @pytest.fixture
    def make(self) -> Callable[[Host], InventoryBackend]:
        return MdRaid

    @pytest.fixture
    def targets(self, what: str) -> tuple[Target, ...]:
        return MACHINES[what][1]


async def test_a_file_of_an_array_that_cannot_be_read_is_told_and_makes_nothing_up() -> None:
    assert await truncation_violations(mirror, MdRaid, targets=(MD0,), places=lambda text: (), files=FILES) == []


def cut(path: str, at: int | None = None) -> MdRaid:
    return MdRaid(TruncatingHost(MdHost(array("raid10")), path, at))


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/sys/block/md0/md/degraded", "/sys/block/md0/md: incomplete output: degraded cannot be read"),
        ("/proc/mdstat", "/proc/mdstat: incomplete output: it cannot be read"),
    ],
)
async def test_nothing_is_planned_on_half_of_what_the_kernel_tells(path: str, words: str) -> None:
    for key, value in (("chunk_size", "131072"), ("sync_speed_max", "5000"), ("bitmap", "internal")):
        with pytest.raises(BlockedError, match=words):
            await cut(path).plan(MD0, key, value)


async def test_a_way_back_needs_its_own_file_and_no_other() -> None:
    back = await cut("/sys/block/md0/md/degraded").back(MD0, "sync_speed_max", "5000", {})
    assert (back.before, back.after) == ("system", "5000")


async def test_an_array_whose_missing_members_are_not_told_is_not_optimal() -> None:
    (found,) = (await cut("/sys/block/md0/md/degraded").inventory()).arrays
    assert (found.state, found.why) == (State.UNKNOWN, "")


async def test_no_reshape_is_planned_on_half_of_what_a_member_holds() -> None:
    host = MdHost(array("raid5"))
    host.stats["/var/lib"] = FileStat(kind="directory", size=0)
    whole = room(176).stdout
    host.answers["--examine"] = Completed(returncode=0, stdout=whole[: whole.index("Array State")], stderr="")
    with pytest.raises(BlockedError, match="--examine /dev/sda: incomplete output: `Array State` is missing"):
        await MdRaid(host).plan(MD0, "chunk_size", "131072")


async def test_what_mdadm_says_while_it_dies_is_told_and_an_array_is_not_made_anew_without_its_name() -> None:
    host = MdHost(array("raid10"))
    host.answers["--detail"] = Completed(returncode=127, stdout="", stderr="mdadm: error while loading libudev.so.1")
    (problem,) = (await MdRaid(host).inventory()).problems
    assert problem.message == "/sbin/mdadm reports: mdadm: error while loading libudev.so.1 (exit status 127)."
    with pytest.raises(BlockedError, match=r"libudev\.so\.1"):
        await MdRaid(host).plan(MD0, "layout", "f2")
    assert (await MdRaid(host).plan(MD0, "sync_speed_max", "5000")).writes


async def test_a_platform_behind_which_the_disks_are_cut_off_is_not_said_to_be_the_arrays() -> None:
    host = container(VROC[: VROC.index("          Port1")])
    found = await MdRaid(host).inventory()
    assert [one for one in found.problems if "--detail-platform: incomplete output" in one.message]
    assert "Platform" not in {fact.label for one in found.arrays for fact in one.facts}
