"""As root, with a stranger's folder first in PATH: whatever raidbench does, none of its programs begins."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.backends.loops import Loop, loop, needs_loops, needs_sight
from tests.cli.conftest import program

NOBODY = 65534
NAMES = (
    "blkid", "dmsetup", "env", "fio", "hdparm", "lsblk", "lspci", "lsscsi", "mdadm", "MegaCli64", "nvme", "perccli64",
    "perccli2", "python3", "sdparm", "sh", "smartctl", "storcli2", "storcli64", "sudo", "systemctl", "true", "udevadm",
    "wipefs", "zpool",
)  # fmt: skip
"""All that is run anywhere, and what a script is begun with."""

pytestmark = [pytest.mark.root, pytest.mark.slow, needs_loops()]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A stranger's folder of programs, which leave a file `NAME.ran` where they are run, in one that all may enter."""
    place = Path(tempfile.mkdtemp(prefix="raidbench-strangers-"))
    place.chmod(0o755)
    theirs = place / "bin"
    theirs.mkdir()
    for name in NAMES:
        (theirs / name).write_text(f"#!/bin/sh\n: > {place}/{name}.ran\n")
        (theirs / name).chmod(0o777)
        os.chown(theirs / name, NOBODY, NOBODY)
    os.chown(theirs, NOBODY, NOBODY)
    yield theirs
    shutil.rmtree(place)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Loop]:
    with loop(tmp_path / "disk") as made:
        yield made


@pytest.mark.long
@pytest.mark.parametrize(
    "words",
    [
        "devices",
        "doctor",
        "show DISK",
        "set DISK read_ahead_kb=256 --yes",
        pytest.param(
            "bench DISK --rw randwrite --runtime 1 --ramp 0 --size 4M --confirm NAME",
            marks=[pytest.mark.fio, needs_sight(real=True)],  # it starts anew, without the stranger's folder
        ),
    ],
)
def test_none_of_them_begins(folder: Path, disk: Loop, tmp_path: Path, words: str) -> None:
    argv = words.replace("DISK", disk.sure()).replace("NAME", disk.name).split()
    done = program(*argv, cwd=folder, env={"PATH": f"{folder}::.:{os.environ['PATH']}"})
    assert (done.status, [path.name for path in folder.parent.glob("*.ran")]) == (0, []), done.err
