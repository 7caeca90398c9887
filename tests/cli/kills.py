"""raidbench killed at random moments of all that it does: no fio goes on, every value and every file is named.

`python -m tests.cli.kills [TRIES] [SEED]` tells what it found.
"""

from __future__ import annotations

import os
import random
import select
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from app.core.session.journal import Journal
from tests.apart import ALONE
from tests.backends.loops import Loop, loop
from tests.cli.conftest import ROOT, argv
from tests.seeing import started
from tests.tally import Tally

AT_ONCE = 6
"""Most of a try is waiting."""

PATIENCE = 120.0
"""Seconds after which what has to come counts as not coming."""

FIO_SECONDS = 30.0
"""How long a fio may live on, on a machine that is busy with other kills."""

_JOB = ("--runtime", "1", "--ramp", "0", "--size", "8M")
_PLAN = """
[targets]
disk = "{disk}"
folder = "{folder}"
[measure]
target = "folder"
repeats = 2
[job]
rw = "randwrite"
runtime = "1s"
ramp = "0s"
size = "8M"
[[axis]]
target = "disk"
setting = "read_ahead_kb"
values = ["{one}", "{other}"]
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What one try has for itself."""

    folder: Path
    disk: Loop
    before: str
    wanted: str

    @property
    def scratch(self) -> Path:
        """Where its scratch files go."""
        return self.folder / "scratch"

    @property
    def value(self) -> str:
        """The setting now."""
        return Path(f"/sys/block/{self.disk.name}/queue/read_ahead_kb").read_text().strip()

    def environment(self) -> dict[str, str]:
        """That of its raidbench."""
        own = {"RAIDBENCH_STATE_DIR": str(self.folder / "state"), "TMPDIR": str(self.folder / "tmp")}
        return {**os.environ, "PYTHONPATH": str(ROOT), **own}

    def run(self, *words: str) -> str:
        """raidbench to its end; all it said."""
        done = subprocess.run(
            argv(*words), env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE
        )
        return (done.stdout + done.stderr).decode()


def _sets(place: Place) -> tuple[str, ...]:
    return ("set", place.disk.sure(), f"read_ahead_kb={place.wanted}", "--yes")


def _tries(place: Place) -> tuple[str, ...]:
    return (*_sets(place), "--trial", "10")


def _measures(place: Place) -> tuple[str, ...]:
    return ("bench", str(place.scratch), "--rw", "randwrite", *_JOB, "--repeat", "2")


def _compares(place: Place) -> tuple[str, ...]:
    setting = f"read_ahead_kb={place.wanted}"
    return ("ab", place.disk.sure(), setting, "--on", str(place.scratch), "--pairs", "1", "--rest", "0", *_JOB, "--yes")


def _sweeps(place: Place) -> tuple[str, ...]:
    plan = place.folder / "plan.toml"
    plan.write_text(_PLAN.format(disk=place.disk.sure(), folder=place.scratch, one=place.before, other=place.wanted))
    return ("sweep", str(plan), "--yes")


Kinds = tuple[tuple[Callable[[Place], tuple[str, ...]], float], ...]

KINDS: Kinds = (
    (_sets, 0.5),
    (_tries, 2.0),
    (_measures, 6.0),
    (_compares, 10.0),
    (_sweeps, 10.0),
)
"""What is killed, and within how many seconds after its session began."""


def run(folder: Path, tries: int, seed: int, kinds: Kinds = KINDS, program: str = "app.__main__") -> Tally:
    """So many kills. `program`: the module that is started, with the words of each kind."""
    chance = random.Random(seed)
    moments = [(*kinds[each % len(kinds)], chance.random()) for each in range(tries)]
    tally = Tally()

    def one(numbered: tuple[int, tuple[Callable[[Place], tuple[str, ...]], float, float]]) -> str:
        number, (words, within, share) = numbered
        own = folder / str(number)
        (own / "scratch").mkdir(parents=True)
        (own / "tmp").mkdir()
        with loop(own / "disk.img", size=16 << 20) as disk:
            setting = Path(f"/sys/block/{disk.name}/queue/read_ahead_kb")
            setting.write_text("128")
            place = Place(folder=own, disk=disk, before="128", wanted="256")
            try:
                _one(place, words(place), share * within, program)
            except Exception as error:  # told with what was tried, and the next has its turn
                return f"{number}: {words.__name__} after {share * within:.2f} s: {type(error).__name__}: {error}"
        return ""

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for note in pool.map(one, enumerate(moments)):
            tally.expect(not note, note)
    return tally


def _one(place: Place, words: tuple[str, ...], seconds: float, program: str) -> None:
    """One kill, and all that must hold after it."""
    process = subprocess.Popen(
        [*ALONE, sys.executable, *started(program), *words],  # the scratch files of all tries are on one disk
        env=place.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _until(lambda: process.poll() is not None or any((place.folder / "state/sessions").glob("*/session.jsonl")))
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    assert process.returncode not in (2, 3), "it was refused, so that nothing was killed"
    killed = time.monotonic()
    while fios := _fios(place.folder):
        assert time.monotonic() < killed + FIO_SECONDS, f"fio {fios} goes on"
        _pause()
    journal = Journal(place.folder / "state/journal")
    _until(lambda: not journal.trials())  # taken back at its deadline, or never begun
    _until(lambda: not _holders(place.folder / "state"))  # what it had started holds its locks until it has ended
    if "--trial" in words:
        assert place.value == place.before, "a trial was not taken back"
    told = place.run("recover", "--list")
    for file in place.scratch.iterdir():
        assert str(file) in told, f"{file.name} is not found"
    named = any(word in told for word in ("read_ahead_kb", "cut short", "interrupted"))
    if place.value != place.before and not named:
        # A change that came to its end is in force, and said to be.
        assert words[0] == "set", f"{place.value} is unnamed"
        assert "Read-ahead" in place.run("undo", "--list"), f"{place.value} is not in force"
        return
    if "There is nothing to recover" not in told:
        place.run("recover", "--restore")
        assert "There is nothing to recover" in (left := place.run("recover", "--list")), left
    assert not list(place.scratch.iterdir()), "a scratch file stays"
    assert place.value == place.before, "the value was not put back"


def _fios(folder: Path) -> list[int]:
    """Processes called fio that stand in this folder."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "comm").read_text() == "fio\n":
                found += [int(entry.name)] if str(folder) in os.readlink(entry / "cwd") else []
        except OSError:
            continue
    return found


def _holders(folder: Path) -> list[int]:
    """Processes that have a file of this folder open."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with suppress(OSError):
            if any(os.readlink(each).startswith(f"{folder}/") for each in (entry / "fd").iterdir()):
                found.append(int(entry.name))
    return found


def _until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it did not come"
        _pause()


def _pause() -> None:
    select.select([], [], [], 0.02)


if __name__ == "__main__":
    with TemporaryDirectory() as made:
        found = run(Path(made), int((sys.argv[1:2] or ["30"])[0]), int((sys.argv[2:3] or ["1"])[0]))
    print(f"{found.tried} kills, {found.failed} failed", *found.notes, sep="\n")
    sys.exit(bool(found.failed))
