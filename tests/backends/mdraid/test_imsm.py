"""Containers and volumes of Intel's metadata (VROC, RST), as Linux 6.1 and mdadm 4.2 told of them on loop devices."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.privsep import read_policy
from backends.errors import BlockedError
from backends.host import Completed
from backends.model import Array, Level, Scope, State, Target
from backends.settings import Risk
from backends.testing.conformance import Conformance
from backends.topology import scan_topology
from backends.vendors.mdraid.backend import MdRaid
from backends.vendors.mdraid.details import ASK_PLATFORM, ImsmPlatform, parse_platforms
from backends.vendors.mdraid.facts import parse_mdstat
from tests.backends.mdraid.machines import MdHost, array

MD126 = Target(backend="md", address="md126", scope=Scope.ARRAY)
MD127 = Target(backend="md", address="md127", scope=Scope.ARRAY)

STAT = """Personalities : [raid0] [raid1] [raid10] [raid6] [raid5] [raid4]
md125 : active (auto-read-only) raid1 sdd[1] sdb[0]
      65536 blocks super external:/md127/1 [2/2] [UU]

md126 : active raid5 sdc[2] sdd[1] sda[0]
      131072 blocks super external:/md127/0 level 5, 64k chunk, algorithm 0 [3/3] [UUU]

md127 : inactive sdd[3](S) sdc[2](S) sdb[1](S) sda[0](S)
      4420 blocks super external:imsm

unused devices: <none>
"""

EXPORT = (
    "MD_LEVEL=raid5\nMD_DEVICES=3\nMD_CONTAINER=/dev/md127\nMD_MEMBER=0\nMD_UUID=d34ae9ba:11179edc:8f1ecb7a:814fe985\n"
    "MD_DEVICE_dev_sda_ROLE=0\nMD_DEVICE_dev_sda_DEV=/dev/sda\nMD_DEVICE_dev_sdb_ROLE=spare\n"
    "MD_DEVICE_dev_sdd_ROLE=1\nMD_DEVICE_dev_sdd_DEV=/dev/sdd\nMD_DEVICE_dev_sdc_ROLE=2\n"
)
"""Of all three at once."""

NO_PLATFORM = "mdadm: imsm capabilities not found for controller: /sys/devices/pci0000:00/0000:00:1f.2 (type SATA)\n"

VROC = """       Platform : Intel(R) Virtual RAID on CPU
        Version : 8.0.3.1002
    RAID Levels : raid0 raid1 raid10 raid5
    Chunk Sizes : 4k 8k 16k 32k 64k 128k
    2TB volumes : supported
      2TB disks : supported
      Max Disks : 8
    Max Volumes : 2 per array, 8 per controller
 I/O Controller : /sys/devices/pci0000:00/0000:00:17.0 (SATA)
          Port1 : /dev/sda (ZRT0S2FM)
          Port0 : - no device attached -

       Platform : Intel(R) Virtual RAID on CPU
        Version : 8.0.3.1002
    RAID Levels : raid0 raid1 raid10
    Chunk Sizes : 4k 8k 16k 32k 64k 128k
    2TB volumes : supported
      2TB disks : supported
      Max Disks : 96
    Max Volumes : 2 per array, 24 per controller
 3rd party NVMe : supported
 I/O Controller : /sys/devices/pci0000:8d/0000:8d:00.5 (VMD)
 NVMe under VMD : /dev/nvme0n1 (633FC084FCVK)
"""
"""In the form of a public answer of a server with a standard key: no RAID 5 for NVMe drives."""

_ZEROS = "00000000-0000-0000-0000-000000000000"


def machine(platform: str = "", **volume: str) -> MdHost:
    """A container of four disks with a RAID 5 on three and a mirror on two of them."""
    disks = ("sda", "sdb", "sdc", "sdd")
    spares = dict.fromkeys(disks, "spare,external_bbl")
    box = {"metadata_version": "external:imsm", "array_state": "inactive", "consistency_policy": "unknown"}
    container = array("", disks, "md127", flags=spares, uuid=_ZEROS, more={**box, "raid_disks": "", "layout": "0"})
    own = {"metadata_version": "external:/md127/0", "safe_mode_delay": "4.000", "layout": "0", "uuid": _ZEROS, **volume}
    parity = array("raid5", ("sda", "sdd", "sdc"), "md126", more=own)
    mirror = array("raid1", ("sdb", "sdd"), "md125", more={**own, "metadata_version": "external:/md127/1"})
    host = MdHost(container, parity, mirror, {"/proc/mdstat": STAT})
    for name, members in (("md127", disks), ("md126", ("sda", "sdd", "sdc")), ("md125", ("sdb", "sdd"))):
        for member in members:
            host.files |= {f"/sys/block/{name}/slaves/{member}": "", f"/sys/block/{member}/holders/{name}": ""}
    host.files["/sys/block/md127/size"] = "0"
    host.answers["--detail"] = Completed(returncode=0, stdout=EXPORT, stderr="")
    absent = Completed(returncode=1, stdout="", stderr=NO_PLATFORM)
    host.answers["--detail-platform"] = Completed(returncode=0, stdout=platform, stderr="") if platform else absent
    return host


class TestVolume(Conformance):
    @pytest.fixture(params=["md125", "md126"])
    def targets(self, request: pytest.FixtureRequest) -> tuple[Target, ...]:
        return (replace(MD126, address=str(request.param)),)

    @pytest.fixture
    async def backend(self) -> MdRaid:
        found = MdRaid(machine())
        await found.inventory()
        return found


async def arrays(host: MdHost) -> dict[str, Array]:
    return {one.target.address: one for one in (await MdRaid(host).inventory()).arrays}


def facts(found: Array) -> dict[str, str]:
    return {fact.label: fact.value for fact in found.facts}


async def test_a_container_holds_its_volumes_and_is_well_although_it_never_runs() -> None:
    found = (await arrays(machine()))["md127"]
    assert (found.level, found.state, found.why) == (Level.UNKNOWN, State.ONLINE, "")
    assert "container with imsm metadata" in facts(found)["Kind"]
    assert facts(found)["Volumes"] == "md125, md126"
    assert [str(one) for one in found.members] == ["block:sda", "block:sdb", "block:sdc", "block:sdd"]
    shown = facts(found)
    assert (shown["Disk sda"], shown["Disk sdd"]) == ("/dev/sda, in md126", "/dev/sdd, in md125, md126")
    assert {"Array state", "Consistency policy", "Spare sda"}.isdisjoint(shown)


async def test_a_disk_in_no_volume_is_the_containers_spare() -> None:
    host = machine()
    host.files = {path: text for path, text in host.files.items() if not path.startswith("/sys/block/md125/md/")}
    assert facts((await arrays(host))["md127"])["Disk sdb"] == "/dev/sdb, spare"


async def test_a_volume_has_the_disks_it_is_made_of_and_its_own_uuid() -> None:
    found = (await arrays(machine()))["md126"]
    assert (found.level, found.state) == (Level.RAID5, State.OPTIMAL)
    assert [str(one) for one in found.members] == ["block:sda", "block:sdd", "block:sdc"]
    assert facts(found)["Kind"] == "volume of the container md127 (imsm)"
    assert facts(found)["UUID"] == "d34ae9ba:11179edc:8f1ecb7a:814fe985"


async def test_nothing_is_set_on_a_container() -> None:
    backend = MdRaid(machine())
    await backend.inventory()
    assert backend.settings(MD127) == ()
    assert await backend.read(MD127) == {}


async def test_what_intels_metadata_do_not_keep_is_not_offered() -> None:
    readings = await MdRaid(machine()).read(MD126)
    mirror = await MdRaid(machine()).read(replace(MD126, address="md125"))
    words = "its metadata is that of the container md127"
    blocked = (readings["bitmap"], readings["chunk_size"], readings["layout"])
    marks = (mirror["write_mostly.sdb"], mirror["failfast.sdb"])
    assert {one.availability.why_not for one in (*blocked, *marks)} == {words}
    for key in ("stripe_cache_size", "group_thread_cnt", "sync_speed_max", "safe_mode_delay"):
        assert readings[key].availability.available, key


async def test_a_partial_parity_log_is_set_and_taken_back() -> None:
    host = machine()
    backend = MdRaid(host)
    change = await backend.plan(MD126, "consistency_policy", "ppl")
    assert [one.argv for one in change.writes] == [("/sbin/mdadm", "--grow", "--consistency-policy=ppl", "/dev/md126")]
    host.files["/sys/block/md126/md/consistency_policy"] = "ppl"
    back = await backend.plan(MD126, "consistency_policy", "resync")
    assert (back.risk, back.undo) == (Risk.POWER_LOSS, change.writes)


@pytest.mark.parametrize("metadata", ["external:ddf", "external:imsm2"])
async def test_of_other_metadata_nobody_knows_that(metadata: str) -> None:
    host = machine()
    host.files["/sys/block/md127/md/metadata_version"] = metadata
    with pytest.raises(BlockedError, match="that of the container md127"):
        await MdRaid(host).plan(MD126, "consistency_policy", "ppl")


async def test_while_a_volume_is_reshaped_the_others_are_frozen() -> None:
    host = machine(metadata_version="external:-md127/0")
    with pytest.raises(BlockedError, match="the volumes of md127 are frozen"):
        await MdRaid(host).plan(MD126, "consistency_policy", "ppl")
    assert facts((await arrays(host))["md126"])["Kind"].startswith("volume of the container md127")


async def test_volumes_without_a_uuid_of_the_kernel_are_not_one_disk() -> None:
    """The kernel tells zeros for each of them."""
    picture = await scan_topology(machine())
    assert picture.twins == {}
    assert {one.identity.wwn for one in (await arrays(machine())).values() if one.identity} == {None}


async def test_every_disk_of_a_container_is_in_use() -> None:
    picture = await scan_topology(machine())
    for name in ("sda", "sdb", "sdc", "sdd"):
        assert any(use.detail == "a disk of the container /dev/md127 (imsm)" for use in picture.uses(name)), name


def test_mdstat_tells_of_volumes_as_of_arrays() -> None:
    rows = parse_mdstat(STAT)
    assert {name: (row.state, row.level) for name, row in rows.items()} == {
        "md125": ("active (auto-read-only)", "raid1"),
        "md126": ("active", "raid5"),
        "md127": ("inactive", None),
    }


async def test_a_machine_without_intels_firmware_says_so() -> None:
    assert facts((await arrays(machine()))["md127"])["Platform"] == "none: mdadm finds no Intel RAID firmware"


async def test_firmware_tells_what_it_and_the_key_allow() -> None:
    shown = facts((await arrays(machine(VROC)))["md127"])
    assert shown["Platform"] == "Intel(R) Virtual RAID on CPU 8.0.3.1002"
    assert shown["Platform: levels"] == "raid0, raid1, raid10, raid5"
    assert (shown["Platform: most disks"], shown["Platform: most volumes"]) == ("8", "2 per array, 8 per controller")


def test_each_platform_is_one_of_its_own() -> None:
    sata, vmd = parse_platforms(VROC)
    assert (sata.disks, vmd.disks) == (("/dev/sda",), ("/dev/nvme0n1",))
    assert "raid5" not in vmd.levels
    assert (vmd.max_disks, vmd.chunks[-1], vmd.other_makers) == (96, "128k", "supported")


@pytest.mark.parametrize("text", ["", NO_PLATFORM, "Version : 1.2\nRAID Levels : raid0\n", "\0" * 300])
def test_what_names_no_platform_is_none(text: str) -> None:
    assert parse_platforms(text) == ()


async def test_disks_of_another_controller_are_told() -> None:
    found = await MdRaid(machine(VROC.replace("/dev/sda", "/dev/sdz"))).inventory()
    (problem,) = found.problems
    assert problem.message.endswith("none of the disks of md127 is in it.")
    assert "Platform" not in {fact.label for array in found.arrays for fact in array.facts}


@pytest.mark.parametrize("host", [MdHost(root=False), MdHost(mdadm=False)], ids=["no root", "no mdadm"])
async def test_who_cannot_ask_says_nothing_of_it(host: MdHost) -> None:
    host.files |= machine().files
    assert "Platform" not in facts((await arrays(host))["md127"])


def test_the_helper_of_root_asks_that_and_nothing_besides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_policy, "find_program", lambda names: f"/sbin/{names[0]}")
    assert read_policy.command_of(("mdadm", *ASK_PLATFORM)) == ("/sbin/mdadm", *ASK_PLATFORM)
    assert read_policy.command_of(("mdadm", *ASK_PLATFORM, "--export")) is None


def test_a_platform_without_figures_is_shown_by_its_name() -> None:
    assert [fact.label for fact in ImsmPlatform(name="Intel(R) RST").facts()] == ["Platform"]
