"""fio's messages and error numbers, explained for a storage administrator, with the next step."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from backends.text import clean
from backends.values import dataclass


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The reason of a failure and the next step."""

    reason: str
    """What failed and why, as a sentence."""
    hint: str = ""
    """The next step."""


_ENGINE_FAILED = re.compile(r"err=(\d+)/file:[^,]*,\s*func=io_queue_init")
_FAILED = re.compile(r"fio: pid=-?\d+, err=(\d+)/")
_IO_ERROR = re.compile(r"io_u error on file ([^:]*(?::(?! )[^:]*)*): [^:]+: (read|write|trim) offset=(\d+)")
_TERMINATED = re.compile(r"fio: terminating on signal (\d+)")

_WORDS: tuple[tuple[re.Pattern[str], Diagnosis], ...] = tuple(
    (re.compile(pattern), Diagnosis(reason, hint))
    for pattern, reason, hint in (
        (
            r"appears mounted, and 'allow_mounted_write' isn't set",
            "fio refused to write: the target is mounted",
            "Unmount it, or measure a scratch file on it instead.",
        ),
        (
            r"file creation disallowed by allow_file_create=0",
            "The target does not exist, and fio may not create it",
            "Check the path, or lay out a scratch file first.",
        ),
        (
            r"has write or trim bit set, but fio is in read-only mode",
            "fio refused to run: the job writes, but fio was started read-only",
            "Use a job that only reads, or confirm the job that writes.",
        ),
        (
            r"refusing (to write|extend of) a? ?file due to read-only|refusing extend of file",
            "The file is smaller than the job needs, and a job that only reads cannot extend it",
            "Lay out the scratch file again, or use a smaller region.",
        ),
        (
            r"stuck grabbing stat_sem",
            "fio gave up waiting for its own statistics: its reports were not read in time, or it deadlocked",
            "Run the job again. If this happens again, use fio 3.42 or newer, which fixes a deadlock.",
        ),
        (
            r"it appears to be stuck\. Doing forceful exit",
            "fio gave up on a worker whose I/O does not complete",
            "Check the kernel log for errors and resets of the device.",
        ),
        (
            r"your kernel doesn't support io_uring",
            "This kernel has no io_uring",
            "Use the engine libaio.",
        ),
        (
            r"engine \S+ not loadable|failed to load engine",
            "This fio does not have the I/O engine of the job",
            "Choose another engine (`fio --enghelp` lists them) or install fio's engine package.",
        ),
        (
            r"first direct IO errored",
            "The target does not support direct I/O with this block size",
            "Use a multiple of its logical block size, or switch direct I/O off.",
        ),
        (r"you need to specify size=", "fio does not know the size of the target", "Set the size of the region."),
        (
            r"size too small, must not be less than minimum block size",
            "The target is smaller than one block",
            "Use a smaller block size.",
        ),
        (
            r"Bad option|unrecognized option|fio: failed parsing",
            "This fio does not know an option of the job",
            "Read fio's message below. An older fio may lack the option.",
        ),
        (r"No job\(s\) defined", "The job file contains no job", ""),
        (r"status interval too small", "fio rejected the reporting interval", ""),
    )
)

_ERRNO: dict[int, Diagnosis] = {
    1: Diagnosis(
        "The device is read-only or protected (EPERM)",
        "Check /sys/block/<device>/ro and the controller's write protection.",
    ),
    5: Diagnosis(
        "The device reported an I/O error (EIO)",
        "Check the kernel log and the drive's health before you measure again.",
    ),
    6: Diagnosis("The device disappeared (ENXIO)", "Check the kernel log. The device may be back under a new name."),
    11: Diagnosis("A resource is exhausted (EAGAIN)", "Use a lower queue depth or fewer jobs."),
    12: Diagnosis(
        "There is not enough memory for the buffers (ENOMEM)",
        "Use a lower queue depth, a smaller block size or fewer jobs.",
    ),
    13: Diagnosis("No permission to open the target (EACCES)", "Run as root, or use a file that you own."),
    16: Diagnosis("The target is in use (EBUSY)", "Stop the program that uses it: `lsblk` and `fuser` show it."),
    19: Diagnosis("The device disappeared (ENODEV)", "Check the kernel log. The device may be back under a new name."),
    22: Diagnosis(
        "The kernel rejected a request as invalid (EINVAL)",
        "Check that the block size is a multiple of the logical block size, and that the target supports direct I/O.",
    ),
    25: Diagnosis(
        "The target does not support the request (ENOTTY)",
        "If the job trims, use a block device whose data you can lose: fio cannot trim files.",
    ),
    24: Diagnosis("Too many open files (EMFILE)", "Use fewer jobs, or raise `ulimit -n`."),
    26: Diagnosis("The target is in use as swap or as a running program (ETXTBSY)", "Use another target."),
    27: Diagnosis("The file is larger than the filesystem supports (EFBIG)", "Use a smaller file."),
    28: Diagnosis(
        "No space is left (ENOSPC)",
        "Free some space or use a smaller scratch file. On a thin volume, extend the pool.",
    ),
    30: Diagnosis("The filesystem is read-only (EROFS)", "Remount it read-write, or use another folder."),
    35: Diagnosis(
        "fio gave up waiting for its own statistics: its reports were not read in time, or it deadlocked",
        "Run the job again. If this happens again, use fio 3.42 or newer, which fixes a deadlock.",
    ),
    38: Diagnosis("The kernel does not have this function (ENOSYS)", "Use the engine libaio or psync."),
    61: Diagnosis("The device could not read the data (ENODATA)", "Check the drive for unreadable sectors."),
    84: Diagnosis("The device reported wrong data integrity bytes (EILSEQ)", "Check the cabling and the drive."),
    95: Diagnosis(
        "The target does not support the operation (EOPNOTSUPP)",
        (
            "If the job trims: the device does not support discards (queue/discard_max_bytes in sysfs is 0). If it "
            "polls (hipri): the driver has no polling queues; for NVMe, set its parameter poll_queues."
        ),
    ),
    110: Diagnosis("The device did not answer in time (ETIMEDOUT)", "Check the kernel log for resets."),
    117: Diagnosis("The filesystem is damaged (EUCLEAN)", "Unmount the filesystem and check it."),
    121: Diagnosis("The device reported an I/O error (EREMOTEIO)", "Check the kernel log."),
}

_PASSING = frozenset({5, 11, 16, 35, 61, 84, 110, 121})
"""Error numbers of failures that may be temporary: device errors, busy devices, time-outs."""

_PASSING_WORDS = ("fio gave up waiting for its own statistics", "fio gave up on a worker")
"""Beginnings of those reasons in `_WORDS` whose failures may be temporary."""

_LASTING = (
    *(diagnosis.reason for _, diagnosis in _WORDS if not diagnosis.reason.startswith(_PASSING_WORDS)),
    *(diagnosis.reason for code, diagnosis in _ERRNO.items() if code not in _PASSING),
    *("is not permitted here", "This kernel has no ", "limit of asynchronous requests", "could not be set up"),
    "There is not enough lockable memory",
)


def is_lasting(reason: str) -> bool:
    """Return whether a run that failed for this reason would fail again, as on a full disk or an unknown option.

    An unknown reason counts as temporary.
    """
    return any(text in reason for text in _LASTING)


_SIGNALS = {
    2: "by an interrupt",
    6: "by an abort after an internal error",
    9: "by SIGKILL, perhaps because memory was short",
    11: "by a segmentation fault or another memory fault",
    15: "by a request to terminate",
}


def engine_refusal(lines: Iterable[str]) -> Diagnosis | None:
    """Return why the kernel refused to start the asynchronous engine, or None if it started."""
    for line in lines:
        if match := _ENGINE_FAILED.search(line):
            engine = "io_uring" if "io_uring" in line else "libaio" if "libaio" in line else "the I/O engine"
            instead = "libaio" if engine == "io_uring" else "psync"
            hint = f"Use the engine {instead}."
            match int(match[1]):
                case 1 | 13:
                    return Diagnosis(f"{engine} is not permitted here (seccomp or a sysctl forbids it)", hint)
                case 38:
                    return Diagnosis(f"This kernel has no {engine}", hint)
                case 11:
                    return Diagnosis(
                        "The kernel's limit of asynchronous requests is reached",
                        "Use a lower queue depth or fewer jobs, or raise the sysctl fs.aio-max-nr.",
                    )
                case 12:
                    return Diagnosis(f"There is not enough lockable memory for {engine}", "Raise `ulimit -l`.")
                case code:
                    return Diagnosis(f"{engine} could not be set up (error {code})", hint)
    return None


def diagnose(lines: Sequence[str], errors: Sequence[int] = ()) -> Diagnosis | None:
    """Return the most useful explanation of fio's messages and error numbers, or None if they show no failure."""
    if refusal := engine_refusal(lines):
        return refusal
    for pattern, diagnosis in _WORDS:
        if any(pattern.search(line) for line in lines):
            return diagnosis
    codes = [*errors, *(int(match[1]) for line in lines if (match := _FAILED.search(line)))]
    if not codes:
        return None
    diagnosis = _ERRNO.get(codes[0], Diagnosis(f"fio failed with error number {codes[0]}"))
    where = next((match for line in lines if (match := _IO_ERROR.search(line))), None)
    if where is None:
        return diagnosis
    return Diagnosis(f"{diagnosis.reason}: {where[2]} at byte {where[3]} of the target", diagnosis.hint)


def signal_from_outside(lines: Iterable[str]) -> int | None:
    """Return the number of the signal that, according to fio's own message, ended fio; None without such a message."""
    return next((int(match[1]) for line in lines if (match := _TERMINATED.search(line))), None)


def signal_diagnosis(signal: int) -> Diagnosis:
    """Return the diagnosis for a fio process that was ended by a signal and printed no message."""
    how = _SIGNALS.get(signal, f"by signal {signal}")
    hint = "Check the kernel log (out of memory?)." if signal in (9, 11) else ""
    return Diagnosis(f"fio was ended {how}", hint)


def quoted_first_line(lines: Iterable[str]) -> str:
    """Return a colon and the first line of fio's output, to append to an error message; "" without output."""
    return next((f": {clean(line, 200)}" for line in lines if line.strip()), "")
