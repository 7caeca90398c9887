"""Keys typed before a question could be read: they must answer none, on the command line and in the dialogs."""

from __future__ import annotations

import ast
import asyncio
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from textual.screen import Screen

from app.cli import output
from app.core.fio.job import Job
from app.features.ab.screen import ExperimentDialog
from app.features.fleet.screen.targets import FolderDialog
from app.tui.bench.job_form import JobForm
from tests.cli.conftest import ROOT, argv
from tests.tally import Tally
from tests.widgets.stage import Asking, Clock
from widgets.choice_list import ChoiceDialog, ChoiceItem, MarkDialog
from widgets.confirm import Confirmation, ConfirmDialog
from widgets.field_dialog import FieldDialog, NumberDialog, NumberSpan, TextDialog
from widgets.guarded_dialog import GRACE
from widgets.question import KeyedAnswer, QuestionDialog

KEYS = 20
"""Keys typed before each question, and as many again when it stands there and does not listen yet."""
LIMIT = 90.0
COMMAND_LINE = (ROOT / "app" / "cli", ROOT / "app" / "features")
"""Where commands are."""


def command_files() -> list[Path]:
    """Return the modules of the command line: the frame and the commands of the core and of features."""
    return sorted(
        path for folder in COMMAND_LINE for path in folder.rglob("*.py") if "screen" not in path.relative_to(ROOT).parts
    )


_ASKED = """
import sys
from app.cli import output
answer = output.ask(sys.argv[1]) if sys.argv[2] == "ask" else output.ask_with_timeout(sys.argv[1], 60.0)
print(answer)
"""

COMMANDS: dict[str, tuple[tuple[str, ...], str]] = {
    "confirm_harmless": (("set", "megaraid:/c0/v1", "read_ahead=read-ahead"), "y"),
    "_confirm_risky": (("set", "megaraid:/c0/v1", "write_cache=always-write-back"), "yes"),
    "_confirm_destructive": (("bench", "/dev/sdc", "--rw", "randwrite", "--runtime", "1", "--ramp", "0"), "a66d13"),
}
"""A command for each way of confirming (app/cli/confirm.py), and the answer that would let it go ahead."""


def questions() -> Iterator[tuple[str, str, str]]:
    """Every question of the command line, from its source: module and function, by which function, its words."""
    for path in command_files():
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) or path.name == "output.py":
                continue
            for node in ast.walk(function):
                by, words = _asks(node)
                if by:
                    yield f"{path.stem}.{function.name}", by, words


def _asks(node: ast.AST) -> tuple[str, str]:
    """The function that asks and the words of the question; ("", "") for anything else."""
    if not isinstance(node, ast.Call):
        return "", ""
    names = [one.id for one in (node.func, *node.args[:1]) if isinstance(one, ast.Name)]
    by = next((name for name in names if name in ("ask", "ask_with_timeout")), "")
    words = next((one for one in node.args if isinstance(one, ast.Constant | ast.JoinedStr)), None)
    return (by, ast.unparse(words).strip("f'\"")) if by and words is not None else ("", "")


def answer_to(words: str, by: str, ahead: str) -> str:
    """What a question took for its answer, when `ahead` was typed before it listened and `meant` after."""
    program = [sys.executable, "-c", _ASKED, words, by]
    return _talk(program, (words,), ahead, "meant\n", {"PYTHONPATH": str(ROOT)})[1].strip()


def status_of(way: str, folder: Path) -> int:
    """Exit status of a command whose question was answered ahead only; 3 is refused."""
    words, yes = COMMANDS[way]
    program = argv("--demo", "--demo-speed", "1000", *words)
    environment = {"PYTHONPATH": str(ROOT), "RAIDBENCH_STATE_DIR": str(folder)}
    return _talk(program, ("? [y/N]", " Type "), f"{yes}\n" * KEYS, "\n", environment)[0]


def _talk(program: list[str], asked: Sequence[str], ahead: str, then: str, env: Mapping[str, str]) -> tuple[int, str]:
    """Exit status and standard output. `ahead` is typed at once, and again as soon as a question stands there; `then`
    when its colon says that it listens. Again where a busy machine let us type when the question listened already.
    """
    while (told := _talked(program, asked, ahead, then, env)) is None:
        pass
    return told


def _talked(
    program: list[str], asked: Sequence[str], ahead: str, then: str, env: Mapping[str, str]
) -> tuple[int, str] | None:
    """None where the question may have listened when `ahead` was typed."""
    ours, theirs = pty.openpty()
    os.write(ours, ahead.encode())
    process = subprocess.Popen(
        program,
        cwd=ROOT,
        env={**os.environ, "TERM": "xterm", **env},
        stdin=theirs,
        stderr=theirs,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    os.close(theirs)
    assert process.stdout is not None
    try:
        if not _type(ours, asked, ahead, then):
            return None
        out = process.stdout.read().decode()
        return process.wait(LIMIT), out
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        os.close(ours)


def _type(terminal: int, asked: Sequence[str], ahead: str, then: str) -> bool:
    """Whether all was typed in time."""
    shown, end = "", time.monotonic() + LIMIT
    before = looked = time.monotonic()
    while looked < end:
        before, looked = looked, time.monotonic()  # nothing that was there before then is unread
        if not select.select([terminal], [], [], 0.1)[0]:
            continue
        try:
            shown += os.read(terminal, 65536).decode("utf-8", "replace")
        except OSError:  # the other side is closed
            return True
        stands = any(words in shown for words in asked)
        if stands and ahead:
            os.write(terminal, ahead.encode())
            ahead = ""
            if time.monotonic() - before >= output.GRACE:
                return False
        elif stands and then and shown.endswith(": "):
            os.write(terminal, then.encode())
            then = ""
    raise AssertionError(f"it did not end; on the terminal stands:\n{shown[-2000:]}")


WORD = "345678"
_CHANGE = Confirmation(title="Apply 1 change", tier="harmless", trial_label="Trial")
_CHOICES = (ChoiceItem(value="a", label="A"), ChoiceItem(value="b", label="B"))
_ANSWERS = (KeyedAnswer(key="y", label="Yes", value="yes"), KeyedAnswer(key="escape", label="No", value="no"))

DIALOGS: dict[str, Callable[[Clock], Screen[Any]]] = {
    "harmless change": lambda clock: ConfirmDialog(_CHANGE, clock=clock),
    "dangerous change": lambda clock: ConfirmDialog(replace(_CHANGE, tier="risky"), clock=clock),
    "loss of data": lambda clock: ConfirmDialog(replace(_CHANGE, tier="destructive", required=WORD), clock=clock),
    "refusal": lambda clock: ConfirmDialog(replace(_CHANGE, tier="refused"), clock=clock),
    "question": lambda clock: QuestionDialog("Keep?", _ANSWERS, clock=clock),
    "choice": lambda clock: ChoiceDialog("Workload", _CHOICES, "a", clock=clock),
    "several": lambda clock: MarkDialog("Target", _CHOICES, "a", clock=clock),
    "experiment": lambda clock: ExperimentDialog("A/B", _CHOICES, "a", clock=clock),
    "field": lambda clock: FieldDialog("Value", "1", clock=clock),
    "text": lambda clock: TextDialog("Note", "text", clock=clock),
    "folder": lambda clock: FolderDialog("Folder", "/srv", clock=clock),
    "number": lambda clock: NumberDialog("Queue depth", NumberSpan(minimum=0), "1", clock=clock),
    "job": lambda clock: JobForm(Job(), clock=clock),
}
"""Every dialog that answers something."""

RISKS = ("dangerous change", "loss of data", "question")
"""Those whose answer may cost something: only they wait."""

TYPED = (*("y", "t", "enter") * 3, "tab", *WORD, "enter", "tab", "enter", "ctrl+s")


async def answers_ahead(name: str, waited: float = 0.0, keys: Sequence[str] = TYPED) -> list[object]:
    """What a dialog answers to keys that come `waited` seconds after it could be seen."""
    clock = Clock()
    app = Asking(lambda: DIALOGS[name](clock))
    async with app.run_test(size=(80, 40)) as pilot:
        await pilot.pause()
        clock.advance(waited)
        await pilot.press(*keys)
        await pilot.pause()
        return app.answers


def run(folder: Path, tries: int, seed: int) -> Tally:
    """Every question of the command line, every way of confirming and every dialog, `tries` times each."""
    del seed  # the keys are the same: what differs is when they come
    tally = Tally()
    for number in range(tries):
        for where, by, words in questions():
            with tally.attempt(where):
                answer = answer_to(words, by, "y\n" * KEYS)
                assert answer == "meant", f"took {answer!r} for its answer"
        for way in COMMANDS:
            with tally.attempt(way):
                status = status_of(way, folder / f"{way}{number}")
                assert status == 3, f"ended with {status}"
        for name in RISKS:
            with tally.attempt(name):
                answers = asyncio.run(answers_ahead(name, GRACE - 0.01))
                assert answers == [], f"answered {answers}"
    return tally
