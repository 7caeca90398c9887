"""A program that asks before it changes something: answered where it asks in the known words, and never otherwise."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from backends.errors import RaidbenchError
from backends.host import Command, Completed, ProcessTracking, PromptReply
from backends.system.local import pty_prompt
from backends.system.local.command import run_change

QUESTION = "Deleting /c0/u0 loses all of it.\nContinue ? Y|N [N]: "
ASKS = """
import sys
print("{question}", end="", flush=True)
answer = sys.stdin.readline().strip()
print("Deleting unit ...Done." if answer == "Y" else "Nothing was done.")
"""


def asked(
    question: str, script: str = ASKS, custody: ProcessTracking | None = None, known: str = QUESTION, wait: str = ""
) -> Completed:
    source = wait + script.replace("{question}", question.replace("\n", "\\n"))
    command = Command(argv=(sys.executable, "-c", source), mutates=True, reply=PromptReply(question=known, answer="Y"))
    return run_change(command, None, custody)


def test_the_known_question_is_answered_and_what_is_said_then_is_heard() -> None:
    done = asked(QUESTION)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{QUESTION}Deleting unit ...Done.\n"


def test_a_question_that_comes_in_pieces_is_one() -> None:
    script = """
import sys, time
for word in "{question}".split(" "):
    print(word, end=" ", flush=True)
    time.sleep(0.02)
print("Done." if sys.stdin.readline() == "Y\\n" else "Nothing was done.")
"""
    assert asked(QUESTION, script).stdout.endswith("Done.\n")


@pytest.mark.parametrize(
    "question",
    [
        "Deleting /c0/u1 loses all of it.\nContinue ? Y|N [N]: ",
        "The unit is in use.\nDeleting /c0/u0 loses all of it.\nContinue ? Y|N [N]: ",
        f"{QUESTION}Really ? Y|N [N]: ",
        "Continue ? Y|N [N]: ",
    ],
)
def test_any_other_question_gets_the_end_of_its_input(question: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pty_prompt, "PATIENCE", 0.3)
    done = asked(question)
    assert done.stdout == f"{question}Nothing was done.\n"


def test_a_second_question_is_not_answered_with_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pty_prompt, "PATIENCE", 0.3)
    script = """
import sys
print("{question}", end="", flush=True)
first = sys.stdin.readline()
print("Really ? ", end="", flush=True)
second = sys.stdin.readline()
print(f"{first.strip()}-{second.strip()}")
"""
    assert asked(QUESTION, script).stdout.endswith("Really ? Y-\n")


def test_a_program_that_thinks_before_it_asks_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pty_prompt, "PATIENCE", 0.2)
    assert asked(QUESTION, wait="import time; time.sleep(1)\n").stdout.endswith("Done.\n")


def test_one_that_waits_and_shows_nothing_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pty_prompt, "SILENCE", 0.3)
    assert asked("", "import sys; print(repr(sys.stdin.readline()))").stdout == "''\n"


def test_one_that_asks_nothing_is_heard_to_its_end_and_beyond_what_a_pipe_holds() -> None:
    done = asked("", "import sys; print('x' * 200_000); sys.stderr.write('why'); sys.exit(3)")
    assert (done.returncode, len(done.stdout), done.stderr) == (3, 200_001, "why")


def test_it_is_not_started_where_that_cannot_be_written_down(tmp_path: Path) -> None:
    def begins(pid: int, program: str) -> None:
        raise RaidbenchError("no journal")

    made = tmp_path / "made"
    with open(tmp_path / "lock", "w") as lock, pytest.raises(RaidbenchError, match="no journal"):
        asked(QUESTION, f"open({str(made)!r}, 'w')", ProcessTracking(lock=lock.fileno(), begins=begins))
    assert not made.exists()


def test_no_terminal_is_left_open() -> None:
    def open_files() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    asked(QUESTION)
    before, began = open_files(), time.monotonic()
    for _ in range(3):
        asked(QUESTION)
    assert (open_files(), time.monotonic() - began < 120) == (before, True)
