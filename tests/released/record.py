"""Records the files of this version: `python -m tests.released.record`, in a minute, once for each release.

Every file comes from the program itself, on a simulated host and in a state folder that is made for it. The output of
fio is left out of the session, because the archive has it, too. A recording of a released version is never replaced.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from backends.version import program_version
from tests.released import FOLDER, RACK

ROOT = FOLDER.parents[1]
ARRAY, DISK = "megaraid:/c0/v1", "block:nvme0n1"
_LEFT_OUT = {"runs", "output", "locks", ".lock", "looked.json", "runs.sqlite3"}
"""What the program makes again, and what the archive has, too."""
_JOB = ("--profile", "randread-4k", "--runtime", "2", "--ramp", "0")
CONFIG = 'fps = 5\nprofile = "randread-4k"\nscratch_size = "4G"\n\n[keymap]\n"bench.run" = "f5"\n'
PLAN = (
    'title = "Two depths"\n\n[targets]\narray = ""\n\n[measure]\ntarget = "array"\nrepeats = 2\n\n'
    '[job]\nrw = "randread"\nbs = "4k"\nruntime = "2s"\nramp = "0s"\n\n[[axis]]\njob = "iodepth"\nvalues = [1, 8]\n'
)


def record(folder: Path) -> None:
    """Write the files of this version into `folder`, which does not exist yet."""
    with tempfile.TemporaryDirectory(prefix="raidbench-record-") as made:
        work = Path(made)
        state = work / "state"
        own = state / "simulated" / RACK
        (state / "sessions").mkdir(parents=True)
        (state / "config.toml").write_text(CONFIG)
        (work / "plan.toml").write_text(PLAN)

        run(state, "set", ARRAY, "read_ahead=read-ahead", "--yes")
        run(state, "set", ARRAY, "io_policy=cached", "--trial", "600", "--yes")
        run(state, "keep")
        run(state, "bench", ARRAY, *_JOB, "--repeat", "3")
        run(state, "baseline", "save", "recorded")
        run(state, "ab", DISK, "read_ahead_kb=256", *_JOB, "--pairs", "2", "--yes")
        run(state, "bench", "/srv/vm", "--profile", "etcd", "--runtime", "2", "--ramp", "0", "--size", "64M")
        run(state, "observe", ARRAY, "--for", "2s")
        run(state, "sweep", str(work / "plan.toml"), "--target", ARRAY, "--yes")
        run(state, "archive", "-o", str(work / "session.raidbench"))
        run(state, "export", "-o", str(work / "settings.toml"), ARRAY)
        run(state, "capture", str(work / "capture"))
        interrupt(
            state, own / "journal" / "journal.log", b'"key":"write_cache"', "set", ARRAY, "write_cache=write-back"
        )
        words = ("array", "create", "raid0", "megaraid:/c0/e245/s4", "--name", "open", "--confirm", "931148")
        interrupt(state, own / "journal" / "arrays.log", b'"stage":"making"', *words)

        for name in ("plan.toml", "session.raidbench", "settings.toml"):
            copy(work / name, folder / name)
        copy(work / "capture" / "machine.json", folder / "capture" / "machine.json")
        for file in sorted(state.rglob("*")):
            is_kept = not (_LEFT_OUT & {*file.parts, file.suffix} or file.name.startswith("."))  # a file half written
            if file.is_file() and is_kept:
                copy(file, folder / "state" / file.relative_to(state))


def run(state: Path, *words: str) -> None:
    """Run a command to its end. Raises subprocess.CalledProcessError if it fails."""
    subprocess.run(command(*words), cwd=ROOT, env=environment(state), check=True, stdout=subprocess.DEVNULL)


def interrupt(state: Path, file: Path, mark: bytes, *words: str) -> None:
    """Kill a command once `mark` is in `file`: then its intent is on disk and its end is not."""
    argv = command(*words, speed="0.1")
    argv += () if "--confirm" in words else ("--yes",)
    with subprocess.Popen(argv, cwd=ROOT, env=environment(state), stdout=subprocess.DEVNULL) as process:
        until(lambda: file.exists() and mark in file.read_bytes(), process)
        process.kill()


def until(is_met: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    """Wait until a condition is met. Raises RuntimeError if the process ends first."""
    while not is_met():
        if process.poll() is not None:
            raise RuntimeError(f"{process.args!r} ended before it was interrupted.")
        time.sleep(0.005)


def command(*words: str, speed: str = "1000") -> tuple[str, ...]:
    """Return the arguments of a command on the simulated host."""
    return (sys.executable, "-m", "app", "--demo", RACK, "--demo-speed", speed, *words)


def environment(state: Path) -> dict[str, str]:
    """Return the environment of a command with a state folder of its own."""
    return {**os.environ, "RAIDBENCH_STATE_DIR": str(state)}


def copy(source: Path, target: Path) -> None:
    """Copy a file and make the folder of the copy."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


if __name__ == "__main__":
    recorded = FOLDER / program_version()
    if recorded.exists():
        sys.exit(f"{recorded} exists. The recordings of a released version are kept as they are.")
    record(recorded)
