"""Unpack raidbench.pyz once into a private folder and run the program there, as the launcher of the binary does.

Uses only the standard library: the packages in the archive include a native module, so they cannot be imported from it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import re
import shutil
import stat
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

MACHINES = ("x86_64", "aarch64")


def start() -> None:
    """Unpack the archive and exec the program. Exits with a message if that is not possible."""
    archive = Path(sys.argv[0]).resolve()
    machine = platform.machine()
    if sys.platform != "linux" or machine not in MACHINES:
        sys.exit(f"raidbench.pyz is for Linux on {' and '.join(MACHINES)}, not {sys.platform} on {machine}.")
    reasons = []
    for base in places():
        try:
            tree = ready(archive, private(base), machine)
        except OSError as error:
            reasons.append(f"{error.filename or base}: {error.strerror}" if error.strerror else str(error))
            continue
        drop = re.compile("PYTHON|LD_|RAIDBENCH_LAUNCHER$")
        environment = {name: value for name, value in os.environ.items() if not drop.match(name)}
        argv = (sys.executable, "-I", str(tree), *sys.argv[1:])
        os.execve(sys.executable, argv, {**environment, "RAIDBENCH_LAUNCHER": str(archive)})
    print(f"raidbench cannot unpack itself: {'; '.join(reasons)}.", file=sys.stderr)
    sys.exit("Set RAIDBENCH_UNPACK_DIR to a folder that only you can write to, with 30 MB free.")


def places() -> Iterator[Path]:
    """Yield the folders to try, in this order, as places to unpack to."""
    if named := os.environ.get("RAIDBENCH_UNPACK_DIR"):
        yield Path(named).absolute()
    elif os.geteuid() == 0:
        yield from map(Path, ("/var/cache/raidbench", "/opt/raidbench", "/root/.cache/raidbench"))
    else:
        for cache in (os.environ.get("XDG_CACHE_HOME", ""), os.path.expanduser("~/.cache")):
            if os.path.isabs(cache):
                yield Path(cache, "raidbench")
                break
        yield Path(f"/var/tmp/raidbench-{os.geteuid()}")


def private(base: Path) -> Path:
    """Create the folder `base` for the unpacked files, and return its real path.

    Raises OSError if another user can write to it, or if its filesystem is mounted noexec.
    """
    base.mkdir(mode=0o755 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
    base = base.parent.resolve() / base.name
    loose = stat.S_IWGRP | stat.S_IWOTH
    for folder in (base, *base.parents):
        info = folder.lstat()
        if not stat.S_ISDIR(info.st_mode):
            raise OSError(f"{folder} is not a folder")
        if info.st_uid not in ({os.geteuid()} if folder == base else {os.geteuid(), 0}):
            raise OSError(f"{folder} belongs to another user")
        # Folders above `base`, such as ~/.cache, may be writable for the group of the user.
        lax = stat.S_IWOTH if folder != base and os.geteuid() else loose
        if info.st_mode & lax and (folder == base or not info.st_mode & stat.S_ISVTX):
            raise OSError(f"other users can write to {folder}")
    if os.statvfs(base).f_flag & os.ST_NOEXEC:
        raise OSError(f"{base} is on a filesystem mounted noexec")
    return base


def ready(archive: Path, base: Path, machine: str) -> Path:
    """Return the folder below `base` with the unpacked program, after unpacking it if it is missing.

    Raises OSError if a file cannot be written.
    """
    with zipfile.ZipFile(archive) as packed:
        tree = base / f"{packed.read('digest').decode()[:16]}-pyz"
        if tree.is_dir():
            return tree
        fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=base))
        try:
            unpack(packed, machine, fresh)
            fresh.chmod(stat.S_IMODE(base.stat().st_mode))
            os.sync()
            fresh.rename(tree)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise OSError(f"there is not enough free space in {base}") from None
            # If the tree exists, another process has unpacked it meanwhile.
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        finally:
            with contextlib.suppress(OSError):
                shutil.rmtree(fresh)
    return tree


def unpack(packed: zipfile.ZipFile, machine: str, folder: Path) -> None:
    """Unpack the files for all CPU architectures, and those for the architecture `machine`, to `folder`.

    Raises OSError if a file cannot be written.
    """
    for name in packed.namelist():
        kind, _, place = name.partition("/")
        if kind in ("any", machine):
            file = folder / place
            file.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            file.write_bytes(packed.read(name))
