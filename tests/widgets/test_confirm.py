"""Nothing is done to hardware by a key that was not meant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

import pytest
from textual import events
from textual.app import App
from textual.widgets import Button

from app.tui.base import dialog_keys
from tests.widgets.stage import HOSTILE, Asking, Clock, screen_text, shown_in_turn
from widgets.confirm import Confirmation, ConfirmDialog, PlannedChange, Tier
from widgets.guarded_dialog import GRACE, DialogBody, TypedField

CHANGE = PlannedChange(setting="Read-ahead", before="none", after="adaptive", effect="at once", undo="nora")
HARMLESS = Confirmation(
    title="Apply 1 change",
    tier="harmless",
    changes=(CHANGE,),
    commands=(("storcli64", "/c0/v1", "set", "rdcache=ra"),),
)
RISKY = replace(HARMLESS, tier="risky", risks=("Power loss loses the cache.",))
DESTRUCTIVE = replace(HARMLESS, tier="destructive", required="sdb", evidence=("sdb1: xfs, label DATA",))
REFUSED = Confirmation(title="Write to /dev/sda", tier="refused", reasons=("sda2 is mounted at /",))


async def answers_after(confirmation: Confirmation, *keys: str, waited: float = GRACE) -> list[object]:
    clock = Clock()
    app = Asking(lambda: ConfirmDialog(confirmation, clock=clock))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        clock.advance(waited)
        await pilot.press(*keys)
        await pilot.pause()
        return app.answers


async def shown(confirmation: Confirmation, size: tuple[int, int] = (80, 24)) -> str:
    app = Asking(lambda: ConfirmDialog(confirmation))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        return screen_text(app)


async def answers_in_turn(
    confirmations: Iterable[Confirmation], *keys: str, waited: float = GRACE
) -> list[list[object]]:
    """Ask one thing after the other in one app; return the answers that the keys gave to each."""
    clock, given = Clock(), []
    app: App[None] = App()
    async with app.run_test(size=(80, 24)) as pilot:
        for confirmation in confirmations:
            answers: list[object] = []
            dialog = ConfirmDialog(confirmation, clock=clock)
            app.push_screen(dialog, answers.append)
            await pilot.pause()
            clock.advance(waited)
            await pilot.press(*keys)
            await pilot.pause()
            given.append(list(answers))
            if app.screen is dialog:
                app.pop_screen()
                await pilot.pause()
    return given


@pytest.mark.parametrize("waited", [GRACE, 0.0], ids=["later", "at once"])
async def test_escape_always_says_no(waited: float) -> None:
    assert await answers_in_turn((HARMLESS, RISKY, DESTRUCTIVE, REFUSED), "escape", waited=waited) == [[False]] * 4


async def test_enter_applies_what_is_harmless() -> None:
    assert await answers_after(HARMLESS, "enter") == [True]


async def test_enter_does_not_apply_what_is_risky() -> None:
    assert await answers_after(RISKY, "enter") == [False]


async def test_y_applies_what_is_risky() -> None:
    assert await answers_after(RISKY, "y") == [True]


async def test_tab_and_enter_cannot_apply_what_is_risky() -> None:
    assert True not in await answers_after(RISKY, "tab", "enter")


@pytest.mark.parametrize("keys", [["y"], ["y", "y"], ["t"]])
async def test_keys_typed_ahead_apply_nothing_risky(keys: list[str]) -> None:
    confirmation = replace(RISKY, trial_label="Trial")
    assert await answers_after(confirmation, *keys, waited=GRACE - 0.01) == []


@pytest.mark.parametrize("key", ["y", "enter"])
async def test_what_is_harmless_takes_fast_typing(key: str) -> None:
    assert await answers_after(HARMLESS, key, waited=0.0) == [True]


SIZES = [(60, 15), (80, 24), (120, 40)]
WORDS = [f"word{number:02}" for number in range(24)]
MANY = replace(
    HARMLESS,
    commands=tuple(("storcli64", "/c0/v1", "set", word) for word in WORDS),
    trial_label="Trial, 5 min",
)


LONGER = replace(MANY, tier="risky", commands=MANY.commands * 3)

ANSWERS: list[tuple[Tier, tuple[str, ...]]] = [
    ("harmless", ("enter",)),
    ("harmless", ("y",)),
    ("harmless", ("t",)),
    ("risky", ("y",)),
    ("risky", ("t",)),
    ("destructive", ("shift+tab", *"sdb", "enter", "enter")),
]


def _each(size: tuple[int, int], tier: Tier, keys: tuple[str, ...]) -> object:
    daily = (size, keys) == (SIZES[0], ("y",)) or (size, tier) == (SIZES[1], "destructive")
    return pytest.param(size, tier, keys, marks=() if daily else pytest.mark.long, id=f"{size} {tier} {keys[-1]}")


@pytest.mark.parametrize(("size", "tier", "keys"), [_each(size, *answer) for size in SIZES for answer in ANSWERS])
async def test_it_is_confirmed_once_every_command_was_on_the_screen(
    size: tuple[int, int], tier: Tier, keys: tuple[str, ...]
) -> None:
    clock = Clock()
    app = Asking(lambda: ConfirmDialog(replace(MANY, tier=tier, required="sdb"), clock=clock))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        clock.advance(GRACE)
        seen: set[str] = set()
        for key in (*keys, *keys[-1:] * 60):
            seen |= {word for word in WORDS if word in screen_text(app)}
            if app.answers:
                break
            assert "page down" in screen_text(app) or WORDS[-1] in seen
            await pilot.press(key)
            await pilot.pause()
    assert (app.answers, seen) == ([True], set(WORDS))


async def test_a_burst_of_one_key_confirms_nothing_that_was_not_drawn() -> None:
    assert await answers_after(LONGER, "y", "y") == []


async def test_the_end_alone_is_not_all_of_it() -> None:
    clock = Clock()
    dialog = ConfirmDialog(LONGER, clock=clock)
    app = Asking(lambda: dialog)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        clock.advance(GRACE)
        dialog.query_one(DialogBody).scroll_end(animate=False)
        await pilot.pause()
        await pilot.press("y")
        assert app.answers == []


async def test_on_a_smaller_terminal_what_is_cut_off_must_be_shown_again() -> None:
    clock = Clock()
    app = Asking(lambda: ConfirmDialog(LONGER, clock=clock))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        clock.advance(GRACE)
        await pilot.press("y")
        await pilot.resize_terminal(60, 15)
        await pilot.pause()
        await pilot.press("y", "y")
        assert app.answers == []


@pytest.mark.parametrize(("commands", "label"), [(LONGER.commands, "More"), (HARMLESS.commands, "Begin")])
async def test_the_key_is_called_what_it_does(commands: tuple[tuple[str, ...], ...], label: str) -> None:
    dialog = ConfirmDialog(replace(MANY, commands=commands, apply_label="Begin"))
    app = Asking(lambda: dialog)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert f"{label}  y" in screen_text(app)
        assert ("y", label) in dialog_keys(dialog)


async def test_y_does_not_apply_what_destroys_data() -> None:
    assert await answers_after(DESTRUCTIVE, "y") == []


async def test_enter_at_once_leaves_what_destroys_data() -> None:
    assert await answers_after(DESTRUCTIVE, "enter") == [False]


async def test_the_typed_name_and_two_enters_apply_what_destroys_data() -> None:
    assert await answers_after(DESTRUCTIVE, "shift+tab", "s", "d", "b", "enter", "enter") == [True]


async def test_the_name_alone_applies_nothing() -> None:
    assert await answers_after(DESTRUCTIVE, "shift+tab", "s", "d", "b") == []


async def test_a_name_typed_ahead_does_not_count() -> None:
    clock = Clock()
    app = Asking(lambda: ConfirmDialog(DESTRUCTIVE, clock=clock))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("tab", "s", "d", "b")
        clock.advance(GRACE)
        await pilot.press("enter", "enter")
        assert app.answers == []


@pytest.mark.parametrize("typed", ["sd", "sdbb", "SDB", "sda"])
async def test_another_name_applies_nothing(typed: str) -> None:
    assert await answers_after(DESTRUCTIVE, "shift+tab", *typed, "enter", "enter") == []


async def test_without_a_name_nothing_can_be_destroyed() -> None:
    assert await answers_after(replace(DESTRUCTIVE, required=""), "shift+tab", "enter", "enter") == []


async def test_a_pasted_name_is_not_taken() -> None:
    clock = Clock()
    app = Asking(lambda: ConfirmDialog(DESTRUCTIVE, clock=clock))
    async with app.run_test(size=(80, 24)) as pilot:
        clock.advance(GRACE)
        field = app.screen.query_one(TypedField)
        field.focus()
        field.post_message(events.Paste("sdb"))
        await pilot.pause()
        assert (field.value, app.screen.query_one("#apply", Button).disabled) == ("", True)


async def test_a_refused_paste_is_explained() -> None:
    app = Asking(lambda: ConfirmDialog(DESTRUCTIVE))
    async with app.run_test(size=(80, 24)) as pilot:
        app.screen.query_one(TypedField).post_message(events.Paste("sdb"))
        await pilot.pause()
        assert "Not pasted" in screen_text(app)


@pytest.mark.parametrize("key", ["y", "t"])
async def test_what_is_refused_cannot_be_applied(key: str) -> None:
    assert await answers_after(REFUSED, key) == []


async def test_a_refusal_gives_its_reasons_and_has_no_apply() -> None:
    text = await shown(REFUSED)
    assert ("sda2 is mounted at /" in text, "Apply" in text) == (True, False)


async def test_a_trial_is_a_yes_for_a_while() -> None:
    clock = Clock()
    dialog = ConfirmDialog(replace(RISKY, trial_label="Trial, 5 min"), clock=clock)
    app = Asking(lambda: dialog)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        clock.advance(GRACE)
        await pilot.press("t")
        assert (app.answers, dialog.trial_chosen) == ([True], True)


async def test_without_a_trial_its_key_does_nothing() -> None:
    assert await answers_after(RISKY, "t") == []


async def test_the_dialog_shows_all_that_will_happen() -> None:
    text = await shown(RISKY)
    words = ("Read-ahead: none → adaptive", "at once", "storcli64 /c0/v1 set rdcache=ra", "Power loss")
    assert [each for each in words if each not in text] == []


async def test_what_is_on_the_device_is_shown() -> None:
    assert "sdb1: xfs, label DATA" in await shown(DESTRUCTIVE)


async def test_the_answers_stay_in_sight_when_the_rest_is_long() -> None:
    long = replace(DESTRUCTIVE, risks=tuple(f"risk {number}" for number in range(60)))
    tiers: tuple[Tier, ...] = ("harmless", "risky", "destructive")
    drawn = await shown_in_turn(partial(ConfirmDialog, replace(long, tier=tier)) for tier in tiers)
    assert [tier for tier, lines in zip(tiers, drawn, strict=True) if "Cancel  esc" not in lines] == []


async def test_a_long_dialog_scrolls() -> None:
    long = replace(RISKY, risks=tuple(f"risk {number}" for number in range(60)))
    app = Asking(lambda: ConfirmDialog(long))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*["pagedown"] * 12)
        assert "risk 59" in screen_text(app)


async def test_page_down_at_the_end_shows_what_was_not_seen_before() -> None:
    long = replace(RISKY, risks=tuple(f"risk {number}" for number in range(60)))
    dialog = ConfirmDialog(long)
    app = Asking(lambda: dialog)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        body = dialog.query_one(DialogBody)
        body.scroll_end(animate=False)
        await pilot.pause()
        body.forget_lines()  # laid out anew meanwhile
        dialog.record_lines()
        assert dialog.unread
        await pilot.press(*["pagedown"] * 12)
        assert dialog.unread == 0


async def test_u_unfolds_how_it_is_taken_back_and_folds_it_again() -> None:
    app = Asking(lambda: ConfirmDialog(RISKY))
    seen = []
    async with app.run_test(size=(80, 24)) as pilot:
        for _ in range(3):
            await pilot.pause()
            seen.append("undo: nora" in screen_text(app))
            await pilot.press("u")
    assert seen == [False, True, False]


def confirmation_of(text: str) -> Confirmation:
    """A confirmation that has the text wherever it can."""
    change = PlannedChange(setting=text, before=text, after=text, effect=text, undo=text)
    return Confirmation(
        title=text,
        tier="destructive",
        summary=text,
        changes=(change,),
        commands=((text,),),
        risks=(text,),
        evidence=(text,),
        required=text,
        apply_label=text,
    )


async def test_hostile_words_are_only_text() -> None:
    drawn = await shown_in_turn(partial(ConfirmDialog, confirmation_of(text)) for text in HOSTILE)
    unprintable = [
        text for text, lines in zip(HOSTILE, drawn, strict=True) if not lines.replace("\n", "").isprintable()
    ]
    assert unprintable == []
    assert len(set(drawn)) > 1


@pytest.mark.parametrize("size", [(10, 4), (40, 10), (200, 60)])
async def test_any_terminal_size_is_drawn(size: tuple[int, int]) -> None:
    assert await shown(DESTRUCTIVE, size)
