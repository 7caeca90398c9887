"""Runs on many hosts: their time limits, and the names of their folders and files in a session folder."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from backends.input_file import open_input

LEASE_S = 5
"""A run stops after this many seconds without a message from the controlling host, by default."""

LEASES = (2, 300)
"""Minimum and maximum of the value that a user may choose instead of `LEASE_S`, in seconds."""

PLACE = re.compile(r"j[1-9][0-9]{0,5}")
"""Pattern of the name of the folder of a run on many hosts, below `runs`."""

NAMES = "hosts"
"""Name of the file with one host name per line."""

LINES = re.compile(rf"runs/{PLACE.pattern}/h[0-9]+\.jsonl")
"""Pattern of the paths of files with one host's output. The device numbers in them are those of that host."""

_MOST = 1 << 20


def joint_folders(folder: Path) -> tuple[Path, ...]:
    """Return the folders of a session's runs on many hosts, in order; () if they cannot be read."""
    paths: list[Path] = []
    with contextlib.suppress(OSError):
        paths = [path for path in (folder / "runs").iterdir() if PLACE.fullmatch(path.name)]
    return tuple(sorted(paths, key=lambda path: int(path.name[1:])))


def joint_hosts(folder: Path) -> Iterator[str]:
    """Yield the names of all hosts of a session's runs on many hosts. Files that cannot be read are skipped."""
    for run_folder in joint_folders(folder):
        with contextlib.suppress(OSError), open_input(run_folder / NAMES) as file:
            yield from filter(None, file.read(_MOST).decode("utf-8", "replace").splitlines())
