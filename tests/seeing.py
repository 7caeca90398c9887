"""What a test knows of its machine and the product cannot: what process 1 has open, and that its disk has room enough.

Process 1 of some machines shows nobody what it has open, root included. The guard refuses there, and is right. A test
knows more: process 1 was there before the loop devices that the test has made itself, and opens none of them. What it
has open is passed over for that, in programs that a test starts and nowhere else: nothing of the product knows of this,
and no variable or option brings it about.

Scratch files leave a part of the disk free. A machine's own may be fuller than that, and the few MiB of a test do no
harm: half of the file system that the tests' files lie on counts as free. Tests about room bring one of their own.
"""

from __future__ import annotations

import asyncio
import functools
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from backends.host import Host
from backends.system.local import LocalHost
from backends.topology import open_files

_FIRST = "/proc/1/"

MAIN = "import sys; from tests.seeing import begin; begin({!r}); from {} import main; sys.exit(main())"
"""What to start a program of ours with, in the place of its module."""

_space = os.statvfs

real = open_files.hidden_processes_reason
"""What the guard asks where no test has a hand in it."""


@functools.cache
def hides() -> bool:
    """Whether process 1 keeps what it has open from us, who are root."""
    try:
        return os.geteuid() == 0 and not os.stat("/proc/1/fd/0")
    except PermissionError:
        return True
    except OSError:
        return False


async def _withheld(host: Host, descriptors: Sequence[str], empty: Sequence[str]) -> str:
    others = ([path for path in paths if not path.startswith(_FIRST)] for paths in (descriptors, empty))
    return await real(host, *others)


def past_the_first() -> None:
    """From now on what process 1 of this machine has open does not count."""
    if hides():
        open_files.hidden_processes_reason = _withheld


def half_free(place: str | Path) -> None:
    """From now on at least half of the file system that this lies on counts as free."""
    own = os.stat(place).st_dev

    def told(path: int | str | bytes | os.PathLike[str] | os.PathLike[bytes]) -> os.statvfs_result:
        found = _space(path)
        if os.stat(path).st_dev != own:
            return found
        half = found.f_blocks // 2
        return os.statvfs_result((*found[:3], max(found.f_bfree, half), max(found.f_bavail, half), *found[5:]))

    os.statvfs = told


def tight(place: str | Path) -> bool:
    """Whether the file system that this lies on has less free than scratch files leave there, and some GiB."""
    found = _space(place)
    return found.f_bavail < found.f_blocks // 10 or found.f_bavail * found.f_frsize < 4 << 30


def begin(place: str) -> None:
    """Both, in a program of ours whose files lie there."""
    past_the_first()
    half_free(place)


def helped(place: str | Path) -> bool:
    """Whether a program of ours needs either, its files lying there."""
    return hides() or tight(place)


def started(module: str) -> tuple[str, ...]:
    """How a module of ours is started: as it is where it needs no help."""
    place = tempfile.gettempdir()
    return ("-c", MAIN.format(place, module)) if helped(place) else ("-m", module.removesuffix(".__main__"))


@functools.cache
def blinded() -> str:
    """Why the guard cannot see all programs from here, even past the first; "" where it can."""
    return asyncio.run(open_files.open_files_hidden_reason(LocalHost()))
