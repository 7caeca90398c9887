"""What `--help` promises of every command: one summary, examples, one text per option, typed values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import click
import pytest

from app.cli.command import plain_help
from app.cli.command_index import COMMANDS
from app.cli.main import cli
from app.doors import HelpGroup
from tests.case_loop import loop_over
from tests.catalogue.commands import command_lines

SUMMARY_WIDTH = 60

OWN_TEXT = frozenset(
    (
        *("--all", "--keep", "--layout", "--list", "--profile", "--repeats"),
        *("--section", "--size", "--spans", "--stream", "--strip", "--threshold"),
    )
)
"""Options that mean different things in different commands."""


def all_commands() -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command and subcommand with the words that call it."""
    for words in command_lines():
        command: click.Command = cli
        for word in words:
            assert isinstance(command, click.Group)
            found = command.get_command(click.Context(command, **cli.context_settings), word)
            assert found is not None
            command = found
        if words:
            yield words, command


ALL = dict(all_commands())


def summary(command: click.Command) -> str:
    return (command.help or "").strip().splitlines()[0]


def test_every_command_has_the_summary_that_the_list_of_commands_shows() -> None:
    assert {name: summary(ALL[name,]) for name in COMMANDS} == {name: entry.help for name, entry in COMMANDS.items()}


def test_every_summary_is_one_short_sentence() -> None:
    wrong = {
        words: summary(command)
        for words, command in ALL.items()
        if not summary(command).endswith(".") or (len(words) == 1 and len(summary(command)) > SUMMARY_WIDTH)
    }
    assert wrong == {}


def test_every_command_has_an_example_of_itself() -> None:
    for words, command in ALL.items():
        examples = getattr(command, "examples", ())
        assert examples or isinstance(command, click.Group), words
        assert any(example.startswith(f"raidbench {' '.join(words)}") for example in examples) or not examples, words


def option_texts() -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the texts of every option, each with the words of a command that has it."""
    texts: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for words, command in ALL.items():
        for param in command.params:
            if isinstance(param, click.Option) and not param.hidden:
                texts[param.opts[-1]][param.help or ""] = words
    return texts


def test_an_option_has_one_text_in_all_commands() -> None:
    texts = option_texts()
    assert {name: tuple(of) for name, of in texts.items() if len(of) > 1 and name not in OWN_TEXT} == {}


@pytest.mark.feature("ab", "arrays", "fleet", "history", "slowest", "sweep", "watch")
def test_every_option_with_texts_of_its_own_has_several() -> None:
    texts = option_texts()
    assert {name for name in OWN_TEXT if len(texts[name]) < 2} == set()


def test_every_option_with_a_value_names_its_type() -> None:
    untyped = {
        (*words, param.opts[-1])
        for words, command in ALL.items()
        for param in command.params
        if isinstance(param, click.Option)
        and not (param.is_flag or param.hidden or param.count)
        and param.metavar is None
        and not isinstance(param.type, click.Choice)
    }
    assert untyped == set()


def test_the_list_of_commands_has_all_headings_in_order() -> None:
    text = cli.get_help(click.Context(cli, info_name="raidbench", **cli.context_settings))
    groups = {entry.group for entry in COMMANDS.values()}
    places = [text.index(f"\n{group}:\n") for group in HelpGroup if group in groups]
    assert places == sorted(places)


def test_a_heading_without_commands_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    left = {name: entry for name, entry in COMMANDS.items() if entry.group is not HelpGroup.REPORTS}
    monkeypatch.setattr("app.cli.main.COMMANDS", left)
    text = cli.get_help(click.Context(cli, info_name="raidbench", **cli.context_settings))
    assert f"\n{HelpGroup.REPORTS}:\n" not in text


@loop_over(
    ("text", "plain"),
    [
        ("Runs.", "Runs."),
        ("Runs.  [default: 3]", "Runs (default: 3)."),
        ("Runs.  [1<=x<=9]", "Runs (1 to 9)."),
        ("Runs.  [default: 3; 1<=x<=9]", "Runs (1 to 9; default: 3)."),
        ("Runs.  [x>=1]", "Runs (at least 1)."),
        ("Write to FILE.  [required]", "Write to FILE (required)."),
        ("Draw [x] marks", "Draw [x] marks"),
    ],
)
def test_bounds_and_defaults_are_in_plain_words(text: str, plain: str) -> None:
    assert plain_help(text) == plain


@pytest.mark.parametrize("words", [words for words, command in ALL.items() if not isinstance(command, click.Group)])
def test_no_bound_or_default_is_left_as_click_writes_it(words: tuple[str, ...]) -> None:
    text = ALL[words].get_help(click.Context(ALL[words], info_name=words[-1], **cli.context_settings))
    assert [mark for mark in ("<=x", "[default", "x>=") if mark in text] == []
