"""A machine with SATA and SAS disks that obey: hdparm, sdparm and smartctl change and tell their state."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from backends.errors import ToolMissingError
from backends.host import Command, Completed
from tests.backends.fakes import QUEUE, FakeHost, disk, machine

SENSE = "SG_IO: bad/missing sense data, sb[]:  70 00 05 00\n"

CACHE_WORDS = {True: "write back", False: "write through"}


@dataclass
class Ata:
    """A SATA drive's switches; None for what it lacks."""

    cache: int | None = 1
    look_ahead: int | None = 1
    apm: int | None = 254
    acoustic: int | None = None
    libata: bool = True
    stubborn: bool = False
    """Says yes and changes nothing."""
    smart: dict[str, object] = field(default_factory=dict)


@dataclass
class Scsi:
    """A SAS drive's caching page."""

    bits: dict[str, int] = field(default_factory=lambda: {"WCE": 1, "RCD": 0, "DRA": 0})
    saved: dict[str, int] | None = None
    fixed: tuple[str, ...] = ("RCD",)
    saveable: bool = True
    attention: int = 0
    """Commands that are answered with a unit attention first."""
    smart: dict[str, object] = field(default_factory=dict)


@dataclass
class Volume:
    """A virtual drive of a RAID controller."""


Kind = Ata | Scsi | Volume

PLACES: dict[type, tuple[str, str, str]] = {
    Ata: ("/sys/devices/pci0000:00/0000:00:1f.2/ata{n}/host{n}/target{n}:0:0", "{n}:0:0:0", "ahci"),
    Scsi: (
        "/sys/devices/pci0000:00/0000:00:05.0/host{n}/port-{n}:0/end_device-{n}:0/target{n}:0:0",
        "{n}:0:0:0",
        "mpt3sas",
    ),
    Volume: ("/sys/devices/pci0000:00/0000:03:00.0/host{n}/target{n}:2:0", "{n}:2:0:0", "megaraid_sas"),
}


class DriveHost(FakeHost):
    """Answers for its drives as the tools do, in their own words."""

    def __init__(
        self,
        drives: Mapping[str, Kind],
        *,
        tools: tuple[str, ...] = ("hdparm", "sdparm", "smartctl"),
        root: bool = True,
    ) -> None:
        files: dict[str, str] = {}
        links: dict[str, str] = {}
        for number, (name, drive) in enumerate(drives.items()):
            place, hctl, driver = (word.format(n=number) for word in PLACES[type(drive)])
            if isinstance(drive, Ata) and not drive.libata:
                place = PLACES[Scsi][0].format(n=number)
            links[f"/sys/block/{name}"] = f"{place}/{hctl}/block/{name}"
            files |= _files(name, drive, hctl, driver, number)
        files |= {f"/sbin/{tool}": "" for tool in tools}
        super().__init__(machine(files), links=links, root=root)
        self.drives = dict(drives)
        self.installed = tools
        self.ran: list[tuple[str, ...]] = []
        self.kernel = _write

    def which(self, names: object) -> str | None:
        return next((f"/sbin/{name}" for name in names if name in self.installed), None)  # type: ignore[attr-defined]

    async def run(self, command: Command) -> Completed:
        self.ran.append(command.argv)
        name = command.argv[0].removeprefix("/sbin/")
        drive = self.drives.get(command.argv[-1].removeprefix("/dev/"))
        if name not in self.installed or drive is None:
            raise ToolMissingError(f"{name} is not there.")
        return PROGRAMS[name](self, drive, command)

    def path(self, name: str, what: str) -> str:
        """A file of a disk: `cache_type`, `queue/write_cache`, `device/...`."""
        hctl = self.links[f"/sys/block/{name}"].split("/")[-3]
        return f"/sys/class/scsi_disk/{hctl}/cache_type" if what == "cache_type" else f"/sys/block/{name}/{what}"

    def caching(self, name: str) -> bool:
        """What the drive itself does."""
        drive = self.drives[name]
        return bool(drive.cache if isinstance(drive, Ata) else isinstance(drive, Scsi) and drive.bits["WCE"])

    def look_again(self, name: str) -> None:
        """The kernel learns what the drive does."""
        self.files[self.path(name, "cache_type")] = CACHE_WORDS[self.caching(name)]
        self.files[self.path(name, "queue/write_cache")] = CACHE_WORDS[self.caching(name)]


def _files(name: str, drive: Kind, hctl: str, driver: str, number: int) -> dict[str, str]:
    queue = {**QUEUE, "rotational": "1" if isinstance(drive, Scsi) else "0"}
    maker = "ATA" if isinstance(drive, Ata) else "LAB"
    files = disk(
        name,
        devno=f"8:{number * 16}",
        queue=queue,
        device__vendor=f"{maker}     ",
        device__model=f"DISK {number}",
        device__rev="2.5+",
        device__state="running",
        device__queue_depth="32",
        device__rescan="",
        device__vpd_pg80=f"\0\ufffd\0\x14SER{number}",
        device__wwid=f"naa.5000c5000000000{number}",
    )
    host = f"/sys/class/scsi_host/host{number}"
    cache = f"/sys/class/scsi_disk/{hctl}/cache_type"
    return files | {f"{host}/proc_name": driver, f"{host}/can_queue": "128", cache: "write back"}


def _write(host: FakeHost, path: str, text: str) -> None:
    """The kernel: a rescan tells it what the drive does, cache_type tells the drive."""
    assert isinstance(host, DriveHost)
    name = next((n for n in host.drives if path in (host.path(n, "cache_type"), f"/sys/block/{n}/device/rescan")), None)
    if name is None:
        host.files[path] = text
    elif path.endswith("rescan"):
        host.look_again(name)
    else:
        drive, on = host.drives[name], int(text.startswith("write back"))
        if isinstance(drive, Ata):
            drive.cache = on
        elif isinstance(drive, Scsi):
            drive.bits["WCE"] = on
        host.look_again(name)


def _hdparm(host: DriveHost, drive: Kind, command: Command) -> Completed:
    if not isinstance(drive, Ata):
        return Completed(returncode=0, stdout=SENSE, stderr="")
    fields = {"-W": "cache", "-A": "look_ahead", "-B": "apm", "-M": "acoustic"}
    rows = [f"\n{command.argv[-1]}:"]
    for word in command.argv[1:-1]:
        letter, value = word[:2], word[2:]
        if value and not drive.stubborn and getattr(drive, fields[letter]) is not None:
            setattr(drive, fields[letter], int(value))
        rows.append(HDPARM_ROWS[letter](getattr(drive, fields[letter])))
    if drive.libata:
        host.look_again(command.argv[-1].removeprefix("/dev/"))
    return Completed(returncode=0, stdout="\n".join(rows) + "\n", stderr="")


HDPARM_ROWS: dict[str, Callable[[int | None], str]] = {
    "-W": lambda now: f" write-caching = {_switch(now)}",
    "-A": lambda now: f" look-ahead    = {_switch(now)}",
    "-B": lambda now: f" APM_level\t= {'not supported' if now is None else 'off' if now == 255 else now}",
    "-M": lambda now: f" acoustic      = {'not supported' if now is None else f'{now} (128=quiet ... 254=fast)'}",
}


def _switch(now: int | None) -> str:
    return "not supported" if now is None else f" {now} ({'on' if now else 'off'})"


def _sdparm(host: DriveHost, drive: Kind, command: Command) -> Completed:
    """Exits with 5 although it printed the values, as a drive without default pages makes it."""
    assert isinstance(drive, Scsi)
    if drive.attention:
        drive.attention -= 1
        return Completed(returncode=6, stdout="MODE SENSE(10) failed, unit attention\n", stderr="")
    head = f"    {command.argv[-1]}: LAB       SAS HDD           2.5+\n"
    if command.argv[1].startswith("--get="):
        rows = [_bit(drive, name) for name in command.argv[1][6:].split(",") if name in drive.bits]
        return Completed(returncode=5, stdout=head + "\n".join(rows) + "\n", stderr="")
    name, value = command.argv[1].removeprefix("--set=").split("=")
    save = "--save" in command.argv
    if save and (drive.saved is None or not drive.saveable):
        return Completed(returncode=97, stdout=head, stderr="change_mode_page: mode page is not saveable\n")
    if name in drive.fixed:
        return Completed(returncode=5, stdout=head, stderr="change_mode_page: failed setting page: Caching (SBC)\n")
    drive.bits[name] = int(value)
    if save and drive.saved is not None:
        drive.saved[name] = int(value)
    return Completed(returncode=0, stdout=head, stderr="")


def _bit(drive: Scsi, name: str) -> str:
    saved = "" if drive.saved is None else f", sav:  {drive.saved[name]}"
    return f"{name}           {drive.bits[name]}  [cha: {'n' if name in drive.fixed else 'y'}, def:  1{saved}]"


def _smartctl(host: DriveHost, drive: Kind, command: Command) -> Completed:
    smart = drive.smart if isinstance(drive, Ata | Scsi) else {}
    return Completed(returncode=4, stdout=json.dumps({"smartctl": {"exit_status": 4}, **smart}), stderr="")


PROGRAMS: dict[str, Callable[[DriveHost, Kind, Command], Completed]] = {
    "hdparm": _hdparm,
    "sdparm": _sdparm,
    "smartctl": _smartctl,
}

PROTECTED: dict[str, object] = {
    "in_smartctl_database": True,
    "ata_smart_attributes": {"table": [{"id": 175, "name": "Power_Loss_Cap_Test", "value": 100, "thresh": 10}]},
}
"""What smartctl says of a drive with capacitors."""
