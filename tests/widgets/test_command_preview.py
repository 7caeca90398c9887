"""Commands are shown whole and as a shell would take them."""

from __future__ import annotations

import shlex

from hypothesis import given
from hypothesis import strategies as st

from tests.widgets.stage import HOSTILE, Stage, screen_text
from widgets.command_preview import CommandPreview, command_lines

WORDS = st.text("abc/-= '\"$", min_size=1, max_size=12)


def test_a_short_command_is_one_line() -> None:
    assert command_lines(["storcli64", "/c0", "show"], 80) == ["$ storcli64 /c0 show"]


def test_a_word_with_a_space_is_quoted() -> None:
    assert command_lines(["echo", "a b"], 80) == ["$ echo 'a b'"]


def test_a_long_command_hangs_under_itself() -> None:
    assert command_lines(["fio", "--name=job", "--rw=read"], 18) == ["$ fio --name=job \\", "    --rw=read"]


@given(st.lists(WORDS, min_size=1, max_size=8))
def test_a_shell_reads_the_lines_as_the_command(argv: list[str]) -> None:
    script = "\n".join(command_lines(argv, 60)).removeprefix("$")
    assert shlex.split(script.replace("\\\n", " ")) == argv


@given(st.lists(st.text(min_size=1), min_size=1, max_size=6), st.integers(8, 60))
def test_no_line_is_wider_than_the_panel(argv: list[str], width: int) -> None:
    from widgets.text_utils.text import width_of

    assert all(width_of(line) <= width for line in command_lines(argv, width))


async def test_the_risks_stand_over_the_commands() -> None:
    app = Stage(CommandPreview((("fio", "x"),), ("Everything is overwritten.",)))
    async with app.run_test(size=(60, 10)):
        lines = [line.rstrip() for line in screen_text(app).splitlines()]
        assert lines[:5] == ["Risk", "! Everything is overwritten.", "", "Command", "$ fio x"]


async def test_hostile_words_are_only_text() -> None:
    app = Stage(CommandPreview((HOSTILE,), HOSTILE))
    async with app.run_test(size=(60, 40)):
        assert screen_text(app).replace("\n", "").isprintable()
