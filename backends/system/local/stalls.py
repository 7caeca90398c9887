"""Whether a program that runs gets anywhere, and which block device it waits for where it does not.

A program that waits for a disk sleeps in the kernel, often where not even SIGKILL reaches it. One that is only slow
uses the processor, or sleeps and wakes up. Both are told apart by what /proc has of its threads, so that a busy machine
costs nobody an answer.

The disks that do not answer are found by reading from them. A multipath device without a path that queues, or one whose
requests device-mapper keeps back, has no request under way as /sys/block/*/stat counts them.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import stat
from collections.abc import Iterable, Mapping, Sequence

from backends.errors import RaidbenchError
from backends.host import Command
from backends.self_exec import interpreter
from backends.system.local.child import START, Child, start
from backends.values import dataclass

MOST = 256
"""Disks that are read from at once."""

_READY = "ready"

_CHILD = f"""
import mmap, os, sys, threading
def ask(node):
    try:
        os.preadv(os.open(node, os.O_RDONLY | os.O_DIRECT | os.O_NONBLOCK), [mmap.mmap(-1, 4096)], 0)
    except OSError:
        pass
    os.write(1, node.encode() + b"\\n")
threading.stack_size(65536)
os.write(1, b"{_READY}\\n")
for node in sys.argv[1:]:
    threading.Thread(target=ask, args=(node,)).start()
"""
"""A process of its own, since one that waits for a disk cannot even be killed. An error is an answer."""


async def find_unanswered(nodes: Iterable[str], seconds: float) -> tuple[str, ...]:
    """Those of the nodes below /dev of which the first bytes were not read in so long; waits for all of that time."""
    asked = tuple(nodes)[:MOST]
    if not asked:
        await asyncio.sleep(seconds)
        return ()
    try:
        child = await start(Command(argv=(interpreter(), "-I", "-S", "-B", "-c", _CHILD, *asked)), "/", None)
    except RaidbenchError:
        await asyncio.sleep(seconds)
        return ()
    try:
        return await _silent(child, asked, seconds)
    finally:
        child.signal(signal.SIGKILL)
        child.close()


async def _silent(child: Child, asked: tuple[str, ...], seconds: float) -> tuple[str, ...]:
    answered: set[str] = set()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(START):  # on a busy machine an interpreter needs some to be there
            ready = await child.stdout.readline()
    if ready.decode().strip() != _READY:
        return ()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while line := await child.stdout.readline():
                answered.add(line.decode().strip())
            answered |= set(asked)  # it ends when all have, and if it ended otherwise nothing is known
            await asyncio.sleep(seconds)
    return tuple(node for node in asked if node not in answered)


PACE = 0.5
"""Seconds between two looks at a program."""

SYS = "/sys"
"""Where the kernel tells of disks."""

_IN_FLIGHT, _COMPLETED = 8, (0, 4, 11, 15)
"""Fields of /sys/block/*/stat: requests under way; reads, writes, discards and flushes that have ended
(Documentation/block/stat.rst)."""

Counts = Mapping[str, tuple[int, int]]
"""By kernel name of a disk: requests under way, and how many have ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """A program that got nowhere."""

    devices: tuple[str, ...] = ()
    """Kernel names of the disks that it waits for, the lowest that do not answer; none where that cannot be told."""
    why: str = "which device it waits for is not known"
    """In words."""


async def stall_of(pid: int, argv: Sequence[str], seconds: float) -> Stall:
    """Comes back when a program, with all that it started, got nowhere for so long."""
    while True:
        progress, before = await _stillness(pid, seconds / 2)
        touched = disks_of(pid, argv)
        stall = find_stall(touched, before, counts())
        asked = () if stall.devices else tuple(touched)
        answerless = await find_unanswered(map(_node, asked), seconds / 2)
        if _progress(pid) == progress:
            silent = [name for name in asked if _node(name) in answerless]
            return find_stall(disks_of(pid, argv), before, counts(), silent)


async def _stillness(pid: int, seconds: float) -> tuple[object, Counts]:
    """How far a program had come when it got nowhere for so long, and what disks had counted when that began."""
    before: Counts = {}
    last: object = None
    silent = 0.0
    while silent < seconds:
        await asyncio.sleep(min(PACE, seconds))
        now = _progress(pid)
        if now is None or now != last:
            silent, last, before = 0.0, now, counts()
        else:
            silent += min(PACE, seconds)
    return last, before


def _progress(pid: int) -> object:
    """What changes whenever one of its threads does anything; None while one runs or wants to."""
    matches = []
    for task in _tasks(pid):
        text = _text(f"{task}/status")
        fields = dict(line.partition(":")[::2] for line in text.splitlines())
        if fields.get("State", "").strip().startswith("R"):
            return None
        times = _text(f"{task}/stat").rpartition(")")[2].split()[11:13]
        matches.append((task, fields.get("voluntary_ctxt_switches"), fields.get("nonvoluntary_ctxt_switches"), *times))
    return tuple(matches)


def _tasks(pid: int) -> tuple[str, ...]:
    """Folders of the threads of a program and of all that it started."""
    matches: list[str] = []
    waiting = [str(pid)]
    while waiting and len(matches) < 1000:
        process = waiting.pop()
        for thread in _names(f"/proc/{process}/task"):
            folder = f"/proc/{process}/task/{thread}"
            matches.append(folder)
            waiting += _text(f"{folder}/children").split()
    return tuple(matches)


def disks_of(pid: int, argv: Sequence[str]) -> Mapping[str, bool]:
    """Disks that a program has open, or was told of by their nodes (then True), by kernel name."""
    matches: dict[str, bool] = {}
    for task in _tasks(pid):
        for name in _names(f"{task}/fd"):
            if (disk := _disk(f"{task}/fd/{name}")) is not None:
                matches.setdefault(disk, False)
    named = (_disk(word) for word in argv[1:] if word.startswith("/dev/"))
    return matches | {disk: True for disk in named if disk is not None}


def _disk(path: str) -> str | None:
    """Kernel name of the disk behind a node, or behind an open file; None where it is no block device."""
    try:
        info = os.stat(path)
    except OSError:
        return None
    folder = f"{SYS}/dev/block/{os.major(info.st_rdev)}:{os.minor(info.st_rdev)}"
    if not stat.S_ISBLK(info.st_mode) or not os.path.exists(folder):
        return None
    real = os.path.realpath(folder)
    return os.path.basename(os.path.dirname(real) if os.path.exists(f"{real}/partition") else real)


def counts() -> Counts:
    """Every disk's, now."""
    matches = {}
    for name in _names(f"{SYS}/block"):
        fields = [int(word) for word in _text(f"{SYS}/block/{name}/stat").split() if word.isdigit()]
        if len(fields) > _IN_FLIGHT:
            matches[name] = fields[_IN_FLIGHT], sum(fields[at] for at in _COMPLETED if at < len(fields))
    return matches


def find_stall(touched: Mapping[str, bool], before: Counts, now: Counts, silent: Iterable[str] = ()) -> Stall:
    """Which disk a program waits for, by what it has open or was told of, and by what came to an end meanwhile.

    A disk with requests under way of which none has ended stands still; one that device-mapper suspended keeps what is
    sent to it. What lies beneath what the program touches counts as touched. `silent`: what was read from in vain.
    """
    wanted = _with_lower(touched)
    still = {name for name, (waiting, ended) in now.items() if waiting and _has_waited(before.get(name), ended)}
    held = {name for name in now if _text(f"{SYS}/block/{name}/dm/suspended") == "1"}
    signs = (
        (still, "has ended none of the requests that wait for it"),
        (held, "is suspended"),
        (set(silent), "does not answer when its first bytes are read"),
    )
    for names, text in signs:
        if lowest := _lowest(names & wanted if touched else names):
            return Stall(devices=lowest, why=f"{_nodes(lowest)} {text}")
    named = tuple(sorted(name for name, is_named in touched.items() if is_named))
    only = named if len(named) == 1 else tuple(touched) if len(touched) == 1 else ()
    return Stall(devices=only, why=f"it waits for {_nodes(only)}") if only else Stall()


def _has_waited(before: tuple[int, int] | None, ended: int) -> bool:
    """Whether requests were under way then, and none has ended since."""
    return before is not None and before[0] > 0 and before[1] == ended


def _with_lower(names: Iterable[str]) -> set[str]:
    matches: set[str] = set()
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        if name not in matches:
            matches.add(name)
            waiting += _slaves(name)
    return matches


def _lowest(names: set[str]) -> tuple[str, ...]:
    """Those that no other of them lies beneath."""
    return tuple(sorted(name for name in names if not (_with_lower(_slaves(name)) & names)))


def _slaves(name: str) -> list[str]:
    """Disks that one lies on: for a partition among them its disk."""
    matches = []
    for slave in _names(f"{SYS}/block/{name}/slaves"):
        real = os.path.realpath(f"{SYS}/block/{name}/slaves/{slave}")
        matches.append(os.path.basename(os.path.dirname(real)) if os.path.exists(f"{real}/partition") else slave)
    return matches


def _nodes(names: Iterable[str]) -> str:
    return ", ".join(map(_node, names))


def _node(name: str) -> str:
    return f"/dev/{name.replace('!', '/')}"


def _names(folder: str) -> tuple[str, ...]:
    try:
        return tuple(os.listdir(folder))
    except OSError:
        return ()


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(65536).strip()
    except OSError:
        return ""
