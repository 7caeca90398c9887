"""What was typed before a question could be read answers none: every question there is, told from the source."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from typing import TypeVar, get_args, get_origin

import pytest
from textual.screen import ModalScreen

from tests.cli.conftest import ROOT
from tests.cli.typing_ahead import (
    COMMANDS,
    DIALOGS,
    KEYS,
    RISKS,
    TYPED,
    answer_to,
    answers_ahead,
    command_files,
    questions,
    status_of,
)
from tests.widgets.stage import Clock
from widgets.guarded_dialog import GRACE, GuardedDialog

pytestmark = pytest.mark.exhaustive

QUESTIONS = {where + str(number): (by, words) for number, (where, by, words) in enumerate(questions())}


def test_the_questions_of_the_command_line_are_found() -> None:
    assert {where.rstrip("0123456789").partition(".")[0] for where in QUESTIONS} == {"confirm", "recover", "trial"}


@pytest.mark.parametrize("where", QUESTIONS)
def test_a_question_answers_only_to_what_is_typed_once_it_listens(where: str) -> None:
    by, words = QUESTIONS[where]
    assert answer_to(words, by, "y\n" * KEYS) == "meant"


@pytest.mark.parametrize("way", COMMANDS)
def test_a_command_answered_ahead_does_nothing(way: str, tmp_path: Path) -> None:
    assert status_of(way, tmp_path / "state") == 3


def test_there_is_a_command_for_every_way_of_confirming() -> None:
    ways = {where.rstrip("0123456789").partition(".")[2] for where in QUESTIONS if where.startswith("confirm.")}
    assert ways == set(COMMANDS)


def test_nothing_else_of_the_command_line_reads_what_is_typed() -> None:
    readers = {str(path.relative_to(ROOT / "app")) for path in command_files() if _reads_input(path)}
    remote = {"features/fleet/cli/bench_remote.py"} & readers
    assert readers - remote == {
        "cli/output.py",
        "features/sweep/cli/daemon.py",
    }  # the latter has its orders from a pipe


def _reads_input(path: Path) -> bool:
    called = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    words = {ast.unparse(function) for function in called}
    return bool(words & {"input", "click.prompt", "click.confirm", "getpass.getpass"}) or any(
        each.startswith("sys.stdin.read") for each in words
    )


@pytest.mark.parametrize("name", RISKS)
async def test_a_dialog_about_a_risk_answers_no_key_of_its_first_half_second(name: str) -> None:
    assert await answers_ahead(name, GRACE - 0.01) == []


@pytest.mark.parametrize("name", [name for name in DIALOGS if name != "refusal"])
async def test_the_same_keys_answer_every_dialog_afterwards(name: str) -> None:
    keys = ("ctrl+s",) if name == "job" else TYPED  # letters in its first field would make it another job, or none
    assert len(await answers_ahead(name, GRACE, keys)) == 1


def _screens(parent: type[object]) -> set[type[object]]:
    return {child for one in parent.__subclasses__() for child in (one, *_screens(one))}


def _of_the_house(kind: type[object]) -> bool:
    return kind.__module__.partition(".")[0] in ("app", "widgets")


def test_every_dialog_that_answers_something_is_tried() -> None:

    tried = {type(make(Clock())) for make in DIALOGS.values()}
    assert {kind for kind in _screens(GuardedDialog) if _of_the_house(kind)} == tried


def test_a_screen_over_another_that_is_no_such_dialog_answers_nothing() -> None:
    for name in ("palette", "help"):
        importlib.import_module(f"app.tui.{name}")
    others = [kind for kind in _screens(ModalScreen) if _of_the_house(kind) and not issubclass(kind, GuardedDialog)]
    bases = {base for kind in others for one in kind.__mro__ for base in vars(one).get("__orig_bases__", ())}
    answers = {get_args(base)[0] for base in bases if issubclass(get_origin(base) or object, ModalScreen)}
    assert {kind for kind in answers if not isinstance(kind, TypeVar)} == {type(None)}
