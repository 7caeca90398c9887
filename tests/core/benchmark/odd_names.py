"""Scratch files whose names a shell, fio or a terminal would read otherwise: fio writes them, and nothing else."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
from pathlib import Path

from app.core.benchmark.scratch import plan_scratch
from app.core.benchmark.scratch_descriptor import ScratchFile
from backends.errors import RaidbenchError
from tests.tally import Tally

SIZE = 64 << 10
SIGNS = ":*- \n\t'\"\\?[]{}$`;&|%~#=,"
WORDS = ("\x1b]0;x\x07", "\u202e", "é", "$(id)", "--rw=read", "pci-0000:00:1f.2-ata-1", "${HOME}")
ODD = (*SIGNS, *WORDS)


def run(folder: Path, tries: int, seed: int) -> Tally:
    """So many names, each in a folder that has to hold that file alone afterwards."""
    tally = Tally()
    chance = random.Random(seed)
    for number in range(tries):
        name = ODD[number] if number < len(ODD) else "".join(chance.choices((*ODD, "a", "b"), k=chance.randint(1, 9)))
        place = folder / str(number)
        (place / "work").mkdir(parents=True)
        (place / "bystander").write_text("somebody's")
        with tally.attempt(f"name {name!r}"):
            _written(place, f"x{name}.dat")
    return tally


def _written(place: Path, name: str) -> None:
    file = ScratchFile(plan_scratch(str(place / name), SIZE, writes=True))
    try:
        asyncio.run(file.open())
    except RaidbenchError:
        assert sorted(os.listdir(place)) == ["bystander", "work"], "a name that was refused left something"
        return
    Path(file.path).write_bytes(bytes(SIZE))  # laid out, as before every measured run
    target = ["fio", "--name=t", f"--filename={file.path}", f"--size={SIZE}", "--allow_file_create=0"]
    done = subprocess.run(
        [*target, "--rw=write", "--bs=4k", "--thread"],
        cwd=place / "work",
        capture_output=True,
        text=True,
    )
    written = Path(file.path).read_bytes()
    asyncio.run(file.close(keep=True))
    assert done.returncode == 0, done.stderr
    assert any(written), "fio wrote elsewhere"
    assert sorted(os.listdir(place)) == sorted(["bystander", "work", name]), os.listdir(place)
    assert os.listdir(place / "work") == []
    assert (place / "bystander").read_text() == "somebody's"
