"""Runs on many hosts: their limits, and the names of the hosts, which are beside the log of the session."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from backends.input_file import open_input

LEASE_S = 5
"""Seconds of silence after which a run stops by itself, unless told otherwise."""

LEASES = (2, 300)
"""Seconds of silence that may be granted, at least and at most."""

PLACE = re.compile(r"j[1-9][0-9]{0,5}")
"""The folder of such a run, below `runs`."""

NAMES = "hosts"
"""A file with a name a line."""

LINES = re.compile(rf"runs/{PLACE.pattern}/h[0-9]+\.jsonl")
"""What each host said, with numbers of devices there that nobody here knows to be such."""

_MOST = 1 << 20


def joint_folders(folder: Path) -> tuple[Path, ...]:
    """Where the runs on many hosts of a session lie, in their order; none where that cannot be read."""
    paths: list[Path] = []
    with contextlib.suppress(OSError):
        paths = [path for path in (folder / "runs").iterdir() if PLACE.fullmatch(path.name)]
    return tuple(sorted(paths, key=lambda path: int(path.name[1:])))


def joint_hosts(folder: Path) -> Iterator[str]:
    """All hosts that a session names; of what cannot be read nothing."""
    for run_folder in joint_folders(folder):
        with contextlib.suppress(OSError), open_input(run_folder / NAMES) as file:
            yield from filter(None, file.read(_MOST).decode("utf-8", "replace").splitlines())
