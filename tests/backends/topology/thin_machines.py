"""Machines made by hand whose devices promise more room than there is: dmsetup, lvs and zfs answer as told."""

from __future__ import annotations

from collections.abc import Mapping

from backends.errors import ToolTimeoutError
from backends.host import Command, Completed, FileStat, FilesystemSpace
from tests.backends.fakes import MOUNTS
from tests.backends.topology.test_stacking import STATUS, Machine, lvm

MIB = 1 << 20
BLOCK = 128
"""Sectors of a block of the pool: 64 KiB."""


class ThinMachine(Machine):
    """Tables and states of device-mapper by name, answers of lvs and zfs."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: dict[str, str] = {}
        self.states: dict[str, str] = {}
        self.silent: set[str] = set()
        self.tools |= {name: Completed(returncode=0, stdout="", stderr="") for name in ("dmsetup", "lvs", "zfs")}

    def mapped(self, name: str, given: str, table: str, state: str, *below: str, mib: int = 1024, **own: str) -> None:
        """A device of device-mapper."""
        self.add(name, *below, **{"dm__name": given, "dm__uuid": "", "size": str(mib * 2048), **own})
        self.tables[given] = f"0 {mib * 2048} {table}"
        self.states[given] = f"0 {mib * 2048} {state}"

    def number(self, name: str) -> str:
        """MAJ:MIN."""
        return self.stats[f"/dev/{name}"].devno or ""

    async def run(self, command: Command) -> Completed:
        tool, *words = command.argv
        name = tool.rsplit("/", 1)[-1]
        if name in self.silent or f"{name} {words[0]}" in self.silent:
            raise ToolTimeoutError(f"{name} gave no answer.")
        if name == "dmsetup":
            rows = self.tables if words[0] == "table" else self.states
            return Completed(returncode=0, stdout="".join(f"{key}: {row}\n" for key, row in rows.items()), stderr="")
        return await super().run(command)


def snapshotted(used: int = 0, *, told: bool = True, mib: int = 16) -> ThinMachine:
    """A volume of 64 MiB, and a snapshot of it with a store of 16 MiB of which `used` sectors are taken."""
    host = ThinMachine()
    host.add("sda")
    disk = host.number("sda")
    own = {name: lvm(name, f"-{name.rpartition('-')[2]}") for name in ("vgA-linear-real", "vgA-snap-cow")}
    host.mapped("dm-0", "vgA-linear-real", f"linear {disk} 2048", "linear", "sda", mib=64, **own["vgA-linear-real"])
    host.mapped("dm-1", "vgA-snap-cow", f"linear {disk} 264192", "linear", "sda", mib=mib, **own["vgA-snap-cow"])
    real, store = host.number("dm-0"), host.number("dm-1")
    host.mapped("dm-2", "vgA-linear", f"snapshot-origin {real}", "snapshot-origin", "dm-0", mib=64, **lvm("vgA-linear"))
    state = f"snapshot {used}/{mib * 2048} 16"
    table = f"snapshot {real} {store} P 8"
    host.mapped("dm-3", "vgA-snap", table, state, "dm-0", "dm-1", mib=64, **lvm("vgA-snap"))
    if not told:
        host.silent.add("dmsetup")
    return host


def pooled(
    *, used: int = 0, total: int = 100, metadata: str = "10/1000", mode: str = "rw", mapped: int = 0, thins: int = 2
) -> ThinMachine:
    """Thin volumes of 500 MiB in a pool of `total` MiB, `used` of them given out; `mapped` are the first one's."""
    host = ThinMachine()
    host.add("sda")
    for at, part in enumerate(("tmeta", "tdata")):
        name = f"vgA-pool_{part}"
        place = f"linear {host.number('sda')} {2048 + at * 2097152}"
        host.mapped(f"dm-{at}", name, place, "linear", "sda", mib=1024, **lvm(name, f"-{part}"))
    blocks = f"{used * 16}/{total * 16}"
    host.mapped(
        "dm-2",
        "vgA-pool-tpool",
        f"thin-pool {host.number('dm-0')} {host.number('dm-1')} {BLOCK} 0 1 skip_block_zeroing",
        f"thin-pool 1 {metadata} {blocks} - {mode} discard_passdown queue_if_no_space - 1024",
        "dm-0",
        "dm-1",
        mib=total,
        **lvm("vgA-pool-tpool", "-tpool"),
    )
    for at, name in enumerate(("thin", "mail", "web")[:thins]):
        here = (mapped, used - mapped, 0)[at] * 2048
        host.mapped(
            f"dm-{3 + at}",
            f"vgA-{name}",
            f"thin {host.number('dm-2')} {at + 1}",
            f"thin {here} {here - 1 if here else '-'}",
            "dm-2",
            mib=500,
            **lvm(f"vgA-{name}"),
        )
    counted(host, thins)
    return host


def counted(host: ThinMachine, volumes: int) -> None:
    """lvs tells how many volumes the pool has, active or not."""
    row = f'{{"vg_name":"vgA", "lv_name":"pool", "thin_count":"{volumes}"}}'
    text = f'{{"report": [{{"lv": [{row}]}}]}}'
    host.tools["lvs"] = Completed(returncode=0, stdout=text, stderr="")


def deduplicating(used: int = 1000, total: int = 25600, mode: str = "normal") -> ThinMachine:
    """A VDO pool of 100 MiB with a volume of 500 MiB."""
    host = ThinMachine()
    host.add("sda")
    state = f"vdo /dev/dm-9 {mode} - online online {used} {total}"
    host.mapped(
        "dm-0", "vgA-vp-vpool", "vdo V4 /dev/dm-9 25600", state, "sda", mib=500, **lvm("vgA-vp-vpool", "-vpool")
    )
    under = host.number("dm-0")
    host.mapped("dm-1", "vgA-vdo", f"linear {under} 0", "linear", "dm-0", mib=500, **lvm("vgA-vdo"))
    return host


def zvol(*, reserved: int = 0, free: int = 300, written: int = 0) -> ThinMachine:
    """A ZFS volume of 500 MiB, of a pool of 1000 MiB in which so many are free."""
    host = ThinMachine()
    for name in (*(f"sd{letter}" for letter in "abcdefg"), "zd0"):
        host.add(name)
    host.files["/sys/block/zd0/size"] = str(500 * 2048)
    host.files |= {"/proc/spl/kstat/zfs/tank/state": "ONLINE"}
    host.links["/dev/zvol/tank/a/vm"] = "/dev/zd0"
    host.tools["zpool"] = Completed(returncode=0, stdout=STATUS, stderr="")
    zfs_says(host, reserved=reserved, free=free, written=written)
    return host


def zfs_says(host: ThinMachine, *, reserved: int = 0, free: int = 300, written: int = 0) -> None:
    """What `zfs get` tells of the volume and its pool, in MiB."""
    told: Mapping[str, Mapping[str, int]] = {
        "tank": {"available": free, "used": 1000 - free},
        "tank/a/vm": {
            "available": free,
            "used": written,
            "refreservation": reserved,
            "volsize": 500,
            "written": written,
        },
    }
    lines = [f"{name}\t{key}\t{mib * MIB}\n" for name, values in told.items() for key, mib in values.items()]
    host.tools["zfs"] = Completed(returncode=0, stdout="".join(lines), stderr="")


def on_a_file(*, size: int = 500, allocated: int = 0, free: int = 90, fstype: str = "ext4") -> ThinMachine:
    """A loop device on a file of `size` MiB, on a file system of 100 MiB in which so many are free."""
    host = ThinMachine()
    host.add("sda")
    devno = host.number("sda")
    host.files["/proc/self/mountinfo"] = f"{MOUNTS}\n40 25 {devno} / /srv rw - {fstype} /dev/sda rw"
    host.add("loop0", size=str(size * 2048), loop__backing_file="/srv/image", loop__offset="0")
    host.stats["/srv/image"] = FileStat(kind="file", size=size * MIB, place=f"{devno}:12", allocated=allocated * MIB)
    host.tools["losetup"] = Completed(returncode=0, stdout=f"/dev/loop0 {devno} 12\n", stderr="")
    host.spaces["/srv/image"] = host.spaces["/srv"] = FilesystemSpace(size=100 * MIB, free=free * MIB)
    return host
