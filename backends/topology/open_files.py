"""Programs that have a block device or file open, from /proc. Opening it exclusively does not detect them."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

from backends.host import FileStat, Host
from backends.identity import Use
from backends.system.local.kcmp import distinct_file_tables
from backends.text import clean
from backends.topology.mounts import parse_mountinfo
from backends.topology.tree import number
from backends.values import dataclass

_THREADS = "/proc/[0-9]*/task/*"
"""Pattern of the folders of all threads.

Each is read, because a thread may have its own table of open files, and an ended main thread has none.
"""

_CHAR = "char "
"""Prefix of the number of a character device among the keys of `openers`."""

PROBERS = frozenset(("lsblk", "blkid", "wipefs", "partprobe", "systemd-udevd", "udevd", "(udev-worker)"))
"""Programs that open any disk for a moment to read its content. The names are those in the kernel."""

_WAITS = (0.05, 0.15, 0.3, 0.5, 1.0, 1.0)
"""Seconds between the checks whether one of the `PROBERS` still has the device open."""

_EXITING = 0x4
"""PF_EXITING in the ninth field of /proc/PID/task/TID/stat (linux/sched.h)."""
_KILL = 1 << (signal.SIGKILL - 1)
"""Bit of SIGKILL in SigPnd and ShdPnd (proc(5))."""


@dataclass(frozen=True, slots=True)
class OpenFileHolder:
    """A program that has a device or file open."""

    name: str
    """Name in the kernel, at most 15 characters."""
    pid: str
    """Process ID."""

    def use(self, part: str | None = None) -> Use:
        """Return a `Use` that says that this program has the device open.

        `part`: name of the partition, or None for a disk.
        """
        return Use(kind="open", detail=f"{self.name} (process {self.pid}) has it open", part=part)


async def openers(
    host: Host, wanted: Collection[str], *, ignore: Collection[int] = ()
) -> tuple[Mapping[str, tuple[OpenFileHolder, ...]], Use | None]:
    """Return the programs that have the wanted files open, by key of `wanted`, and a use if some programs cannot be
    checked.

    `wanted`: numbers of block devices, numbers of character devices after `char `, and file IDs. `ignore`: process IDs
    of our own, which do not count. Without root, the open files of other users' programs cannot be read; the use then
    has the kind `unknown`. If not even root can read them, the kind is `unseen`. A killed program that is waiting for
    another disk does not count if it has the device open for reading only.
    """
    if not host.is_root:
        return {}, Use(kind="unknown", detail="programs that have it open are visible only to root")
    if blinded := await open_files_hidden_reason(host):
        return {}, Use(kind="unseen", detail=blinded)
    threads = await host.list(_THREADS)
    if host.capabilities.opens_devices:
        threads = distinct_file_tables(threads)
    folders = {f"{thread}/fd": await host.list(f"{thread}/fd/*") for thread in threads}
    paths = [path for folder in folders.values() for path in folder]
    if not paths:
        return {}, Use(kind="unseen", detail="the open files of other programs cannot be read")
    pids: dict[str, dict[str, list[str]]] = {}
    elsewhere: set[str] = set()
    dumb: list[str] = []
    for start in range(0, len(paths), 256):
        batch = paths[start : start + 256]
        if start:  # lets other tasks run; with 50,000 files, a task per file would cost more than the stat
            await asyncio.sleep(0)
        for path in batch:
            stat = await host.stat(path)
            key = _opening_of(stat)
            pid = path.split("/")[2]
            if stat is None:
                dumb.append(path)
            if key is not None and key in wanted and int(pid) not in ignore:
                pids.setdefault(key, {}).setdefault(pid, []).append(path)
            elif stat is not None and stat.kind == "block":
                elsewhere.add(pid)
    hidden = await hidden_processes_reason(host, dumb, [name for name, listed in folders.items() if not listed])
    holders: dict[str, tuple[OpenFileHolder, ...]] = {}
    for key, by_pid in pids.items():
        # Being open for reading only proves nothing for a character device: sg accepts writes there, too.
        may_be = elsewhere.intersection(by_pid) if not key.startswith(_CHAR) else ()
        done = {pid for pid in may_be if await _is_finished(host, pid, by_pid[pid])}
        if counted := [pid for pid in by_pid if pid not in done]:
            names = [clean(await host.read(f"/proc/{pid}/comm") or "?", 32) for pid in counted]
            holders[key] = tuple(map(OpenFileHolder, names, counted))
    return holders, Use(kind="unseen", detail=hidden) if hidden else None


async def lasting_openers(
    host: Host, wanted: Collection[str], *, ignore: Collection[int] = ()
) -> tuple[Mapping[str, tuple[OpenFileHolder, ...]], Use | None]:
    """Return the result of `openers`, after waiting up to three seconds for the end of programs that only probe a
    device.

    For example, another raidbench starts lsblk, or udev starts blkid, which opens disks for a moment. A program that
    still has the device open after that time counts.
    """
    pair = await openers(host, wanted, ignore=ignore)
    for seconds in _WAITS:
        programs = [program for several in pair[0].values() for program in several]
        if not programs or any(program.name not in PROBERS for program in programs):
            break
        await asyncio.sleep(seconds)
        pair = await openers(host, wanted, ignore=ignore)
    return pair


def _opening_of(stat: FileStat | None) -> str | None:
    if stat is None or stat.kind not in ("block", "char"):
        return None if stat is None else stat.place
    return stat.devno if stat.kind == "block" else f"{_CHAR}{stat.devno}"


async def _is_finished(host: Host, pid: str, descriptors: Sequence[str]) -> bool:
    """Return whether a program is exiting or being killed, and has all of `descriptors` open for reading only.

    A program that is killed while it waits for a disk executes nothing more, but keeps its files open until the disk
    responds.
    """
    modes = await host.read_many([path.replace("/fd/", "/fdinfo/") for path in descriptors])
    if len(modes) != len(descriptors) or not all(map(_only_reads, modes.values())):
        return False
    folders = await host.list(f"/proc/{pid}/task/*")
    fields = await host.read_many([f"{folder}/{name}" for folder in folders for name in ("stat", "status")])
    return bool(folders) and all(_is_dying(fields, folder) for folder in folders)


def _only_reads(fdinfo: str) -> bool:
    flags = re.search(r"^flags:\s*([0-7]{1,22})$", fdinfo, re.MULTILINE)
    return flags is not None and int(flags[1], 8) & os.O_ACCMODE == os.O_RDONLY


def _is_dying(texts: Mapping[str, str], folder: str) -> bool:
    """Return whether a thread is exiting or has SIGKILL pending, so that its program executes nothing more."""
    fields = texts.get(f"{folder}/stat", "").rpartition(")")[2].split()
    flags = number(fields[6]) if len(fields) > 6 else None
    pending = re.findall(r"^(?:SigPnd|ShdPnd):\s*([0-9a-f]{1,16})$", texts.get(f"{folder}/status", ""), re.MULTILINE)
    return bool((flags or 0) & _EXITING) or any(int(mask, 16) & _KILL for mask in pending)


# -- visibility of open files: in a container most programs are not listed --------------------------------------------

_INITIAL = {"pid": "pid:[4026531836]", "user": "user:[4026531837]"}
"""Links of the initial namespaces (include/linux/proc_ns.h: PROC_PID_INIT_INO, PROC_USER_INIT_INO)."""

_PTRACE, _ANY_FOLDER = 19, (1, 2)
"""Bit number of CAP_SYS_PTRACE, and those of CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH. One of the last two is enough.
Source: linux/capability.h.
"""

_OVER = re.compile(r"/proc/\d+(/.*)?")
_PAUSES = (0.0, 0.0, 0.0, *(0.005,) * 9)
"""Seconds before each attempt to read a descriptor, because it may be closed and its number reused at any moment.

A program that opens and closes files all the time defeats three attempts in a row in 1 of 300 looks at all programs.
"""
_MOST = 3
"""Maximum number of programs in a sentence."""


async def open_files_hidden_reason(host: Host) -> str:
    """Return the reason why open files of other programs cannot be read, as a clause; "" if they can be read."""
    spaces = {kind: await host.link(f"/proc/self/ns/{kind}") for kind in _INITIAL}
    namespaces = {kind: link.rsplit("/", 1)[-1] for kind, link in spaces.items() if link is not None}
    if namespaces.get("pid") != _INITIAL["pid"]:
        return "programs that have it open are not visible from a container (another PID namespace)"
    if namespaces.get("user", _INITIAL["user"]) != _INITIAL["user"]:  # a kernel may be built without user namespaces
        return "programs that have it open are not visible from another user namespace"
    rights = _rights(await host.read("/proc/self/status") or "")
    if not rights >> _PTRACE & 1:
        return "programs that have it open are not visible without the capability CAP_SYS_PTRACE"
    if not any(rights >> number & 1 for number in _ANY_FOLDER):
        return "programs that have it open are not visible without the capability CAP_DAC_READ_SEARCH"
    mounts = parse_mountinfo(await host.read("/proc/self/mountinfo") or "")
    if covered := next((mount.point for mount in mounts if _OVER.fullmatch(mount.point)), None):
        return f"{clean(covered)} is covered by another filesystem, so programs that have it open are not visible"
    return ""


def _rights(status: str) -> int:
    """Return the effective capabilities as a bit mask; 0 if they are not reported."""
    match = re.search(r"^CapEff:\s*([0-9a-f]{1,16})$", status, re.MULTILINE)
    return int(match[1], 16) if match is not None else 0


async def hidden_processes_reason(host: Host, descriptors: Sequence[str], empty: Sequence[str]) -> str:
    """Return which programs do not show their open files, as a clause; "" if all do.

    `descriptors`: paths below /proc/PID that could not be read; `empty`: folders of descriptors that seem to be empty.
    Files that were closed meanwhile and programs that have ended do not count.
    """
    suspects: dict[str, list[str]] = {}
    for path in (*descriptors, *empty):
        suspects.setdefault(path.split("/")[2], []).append(path)
    folders = frozenset(empty)
    # All programs are tried at the same time, so that the pauses of many hidden programs do not add up.
    checks = await asyncio.gather(*(_hides_any(host, paths, folders) for paths in suspects.values()))
    hidden = [pid for pid, hides in zip(suspects, checks, strict=True) if hides]
    if not hidden:
        return ""
    names = [f"{clean(await host.read(f'/proc/{pid}/comm') or '?', 32)} (process {pid})" for pid in hidden[:_MOST]]
    more = f" and {len(hidden) - _MOST} more" if len(hidden) > _MOST else ""
    return f"the open files of {', '.join(names)}{more} are not visible"


async def _hides_any(host: Host, paths: Sequence[str], folders: Collection[str]) -> bool:
    """Return whether a program hides one of these descriptors, or the content of one of these `folders`."""
    for path in paths:
        if await _is_hidden(host, path, _folder_hides if path in folders else _descriptor_hides):
            return True
    return False


async def _is_hidden(host: Host, path: str, hides: Callable[[Host, str], Awaitable[bool]]) -> bool:
    """Return whether each attempt finds the path hidden."""
    for pause in _PAUSES:
        await asyncio.sleep(pause)
        if not await hides(host, path):
            return False
    return True


async def _descriptor_hides(host: Host, path: str) -> bool:
    """Return whether a descriptor exists that cannot be read."""
    return bool(await host.list(path)) and await host.stat(path) is None


async def _folder_hides(host: Host, folder: str) -> bool:
    """Return whether a folder of descriptors lists none although it has some.

    A size above 0 is the number of descriptors (fs/proc/fd.c: proc_fd_getattr, Linux >= 6.2).
    """
    stat = await host.stat(folder)
    return stat is not None and stat.size > 0 and not await host.list(f"{folder}/*")
