"""Faults planted into racks and recordings, below all that reads them: in a tool's answer or a file of the kernel.

Each comes with a near miss: the same machine just inside the limit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from backends.host import Command, Completed, Host
from backends.simulator.host import SimulatedHost
from backends.simulator.profiles.hpe import hpe_rack
from backends.simulator.profiles.linux import linux_rack
from backends.simulator.profiles.lsi import demo_rack
from backends.system.recorded import ReplayHost
from backends.system.wrapped import HostWrapper
from tests.backends.fakes import QUEUE
from tests.backends.nvme.drives import PlayedDrive
from tests.backends.simulator.asking import FAST

RECORDED = Path(__file__).parents[2] / "machines" / "storage-server"


def _nvme() -> PlayedDrive:
    """One NVMe drive in its fastest format."""
    drive = PlayedDrive()
    drive.space["flbas"] = 1
    return drive


MACHINES: Mapping[str, Callable[[], Host]] = {
    "lsi": lambda: SimulatedHost(demo_rack(), speed=FAST),
    "hpe": lambda: SimulatedHost(hpe_rack(), speed=FAST),
    "linux": lambda: SimulatedHost(linux_rack(), speed=FAST),
    "nvme": _nvme,
    "recording": lambda: ReplayHost(RECORDED),
}
"""What faults are planted into. lsi has some by itself, which count for nothing here."""


@dataclass(frozen=True, kw_only=True)
class Plant:
    """What is otherwise than on the machine as it is."""

    answers: Sequence[tuple[str, str, str]] = ()
    """Part of a command line, a pattern in what it prints, and what stands there instead, once."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Files with their text."""
    edits: Sequence[tuple[str, str, str]] = ()
    """A file, a pattern in it, and what stands there instead, once."""
    links: Mapping[str, str] = field(default_factory=dict)
    """Links, and what they lead to."""
    gone: tuple[str, ...] = ()
    """Paths that are not there."""


class PlantedHost(HostWrapper):
    """A host with something planted. `grown`: which of its answers and edits were met."""

    def __init__(self, inner: Host, plant: Plant) -> None:
        super().__init__(inner)
        self._plant = plant
        self.grown: set[tuple[str, str, str]] = set()

    def _changed(self, known: str, text: str, changes: Sequence[tuple[str, str, str]]) -> str:
        for change in changes:
            where, pattern, instead = change
            if where in known and re.search(pattern, text, re.DOTALL):
                self.grown.add(change)
                text = re.sub(pattern, instead, text, count=1, flags=re.DOTALL)
        return text

    async def run(self, command: Command) -> Completed:
        done = await super().run(command)
        told = self._changed(" ".join(command.argv), done.stdout, self._plant.answers)
        return Completed(returncode=done.returncode, stdout=told, stderr=done.stderr)

    async def read(self, path: str) -> str | None:
        return (await self.read_many((path,))).get(path)

    async def read_many(self, paths: Sequence[str]) -> Mapping[str, str]:
        found = {**await super().read_many(paths)}
        found |= {path: self._plant.files[path] for path in paths if path in self._plant.files}
        there = {path: text for path, text in found.items() if path not in self._plant.gone}
        return {path: self._changed(path, text, self._plant.edits) for path, text in there.items()}

    async def list(self, pattern: str) -> tuple[str, ...]:
        depth, wanted = pattern.count("/"), pattern.split("/")
        planted = {"/".join(path.split("/")[: depth + 1]) for path in (*self._plant.files, *self._plant.links)}
        fresh = {
            path for path in planted if path.count("/") == depth and all(map(fnmatchcase, path.split("/"), wanted))
        }
        return tuple(sorted((fresh | {*await super().list(pattern)}) - {*self._plant.gone}))

    async def link(self, path: str) -> str | None:
        return self._plant.links.get(path) or await super().link(path)


@dataclass(frozen=True, kw_only=True)
class PlantedFault:
    """A fault of one rule, and its near miss."""

    id: str
    """The rule."""
    machine: str
    """Where it is planted."""
    where: str
    """The place that has to be told."""
    fault: Plant
    near: Plant
    also: frozenset[str] = frozenset()
    """Other rules that the fault is one of as well."""
    near_is: frozenset[str] = frozenset()
    """Rules of which the near miss is a fault."""


STORCLI_BATTERY = r'("Battery State",\s*"Value": )"Optimal"'
HBA = "/sys/bus/pci/devices/0000:12:00.0"
PORT = "/sys/devices/pci0000:10/0000:10:02.0"
IRQS = {f"{HBA}/msi_irqs/40": "msix", f"{HBA}/msi_irqs/41": "msix"}
NODES = {"/sys/devices/system/node/node0/cpulist": "0-11", "/sys/devices/system/node/node1/cpulist": "12-23"}
MOUNTS = "/proc/self/mountinfo"
DATA = "36 1 8:224 / /data rw,relatime shared:1 - xfs /dev/sdo rw"
ROOT = r"( / / rw[^\n]* - (?:ext4|xfs) \S+ rw)"


def _file(path: str, text: str) -> Plant:
    return Plant(files={path: text})


def _answer(line: str, pattern: str, instead: str) -> Plant:
    return Plant(answers=((line, pattern, instead),))


def _root(options: str) -> Plant:
    """The root filesystem with more options."""
    return Plant(edits=((MOUNTS, ROOT, rf"\1,{options}"),))


def _data(options: str = "") -> Plant:
    """An XFS on the whole RAID 5 of seven data drives and strips of 64 KiB."""
    return Plant(edits=((MOUNTS, r"\Z", rf"\n{DATA}{options}\n"),))


def _port(lanes: int, width: int) -> Plant:
    """A card for eight lanes that has some of them, below a port."""
    port = {f"{PORT}/max_link_speed": "8.0 GT/s PCIe", f"{PORT}/max_link_width": str(lanes)}
    return Plant(files={f"{HBA}/current_link_width": str(width), **port}, links={HBA: f"{PORT}/0000:12:00.0"})


def _irqs(first: str, second: str, node: str = "0") -> Plant:
    cpus = {f"/proc/irq/{irq}/effective_affinity_list": text for irq, text in (("40", first), ("41", second))}
    return Plant(files={**IRQS, **cpus, f"{HBA}/numa_node": node, **(NODES if node == "1" else {})})


def _pool(ashift: int) -> Plant:
    """The mirror on disks of 4 KiB."""
    sectors = {f"/sys/block/{name}/queue/physical_block_size": "4096" for name in ("sdn", "sdo")}
    return Plant(files=sectors, answers=(("zpool get", r"ashift\t12\t", rf"ashift\t{ashift}\t"),))


def _volume(block: int) -> Plant:
    """The pool as RAID-Z1 of two disks, one of which has the data."""
    raidz = ("zpool status", r"mirror-0  ", "raidz1-0  ")
    return Plant(answers=(raidz, ("zfs get", r"(volblocksize\t)8192", rf"\g<1>{block}")))


def _smart(key: str, value: int) -> Plant:
    return _answer("smart-log", rf'"{key}": \d+', f'"{key}": {value}')


def _wwns(last: str) -> Plant:
    """Two drives of which one has this WWN."""
    wwns = {"sdc": "naa.5000c500a1b2c3d4", "sdd": f"naa.5000{last}"}
    return Plant(files={f"/sys/block/{name}/device/wwid": wwn for name, wwn in wwns.items()})


def _health(key: str, value: int) -> Plant:
    """A figure that the log of the played drive leaves out."""
    return _answer("smart-log", r"\A\{", f'{{"{key}": {value}, ')


def _discards(own: int, *lower: int) -> Plant:
    values = dict(zip(("md2", "nvme1n1", "nvme2n1"), (own, *lower), strict=True))
    return Plant(files={f"/sys/block/{name}/queue/discard_max_bytes": str(value) for name, value in values.items()})


def _cached(dirty: int) -> Plant:
    """The cache of vg0/mail with so many of 1297612 blocks not yet on the slow part."""
    blocks = r'("cache_total_blocks":"1297612".*?"cache_dirty_blocks":")0"'
    return _answer("lvs", blocks, rf'\g<1>{dirty}"')


def _virtual(queues: int) -> Plant:
    own = {f"queue/{key}": text for key, text in QUEUE.items()} | {"dev": "252:0", "size": "2097152", "ro": "0"}
    mq = {f"mq/{number}/cpu_list": "0" for number in range(queues)}
    files = {f"/sys/block/vda/{key}": text for key, text in (own | mq | {"device/vendor": "0x1af4"}).items()}
    return Plant(files=files, links={"/sys/block/vda/device/driver": "/sys/bus/virtio/drivers/virtio_blk"})


def _raid5(pages: int) -> Plant:
    """md1 with parity over four members."""
    return Plant(files={"/sys/block/md1/md/level": "raid5", "/sys/block/md1/md/stripe_cache_size": str(pages)})


def _journal(mode: str) -> Plant:
    """md1 with parity over three members and a journal, and what that is for."""
    texts = {"level": "raid5", "stripe_cache_size": "4096", "dev-sdf/state": "journal", "journal_mode": mode}
    return Plant(files={f"{MD1}/{name}": text for name, text in texts.items()})


def _attribute(counter: str, count: int) -> Plant:
    """A counter of a member of the first card."""
    return _answer(C0_PDS, rf'(s1 State": \{{[^}}]*"{counter}": )0', rf"\g<1>{count}")


def _locked(word: str) -> Plant:
    """What a member of the first card says of its lock."""
    return _answer(C0_PDS, r'(s1 Policies/Settings": \{[^}]*"Locked": )"No"', rf'\1"{word}"')


def _bay(state: str) -> Plant:
    """Another state of a drive in no array."""
    return _answer("/c0", r'("245:4",\s*"DID": 12,\s*"State": )"UGood"', rf'\1"{state}"')


def _bad_blocks(word: str) -> Plant:
    """What the first virtual drive says of bad blocks."""
    return _answer(C0_VDS, r'("VD0 Properties": \{)', rf'\1"Bad Blocks Exist": "{word}", ')


def _rebuilds(percent: int) -> Plant:
    return _answer(C0_ALL, r'("Rebuild Rate",\s*"Current": )"30 %"', rf'\g<1>"{percent} %"')


def _trimmed(*, timer: bool) -> Plant:
    units = {"/etc/systemd/system/timers.target.wants/fstrim.timer": ""} if timer else {}
    return Plant(edits=_root("discard").edits, files=units)


def _paths(count: int) -> Plant:
    folder = "/sys/class/nvme-subsystem/nvme-subsys0"
    ways = {f"{folder}/nvme{number}/state": "live" for number in range(count)}
    return Plant(files={f"{folder}/iopolicy": "numa", **ways})


def _case(
    id: str, machine: str, where: str, fault: Plant, near: Plant, also: str = "", near_is: str = ""
) -> PlantedFault:
    others, own = frozenset(also.split()), frozenset(near_is.split())
    return PlantedFault(id=id, machine=machine, where=where, fault=fault, near=near, also=others, near_is=own)


def _governor(name: str) -> Plant:
    return _file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", name)


def _zfs(key: str, value: str) -> Plant:
    """Return the volume tank/vm with a value of its own."""
    return _answer("zfs get", rf"(tank/vm\t{key}\t)\S+\t-\t\S+", rf"\g<1>{value}\t-\tlocal")


def _nvme_state(state: str) -> Plant:
    return _file("/sys/class/nvme/nvme7/state", state)


def _chip(celsius: int) -> Plant:
    return _answer("/c1 show all", r'("ROC temperature\(Degree Celsius\)": )\d+', rf"\g<1>{celsius}")


def _vault(celsius: int) -> Plant:
    return _answer("/c1/cv show all", r'("Temperature",\s*"Value": ")\d+', rf"\g<1>{celsius}")


def _throttling(words: str) -> Plant:
    return _answer("fio-status", r'("write_throttling_state": ")[^"]+', rf"\g<1>{words}")


def _checksums(count: str) -> Plant:
    return _answer("zpool status", r"(/dev/sdn1 +ONLINE +0 +0 +)0", rf"\g<1>{count}")


def _md_bad_blocks(text: str) -> Plant:
    return _file(f"{MD1}/dev-sdd/bad_blocks", text)


def _unmapped(policy: str) -> Plant:
    """Return md1 without a write-intent bitmap."""
    bitmap = ("/proc/mdstat", r"(md1 : [^\n]*\n[^\n]*\n)[^\n]*bitmap[^\n]*\n", r"\1")
    return Plant(edits=(bitmap,), files={f"{MD1}/consistency_policy": policy, f"{MD1}/bitmap/location": "none"})


def _linked(speed: str) -> Plant:
    """Return the HDD in slot 8 with a drive that can do 6 Gb/s and a link of this speed."""
    return _answer(C0_PDS, r'(s8 [^}]*"Device Speed": ")[^"]+(",\s*"Link Speed": ")[^"]+', rf"\g<1>6.0Gb/s\g<2>{speed}")


def _requests(name: str, count: int) -> Plant:
    return _file(f"/sys/block/{name}/queue/nr_requests", str(count))


def _sectors(size: int, most: int) -> Plant:
    folder = "/sys/block/sdc/queue"
    return Plant(files={f"{folder}/max_sectors_kb": str(size), f"{folder}/max_hw_sectors_kb": str(most)})


MD1 = "/sys/block/md1/md"
OTHER = "Other Error Count"
ROOT_DISK = "nvme0n1p2"
C0_BBU, C0_VDS, C0_ALL, C0_PDS = "/c0/bbu show all", "/c0/vall show all", "/c0 show all", "/c0/eall/sall show all"

PLANTED: tuple[PlantedFault, ...] = (
    _case(
        "array-degraded",
        "linux",
        "md:md1",
        Plant(files={f"{MD1}/degraded": "1", f"{MD1}/dev-sdd/state": "faulty"}),
        _file(f"{MD1}/array_state", "active-idle"),
        also="drive-failed",
    ),
    _case(
        "drive-failed",
        "lsi",
        "megaraid:/c0/e245/s4",
        _answer("/c0", r'("245:4",\s*"DID": 12,\s*"State": )"UGood"', r'\1"UBad"'),
        _answer("/c0", r'("245:4",\s*"DID": 12,\s*"State": )"UGood"', r'\1"GHS"'),
    ),
    _case(
        "drive-failing", "lsi", "megaraid:/c0/e245/s1", _attribute("Predictive Failure Count", 1), _attribute(OTHER, 1)
    ),
    _case("drive-warns", "nvme", "nvme:nvme0n1", _health("critical_warning", 1), _health("critical_warning", 0)),
    _case("array-blocks-lost", "lsi", "megaraid:/c0/v0", _bad_blocks("Yes"), _bad_blocks("No")),
    _case(
        "battery-failed",
        "lsi",
        "megaraid:/c0",
        _answer(C0_BBU, STORCLI_BATTERY, r'\1"Failed"'),
        _answer(C0_BBU, STORCLI_BATTERY, r'\1"Charging"'),
        also="policy-not-in-force",
        near_is="battery-learning policy-not-in-force",
    ),
    _case(
        "flushes-off",
        "linux",
        "scsi:sdc",
        _file("/sys/block/sdc/queue/write_cache", "write through"),
        _file("/sys/block/nvme0n1/queue/write_cache", "write through"),
    ),
    _case("barriers-off", "linux", "/", _root("nobarrier"), _root("barrier")),
    _case("sync-off", "linux", "zfs:tank/vm", _zfs("sync", "disabled"), _zfs("sync", "always")),
    _case(
        "pool-data-errors",
        "linux",
        "zfs:tank",
        _answer("zpool status", r"errors: No known data errors", "errors: 3 data errors, use '-v' for a list"),
        _answer("zpool status", r"errors: No known data errors", "errors: No known data errors "),
    ),
    _case(
        "group-incomplete",
        "linux",
        "vg0",
        _answer("lvs", r'"vg_missing_pv_count":"0"', '"vg_missing_pv_count":"1"'),
        _answer("lvs", r'"vg_free":"\d+"', '"vg_free":"4096"'),
    ),
    _case(
        "filesystem-errors",
        "linux",
        "/",
        _file(f"/sys/fs/ext4/{ROOT_DISK}/errors_count", "2"),
        _file(f"/sys/fs/ext4/{ROOT_DISK}/errors_count", "0"),
    ),
    _case("nvme-down", "linux", "nvme:nvme7", _nvme_state("dead"), _nvme_state("live")),
    _case(
        "card-memory-errors",
        "lsi",
        "megaraid:/c0",
        _answer(C0_ALL, r'("Memory Uncorrectable Errors": )0', r"\g<1>1"),
        _answer(C0_ALL, r'("Memory Correctable Errors": )0', r"\g<1>1"),
    ),
    _case(
        "policy-not-in-force",
        "lsi",
        "megaraid:/c0/v0",
        _answer(C0_BBU, STORCLI_BATTERY, r'\1"Failed"'),
        Plant(
            answers=(
                (C0_BBU, STORCLI_BATTERY, r'\1"Failed"'),
                ("/c0", '"ARWBD"', '"ARAWBD"'),
                (C0_VDS, '"WriteBack"', '"AlwaysWriteBack"'),
            )
        ),
        also="battery-failed",
        near_is="battery-failed writes-always-cached",
    ),
    _case(
        "battery-replace",
        "lsi",
        "megaraid:/c0",
        _answer(C0_BBU, r'("Replacement required",\s*"Value": )"No"', r'\1"Yes"'),
        _answer(C0_BBU, r'("Learn Cycle Requested",\s*"Value": )"No"', r'\1"Yes"'),
        also="policy-not-in-force",
    ),
    _case(
        "drive-cache-unprotected",
        "lsi",
        "megaraid:/c0/v0",
        Plant(answers=((C0_BBU, STORCLI_BATTERY, r'\1"Failed"'), (C0_VDS, '"Disk\'s Default"', '"Enabled"'))),
        _answer(C0_VDS, '"Disk\'s Default"', '"Enabled"'),
        also="battery-failed policy-not-in-force",
    ),
    _case(
        "drive-unusable",
        "linux",
        "scsi:sdc",
        _file("/sys/block/sdc/queue/logical_block_size", "520"),
        _file("/sys/block/sdc/queue/logical_block_size", "4096"),
    ),
    _case("drive-locked", "lsi", "megaraid:/c0/e245/s1", _locked("Yes"), _locked("no")),
    _case(
        "drive-foreign",
        "lsi",
        "megaraid:/c0/e245/s4",
        _answer("/c0", r'("245:4",\s*"DID": 12,\s*"State": "UGood",\s*"DG": )"-"', r'\1"F"'),
        _answer("/c0", r'("245:4",\s*"DID": 12,\s*"State": "UGood",\s*"DG": "-",\s*"Size": )"238', r'\1"237'),
    ),
    _case("drive-errors", "lsi", "megaraid:/c0/e245/s1", _attribute("Media Error Count", 3), _attribute(OTHER, 3)),
    _case("drive-other-errors", "lsi", "megaraid:/c0/e245/s1", _attribute(OTHER, 100), _attribute(OTHER, 99)),
    _case("drive-worn", "nvme", "nvme:nvme0n1", _smart("percent_used", 80), _smart("percent_used", 79)),
    _case("drive-hot", "nvme", "nvme:nvme0n1", _smart("temperature", 343), _smart("temperature", 342)),
    _case(
        "array-mismatches",
        "linux",
        "md:md1",
        _file(f"{MD1}/mismatch_cnt", "128"),
        _file(f"{MD1}/mismatch_cnt", "0"),
    ),
    _case(
        "pool-filling",
        "linux",
        "zfs:tank",
        _answer("zpool list", r"(tank\t\d+\t)0\t", r"\g<1>80\t"),
        _answer("zpool list", r"(tank\t\d+\t)0\t", r"\g<1>79\t"),
    ),
    _case("wwn-shared", "linux", "scsi:sdd", _wwns("c500a1b2c3d4"), _wwns("c500a1b2c3d5")),
    _case("pcie-link-slow", "linux", "hba:0000:12:00.0", _port(8, 4), _port(4, 4)),
    _case("irq-one-cpu", "linux", "hba:0000:12:00.0", _irqs("3", "3"), _irqs("3", "4")),
    _case("irq-far", "linux", "hba:0000:12:00.0", _irqs("3", "4", "1"), _irqs("3", "12", "1")),
    _case(
        "misaligned",
        "hpe",
        "sda2",
        _file("/sys/block/sda/sda2/start", "1050625"),
        _file("/sys/block/sda/sda2/start", "1051136"),
    ),
    _case(
        "stack-misaligned",
        "linux",
        "dm-2",
        _file("/sys/block/dm-2/alignment_offset", "-1"),
        _file("/sys/block/dm-2/alignment_offset", "0"),
    ),
    _case("fs-stripe-other", "hpe", "/data", _data(",sunit=128,swidth=768"), _data(",sunit=128,swidth=896")),
    _case("ashift-small", "linux", "zfs:tank", _pool(11), _pool(12)),
    _case(
        "sector-format-slow",
        "nvme",
        "nvme:nvme0n1",
        _answer("id-ns", r'"flbas": 1', '"flbas": 0'),
        _answer("id-ns", r'"nuse": \d+', '"nuse": 1'),
    ),
    _case(
        "scheduler-unfit",
        "linux",
        "block:sda",
        _file("/sys/block/sda/queue/scheduler", "none mq-deadline [bfq]"),
        _file("/sys/block/sdc/queue/scheduler", "none mq-deadline [bfq]"),
    ),
    _case(
        "queue-smaller",
        "linux",
        "block:sdc",
        _file("/sys/block/sdc/queue/nr_requests", "31"),
        _file("/sys/block/sdc/queue/nr_requests", "32"),
    ),
    _case(
        "no-queueing",
        "linux",
        "scsi:sdc",
        _file("/sys/block/sdc/device/queue_depth", "1"),
        _file("/sys/block/sdc/device/queue_depth", "2"),
    ),
    _case("trim-lost", "linux", "md2", _discards(0, 4096, 4096), _discards(0, 4096, 0)),
    _case("cache-dirty", "linux", "lvm:vg0/mail", _cached(973209), _cached(973208)),
    _case(
        "cache-bypassed",
        "linux",
        "bcache:bcache0",
        _file("/sys/block/bcache0/bcache/cache_mode", "writethrough writeback writearound [none]"),
        _file("/sys/block/bcache0/bcache/cache_mode", "writethrough writeback [writearound] none"),
    ),
    _case(
        "one-path",
        "linux",
        "mpatha",
        Plant(gone=("/sys/block/dm-0/slaves/sdi",)),
        Plant(gone=("/sys/block/dm-10/slaves/sdi",)),
    ),
    _case(
        "path-dead",
        "linux",
        "mpatha",
        _file("/sys/block/sdi/device/state", "offline"),
        _file("/sys/block/sdi/device/state", "live"),
    ),
    _case(
        "rebuild-paused",
        "linux",
        "md:md1",
        Plant(files={f"{MD1}/degraded": "1", f"{MD1}/sync_action": "frozen"}),
        Plant(files={f"{MD1}/degraded": "0", f"{MD1}/sync_action": "frozen"}),
        also="array-degraded",
    ),
    _case("card-hot", "lsi", "megaraid:/c1", _chip(100), _chip(99)),
    _case("battery-hot", "lsi", "megaraid:/c1", _vault(60), _vault(59)),
    _case(
        "write-throttled",
        "hpe",
        "fusionio:fioa",
        _throttling("Temperature"),
        _throttling("None"),
    ),
    _case("pool-errors", "linux", "zfs:tank", _checksums("7"), _checksums("0")),
    _case("md-member-errors", "linux", "md:md1", _md_bad_blocks("2048 8"), _md_bad_blocks("")),
    _case(
        "array-read-only",
        "linux",
        "md:md1",
        _file(f"{MD1}/array_state", "readonly"),
        _file(f"{MD1}/array_state", "read-auto"),
    ),
    _case("md-no-bitmap", "linux", "md:md1", _unmapped("resync"), _unmapped("ppl")),
    _case(
        "md-resync-slow",
        "linux",
        "md:md1",
        _file(f"{MD1}/sync_speed_max", "10 (local)"),
        _file(f"{MD1}/sync_speed_max", "10000 (local)"),
    ),
    _case("drive-link-slow", "lsi", "megaraid:/c0/e245/s8", _linked("1.5Gb/s"), _linked("3.0Gb/s")),
    _case("queue-tiny", "linux", "block:nvme0n1", _requests("nvme0n1", 4), _requests("nvme0n1", 31)),
    _case("requests-small", "linux", "block:sdc", _sectors(4, 1024), _sectors(4, 4)),
    _case(
        "merges-off",
        "linux",
        "block:sdc",
        _file("/sys/block/sdc/queue/nomerges", "2"),
        _file("/sys/block/sda/queue/nomerges", "2"),
    ),
    _case(
        "background-task",
        "linux",
        "md:md1",
        Plant(files={f"{MD1}/sync_action": "check", f"{MD1}/sync_completed": "1000 / 4000"}),
        Plant(files={f"{MD1}/sync_action": "idle", f"{MD1}/sync_completed": "none"}),
    ),
    _case(
        "battery-learning",
        "lsi",
        "megaraid:/c0",
        _answer(C0_BBU, STORCLI_BATTERY, r'\1"Learning"'),
        _answer(C0_BBU, r'("Auto Learn Period",\s*"Value": )"27d', r'\1"28d'),
        also="policy-not-in-force",
    ),
    _case(
        "writes-always-cached",
        "lsi",
        "megaraid:/c0",
        Plant(answers=(("/c0", '"ARWBD"', '"ARAWBD"'), (C0_VDS, '"WriteBack"', '"AlwaysWriteBack"'))),
        Plant(answers=(("/c0", '"ARWBD"', '"ARWTD"'), (C0_VDS, '"WriteBack"', '"WriteThrough"'))),
    ),
    _case(
        "drive-throttled",
        "nvme",
        "nvme:nvme0n1",
        _health("thm_temp2_trans_count", 3),
        _health("thm_temp2_trans_count", 0),
    ),
    _case(
        "stripe-misaligned",
        "hpe",
        "sdo1",
        _file("/sys/block/sdo/sdo1/start", "2048"),
        _file("/sys/block/sdo/sdo1/start", "1792"),
    ),
    _case("fs-stripe-unset", "hpe", "/data", _data(), _data(",sunit=128,swidth=896")),
    _case("volblocksize-small", "linux", "zfs:tank/vm", _volume(2048), _volume(4096)),
    _case(
        "md-bitmap-fine",
        "linux",
        "md:md1",
        Plant(edits=(("/proc/mdstat", r"(md1 : [^\n]*\n[^\n]*\n[^\n]*)65536KB", r"\g<1>65535KB"),)),
        Plant(edits=(("/proc/mdstat", r"(md1 : [^\n]*\n[^\n]*\n[^\n]*)65536KB", r"\g<1>131072KB"),)),
    ),
    _case("md-stripe-cache", "linux", "md:md1", _raid5(256), _raid5(257)),
    _case(
        "md-journal-through",
        "linux",
        "md:md1",
        _journal("[write-through] write-back"),
        _journal("write-through [write-back]"),
    ),
    _case("drive-copyback", "lsi", "megaraid:/c0/e245/s4", _bay("Cpybck"), _bay("GHS")),
    _case("rebuild-rate-high", "lsi", "megaraid:/c0", _rebuilds(51), _rebuilds(50)),
    _case(
        "read-ahead-small",
        "linux",
        "block:md1",
        _file("/sys/block/md1/queue/read_ahead_kb", "1023"),
        _file("/sys/block/md1/queue/read_ahead_kb", "1024"),
    ),
    _case(
        "read-ahead-large",
        "linux",
        "block:sda",
        _file("/sys/block/sda/queue/read_ahead_kb", "4096"),
        _file("/sys/block/sda/queue/read_ahead_kb", "4095"),
    ),
    _case(
        "card-read-ahead",
        "lsi",
        "megaraid:/c0/v1",
        _answer("/c0", '"NRWTD"', '"RWTD"'),
        _answer("/c0", '"ARWBD"', '"RWBD"'),
    ),
    _case("one-queue", "linux", "vda", _virtual(1), _virtual(2)),
    _case(
        "power-state",
        "nvme",
        "nvme:nvme0",
        _answer("--feature-id=2 ", r"0x00000020", "0x00000021"),
        _answer("--feature-id=2 ", r"0x00000020", "0x00000040"),
    ),
    _case("governor", "linux", "processors", _governor("powersave"), _governor("performance")),
    _case(
        "io-capped",
        "linux",
        "system.slice/db.service",
        _file("/sys/fs/cgroup/system.slice/db.service/io.max", "8:0 rbps=max wbps=max riops=500 wiops=max"),
        _file("/sys/fs/cgroup/system.slice/db.service/io.max", "8:0 rbps=max wbps=max riops=max wiops=max"),
    ),
    _case("discard-twice", "recording", "/", _trimmed(timer=True), _trimmed(timer=False)),
    _case("path-policy", "linux", "nvme-subsys0", _paths(2), _paths(1)),
    _case(
        "firmware-mixed",
        "linux",
        "md:md1",
        _file("/sys/block/sdd/device/rev", "3.AF"),
        Plant(files={"/sys/block/sdd/device/rev": "3.AF", "/sys/block/sdd/device/model": "ST2000NM0033"}),
    ),
)
"""Every rule that needs no run, once."""
