"""Detection of threads that share a table of open files, so that each table is read only once."""

from __future__ import annotations

import ctypes
import functools
import platform
from collections.abc import Callable, Iterable, Mapping

_NUMBERS: Mapping[str, int] = {
    "x86_64": 312,
    "aarch64": 272,
    "riscv64": 272,
    "loongarch64": 272,
    "ppc64le": 354,
    "s390x": 343,
}
"""System call number of kcmp(2) by CPU architecture (arch/*/entry/syscalls, include/uapi/asm-generic/unistd.h)."""

_FILES = 2
"""KCMP_FILES of linux/kcmp.h: compare the tables of open files."""


def distinct_file_tables(threads: Iterable[str]) -> tuple[str, ...]:
    """Return one thread (/proc/PID/task/TID) for each distinct table of open files; all threads if kcmp(2) is not
    available.

    Threads share a table unless clone(2) or unshare(2) separated it. After the main thread has ended, its table is
    empty, so the other threads are needed too.
    """
    kept: dict[str, list[str]] = {}
    for thread in threads:
        _, _, pid, _, tid = thread.split("/")
        distinct = kept.setdefault(pid, [])
        if not any(_same(other, tid) for other in distinct):
            distinct.append(tid)
    return tuple(f"/proc/{pid}/task/{tid}" for pid, tids in kept.items() for tid in tids)


def _same(name: str, other: str) -> bool:
    number = _NUMBERS.get(platform.machine())
    return number is not None and _syscall()(number, int(name), int(other), _FILES, 0, 0) == 0


@functools.cache
def _syscall() -> Callable[..., int]:
    """Return a function that makes the system call.

    The function returns -1 for any error, a positive number for two different tables.
    """
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype, call.argtypes = ctypes.c_long, [ctypes.c_long] * 6
    return call
