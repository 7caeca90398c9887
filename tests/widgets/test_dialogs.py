"""Small dialogs: choices, numbers, lines of text, questions."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from textual.screen import Screen

from tests.widgets.stage import HOSTILE, Asking, Clock, screen_text, shown_in_turn
from widgets.choice_list import ChoiceDialog, ChoiceItem
from widgets.field_dialog import NumberDialog, NumberSpan, TextDialog
from widgets.guarded_dialog import GRACE, DialogBody
from widgets.question import KeyedAnswer, QuestionDialog

CHOICES = (
    ChoiceItem(value="wt", label="write-through", help="On the drives before it is done."),
    ChoiceItem(value="wb", label="write-back", help="In the cache when it is done.", risk="power loss"),
    ChoiceItem(value="no", label="none"),
)
ANSWERS = (
    KeyedAnswer(key="s", label="Stop it", value="stop"),
    KeyedAnswer(key="escape", label="Stay", value="stay"),
)
SPAN = NumberSpan(minimum=4096, maximum=1 << 20, step=4096)


Make = Callable[[Clock], Screen[Any]]


def choosing(clock: Clock) -> Screen[Any]:
    return ChoiceDialog("Write cache", CHOICES, "wb", clock=clock)


def number(clock: Clock) -> Screen[Any]:
    return NumberDialog("Block size", SPAN, "65536", clock=clock)


def text(clock: Clock) -> Screen[Any]:
    return TextDialog("Note", clock=clock)


def question(clock: Clock) -> Screen[Any]:
    return QuestionDialog("A run is under way", ANSWERS, clock=clock)


async def answers_after(make: Make, *keys: str, waited: float = GRACE) -> list[object]:
    clock = Clock()
    app = Asking(lambda: make(clock))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        clock.advance(waited)
        await pilot.press(*keys)
        await pilot.pause()
        return app.answers


async def shown_after(make: Make, *keys: str) -> str:
    clock = Clock()
    app = Asking(lambda: make(clock))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        clock.advance(GRACE)
        await pilot.press(*keys)
        await pilot.pause()
        return screen_text(app)


async def test_enter_chooses_the_value_set_now() -> None:
    assert await answers_after(choosing, "enter") == ["wb"]


async def test_up_and_enter_choose_the_value_above() -> None:
    assert await answers_after(choosing, "up", "enter") == ["wt"]


async def test_the_help_is_that_of_the_row() -> None:
    assert "On the drives before it is done." in await shown_after(choosing, "up")


@pytest.mark.parametrize("width", [80, 120, 200])
async def test_a_long_choice_is_whole_where_the_screen_has_room(width: int) -> None:
    label = "cache-modes: Caches of the kernel: the modes of two of them against the plain disks"
    choices = (*CHOICES, ChoiceItem(value="long", label=label, risk="DESTROYS DATA"))
    app = Asking(lambda: ChoiceDialog("Plan", choices, "long"))
    async with app.run_test(size=(width, 24)) as pilot:
        await pilot.pause()
        lines = screen_text(app).splitlines()
    row = next(line for line in lines if "cache-modes" in line)
    assert (label in row) is (width > 80)
    assert all("│" in row[at:] for at in (row.index("cache-modes"), row.index("DESTROYS") if width > 80 else 0))


async def test_the_list_names_the_risk_and_the_current_value() -> None:
    row = next(line for line in (await shown_after(choosing)).splitlines() if "write-back" in line)
    assert ("power loss" in row, "now" in row) == (True, True)


@pytest.mark.parametrize(("make", "answer"), [(choosing, None), (number, None), (text, None), (question, "stay")])
async def test_escape_leaves(make: Make, answer: object) -> None:
    assert await answers_after(make, "escape", waited=0.0) == [answer]


@pytest.mark.parametrize("key", ["s", "enter"])
async def test_a_key_typed_ahead_answers_no_question(key: str) -> None:
    assert await answers_after(question, key, waited=0.0) == []


@pytest.mark.parametrize(
    ("make", "keys", "answer"),
    [(choosing, ("up", "enter"), "wt"), (number, ("enter",), "65536"), (text, ("h", "o", "t", "enter"), "hot")],
)
async def test_what_changes_nothing_yet_takes_fast_typing(make: Make, keys: tuple[str, ...], answer: str) -> None:
    assert await answers_after(make, *keys, waited=0.0) == [answer]


async def test_a_list_that_acts_on_a_risk_may_wait() -> None:
    assert (
        await answers_after(lambda clock: ChoiceDialog("Keep", CHOICES, grace=GRACE, clock=clock), "enter", waited=0)
        == []
    )


async def test_a_number_comes_back_in_plain_digits() -> None:
    assert await answers_after(number, "enter") == ["65536"]


@pytest.mark.parametrize("keys", [("up",), ("down",), ("down", "up"), ("pageup",), ("pagedown",)])
async def test_moving_changes_no_number(keys: tuple[str, ...]) -> None:
    assert await answers_after(number, *keys, "enter") == ["65536"]


async def test_down_goes_to_the_buttons_and_up_back_to_the_field() -> None:
    assert "> OK" in await shown_after(number, "down")
    assert await answers_after(number, "down", "up", *["backspace"] * 5, *"4096", "enter") == ["4096"]


LONG = "\n".join(f"line {number}" for number in range(40))


@pytest.mark.parametrize(
    "size", [(60, 15), *(pytest.param(size, marks=pytest.mark.long) for size in ((80, 24), (120, 40)))], ids=str
)
async def test_a_question_is_answered_once_all_of_it_was_on_the_screen(size: tuple[int, int]) -> None:
    clock = Clock()
    app = Asking(lambda: QuestionDialog("Restore?", ANSWERS, LONG, clock=clock))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        clock.advance(GRACE)
        assert ("Stay" in screen_text(app), "page down" in screen_text(app)) == (True, True)
        shown: set[str] = set()
        while not app.answers:
            shown |= set(re.findall(r"line \d+", screen_text(app)))
            await pilot.press("s")
            await pilot.pause()
        assert len(shown) == 40
    assert app.answers == ["stop"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("typed", "reason"),
    [("2048", "at least 4096"), ("2097152", "at most 1048576"), ("5000", "a multiple of 4096"), ("x", "not a number")],
)
async def test_a_bad_number_says_why(typed: str, reason: str) -> None:
    keys = [*["backspace"] * 5, *typed]
    assert f"Not accepted: {reason}" in await shown_after(number, *keys)


async def test_a_bad_number_is_not_taken() -> None:
    assert await answers_after(number, *["backspace"] * 5, "2", "enter") == []


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_span_accepts_only_numbers(value: float) -> None:
    assert NumberSpan().reason(value) == "not a number"


@pytest.mark.parametrize(
    ("span", "words"),
    [
        (NumberSpan(minimum=17, maximum=32768, step=1, unit="pages"), "from 17 to 32768 pages"),
        (NumberSpan(minimum=4, maximum=64, step=4, unit="KiB"), "from 4 to 64 in steps of 4 KiB"),
        (NumberSpan(minimum=0), "from 0"),
        (NumberSpan(unit="KiB"), ""),
    ],
)
def test_the_limits_name_their_unit_once(span: NumberSpan, words: str) -> None:
    assert span.sentence() == words


async def test_a_note_is_returned() -> None:
    assert await answers_after(text, "h", "o", "t", "enter") == ["hot"]


async def test_an_empty_note_is_not_taken() -> None:
    assert await answers_after(text, "space", "enter") == []


async def test_a_key_gives_its_answer() -> None:
    assert await answers_after(question, "s") == ["stop"]


async def test_enter_gives_the_answer_that_changes_nothing() -> None:
    assert await answers_after(question, "enter") == ["stay"]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["choice", "number", "text", "question"])
async def test_hostile_words_are_only_text(kind: str) -> None:
    dialogs: dict[str, Callable[[str], Screen[Any]]] = {
        "choice": lambda words: ChoiceDialog(words, (ChoiceItem(value="a", label=words, help=words, risk=words),)),
        "number": lambda words: NumberDialog(words, NumberSpan(unit=words, minimum=1), words, help=words),
        "text": lambda words: TextDialog(words, words, help=words),
        "question": lambda words: QuestionDialog(words, (KeyedAnswer(key="a", label=words, value="a"),), words),
    }
    shown = await shown_in_turn(partial(dialogs[kind], words) for words in HOSTILE)
    unprintable = [
        words for words, text in zip(HOSTILE, shown, strict=True) if not text.replace("\n", "").isprintable()
    ]
    assert unprintable == []
    assert len(set(shown)) > 1


def two_widths(rows: int) -> str:
    """A text that fills its lines at 64 columns, and needs one line more where a scrollbar takes a column."""
    return "\n".join(["x" * 64, *("word" for _ in range(rows - 1))])


@pytest.mark.parametrize("rows", [2, 9, 15])
async def test_a_body_does_not_scroll_while_there_is_room_for_all_of_its_lines(rows: int) -> None:
    dialog = QuestionDialog("Changes are disabled.", ANSWERS, two_widths(rows), clock=Clock())
    app = Asking(lambda: dialog)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        await pilot.pause()
        body = dialog.query_one(DialogBody)
        assert (body.show_vertical_scrollbar, body.size.height, dialog.unread) == (False, rows, 0)
