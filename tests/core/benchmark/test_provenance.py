"""A run remembers what it came from: devices, slot, interrupts, queues and policies, as the kernel tells them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from app.core.benchmark.provenance import provenance
from backends.identity import Identity
from backends.merge_inventory import join_views
from backends.model import Array, Controller, Drive, Inventory, Level, Scope, Target
from backends.registry import MachineBackends
from backends.settings import Reading
from backends.simulator.host import SimulatedHost
from backends.simulator.state_file import RackFile
from backends.system.recorded import RecordingHost, ReplayHost

PCI = "/sys/bus/pci/devices/0000:3b:00.0"
SDA_FOLDER = "/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/host0/target0:2:0/0:2:0:0/block/sda"


def host(folder: Path, files: dict[str, str], **parts: Any) -> ReplayHost:
    data = {"format": 1, "name": "pear", "root": True, "files": files, "lists": {}, "links": {}, **parts}
    (folder / "machine.json").write_text(json.dumps(data))
    return ReplayHost(folder)


def on_a_slot(folder: Path, **more: str) -> ReplayHost:
    files = {
        f"{PCI}/numa_node": "1",
        f"{PCI}/current_link_speed": "5.0 GT/s PCIe",
        f"{PCI}/current_link_width": "4",
        f"{PCI}/max_link_speed": "8.0 GT/s PCIe",
        f"{PCI}/max_link_width": "8",
        "/sys/module/megaraid_sas/version": "07.719",
        "/proc/irq/9/smp_affinity_list": "0-3",
        "/proc/irq/40/smp_affinity_list": "4-7",
        **more,
    }
    links = {"/sys/block/sda": SDA_FOLDER, f"{PCI}/driver": "/sys/bus/pci/drivers/megaraid_sas"}
    return host(folder, files, links=links, lists={f"{PCI}/msi_irqs/*": [f"{PCI}/msi_irqs/40", f"{PCI}/msi_irqs/9"]})


def disk(name: str = "sda", *, serial: str | None = None, backing: str | None = None) -> Drive:
    identity = Identity(name=name, serial=serial)
    target = Target(backend="block", address=name)
    return Drive(
        target=target,
        device=f"/dev/{name}",
        model="D7",
        serial=serial,
        firmware="12",
        identity=identity,
        backing=backing,
    )


PLAIN = Inventory(drives=(disk(),))


async def test_the_slot_of_the_controller_is_told_with_what_it_could_be(tmp_path: Path) -> None:
    found = await provenance(on_a_slot(tmp_path), PLAIN, "/dev/sda")
    slot = {key: found[key] for key in ("pci", "driver", "numa_node", "pcie_link", "pcie_link_max")}
    assert slot == {
        "pci": "0000:3b:00.0",
        "driver": "megaraid_sas 07.719",
        "numa_node": "1",
        "pcie_link": "5.0 GT/s x4",
        "pcie_link_max": "8.0 GT/s x8",
    }


async def test_interrupts_are_told_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    assert (await provenance(on_a_slot(tmp_path), PLAIN, "/dev/sda"))["irq_affinity"] == "0-3, 4-7"


async def test_a_function_without_messages_has_the_interrupt_of_its_line(tmp_path: Path) -> None:
    files = {f"{PCI}/irq": "16", "/proc/irq/16/smp_affinity_list": "0"}
    pear = host(tmp_path, files, links={"/sys/block/sda": SDA_FOLDER})
    assert (await provenance(pear, PLAIN, "/dev/sda"))["irq_affinity"] == "0"


async def test_what_nobody_tells_is_left_out(tmp_path: Path) -> None:
    assert await provenance(host(tmp_path, {}), Inventory(), "/dev/sda") == {}


async def test_a_run_on_an_unknown_disk_still_knows_its_processors(tmp_path: Path) -> None:
    pear = host(tmp_path, {"/sys/devices/system/cpu/intel_pstate/no_turbo": "1"})
    found = await provenance(pear, Inventory(), None, size_bytes=4096, governors={"powersave": 3, "performance": 1})
    assert found == {"size_bytes": "4096", "governor": "powersave on 3, performance on 1", "turbo": "off"}


async def test_boost_of_other_processors_is_turbo_too(tmp_path: Path) -> None:
    pear = host(tmp_path, {"/sys/devices/system/cpu/cpufreq/boost": "1"})
    assert (await provenance(pear, Inventory(), None))["turbo"] == "on"


async def test_a_loop_device_is_its_file_and_not_its_name(tmp_path: Path) -> None:
    stats = {"/srv/disk.img": {"kind": "file", "size": 8192, "devno": None, "place": "8:1:77"}}
    pear = host(tmp_path, {}, stats=stats)
    found = await provenance(pear, Inventory(drives=(disk("loop7", backing="/srv/disk.img"),)), "/dev/loop7")
    assert {key: text for key, text in found.items() if key.startswith("backing")} == {
        "backing_file": "/srv/disk.img",
        "backing_inode": "8:1:77",
        "backing_bytes": "8192",
    }


async def test_a_backing_file_that_is_gone_is_known_by_its_name_alone(tmp_path: Path) -> None:
    found = await provenance(host(tmp_path, {}), Inventory(drives=(disk("loop7", backing="/gone"),)), "/dev/loop7")
    assert [key for key in found if key.startswith("backing")] == ["backing_file"]


async def test_queue_files_that_are_no_settings_are_told_and_settings_are_not_told_twice(tmp_path: Path) -> None:
    queue = "/sys/block/sda/queue"
    files = {f"{queue}/wbt_lat_usec": "75000", f"{queue}/fua": "1", f"{queue}/iosched/read_expire": "500"}
    lists = {f"{queue}/*": list(files)[:2], f"{queue}/iosched/*": list(files)[2:]}
    readings = {"wbt_lat_usec": ("Writeback throttling", Reading(now="75000"))}
    found = await provenance(host(tmp_path, files, lists=lists), PLAIN, "/dev/sda", readings=readings)
    assert {key: found[key] for key in found if "queue" in key} == {
        "queue_fua": "1",
        "queue_iosched_read_expire": "500",
    }


async def test_the_folder_of_a_scheduler_is_not_read_as_a_file(tmp_path: Path) -> None:
    queue = "/sys/block/sda/queue"
    lists = {f"{queue}/*": [f"{queue}/fua", f"{queue}/iosched"]}
    pear = RecordingHost(host(tmp_path, {f"{queue}/fua": "1"}, lists=lists))
    await provenance(pear, PLAIN, "/dev/sda")
    pear.save(tmp_path / "asked")
    asked = json.loads((tmp_path / "asked/machine.json").read_text())["files"]
    assert (f"{queue}/fua" in asked, f"{queue}/iosched" in asked) == (True, False)


async def test_a_policy_that_is_not_in_force_is_told_as_what_is(tmp_path: Path) -> None:
    readings = {"write_cache": ("Write cache", Reading(now="write-back", effective="write-through"))}
    found = await provenance(host(tmp_path, {}), PLAIN, "/dev/sda", readings=readings)
    assert found["in_force_write_cache"] == "write-through"


def md_of(*drives: Drive) -> Inventory:
    array = Array(
        target=Target(backend="md", address="md0", scope=Scope.ARRAY),
        level=Level.RAID1,
        device="/dev/md0",
        members=tuple(drive.target for drive in drives),
        strip_bytes=65536,
    )
    return Inventory(arrays=(array,), drives=drives)


def mirror(folder: Path, first: str, second: str) -> ReplayHost:
    names = (first, second)
    files = {f"/sys/block/{first}/queue/scheduler": "none", f"/sys/block/{second}/queue/scheduler": "bfq"}
    lists = {"/sys/block/md0/slaves/*": [f"/sys/block/md0/slaves/{name}" for name in names]}
    lists |= {f"/sys/block/{name}/queue/*": [f"/sys/block/{name}/queue/scheduler"] for name in names}
    return host(folder, files, lists=lists)


async def test_members_are_told_in_an_order_that_new_names_do_not_change(tmp_path: Path) -> None:
    one, other = disk("sda", serial="S1"), disk("sdb", serial="S2")
    moved, too = disk("sdb", serial="S1"), disk("sda", serial="S2")
    before = await provenance(mirror(tmp_path, "sda", "sdb"), md_of(one, other), "/dev/md0")
    after = await provenance(mirror(tmp_path, "sdb", "sda"), md_of(moved, too), "/dev/md0")
    assert before == after


async def test_what_is_alike_of_all_members_is_told_once_and_the_rest_of_each(tmp_path: Path) -> None:
    inventory = md_of(disk("sda", serial="S1"), disk("sdb", serial="S2"))
    found = await provenance(mirror(tmp_path, "sda", "sdb"), inventory, "/dev/md0")
    told = {key: found[key] for key in ("drive_model", "drive_serial", "member_queue_scheduler", "array_members")}
    assert told == {
        "drive_model": "D7",
        "drive_serial": "S1; S2",
        "member_queue_scheduler": "none; bfq",
        "array_members": "2",
    }


async def test_a_volume_of_a_card_is_told_with_its_members_and_the_cards_firmware(tmp_path: Path) -> None:
    card = Target(backend="megaraid", address="/c0", scope=Scope.CONTROLLER)
    member = Drive(target=Target(backend="megaraid", address="/c0/e1/s1"), model="X", serial="P1", controller=card)
    volume = Array(
        target=Target(backend="megaraid", address="/c0/v0", scope=Scope.ARRAY),
        controller=card,
        device="/dev/sda",
        members=(member.target,),
    )
    owner = Controller(target=card, vendor="megaraid", model="9361", firmware="24.21", driver="megaraid_sas 07.719")
    inventory = Inventory(controllers=(owner,), arrays=(volume,), drives=(member, disk()))
    found = await provenance(host(tmp_path, {}), inventory, "/dev/sda")
    told = {key: found[key] for key in ("controller", "controller_firmware", "drive_serial", "driver")}
    assert told == {
        "controller": "9361",
        "controller_firmware": "24.21",
        "drive_serial": "P1",
        "driver": "megaraid_sas 07.719",
    }


async def test_what_a_device_says_is_made_harmless(tmp_path: Path) -> None:
    pear = on_a_slot(tmp_path, **{"/proc/irq/9/smp_affinity_list": "0\x1b]0;owned\x07\n" + "x" * 5000})
    affinity = (await provenance(pear, PLAIN, "/dev/sda"))["irq_affinity"]
    assert (affinity.isprintable(), len(affinity)) == (True, 400)


async def test_a_recording_tells_the_same_as_the_machine(tmp_path: Path) -> None:
    (tmp_path / "live").mkdir()
    live = RecordingHost(on_a_slot(tmp_path / "live"))
    told = await provenance(live, PLAIN, "/dev/sda")
    live.save(tmp_path / "again")
    assert await provenance(ReplayHost(tmp_path / "again"), PLAIN, "/dev/sda") == told


async def test_the_rack_tells_the_slot_of_its_cards(tmp_path: Path) -> None:
    rack = SimulatedHost(RackFile(tmp_path / "rack.json"))
    found = await provenance(rack, join_views(await MachineBackends.of(rack).probe()), "/dev/sdb")
    told = {key: found[key] for key in ("driver", "numa_node", "pcie_link", "turbo", "controller", "array_level")}
    assert told == {
        "driver": "megaraid_sas 07.719.03.00-rc1",
        "numa_node": "0",
        "pcie_link": "5.0 GT/s x8",
        "turbo": "on",
        "controller": "LSI MegaRAID SAS 9280-24i4e",
        "array_level": "raid5",
    }
