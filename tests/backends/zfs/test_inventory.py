"""What is listed of ZFS: pools with their disks, volumes as block devices, few filesystems of many."""

from __future__ import annotations

import pytest

from backends.host import Command, Completed
from backends.model import Array, Level, State
from backends.registry import MachineBackends
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.linux import linux_rack
from backends.simulator.rack import Rack
from backends.simulator.zfs.pool import VOLUME, Dataset
from backends.vendors.zfs.backend import Zfs
from backends.vendors.zfs.facts import is_name, parse_datasets
from backends.vendors.zfs.inventory import MOST, target_of
from tests.backends.simulator.asking import FAST
from tests.backends.zfs.texts import RESILVERING
from tests.case_loop import loop_over


class Counting(SimulatedHost):
    """Counts the programs that are run."""

    runs = 0

    async def run(self, command: Command) -> Completed:
        self.runs += 1
        return await super().run(command)


@pytest.fixture
def rack() -> Rack:
    return linux_rack()


async def arrays(rack: Rack) -> dict[str, Array]:
    found = await Zfs(SimulatedHost(rack, speed=FAST)).inventory()
    assert found.problems == ()
    return {one.name or "": one for one in found.arrays}


def facts(array: Array) -> dict[str, str]:
    return {fact.label: fact.value for fact in array.facts}


async def test_a_pool_is_an_array_of_its_disks(rack: Rack) -> None:
    pool = (await arrays(rack))["tank"]
    assert (pool.level, pool.state, pool.size_bytes) == (Level.RAID1, State.OPTIMAL, rack.pools["tank"].size_bytes)
    assert [member.address for member in pool.members] == ["sdn", "sdo"]
    assert facts(pool)["Layout"] == "mirror"


async def test_a_volume_is_its_block_device_and_a_filesystem_its_folder(rack: Rack) -> None:
    found = await arrays(rack)
    volume, files = found["tank/vm"], found["tank/files"]
    assert (volume.level, volume.device, volume.size_bytes) == (Level.ZVOL, "/dev/zd0", 100 << 30)
    assert (files.level, files.device, facts(files)["Mounted on"]) == (Level.FILESYSTEM, None, "/tank/files")


async def test_each_thing_is_shown_once_beside_what_the_kernel_has() -> None:
    found = await MachineBackends.of(SimulatedHost(linux_rack(), speed=FAST)).probe()
    assert [one.target.address for one in found.at("/dev/zd0")] == ["tank/vm", "zd0"]
    assert {str(one.array) for one in found.drives if one.device in ("/dev/sdn", "/dev/sdo")} == {"zfs:tank"}


async def test_of_thousands_of_filesystems_few_are_listed_and_the_rest_counted(rack: Rack) -> None:
    datasets = rack.pools["tank"].datasets
    datasets |= {f"tank/files/home{at}": Dataset(guid=1000 + at) for at in range(4000)}
    datasets |= {f"tank/files/vm{at}": Dataset(guid=9000 + at, kind=VOLUME, node=f"zd{at * 16}") for at in (1, 2)}
    datasets["tank/files/home7"].values["recordsize"] = "16384"
    datasets["tank/plain"] = Dataset(guid=7)
    host = Counting(rack, speed=FAST)
    found = await Zfs(host).inventory()
    names = [one.name for one in found.arrays]
    own = ["tank/files/home7", "tank/files/vm1", "tank/files/vm2", "tank/plain"]
    assert names == ["tank", "tank/files", "tank/vm", *own]
    assert facts(found.arrays[0])["Filesystems"].startswith("3999 more")
    assert host.runs < 8


async def test_no_more_than_some_are_listed_though_all_have_values_of_their_own(rack: Rack) -> None:
    own = {f"tank/f{at}": Dataset(guid=50 + at, values={"atime": "off"}) for at in range(MOST + 50)}
    rack.pools["tank"].datasets |= own
    found = await arrays(rack)
    assert sum(one.level is Level.FILESYSTEM for one in found.values()) == MOST


async def test_what_is_listed_is_read_without_asking_for_each(rack: Rack) -> None:
    host = Counting(rack, speed=FAST)
    zfs = Zfs(host)
    await zfs.inventory()
    before = host.runs
    kept = await zfs.readings(target_of("tank/files"))
    assert host.runs == before
    assert kept == await zfs.read(target_of("tank/files"))
    await zfs.apply(await zfs.plan(target_of("tank"), "compression", "off"))
    assert (await zfs.readings(target_of("tank/files")))["compression"].effective == "off"


class Failing(SimulatedHost):
    """Says something else to `zpool status`."""

    said = Completed(returncode=0, stdout=RESILVERING, stderr="")

    async def run(self, command: Command) -> Completed:
        return self.said if "status" in command.argv else await super().run(command)


async def test_a_pool_of_which_nothing_is_told_is_listed_as_the_kernel_has_it() -> None:
    found = await Zfs(Failing(linux_rack(), speed=FAST)).inventory()
    assert (found.arrays[0].name, found.arrays[0].state) == ("tank", State.OPTIMAL)
    assert "incomplete output" in found.problems[0].message


async def test_a_tool_that_fails_is_a_problem_in_its_words() -> None:
    host = Failing(linux_rack(), speed=FAST)
    host.said = Completed(returncode=1, stdout="", stderr="internal error: out of memory\n")
    found = await Zfs(host).inventory()
    assert [problem.message for problem in found.problems] == ["zpool status failed: internal error: out of memory."]
    assert found.controllers[0].model == "OpenZFS"


async def test_an_answer_that_was_cut_is_none() -> None:
    host = Failing(linux_rack(), speed=FAST)
    host.said = Completed(returncode=0, stdout=RESILVERING, stderr="", truncated=True)
    found = await Zfs(host).inventory()
    words = "zpool status failed: its output is too long"
    assert [problem.message for problem in found.problems] == [f"{words}."]
    assert {(one.name, one.level, one.why) for one in found.arrays} == {
        ("tank", Level.UNKNOWN, words),
        ("tank/vm", Level.ZVOL, words),
    }


class Toolless(SimulatedHost):
    """Has the module without its programs."""

    def which(self, names: object) -> str | None:
        return None


async def test_a_module_without_programs_is_said_so() -> None:
    zfs = Zfs(Toolless(linux_rack(), speed=FAST))
    assert "not installed" in (await zfs.inventory()).problems[0].message
    assert (await zfs.diagnose())[0].hint == "Install zfsutils-linux."


async def test_a_machine_without_the_module_is_left_alone() -> None:
    rack = linux_rack()
    rack.zfs = None
    rack.pools.clear()
    found = await MachineBackends.of(SimulatedHost(rack, speed=FAST)).probe()
    targets = [*(one.target for one in found.controllers), *(one.target for one in found.arrays)]
    assert not [one for one in targets if one.backend == "zfs"]


@loop_over(
    ("name", "is_one"),
    [
        ("tank", True),
        ("tank/a_b.c:d-e", True),
        ("my pool/some files", True),
        ("tank/", False),
        ("/tank", False),
        ("-r", False),
        ("tank//a", False),
        ("tank/\x1b[31m", False),
        ("tank/[red]", False),
        ("tank@snap", False),
        ("tank/ä", False),
        ("a" * 256, False),
    ],
)
def test_only_what_zfs_allows_is_a_name(name: str, is_one: bool) -> None:
    assert is_name(name) is is_one
    assert bool(parse_datasets(f"{name}\tfilesystem\t/x\tyes\t-\t-\n")) is is_one


def test_a_mountpoint_that_holds_an_escape_is_no_folder() -> None:
    (found,) = parse_datasets("tank\tfilesystem\t/tank/\x1b]0;x\x07\tyes\t-\t-\n")
    assert found.mountpoint is None


async def test_a_volume_whose_name_has_blanks_is_found_by_its_link(rack: Rack) -> None:
    rack.pools["tank"].datasets["tank/my vm"] = Dataset(guid=5, kind=VOLUME, size_bytes=1 << 30, node="zd16")
    host = SimulatedHost(rack, speed=FAST)
    link = host.link

    async def made_by_udev(path: str) -> str | None:
        return await link(path.replace("+", " "))

    host.link = made_by_udev  # type: ignore[method-assign]
    found = {one.name: one.device for one in (await Zfs(host).inventory()).arrays}
    assert found["tank/my vm"] == "/dev/zd16"
