"""Runs on many hosts: their limits, and the host names, which are stored next to the session's log."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from backends.input_file import open_input

LEASE_S = 5
"""Seconds of silence after which a run stops, by default."""

LEASES = (2, 300)
"""The least and the most seconds of silence that may be set."""

PLACE = re.compile(r"j[1-9][0-9]{0,5}")
"""Name of the folder of such a run, below `runs`."""

NAMES = "hosts"
"""Name of the file with one host name per line."""

LINES = re.compile(rf"runs/{PLACE.pattern}/h[0-9]+\.jsonl")
"""Files with the output of each host, whose device numbers are meaningless on this machine."""

_MOST = 1 << 20


def joint_folders(folder: Path) -> tuple[Path, ...]:
    """Return the folders of a session's runs on many hosts, in order; empty if they cannot be read."""
    paths: list[Path] = []
    with contextlib.suppress(OSError):
        paths = [path for path in (folder / "runs").iterdir() if PLACE.fullmatch(path.name)]
    return tuple(sorted(paths, key=lambda path: int(path.name[1:])))


def joint_hosts(folder: Path) -> Iterator[str]:
    """Yield all hosts that a session names; files that cannot be read are skipped."""
    for run_folder in joint_folders(folder):
        with contextlib.suppress(OSError), open_input(run_folder / NAMES) as file:
            yield from filter(None, file.read(_MOST).decode("utf-8", "replace").splitlines())
