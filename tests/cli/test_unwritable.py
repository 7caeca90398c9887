"""What is said where standard output takes nothing, where nobody reads it, and at Ctrl-C as the program starts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = (sys.executable, "-P", "-m", "app")
COMPLETES = {"_RAIDBENCH_COMPLETE": "bash_source"}

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")


def environment(folder: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONUNBUFFERED": "", "PYTHONPATH": str(ROOT), "RAIDBENCH_STATE_DIR": str(folder), **more}


@pytest.mark.parametrize(
    ("words", "more"),
    [(("--help",), {}), (("bench", "--help"), {}), (("keys",), {}), ((), COMPLETES)],
    ids=["help", "help of a command", "data", "completion"],
)
def test_a_full_disk_is_no_defect_of_the_program(
    words: tuple[str, ...], more: Mapping[str, str], tmp_path: Path
) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, text=True, env=environment(tmp_path, **more)
        )
    assert (done.returncode, "The output cannot be written: No space left on device" in done.stderr) == (1, True)
    assert not (tmp_path / "crashes").exists()
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [("--help",), ("keys",)])
def test_who_stops_reading_has_had_what_they_wanted(words: tuple[str, ...], tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*PROGRAM, *words], stdout=writing, stderr=subprocess.PIPE, text=True, env=environment(tmp_path)
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_at_ctrl_c_while_it_starts_nothing_is_said(tmp_path: Path) -> None:
    """Of the module alone: what Python says before it has begun is Python's."""
    script = tmp_path / "raidbench"
    script.write_text("import sys, time, app.__main__\nprint(1, flush=True)\ntime.sleep(60)\n")
    words, told = [sys.executable, str(script)], environment(tmp_path)
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=told) as begun:
        assert begun.stdout is not None
        begun.stdout.readline()
        begun.send_signal(signal.SIGINT)
        _, said = begun.communicate(timeout=180)
    assert (begun.returncode, said) == (-signal.SIGINT, "")
