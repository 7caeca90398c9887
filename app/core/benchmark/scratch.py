"""Plans of scratch files: where they may be, and how large."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from app.core.benchmark.scratch_xattr import is_own
from backends.errors import InvalidValueError, RefusedError
from backends.sizes import size_words
from backends.text import clean
from backends.values import dataclass

DEFAULT_SIZE = 1 << 30
"""Default size of a scratch file in bytes."""

NAME = "raidbench-scratch.dat"
_GIB = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchPlan:
    """A scratch file as planned, before it is created."""

    path: Path
    """Absolute path with links resolved."""
    size: int
    """Number of bytes that the job uses."""
    exists: bool
    """Whether the file exists already."""
    own: bool
    """Whether raidbench created the file or will create it. raidbench writes and removes only such files."""
    fill: bool
    """Whether the file must be written in full before it can be read."""
    holes: bool = False
    """Whether the file is sparse, so that unallocated parts are read as zeros."""
    preallocated: bool = False
    """Whether the file gets new blocks that were never written, as etcd allocates them, instead of being filled."""


def plan_scratch(where: str, size: int | None, *, writes: bool, preallocated: bool = False) -> ScratchPlan:
    """Return the plan for a scratch file at `where`: a folder, a new file or an existing file. Change nothing.

    `size`: number of bytes; None for the size of the file, or the default. `preallocated`: whether the file gets new
    blocks instead of being filled. Raises InvalidValueError for an unusable
    path or size, and RefusedError for a foreign file or too little space.
    """
    path = _resolve(where)
    if path.is_dir():
        path = _free_name(path)
    info = _stat_file(path)
    if info is None:
        wanted = DEFAULT_SIZE if size is None else size
        _require_space(path.parent, wanted)
        return ScratchPlan(
            path=path, size=wanted, exists=False, own=True, fill=not preallocated, preallocated=preallocated
        )
    if not stat.S_ISREG(info.st_mode):
        raise InvalidValueError(
            f"{clean(str(path))} is neither a file, a folder nor a block device.", hint="Use the path of a new file."
        )
    is_ours = is_own(path, path)
    if writes and not is_ours:
        raise RefusedError(
            f"{clean(str(path))} was not created by raidbench, and a job that writes would overwrite it.",
            hint="Use the path of a new file, or a folder.",
        )
    wanted = info.st_size if size is None else size
    if is_ours:
        wanted = wanted or DEFAULT_SIZE  # a crash may have left an empty file
        fill = info.st_blocks * 512 < wanted or info.st_size < wanted
        if more := max(0, wanted - info.st_blocks * 512):
            _require_space(path.parent, more)
        return ScratchPlan(
            path=path,
            size=wanted,
            exists=True,
            own=True,
            fill=fill and not preallocated,
            preallocated=preallocated,
        )
    if wanted > info.st_size or not wanted:
        raise InvalidValueError(
            f"{clean(str(path))} has {info.st_size} bytes, but the job needs {wanted or 'some'}.",
            hint="Use a smaller --size, or the path of a new file.",
        )
    holes = info.st_blocks * 512 < info.st_size
    return ScratchPlan(path=path, size=wanted, exists=True, own=False, fill=False, holes=holes)


def device_number(path: Path) -> str:
    """Return the device number MAJ:MIN of the filesystem of `path`, or of its nearest existing parent folder."""
    probe = path
    while not probe.exists() and probe != probe.parent:
        probe = probe.parent
    number = os.stat(probe).st_dev
    return f"{os.major(number)}:{os.minor(number)}"


def _resolve(where: str) -> Path:
    if not where or "\0" in where:
        raise InvalidValueError("The path has no file name.")
    try:
        path = Path(where).expanduser().resolve()
        if len(os.fsencode(path.name)) > 255:
            raise OSError(36, "File name too long")
        parent = path if path.is_dir() else path.parent
        if not parent.is_dir():
            raise InvalidValueError(
                f"The folder {clean(str(parent))} does not exist.", hint=("Create the folder, or use another one.")
            )
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidValueError(f"{clean(where)} cannot be used: {reason}.") from error
    if parent.parts[1:2] in (("dev",), ("proc",), ("sys",)):
        if parent.parts[1:3] == ("dev", "shm"):
            return path
        raise InvalidValueError(
            f"{clean(str(path))} is not a device, and a file created there would be in memory.",
            hint="Check the name of the device with `raidbench devices`.",
        )
    return path


def _free_name(folder: Path) -> Path:
    path = folder / NAME
    number = 2
    while (info := _stat_file(path)) is not None:
        if stat.S_ISREG(info.st_mode) and is_own(path, path):
            return path
        path = folder / f"raidbench-scratch-{number}.dat"
        number += 1
    return path


def _stat_file(path: Path) -> os.stat_result | None:
    try:
        return os.stat(path, follow_symlinks=False)
    except OSError:
        return None


def _require_space(folder: Path, wanted: int) -> None:
    """Raise RefusedError unless `wanted` more bytes fit into a writable folder.

    A reserve must stay free: 5 % of the filesystem, but at least 256 MiB and at most 10 GiB.
    """
    info = os.statvfs(folder)
    free = info.f_bavail * info.f_frsize
    reserve = min(max(info.f_blocks * info.f_frsize // 20, _GIB // 4), 10 * _GIB)
    if not os.access(folder, os.W_OK):
        raise RefusedError(f"No permission to create a file in {clean(str(folder))}.", hint="Use another folder.")
    if free - wanted < reserve:
        most = max(0, free - reserve)
        raise RefusedError(
            (
                f"{clean(str(folder))} has too little space for a scratch file of {size_words(wanted)}: "
                f"{size_words(free)} free, {size_words(reserve)} reserved."
            ),
            hint=f"Use another folder, or a size of at most {size_words(most)}." if most else "Use another folder.",
        )
