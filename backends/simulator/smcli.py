"""Simulated disk system of the DS4700 family, and SMcli: the profile that it prints, and its statements and rules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field

from backends.simulator.tool_output import SimulatedOutput
from backends.values import dataclass

_SET_SYSTEM = re.compile(r"set storageSubsystem (\w+)=(\w+);")
_SET_VOLUME = re.compile(r'set logicalDrives? \[((?:"[\w#-]+" ?)+)\] (\w+)=(\w+);')
_MOST = 32
"""Maximum number of logical drives in one statement."""

_MOVES_A_SECOND = 15e6
"""Bytes per second that the controllers move for a change of the segment size, in addition to other work."""

_BEGIN = "Performing syntax check...\n\nSyntax check complete.\n\nExecuting script...\n\n"
_END = "Script execution complete.\n\nSMcli completed successfully.\n"

_MILLISECONDS = {"250": 0.25, "500": 0.5, "750": 0.75, "1500": 1.5}
_SECONDS = (1, 2, 5, 10, 20, 60, 120, 300, 1200, 3600)
_SWITCHES = {
    "readCacheEnabled": "read_cache",
    "writeCacheEnabled": "write_cache",
    "mirrorCacheEnabled": "mirroring",
    "cacheWithoutBatteryEnabled": "without_battery",
    "cacheReadPrefetch": "prefetch",
}


@dataclass(slots=True, kw_only=True)
class HostDisk:
    """One logical drive, which hosts see as a disk."""

    name: str
    """Name."""
    wwn: str
    """World Wide Name without colons."""
    array: str = "1"
    """Array that the logical drive is on."""
    level: str = "5"
    """RAID level."""
    gigabytes: float = 200.0
    """Capacity in GiB."""
    segment_kib: int = 64
    """Segment size in KiB."""
    read_cache: bool = True
    """True if reads are cached."""
    write_cache: bool = True
    """True if writes are cached."""
    without_battery: bool = False
    """True if writes are cached even without a battery."""
    mirroring: bool = True
    """True if the other controller gets a copy of cached writes."""
    prefetch: bool = True
    """True if reads are prefetched."""
    flush: float | None = 10.0
    """Seconds until cached writes are flushed; 0 to flush at once, None to never flush."""
    priority: str = "high"
    """Modification priority: `lowest`, `low`, `medium`, `high`, `highest`."""
    moved_by: float = 0.0
    """Simulated time at which a change of the segment size is complete."""

    @property
    def size_bytes(self) -> int:
        """Size in bytes as the kernel reports it."""
        return int(self.gigabytes * 1024) << 20


@dataclass(slots=True, kw_only=True)
class DiskSystem:
    """Two controllers, one array of drives, and the logical drives on it."""

    name: str = "DS4700_A"
    """Name."""
    wwn: str = "600a0b80002618d6000000004a2f6c31"
    """World Wide Name."""
    block_kib: int = 4
    """Cache block size in KiB."""
    blocks: tuple[int, ...] = (4, 8, 16)
    """Cache block sizes in KiB that the model supports."""
    flush_start: int = 80
    """Share of the cache with unwritten data at which flushing starts, in percent."""
    flush_stop: int = 80
    """Share of the cache with unwritten data at which flushing stops, in percent."""
    strict: bool = False
    """True if the disk system refuses thresholds in the wrong order, as some models do."""
    battery: str = "Optimal"
    """State of both batteries."""
    second: str = "Online"
    """State of the second controller."""
    drives: int = 5
    """Drives in the array, in enclosure 0."""
    unassigned: int = 0
    """Drives in no array."""
    volumes: list[HostDisk] = field(
        default_factory=lambda: [HostDisk(name="fast", wwn="600a0b80002618d6000004d44a2f7a01")]
    )
    """Logical drives."""
    locked: bool = False
    """True if another process is changing the disk system."""
    product_id: str = "1814      FAStT"
    """Product ID of its controllers and logical drives."""
    product: str = "IBM DS4700-70"
    """Product name, a key of `CARDS`, whose entry has the performance of its controllers."""
    drive: str = "ST373454FC"
    """Type of its drives, a key of `DRIVES`."""
    cache_mib: int = 1536
    """Cache size of a controller in MiB."""

    def writes_back(self, disk: HostDisk) -> bool:
        """Return True if writes are cached now. Some settings require batteries and the other controller for that."""
        is_safe = self.battery == "Optimal" or disk.without_battery
        return disk.write_cache and is_safe and (not disk.mirroring or self.second == "Online")

    def answer(self, args: Sequence[str], now: float | None = None) -> SimulatedOutput:
        """Run SMcli and return its output. `now`: simulated time; None completes changes at once."""
        match list(args):
            case ["-d"]:
                return SimulatedOutput(
                    text=f"{self.name}\t192.0.2.10\t192.0.2.11\n\nSMcli completed successfully.\n", seconds=1
                )
            case ["-n", self.name, "-c", statement]:
                return self._run_statement(statement, now)
            case ["-n", name, *_]:
                return _fail(f"The storage subsystem {name} was not found in the configuration file.")
            case _:
                return _fail("Usage: SMcli ...")

    def _run_statement(self, text: str, now: float | None) -> SimulatedOutput:
        if text == "show storageSubsystem profile;":
            return SimulatedOutput(text=f"{_BEGIN}{self._profile_text()}\n{_END}", seconds=3)
        if self.locked:
            return _fail("error code 4 - Resource is busy: another process changes the storage subsystem.")
        if match := _SET_SYSTEM.fullmatch(text):
            refusal = self._set_system(match[1], match[2])
        elif match := _SET_VOLUME.fullmatch(text):
            refusal = self._set_volumes(re.findall(r'"([^"]+)"', match[1]), match[2], match[3], now)
        else:
            return SimulatedOutput(
                text="Performing syntax check...\n\nSyntax error.\n\nSMcli failed.\n", code=1, seconds=3
            )
        return _fail(refusal) if refusal else SimulatedOutput(text=_BEGIN + _END, seconds=6)

    def _set_system(self, word: str, value: str) -> str:
        number = int(value) if value.isdigit() else -1
        match word:
            case "cacheBlockSize" if number in self.blocks:
                self.block_kib = number
            case "cacheFlushStart" if (self.flush_stop if self.strict else 0) <= number <= 100:
                self.flush_start = number
            case "cacheFlushStop" if 0 <= number <= (self.flush_start if self.strict else 100):
                self.flush_stop = number
            case _:
                return f"The value {value} is not valid for the parameter {word}."
        return ""

    def _set_volumes(self, names: list[str], word: str, value: str, now: float | None) -> str:
        by_name = {volume.name: volume for volume in self.volumes}
        if len(names) > _MOST:
            return f"A command may name {_MOST} logical drives at most."
        for name in names:
            disk = by_name.get(name)
            refusal = f"No logical drive {name}." if disk is None else self._set_volume(disk, word, value, now)
            if refusal:
                return refusal
        return ""

    def _set_volume(self, disk: HostDisk, word: str, value: str, now: float | None) -> str:
        if word in _SWITCHES and value in ("TRUE", "FALSE"):
            setattr(disk, _SWITCHES[word], value == "TRUE")
            return ""
        match word:
            case "segmentSize" if now is not None and now < disk.moved_by:
                return f"An operation on the logical drive {disk.name} is in progress."
            case "segmentSize" if value in ("8", "16", "32", "64", "128", "256", "512"):
                disk.segment_kib = int(value)
                disk.moved_by = 0.0 if now is None else now + disk.size_bytes / _MOVES_A_SECOND
            case "modificationPriority" if value in ("highest", "high", "medium", "low", "lowest"):
                disk.priority = value
            case "cacheFlushModifier" if value in ("Immediate", "Infinite"):
                disk.flush = 0.0 if value == "Immediate" else None
            case "cacheFlushModifier" if value in _MILLISECONDS:
                disk.flush = _MILLISECONDS[value]
            case "cacheFlushModifier" if value.isdigit() and int(value) in _SECONDS:
                disk.flush = float(value)
            case _:
                return f"The value {value} is not valid for the parameter {word}."
        return ""

    def _profile_text(self) -> str:
        sections = (
            f"PROFILE FOR STORAGE SUBSYSTEM: {self.name} (6/22/10 3:12:55 PM)\n",
            self._summary_text(),
            _section(
                "CONTROLLERS", f"   Number of controllers: 2\n{self._controller_text('A')}{self._controller_text('B')}"
            ),
            _section("ARRAYS", self._array_text()),
            _section("STANDARD LOGICAL DRIVES", self._volumes_text()),
            _section("DRIVES", self._drives_text()),
            _section("ENCLOSURES", self._enclosures_text()),
        )
        return "\n".join(sections)

    def _summary_text(self) -> str:
        return _section(
            "SUMMARY",
            _lines(
                3,
                {
                    "Number of controllers": "2",
                    "Number of arrays": "1",
                    "Total number of logical drives used": str(len(self.volumes)),
                    "Number of drives": str(self.drives),
                    "Start cache flushing at (in percentage)": str(self.flush_start),
                    "Stop cache flushing at (in percentage)": str(self.flush_stop),
                    "Cache block size (in KB)": str(self.block_kib),
                    "Storage Subsystem world-wide identifier (ID)": self.wwn,
                },
            ),
        )

    def _controller_text(self, slot: str) -> str:
        rows = {
            "Status": "Online" if slot == "A" else self.second,
            "Firmware version": "07.36.12.00",
            "Board ID": "3994",
            "Product ID": self.product_id,
            "Serial number": f"1T8273014{slot}",
            "Cache/processor size (MB)": "1536/512",
        }
        ports = {"Drive interface": "Fibre", "Host interface": "Fibre", "Link status": "Up"}
        return f"\n   Controller in Enclosure 85, Slot {slot}\n\n{_lines(6, rows)}\n{_lines(9, ports)}"

    def _array_text(self) -> str:
        heading = _lines(3, {"Number of arrays": "1"}) + "\n"
        array_rows = {"Name": "1", "Status": "Optimal", "RAID level": "5", "Drive media type": "Hard Disk Drive"}
        drives = "".join(f"         0          {slot}\n" for slot in range(1, self.drives + 1))
        rows = "".join(f"         {volume.name:<12}{_capacity_text(volume.gigabytes)}\n" for volume in self.volumes)
        logical = f"      Associated logical drives and free capacity\n\n         Logical Drive  Capacity\n{rows}"
        present = f"      Associated drives - present (in piece order)\n\n         Enclosure  Slot\n{drives}"
        return f"{heading}{_lines(6, array_rows)}\n{logical}\n{present}"

    def _volumes_text(self) -> str:
        head = f"   SUMMARY\n\n   Number of standard logical drives: {len(self.volumes)}\n\n   DETAILS\n"
        return head + "".join(f"\n{self._volume_text(volume)}" for volume in self.volumes)

    def _volume_text(self, disk: HostDisk) -> str:
        wwn_text = ":".join(disk.wwn[at : at + 2] for at in range(0, len(disk.wwn), 2))
        write_cache = "Enabled" if disk.write_cache else "Disabled"
        flush = "Infinite" if disk.flush is None else "Immediate" if not disk.flush else f"{disk.flush:.2f}"
        rows = {
            "Logical Drive status": "Optimal",
            "Capacity": _capacity_text(disk.gigabytes),
            "Logical Drive ID": wwn_text,
            "Subsystem ID (SSID)": "0",
            "Associated array": disk.array,
            "RAID level": disk.level,
            "Drive type": "Fibre Channel",
            "Preferred owner": "Controller in slot A",
            "Current owner": "Controller in slot A",
            "Segment size": f"{disk.segment_kib} KB",
            "Maximum future segment size": "2,048 KB",
            "Modification priority": disk.priority.capitalize(),
            "Read cache": _switch_text(disk.read_cache),
            "Write cache": write_cache,
            "   Write cache without batteries": _switch_text(disk.without_battery),
            "   Write cache with mirroring": _switch_text(disk.mirroring),
            "Flush write cache after (in seconds)": flush,
            "Dynamic cache read prefetch": _switch_text(disk.prefetch),
            "Enable background media scan": "Enabled",
        }
        return f"   Logical Drive name: {disk.name}\n\n{_lines(6, rows)}"

    def _drives_text(self) -> str:
        count = self.drives + self.unassigned
        head = f"   SUMMARY\n   Number of drives: {count}\n\n   DETAILS\n"
        return head + "".join(self._drive_text(slot) for slot in range(1, count + 1))

    def _drive_text(self, slot: int) -> str:
        rows = {
            "Status": "Optimal",
            "Mode": "Assigned" if slot <= self.drives else "Unassigned",
            "Raw capacity": "68.366 GB",
            "Usable capacity": "67.866 GB",
            "World-wide identifier": f"20:00:00:14:c3:9f:4e:{slot:02x}:00:00:00:00:00:00:00:00",
            **({"Associated array": "1"} if slot <= self.drives else {}),
            "Media type": "Hard Disk Drive",
            "Interface type": "Fibre Channel",
            "Drive path redundancy": "OK",
            "Speed": "15,000 RPM",
            "Current data rate": "4 Gbps",
            "Product ID": "ST373454FC",
            "Drive firmware version": "F3R1",
            "Serial number": f"3KP0{slot:04d}",
        }
        return f"\n   Drive at Enclosure 0, Slot {slot}\n\n{_lines(6, rows)}"

    def _enclosures_text(self) -> str:
        batteries = "".join(
            f"\n         Battery status: {self.battery}\n            Location: Controller {slot}\n" for slot in "AB"
        )
        fans = "\n         Fan Status: Optimal\n         Fan Status: Optimal\n"
        return (
            "   Controller Enclosure 85 Overall Component Information\n\n"
            "      Part number: PN 41Y0676\n      Serial number: SN 13F0042ZK\n\n"
            f"      2 Battery Packs Detected\n{batteries}\n      2 Power-Fan Canisters Detected\n{fans}"
        )


def _fail(reason: str) -> SimulatedOutput:
    return SimulatedOutput(text=f"{_BEGIN}{reason}\n\nScript execution complete.\n\nSMcli failed.\n", code=1, seconds=5)


def _section(title: str, body: str) -> str:
    return f"{title}{'-' * 30}\n{body}"


def _lines(indent: int, rows: dict[str, str]) -> str:
    return "".join(f"{' ' * indent}{label + ':':<46}{value}\n" for label, value in rows.items())


def _capacity_text(gigabytes: float) -> str:
    return f"{gigabytes:,.3f} GB" if gigabytes >= 1 else f"{gigabytes * 1024:,.3f} MB"


def _switch_text(is_enabled: bool) -> str:
    return "Enabled" if is_enabled else "Disabled"
