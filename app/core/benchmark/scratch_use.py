"""Check that nothing uses raidbench's own scratch file, and that it has no foreign content."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import signal
from contextlib import suppress
from enum import Enum
from pathlib import Path

from app.core.benchmark.scratch_xattr import is_interrupted
from backends.errors import RefusedError
from backends.host import Host
from backends.system.local import LocalHost
from backends.text import clean
from backends.topology.file_users import file_id_of, find_file_users
from backends.topology.scan import probe_path

_WAITS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.5)
"""Seconds between attempts while something has the file open: udev, or a program that is ending, closes it soon."""

_EMPTY = 512
"""Minimum size in bytes of a file that is probed; a filesystem or partition table needs more."""

_HFS_HEADER = 1024
"""Position of the volume header of HFS Plus in bytes."""

_HFS_VERSIONS = {b"H+": b"\0\4", b"HX": b"\0\5"}
"""Version in the volume header, by the two bytes before it, for HFS Plus and HFSX."""


class Lease(Enum):
    """Result of requesting a lease from the kernel (fcntl(2), F_SETLEASE)."""

    FREE = "free"
    """No other open file, mapping, loop device, swap area or export refers to the file."""
    USED = "used"
    """Something has the file open."""
    UNKNOWN = "unknown"
    """The filesystem does not support leases."""


def take_lease(descriptor: int) -> Lease:
    """Request a lease on a file; return FREE if no other descriptor of the file is open.

    With the lease, other processes that open the file wait until `end_lease` is called or the descriptor is closed. The
    owner of the file needs no root privileges.
    """
    try:
        # The kernel sends a signal when another process wants to open the file. SIGIO would end this process; SIGURG is
        # ignored by default.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    except OSError as error:
        return Lease.USED if error.errno in (errno.EAGAIN, errno.EBUSY) else Lease.UNKNOWN
    return Lease.FREE


def end_lease(descriptor: int) -> None:
    """End the lease, so that other processes can open the file again."""
    with suppress(OSError):
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)


async def require_unused(descriptor: int, path: Path, *, probe: bool = True) -> None:
    """Raise RefusedError if something uses raidbench's own scratch file; else keep other processes from opening it.

    `end_lease` lets them open it again. `probe`: whether to examine the content too. raidbench writes only random data
    or zeros, so a filesystem or another known signature is foreign. The error names the user of the file, or its
    content.
    """
    host = LocalHost()
    shown = clean(str(path), 512)
    interrupted = is_interrupted(descriptor, path)
    await _require_no_user(host, descriptor, path, shown, interrupted=interrupted)
    if probe and os.fstat(descriptor).st_size >= _EMPTY:
        end_lease(descriptor)  # blkid has to open the file
        await _require_no_content(host, descriptor, shown, interrupted=interrupted)
        await _require_no_user(host, descriptor, path, shown, interrupted=interrupted)


async def _require_no_user(host: Host, descriptor: int, path: Path, shown: str, *, interrupted: bool) -> None:
    lease = take_lease(descriptor)
    for seconds in _WAITS:
        if lease is not Lease.USED:
            break
        await asyncio.sleep(seconds)
        lease = take_lease(descriptor)
    try:
        users, is_complete = await find_file_users(
            host,
            str(path),
            file_id_of(os.fstat(descriptor)),
            programs=lease is not Lease.FREE,
            ignore=(os.getpid(),),
        )
        if users:
            text = "; ".join(user.text for user in users)
            raise RefusedError(
                f"The scratch file {shown} {text}. It is neither written nor removed.", hint=users[0].hint
            )
        if lease is Lease.USED:
            raise RefusedError(
                (
                    f"The scratch file {shown} is open in a program or kernel driver that raidbench cannot "
                    "identify. It is neither written nor removed."
                ),
                hint="Stop the program that uses it (`lsof`, `fuser -v`), or use another file."
                if host.is_root
                else "Run raidbench as root to identify it, or use another file.",
            )
        if lease is Lease.UNKNOWN and not is_complete and interrupted:
            raise RefusedError(
                (
                    f"The scratch file {shown} is on a filesystem without leases, so raidbench cannot see whether "
                    "it is in use. It is neither written nor removed."
                ),
                hint="If you do not need the file, remove it with rm.",
            )
    except BaseException:
        end_lease(descriptor)
        raise


async def _require_no_content(host: Host, descriptor: int, shown: str, *, interrupted: bool) -> None:
    signatures = await probe_path(host, f"/proc/{os.getpid()}/fd/{descriptor}")
    found = [signature.kind for signature in signatures if signature.kind != "unknown"]
    kinds = list(dict.fromkeys(clean(kind, 64) for kind in found if not _is_coincidence(kind, descriptor)))
    if kinds:
        raise RefusedError(
            (
                f"The scratch file {shown} contains {', '.join(kinds)}, so another program has used it. It is "
                "neither written nor removed."
            ),
            hint="Use another file. If you do not need this one, remove it with rm.",
        )
    if len(found) < len(signatures) and interrupted:
        raise RefusedError(
            f"The scratch file {shown} was left by an interrupted run, and its content could not be probed"
            " (blkid, wipefs). It is neither written nor removed.",
            hint="If you do not need the file, remove it with rm.",
        )


def _is_coincidence(kind: str, descriptor: int) -> bool:
    """Return whether a signature is a part of random data that raidbench wrote.

    libblkid recognises HFS Plus by two bytes, which one of 30,000 files with random data has. A real volume header has
    its version in the next two bytes (Apple Technical Note TN1150).
    """
    header = os.pread(descriptor, 4, _HFS_HEADER)
    return kind == "hfsplus" and header[:2] in _HFS_VERSIONS and header[2:] != _HFS_VERSIONS[header[:2]]
