"""Detection of programs that make no progress, and of the block devices for which they wait.

A program that waits for a disk sleeps in the kernel, where often not even SIGKILL ends it. A slow program uses the
processor or wakes up from time to time. The thread states in /proc distinguish the two, so a program that is slow
because the machine is busy does not time out.

Disks that do not respond are found by reading from them, because the counts in /sys/block/*/stat do not show all of
them. A suspended device-mapper device, or a multipath device that has no path and queues requests, has no request in
flight.
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
"""Maximum number of disks to read from at once."""

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
"""Program that reads from disks. It is a separate process, because a process that waits for a disk cannot be killed.
A read error counts as a response of the disk.
"""


async def find_unanswered(nodes: Iterable[str], seconds: float) -> tuple[str, ...]:
    """Return those nodes whose first bytes could not be read within `seconds`. The call always takes this time."""
    probed = tuple(nodes)[:MOST]
    if not probed:
        await asyncio.sleep(seconds)
        return ()
    try:
        child = await start(Command(argv=(interpreter(), "-I", "-S", "-B", "-c", _CHILD, *probed)), "/", None)
    except RaidbenchError:
        await asyncio.sleep(seconds)
        return ()
    try:
        return await _unanswered_nodes(child, probed, seconds)
    finally:
        child.signal(signal.SIGKILL)
        child.close()


async def _unanswered_nodes(child: Child, nodes: tuple[str, ...], seconds: float) -> tuple[str, ...]:
    answered: set[str] = set()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(START):  # the interpreter starts slowly on a busy machine
            ready = await child.stdout.readline()
    if ready.decode().strip() != _READY:
        return ()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while line := await child.stdout.readline():
                answered.add(line.decode().strip())
            answered |= set(nodes)  # the child ended: all disks responded, or it died, which proves nothing
            await asyncio.sleep(seconds)
    return tuple(node for node in nodes if node not in answered)


PACE = 0.5
"""Seconds between two checks of a program."""

SYS = "/sys"
"""Mount point of sysfs."""

_IN_FLIGHT, _COMPLETED = 8, (0, 4, 11, 15)
"""Positions of numbers in /sys/block/*/stat: requests in flight; completed reads, writes, discards and flushes
(Documentation/block/stat.rst).
"""

Counts = Mapping[str, tuple[int, int]]
"""Number of requests in flight and of completed requests, by kernel name of the disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """Reason why a program makes no progress."""

    devices: tuple[str, ...] = ()
    """Kernel names of the lowest disks for which the program waits; empty if they are unknown."""
    why: str = "the device it waits for is unknown"
    """Reason as a clause."""


async def stall_of(pid: int, argv: Sequence[str], seconds: float) -> Stall:
    """Wait until a program and its children have made no progress for `seconds`, and return the reason."""
    while True:
        progress, before = await _stillness(pid, seconds / 2)
        touched = disks_of(pid, argv)
        stall = find_stall(touched, before, counts())
        probed = () if stall.devices else tuple(touched)
        unanswered = await find_unanswered(map(_node, probed), seconds / 2)
        if _progress(pid) == progress:
            silent = [name for name in probed if _node(name) in unanswered]
            return find_stall(disks_of(pid, argv), before, counts(), silent)


async def _stillness(pid: int, seconds: float) -> tuple[object, Counts]:
    """Wait until a program has made no progress for `seconds`. Return its progress (see `_progress`), and the request
    counts of the disks at the start of this standstill.
    """
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
    """Return a value that changes when any thread makes progress; None while a thread can run."""
    states = []
    for task in _tasks(pid):
        text = _text(f"{task}/status")
        fields = dict(line.partition(":")[::2] for line in text.splitlines())
        if fields.get("State", "").strip().startswith("R"):
            return None
        times = _text(f"{task}/stat").rpartition(")")[2].split()[11:13]
        states.append((task, fields.get("voluntary_ctxt_switches"), fields.get("nonvoluntary_ctxt_switches"), *times))
    return tuple(states)


def _tasks(pid: int) -> tuple[str, ...]:
    """Return the /proc folders of all threads of a program and its children."""
    folders: list[str] = []
    waiting = [str(pid)]
    while waiting and len(folders) < 1000:
        process = waiting.pop()
        for thread in _names(f"/proc/{process}/task"):
            folder = f"/proc/{process}/task/{thread}"
            folders.append(folder)
            waiting += _text(f"{folder}/children").split()
    return tuple(folders)


def disks_of(pid: int, argv: Sequence[str]) -> Mapping[str, bool]:
    """Return the disks that a program uses, by kernel name: True if the disk is named in its arguments, False if it is
    only open.
    """
    disks: dict[str, bool] = {}
    for task in _tasks(pid):
        for name in _names(f"{task}/fd"):
            if (disk := _disk(f"{task}/fd/{name}")) is not None:
                disks.setdefault(disk, False)
    named = (_disk(word) for word in argv[1:] if word.startswith("/dev/"))
    return disks | {disk: True for disk in named if disk is not None}


def _disk(path: str) -> str | None:
    """Return the kernel name of the disk behind a node or an open file; None if it is no block device."""
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
    """Return the request counts of every disk."""
    result = {}
    for name in _names(f"{SYS}/block"):
        fields = [int(word) for word in _text(f"{SYS}/block/{name}/stat").split() if word.isdigit()]
        if len(fields) > _IN_FLIGHT:
            result[name] = fields[_IN_FLIGHT], sum(fields[at] for at in _COMPLETED if at < len(fields))
    return result


def find_stall(touched: Mapping[str, bool], before: Counts, now: Counts, silent: Iterable[str] = ()) -> Stall:
    """Return which disk a program waits for, judging by its open files, its arguments and the requests that completed.

    `before`, `now`: request counts at the start and the end of the standstill. A disk is stuck if it has requests in
    flight and none of them completes. A suspended device-mapper device completes no request. `touched`: disks that the
    program uses; disks below these are included. `silent`: disks that did not respond to a read.
    """
    wanted = _with_lower(touched)
    idle = (0, 0)
    # Stuck: requests were in flight before and are in flight now, and none has completed in between.
    stuck = {
        name
        for name, (waiting, ended) in now.items()
        if waiting and (old := before.get(name, idle))[0] > 0 and old[1] == ended
    }
    suspended = {name for name in now if _text(f"{SYS}/block/{name}/dm/suspended") == "1"}
    signs = (
        (stuck, "has completed no pending request"),
        (suspended, "is suspended"),
        (set(silent), "does not respond to a read of its first bytes"),
    )
    for names, text in signs:
        if lowest := _lowest(names & wanted if touched else names):
            return Stall(devices=lowest, why=f"{_nodes(lowest)} {text}")
    named = tuple(sorted(name for name, is_named in touched.items() if is_named))
    only = named if len(named) == 1 else tuple(touched) if len(touched) == 1 else ()
    return Stall(devices=only, why=f"it waits for {_nodes(only)}") if only else Stall()


def _with_lower(names: Iterable[str]) -> set[str]:
    disks: set[str] = set()
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        if name not in disks:
            disks.add(name)
            waiting += _slaves(name)
    return disks


def _lowest(names: set[str]) -> tuple[str, ...]:
    """Return those of the devices `names` that are not built on another device in `names`."""
    return tuple(sorted(name for name in names if not (_with_lower(_slaves(name)) & names)))


def _slaves(name: str) -> list[str]:
    """Return the disks directly below a device. A partition is represented by its disk."""
    disks = []
    for slave in _names(f"{SYS}/block/{name}/slaves"):
        real = os.path.realpath(f"{SYS}/block/{name}/slaves/{slave}")
        disks.append(os.path.basename(os.path.dirname(real)) if os.path.exists(f"{real}/partition") else slave)
    return disks


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
