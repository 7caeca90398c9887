"""Vendor programs of a simulated host: conditions under which they are installed, and functions that simulate them."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter

from backends.host import PromptReply
from backends.json_text import indented_json
from backends.simulator import tw_cli
from backends.simulator.fio.document import VERSION
from backends.simulator.kernel.tree import SimulatedSysfs
from backends.simulator.lvm.answer import dmsetup_output, lvs_output, pvs_output
from backends.simulator.lvm.changes import lvchange_output, lvconvert_output
from backends.simulator.lvm.creation import lvcreate_output, lvremove_output
from backends.simulator.mdadm import mdadm_output
from backends.simulator.megacli import answer as megacli
from backends.simulator.rack import Rack
from backends.simulator.smartarray import arcconf, ssacli
from backends.simulator.smartarray.cards import NEW, SmartCard, SmartVolume
from backends.simulator.storcli import answer as storcli
from backends.simulator.tool_output import SimulatedOutput
from backends.simulator.zfs.tools import zfs_output, zpool_output
from backends.values import dataclass

SYSTEM_PATHS = {
    "fio": "/usr/bin/fio",
    "lsblk": "/usr/bin/lsblk",
    "blkid": "/usr/sbin/blkid",
    "wipefs": "/usr/sbin/wipefs",
    "udevadm": "/usr/bin/udevadm",
}
"""Paths, by name, of programs that every simulated host has."""

_ENGINES = ("cpuio", "mmap", "sync", "psync", "vsync", "pvsync", "pvsync2", "null", "libaio", "posixaio", "io_uring")


def fio_output(args: Sequence[str]) -> SimulatedOutput:
    """Return fio's output for `--version`, `--enghelp`, `--cmdhelp` or a probe job."""
    if "--version" in args:
        return SimulatedOutput(text=f"{VERSION}\n")
    if "--enghelp" in args:
        return SimulatedOutput(text="\n".join(["Available IO engines:", *(f"\t{name}" for name in _ENGINES), ""]))
    if "--cmdhelp=sync" in args:
        return SimulatedOutput(text="valid values: none\n: 0\n: sync\n: 1\n: dsync\n")
    if any(word.startswith("--name=") for word in args):
        counted = {"total_ios": 16, "io_bytes": 65536, "runtime": 1}
        job = {"jobname": "probe", "error": 0, "read": counted, "write": {"total_ios": 0}}
        data = {"fio version": VERSION, "timestamp": 0, "jobs": [job]}
        return SimulatedOutput(text=indented_json(data, 2, " : ") + "\n", seconds=0.05)
    return SimulatedOutput(text="No job(s) defined\n", code=1)


def disks_output(tool: str, args: Sequence[str], kernel: SimulatedSysfs) -> SimulatedOutput:
    """Return the output of lsblk, blkid, wipefs or udevadm, from udev's database."""
    if tool == "lsblk":
        rows = [{"name": name.removeprefix("/dev/"), "kname": name.removeprefix("/dev/")} for name in kernel.nodes]
        return SimulatedOutput(text=json.dumps({"blockdevices": rows}) + "\n")
    device = args[-1] if args else ""
    node = kernel.nodes.get(device)
    if tool == "udevadm":
        return SimulatedOutput(text="")
    if node is None:
        return SimulatedOutput(text="", code=2 if tool == "blkid" else 1)
    record = kernel.files.get(f"/run/udev/data/b{node.devno}", "")
    properties = dict(re.findall(r"^E:ID_(FS_TYPE|FS_LABEL_ENC|FS_UUID|PART_TABLE_TYPE)=(.*)$", record, re.MULTILINE))
    kind = properties.get("FS_TYPE") or properties.get("PART_TABLE_TYPE")
    if tool == "wipefs":
        row = {
            "device": device,
            "type": kind,
            "label": properties.get("FS_LABEL_ENC"),
            "uuid": properties.get("FS_UUID"),
        }
        return SimulatedOutput(text=json.dumps({"signatures": [row] if kind else []}) + "\n")
    names = {"FS_TYPE": "TYPE", "FS_LABEL_ENC": "LABEL", "FS_UUID": "UUID", "PART_TABLE_TYPE": "PTTYPE"}
    lines = [f"DEVNAME={device}", *(f"{names[key]}={value}" for key, value in properties.items())]
    return SimulatedOutput(text="\n".join(lines) + "\n") if kind else SimulatedOutput(text="", code=2)


ANOTHER = (
    "\nError: Another instance of ACU is already running (possibly a service). Please \n"
    "terminate the ACU application before running the ACU CLI.\n\n"
)
"""Output of ssacli or a related program while another one runs (recorded with hpacucli)."""

SLOW = "slow"
"""Name of the fault that makes programs take at least as long as on real hardware."""

_SLOW = 0.5, 8.0
"""Shortest and longest duration of a command on a host with the fault `SLOW`, in seconds."""

_QUICK = 0.02
"""Longest duration of a read-only command on a host without the fault `SLOW`, in seconds."""

_BYTES_A_SECOND = 2000.0
"""Output speed of a slow tool in bytes per second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorProgram:
    """One simulated vendor program."""

    path: str
    """Installation path."""
    installed: Callable[[Rack], object]
    """Function that returns a true value if the host has hardware for the program."""
    run: Callable[[Rack, Sequence[str]], SimulatedOutput]
    """Function that returns the output, and applies changes to the host."""
    slow: bool = True
    """True if the program queries a controller or disk system, which may be slow."""
    question: Callable[[Sequence[str]], str] = lambda args: ""
    """Function that returns the question before a change, or "". The change needs an answer to the question."""
    exclusive: bool = False
    """True if a second instance fails while the first one runs."""


def program_output(
    program: VendorProgram, rack: Rack, args: Sequence[str], *, mutates: bool, reply: PromptReply | None = None
) -> SimulatedOutput:
    """Return a program's output and its duration, with the faults that the host has at the moment.

    A change (`mutates`) takes its full time whatever the faults are. If the program asks a question that is not
    answered, the output is only the question.
    """
    if program.exclusive and "locked" in rack.states:
        return SimulatedOutput(text=ANOTHER, code=1)
    question = program.question(args)
    if question and (reply is None or not reply.fits(question)):
        return SimulatedOutput(text=question)
    answer = program.run(rack, args)
    answer = replace(answer, text=question + answer.text)
    if SLOW not in rack.states:
        return answer if mutates else replace(answer, seconds=min(answer.seconds, _QUICK))
    if not program.slow:
        return answer
    least, most = _SLOW
    return replace(answer, seconds=min(most, least + answer.seconds + len(answer.text) / _BYTES_A_SECOND))


def _ssacli(rack: Rack, args: Sequence[str]) -> SimulatedOutput:
    before = rack.smart["ssacli"]
    answer, after = ssacli.answer(before, args)
    rack.smart["ssacli"] = _sync_disks(rack, before, after)
    return answer


def _arcconf(rack: Rack, args: Sequence[str]) -> SimulatedOutput:
    """Run arcconf. After a change, its first report about a newer controller still shows the old state."""
    before = rack.smart["arcconf"]
    if args[:1] == ("getconfig",) and args[1:2] and args[1] in rack.late:
        late = rack.late.pop(args[1])
        return arcconf.answer(tuple(late if card.number == late.number else card for card in before), args)[0]
    answer, after = arcconf.answer(before, args, old="old-tool" in rack.states)
    rack.late |= {old.number: old for old, new in zip(before, after, strict=True) if new is not old and not old.series}
    rack.smart["arcconf"] = _sync_disks(rack, before, after)
    return answer


def _sync_disks(rack: Rack, before: Sequence[SmartCard], after: Sequence[SmartCard]) -> tuple[SmartCard, ...]:
    """Return the controllers in `after`, with kernel disks for new logical drives.

    The kernel disks of logical drives that are only in `before` are removed.
    """
    devices_before = {volume.device for card in before for volume in card.volumes}
    for device in devices_before - {volume.device for card in after for volume in card.volumes}:
        rack.forget_disk((device or "").removeprefix("/dev/"))
    return tuple(
        replace(card, volumes=tuple(_with_disk(rack, card, volume) for volume in card.volumes)) for card in after
    )


def _with_disk(rack: Rack, card: SmartCard, volume: SmartVolume) -> SmartVolume:
    if volume.device != NEW:
        return volume
    rack.made += 1
    wwn = "" if card.series else f"600508b1001c{zlib.crc32(card.serial.encode()):08x}{rack.made:012x}"
    serial = f"{zlib.crc32(f'{card.serial} {rack.made}'.encode()):08X}" if card.series else ""
    return replace(volume, device=f"/dev/{rack.free_device()}", wwn=wwn, serial=serial, sequence=rack.made)


def _tw_cli(rack: Rack, args: Sequence[str]) -> SimulatedOutput:
    """Run tw_cli. The kernel immediately adds a disk for each new unit, and removes the disks of deleted units."""
    before = {unit.device for _, unit in rack.units()}
    answer = tw_cli.answer(rack.threeware, args, rack.now())
    for device in before - {unit.device for _, unit in rack.units()}:
        rack.forget_disk(device or "")
    for card in rack.threeware:
        for unit in card.units:
            if unit.device is None and unit.kind != "SPARE":
                rack.made += 1
                unit.device, unit.sequence = rack.free_device(), rack.made
    return answer


def _smcli(rack: Rack, args: Sequence[str]) -> SimulatedOutput:
    named = [system for system in rack.systems if system.name in args]
    return (named or rack.systems)[0].answer(args, rack.now())


def _fusionio(name: str, rack: Rack, args: Sequence[str]) -> SimulatedOutput:
    numbered = [module for module in rack.flash if any(word.endswith(f"/{module.control}") for word in args)]
    return (numbered or rack.flash)[0].answer(name, args)


PROGRAMS: Mapping[str, VendorProgram] = {
    "storcli64": VendorProgram(
        path="/opt/MegaRAID/storcli/storcli64", installed=attrgetter("cards"), run=storcli.answer
    ),
    "MegaCli64": VendorProgram(
        path="/opt/MegaRAID/MegaCli/MegaCli64", installed=attrgetter("cards"), run=megacli.answer
    ),
    "mdadm": VendorProgram(path="/usr/sbin/mdadm", installed=lambda rack: True, run=mdadm_output, slow=False),
    "zpool": VendorProgram(path="/usr/sbin/zpool", installed=attrgetter("pools"), run=zpool_output, slow=False),
    "zfs": VendorProgram(path="/usr/sbin/zfs", installed=attrgetter("pools"), run=zfs_output, slow=False),
    **{
        name: VendorProgram(path=f"/usr/sbin/{name}", installed=attrgetter("lvm"), run=run, slow=False)
        for name, run in {
            "lvs": lvs_output,
            "pvs": pvs_output,
            "lvcreate": lvcreate_output,
            "lvremove": lvremove_output,
            "lvmconfig": lambda _rack, args: SimulatedOutput(text="", code=5 if args else 0),  # no value is configured
            "lvchange": lvchange_output,
            "lvconvert": lvconvert_output,
            "dmsetup": dmsetup_output,
        }.items()
    },
    "ssacli": VendorProgram(
        path="/usr/sbin/ssacli", installed=lambda rack: "ssacli" in rack.smart, run=_ssacli, exclusive=True
    ),
    "arcconf": VendorProgram(path="/usr/Arcconf/arcconf", installed=lambda rack: "arcconf" in rack.smart, run=_arcconf),
    "tw_cli": VendorProgram(
        path="/opt/3ware/CLI/tw_cli", installed=attrgetter("threeware"), run=_tw_cli, question=tw_cli.question
    ),
    "SMcli": VendorProgram(path="/opt/IBM_DS/client/SMcli", installed=attrgetter("systems"), run=_smcli),
    **{
        name: VendorProgram(path=f"/usr/bin/{name}", installed=attrgetter("flash"), run=partial(_fusionio, name))
        for name in ("fio-status", "fio-detach", "fio-format", "fio-attach")
    },
}
"""Vendor programs by name."""

PATHS: Mapping[str, str] = {**SYSTEM_PATHS, **{name: program.path for name, program in PROGRAMS.items()}}
"""Installation path of every program, by name."""
