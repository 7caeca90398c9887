"""Parser for `zpool status -LP`: the device tree of each pool, its state, and its background tasks. No I/O.

The format is that of cmd/zpool/zpool_main.c (OpenZFS 2.1 to 2.3: status_callback, print_status_config). The
indentation shows the tree. Unknown parts are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from backends.model import State, Task
from backends.text import clean
from backends.values import dataclass

ROLES = {"logs": "log", "cache": "cache", "spares": "spare", "special": "special", "dedup": "dedup"}
"""Role of the devices below each heading of the output, for devices that do not hold the pool's normal data."""

STATES = {
    "ONLINE": State.OPTIMAL,
    "DEGRADED": State.DEGRADED,
    "FAULTED": State.FAILED,
    "UNAVAIL": State.FAILED,
    "SUSPENDED": State.FAILED,
    "OFFLINE": State.OFFLINE,
    "REMOVED": State.MISSING,
    "AVAIL": State.SPARE,
    "INUSE": State.ONLINE,
}
"""The model's state for each state of a pool or device in zpool and the kernel."""
_SCANS = {"resilver": "resync", "scrub": "consistency-check"}
_NOTED = {"trimming": "trim", "initializing": "initialisation"}
"""Task for each note in the row of a device. The progress is not printed without further options."""
_LONGEST = 1000
_ROW = re.compile(r" *(\S(?:.*?\S)?) {2,}([A-Z]+)((?: +[0-9][0-9.]*[KMGTPE]?){3})?(?: +(\S.*))?")
_DONE = re.compile(r"(\d{1,3}(?:\.\d{1,6})?)% done", re.ASCII)
_SCAN = re.compile(r"\b(resilver|scrub)(?: \([^()]{1,200}\))? (in progress|paused) since")
"""Pattern of the phrase about a running or paused scan.

A sequential resilver prints it for each group: `resilver (mirror-0) in progress since`.
"""
_MOVES = {
    "expand": ("reshape", re.compile(r"expansion of .{1,200} in progress since")),
    "remove": ("removal", re.compile(r"Evacuation of .{1,200} in progress since")),
    "checkpoint": ("checkpoint-discard", re.compile(r"discarding\b")),
}
"""Kind of task and pattern of the phrase about it, by paragraph of the output, for tasks that are not scans."""
_WAITS = "paused for resilver"
_NUMBER = re.compile(r"\d{6,20}", re.ASCII)
"""Pattern of the numeric ID that zpool prints instead of the path of a missing device."""
_DRAID = re.compile(r"(draid[123]?):(\d{1,5})d:(\d{1,5})c:(\d{1,3})s(?::\S{1,60}?)?-\d{1,5}", re.ASCII)
_DRAID_SPARE = re.compile(r"draid[123]?-\d{1,5}-\d{1,5}", re.ASCII)
_REPLACED = ("replacing", "spare")
"""Names of the group that zpool shows in place of a device while the device is being replaced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolDevice:
    """A device of a pool, or a group of devices."""

    name: str
    """`mirror-0`, or the path of a device; not cleaned."""
    state: str
    """`ONLINE`, `DEGRADED`, ...; "" if it is not reported."""
    depth: int
    """Level below the pool: 1 for the top-level groups."""
    role: str = ""
    """`log`, `cache`, `spare`, `special`, `dedup`; "" for normal data."""
    errors: tuple[str, ...] = ()
    """Numbers of read, write and checksum errors, as printed."""
    note: str = ""
    """Rest of its row: `was /dev/sdb1`, `(resilvering)`."""

    @property
    def is_leaf(self) -> bool:
        """Return whether it is a device, not a group. zpool shows a missing device by its numeric id."""
        return self.name.startswith("/") or _NUMBER.fullmatch(self.name) is not None

    @property
    def is_distributed_spare(self) -> bool:
        """Return whether it is a distributed spare: spare space on all disks of a dRAID."""
        return _DRAID_SPARE.fullmatch(self.name) is not None

    @property
    def kind(self) -> str:
        """Return `mirror` for `mirror-0`, `draid2` for `draid2:4d:11c:1s-0`, `disk` for a device or its replacement."""
        if self.is_leaf:
            return "disk"
        if draid := _DRAID.fullmatch(self.name):
            return "draid1" if draid[1] == "draid" else draid[1]
        word = clean(re.sub(r"-\d+$", "", self.name, flags=re.ASCII), 40)
        return "disk" if word in _REPLACED else word

    @property
    def draid(self) -> str:
        """Return the layout of a dRAID: `4 data drives per stripe, 11 disks, 1 distributed spare`; "" for others."""
        match = _DRAID.fullmatch(self.name)
        if match is None:
            return ""
        spares = f"{match[4]} distributed spare{'' if match[4] == '1' else 's'}"
        return f"{match[2]} data drives per stripe, {match[3]} disks, {spares}"

    @property
    def condition(self) -> str:
        """Return state, errors and note as a phrase: `online`, `faulted, 3 read errors (too many errors)`."""
        kinds = ("read", "write", "checksum")
        counts = [f"{clean(count, 12)} {kind} errors" for count, kind in zip(self.errors, kinds, strict=False)]
        counted = [text for text, count in zip(counts, self.errors, strict=False) if count not in ("0", "-")]
        note = [f"({clean(self.note, 80).strip('()')})"] if self.note else []
        return " ".join((", ".join((clean(self.state.lower(), 20) or "unknown", *counted)), *note))


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolStatus:
    """State of one pool."""

    name: str
    """Name of the pool; not cleaned."""
    state_word: str = ""
    """State as zpool prints it: `ONLINE`, `DEGRADED`, ..."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Paragraphs `status`, `action`, `scan`, `errors`, each as one line."""
    vdevs: tuple[PoolDevice, ...] = ()
    """All devices and groups, in the printed order."""

    @property
    def state(self) -> State:
        """Return the state. A degraded pool that is resilvering counts as REBUILDING."""
        state = STATES.get(self.state_word, State.UNKNOWN)
        rebuilding = any(task.kind == "resync" for task in self.tasks)
        return State.REBUILDING if rebuilding and state is State.DEGRADED else state

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Return the running background tasks: resilvers, scrubs, data moves, tasks of devices.

        Paused tasks are left out.
        """
        under_way = [*self._scans(), *self._moves()]
        notes = " ".join(vdev.note for vdev in self.vdevs)
        under_way += [Task(kind=kind) for word, kind in _NOTED.items() if f"({word}" in notes]
        return tuple({task.kind: task for task in reversed(under_way)}.values())[::-1]

    def _scans(self) -> Iterator[Task]:
        """Yield the running resilvers and scrubs. The paragraph `scan` contains them one after the other."""
        text = self.texts.get("scan", "")
        begins = [*_SCAN.finditer(text)]
        ends = [*(begin.start() for begin in begins), len(text)][1:]
        for begin, end in zip(begins, ends, strict=True):
            if begin[2] != "paused":
                yield Task(kind=_SCANS[begin[1]], progress=_progress(text[begin.end() : end]))

    def _moves(self) -> Iterator[Task]:
        for key, (kind, pattern) in _MOVES.items():
            text = self.texts.get(key, "")
            if pattern.search(text) and _WAITS not in text:
                yield Task(kind=kind, progress=_progress(text))

    @property
    def why(self) -> str:
        """Return the first sentence of zpool's explanation why the pool is not healthy; "" if it is healthy."""
        if self.state in (State.OPTIMAL, State.UNKNOWN):
            return ""
        return clean(re.split(r"\.(?: |$)", self.texts.get("status", ""), maxsplit=1)[0], 160)

    @property
    def tops(self) -> tuple[PoolDevice, ...]:
        """Return the top-level groups and devices, over which the data is striped."""
        return tuple(vdev for vdev in self.vdevs if vdev.depth == 1 and not vdev.role)

    @property
    def layout(self) -> str:
        """Return the layout: `mirror`, `2 x raidz2`, `3 x disk`; "" if it is not reported."""
        kinds = [vdev.kind for vdev in self.tops]
        counts = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
        return " and ".join(kind if count == 1 else f"{count} x {kind}" for kind, count in counts.items())

    def leaves(self) -> Iterator[PoolDevice]:
        """Return the devices of the pool, without groups."""
        return (vdev for vdev in self.vdevs if vdev.is_leaf)


def parse_status(text: str) -> tuple[PoolStatus, ...]:
    """Return every pool in the output."""
    return tuple(_pool(lines) for lines in _cut(text))


def _cut(text: str) -> Iterable[list[str]]:
    """Yield a list of lines for each pool in the output."""
    lines: list[str] = []
    for line in text.split("\n"):
        if line.startswith("  pool: "):
            if lines:
                yield lines
            lines = [line]
        elif lines:
            lines.append(line[:_LONGEST])
    if lines:
        yield lines


def _pool(lines: list[str]) -> PoolStatus:
    name = lines[0][len("  pool: ") :]
    texts: dict[str, list[str]] = {}
    key = ""
    for line in lines[1:]:
        front, colon, text = line.partition(":")
        if colon and not line.startswith("\t") and front.strip().isalpha():
            key = front.strip()
            texts.setdefault(key, []).append(text.strip())
        elif key:
            texts.setdefault(key, []).append(line)
    rows = texts.pop("config", [])
    joined = {key: " ".join(" ".join(text).split()) for key, text in texts.items()}
    return PoolStatus(name=name, state_word=joined.pop("state", ""), texts=joined, vdevs=tuple(_vdevs(rows, name)))


def _vdevs(rows: Iterable[str], pool: str) -> Iterator[PoolDevice]:
    role = ""
    for row in rows:
        inner = row.removeprefix("\t")
        word = inner.strip()
        if inner == row or not word or word.startswith("NAME "):
            continue
        if word in ROLES and not inner.startswith(" "):
            role = ROLES[word]
            continue
        match = _ROW.fullmatch(inner.rstrip())
        depth = (len(inner) - len(inner.lstrip(" "))) // 2
        if match is None or depth == 0 or (depth == 1 and not role and word == pool):
            continue
        yield PoolDevice(
            name=match[1],
            state=match[2],
            depth=depth,
            role=role,
            errors=tuple((match[3] or "").split()),
            note=match[4] or "",
        )


def _progress(text: str) -> float | None:
    """Return the completed part of a task from its text, 0..1; None if it is not printed."""
    done = _DONE.search(text)
    return min(round(float(done[1]) / 100, 6), 1.0) if done else None
