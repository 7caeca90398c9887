"""Completion: the files of the packages, and what a TAB costs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.main import COMMANDS
from tests.packages import needs
from tools.package.completion import scripts

ASK = """
import atexit, sys
seen = []
STARTS = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "os.system")
def told():
    for event, word in list(seen):
        if event in STARTS:
            print("STARTED", event, file=sys.stderr)
        elif word.startswith(("/dev/", "/sys/")) and word != "/dev/null":
            print("LOOKED", word, file=sys.stderr)
atexit.register(told)
LOOKS = ("open", "os.listdir", "os.scandir")
sys.addaudithook(lambda event, words: event in STARTS + LOOKS and seen.append((event, str(words[0]))))
sys.argv = ["raidbench"]
from app.__main__ import main
main()
"""


def tab(words: str, count: int, program: str = ASK) -> subprocess.CompletedProcess[str]:
    """What a shell asks the program for at a TAB behind `words`, of which the last is `count`."""
    environment = {**os.environ, "_RAIDBENCH_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(count)}
    return subprocess.run((sys.executable, "-c", program), env=environment, capture_output=True, text=True)


def test_a_tab_offers_the_commands() -> None:
    assert {row.partition(",")[2] for row in tab("raidbench ", 1).stdout.splitlines()} == set(COMMANDS)


@pytest.mark.parametrize("command", ["show", "set", "bench", "persist", "history", "precondition"])
def test_a_tab_at_a_target_asks_no_hardware_and_starts_nothing(command: str) -> None:
    asked = tab(f"raidbench {command} ", 2)
    assert (asked.returncode, asked.stderr) == (0, "")


def test_a_look_at_hardware_would_be_noticed() -> None:
    asked = tab("raidbench ", 1, ASK.replace("main()\n", "open('/sys/kernel/uevent_seqnum').close(); main()\n"))
    assert "LOOKED /sys/kernel/uevent_seqnum" in asked.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_file_of_a_shell_is_what_the_program_prints_for_an_eval(shell: str) -> None:
    environment = {**os.environ, "_RAIDBENCH_COMPLETE": f"{shell}_source"}
    argv = (sys.executable, "-c", "import sys; sys.argv = ['raidbench']; from app.__main__ import main; main()")
    assert subprocess.run(argv, env=environment, capture_output=True, text=True).stdout.rstrip("\n") == scripts()[
        shell
    ].rstrip("\n")


@needs("bash")
def test_bash_completes_a_command_with_the_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text(scripts()["bash"])
    (tmp_path / "raidbench").write_text(f"#!/bin/sh\nexec {sys.executable} -c '{ASK}' \"$@\"\n")
    (tmp_path / "raidbench").chmod(0o755)
    words = "COMP_WORDS=(raidbench dev); COMP_CWORD=1; _raidbench_completion raidbench; echo ${COMPREPLY[@]}"
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    argv = ("bash", "-c", f". {tmp_path}/file; {words}")
    assert subprocess.run(argv, env=environment, capture_output=True, text=True).stdout == "devices\n"
