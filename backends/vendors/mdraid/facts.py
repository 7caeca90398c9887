"""Facts about md arrays from sysfs and /proc/mdstat, and parsers for both. No I/O.

Format of /proc/mdstat: drivers/md/md.c, md_seq_show and status_resync. Each RAID personality (the kernel's driver of a
level) adds its own text to the second line of an entry.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field

from backends import raid
from backends.model import Level, State
from backends.text import clean
from backends.tool_output import CompletenessCheck
from backends.topology.tree import number
from backends.values import dataclass
from backends.vendors.mdraid.layouts import layout_word

WHOLE_MDSTAT = CompletenessCheck(
    tool="/proc/mdstat",
    mark="the line `unused devices:` at the end",
    missing=lambda text: "" if re.search(r"^unused devices: ", text, re.MULTILINE) else "`unused devices:` is missing",
    statuses=frozenset(),
)

_HEAD = re.compile(r"(md\S{0,40}) : (active|inactive)( \([a-z-]{1,20}\))?( .*)?")
_MEMBER = re.compile(r"(\S{1,64})\[([0-9]{1,5})\]((?:\([A-Z]\)){0,8})")
_ACTION = re.compile(r"\b(resync|recovery|reshape|check|repair) {1,3}= {1,3}([0-9]{1,3}\.[0-9])% ")
_WAITING = re.compile(r"\b(resync|recovery|reshape|check|repair) {0,3}= {0,3}(DELAYED|PENDING|REMOTE)")
_SPEED = re.compile(r"speed=([0-9]{1,12})K/sec")
_BITMAP = re.compile(r"bitmap: (.{1,120})")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatRow:
    """Entry of one array in /proc/mdstat."""

    state: str
    """`active`, `inactive`, `active (read-only)`, `active (auto-read-only)`."""
    level: str | None = None
    """`raid5`; None for an inactive array without a level."""
    members: Mapping[str, str] | None = None
    """Flags of each member (`F`, `S`, `W`, `R`, `J`, concatenated) by kernel name."""
    action: str | None = None
    """`resync`, `recovery`, `reshape`, `check`, `repair`; None if the array is idle."""
    progress: float | None = None
    """Completed part of the work, 0..1."""
    speed_kib: int | None = None
    """Speed in KiB/s."""
    waiting: bool = False
    """Whether the work waits: DELAYED by work on another array, or PENDING until the first write."""
    bitmap: str | None = None
    """Description of the bitmap, such as `1/1 pages [4KB], 65536KB chunk`."""


def parse_mdstat(text: str) -> Mapping[str, StatRow]:
    """Return the entries of all arrays in /proc/mdstat by kernel name. Other lines are ignored."""
    blocks: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.split("\n")[:20_000]:
        if head := _HEAD.match(line[:20_000]):
            current = blocks.setdefault(clean(head[1], 40), [])
            current.clear()
            current.append(line)
        elif current is not None and line[:1] == " ":
            current.append(line[:400])
        elif line.strip():
            current = None
    return {name: _row(lines) for name, lines in blocks.items()}


def _row(lines: list[str]) -> StatRow:
    head = _HEAD.match(lines[0][:20_000])
    assert head is not None
    tokens = (head[4] or "").split()
    level = clean(tokens[0], 32) if tokens and "[" not in tokens[0] else None
    matches = (_MEMBER.fullmatch(token[:200]) for token in tokens)
    members = {clean(match[1], 64): match[3].replace("(", "").replace(")", "") for match in matches if match}
    body = "\n".join(lines[1:40])
    running, waiting, speed = _ACTION.search(body), _WAITING.search(body), _SPEED.search(body)
    bitmap = _BITMAP.search(body)
    return StatRow(
        state=head[2] + (head[3] or ""),
        level=level,
        members=members,
        action=running[1] if running else waiting[1] if waiting else None,
        progress=_share(running[2]) if running else None,
        speed_kib=int(speed[1]) if speed and running else None,
        waiting=running is None and waiting is not None,
        bitmap=clean(bitmap[1]) if bitmap else None,
    )


def _share(percent: str) -> float | None:
    """Return a percentage as 0..1; None above 100 %."""
    share = float(percent) / 100
    return share if share <= 1 else None


IMSM = "external:imsm"
"""Metadata version of containers with Intel's metadata."""

SECTOR = 512
"""Unit of md in bytes. It does not depend on the sector size of the members."""

_LEVELS = {
    "linear": Level.CONCAT,
    **{level.value: level for level in Level if level.value.startswith("raid") and len(level.value) < 7},
}
_TOLERATED = {"raid4": 1, "raid5": 1, "raid6": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReshapedValue:
    """A number of the geometry that a reshape may be changing: `131072 (65536)` is new and old."""

    now: int
    """The current value; during a reshape, the new value."""
    old: int | None = None
    """During a reshape, the old value, which still applies to the data not yet reshaped; None otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayDevice:
    """One device of an array."""

    name: str
    """Kernel name of a partition or disk; a `/` in it is `!` as in sysfs."""
    slot: int | None = None
    """Slot in the array; None for spares, failed and journal devices."""
    flags: tuple[str, ...] = ()
    """Flags in its `state` file: `in_sync`, `faulty`, `spare`, `write_mostly`, `failfast`, `journal`, ..."""
    size_bytes: int | None = None
    """Bytes that the array may use."""
    offset_bytes: int | None = None
    """Start of the data in bytes."""
    errors: int | None = None
    """Number of corrected read errors since the device was added."""

    @property
    def role(self) -> str:
        """Return the role of the device in the array, such as `spare` or `in sync`."""
        if "faulty" in self.flags:
            return "failed"
        if "journal" in self.flags:
            return "journal"
        if "replacement" in self.flags:
            return "replacement" if "in_sync" in self.flags else "replacement, being filled"
        if "in_sync" in self.flags:
            return "in sync"
        if "spare" in self.flags:
            return "spare" if self.slot is None else "being rebuilt"
        return ", ".join(self.flags) or "unknown"

    @property
    def marks(self) -> tuple[str, ...]:
        """Return descriptions of the special flags of the device, such as `write-mostly`."""
        texts = {
            "write_mostly": "write-mostly",
            "failfast": "failfast",
            "want_replacement": "to be replaced",
            "blocked": "blocked",
            "write_error": "has seen a write error",
        }
        return tuple(word for flag, word in texts.items() if flag in self.flags)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sync:
    """Background work of md on an array."""

    action: str
    """The kernel's term: `resync`, `recover`, `check`, `repair`, `reshape`."""
    progress: float | None = None
    """Completed part of the work, 0..1; None while it waits, or if it is not reported."""
    speed_kib: int | None = None
    """Speed in KiB/s on each member; None if it is not reported."""
    left_seconds: float | None = None
    """Remaining seconds at that speed; None if unknown."""
    waiting: bool = False
    """Whether the work waits for another array or for the first write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayFacts:
    """One array as reported by the kernel."""

    name: str
    """Kernel name, `md0`."""
    level_word: str
    """The kernel's name of the level; "" for a container or an array that was never started."""
    metadata: str = ""
    """`1.2`, `0.90`, `external:imsm`, `external:/md127/0`, `none`."""
    array_state: str = ""
    """The kernel's term: `clean`, `active`, `inactive`, `broken`, ..."""
    uuid: str | None = None
    """UUID in mdadm's spelling, `6689836f:97e6caec:c09b0e7b:40aefd16`."""
    disks: int | None = None
    """Configured number of members."""
    chunk: ReshapedValue | None = None
    """Chunk size in bytes; None if the level has no chunks."""
    layout: ReshapedValue | None = None
    """The kernel's layout number."""
    component_bytes: int | None = None
    """Bytes that are used of each member; None if they differ between members (RAID 0)."""
    degraded: int | None = None
    """Number of missing members."""
    members: tuple[ArrayDevice, ...] = ()
    """Members by slot, then the other devices by name."""
    sync: Sync | None = None
    """Background work."""
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Contents of its `md` folder, by file name."""
    stat: StatRow | None = None
    """Its entry in /proc/mdstat."""
    untold: frozenset[str] = frozenset()
    """Existing files of its `md` folder that could not be read: `degraded`, `dev-sda/state`."""
    cut: str = ""
    """Clause about the values that could not be read completely; "" if there are none."""

    @property
    def level(self) -> Level:
        """Return the RAID level as a term of the model; UNKNOWN for containers and for levels that the model does not
        have.
        """
        return _LEVELS.get(self.level_word, Level.UNKNOWN)

    @property
    def is_container(self) -> bool:
        """Return whether the array is a container, which only stores the metadata of other arrays (Intel, DDF)."""
        return self.metadata.startswith("external:") and not self.metadata.startswith(("external:/", "external:-"))

    @property
    def is_imsm(self) -> bool:
        """Return whether the array is a container of Intel's metadata (VROC, RST)."""
        return self.metadata == IMSM

    @property
    def container(self) -> str | None:
        """Return the kernel name of its container; None if it has none."""
        word = self.metadata.removeprefix("external:")
        if word == self.metadata or not word.startswith(("/", "-")):
            return None
        return clean(word[1:].partition("/")[0], 32) or None

    @property
    def foreign(self) -> str | None:
        """Return a clause about external metadata of the array; None if its metadata is md's own."""
        if self.container is not None:
            return f"its metadata is that of the container {self.container}"
        if not self.metadata.startswith("external:"):
            return None
        return f"it has external metadata ({self.metadata.removeprefix('external:')})"

    @property
    def layout_word(self) -> str | None:
        """Return mdadm's name of the layout; None if the level has none."""
        return None if self.layout is None else layout_word(self.level_word, self.layout.now)

    @property
    def active(self) -> tuple[ArrayDevice, ...]:
        """Return the members that are in sync and have a slot, by slot."""
        return tuple(member for member in self.members if member.slot is not None and "in_sync" in member.flags)

    @property
    def data_drives(self) -> int | None:
        """Return how many members hold data (not parity or copies) in each stripe; None if it is unknown or not a whole
        number.
        """
        if self.level is not Level.RAID10:
            return raid.data_drives(self.level, self.disks)
        if self.layout is None:
            return None
        # Near copies in the low byte, far copies in the next (drivers/md/raid10.c, setup_geo).
        copies = max(self.layout.now & 0xFF, 1) * max(self.layout.now >> 8 & 0xFF, 1)
        return raid.data_drives(self.level, self.disks, copies=copies)

    @property
    def is_converted(self) -> bool:
        """Return whether the array may be a RAID 0 that a reshape turned into a RAID 4: only its last disk, for parity,
        is missing.

        A real RAID 4 that lost its parity disk looks the same, but is not being reshaped.
        """
        return (
            self.level_word == "raid4"
            and self.degraded == 1
            and self.disks is not None
            and [device.slot for device in self.active] == list(range(self.disks - 1))
            and self.attributes.get("layout", "").startswith("5")
        )

    @property
    def state(self) -> State:
        """Return the state of the array as a term of the model."""
        if self.untold:
            return State.UNKNOWN
        if self.is_container:  # a container never runs
            return State.ONLINE
        if self.array_state in ("inactive", "clear", ""):
            return State.OFFLINE
        if self.array_state == "broken":
            return State.FAILED
        missing = self.degraded or 0
        # mdadm reshapes RAID 0 as a RAID 4 without a parity disk, which looks degraded but is not.
        if self.is_converted and self.sync is not None and self.sync.action == "reshape":
            return State.OPTIMAL
        if missing > _TOLERATED.get(self.level_word, missing):
            return State.FAILED
        # These levels have no `degraded` file, so a lost member is detected by counting.
        if self.level_word in ("raid0", "linear") and self.disks is not None and len(self.active) < self.disks:
            return State.FAILED
        if self.sync is not None and self.sync.action == "recover" and missing:
            return State.REBUILDING
        return State.DEGRADED if missing or self.lacks_journal else State.OPTIMAL

    @property
    def lacks_journal(self) -> bool:
        """Return whether the journal device is missing or faulty. md then rejects all writes (md(4))."""
        if self.attributes.get("consistency_policy") != "journal":
            return False
        return not any("journal" in device.flags and "faulty" not in device.flags for device in self.members)


def parse_moving(text: str | None) -> ReshapedValue | None:
    """Return the new and the old value of `131072 (65536)`, or the only value of `65536`; None for any other string."""
    new, _, bracketed = (text or "").partition(" ")
    now, old = _whole(new), _whole(bracketed.strip("()"))
    return None if now is None else ReshapedValue(now=now, old=old)


def _whole(text: str) -> int | None:
    """Return a whole number, which may be negative because RAID 0 has the layout -1; None for any other string."""
    bare = number(text.removeprefix("-"))
    return None if bare is None else -bare if text.startswith("-") else bare


def parse_limit(text: str | None) -> tuple[int, bool] | None:
    """Return the speed limit in KiB/s from a string such as `5000 (local)`, and whether it is that of this array (True)
    or the system-wide one (False); None for any other string.
    """
    value, _, source = (text or "").partition(" ")
    limit = number(value)
    if limit is None or source not in ("(system)", "(local)"):
        return None
    return limit, source == "(local)"


def parse_uuid(text: str | None) -> str | None:
    """Return a UUID from sysfs or udev in mdadm's spelling; None for any other string."""
    digits = (text or "").replace("-", "").replace(":", "").lower()
    if len(digits) != 32 or not set(digits) <= set("0123456789abcdef") or not digits.strip("0"):
        return None
    return ":".join(digits[at : at + 8] for at in range(0, 32, 8))


def parse_member(name: str, texts: Mapping[str, str]) -> ArrayDevice:
    """Return a member from the contents of the files in its `dev-NAME` folder."""
    size, offset = number(texts.get("size")), number(texts.get("offset"))
    return ArrayDevice(
        name=name,
        slot=number(texts.get("slot")),
        flags=tuple(word for part in texts.get("state", "").split(",") if (word := clean(part, 32))),
        size_bytes=None if not size else size * 1024,
        offset_bytes=None if offset is None else offset * SECTOR,
        errors=number(texts.get("errors")),
    )


def parse_sync(texts: Mapping[str, str], stat: StatRow | None) -> Sync | None:
    """Return the background work of an array, or None. `texts`: the files of its `md` folder.

    Only /proc/mdstat reports waiting work.
    """
    action = clean(texts.get("sync_action", ""), 16)
    stat_action = stat.action if stat is not None else None
    # While a resync waits for another array on the same disks, sysfs reports idle, and mdstat DELAYED or PENDING.
    if action in ("", "idle", "frozen"):
        if stat is None or stat_action is None or not stat.waiting:
            return None
        return Sync(action="recover" if stat_action == "recovery" else stat_action, waiting=True)
    done, slash, total = texts.get("sync_completed", "").partition(" / ")
    have, all_of = number(done), number(total)
    if "sync_completed" not in texts:  # no progress: that of mdstat is counted differently
        return Sync(action=action)
    if not slash or have is None or not all_of:
        return Sync(action=action, progress=stat.progress if stat is not None else None, waiting=True)
    speed = number(texts.get("sync_speed"))
    left = max(all_of - have, 0) * SECTOR / 1024
    return Sync(
        action=action,
        progress=min(have / all_of, 1.0),
        speed_kib=speed,
        left_seconds=left / speed if speed else None,
    )


def parse_array(
    name: str, texts: Mapping[str, str], members: Mapping[str, Mapping[str, str]], stat: StatRow | None
) -> ArrayFacts:
    """Return an array. `texts`: files of its `md` folder. `members`: files of each member's folder.

    `stat`: its entry in mdstat.
    """
    chunk = parse_moving(texts.get("chunk_size"))
    level = clean(texts.get("level", ""), 16)
    disks = parse_moving(texts.get("raid_disks"))
    component = number(texts.get("component_size"))
    devices = (parse_member(name, member_texts) for name, member_texts in members.items())
    return ArrayFacts(
        name=name,
        level_word=level,
        metadata=clean(texts.get("metadata_version", ""), 64),
        array_state=clean(texts.get("array_state", ""), 32),
        uuid=parse_uuid(texts.get("uuid")),
        disks=None if disks is None or disks.now <= 0 else disks.now,
        chunk=chunk if chunk is not None and chunk.now > 0 else None,
        layout=parse_moving(texts.get("layout")) if level in ("raid5", "raid6", "raid10") else None,
        component_bytes=None if not component else component * 1024,
        degraded=number(texts.get("degraded")),
        members=tuple(
            sorted(devices, key=lambda device: (device.slot is None, device.slot or 0, len(device.name), device.name))
        ),
        sync=parse_sync(texts, stat),
        attributes=dict(texts),
        stat=stat,
    )
