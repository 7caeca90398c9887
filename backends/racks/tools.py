"""The programs of the simulated host, but for the cards' own."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from backends.json_text import indented
from backends.racks.fio.document import VERSION
from backends.racks.linux.tree import Kernel
from backends.racks.printed import Said

PATHS = {
    "fio": "/usr/bin/fio",
    "lsblk": "/usr/bin/lsblk",
    "blkid": "/usr/sbin/blkid",
    "wipefs": "/usr/sbin/wipefs",
    "udevadm": "/usr/bin/udevadm",
}
"""Where each is installed, on every host."""

_ENGINES = ("cpuio", "mmap", "sync", "psync", "vsync", "pvsync", "pvsync2", "null", "libaio", "posixaio", "io_uring")


def fio_said(words: Sequence[str]) -> Said:
    """fio asked for its version, its engines, or to try one."""
    if "--version" in words:
        return Said(text=f"{VERSION}\n")
    if "--enghelp" in words:
        return Said(text="\n".join(["Available IO engines:", *(f"\t{name}" for name in _ENGINES), ""]))
    if "--cmdhelp=sync" in words:
        return Said(text="valid values: none\n: 0\n: sync\n: 1\n: dsync\n")
    if any(word.startswith("--name=") for word in words):
        counted = {"total_ios": 16, "io_bytes": 65536, "runtime": 1}
        job = {"jobname": "probe", "error": 0, "read": counted, "write": {"total_ios": 0}}
        data = {"fio version": VERSION, "timestamp": 0, "jobs": [job]}
        return Said(text=indented(data, 2, " : ") + "\n", seconds=0.05)
    return Said(text="No job(s) defined\n", code=1)


def disks_said(tool: str, words: Sequence[str], kernel: Kernel) -> Said:
    """lsblk, blkid, wipefs, udevadm: what udev's database already holds."""
    if tool == "lsblk":
        rows = [{"name": name.removeprefix("/dev/"), "kname": name.removeprefix("/dev/")} for name in kernel.nodes]
        return Said(text=json.dumps({"blockdevices": rows}) + "\n")
    device = words[-1] if words else ""
    node = kernel.nodes.get(device)
    if tool == "udevadm":
        return Said(text="")
    if node is None:
        return Said(text="", code=2 if tool == "blkid" else 1)
    record = kernel.files.get(f"/run/udev/data/b{node.devno}", "")
    known = dict(re.findall(r"^E:ID_(FS_TYPE|FS_LABEL_ENC|FS_UUID|PART_TABLE_TYPE)=(.*)$", record, re.MULTILINE))
    kind = known.get("FS_TYPE") or known.get("PART_TABLE_TYPE")
    if tool == "wipefs":
        row = {"device": device, "type": kind, "label": known.get("FS_LABEL_ENC"), "uuid": known.get("FS_UUID")}
        return Said(text=json.dumps({"signatures": [row] if kind else []}) + "\n")
    names = {"FS_TYPE": "TYPE", "FS_LABEL_ENC": "LABEL", "FS_UUID": "UUID", "PART_TABLE_TYPE": "PTTYPE"}
    lines = [f"DEVNAME={device}", *(f"{names[key]}={value}" for key, value in known.items())]
    return Said(text="\n".join(lines) + "\n") if kind else Said(text="", code=2)
