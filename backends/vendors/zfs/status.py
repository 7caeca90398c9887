"""What `zpool status -LP` tells of pools: their devices as a tree, how they are, what goes on. Pure.

The form is that of cmd/zpool/zpool_main.c (OpenZFS 2.1: status_callback, print_status_config), read by its indentation;
what is not understood is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from backends.model import State, Task
from backends.text import clean
from backends.values import dataclass

ROLES = {"logs": "log", "cache": "cache", "spares": "spare", "special": "special", "dedup": "dedup"}
"""Headings of devices that do not hold the pool's data like the others, and what each of these is called."""

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
"""zpool's and the kernel's words for pools and devices."""
_SCANS = {"resilver": "resync", "scrub": "consistency-check"}
_LONGEST = 1000
_ROW = re.compile(r" *(\S(?:.*?\S)?) {2,}([A-Z]+)((?: +[0-9][0-9.]*[KMGTPE]?){3})?(?: +(\S.*))?")
_DONE = re.compile(r"(\d{1,3}(?:\.\d{1,6})?)% done", re.ASCII)
_SCAN = re.compile(r"(resilver|scrub) (in progress|paused) since")


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolDevice:
    """A device of a pool, or what is made of several."""

    name: str
    """`mirror-0`, or the path of a device; not cleaned."""
    state: str
    """`ONLINE`, `DEGRADED`, ...; "" if not told."""
    depth: int
    """How far below the pool: 1 for what it stripes over."""
    role: str = ""
    """`log`, `cache`, `spare`, `special`, `dedup`; "" for what holds data."""
    errors: tuple[str, ...] = ()
    """Counts of failed reads and writes and of wrong checksums, as printed."""
    note: str = ""
    """What else stands in its row: `was /dev/sdb1`, `(resilvering)`."""

    @property
    def is_leaf(self) -> bool:
        """Whether it is a device."""
        return self.name.startswith("/")

    @property
    def words(self) -> str:
        """How it is: `online`, `faulted, 3 read errors (too many errors)`."""
        kinds = ("read", "write", "checksum")
        counts = [f"{clean(count, 12)} {kind} errors" for count, kind in zip(self.errors, kinds, strict=False)]
        counted = [words for words, count in zip(counts, self.errors, strict=False) if count not in ("0", "-")]
        note = [f"({clean(self.note, 80).strip('()')})"] if self.note else []
        return " ".join((", ".join((clean(self.state.lower(), 20) or "unknown", *counted)), *note))


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolStatus:
    """One pool."""

    name: str
    """Its name, not cleaned."""
    state_word: str = ""
    """`ONLINE`, `DEGRADED`, ..."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """`status`, `action`, `scan`, `errors`, each in one line."""
    vdevs: tuple[PoolDevice, ...] = ()
    """All below it in the order they are printed."""

    @property
    def state(self) -> State:
        """How it is; one that is put right again says so."""
        state = STATES.get(self.state_word, State.UNKNOWN)
        rebuilding = any(task.kind == "resync" for task in self.tasks)
        return State.REBUILDING if rebuilding and state is State.DEGRADED else state

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Resilver or scrub under way."""
        scan = self.texts.get("scan", "")
        found, done = _SCAN.search(scan), _DONE.search(scan)
        if found is None or found[2] == "paused":
            return ()
        return (Task(kind=_SCANS[found[1]], progress=min(round(float(done[1]) / 100, 6), 1.0) if done else None),)

    @property
    def why(self) -> str:
        """Why it is not as it should be: the first sentence that zpool has for that."""
        if self.state in (State.OPTIMAL, State.UNKNOWN):
            return ""
        return clean(re.split(r"\.(?: |$)", self.texts.get("status", ""), maxsplit=1)[0], 160)

    @property
    def layout(self) -> str:
        """What its data lie on: `mirror`, `2 x raidz2`, `3 x disk`; "" if nothing is told."""
        kinds = [_kind(vdev) for vdev in self.vdevs if vdev.depth == 1 and not vdev.role]
        counts = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
        return " and ".join(kind if count == 1 else f"{count} x {kind}" for kind, count in counts.items())

    def leaves(self) -> Iterator[PoolDevice]:
        """Its devices."""
        return (vdev for vdev in self.vdevs if vdev.is_leaf)


def parse_status(text: str) -> tuple[PoolStatus, ...]:
    """Every pool of the answer."""
    return tuple(_pool(lines) for lines in _cut(text))


def _cut(text: str) -> Iterable[list[str]]:
    """The lines of each pool."""
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
        front, colon, rest = line.partition(":")
        if colon and not line.startswith("\t") and front.strip().isalpha():
            key = front.strip()
            texts.setdefault(key, []).append(rest.strip())
        elif key:
            texts.setdefault(key, []).append(line)
    rows = texts.pop("config", [])
    joined = {key: " ".join(" ".join(rest).split()) for key, rest in texts.items()}
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
        found = _ROW.fullmatch(inner.rstrip())
        depth = (len(inner) - len(inner.lstrip(" "))) // 2
        if found is None or depth == 0 or (depth == 1 and not role and word == pool):
            continue
        yield PoolDevice(
            name=found[1],
            state=found[2],
            depth=depth,
            role=role,
            errors=tuple((found[3] or "").split()),
            note=found[4] or "",
        )


def _kind(vdev: PoolDevice) -> str:
    """`mirror` of `mirror-0`; `disk` of a device."""
    return "disk" if vdev.is_leaf else clean(re.sub(r"-\d+$", "", vdev.name, flags=re.ASCII), 40)
