"""Simulated md array: its state in the kernel, and the effect of writes to its sysfs files."""

from __future__ import annotations

import re
from dataclasses import field

from backends import raid
from backends.errors import ToolFailedError
from backends.model import Level
from backends.simulator.tool_output import invalid_argument
from backends.values import dataclass

SYSTEM = {"sync_speed_min": 1000, "sync_speed_max": 200_000}
"""System-wide resync limits in KiB/s, for arrays without limits of their own."""

OFFSET_SECTORS = 264_192
"""Start of the data on a member, in sectors."""

OFFSET_COPIES = 1 << 16
"""Flag in the layout number of a RAID 10: far copies are in the next stripe (drivers/md/raid10.h)."""

SAFE_MODE_MS = 200
"""Default milliseconds that an array stays dirty after a write (drivers/md/md.c)."""

STRIPES = {
    "stripe_cache_size": (256, 17, 32768),
    "preread_bypass_threshold": (1, 0, 32768),
    "group_thread_cnt": (0, 0, 8192),
    "skip_copy": (0, 0, 1),
    "rmw_level": (1, 0, 2),
}
"""Default, minimum and maximum of the settings of levels with parity (drivers/md/raid5.c)."""

_PARITY = ("raid4", "raid5", "raid6")

_JOBS = ("check", "repair")
"""Jobs that can be written to `sync_action`."""

_FLAGS = {"writemostly": "write_mostly", "failfast": "failfast"}


@dataclass(slots=True, kw_only=True)
class MdMember:
    """One member of an array."""

    name: str
    """Kernel name."""
    flags: list[str] = field(default_factory=list)
    """Flags that are set: `write_mostly`, `failfast`."""
    blank: bool = False
    """True if its superblock was erased since the array was stopped."""


@dataclass(slots=True, kw_only=True)
class MdArray:
    """One md array."""

    name: str
    """Kernel name such as `md0`."""
    label: str
    """Name in the superblock, with the host name before a colon: `rack-linux:md0`."""
    uuid: str
    """UUID in the kernel's format."""
    level: str
    """`raid0`, `raid1`, `raid5`, `raid6`, `raid10`."""
    members: list[MdMember]
    """Members by slot."""
    component_kib: int
    """KiB used of each member."""
    chunk: int = 0
    """Chunk size in bytes; 0 for a level without chunks."""
    layout: int = 0
    """Layout number of the kernel."""
    bitmap: bool = True
    """True if it has a write-intent bitmap."""
    limits: dict[str, int] = field(default_factory=dict)
    """Resync limits that were set for this array, in KiB/s, as `sync_speed_min` and `sync_speed_max`."""
    safe_mode_ms: int = SAFE_MODE_MS
    """Milliseconds after the last write until the array is marked clean."""
    stripes: dict[str, int] = field(default_factory=dict)
    """Changed settings of `STRIPES`."""
    sequence: int = 0
    """Creation number, by which the kernel disk of a re-created array is recognised as a different one."""
    created: float = 0.0
    """Creation time in simulated time."""
    work: str = ""
    """Running background work: `resync`, `recover`, `check`, `repair` or `reshape`; "" for none."""
    began: float = 0.0
    """Start of the background work in simulated time."""
    old_chunk: int = 0
    """Chunk size in bytes before the running reshape; 0 if there is none."""

    @property
    def size_bytes(self) -> int:
        """Usable bytes."""
        count = len(self.members)
        if self.level == "raid10":
            return self.component_kib * 1024 * count // self.copies
        return self.component_kib * 1024 * (raid.data_drives(Level(self.level), count) or 1)

    @property
    def copies(self) -> int:
        """Copies of every chunk in a RAID 10: near copies times far copies (drivers/md/raid10.c, setup_geo)."""
        return max(self.layout & 0xFF, 1) * max(self.layout >> 8 & 0xFF, 1)

    @property
    def arrangement(self) -> str:
        """Layout of the copies of a RAID 10: `near`, `far`, `offset`."""
        return "near" if self.layout >> 8 & 0xFF <= 1 else "offset" if self.layout & OFFSET_COPIES else "far"

    @property
    def now(self) -> str:
        """Current RAID level. While a RAID 0 is being reshaped, it is a RAID 4 without its parity drive."""
        return "raid4" if self.level == "raid0" and self.work else self.level

    @property
    def redundant(self) -> bool:
        """True if its level has redundancy, so that it can resync."""
        return self.now != "raid0"

    @property
    def missing(self) -> int:
        """Number of members whose data must be reconstructed: 1 while a new RAID 5 builds its last member."""
        return int(self.work == "recover")

    def begin(self, work: str, now: float) -> None:
        """Start background work."""
        self.work, self.began = work, now

    def progress(self, now: float) -> float:
        """Return the completed share of the background work, 0..1; 1 if none is running."""
        speed = self.limits.get("sync_speed_max", SYSTEM["sync_speed_max"])
        return 1.0 if not self.work else min(1.0, max(0.0, now - self.began) * speed / self.component_kib)

    def settle(self, now: float) -> None:
        """End background work that is complete."""
        if self.work and self.progress(now) >= 1.0:
            self.work, self.old_chunk = "", 0

    def files(self, now: float) -> dict[str, str]:
        """Return the files of the array's `md` folder in Linux 6.1, by name."""
        total, missing = self.component_kib * 2, self.missing + (self.now == "raid4")
        done = f"{int(total * self.progress(now))} / {total}" if self.work else "none"
        speed = str(self.limits.get("sync_speed_max", SYSTEM["sync_speed_max"])) if self.work else "none"
        texts = {
            "array_state": "clean",
            "level": self.now,
            "raid_disks": str(len(self.members) + (self.now == "raid4")),
            "chunk_size": f"{self.chunk} ({self.old_chunk})" if self.old_chunk else str(self.chunk),
            "layout": str(self.layout),
            "metadata_version": "1.2",
            "uuid": self.uuid,
            "component_size": str(self.component_kib if self.redundant else 0),
            "consistency_policy": "bitmap" if self.bitmap else "resync" if self.redundant else "none",
            "safe_mode_delay": f"{self.safe_mode_ms // 1000}.{self.safe_mode_ms % 1000:03d}",
            "bitmap/location": "+8" if self.bitmap else "none",
            "bitmap/chunksize": str(64 << 20) if self.bitmap else "0",
            "bitmap/metadata": "internal",
        }
        if self.redundant:
            texts |= {
                "degraded": str(missing),
                "sync_action": self.work or "idle",
                "sync_completed": done,
                "sync_speed": speed,
                "mismatch_cnt": "0",
            }
        for key, system in SYSTEM.items() if self.redundant else ():
            limit = self.limits.get(key)
            texts[key] = f"{system} (system)" if limit is None else f"{limit} (local)"
        if self.now in _PARITY:
            texts |= {key: str(self.stripes.get(key, first)) for key, (first, _, _) in STRIPES.items()}
        for slot, member in enumerate(self.members):
            in_sync = slot < len(self.members) - self.missing
            member_texts = {
                "state": ",".join(["in_sync" if in_sync else "spare", *member.flags]),
                "slot": str(slot),
                "size": str(self.component_kib),
                "offset": str(OFFSET_SECTORS),
                "errors": "0",
            }
            texts |= {f"dev-{member.name}/{key}": text for key, text in member_texts.items()}
        return texts

    def write(self, key: str, text: str, now: float = 0.0) -> None:
        """Write `text` to the file `key` of the array's `md` folder. `now`: the simulated time.

        Raises ToolFailedError if the kernel refuses the value.
        """
        if key in SYSTEM and self.redundant:
            self._set_limit(key, text)
        elif key == "safe_mode_delay" and (match := re.fullmatch(r"(\d{1,5})\.(\d{3})", text)):
            self.safe_mode_ms = int(match[1]) * 1000 + int(match[2])
        elif key in STRIPES and self.now in _PARITY:
            self._set_stripe_value(key, text)
        elif key == "sync_action" and self.redundant:
            self._run_action(text, now)
        elif (
            member := next((member for member in self.members if key == f"dev-{member.name}/state"), None)
        ) is not None:
            _set_flag(member, text)
        else:
            raise invalid_argument(text)

    def _set_stripe_value(self, key: str, text: str) -> None:
        _, least, most = STRIPES[key]
        if key == "preread_bypass_threshold":
            most = self.stripes.get("stripe_cache_size", STRIPES["stripe_cache_size"][0])
        if not re.fullmatch(r"\d{1,6}", text) or not least <= int(text) <= most:
            raise invalid_argument(text)
        self.stripes[key] = int(text)

    def _run_action(self, text: str, now: float) -> None:
        """Start or end background work. A check or repair needs an idle array; an aborted recovery starts again."""
        if text == "idle":
            self.work = self.work if self.work in ("recover", "reshape") else ""
        elif text not in _JOBS:
            raise invalid_argument(text)
        elif self.work:
            raise ToolFailedError(f"The kernel refused {text!r}: Device or resource busy.", evidence="EBUSY")
        else:
            self.begin(text, now)

    def _set_limit(self, key: str, text: str) -> None:
        if text == "system":
            self.limits.pop(key, None)
        elif re.fullmatch(r"\d{1,10}", text) and int(text):
            self.limits[key] = int(text)
        else:
            raise invalid_argument(text)

    def stat_lines(self, now: float) -> list[str]:
        """Return the lines of the array in /proc/mdstat."""
        letters = {"write_mostly": "(W)"}
        members = [
            f"{member.name}[{slot}]{''.join(letters.get(flag, '') for flag in member.flags)}"
            for slot, member in enumerate(self.members)
        ]
        chunks = {
            "raid4": f" level 4, {self.chunk // 1024}k chunk, algorithm 5",
            "raid10": f" {self.chunk // 1024}K chunks {self.copies} {self.arrangement}-copies",
            "raid0": f" {self.chunk // 1024}k chunks",
            "raid5": f" level 5, {self.chunk // 1024}k chunk, algorithm {self.layout}",
            "raid6": f" level 6, {self.chunk // 1024}k chunk, algorithm {self.layout}",
        }
        count = len(self.members)
        made_for = count + (self.now == "raid4")
        working = count - self.missing
        health = f" [{made_for}/{working}] [{'U' * working}{'_' * (made_for - working)}]" if self.redundant else ""
        blocks = f"      {self.size_bytes // 1024} blocks super 1.2{chunks.get(self.now, '')}{health}"
        lines = [f"{self.name} : active {self.now} {' '.join(reversed(members))}", blocks]
        if self.work:
            share = self.progress(now)
            word = "recovery" if self.work == "recover" else self.work
            lines.append(f"      [>....................]  {word} = {share:5.1%} ({0}/{self.component_kib}) ")
        if self.bitmap:
            lines.append("      bitmap: 0/8 pages [0KB], 65536KB chunk")
        return [*lines, ""]


def component_of(size_bytes: int) -> int:
    """Return the KiB of a drive that an array can use: the space after the metadata, in full MiB."""
    return size_bytes // 1024 // 1024 * 1024 - OFFSET_SECTORS // 2


def _set_flag(member: MdMember, text: str) -> None:
    flag = _FLAGS.get(text.removeprefix("-"))
    if flag is None:
        raise invalid_argument(text)
    other_flags = [name for name in member.flags if name != flag]
    member.flags = other_flags if text.startswith("-") else [*other_flags, flag]
