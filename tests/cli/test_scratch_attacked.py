"""Somebody exchanges the scratch file while a real fio writes to it."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, argv

pytestmark = [pytest.mark.fio, pytest.mark.skipif(shutil.which("fio") is None, reason="needs fio")]

JOB = "--rw randwrite --size 4M --runtime 12 --ramp 0 --rate-iops 500"
"""A rate that leaves the processor to others: the file is in memory."""


def _bench_with(folder: Path, trick: str) -> tuple[int, str]:
    """`bench` on a new file in a folder; at a moment of the run its name becomes a link to `folder/victim`.

    `trick`: the word of the run's progress at which that happens.
    """
    words = ("bench", str(folder), *JOB.split())
    process = subprocess.Popen(
        argv(*words),
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    said: list[str] = []
    for line in process.stdout:
        said.append(line)
        if line.startswith(trick):
            _exchange(folder / "raidbench-scratch.dat", folder / "victim")
    return process.wait(timeout=120), "".join(said)


def _exchange(ours: Path, victim: Path) -> None:
    end = time.monotonic() + 120
    while not ours.exists() and time.monotonic() < end:
        os.sched_yield()
    if not ours.is_symlink():
        ours.unlink()
        ours.symlink_to(victim)


@pytest.mark.long
@pytest.mark.parametrize("moment", ["preparing", "laying out", "measuring"])
def test_a_link_planted_in_its_place_leads_nothing_astray(tmp_path: Path, moment: str) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious" * 1024)
    _, said = _bench_with(tmp_path, moment)
    assert (victim.read_bytes(), (tmp_path / "raidbench-scratch.dat").is_symlink()) == (b"precious" * 1024, True)
    assert "was moved or replaced during the run" in said
