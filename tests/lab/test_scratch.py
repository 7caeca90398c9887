"""Root measures in a folder of somebody else: nothing is written but its own scratch file, on a real file system."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.lab.disks import Disk, wait_until
from tests.lab.layers import loop
from tests.lab.results import Results
from tests.lab.running import ROOT, Outcome, run
from tests.lab.uses import mount

STRANGER = 65534
NAME = "raidbench-scratch.dat"
ROOM = 1 << 30
"""More than a laboratory disk has: a quarter of a GiB stays free."""
JOB = ("--rw", "randwrite", "--size", "4M", "--runtime", "1", "--ramp", "0")

pytestmark = [pytest.mark.seconds(400), pytest.mark.vendors("block")]


@pytest.fixture
def theirs(blank: Callable[..., tuple[Disk, ...]], tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A stranger's folder on a mounted disk, and another mounted disk of which no byte may change."""
    (victim,) = blank("nvme1")
    image = tmp_path / "image"
    with open(image, "wb") as file:
        file.truncate(ROOM)
    with loop(image) as roomy:
        for device in (roomy, victim.device):
            run("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", device)
        with mount(roomy, tmp_path / "one") as place, mount(victim.device, tmp_path / "other"):
            folder = place / "theirs"
            folder.mkdir()
            os.chown(folder, STRANGER, STRANGER)
            run("sync")
            yield folder, victim.device


def front(device: str) -> str:
    """Of what a job of 4 MiB could write to; past the page cache."""
    run("blockdev", "--flushbufs", device)
    with open(device, "rb") as file:
        return hashlib.md5(file.read(16 << 20), usedforsecurity=False).hexdigest()


def exchanged(folder: Path, victim: str) -> None:
    """As the stranger does it, once the file is there."""
    wait_until(lambda: (folder / NAME).exists(), "the scratch file is there")
    planted(folder, victim)


def planted(folder: Path, victim: str) -> None:
    """A link of the stranger's; the folders above are not his to enter."""
    as_him = f"exec setpriv --reuid={STRANGER} --regid={STRANGER} --clear-groups"
    run("sh", "-c", f"cd {folder} && {as_him} sh -c 'rm -f {NAME}; ln -s {victim} {NAME}'")


def measured(folder: Path, state: Path, moment: str, trick: Callable[[], None]) -> str:
    """What `bench` in the folder says; the trick is played at that word of its progress."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "RAIDBENCH_STATE_DIR": str(state)}
    words = (sys.executable, "-m", "app", "bench", str(folder), *JOB)
    process = subprocess.Popen(
        words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    said: list[str] = []
    for line in process.stdout:
        if line.startswith(moment) and not any(each.startswith(moment) for each in said):
            trick()
        said.append(line)
    process.wait()
    return "".join(said)


@pytest.mark.parametrize("moment", ["before", "preparing", "measuring"])
def test_a_strangers_link_to_a_mounted_disk_is_not_followed(
    theirs: tuple[Path, str], state: Path, table: Results, moment: str
) -> None:
    folder, victim = theirs
    before = front(victim)
    if moment == "before":
        planted(folder, victim)
    said = measured(folder, state, moment, lambda: exchanged(folder, victim))
    ok = front(victim) == before and (folder / NAME).is_symlink()
    what = f"a stranger's link to it for root's scratch file, {moment}"
    assert table.add("Guard", what, "not written" if ok else "WRITTEN", "-", "-", "", ok=ok), said


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
