"""A scratch file that a killed run left and that somebody took for an image: no command writes to it or removes it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.benchmark.scratch_use import Lease, end_lease, take_lease
from tests.cli.conftest import ROOT, argv

pytestmark = [
    pytest.mark.fio,
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("fio") is None, reason="needs fio"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root sets up loop devices and mounts"),
]

NAME = "raidbench-scratch.dat"
JOB = ("--rw", "randwrite", "--size", "16M", "--ramp", "0")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "RAIDBENCH_STATE_DIR": str(tmp_path / "state")}


@pytest.fixture
def leftover(tmp_path: Path, environment: dict[str, str]) -> Path:
    """What `bench` left when it was killed while it measured, and fio with it."""
    folder = tmp_path / "folder"
    folder.mkdir()
    words = argv("bench", str(folder), *JOB, "--runtime", "300")
    process = subprocess.Popen(
        words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("measuring"):
            break
    process.kill()
    process.wait()
    process.stdout.close()
    until_closed(folder / NAME)
    return folder / NAME


def until_closed(path: Path) -> None:
    """Wait until fio has ended, too."""
    end = time.monotonic() + 120
    descriptor = os.open(path, os.O_RDONLY)
    while take_lease(descriptor) is Lease.USED:
        assert time.monotonic() < end, "fio goes on"
        time.sleep(0.1)
    end_lease(descriptor)
    os.close(descriptor)


@pytest.fixture
def device(leftover: Path) -> Iterator[str]:
    """A loop device on it."""
    made = run("losetup", "--find", "--show", str(leftover)).strip()
    try:
        yield made
    finally:
        run("losetup", "--detach", made)


def run(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def raidbench(environment: dict[str, str], *words: str) -> tuple[int, str]:
    """Its exit status, and all that it said."""
    done = subprocess.run(
        argv(*words), env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300
    )
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def digest(path: Path | str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def test_an_image_that_is_mounted_keeps_every_byte(
    environment: dict[str, str], leftover: Path, device: str, tmp_path: Path
) -> None:
    run("mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0", device)
    point = tmp_path / "point"
    point.mkdir()
    run("mount", device, str(point))
    try:
        (point / "precious").write_bytes(os.urandom(1 << 20))
        run("sync", "--file-system", str(point))
        before = digest(leftover)
        listed = raidbench(environment, "recover", "--list")
        answers = [
            raidbench(environment, "bench", str(leftover.parent), *JOB, "--runtime", "1"),
            raidbench(environment, "bench", str(leftover), *JOB, "--runtime", "1"),
            raidbench(environment, "bench", str(leftover), "--rw", "read", "--runtime", "1"),
            raidbench(environment, "recover", "--restore"),
        ]
        assert digest(leftover) == before
    finally:
        run("umount", str(point))
    used = f"is in use by {device}, which is mounted on {point}"
    for status, said in answers:
        assert status == 3, said
        assert used in said
    assert used in listed[1]
    run("e2fsck", "-fn", device)


def test_an_image_that_is_not_mounted_keeps_every_byte(
    environment: dict[str, str], leftover: Path, tmp_path: Path
) -> None:
    run("mkfs.ext4", "-q", "-F", str(leftover))
    before = digest(leftover)
    for words in (("bench", str(leftover.parent), *JOB, "--runtime", "1"), ("recover", "--restore")):
        status, said = raidbench(environment, *words)
        assert (status, "contains ext4" in said) == (3, True), said
    assert digest(leftover) == before


def test_a_leftover_that_nothing_uses_is_measured_again_and_removed(
    environment: dict[str, str], leftover: Path
) -> None:
    status, said = raidbench(environment, "bench", str(leftover.parent), *JOB, "--runtime", "1")
    assert (status, leftover.exists()) == (0, False), said


def test_a_leftover_that_nothing_uses_is_removed_by_recover(environment: dict[str, str], leftover: Path) -> None:
    status, said = raidbench(environment, "recover", "--restore")
    assert (status, leftover.exists()) == (0, False), said
