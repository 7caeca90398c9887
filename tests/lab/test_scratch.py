"""Root measures in a folder of somebody else: nothing is written but its own scratch file, on a real file system."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.lab.disks import Disk
from tests.lab.results import Results
from tests.lab.running import ROOT, Outcome, run
from tests.lab.uses import mount

STRANGER = 65534
NAME = "raidbench-scratch.dat"
JOB = ("--rw", "randwrite", "--size", "4M", "--runtime", "1", "--ramp", "0")

pytestmark = pytest.mark.seconds(400)


@pytest.fixture
def theirs(blank: Callable[..., tuple[Disk, ...]], tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A stranger's folder on a mounted disk, and another mounted disk of which no byte may change."""
    one, other = blank("nvme0", "nvme1")
    for disk in (one, other):
        run("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", disk.device)
    with mount(one.device, tmp_path / "one") as place, mount(other.device, tmp_path / "other"):
        folder = Path(place) / "theirs"
        folder.mkdir()
        os.chown(folder, STRANGER, STRANGER)
        run("sync")
        yield folder, other.device


def front(device: str) -> str:
    """Of what a job of 4 MiB could write to; past the page cache."""
    run("blockdev", "--flushbufs", device)
    with open(device, "rb") as file:
        return hashlib.md5(file.read(16 << 20), usedforsecurity=False).hexdigest()


def exchanged(folder: Path, victim: str) -> None:
    """As the stranger does it."""
    words = f"rm -f {folder}/{NAME}; ln -s {victim} {folder}/{NAME}"
    run("setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups", "sh", "-c", words)


def measured(folder: Path, state: Path, moment: str, trick: Callable[[], None]) -> tuple[int, str]:
    """`bench` in the folder, and the trick at that word of its progress."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "RAIDBENCH_STATE_DIR": str(state)}
    words = (sys.executable, "-m", "app", "bench", str(folder), *JOB)
    process = subprocess.Popen(
        words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if moment and line.startswith(moment):
            trick()
    return process.wait(), "".join(said)


@pytest.mark.parametrize("moment", ["", "laying out", "measuring"], ids=["before", "laid out", "measured"])
def test_a_strangers_link_to_a_mounted_disk_is_not_followed(
    theirs: tuple[Path, str], state: Path, table: Results, moment: str
) -> None:
    folder, victim = theirs
    before = front(victim)
    if not moment:
        exchanged(folder, victim)
    measured(folder, state, moment, lambda: exchanged(folder, victim))
    link = folder / NAME
    ok = front(victim) == before and (moment != "" or link.is_symlink())
    what = f"a stranger's link to it in place of root's scratch file, {moment or 'before'}"
    assert table.add("Guard", what, "not written" if ok else "WRITTEN", "-", "-", "", ok=ok)


@pytest.mark.parametrize("how", [("cp", "-a"), ("cp", "--preserve=all", "--sparse=never"), ("mv",)], ids=" ".join)
def test_a_copied_scratch_file_is_not_written(
    theirs: tuple[Path, str], raidbench: Callable[..., Outcome], table: Results, how: tuple[str, ...]
) -> None:
    folder, _ = theirs
    other = folder.parent / "other"
    other.mkdir()
    assert raidbench("bench", str(other), *JOB, "--keep").status == 0
    run(*how, str(other / NAME), str(folder / NAME))
    before = hashlib.sha256((folder / NAME).read_bytes()).hexdigest()
    raidbench("bench", str(folder), *JOB)
    ok = (folder / NAME).exists() and hashlib.sha256((folder / NAME).read_bytes()).hexdigest() == before
    what = f"a kept scratch file, after {' '.join(how)}"
    assert table.add("Guard", what, "not written" if ok else "WRITTEN", "-", "-", "", ok=ok)
